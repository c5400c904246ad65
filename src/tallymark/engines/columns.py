"""Columns of a file as arrays: which of them are numbers, and every number exactly as it was written.

A column whose every field is a number is one of numbers: whole ones, of any size, where all are whole, else floats. One
of nothing but true and false is boolean. Everything else is text, as are numbers with leading zeros, such as 007, which
are codes. An empty field is missing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, NoReturn

import numpy as np

from tallymark.engines.packages import load
from tallymark.errors import FileError

AUTO, NUMBER, TEXT = "auto", "number", "text"
WAYS = (AUTO, NUMBER, TEXT)

_CODES = r"^[-+]?0[0-9xX]"
_HEXADECIMAL = r"^[-+]?0[xX]"
_WHOLE = r"^[-+]?[0-9]+$"
_BOOLEAN = "^(true|false)$"


class Column(NamedTuple):
    """A column of a file: its values, as an array of NumPy or Arrow, and their type: boolean, integer, real or text.

    `odd` is the row and the text of the first field that is no number, where others are.
    """

    values: Any
    type: str
    odd: tuple[int, str] | None = None


class IsText(Exception):  # noqa: N818 - a turn of events, not a fault
    """What was taken for numbers turned out to be text, so that it must be read again, as it was written."""

    def __init__(self, name: str, odd: tuple[int, str] | None) -> None:
        super().__init__(name)
        self.name = name
        self.odd = odd


class Builder:
    """Takes the pieces of one column, in order, and makes one column of them."""

    def __init__(self, name: str, way: str, place: Callable[[int], str], odd: tuple[int, str] | None = None) -> None:
        self.name = name
        self._way = way
        self._place = place
        self._odd = odd
        self._kinds: set[str] = set()
        self._pieces: list[Any] = []
        self.rows = 0
        self.bytes = 0

    def add(self, piece: Any, *, written: bool) -> None:
        """Take a piece as an Arrow array; `written` where its texts may be numbers, as in a CSV file."""
        kind, values = _from_arrow(piece, self.name)
        if kind == TEXT and self._way != TEXT and (written or self._way == NUMBER):
            kind, values = self._read_texts(_compute().cast(values, _arrow().string()))
        elif kind not in ("", TEXT) and self._way == TEXT:
            kind, values = TEXT, _compute().cast(values, _arrow().string())
        if kind:
            self._kinds.add(kind)
        self._pieces.append(values)
        self.rows += len(values)
        self.bytes += values.nbytes

    def finish(self) -> Column:
        """The whole column."""
        kinds = self._kinds or {"real"}
        if kinds == {TEXT}:
            return Column(_joined(self._pieces, _arrow().string()), TEXT, self._odd)
        if kinds == {"boolean"}:
            return Column(_plain(_joined(self._pieces, _arrow().bool_())), "boolean")
        if kinds == {"integer"}:
            return Column(_plain(_joined(self._pieces, _arrow().int64())), "integer")
        if "real" not in kinds:
            items = [item for piece in self._pieces for item in piece.to_pylist()]
            whole = np.empty(len(items), dtype=object)
            whole[:] = [None if item is None else int(item) for item in items]
            return Column(whole, "integer")
        pieces = [_compute().cast(piece, _arrow().float64(), safe=False) for piece in self._pieces]
        joined = _joined(pieces, _arrow().float64())
        return Column(joined.to_numpy(zero_copy_only=False), "real")

    def _read_texts(self, texts: Any) -> tuple[str, Any]:
        kind, values = read_texts(texts, codes=self._way == AUTO)
        boolean, was_boolean = kind == "boolean", "boolean" in self._kinds
        fits = not self._kinds or boolean == was_boolean
        if kind == "" or (kind != TEXT and fits and not (boolean and self._way == NUMBER)):
            return kind, values
        row, value = _first_odd(texts, codes=self._way == AUTO) if kind == TEXT else _first(texts)
        if self._way == NUMBER:
            self._refuse(self.rows + row, value)
        if self._kinds:
            raise IsText(self.name, None if was_boolean else (self.rows + row, value))
        if self._odd is None and _holds_numbers(texts):
            self._odd = (self.rows + row, value)
        self._way = TEXT
        return TEXT, texts

    def _refuse(self, row: int, value: str) -> NoReturn:
        raise FileError(
            f"column {self.name!r} must hold numbers; {self._place(row)} is {_short(value)!r}. "
            "Leave the field empty where a value is missing"
        )


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


def _first_odd(texts: Any, *, codes: bool) -> tuple[int, str]:
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


def _first(texts: Any) -> tuple[int, str]:
    row = _compute().index(_compute().is_valid(texts), True).as_py()
    return row, texts[row].as_py()


def _holds_numbers(texts: Any) -> bool:
    """Whether some of the first fields are numbers: only then is one that is not worth a word."""
    for text in texts.slice(0, 1000).drop_null().to_pylist():
        try:
            float(text)
        except ValueError:
            continue
        return True
    return False


def _from_arrow(piece: Any, name: str) -> tuple[str, Any]:
    """The kind that an array has by its type, and the array in a type that is read here."""
    pa, compute = _arrow(), _compute()
    types = pa.types
    if types.is_dictionary(piece.type):
        texts = _is_text(piece.type.value_type)
        if texts and not _has_empty(piece.dictionary):
            return TEXT, piece
        return _from_arrow(compute.cast(piece, piece.type.value_type), name)
    kind = piece.type
    if _is_text(kind):
        if _has_empty(piece):
            piece = compute.if_else(compute.equal(piece, ""), pa.scalar(None, kind), piece)
        return TEXT, piece
    if types.is_null(kind):
        return "", compute.cast(piece, pa.int64())
    if types.is_boolean(kind):
        return "boolean", piece
    if types.is_integer(kind):
        return ("wide" if kind == pa.uint64() else "integer"), piece
    if types.is_floating(kind):
        return "real", piece
    if types.is_decimal(kind):
        whole = kind.scale == 0
        return ("wide", piece) if whole else ("real", compute.cast(piece, pa.float64(), safe=False))
    if types.is_temporal(kind) or types.is_binary(kind) or types.is_large_binary(kind):
        try:
            return TEXT, compute.cast(piece, pa.string())
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
            raise FileError(f"column {name!r} must hold numbers or texts; it held bytes that are no text") from error
    raise FileError(f"column {name!r} must hold numbers or texts; it held values of type {kind}")


def _has_empty(texts: Any) -> bool:
    """Whether a text is empty; asked without a value of Python, for which Arrow would load pandas."""
    return bool(_compute().min(_compute().binary_length(texts)).as_py() == 0)


def _is_text(kind: Any) -> bool:
    types = _arrow().types
    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))


def _joined(pieces: list[Any], kind: Any) -> Any:
    """The pieces as one Arrow array; texts stay in pieces, each with a dictionary of its own where they have one."""
    pa = _arrow()
    if kind != pa.string():
        return pa.concat_arrays([_compute().cast(piece, kind) for piece in pieces]) if pieces else pa.nulls(0, kind)
    dictionaries = [pa.types.is_dictionary(piece.type) for piece in pieces]
    if pieces and all(dictionaries):
        return pa.chunked_array(pieces).unify_dictionaries()
    return pa.chunked_array([_compute().cast(piece, kind) for piece in pieces], kind)


def _plain(values: Any) -> Any:
    """An array of NumPy, where no value is missing; else that of Arrow, whose whole numbers stay whole."""
    return values if values.null_count else values.to_numpy(zero_copy_only=False)


def _short(value: str) -> str:
    return value if len(value) <= 40 else f"{value[:37]}..."


def _arrow() -> Any:
    return load("pyarrow")


def _compute() -> Any:
    return load("pyarrow.compute")
