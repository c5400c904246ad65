"""The page that checks and submits a file, and the page of a team's own submissions. Results are in `pages.result`."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from tallymark.app.domain.results import submission_state
from tallymark.app.pages.formatting import format_score, page_time, pluralize
from tallymark.app.pages.leaderboard import metric_headings
from tallymark.app.pages.result import StandingSummary
from tallymark.app.pages.shell import PageTime, Pagination, ProblemSection, Shell
from tallymark.app.store.models import Challenge, Submission, Version
from tallymark.metrics.base import Metric
from tallymark.rendering.table import Name
from tallymark.submissions.check import SubmissionCheck

STATE_TEXTS = {
    "queued": "queued",
    "scoring": "scoring",
    "scored": "scored",
    "rejected": "rejected",
    "failed": "failed",
}


class CheckSummary(NamedTuple):
    """A file without problems: `token` submits it, `notes` are warnings to read before."""

    token: str
    sentence: str
    notes: Sequence[str] = ()


class SubmitPage(NamedTuple):
    """`/challenges/{slug}/submit` (submit.html). One form checks the file `submission`, one submits the file of a
    `token` with a `note`."""

    shell: Shell
    slug: str
    title: str
    quota: str
    """ "submission 1 of 5 today; resets at 00:00 UTC"."""
    refused: str
    """Why the team cannot submit now; empty where it can."""
    upload_limit: str
    upload_bytes: int
    late: str = ""
    """What late submissions mean, once the deadline has passed."""
    problems: ProblemSection | None = None
    checked: CheckSummary | None = None


class MySubmissionRow(NamedTuple):
    """A submission of the team; `state` as for a result, `state_text` is the word for it."""

    key: str
    file: str
    note: str
    date: PageTime
    state: str
    state_text: str
    scores: Sequence[str]
    late: bool = False
    final: bool = False
    may_be_final: bool = False
    ranked: bool = False
    """Whether it is the entry of its team in the final ranking, once the challenge is over."""
    disqualified: str = ""
    """The reason."""


class MySubmissionsPage(NamedTuple):
    """`/challenges/{slug}/mine` (my_submissions.html). The form sends the selected keys as `final`."""

    shell: Shell
    slug: str
    title: str
    quota: str
    metrics: Sequence[str]
    """With their arrows."""
    submissions: Sequence[MySubmissionRow]
    finals: str
    """How the final selection works, how many may be selected and how many are; or which submission counted."""
    may_choose: bool
    may_submit: bool
    pages: Pagination | None = None
    standing: StandingSummary | None = None
    """The place in the final ranking, once the challenge is over."""
    ranking: str = ""
    """The path of the leaderboard with the final ranking."""


def check_summary(name: str, check: SubmissionCheck, token: str) -> CheckSummary:
    """The result of a check without problems."""
    _, *notes = str(check).splitlines()
    return CheckSummary(token, f"{name}: no problems found, {check.rows:,} row{'s' * (check.rows != 1)}", notes)


def score_headings(version: Version, parts: Sequence[str]) -> list[Name]:
    """The headings of the scores: of each metric, its score on each of the parts."""
    headings = metric_headings(version)
    if len(parts) == 1:
        return headings
    return [Name(f"{name} ({part})", name.code) for name in headings for part in parts]


def my_submission_row(
    submission: Submission,
    metrics: Mapping[str, Metric],
    parts: Sequence[str],
    now: datetime,
    selected: Collection[str] | None,
    ranked: int | None,
) -> MySubmissionRow:
    """A submission of the team with its scores on these parts. `selected` has the keys of a rejected form, None without
    one; `ranked` is the id of the submission in the final ranking."""
    is_scored = submission.state == "scored"
    values = {(score.name, score.part): score.value for score in submission.scores}
    state = submission_state(submission)
    return MySubmissionRow(
        submission.key,
        submission.file_name,
        submission.note,
        page_time(submission.created, now),
        state,
        STATE_TEXTS[state],
        [format_score(metric, values.get((name, part))) for name, metric in metrics.items() for part in parts]
        if is_scored
        else [],
        submission.late,
        submission.final if selected is None else submission.key in selected,
        is_scored and not submission.late and submission.disqualified is None,
        submission.id == ranked,
        submission.disqualified or "",
    )


def describe_outcome(version: Version, chosen: int, *, decided: bool, ranked: bool) -> str:
    """Which submission counted, once the challenge is over and its final ranking is known."""
    if not decided:
        selected = f"You selected {pluralize(chosen, 'submission')}"
        return f"The challenge is over. {selected}; the final ranking is not published yet."
    if not ranked:
        return "The challenge is over. No submission of your team is ranked."
    if version.public is None:
        return "The challenge is over. Your best submission counted."
    if not chosen:
        return "The challenge is over. You selected no submission, so your best public one counted."
    if chosen == 1:
        return "The challenge is over. The submission that you selected counted."
    return f"The challenge is over. Of the {chosen:,} submissions that you selected, the best private one counted."


def describe_selection(challenge: Challenge, version: Version, chosen: int) -> str:
    """How the final selection works, how many may be selected and how many are."""
    if version.public is None:
        return "Your best submission counts."
    return (
        f"Select up to {pluralize(challenge.finals, 'submission')} for the final ranking on the private part; {chosen} "
        f"{'is' if chosen == 1 else 'are'} selected. Without a selection, your best public submission counts."
    )
