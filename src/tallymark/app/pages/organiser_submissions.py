"""The pages on which organisers search the submissions of a challenge and act on one of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from tallymark.app.domain.results import submission_state
from tallymark.app.domain.scoring import MAX_ATTEMPTS
from tallymark.app.domain.submission_list import MARKS, SORTS, STATES
from tallymark.app.domain.versions import metrics_of
from tallymark.app.pages.formatting import direction_arrow, format_score, metric_names, page_time, pluralize
from tallymark.app.pages.shell import Link, PageTime, Pagination, ProblemSection, SelectOption, Shell
from tallymark.app.pages.submissions import STATE_TEXTS
from tallymark.app.store.models import Submission, Version
from tallymark.metrics.base import Metric
from tallymark.rendering.table import Name
from tallymark.submissions.public_private import PRIVATE, PUBLIC

STATE_OPTIONS = [SelectOption("", "All"), *(SelectOption(each, each.capitalize()) for each in STATES)]
MARK_OPTIONS = [SelectOption("", "All"), *(SelectOption(each, each.capitalize()) for each in MARKS)]
_SORT_TEXTS = ("Newest first", "Oldest first", "Best score first", "Worst score first", "Team", "File name")
SORT_OPTIONS = [SelectOption(*each) for each in zip(SORTS, _SORT_TEXTS, strict=True)]


class OrganiserSubmissionRow(NamedTuple):
    """A submission in the list of organisers."""

    key: str
    file: str
    team: str
    user: str
    date: PageTime
    state: str
    state_text: str
    scores: Sequence[str]
    """The ranking metric on each part."""
    tags: Sequence[str]
    """ "late", "disqualified", "final", "baseline"."""


class BaselineRow(NamedTuple):
    """A baseline, and whether it was withdrawn."""

    team: str
    """Its id, which the form sends."""
    name: str
    files: str
    withdrawn: bool


class OrganiserSubmissionsPage(NamedTuple):
    """`/organise/{slug}/submissions` (organiser_submissions.html).

    The form of filters has `q`, `state`, `mark`, `team`, `since`, `until` and `sort`. Other forms send `action`:
    "baseline" with its name as `baseline` and the file `submission`, "withdraw" or "restore" with the `team`.
    """

    shell: Shell
    slug: str
    title: str
    sentence: str
    """ "12 of 412 submissions match."."""
    states: Sequence[SelectOption]
    marks: Sequence[SelectOption]
    teams: Sequence[SelectOption]
    sorts: Sequence[SelectOption]
    headings: Sequence[Name]
    rows: Sequence[OrganiserSubmissionRow]
    exports: Sequence[Link]
    upload_limit: str
    pages: Pagination | None = None
    baselines: Sequence[BaselineRow] = ()
    problems: ProblemSection | None = None
    """Of the file of a baseline."""


class OrganiserSubmissionPage(NamedTuple):
    """`/organise/{slug}/submissions/{key}` (organiser_submission.html).

    Forms send `action`: "retry", "disqualify" with a `reason`, "requalify" or "refund".
    """

    shell: Shell
    slug: str
    title: str
    key: str
    file: str
    state: str
    state_text: str
    facts: Sequence[tuple[str, str]]
    scores: Sequence[tuple[str, str]]
    """Names of metrics with their parts, and values."""
    max_reason: int
    disqualified: str = ""
    """The reason; empty where it is not disqualified."""
    may_retry: bool = False
    refundable: str = ""
    """The day on whose quota it counts; empty where there is nothing to give back."""
    late: bool = False


def parts_of(version: Version) -> list[str]:
    """The parts of the answers."""
    return [PUBLIC] if version.public is None else [PUBLIC, PRIVATE]


def score_headings(version: Version) -> list[Name]:
    """The ranking metric, once for each part."""
    name, metric = next(iter(metrics_of(version).items()))
    shown, parts = f"{metric_names(version)[name]} {direction_arrow(metric)}", parts_of(version)
    return [Name(shown if len(parts) == 1 else f"{shown} ({part})", name) for part in parts]


def organiser_submission_row(submission: Submission, version: Version, now: datetime) -> OrganiserSubmissionRow:
    """A submission, with its scores by a version."""
    metric, state = next(iter(metrics_of(version).values())), submission_state(submission)
    tags = {
        "late": submission.late,
        "disqualified": submission.disqualified is not None,
        "final": submission.final,
        "baseline": submission.team.baseline,
    }
    return OrganiserSubmissionRow(
        submission.key,
        submission.file_name,
        submission.team.name,
        submission.user.name,
        page_time(submission.created, now),
        state,
        STATE_TEXTS[state],
        [_score(submission, version, metric, part) for part in parts_of(version)],
        [tag for tag, applies in tags.items() if applies],
    )


def _score(submission: Submission, version: Version, metric: Metric, part: str) -> str:
    if submission.state != "scored" or submission.version_id != version.id:
        return "–"
    values = [each.value for each in submission.scores if each.part == part and each.place == 0]
    return format_score(metric, values[0]) if values else "–"


def organiser_submission_page(
    shell: Shell, submission: Submission, members: Sequence[str], size: str, max_reason: int, now: datetime
) -> OrganiserSubmissionPage:
    """A submission with what organisers can do with it."""
    version, state = submission.version, submission_state(submission)
    metrics, names = metrics_of(version), metric_names(version)
    parts = parts_of(version)
    scores = [
        (f"{names[each.name]} ({each.part})" if len(parts) > 1 else names[each.name], each)
        for each in submission.scores
        if each.name in metrics and submission.state == "scored"
    ]
    facts = [
        ("Team", submission.team.name + (" (baseline)" if submission.team.baseline else "")),
        ("Members", ", ".join(members) or "none"),
        ("Submitted by", submission.user.name),
        ("Submitted", page_time(submission.created, now).text),
        ("Note", submission.note or "none"),
        ("File", size),
        ("SHA-256", submission.file),
        ("Answers and metrics", f"version {version.number}"),
        ("Counts against the quota", "no" if submission.day is None else f"of {submission.day}"),
        *[("Attempts", f"{submission.attempts} of {MAX_ATTEMPTS}")] * (submission.work is not None),
        *[("Error", str(value)) for name, value in (submission.facts or {}).items() if name == "error"],
    ]
    return OrganiserSubmissionPage(
        shell=shell,
        slug=submission.challenge.slug,
        title=submission.challenge.title,
        key=submission.key,
        file=submission.file_name,
        state=state,
        state_text=STATE_TEXTS[state],
        facts=facts,
        scores=[(name, format_score(metrics[each.name], each.value)) for name, each in scores],
        max_reason=max_reason,
        disqualified=submission.disqualified or "",
        may_retry=submission.state == "failed",
        refundable=submission.day or "",
        late=submission.late,
    )


def export_links(slug: str, version: Version) -> list[Link]:
    """Downloads of the submissions and the leaderboards."""
    path, parts = f"/organise/{slug}/export", parts_of(version)
    links = [Link(f"Submissions as {kind.upper()}", f"{path}/submissions.{kind}") for kind in ("csv", "json")]
    for part in parts:
        name = "Leaderboard" if len(parts) == 1 else f"{part.capitalize()} leaderboard"
        links += [Link(f"{name} as {kind.upper()}", f"{path}/{part}-leaderboard.{kind}") for kind in ("csv", "json")]
    return links


def matches_sentence(matching: int, total: int) -> str:
    """How many submissions match, of how many."""
    if matching == total:
        return f"{pluralize(total, 'submission')}."
    return f"{matching:,} of {pluralize(total, 'submission')} match."


def team_options(names: Mapping[int, str]) -> list[SelectOption]:
    """Teams to filter by."""
    return [SelectOption("", "All"), *(SelectOption(str(team), name) for team, name in names.items())]
