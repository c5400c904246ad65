"""The pages of organisers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from tallymark.app.pages.metric_picker import MetricPicker
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
    existing challenge; a new one has the file in its form); the owner's also "add organiser", "remove organiser" and
    "transfer" with the name `organiser`.

    Fields: `title`, `slug`, `summary`, `rules`, `must_accept`, `data_for`, `task`, `id_column`, `label_column`,
    `query_column`, `classes`, `positive`, `metrics`, `missing`, `split`, `split_column`, `split_share`, `split_seed`,
    `opens`, `deadline` (as `2026-11-16T12:00`, UTC), `late`, `reveal`, `quota`, `total_quota`, `team_size`, `finals`,
    `show_intervals`, `show_classes`, `show_counts`, and `publish` and `answers_token` of a new one; those of the picker
    are in `pages.metric_picker`.
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
    reveal: Sequence[SelectOption] = ()
    steps: Sequence[Link] = ()
    """Links to the pages that confirm the steps which the challenge can take now."""
    picker: MetricPicker = MetricPicker()
    summary: Sequence[Link] = ()
    """The errors of the form, with links to their fields."""
    answers_token: str = ""
    """Sends the answers that were chosen before, when the form is shown again."""
    answers_name: str = ""
    data_for: Sequence[SelectOption] = ()


FIELD_LABELS = {
    "title": "Title",
    "slug": "Address",
    "summary": "Summary",
    "rules": "Rules",
    "data_for": "Data files",
    "answers": "Answers",
    "task": "Task",
    "id_column": "Id column",
    "label_column": "Answer column",
    "query_column": "Query column",
    "classes": "Classes",
    "positive": "Positive class",
    "metrics": "Metrics",
    "missing": "Missing rows",
    "split": "Public and private part",
    "split_column": "Split column",
    "split_share": "Public share (percent)",
    "split_seed": "Seed",
    "opens": "Opens (UTC)",
    "deadline": "Deadline (UTC)",
    "late": "After the deadline",
    "reveal": "Show the private part",
    "quota": "Submissions per day",
    "total_quota": "Submissions in all",
    "finals": "Final submissions",
    "organiser": "Add a co-organiser",
}
"""The labels of the form, in its order."""


def error_links(errors: Mapping[str, str]) -> list[Link]:
    """The errors of the form in the order of its fields, each with a link to its field."""
    return [Link(f"{FIELD_LABELS[name]}: {errors[name]}", f"#{name}") for name in FIELD_LABELS if name in errors]
