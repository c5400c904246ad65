"""Submissions: the form, what came of a file, and a team's own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from tallymark.app.pages.shell import PageTime, Pagination, ProblemSection, Shell
from tallymark.rendering.document import Card, Section


class CheckSummary(NamedTuple):
    """A file without problems: `token` submits it, `notes` are what to look at before."""

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
    """ "1 of 5 today, resets 00:00 UTC"."""
    refused: str
    """Why nothing can be handed in now; empty where it can."""
    upload_limit: str
    upload_bytes: int
    late: str = ""
    """What being late means, where the deadline has passed."""
    problems: ProblemSection | None = None
    checked: CheckSummary | None = None


class Standing(NamedTuple):
    """Where an entry stands: "1–3" of "41 entries", and what that means; `tied` are the others of its group."""

    rank: str
    of: str
    sentence: str
    tied: Sequence[str] = ()


class ResultPage(NamedTuple):
    """`/submissions/{key}` (result.html). `state` is "queued", "scoring", "scored", "rejected" or "failed"."""

    shell: Shell
    key: str
    slug: str
    challenge: str
    team: str
    file: str
    sent: PageTime
    state: str
    sentence: str
    """What the state means: where in the queue, that a rejected file cost nothing, …"""
    note: str = ""
    late: bool = False
    refresh: int | None = None
    """Seconds after which the page looks again, where there is something to wait for."""
    cards: Sequence[Card] = ()
    pending: str = ""
    """ "The intervals follow in a moment." where they do."""
    counts: Sequence[tuple[str, str]] = ()
    """What was counted and the number, in words."""
    standing: Standing | None = None
    sections: Sequence[Section] = ()
    """Tables, notes and code below: classes where they are told, warnings, how to reproduce."""
    problems: ProblemSection | None = None
    facts: Sequence[tuple[str, str]] = ()
    """Versions of the answers, the metrics and the library, the digest of the file."""
    has_report: bool = False


class MySubmissionRow(NamedTuple):
    """A row of one's own history; `state` as for a result, `told` is the word for it."""

    key: str
    file: str
    note: str
    date: PageTime
    state: str
    told: str
    scores: Sequence[str]
    late: bool = False
    final: bool = False
    may_be_final: bool = False


class MySubmissionsPage(NamedTuple):
    """`/challenges/{slug}/mine` (my_submissions.html). The form sends the keys of those chosen in `final`, once for each."""

    shell: Shell
    slug: str
    title: str
    quota: str
    metrics: Sequence[str]
    """With their arrows."""
    submissions: Sequence[MySubmissionRow]
    finals: str
    """What the final selection means, how many may be chosen and how many are."""
    may_choose: bool
    may_submit: bool
    pages: Pagination | None = None
