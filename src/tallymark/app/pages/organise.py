"""The pages of organisers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from tallymark.app.pages.shell import Link, PageTime, ProblemSection, SelectOption, Shell


class OrganisedChallenge(NamedTuple):
    """A challenge in the list of its organisers."""

    slug: str
    title: str
    state: str
    deadline: PageTime | None
    teams: str
    submissions: str
    pending: str
    answers: str
    """ "version 2"."""


class OrganisePage(NamedTuple):
    """`/organise` (organise.html)."""

    shell: Shell
    challenges: Sequence[OrganisedChallenge]
    may_create: bool = True


class AnswersVersion(NamedTuple):
    """A version of the answers."""

    name: str
    rows: str
    created: PageTime
    digest: str
    current: bool
    note: str = ""


class OrganiserRow(NamedTuple):
    """An organiser of a challenge."""

    name: str
    owner: bool
    since: PageTime


class EditPage(NamedTuple):
    """`/organise/new` and `/organise/{slug}` (edit.html).

    Forms send `action`: "save" with the fields below, "answers" with the file `answers` and `answers_note` (of an
    existing challenge; a new one has the file in its form), "close" or "reopen"; the owner's also "add organiser",
    "remove organiser" and "transfer" with the name `organiser`.

    Fields: `title`, `slug`, `summary`, `rules`, `task`, `id_column`, `label_column`, `query_column`, `classes`,
    `positive`, `metrics`, `missing`, `split`, `split_column`, `split_share`, `split_seed`, `opens`, `deadline` (as
    `2026-11-16T12:00`, UTC), `late`, `quota`, `team_size`, `finals`, `show_intervals`, `show_classes`, `show_counts`.
    """

    shell: Shell
    slug: str
    """Empty for a new one."""
    title: str
    tasks: Sequence[SelectOption]
    missing: Sequence[SelectOption]
    splits: Sequence[SelectOption]
    late: Sequence[SelectOption]
    upload_limit: str
    state: str = "soon"
    versions: Sequence[AnswersVersion] = ()
    problems: ProblemSection | None = None
    parts: Sequence[Link] = ()
    """Downloads of the current answers, by part."""
    organisers: Sequence[OrganiserRow] = ()
    owned: bool = False
    """Whether the reader owns the challenge."""
