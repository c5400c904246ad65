"""The page and the report of a result. Both show only what `domain.results` lets the reader see."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from tallymark.app.domain.leaderboards import Standing
from tallymark.app.domain.results import Result
from tallymark.app.domain.scoring import CONFIDENCE_LEVEL
from tallymark.app.domain.versions import metrics_of, scoring_config_of
from tallymark.app.pages.commands import check_command, score_command
from tallymark.app.pages.formatting import (
    format_interval,
    format_score,
    metric_names,
    page_time,
    pluralize,
    score_card,
)
from tallymark.app.pages.problems import stored_problems
from tallymark.app.pages.shell import PageTime, ProblemSection, Shell
from tallymark.app.store.models import StoredScore, Submission
from tallymark.evaluation.baselines import Baseline
from tallymark.metrics.base import Metric
from tallymark.rendering.document import Card, Code, Document, Notes, Section
from tallymark.rendering.table import Name, Table
from tallymark.submissions.document import band_key
from tallymark.submissions.match import list_ids
from tallymark.submissions.public_private import PRIVATE, PUBLIC
from tallymark.submissions.result import class_percent

_REFRESH = 3  # seconds


class StandingSummary(NamedTuple):
    """The place of an entry: "3" of "41 entries", and the ranks that it may have."""

    place: str
    total: str
    sentence: str


class ResultPage(NamedTuple):
    """`/submissions/{key}` (result.html). `state` is "queued", "scoring", "scored", "rejected" or "failed"."""

    shell: Shell
    key: str
    slug: str
    challenge: str
    team: str
    file: str
    submitted: PageTime
    state: str
    sentence: str
    """What the state means: the place in the queue, the effect on the quota, …"""
    note: str = ""
    late: bool = False
    refresh: int | None = None
    """Seconds after which the page is loaded again, while something is pending."""
    cards: Sequence[Card] = ()
    pending: str = ""
    """ "The intervals are being computed …", while they are computed."""
    counts: Sequence[tuple[str, str]] = ()
    """Names of counts and their values."""
    standing: StandingSummary | None = None
    sections: Sequence[Section] = ()
    """Tables, notes and code below: classes where they are shown, warnings, how to reproduce."""
    problems: ProblemSection | None = None
    facts: Sequence[tuple[str, str]] = ()
    """Versions of the answers, the metrics and the library, the digest of the file."""
    has_report: bool = False
    key_of_bands: str = ""
    """What the colours of the cards mean."""
    disqualified: str = ""
    """What it means and the reason; empty where it is not disqualified."""
    manage: str = ""
    """For organisers: the path of the page with actions."""


def result_page(shell: Shell, result: Result, now: datetime, resamples: int) -> ResultPage:
    """The page of a result. `resamples` is that of the settings, for the command that reproduces the scores."""
    submission, scored = result.submission, result.state == "scored"
    pending = result.intervals_pending
    return ResultPage(
        shell=shell,
        key=submission.key,
        slug=submission.challenge.slug,
        challenge=submission.challenge.title,
        team=submission.team.name,
        file=submission.file_name,
        submitted=page_time(submission.created, now),
        state=result.state,
        sentence=_state_sentence(result),
        note=submission.note,
        late=submission.late,
        refresh=_REFRESH if submission.state == "queued" or pending else None,
        cards=_cards(result) if scored else (),
        key_of_bands=band_key(metrics_of(submission.version).values()) if scored else "",
        pending="The intervals are being computed and appear in a moment." if pending else "",
        counts=_counts(result) if scored else (),
        standing=_standing_summary(result) if scored else None,
        sections=_sections(result, resamples) if scored else (),
        problems=stored_problems(submission.facts) if submission.state == "rejected" and submission.facts else None,
        facts=_facts(submission),
        has_report=scored,
        disqualified=_disqualification(submission),
        manage=f"/organise/{submission.challenge.slug}/submissions/{submission.key}" if result.is_organiser else "",
    )


def result_document(result: Result, now: datetime, resamples: int) -> Document:
    """The report of a result as a self-contained file."""
    submission = result.submission
    counts = Table("", ("rows", "count"), list(_counts(result)), numbers=("count",))
    standing = _standing_summary(result)
    place = [] if standing is None else [f"Place {standing.place} of {standing.total}. {standing.sentence}"]
    reason = _disqualification(submission)
    sections = [
        *([Section("disqualified", "Disqualified", "", [Notes([reason])])] if reason else []),
        *([Section("standing", "Leaderboard", "", [Notes(place)])] if place else []),
        *([Section("rows", "Rows", "", [counts])] if counts.rows else []),
        *_sections(result, resamples),
        Section("facts", "Details", "", [Table("", ("detail", "value"), list(_facts(submission)))]),
    ]
    submitted = page_time(submission.created, now).text
    line = f"{submission.challenge.title} · {submission.team.name} · submitted {submitted}"
    return Document(submission.file_name, line, _cards(result), sections)


def _state_sentence(result: Result) -> str:
    submission = result.submission
    if result.state == "rejected":
        return "It does not count against your quota. Fix the problems below and submit the file again."
    if result.state == "failed":
        return "Scoring failed because of an internal error. It does not count against your quota."
    if result.state == "scored":
        late = " It was submitted after the deadline and is not ranked." if submission.late else ""
        return f"Scored on {_public_rows(submission)}.{late}"
    if result.state == "scoring":
        return "It is being scored now."
    if result.ahead:
        return f"{pluralize(result.ahead, 'submission')} ahead of it in the queue."
    return "It is next in the queue."


def _disqualification(submission: Submission) -> str:
    if submission.disqualified is None:
        return ""
    return f"The organisers have disqualified this submission, so it is not ranked. Reason: {submission.disqualified}"


def _public_rows(submission: Submission) -> str:
    version = submission.version
    if version.public is None:
        return pluralize(version.rows, "row")
    return f"the {pluralize(version.public_rows, 'row')} of the public part"


def _scores(submission: Submission, part: str) -> list[tuple[Name, Metric, StoredScore]]:
    metrics, names = metrics_of(submission.version), metric_names(submission.version)
    shown = [score for score in submission.scores if score.part == part and score.name in metrics]
    return [(names[score.name], metrics[score.name], score) for score in shown]


def _cards(result: Result) -> list[Card]:
    return [
        score_card(name, metric, score, _baseline(result, score.name), intervals=result.visible.intervals)
        for name, metric, score in _scores(result.submission, PUBLIC)
    ]


def _baseline(result: Result, name: str) -> Baseline | None:
    baseline = result.baseline
    if baseline is None or name not in baseline.scores:
        return None
    return Baseline(baseline.scores[name], f"baseline {baseline.team}")


def _counts(result: Result) -> list[tuple[str, str]]:
    facts = result.submission.facts or {}
    labels = [("compared", "compared"), ("missing", "missing"), ("extra", "extra")]
    if result.visible.counts:
        has_parts = result.submission.version.public is not None
        words = ("correct (public)", "incorrect or missing (public)") if has_parts else ("correct", "incorrect")
        labels[1:1] = list(zip(("correct", "incorrect"), words, strict=True))
    return [(label, f"{facts[name]:,}") for name, label in labels if facts.get(name) is not None]


def _standing_summary(result: Result) -> StandingSummary | None:
    """The place on the leaderboard: of this submission, or of the best one of its team."""
    standing = result.standing
    if standing is None:
        return None
    summary = standing_summary(standing)
    if standing.submission_id == result.submission.id:
        return summary
    return summary._replace(sentence="This is the place of your team’s best submission, which is another one.")


def standing_summary(standing: Standing) -> StandingSummary:
    """A place on a leaderboard, and the ranks that it may have."""
    place, total, ranks = f"{standing.place:,}", pluralize(standing.total, "entry"), standing.ranks
    better, worse = ranks.best - 1, standing.total - ranks.worst
    verb = "entry scores" if better == 1 else "entries score"
    counts = f"{better or 'No'} {verb} significantly better, {worse or 'none'} significantly worse."
    return StandingSummary(place, total, f"Rank range {ranks}. {counts}")


def _sections(result: Result, resamples: int) -> list[Section]:
    facts = result.submission.facts or {}
    sections = []
    if facts.get("warnings"):
        sections.append(Section("warnings", "Warnings", "", [Notes(facts["warnings"])]))
    if result.visible.private_part:
        sections.append(Section("private", "Private part", "", [_private_scores(result)]))
    if facts.get("classes") and result.visible.classes:
        sections.append(Section("classes", "Classes", "", [_class_table(facts["classes"])]))
    unmatched = _unmatched_ids(facts)
    if unmatched:
        sections.append(Section("ids", "Unmatched ids", "", [Notes(unmatched)]))
    if facts.get("preview"):
        lead = "The first rows as they were read."
        sections.append(Section("preview", "Preview", lead, [_preview(facts["preview"])], folded=True))
    return [*sections, _how_to_reproduce(result.submission, resamples)]


def _private_scores(result: Result) -> Table:
    scores = _scores(result.submission, PRIVATE)
    if not result.visible.intervals:
        values = [(name, format_score(metric, score.value)) for name, metric, score in scores]
        return Table("", ("score", "value"), values, numbers=("value",))
    rows = [(name, format_score(metric, score.value), format_interval(metric, score)) for name, metric, score in scores]
    return Table("", ("score", "value", "95 % interval"), rows, numbers=("value",))


def _class_table(classes: Sequence[Mapping[str, Any]]) -> Table:
    names = list(classes[0])
    rows = [tuple(_class_cell(name, value) for name, value in row.items()) for row in classes]
    return Table("", ["F1" if name == "fscore" else name for name in names], rows, numbers=("F1", *names[1:]))


def _class_cell(name: str, value: Any) -> Any:
    """A share in percent; the number of rows as it is."""
    if name == "support":
        return int(value)
    if isinstance(value, float):
        return class_percent(value)
    return "undefined" if value is None else value


def _unmatched_ids(facts: Mapping[str, Any]) -> list[str]:
    return [
        f"{label}: {list_ids(facts[f'{name}_ids'], facts[name])}"
        for name, label in (("missing", "missing"), ("extra", "extra"))
        if facts.get(name)
    ]


def _preview(rows: Sequence[Mapping[str, Any]]) -> Table:
    return Table("", tuple(rows[0]), [tuple(row.values()) for row in rows])


def _how_to_reproduce(submission: Submission, resamples: int) -> Section:
    arguments = scoring_config_of(submission.version).as_arguments()
    check = check_command(submission.file_name, "sample.csv", **arguments)
    score = score_command(
        "ANSWERS", submission.file_name, mode="challenge", **arguments, ci=CONFIDENCE_LEVEL, resamples=resamples
    )
    part = "" if submission.version.public is None else " of one part"
    codes = [Code("Check the file", check), Code(f"Score it with the answers{part}", score)]
    return Section("reproduce", "How to reproduce", "The same file gives the same scores.", codes)


def _facts(submission: Submission) -> list[tuple[str, str]]:
    version = submission.version
    return [
        ("answers and metrics", f"version {version.number}"),
        ("rows of the answers", f"{version.rows:,}"),
        ("file", f"sha256 {submission.file}"),
        ("software", version.software),
    ]
