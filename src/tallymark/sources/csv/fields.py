"""Fields of text as numbers or booleans, where all of them are: what a column of CSV holds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tallymark.sources.arrow import load

TEXT = "text"
_CODES = r"^[-+]?0[0-9xX]"
_HEXADECIMAL = r"^[-+]?0[xX]"
_WHOLE = r"^[-+]?[0-9]+$"
_MAX_DIGITS = 1000  # of a whole number; a longer one is a float like any other. Python reads 4,300
_BOOLEAN = "^(true|false)$"
_EXACT = 2**53  # up to here, floats hold all whole numbers
_NUMBER, _EXACTLY = "tallymark number", "tallymark whole number"  # fields of numbers that no type of Arrow holds


def parse_texts(texts: Any, *, codes: bool) -> tuple[str, Any]:
    """What an array of texts holds, and the values: boolean, integer, wide (beyond 64 bits), real or text.

    `codes` where numbers with leading zeros are texts. The kind is empty where every field is missing.
    """
    compute, pa = _compute(), _arrow()
    if texts.null_count == len(texts):
        return "", compute.cast(texts, pa.int64())
    trimmed = _trimmed(texts)
    found = _as_numbers(trimmed, codes=codes)
    if found is not None:
        return found
    if compute.all(compute.match_substring_regex(trimmed, _BOOLEAN, ignore_case=True)).as_py():
        return "boolean", compute.match_substring_regex(trimmed, "^true$", ignore_case=True)
    return TEXT, texts


def _trimmed(texts: Any) -> Any:
    return _compute().ascii_trim(texts, characters=" \t")


def _as_numbers(texts: Any, *, codes: bool) -> tuple[str, Any] | None:
    """The texts as numbers of the narrowest kind that takes all of them; None where none does."""
    compute, pa = _compute(), _arrow()
    if compute.any(compute.match_substring_regex(texts, _CODES if codes else _HEXADECIMAL)).as_py():
        return None
    if compute.any(compute.starts_with(texts, "+")).as_py():
        texts = compute.replace_substring_regex(texts, r"^\+([0-9.])", r"\1")
    values = _cast(texts, pa.int64())
    if values is not None:
        return "integer", values
    values = _cast(texts, pa.float64())
    if values is None:
        return None
    wide = all(compute.all(compute.match_substring_regex(part, _WHOLE)).as_py() for part in (texts.slice(0, 50), texts))
    wide = wide and compute.max(compute.binary_length(texts)).as_py() <= _MAX_DIGITS
    return ("wide", texts) if wide else ("real", values)


def _cast(texts: Any, kind: Any) -> Any:
    """The texts as numbers of a kind; None where one is not. Those that are not cost much, so a few are tried first."""
    try:
        _compute().cast(texts.slice(0, 50), kind)
        return _compute().cast(texts, kind)
    except _arrow().ArrowInvalid:
        return None


def to_floats(values: Any, texts: Callable[[], Any]) -> Any:
    """Numbers as floats, given their texts. Where a float does not hold a whole number exactly, they are mixed numbers:
    floats, and beside them the texts of such whole numbers, so that labels and ids stay what they are."""
    compute, pa = _compute(), _arrow()
    reals = compute.cast(values, pa.float64(), safe=False)
    floats = np.frombuffer(reals.buffers()[1] or b"", np.float64)[reals.offset : reals.offset + len(reals)]
    large = np.abs(floats) >= _EXACT  # faster than Arrow's largest
    if not large.any():
        return reals
    written = _trimmed(compute.cast(texts(), pa.string()))
    rows = compute.indices_nonzero(compute.and_(pa.array(large), compute.match_substring_regex(written, _WHOLE)))
    pairs = zip(reals.take(rows).to_pylist(), written.take(rows).to_pylist(), strict=True)
    rounded = np.zeros(len(reals), bool)
    rounded[rows.to_numpy()] = [
        len(text) <= _MAX_DIGITS and (real in (np.inf, -np.inf) or int(real) != int(text)) for real, text in pairs
    ]
    if not rounded.any():
        return reals
    exactly = compute.if_else(pa.array(rounded), written, pa.scalar(None, pa.string()))
    return pa.StructArray.from_arrays([reals, exactly], names=[_NUMBER, _EXACTLY])


def to_wide_integers(values: Any) -> Any:
    """Whole numbers of any size, as one array of Arrow."""
    pa = _arrow()
    return pa.StructArray.from_arrays([_compute().cast(values, pa.string())], names=[_EXACTLY])


def unpack_numbers(values: Any) -> tuple[str, Any] | None:
    """The kind and the values of what `to_wide_integers` or `to_floats` made; None for any other array."""
    names = [field.name for field in values.type] if _arrow().types.is_struct(values.type) else []
    if names == [_EXACTLY]:
        return "wide", values.flatten()[0]
    if names == [_NUMBER, _EXACTLY]:
        return "real", values if len(values) else values.flatten()[0]
    return None


def to_objects(values: Any) -> Any:
    """Floats and mixed numbers as objects of Python; a missing one is NaN."""
    reals, exactly = values.flatten() if _arrow().types.is_struct(values.type) else (values, None)
    found = np.array([np.nan if item is None else item for item in reals.to_pylist()], dtype=object)
    if exactly is not None:
        rows = _compute().indices_nonzero(exactly.is_valid())
        found[rows.to_numpy()] = [int(text) for text in exactly.take(rows).to_pylist()]
    return found


def first_non_number(texts: Any, *, codes: bool) -> tuple[int, str]:
    """The first field that is not a number, by bisection."""
    trimmed = _trimmed(texts)
    low, high = 0, len(trimmed)
    while high - low > 1:
        middle = (low + high) // 2
        if _as_numbers(trimmed.slice(low, middle - low), codes=codes) is None:
            high = middle
        else:
            low = middle
    return low, texts[low].as_py()


def first_valid(texts: Any) -> tuple[int, str]:
    """The first field that is there."""
    row = _compute().index(_compute().is_valid(texts), True).as_py()
    return row, texts[row].as_py()


def has_numbers(texts: Any) -> bool:
    """Whether some of the first fields are numbers: only then is one that is not worth a word."""
    for text in texts.slice(0, 1000).drop_null().to_pylist():
        try:
            float(text)
        except ValueError:
            continue
        return True
    return False


def _arrow() -> Any:
    return load("pyarrow")


def _compute() -> Any:
    return load("pyarrow.compute")
