"""Scoring: runs the pending work of a submission, its scores or its intervals, and stores what came of it.

Both parts are scored at once (`tallymark.submissions.public_private`): the files are read and matched once, and each
part is a choice of the matched rows. Scores and outcomes are stored by version, and a
result is dropped where the submission has moved to another version meanwhile.
"""

from __future__ import annotations

import math
from datetime import datetime
from typing import Any

import numpy as np
from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from tallymark.app.domain import leaderboards, quota
from tallymark.app.domain.addresses import notify_of_result
from tallymark.app.domain.versions import lock_challenge, scoring_config_of
from tallymark.app.service import Service
from tallymark.app.store.models import Challenge, Rescoring, StoredOutcome, StoredScore, Submission, Version
from tallymark.errors import Rejection, TallymarkError
from tallymark.intervals.settings import Intervals
from tallymark.metrics.classification.classification_report import ClassReport
from tallymark.metrics.classification.precision_recall import fscore, precision, recall
from tallymark.submissions.disclosure import disclosed
from tallymark.submissions.outcomes import Outcomes
from tallymark.submissions.public_private import PartScores, score_parts
from tallymark.submissions.settings import Limits

CONFIDENCE_LEVEL = 0.95
MAX_ATTEMPTS = 3
MAX_CLASSES = 200  # stored of the table of classes


def process_submission(service: Service, submission_id: int) -> None:
    """Run the pending work of a submission that this process has claimed, and store the results."""
    with service.database.reading() as session:
        submission = session.get(Submission, submission_id)
        if submission is None or submission.work is None:
            return
        version, challenge, work = submission.version, submission.challenge, submission.work
    resampled = work == "intervals"
    try:
        with service.scoring_slots:
            scored = score_file(service, submission, version, resampled=resampled)
    except Rejection as error:
        state = "rejected"
        _store_rejection(service, submission, version, error)
    except TallymarkError as error:
        state = "failed"
        _store_failure(service, submission, version, error)
    else:
        state = "intervals" if resampled else "scored"
        _store_scores(service, submission, version, challenge, scored, resampled=resampled)
    service.prometheus.submissions.labels(state).inc()
    leaderboards.update_leaderboards(service, challenge.id)


def score_file(service: Service, submission: Submission, version: Version, *, resampled: bool) -> PartScores:
    """The scores of the file of a submission by a version, on all parts."""
    limits = Limits(bytes=service.settings.upload_bytes, rows=service.settings.rows)
    with (
        service.files.path(version.answers).open("rb") as answers,
        service.files.path(submission.file).open("rb") as stream,
    ):
        return score_parts(
            answers,
            stream,
            public_rows(service, version),
            **scoring_config_of(version).as_arguments(),
            limits=limits,
            details=True,  # stored; `results.visibility` decides who sees it
            ci=Intervals(CONFIDENCE_LEVEL, "auto" if resampled else "analytic", service.settings.resamples),
        )


def public_rows(service: Service, version: Version) -> Any:
    """Which rows of the answers are public, as a mask; None where all are."""
    if version.public is None:
        return None
    packed = np.frombuffer(service.files.read(version.public), np.uint8)
    return np.unpackbits(packed, count=version.rows).astype(bool)


def _store_scores(
    service: Service,
    submission: Submission,
    version: Version,
    challenge: Challenge,
    scored: PartScores,
    *,
    resampled: bool,
) -> None:
    """Store scores, outcomes and facts, unless another version scores the submission by now."""
    with service.database.writing() as session:
        locked = _lock_submission(session, submission, version)
        if locked is None:
            return
        locked.work = write_scores(session, submission, version, scored, resampled=resampled)
        if not resampled:
            leaderboards.mark_changed(session, challenge.id)
        locked.facts = facts_of_scores(scored)
        notify_of_result(session, service, locked)
        locked.state, locked.finished = "scored", service.now()
        locked.claimed_by = locked.claimed = None
        locked.attempts = 0


def write_scores(
    session: Session, submission: Submission, version: Version, scored: PartScores, *, resampled: bool
) -> str | None:
    """Replace the scores of a submission by a version, and its outcomes with the first scores; the work that remains:
    "intervals", or None."""
    rows = [row for part, result in scored.parts.items() for row in _score_rows(submission, version, part, result)]
    tables = (StoredScore,) if resampled else (StoredScore, StoredOutcome)
    for table in tables:
        previous = (table.submission_id == submission.id) & (table.version_id == version.id)
        session.execute(delete(table).where(previous))
    session.add_all(rows)
    if resampled:
        return None
    session.add_all(_outcome_rows(submission, version, scored))
    return "intervals" if any(row.lo is None and row.value is not None for row in rows) else None


