"""The shell around every page (base.html), and records that several pages share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from tallymark.sources.problems import ProblemGroup


class Link(NamedTuple):
    """A link; `current` if it leads to the page that shows it."""

    text: str
    href: str
    current: bool = False


class Flash(NamedTuple):
    """A message after an action: `kind` is "good", "bad" or "note"."""

    kind: str
    text: str


class Person(NamedTuple):
    """Who is signed in: `role` is "participant" or "organiser"."""

    name: str
    role: str


class Form(NamedTuple):
    """The values and errors of a form by the names of its fields; the error under "" is of the whole form."""

    values: Mapping[str, str] = {}
    errors: Mapping[str, str] = {}


class Shell(NamedTuple):
    """The title, the navigation and the messages of a page, and the values and errors of its form."""

    title: str
    path: str
    person: Person | None = None
    links: Sequence[Link] = ()
    flashes: Sequence[Flash] = ()
    form: Form = Form()


class PageTime(NamedTuple):
    """A time: for machines, in words ("16 November 2026, 12:00 UTC"), and relative to now ("in 3 days")."""

    iso: str
    text: str
    relative: str = ""


class SelectOption(NamedTuple):
    """An option of a field, with a sentence about it."""

    value: str
    text: str
    hint: str = ""


class ProblemSection(NamedTuple):
    """The problems of a file: a sentence, the first problems in groups, and how many more there are, in words."""

    sentence: str
    problems: Sequence[ProblemGroup]
    more: str = ""


class Pagination(NamedTuple):
    """Links to the pages of a list; `previous` and `next` are empty on the first and the last page.

    `sentence` is "Entries 101 to 200 of 412".
    """

    sentence: str
    links: Sequence[Link]
    previous: str = ""
    next: str = ""


class ErrorPage(NamedTuple):
    """Any error (error.html): what happened, how to go on, and the reference of the request in the log."""

    shell: Shell
    status: int
    message: str
    hint: str
    reference: str = ""
    link: Link | None = None
    """A page to continue from."""
