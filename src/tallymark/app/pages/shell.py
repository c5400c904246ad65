"""What surrounds every page, and what several pages show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from tallymark.sources.problems import Problem


class Link(NamedTuple):
    """Somewhere to go; `current` where one is already."""

    text: str
    href: str
    current: bool = False


class Flash(NamedTuple):
    """A sentence about what has just happened: `kind` is "good", "bad" or "note"."""

    kind: str
    text: str


class Person(NamedTuple):
    """Who is signed in: `role` is "participant" or "organiser"."""

    name: str
    role: str


class Form(NamedTuple):
    """What was given in a form and what is wrong with it, by the names of its fields; "" stands for the whole form."""

    values: Mapping[str, str] = {}
    errors: Mapping[str, str] = {}


class Shell(NamedTuple):
    """What surrounds every page."""

    title: str
    path: str
    person: Person | None = None
    links: Sequence[Link] = ()
    flashes: Sequence[Flash] = ()
    form: Form = Form()


class PageTime(NamedTuple):
    """A time: for machines, in words ("16 November 2026, 12:00 UTC"), and from now ("in 3 days")."""

    iso: str
    text: str
    away: str = ""


class SelectOption(NamedTuple):
    """One of those that a field may be, with a sentence about it."""

    value: str
    text: str
    hint: str = ""


class ProblemSection(NamedTuple):
    """What is wrong with a file: a sentence, the first problems, and how many more there are, in words."""

    sentence: str
    problems: Sequence[Problem]
    more: str = ""


class Pagination(NamedTuple):
    """Links to the pages of a list; empty texts for none before or after. `sentence` is "Entries 101 to 200 of 412"."""

    sentence: str
    links: Sequence[Link]
    before: str = ""
    after: str = ""


class ErrorPage(NamedTuple):
    """Any error (error.html): what happened, what to do about it, and what to quote to who runs the server."""

    shell: Shell
    status: int
    sentence: str
    mend: str
    reference: str = ""
    where: Link | None = None
    """Where it can be done."""
