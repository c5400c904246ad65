"""A table of cells as data, with notes below it: what every rendering starts from."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from typing import NamedTuple, TypeVar


class Table(NamedTuple):
    """A title, headings, rows of cells, and lines below. Text and HTML are made of this, and nothing else."""

    title: str
    headings: Sequence[str]
    rows: Sequence[Sequence[object]]
    notes: Sequence[str] = ()
    numbers: Sequence[str] = ()
    """The headings of columns that hold numbers, and so line up."""
    named_rows: bool = False
    """Whether the first cell of a row is its name."""


class BandedNumber(float):
    """A number with the band that it falls in: "good", "fair" or "poor"."""

    __slots__ = ("band",)
    band: str

    def __new__(cls, value: float, band: str) -> BandedNumber:
        """The number, which knows its band."""
        out = super().__new__(cls, value)
        out.band = band
        return out


class Percent(BandedNumber):
    """A share that is shown in percent, with one decimal; its band goes by the value, not by what is shown."""

    __slots__ = ()

    def __str__(self) -> str:
        return "undefined" if math.isnan(self) else f"{100 * float(self):.1f} %"


def show_number(value: float, digits: int = 6) -> str:
    """A number as a person reads it: some significant digits, thousands apart, no exponent where it can be helped.

    >>> show_number(0.123456, 4), show_number(123456.78, 4), show_number(123456.78, 8)
    ('0.1235', '123,457', '123,456.78')
    """
    value = float(value)
    if math.isnan(value):
        return "undefined"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    size = abs(value)
    if value.is_integer() and size < 1e15:
        return f"{value:,.0f}"
    if size != 0 and (size < 1e-4 or size >= 1e15):
        return f"{value:.{digits}g}"
    return f"{value:{',' * (round(size) >= 1e5)}.{max(digits, len(f'{size:.0f}'))}g}"


def show_cell(value: object) -> str:
    """Any cell as text."""
    if isinstance(value, Percent):
        return str(value)
    if isinstance(value, float):
        return show_number(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return "" if value is None else str(value)


Said = TypeVar("Said", bound=Hashable)
Of = TypeVar("Of", bound=Hashable)


def group_by_first(pairs: Iterable[tuple[Said, Of]]) -> dict[Said, list[Of]]:
    """What is said, each once and in the order of the first, with all of which it is said.

    >>> group_by_first([("few rows", "mae"), ("no rows", "r2"), ("few rows", "rmse")])
    {'few rows': ['mae', 'rmse'], 'no rows': ['r2']}
    """
    groups: dict[Said, list[Of]] = {}
    for first, second in dict.fromkeys(pairs):
        groups.setdefault(first, []).append(second)
    return groups


def note_lines(pairs: Iterable[tuple[str, str]], joint: str = ", ") -> list[str]:
    """A line for each text, behind the names of what has it.

    >>> note_lines([("few rows", "mae"), ("no rows", "r2"), ("few rows", "rmse")])
    ['mae, rmse: few rows', 'r2: no rows']
    """
    return [f"{joint.join(names)}: {text}" for text, names in group_by_first(pairs).items()]
