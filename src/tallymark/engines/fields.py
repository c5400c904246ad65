"""Fields of text as numbers or booleans, where all of them are: what a column of CSV holds."""

from __future__ import annotations

from typing import Any

from tallymark.engines.packages import load

TEXT = "text"
_CODES = r"^[-+]?0[0-9xX]"
_HEXADECIMAL = r"^[-+]?0[xX]"
_WHOLE = r"^[-+]?[0-9]+$"
_BOOLEAN = "^(true|false)$"


def read_texts(texts: Any, *, codes: bool) -> tuple[str, Any]:
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
    return ("wide", texts) if wide else ("real", values)


def _cast(texts: Any, kind: Any) -> Any:
    """The texts as numbers of a kind; None where one is not. Those that are not cost much, so a few are tried first."""
    try:
        _compute().cast(texts.slice(0, 50), kind)
        return _compute().cast(texts, kind)
    except _arrow().ArrowInvalid:
        return None


def first_odd(texts: Any, *, codes: bool) -> tuple[int, str]:
    """The first field that is no number, found by halves."""
    trimmed = _trimmed(texts)
    low, high = 0, len(trimmed)
    while high - low > 1:
        middle = (low + high) // 2
        if _as_numbers(trimmed.slice(low, middle - low), codes=codes) is None:
            high = middle
        else:
            low = middle
    return low, texts[low].as_py()


def first(texts: Any) -> tuple[int, str]:
    """The first field that is there."""
    row = _compute().index(_compute().is_valid(texts), True).as_py()
    return row, texts[row].as_py()


def holds_numbers(texts: Any) -> bool:
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