def _score_rows(submission: Submission, version: Version, part: str, result: Any) -> list[StoredScore]:
    rows = []
    for place, name in enumerate(result.report):
        cell = result.report.cell(name)
        rows.append(
            StoredScore(
                submission_id=submission.id,
                version_id=version.id,
                part=part,
                place=place,
                name=name,
                value=_finite(cell.value),
                lo=cell.lo,
                hi=cell.hi,
                method=cell.method,
            )
        )
    return rows


def _outcome_rows(submission: Submission, version: Version, scored: PartScores) -> list[StoredOutcome]:
    rows = []
    for part, result in scored.parts.items():
        outcomes = result.outcomes(next(iter(result.report)))
        if isinstance(outcomes, Outcomes):
            packed = outcomes.to_bytes()
            rows.append(StoredOutcome(submission_id=submission.id, version_id=version.id, part=part, packed=packed))
    return rows


def facts_of_scores(scored: PartScores) -> dict[str, Any]:
    """What is stored of a scored file beside its scores."""
    public = scored.parts["public"]
    facts: dict[str, Any] = {
        "compared": scored.compared,
        "missing": scored.missing,
        "missing_ids": scored.missing_ids,
        "extra": scored.extra,
        "extra_ids": scored.extra_ids,
        "correct": public.correct,
        "incorrect": None if public.correct is None else _count_incorrect(scored),
        "warnings": public.warnings,
        "preview": scored.preview,
    }
    if public.per_class is not None:
        facts["classes"] = _class_facts(public.per_class)
    return facts


def _count_incorrect(scored: PartScores) -> int:
    """Rows that are not correct. With parts, missing rows are among them: the number of rows of the file in the public
    part would reveal which rows are public."""
    public = scored.parts["public"]
    assert public.correct is not None
    return public.compared + (public.missing if len(scored.parts) > 1 else 0) - public.correct


def _class_facts(report: ClassReport) -> list[dict[str, Any]]:
    """The rounded scores of the true classes, with None if undefined. Classes that were only predicted, and the counts
    of true and false positives, would reveal single rows."""
    return [
        {
            "class": label,
            **{each.name: _finite(disclosed(each, getattr(scores, each.name))) for each in (precision, recall, fscore)},
            "support": scores.support,
        }
        for label, scores in report.scores.items()
        if scores.support
    ][:MAX_CLASSES]


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _store_rejection(service: Service, submission: Submission, version: Version, error: Rejection) -> None:
    """Store the problems of a file, and give its quota back."""
    with service.database.writing() as session:
        locked = _lock_submission(session, submission, version)
        if locked is None:
            return
        quota.give_back(session, locked)
        # It was never scored, so no candidate version scores it either.
        session.execute(delete(Rescoring).where(Rescoring.submission_id == locked.id))
        locked.facts = facts_of_rejection(error)
        notify_of_result(session, service, locked)
        _finish(locked, "rejected", service.now())


def facts_of_rejection(error: Rejection) -> dict[str, Any]:
    """What is stored of a rejected file: its problems."""
    problems = [each.to_dict() for each in error.problems]
    return {"problems": problems, "total": error.total, "stopped": error.stopped}


def _store_failure(service: Service, submission: Submission, version: Version, error: Exception) -> None:
    """Store that scoring failed, by our fault or that of the answers, and give the quota back. Only the type of the
    error is stored: its message could tell of the answers."""
    with service.database.writing() as session:
        locked = _lock_submission(session, submission, version)
        if locked is None:
            return
        if locked.work == "intervals":  # the scores remain
            _finish(locked, "scored", service.now())
            return
        quota.give_back(session, locked)
        locked.facts = {"error": type(error).__name__}
        _finish(locked, "failed", service.now())


def retry_or_fail(service: Service, submission_id: int, *, no_retry: bool = False) -> None:
    """Release a submission whose work has raised, for another attempt; after the last one, it has failed."""
    with service.database.writing() as session:
        submission = session.get(Submission, submission_id)
        if submission is None or submission.claimed_by != service.instance_id:
            return
        submission.claimed_by = submission.claimed = None
        version, fails = submission.version, no_retry or submission.attempts >= MAX_ATTEMPTS
    if fails:
        _store_failure(service, submission, version, RuntimeError())


def _finish(submission: Submission, state: str, now: datetime) -> None:
    submission.state, submission.finished, submission.work = state, now, None
    submission.claimed_by = submission.claimed = None


def _lock_submission(session: Session, submission: Submission, version: Version) -> Submission | None:
    """The submission as it is now, locked; None where it belongs to another version by now."""
    lock_challenge(session, submission.challenge_id)
    query = select(Submission).where(Submission.id == submission.id).with_for_update(of=Submission)
    locked = session.scalar(query)
    return locked if locked is not None and locked.version_id == version.id else None
