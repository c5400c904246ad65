"""A whole report as plain data: what the page and the Markdown of it are made of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from tallymark.rendering.fact_sheet import FactSheet
from tallymark.rendering.table import Table


class Picture(Protocol):
    """A drawing with its words: a title, a sentence that says what is seen, and its numbers as a table."""

    @property
    def title(self) -> str:
        """What it is."""

    @property
    def description(self) -> str:
        """What is seen, in one sentence."""

    @property
    def table(self) -> Table:
        """The numbers that are drawn."""

    def svg(self, theme: str = "light") -> str:
        """The drawing in a theme: "light", "dark", or "auto" for the colours of the page that it stands in."""


class Scale(NamedTuple):
    """The place of a value in its range, with its interval and with values that have a meaning."""

    low: float
    high: float
    value: float
    lo: float | None = None
    hi: float | None = None
    marks: Sequence[tuple[float, str]] = ()


class Card(NamedTuple):
    """A headline number: its name, the value, its interval, what else to know, and which band it falls in."""

    name: str
    value: str
    interval: str = ""
    hint: str = ""
    band: str = ""
    scale: Scale | None = None
    verdict: str = ""
    """What to know first, such as that a baseline is better."""
    exact: str = ""
    """The value and its interval with all digits, which a page shows on hover."""


class Code(NamedTuple):
    """Something to type, under a name."""

    name: str
    text: str


class Notes(NamedTuple):
    """Sentences, one below the other."""

    lines: Sequence[str]


class Folded(NamedTuple):
    """A table that a page shows only when asked for."""

    summary: str
    table: Table


Part = Table | Picture | FactSheet | Code | Notes | Folded


class Section(NamedTuple):
    """A part with a heading: a name for links, a title, a sentence, and what stands below it."""

    name: str
    title: str
    sentence: str = ""
    parts: Sequence[Part] = ()
    folded: bool = False
    """Whether its parts are shown only when asked for."""
    band: str = ""
    """The colour of a title that is a verdict."""


class Document(NamedTuple):
    """A title, a line below it, sections that lead, headline numbers, and sections."""

    title: str
    line: str
    cards: Sequence[Card]
    sections: Sequence[Section]
    lead: Sequence[Section] = ()
