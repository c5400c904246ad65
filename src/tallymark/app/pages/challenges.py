"""The front page, two files of one's own, and challenges."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from markupsafe import Markup

from tallymark.app.pages.shell import PageTime, ProblemSection, SelectOption, Shell
from tallymark.rendering.document import Document


class ChallengeCard(NamedTuple):
    """A challenge in a list. `state` is "open", "closed" or "soon"; `arrow` is "↑" or "↓", `direction` says it."""

    slug: str
    title: str
    summary: str
    task: str
    metric: str
    arrow: str
    direction: str
    state: str
    deadline: PageTime | None
    teams: str
    """ "12 teams"."""


class FrontPage(NamedTuple):
    """`/` (front.html): what this is, and the challenges that are open."""

    shell: Shell
    challenges: Sequence[ChallengeCard]
    upload_limit: str
    """ "10 MB"."""


class AnalysePage(NamedTuple):
    """`/analyse` (analyse.html): two files are scored, and nothing is kept.

    Fields: files `answers` and `submission`; `id_column`, `label_column`, `task`, `metrics`, `query_column`,
    `positive`, `class_names`, `intervals`; the second button sends `form` = "html" for the report as a file.
    """

    shell: Shell
    tasks: Sequence[SelectOption]
    upload_limit: str
    document: Document | None = None
    """The result, as `report_document` tells it."""
    problems: ProblemSection | None = None
    report: str = ""
    """The address of the result as a page, which holds all of it."""


class ChallengesPage(NamedTuple):
    """`/challenges` (challenges.html)."""

    shell: Shell
    challenges: Sequence[ChallengeCard]


class MetricFacts(NamedTuple):
    """A metric explained; `ranks` for the one that entries are ordered by."""

    name: str
    arrow: str
    direction: str
    sentence: str
    formula: str
    reading: Sequence[str]
    why: str = ""
    """Why macro averages, where it is one."""
    ranks: bool = False


class ColumnFacts(NamedTuple):
    """A column of the file to hand in."""

    name: str
    meaning: str
    example: str


class TeamCard(NamedTuple):
    """One's own team and the code by which others join it."""

    name: str
    code: str
    members: Sequence[str]


class ChallengePage(NamedTuple):
    """`/challenges/{slug}` (challenge.html). The form to join has the fields `team` (a new name) and `code`."""

    shell: Shell
    slug: str
    title: str
    summary: str
    state: str
    """ "open", "closed" or "soon"."""
    rules: Markup
    task: str
    metrics: Sequence[MetricFacts]
    columns: Sequence[ColumnFacts]
    example: str
    """The first lines of a file that would be taken."""
    opens: PageTime | None
    deadline: PageTime | None
    late: str
    quota: str
    split: str
    finals: str
    shown: Sequence[str]
    """What participants see of a result, one sentence each."""
    teams: str
    team: TeamCard | None = None
    may_join: bool = False
    may_submit: bool = False
    may_organise: bool = False
