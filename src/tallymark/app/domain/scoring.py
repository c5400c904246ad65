"""Scoring: what is left to do for a submission is done, and written down."""

from __future__ import annotations

import math
from datetime import datetime
from typing import Any

import numpy as np
from sqlalchemy import delete, select, update
from sqlalchemy.orm import Session

from tallymark.app.domain import leaderboards
from tallymark.app.domain.versions import lock, scoring_of
from tallymark.app.service import Service
from tallymark.app.store.models import Challenge, Quota, StoredOutcome, StoredScore, Submission, Version
from tallymark.errors import Rejection, TallymarkError
from tallymark.intervals.settings import Intervals
from tallymark.submissions.limits import Limits
from tallymark.submissions.outcomes import Outcomes
from tallymark.submissions.parts import Scored, score_parts

LEVEL = 0.95
MOST_ATTEMPTS = 3
MOST_CLASSES = 200  # that are kept of the table of classes


def work_on(service: Service, submission_id: int) -> None:
    """Do what is left to do for a submission that this process has claimed."""
    with service.database.reading() as session:
        submission = session.get(Submission, submission_id)
        if submission is None or submission.work is None:
            return
        version, challenge, work = submission.version, submission.challenge, submission.work
    resampled = work == "intervals"
    try:
        with service.scoring:
            scored = _score(service, submission, version, challenge, resampled=resampled)
    except Rejection as error:
        state = "rejected"
        _write_rejection(service, submission, version, error)
    except TallymarkError as error:
        state = "failed"
        _write_failure(service, submission, version, error)
    else:
        state = "intervals" if resampled else "scored"
        _write_scores(service, submission, version, challenge, scored, resampled=resampled)
    service.measures.submissions.labels(state).inc()
    leaderboards.update_leaderboards(service, challenge.id)


def _score(
    service: Service, submission: Submission, version: Version, challenge: Challenge, *, resampled: bool
) -> Scored:
    limits = Limits(bytes=service.settings.upload_bytes, rows=service.settings.rows)
    method = "auto" if resampled else "analytic"
    with (
        service.files.path(version.answers).open("rb") as answers,
        service.files.path(submission.file).open("rb") as stream,
    ):
        return score_parts(
            answers,
            stream,
            public_rows(service, version),
            **scoring_of(version).told(),
            limits=limits,
            tells_classes=True,  # kept; who sees it is decided when it is read
            ci=Intervals(LEVEL, method, service.settings.resamples),
        )


def public_rows(service: Service, version: Version) -> Any:
    """Which rows of the answers are public; None where all are."""
    if version.public is None:
        return None
    packed = np.frombuffer(service.files.read(version.public), np.uint8)
    return np.unpackbits(packed, count=version.rows).astype(bool)


def _write_scores(
    service: Service, submission: Submission, version: Version, challenge: Challenge, scored: Scored, *, resampled: bool
) -> None:
    """Scores, outcomes and facts, unless the submission is to be scored by another version by now."""
    rows = [row for part, result in scored.parts.items() for row in _score_rows(submission, version, part, result)]
    waits = not resampled and any(row.lo is None and row.value is not None for row in rows)
    with service.database.writing() as session:
        held = _held(session, submission, version)
        if held is None:
            return
        which = (StoredScore.submission_id == held.id) & (StoredScore.version_id == version.id)
        session.execute(delete(StoredScore).where(which))
        session.add_all(rows)
        if not resampled:
            which = (StoredOutcome.submission_id == held.id) & (StoredOutcome.version_id == version.id)
            session.execute(delete(StoredOutcome).where(which))
            session.add_all(_outcomes(submission, version, scored))
            leaderboards.mark_changed(session, challenge.id)
        held.facts = _facts(scored)
        held.state, held.finished = "scored", service.now()
        held.work = "intervals" if waits else None
        held.claimed_by = held.claimed = None
        held.attempts = 0


