"""The pages of challenges, the front page, and the page that scores two files."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from markupsafe import Markup

from tallymark.app.domain.versions import metrics_of
from tallymark.app.pages.formatting import (
    TASK_NAMES,
    direction_arrow,
    direction_text,
    metric_names,
    optional_page_time,
    pluralize,
)
from tallymark.app.pages.materials import AnnouncementCard, DataFileRow
from tallymark.app.pages.shell import PageTime, ProblemSection, SelectOption, Shell
from tallymark.app.store.models import Challenge, Version
from tallymark.rendering.document import Document
from tallymark.submissions.document import WHY_MACRO
from tallymark.submissions.settings import requires_every_row

_COLUMN_MEANINGS = {
    "labels": ("predicted class", "cat"),
    "numbers": ("predicted number", "12.5"),
    "ranking": ("score; higher scores rank first within their query", "0.73"),
    "probabilities": ("probability of the positive class", "0.73"),
}


ROUNDING = "Scores are rounded: shares to a tenth of a percent, others to four significant digits."


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
    """`/` (front.html): what the app does, and open challenges."""

    shell: Shell
    challenges: Sequence[ChallengeCard]
    upload_limit: str
    """ "10 MB"."""


class AnalysePage(NamedTuple):
    """`/analyse` (analyse.html): scores two files and stores nothing.

    Fields: files `answers` and `submission`; `id_column`, `label_column`, `task`, `metrics`, `query_column`,
    `positive`, `class_names`, `intervals`; the second button sends `form` = "html" for the report as a file.
    """

    shell: Shell
    tasks: Sequence[SelectOption]
    upload_limit: str
    document: Document | None = None
    """The result, from `submission_document`."""
    problems: ProblemSection | None = None
    report: str = ""
    """The result as a page in a data: URL."""


class ChallengesPage(NamedTuple):
    """`/challenges` (challenges.html): those that are open or will open, then past ones."""

    shell: Shell
    challenges: Sequence[ChallengeCard]
    past: Sequence[ChallengeCard] = ()


class MetricFacts(NamedTuple):
    """The explanation of a metric; `ranks` for the one that ranks entries."""

    name: str
    arrow: str
    direction: str
    sentence: str
    formula: str
    reading: Sequence[str]
    why: str = ""
    """Why it is a macro average, where it is one."""
    ranks: bool = False


class ColumnFacts(NamedTuple):
    """A column that a submission must have."""

    name: str
    meaning: str
    example: str


class TeamCard(NamedTuple):
    """The user's team and the code by which others join it."""

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
    """ "draft", "open", "closed" or "soon"."""
    rules: Markup
    task: str
    metrics: Sequence[MetricFacts]
    columns: Sequence[ColumnFacts]
    example: str
    """The first lines of a valid file."""
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
    preview: bool = False
    """Whether an organiser looks at it as participants see it."""
    must_accept: bool = False
    """Whether the form to join has the checkbox `accept`."""
    announcements: Sequence[AnnouncementCard] = ()
    data_files: Sequence[DataFileRow] = ()
    may_download: bool = False


def challenge_card(challenge: Challenge, version: Version, state: str, teams: int, now: datetime) -> ChallengeCard:
    """A challenge in a list."""
    key, metric = next(iter(metrics_of(version).items()))
    return ChallengeCard(
        challenge.slug,
        challenge.title,
        challenge.summary,
        TASK_NAMES[version.task],
        metric_names(version)[key],
        direction_arrow(metric),
        direction_text(metric),
        state,
        optional_page_time(challenge.deadline, now),
        pluralize(teams, "team"),
    )


def explain_metrics(version: Version) -> list[MetricFacts]:
    """Explanations of the metrics of a version, of which the first ranks."""
    names = metric_names(version)
    return [
        MetricFacts(
            names[key],
            direction_arrow(metric),
            direction_text(metric),
            metric.description,
            metric.formula_text,
            [line for line in (metric.reading, *metric.pitfalls) if line],
            WHY_MACRO if "macro" in str(getattr(metric, "average", "")) else "",
            place == 0,
        )
        for place, (key, metric) in enumerate(metrics_of(version).items())
    ]


def describe_columns(version: Version) -> list[ColumnFacts]:
    """The columns of a submission."""
    needs_all = requires_every_row(version.task, version.missing, metrics_of(version).values())
    rule = "each exactly once" if needs_all else "each at most once; a missing row counts as incorrect"
    ids = ColumnFacts(version.id_column, f"ids of the sample file, {rule}", "17")
    if version.task == "probabilities" and version.classes:
        share = f"{1 / len(version.classes):.3g}"
        return [ids, *(ColumnFacts(name, f"probability of {name}", share) for name in version.classes)]
    return [ids, ColumnFacts(version.label_column, *_COLUMN_MEANINGS[version.task])]


def describe_split(challenge: Challenge, version: Version) -> str:
    """Which rows are scored when, in words."""
    if version.public is None:
        return f"Scores are computed on all {version.rows:,} rows."
    private = version.rows - version.public_rows
    shown = "is over" if challenge.reveal == "closing" else "is over and its organisers reveal them"
    return (
        f"While the challenge is open, scores are computed on {version.public_rows:,} public rows. The other "
        f"{private:,} rows are private: they decide the final ranking, and their scores are shown when the challenge "
        f"{shown}. Which rows are public stays secret."
    )


def describe_quota(challenge: Challenge) -> str:
    """How many submissions a team has, in words."""
    total = "" if challenge.total_quota is None else f", {challenge.total_quota:,} in all"
    return f"{challenge.quota} per team and day{total}"


def describe_finals(challenge: Challenge, version: Version) -> str:
    """Which submissions count in the end, in words."""
    if version.public is None:
        return "The best submission of each team counts"
    limit = pluralize(challenge.finals, "submission")
    return f"Each team selects up to {limit} for the private part; by default its best public one"


def describe_visibility(challenge: Challenge, version: Version) -> list[str]:
    """What participants see of their results, one sentence each."""
    sentences = ["Your scores and your place on the leaderboard.", ROUNDING]
    if challenge.shows_intervals:
        sentences.append("A 95 % interval for each score.")
    has_labels = version.task == "labels"
    if challenge.shows_counts and has_labels:
        sentences.append("How many rows are correct and incorrect.")
    if challenge.shows_classes and has_labels:
        sentences.append("Precision, recall and F1 of each class.")
    return [*sentences, "Never the answers, nor which rows are correct."]
