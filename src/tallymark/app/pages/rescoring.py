"""The page on which organisers see what a new version would change, before they apply it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from tallymark.app.domain.rescoring import EntryChange, Place, Preview, Progress
from tallymark.app.domain.versions import metrics_of
from tallymark.app.pages.formatting import format_score, metric_names, page_time, pluralize
from tallymark.app.pages.shell import Shell
from tallymark.app.store.models import Version
from tallymark.metrics.base import Metric
from tallymark.submissions.public_private import PUBLIC

_REFRESH = 3  # seconds
_MAX_ROWS = 200


class EntryChangeRow(NamedTuple):
    """An entry that would change; empty texts where it has no place."""

    team: str
    before: str
    after: str
    move: str
    """ "up 2", "down 1", "same place", "new", "drops out"."""
    score_before: str
    score_after: str
    baseline: bool = False


class PreviewPart(NamedTuple):
    """The changes of the leaderboard of a part."""

    heading: str
    sentence: str
    rows: Sequence[EntryChangeRow]
    more: str = ""


class RescoringPage(NamedTuple):
    """`/organise/{slug}/rescoring` (rescoring.html).

    Forms send `action`, "apply" or "discard", and the number of the `version`.
    """

    shell: Shell
    slug: str
    title: str
    version: str
    """The number of the version that waits; empty if none does."""
    facts: Sequence[tuple[str, str]] = ()
    progress: str = ""
    done: int = 0
    total: int = 0
    refresh: int | None = None
    """Seconds after which the page is loaded again, while submissions are scored."""
    summary: Sequence[str] = ()
    parts: Sequence[PreviewPart] = ()
    """The preview, once all submissions are scored."""


def rescoring_page(
    shell: Shell,
    slug: str,
    title: str,
    current: Version,
    candidate: Version,
    author: str,
    progress: Progress,
    preview: Preview | None,
    now: datetime,
) -> RescoringPage:
    """A candidate version: how far its scoring is and, once that is complete, what it would change."""
    done = progress.total - progress.queued
    return RescoringPage(
        shell=shell,
        slug=slug,
        title=title,
        version=str(candidate.number),
        facts=_facts(current, candidate, author, now),
        progress=f"{done:,} of {pluralize(progress.total, 'submission')} scored.",
        done=done,
        total=progress.total,
        refresh=_REFRESH if progress.queued else None,
        summary=() if preview is None else _summary(progress, preview),
        parts=() if preview is None else [_part(part, current, candidate, preview) for part in preview.entries],
    )


def _facts(current: Version, candidate: Version, author: str, now: datetime) -> list[tuple[str, str]]:
    """Who made it, and how it differs from the current version."""
    answers = "the same file" if candidate.answers == current.answers else f"new file, {candidate.rows:,} rows"
    before, after = (", ".join(metric_names(each).values()) for each in (current, candidate))
    return [
        ("Uploaded", f"by {author}, {page_time(candidate.created, now).text}"),
        *([("Note", candidate.note)] if candidate.note else []),
        ("Answers", answers),
        ("Metrics", after if before == after else f"{after}; before: {before}"),
        ("Public rows", f"{candidate.public_rows:,}; before: {current.public_rows:,}"),
    ]


def _summary(progress: Progress, preview: Preview) -> list[str]:
    lines = [f"Another score for {preview.changed_scores:,} of {pluralize(progress.scored, 'scored submission')}."]
    if preview.undefined:
        lines.append(f"Undefined, so not ranked: {pluralize(preview.undefined, 'submission')}.")
    if progress.rejected:
        lines.append(f"Rejected by the new answers, so not ranked and given back: {progress.rejected:,}.")
    if progress.failed:
        lines.append(f"Failed by an internal error: {progress.failed:,}. You can retry them after applying.")
    return lines


def _part(part: str, current: Version, candidate: Version, preview: Preview) -> PreviewPart:
    changes, total = preview.entries[part], preview.totals[part]
    metrics = [next(iter(metrics_of(version).values())) for version in (current, candidate)]
    moved = sum((each.before and each.before.place) != (each.after and each.after.place) for each in changes)
    sentence = f"{pluralize(len(changes), 'entry')} would change, {moved:,} of them in place, of {total:,} in all."
    hidden = len(changes) - _MAX_ROWS
    return PreviewPart(
        ("Leaderboard" if candidate.public is None else "Public part") if part == PUBLIC else "Private part",
        sentence if changes else f"Nothing would change in {pluralize(total, 'entry')}.",
        [_row(each, *metrics) for each in changes[:_MAX_ROWS]],
        f"And {pluralize(hidden, 'more entry')}." if hidden > 0 else "",
    )


def _row(change: EntryChange, before: Metric, after: Metric) -> EntryChangeRow:
    return EntryChangeRow(
        change.team.name,
        "" if change.before is None else f"{change.before.place:,}",
        "" if change.after is None else f"{change.after.place:,}",
        _move(change.before, change.after),
        "" if change.before is None else format_score(before, change.before.value),
        "" if change.after is None else format_score(after, change.after.value),
        change.team.baseline,
    )


def _move(before: Place | None, after: Place | None) -> str:
    if before is None or after is None:
        return "new" if before is None else "drops out"
    up = before.place - after.place
    return "same place" if not up else f"up {up:,}" if up > 0 else f"down {-up:,}"
