"""Turns what callers hold into columns of labels that the core can read, without a copy where that is possible.

Labels are numbers or strings. ``True``, ``1`` and ``1.0`` are one label; ``"1"`` is another. Byte strings are read as
UTF-8.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from decimal import Decimal
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np

from tallymark.data.arguments import describe
from tallymark.data.arrays import Array, as_array, categories_of, check_arrow, is_pandas, named_codes
from tallymark.errors import Argument, TypeOfDataError

Label = int | float | str
MOST_BITS = 14_000
"""Of a label that is a whole number: Python does not write out one of more than 4,300 digits."""

_KINDS = {"b": "boolean", "i": "integer", "u": "integer", "f": "real", "U": "text", "S": "text", "O": "objects"}
_PLAIN_DTYPES = {np.dtype(code): _KINDS[np.dtype(code).kind] for code in "?bhilqBHILQefd"}
_PLAIN_TYPES = {bool: "boolean", int: "integer", float: "real", str: "text"}


class LabelColumn(NamedTuple):
    """Labels as the core reads them.

    `type` is what the column holds as a whole: boolean, integer, real or text. Where `names` is given, the source holds
    places in that list.
    """

    source: Any
    type: str
    names: Sequence[Label] | None = None


def plain_labels(source: object) -> LabelColumn | None:
    """An array of numbers, which are labels as they are; None for anything else."""
    if type(source) is not np.ndarray or source.ndim != 1:
        return None
    kind = _PLAIN_DTYPES.get(source.dtype)
    return None if kind is None else LabelColumn(source, kind)


def as_labels(source: object, name: str) -> LabelColumn:
    """`source`, of one dimension, as a column of labels."""
    if isinstance(source, (list, tuple)):
        return LabelColumn(source, _type_of_items(source))
    if type(source) is not np.ndarray:
        found = _from_categories(source, name) or _from_arrow(source, name)
        if found is not None:
            return found
        source = as_array(source, name)
    return _from_array(source, name)


def _from_array(array: Array, name: str) -> LabelColumn:
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.dtype.kind == "T":  # NumPy's strings of any length
        array = array.astype(object)
    kind = array.dtype.kind
    if kind not in _KINDS:
        what = {"c": "complex numbers", "M": "dates", "m": "durations"}.get(kind, f"type {array.dtype}")
        hint = "Convert them to strings first" if kind in "Mm" else None
        raise TypeOfDataError(argument=name, expected="contain labels (numbers or strings)", got=what, hint=hint)
    if kind == "O":
        return LabelColumn(array, _type_of_items(array))
    if not array.dtype.isnative or array.dtype == np.longdouble:
        array = array.astype(np.float64 if kind == "f" else array.dtype.newbyteorder("="))
    return LabelColumn(array, _KINDS[kind])


def _type_of_items(items: Iterable[object]) -> str:
    """What a sequence of objects holds as a whole, by the types of its items and never by their values."""
    types = set(map(type, items))
    found = {_PLAIN_TYPES.get(t) or _type_of_class(t) for t in types} - {""}
    for kind in ("text", "real", "integer", "boolean"):
        if kind in found:
            return kind
    return "integer"  # nothing, or nothing but missing values


def _type_of_class(cls: type) -> str:
    if issubclass(cls, (str, bytes)):
        return "text"
    if issubclass(cls, np.bool_):
        return "boolean"
    if issubclass(cls, Integral):
        return "integer"
    return "real" if issubclass(cls, (Real, Decimal)) else ""


def _from_categories(source: Any, name: str) -> LabelColumn | None:
    """A pandas categorical, by the codes that it holds anyway."""
    categorical = categories_of(source)
    if categorical is None:
        return None
    names = [label_or_none(item) for item in categorical.categories]
    if None in names:
        odd = describe(categorical.categories[names.index(None)])
        raise TypeOfDataError(
            argument=name,
            expected="contain labels (numbers or strings)",
            got=f"a category that is {odd}",
            hint="Convert the categories to strings first",
        )
    kind = _type_of_items(categorical.categories)  # as they were given: whole floats are floats
    codes = np.asarray(categorical.codes)
    if kind == "real" or (codes < 0).any() or len({isinstance(item, str) for item in names}) > 1:
        return LabelColumn(named_codes(codes, names), kind)  # what may be refused is read row by row
    return LabelColumn(codes, kind, names)  # type: ignore[arg-type]


def _from_arrow(source: Any, name: str) -> LabelColumn | None:
    """Texts and dictionaries that the Arrow interface hands over; numbers are better read as arrays."""
    if not (hasattr(source, "__arrow_c_stream__") or hasattr(source, "__arrow_c_array__")):
        return None
    dtype = str(getattr(source, "dtype", None) or getattr(source, "type", "")).lower()
    if not dtype.startswith(("string", "large_string", "utf8", "dictionary", "categorical", "enum")) and dtype != "str":
        return None
    if is_pandas(source) and "pyarrow" not in str(getattr(source.dtype, "storage", "pyarrow")):
        return None  # pandas would build Arrow data first, only to be read
    check_arrow(source, Argument(name), read=True)
    if not dtype.startswith("dictionary"):
        return LabelColumn(source, "text")
    values = dtype.partition("values=")[2]
    kind = "text" if values.startswith(("string", "large_string", "binary")) else "integer"
    return LabelColumn(source, "real" if values.startswith(("float", "double", "halffloat")) else kind)


def label_or_none(item: object) -> Label | None:
    """A label of any class as an int, a float or a str; None where it is missing or no label."""
    found = normal_label(item)
    return None if found is NotImplemented else found


def normal_label(item: Any) -> Any:
    """An item as a plain int, float or str; None where it is a missing value, NotImplemented where it is no label."""
    if type(item) is int:
        return item
    if isinstance(item, str):
        return str.__str__(item)  # of an Enum with strings, the string
    if isinstance(item, (bool, np.bool_, Integral)):
        return int(item)
    if isinstance(item, bytes):
        try:
            return item.decode()
        except UnicodeDecodeError:
            return NotImplemented
    if item is None or type(item).__name__ in ("NAType", "NaTType"):
        return None
    if not isinstance(item, (Real, Decimal)):
        return NotImplemented
    try:
        whole = math.floor(item)
    except (OverflowError, ValueError):  # infinity and NaN have none
        return None
    if item == whole:
        return whole
    try:
        return float(item)
    except OverflowError:  # a fraction that no float can hold
        return NotImplemented
