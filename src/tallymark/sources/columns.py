"""Columns of a file as arrays: which of them are numbers, and every number exactly as it was written.

A column whose every field is a number is one of numbers: whole ones, of any size, where all are whole, else floats, and
among them whole numbers that no float holds. One of nothing but true and false is boolean. Everything else is text, as
are numbers with leading zeros, such as 007, which are codes. An empty field is missing.

Every field of CSV arrives as text. Batches become numbers as they come, and if a later one holds text, the file is read
again with that column as text, so that not a character of it is lost.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, NoReturn

import numpy as np

from tallymark.errors import FileError, TypeOfDataError
from tallymark.sources.arrow import load
from tallymark.sources.csv.fields import (
    TEXT,
    first_non_number,
    first_valid,
    has_numbers,
    parse_texts,
    to_floats,
    to_objects,
    unpack_numbers,
)

AUTO, NUMBER = "auto", "number"
READ_AS = (AUTO, NUMBER, TEXT)


class Column(NamedTuple):
    """A column of a file: its values, as an array of NumPy or Arrow, and their type: boolean, integer, real or text.

    `non_number` is the row and the text of the first field that is not a number, where others are.
    """

    values: Any
    type: str
    non_number: tuple[int, str] | None = None


class FoundText(Exception):  # noqa: N818 - control flow, not an error
    """A column of numbers turned out to hold text, so it must be read again, as it was written."""

    def __init__(self, name: str, non_number: tuple[int, str] | None) -> None:
        super().__init__(name)
        self.name = name
        self.non_number = non_number


class ColumnBuilder:
    """Makes one column of pieces that come in order; `read_as` is one of `READ_AS`."""

    def __init__(
        self, name: str, read_as: str, describe_row: Callable[[int], str], non_number: tuple[int, str] | None = None
    ) -> None:
        self.name = name
        self._read_as = read_as
        self._describe_row = describe_row
        self._non_number = non_number
        self._kinds: set[str] = set()
        self._pieces: list[Any] = []
        self.rows = 0

    def add(self, piece: Any, *, from_text: bool) -> None:
        """Take a piece as an Arrow array; `from_text` where its texts may be numbers, as in a CSV file."""
        kind, values = _from_arrow(piece, self.name)
        if kind == TEXT and self._read_as != TEXT and (from_text or self._read_as == NUMBER):
            kind, values = self._parse_texts(_compute().cast(values, _arrow().string()))
        elif kind not in ("", TEXT) and self._read_as == TEXT:
            kind, values = TEXT, _to_text(values)
        if kind:
            self._kinds.add(kind)
        self._pieces.append(values)
        self.rows += len(values)

    def finish(self) -> Column:
        """The whole column."""
        kinds = self._kinds or {TEXT if self._read_as == TEXT else "real"}
        if kinds == {TEXT}:
            return Column(_concatenate(self._pieces, _arrow().string()), TEXT, self._non_number)
        if kinds == {"boolean"}:
            return Column(_to_numpy_if_complete(_concatenate(self._pieces, _arrow().bool_())), "boolean")
        if kinds == {"integer"}:
            wide = _arrow().int64() if len(self._pieces) > 1 else self._pieces[0].type  # one is read where it lies
            return Column(_to_numpy_if_complete(_concatenate(self._pieces, wide)), "integer")
        if "real" not in kinds:
            items = [item for piece in self._pieces for item in piece.to_pylist()]
            whole = np.empty(len(items), dtype=object)
            whole[:] = [None if item is None else int(item) for item in items]
            return Column(whole, "integer")
        pieces = [_reals(piece) for piece in self._pieces]
        if any(_arrow().types.is_struct(piece.type) for piece in pieces):
            return Column(np.concatenate([to_objects(piece) for piece in pieces]), "real")
        return Column(arrow_to_numpy(_concatenate(pieces, _arrow().float64())), "real")

    def _parse_texts(self, texts: Any) -> tuple[str, Any]:
        kind, values = parse_texts(texts, codes=self._read_as == AUTO)
        boolean, was_boolean = kind == "boolean", "boolean" in self._kinds
        fits = not self._kinds or boolean == was_boolean
        if kind == "" or (kind != TEXT and fits and not (boolean and self._read_as == NUMBER)):
            exact = kind == "real" and self._read_as == AUTO
            return kind, to_floats(values, lambda: texts) if exact else values
        row, value = first_non_number(texts, codes=self._read_as == AUTO) if kind == TEXT else first_valid(texts)
        if self._read_as == NUMBER:
            self._raise_not_number(self.rows + row, value)
        if self._kinds:
            raise FoundText(self.name, None if was_boolean else (self.rows + row, value))
        if self._non_number is None and has_numbers(texts):
            self._non_number = (self.rows + row, value)
        self._read_as = TEXT
        return TEXT, texts

    def _raise_not_number(self, row: int, value: str) -> NoReturn:
        raise FileError(
            f"column {self.name!r} must contain numbers; {self._describe_row(row)} is {_short(value)!r}",
            hint="Leave the field empty where a value is missing",
        )


def _reals(piece: Any) -> Any:
    """Numbers of any type as real ones."""
    types = _arrow().types
    if types.is_struct(piece.type):
        return piece
    if types.is_floating(piece.type):
        return _compute().cast(piece, _arrow().float64())
    return to_floats(piece, lambda: _to_text(piece))


def _to_text(numbers: Any) -> Any:
    """Numbers as texts; decimals without the zeros at their end."""
    texts = _compute().cast(numbers, _arrow().string())
    if _arrow().types.is_decimal(numbers.type) and numbers.type.scale > 0:
        return _compute().replace_substring_regex(texts, pattern=r"\.?0*$", replacement="", max_replacements=1)
    return texts


def stack_columns(names: Sequence[str], columns: Mapping[str, Column]) -> Any:
    """One column as it is, or several of numbers as a table."""
    if len(names) == 1:
        return columns[names[0]].values
    for name in names:
        if columns[name].type == TEXT:
            non_number = columns[name].non_number
            what = "text" if non_number is None else f"{non_number[1][:40]!r} in row {non_number[0]:,}"
            raise TypeOfDataError(f"column {name!r} must contain numbers, like the columns beside it; got {what}")
    return np.column_stack([_numbers(columns[name].values) for name in names])


def _numbers(values: Any) -> Any:
    """An array of NumPy; missing values are NaN."""
    found = values if isinstance(values, np.ndarray) else arrow_to_numpy(values)
    return found.astype(np.float64) if found.dtype.kind == "O" else found


def _from_arrow(piece: Any, name: str) -> tuple[str, Any]:
    """The kind of an array by its type, and the array in a type that is supported."""
    pa, compute = _arrow(), _compute()
    types = pa.types
    piece = without_view_types(piece)
    if types.is_dictionary(piece.type):
        if _is_text(piece.type.value_type):
            return TEXT, _empty_to_null(piece)
        if _is_bytes(piece.type.value_type):  # which must not unfold, either
            return _from_arrow(pa.DictionaryArray.from_arrays(piece.indices, _decode(piece.dictionary, name)), name)
        if not isinstance(piece.type.value_type, pa.BaseExtensionType):  # which is refused below
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
        return ("real" if kind.scale > 0 else "wide"), piece
    if types.is_temporal(kind) or _is_bytes(kind):
        return _from_arrow(_decode(piece, name), name)
    unpacked = unpack_numbers(piece)
    if unpacked is None:
        raise FileError(f"column {name!r} must contain numbers or text; got values of type {kind}", code="column_type")
    return unpacked


def kind_of_type(arrow_type: Any) -> str:
    """The kind that a column has by its Arrow type; empty where it has none, or is refused when it is read."""
    types = _arrow().types
    if types.is_dictionary(arrow_type):
        return kind_of_type(arrow_type.value_type)
    if _is_text(arrow_type) or _is_bytes(arrow_type) or types.is_temporal(arrow_type):
        return TEXT
    if types.is_boolean(arrow_type):
        return "boolean"
    if types.is_integer(arrow_type):
        return "integer"
    return "real" if types.is_floating(arrow_type) or types.is_decimal(arrow_type) else ""


def without_view_types(piece: Any) -> Any:
    """Texts or bytes in a layout that all functions of Arrow read; an array of another type as it is."""
    pa = _arrow()
    if isinstance(piece, pa.ChunkedArray):
        return pa.chunked_array(list(map(without_view_types, piece.chunks))) if piece.num_chunks else piece
    if pa.types.is_dictionary(piece.type):
        dictionary = without_view_types(piece.dictionary)
        return piece if dictionary is piece.dictionary else pa.DictionaryArray.from_arrays(piece.indices, dictionary)
    if pa.types.is_string_view(piece.type):
        return _compute().cast(piece, pa.large_string())
    return _compute().cast(piece, pa.large_binary()) if pa.types.is_binary_view(piece.type) else piece


def _has_empty(texts: Any) -> bool:
    """Whether a text is empty; asked without a value of Python, for which Arrow would load pandas."""
    return bool(_compute().min(_compute().binary_length(texts)).as_py() == 0)


def _empty_to_null(piece: Any) -> Any:
    """Texts in a dictionary, of which an empty one is missing. They stay there: unfolded, they could be of any size."""
    if not _has_empty(piece.dictionary):
        return piece
    compute, pa = _compute(), _arrow()
    empty = compute.equal(compute.binary_length(piece.dictionary), 0)
    places = compute.if_else(empty.take(piece.indices), pa.scalar(None, piece.indices.type), piece.indices)
    return pa.DictionaryArray.from_arrays(places, piece.dictionary)


def _is_bytes(kind: Any) -> bool:
    types = _arrow().types
    return bool(types.is_binary(kind) or types.is_large_binary(kind) or types.is_binary_view(kind))


def _decode(piece: Any, name: str) -> Any:
    pa = _arrow()
    try:
        return _compute().cast(piece, pa.string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        got = "bytes that are not text"
        raise FileError(f"column {name!r} must contain numbers or text; got {got}", code="column_type") from error


def _is_text(kind: Any) -> bool:
    types = _arrow().types
    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))


def _concatenate(pieces: list[Any], kind: Any) -> Any:
    """The pieces as one Arrow array; texts stay in pieces, each with a dictionary of its own where they have one."""
    pa = _arrow()
    if kind != pa.string() and len(pieces) == 1:
        return _compute().cast(pieces[0], kind)  # where it lies
    if kind != pa.string():
        return pa.concat_arrays([_compute().cast(piece, kind) for piece in pieces]) if pieces else pa.nulls(0, kind)
    dictionaries = [pa.types.is_dictionary(piece.type) for piece in pieces]
    if pieces and all(dictionaries):
        return pa.chunked_array(pieces).unify_dictionaries()
    return pa.chunked_array([_compute().cast(piece, kind) for piece in pieces], kind)


def _to_numpy_if_complete(values: Any) -> Any:
    """An array of NumPy, where no value is missing; else that of Arrow, whose whole numbers stay whole."""
    return values if values.null_count else arrow_to_numpy(values)


def arrow_to_numpy(values: Any) -> Any:
    """An Arrow array of booleans or numbers as one of NumPy, as Arrow makes it, but without loading pandas for it.

    Missing values are NaN, which only floats have.
    """
    pa = _arrow()
    if pa.types.is_boolean(values.type):
        return arrow_to_numpy(_compute().cast(values, pa.uint8())).view(np.bool_)
    if not len(values):
        return np.empty(0, dtype=values.type.to_pandas_dtype())
    valid, data = values.buffers()
    first, last = values.offset, values.offset + len(values)
    found = np.frombuffer(data, dtype=values.type.to_pandas_dtype(), count=last)[first:]
    if not values.null_count:
        return found
    there = np.unpackbits(np.frombuffer(valid, dtype=np.uint8), count=last, bitorder="little")[first:]
    return np.where(there.astype(bool), found, np.nan)


def _short(value: str) -> str:
    return value if len(value) <= 40 else f"{value[:37]}..."


def _arrow() -> Any:
    return load("pyarrow")


def _compute() -> Any:
    return load("pyarrow.compute")