def _score_rows(submission: Submission, version: Version, part: str, result: Any) -> list[StoredScore]:
    found = []
    for place, key in enumerate(result.report):
        cell = result.report.cell(key)
        value = cell.value if math.isfinite(cell.value) else None
        found.append(
            StoredScore(
                submission_id=submission.id,
                version_id=version.id,
                part=part,
                place=place,
                name=key,
                value=value,
                lo=cell.lo,
                hi=cell.hi,
                method=cell.method,
            )
        )
    return found


def _outcomes(submission: Submission, version: Version, scored: Scored) -> list[StoredOutcome]:
    found = []
    for part, result in scored.parts.items():
        held = result.outcomes(next(iter(result.report)))
        if isinstance(held, Outcomes):
            packed = held.to_bytes()
            found.append(StoredOutcome(submission_id=submission.id, version_id=version.id, part=part, packed=packed))
    return found


def _facts(scored: Scored) -> dict[str, Any]:
    public = scored.parts["public"]
    facts: dict[str, Any] = {
        "compared": scored.compared,
        "missing": scored.missing,
        "missing_ids": scored.missing_ids,
        "extra": scored.extra,
        "extra_ids": scored.extra_ids,
        "matches": public.matches,
        "mismatches": None if public.matches is None else _wrong(scored),
        "warnings": public.warnings,
        "preview": scored.preview,
    }
    if public.per_class is not None:
        known = [each for each in public.per_class.to_dict()["classes"] if each["support"]]
        facts["classes"] = [_finite(each) for each in known[:MOST_CLASSES]]  # what was only said tells of single rows
    return facts


def _wrong(scored: Scored) -> int:
    """Rows that are not right. Of a part, those that are missing are among them: how many of the file's rows are in it
    would tell which."""
    public = scored.parts["public"]
    assert public.matches is not None
    return public.compared + (public.missing if len(scored.parts) > 1 else 0) - public.matches


def _finite(facts: dict[str, Any]) -> dict[str, Any]:
    """The same with None for what is undefined: JSON has no word for it."""
    return {
        name: None if isinstance(value, float) and not math.isfinite(value) else value for name, value in facts.items()
    }


def _write_rejection(service: Service, submission: Submission, version: Version, error: Rejection) -> None:
    """The problems; what it cost is given back."""
    with service.database.writing() as session:
        held = _held(session, submission, version)
        if held is None:
            return
        _give_back(session, held)
        problems = [each.to_dict() for each in error.problems]
        held.facts = {"problems": problems, "total": error.total, "stopped": error.stopped}
        _end(held, "rejected", service.now())


def _write_failure(service: Service, submission: Submission, version: Version, error: Exception) -> None:
    """That it is our fault, or that of the answers: nothing of why, which may tell of them, and it costs nothing."""
    with service.database.writing() as session:
        held = _held(session, submission, version)
        if held is None:
            return
        if held.work == "intervals":  # the scores stand
            _end(held, "scored", service.now())
            return
        _give_back(session, held)
        held.facts = {"error": type(error).__name__}
        _end(held, "failed", service.now())


def give_up(service: Service, submission_id: int, *, at_once: bool = False) -> None:
    """Leave a submission that could not be worked on for a later try, or for good after the last."""
    with service.database.writing() as session:
        held = session.get(Submission, submission_id)
        if held is None or held.claimed_by != service.name:
            return
        held.claimed_by = held.claimed = None
        version, last = held.version, at_once or held.attempts >= MOST_ATTEMPTS
    if last:
        _write_failure(service, held, version, RuntimeError())


def _give_back(session: Session, held: Submission) -> None:
    """What a submission cost."""
    if held.day is not None:
        mine = (Quota.team_id == held.team_id) & (Quota.day == held.day) & (Quota.used > 0)
        session.execute(update(Quota).where(mine).values(used=Quota.used - 1))
        held.day = None


def _end(held: Submission, state: str, now: datetime) -> None:
    held.state, held.finished, held.work = state, now, None
    held.claimed_by = held.claimed = None


def _held(session: Session, submission: Submission, version: Version) -> Submission | None:
    """The submission as it is now, locked; None where it belongs to another version by now."""
    lock(session, submission.challenge_id)
    held = session.scalar(select(Submission).where(Submission.id == submission.id).with_for_update(of=Submission))
    return held if held is not None and held.version_id == version.id else None
