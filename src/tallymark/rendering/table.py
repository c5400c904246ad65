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
    optional: Sequence[str] = ()
    """The headings of columns that a narrow page leaves out."""
    repeated: int = 0
    """How many of the first columns each block of a broken table has; by default those before the first number."""

    def without_empty(self, *headings: str) -> Table:
        """The table without those of these columns that are empty in every row.

        >>> Table("", ("metric", "unit"), [("mae", ""), ("r2", "")]).without_empty("unit").headings
        ('metric',)
        """
        kept = [
            k
            for k, heading in enumerate(self.headings)
            if heading not in headings or any(show_cell(row[k]) for row in self.rows)
        ]
        return self._replace(
            headings=tuple(self.headings[k] for k in kept), rows=[tuple(row[k] for k in kept) for row in self.rows]
        )


class Name(str):
    """A text for people, with what code has instead, such as a canonical name or all digits; pages show it on hover."""

    __slots__ = ("code",)
    code: str

    def __new__(cls, shown: str, code: str) -> Name:
        """The name as it is shown."""
        out = super().__new__(cls, shown)
        out.code = code
        return out


class ShownNumber(float):
    """A number that is shown with the digits that its uncertainty bears out; pages show all of them on hover."""

    __slots__ = ("below", "text")
    text: str
    below: str
    """What a page shows in small below the number, such as its interval."""

    def __new__(cls, value: float, text: str, below: str = "") -> ShownNumber:
        """The number, which knows how it is shown."""
        out = super().__new__(cls, value)
        out.text = text
        out.below = below
        return out

    def above(self, below: str) -> ShownNumber:
        """The same number above another text."""
        return ShownNumber(self, self.text, below)

    def __str__(self) -> str:
        return self.text


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


class Verdict(str):
    """A word that decides, such as "passed", with the band of its colour: "good" or "poor"."""

    __slots__ = ("band",)
    band: str

    def __new__(cls, text: str, band: str) -> Verdict:
        """The text, which knows its band."""
        out = super().__new__(cls, text)
        out.band = band
        return out


DIGITS = 4
"""Significant digits of a number whose uncertainty is not known."""


def show_number(value: float, digits: int = DIGITS) -> str:
    """A number as a person reads it: significant digits, thousands grouped, and an exponent only where it is needed.

    >>> show_number(0.123456), show_number(1234.56), show_number(123456.78, 8)
    ('0.1235', '1,235', '123,456.78')
    >>> show_number(0.99998), show_number(1.0)  # 1 is shown for 1 alone
    ('0.99998', '1')
    """
    value = float(value)
    if math.isnan(value):
        return "undefined"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    size = abs(value)
    if value.is_integer() and size < 1e15:
        return f"{value:,.0f}"
    while size < 1 and digits < 16 and float(f"{size:.{digits}g}") == 1:
        digits += 1
    if size != 0 and (size < 1e-4 or size >= 1e15):
        return f"{value:.{digits}g}"
    return f"{value:,.{max(digits, len(f'{size:.0f}'))}g}"


def _decimals_that_show(number: float, decimals: int) -> int:
    """As many decimals, or as many more as a number other than 0 needs not to be shown as 0."""
    while number != 0 and decimals < _MOST_DECIMALS and round(number, decimals) == 0:
        decimals += 1
    return decimals


def show_estimate(value: float, lo: float | None, hi: float | None) -> tuple[str, str]:
    """A value and its interval, rounded to two significant digits of the interval's width; more for a number other
    than 0 that would be shown as 0, and where a value below 1 would be shown as 1. Without an interval the second text
    is empty.

    >>> show_estimate(0.9176874, 0.9042644, 0.9293771), show_estimate(0.9176874, None, None)
    (('0.918', '0.904 to 0.929'), ('0.9177', ''))
    >>> show_estimate(12345.678, 10213.4, 14893.1)
    ('12,346', '10,213 to 14,893')
    """
    if lo is None or hi is None:
        return show_number(value), ""
    width = hi - lo
    if not (math.isfinite(width) and width > 0 and math.isfinite(value)):
        return show_number(value), f"{show_number(lo)} to {show_number(hi)}"
    numbers = (value, lo, hi)
    decimals = 1 - math.floor(math.log10(width))
    while decimals < _MOST_DECIMALS and abs(value) < 1 and abs(round(value, decimals)) == 1:
        decimals += 1
    if decimals > _MOST_DECIMALS or max(map(abs, numbers)) >= 1e15:
        places = [max(2, math.floor(math.log10(abs(number))) + decimals + 1) if number else 1 for number in numbers]
        texts = [f"{number:.{min(each, 17)}g}" for number, each in zip(numbers, places, strict=True)]
    else:
        texts = [f"{number:z,.{_decimals_that_show(number, max(decimals, 0))}f}" for number in numbers]
    return texts[0], f"{texts[1]} to {texts[2]}"


_MOST_DECIMALS = 9


def show_cell(value: object) -> str:
    """Any cell as text."""
    if isinstance(value, (Percent, ShownNumber)):
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
