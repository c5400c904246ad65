"""Versions of a challenge: its answers, and how they score. A version never changes.

Scores and outcomes are stored by version. One version of a challenge is current. A new one becomes current at once
while there are no submissions; later it is a candidate, whose scores are computed beside those of the current version
until an organiser applies or discards it (`domain.rescoring`).
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from sqlalchemy import exists, func, insert, literal, or_, select
from sqlalchemy.orm import Session

import tallymark
from tallymark.app.domain.errors import FormError, field_errors
from tallymark.app.service import Service
from tallymark.app.store.database import dialect_insert
from tallymark.app.store.files import StoredContent
from tallymark.app.store.models import Challenge, Rescoring, StoredFile, StoredScore, Submission, User, Version
from tallymark.data.arrays import Array
from tallymark.errors import Rejection, TallymarkError
from tallymark.metrics.base import Metric
from tallymark.submissions.disclosure import scores_only
from tallymark.submissions.public_private import PUBLIC, Answers, read_answers, score_parts
from tallymark.submissions.score import score_submission
from tallymark.submissions.settings import Limits, scoring_settings

_NUMERIC_TASKS = ("numbers", "ranking")  # tasks whose answers are numbers


class ScoringConfig(NamedTuple):
    """How a challenge is scored: all of a version except the answers."""

    task: str
    id_column: str
    label_column: str
    query_column: str
    classes: list[str] | None
    positive: str | None
    missing: str
    metrics: list[str]
    split: dict[str, Any]

    def as_arguments(self) -> dict[str, Any]:
        """The same as arguments of `score_submission`."""
        return {
            "task": self.task,
            "id": self.id_column,
            "label": self.label_column,
            "query": self.query_column,
            "classes": self.classes,
            "positive": self.positive,
            "missing": self.missing,
            "metrics": self.metrics or None,
        }


def validate_scoring(scoring: ScoringConfig) -> dict[str, str]:
    """Errors of the metrics and columns by form field, before any answers are read."""
    try:
        scoring_settings(mode="challenge", **scoring.as_arguments())
    except TallymarkError as error:
        fields = {"classes": "classes", "id": "id_column", "label": "label_column", "task": "task"}
        return field_errors(error, fields, "metrics")
    return {}


def metrics_of(version: Version | ScoringConfig) -> dict[str, Metric]:
    """The metrics of a version by name; the first ranks."""
    return scoring_settings(mode="challenge", **scoring_config_of(version).as_arguments()).metrics


def scoring_config_of(version: Version | ScoringConfig) -> ScoringConfig:
    """How a version is scored."""
    return ScoringConfig(*(getattr(version, name) for name in ScoringConfig._fields))


class PreparedVersion(NamedTuple):
    """A version before it is stored in the database: its files are stored, and its metrics are known to work."""

    scoring: ScoringConfig
    answers: StoredContent
    sample: StoredContent
    public: StoredContent | None
    rows: int
    public_rows: int


def prepare_version(service: Service, scoring: ScoringConfig, answers: BinaryIO) -> PreparedVersion:
    """Read answers, try the metrics on them, and store answers, a sample submission and the split."""
    parsed = _read_answers(service, scoring, answers)
    sample = _sample_submission(parsed, scoring)
    answers.seek(0)
    _try_metrics(answers, sample, scoring, parsed.public)
    public = None if parsed.public is None else service.files.store([np.packbits(parsed.public).tobytes()])
    rows = len(parsed.ids)
    return PreparedVersion(
        scoring,
        service.files.store_stream(answers),
        service.files.store([sample]),
        public,
        rows,
        rows if parsed.public is None else int(parsed.public.sum()),
    )


def _read_answers(service: Service, scoring: ScoringConfig, answers: BinaryIO) -> Answers:
    """The answers, checked and split into parts."""
    split = scoring.split
    limits = Limits(bytes=service.settings.upload_bytes, rows=service.settings.rows)
    answers.seek(0)
    try:
        return read_answers(
            answers,
            task=scoring.task,
            id=scoring.id_column,
            label=scoring.label_column,
            query=scoring.query_column,
            limits=limits,
            split_column=split.get("column"),
            share=split.get("share"),
            seed=split.get("seed", 0),
        )
    except Rejection:
        raise
    except TallymarkError as error:
        fields = {"split_column": "split_column", "share": "split_share"}
        raise FormError(field_errors(error, fields, "answers")) from error


def _sample_submission(answers: Answers, scoring: ScoringConfig) -> bytes:
    """A valid submission without information: every id, sorted, and a constant prediction."""
    columns, row = [scoring.label_column], ["0"]
    if scoring.task == "labels":
        row = ["label"]
    elif scoring.task == "probabilities":
        columns = scoring.classes or columns
        row = ["0.5"] if len(columns) == 1 else [repr(1 / len(columns))] * len(columns)
    return _csv([scoring.id_column, *columns], ([row_id, *row] for row_id in sorted(answers.ids.to_pylist())))


def _try_metrics(answers: BinaryIO, sample: bytes, scoring: ScoringConfig, public: Array | None) -> None:
    """Score a trial submission, so that the organiser and not a participant learns of metrics that fail."""
    use_answers = scoring.task != "probabilities"
    submission = io.BytesIO(answers.read() if use_answers else sample)
    answers.seek(0)
    try:
        result = score_submission(answers, submission, **scoring.as_arguments())
        failures = result.report.failures
        if failures:
            raise FormError({"metrics": str(next(iter(failures.values())))})
        scores_only(result.report)
        for stream in (answers, submission):
            stream.seek(0)
        for part, scored in score_parts(answers, submission, public, **scoring.as_arguments()).parts.items():
            name, value = next(iter(scored.scores.items()))
            if not math.isfinite(value):
                raise FormError({"metrics": f"{name} is undefined on the {part} part, so entries could not be ranked."})
        answers.seek(0)
    except TallymarkError as error:
        raise FormError(field_errors(error, {"positive": "positive", "classes": "classes"}, "metrics")) from error


def part_as_csv(service: Service, version: Version, part: str) -> bytes:
    """The answers of a part as CSV, to reproduce the scores of that part elsewhere."""
    scoring = scoring_config_of(version)
    with service.files.path(version.answers).open("rb") as stream:
        answers = _read_answers(service, scoring, stream)
    labels = answers.labels.tolist() if scoring.task in _NUMERIC_TASKS else answers.labels.to_pylist()
    columns = [answers.ids.to_pylist(), labels]
    names = [scoring.id_column, scoring.label_column]
    if answers.queries is not None:
        columns.append(answers.queries.to_pylist())
        names.append(scoring.query_column)
    rows: Iterable[Sequence[object]] = zip(*columns, strict=True)
    if answers.public is not None:
        mask = answers.public if part == PUBLIC else ~answers.public
        rows = (row for row, in_part in zip(rows, mask.tolist(), strict=True) if in_part)
    return _csv(names, rows)


def _csv(names: Sequence[str], rows: Iterable[Sequence[object]]) -> bytes:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(names)
    writer.writerows(rows)
    return text.getvalue().encode()


def add_version(
    session: Session,
    service: Service,
    challenge: Challenge,
    user: User,
    prepared: PreparedVersion,
    note: str = "",
    *,
    after: Version | None = None,
) -> Version:
    """Store the version that follows `after`: current if there are no submissions, else a candidate, by which every
    submission that was ever scored waits to be scored."""
    now = service.now()
    lock_challenge(session, challenge.id)
    current, candidate = current_version(session, challenge), candidate_version(session, challenge)
    if (current and current.id) != (after and after.id):
        raise FormError({"": "Someone else changed this challenge meanwhile. Reload the page and try again."})
    if candidate is not None:
        raise FormError({"": f"Version {candidate.number} is waiting. Apply or discard it first, under “Re-scoring”."})
    for file in filter(None, (prepared.answers, prepared.sample, prepared.public)):
        record_file(session, file, now)
    last = session.scalar(select(func.max(Version.number)).where(Version.challenge_id == challenge.id)) or 0
    has_submissions = session.scalar(select(exists().where(Submission.challenge_id == challenge.id)))
    version = Version(
        challenge_id=challenge.id,
        number=last + 1,
        created_by=user.id,
        created=now,
        note=note,
        **prepared.scoring._asdict(),
        answers=prepared.answers.hash,
        sample=prepared.sample.hash,
        public=None if prepared.public is None else prepared.public.hash,
        rows=prepared.rows,
        public_rows=prepared.public_rows,
        software=f"tallymark {tallymark.__version__}",
        state="candidate" if has_submissions else "current",
    )
    session.add(version)
    if not has_submissions:
        if current is not None:
            current.state = "past"
        return version
    session.flush()
    scored_before = select(StoredScore.submission_id).where(StoredScore.submission_id == Submission.id).exists()
    earlier = (Submission.challenge_id == challenge.id) & or_(Submission.state != "rejected", scored_before)
    queued = select(literal(version.id), Submission.id, literal("queued"), literal(0)).where(earlier)
    session.execute(insert(Rescoring).from_select(["version_id", "submission_id", "state", "attempts"], queued))
    return version


def queue_rescoring(session: Session, challenge: Challenge, submission_id: int) -> None:
    """Have a new or retried submission scored by the candidate version too, if there is one."""
    candidate = candidate_version(session, challenge)
    if candidate is not None:
        key = {"version_id": candidate.id, "submission_id": submission_id}
        fresh = {"state": "queued", "claimed_by": None, "claimed": None, "attempts": 0}
        queue = dialect_insert(session)(Rescoring).values(**key, **fresh)
        session.execute(queue.on_conflict_do_update(index_elements=list(key), set_=fresh))


def record_file(session: Session, file: StoredContent, now: datetime) -> None:
    """Add the row of a stored file, unless it exists."""
    values = {"hash": file.hash, "size": file.size, "created": now}
    session.execute(dialect_insert(session)(StoredFile).values(**values).on_conflict_do_nothing())


def lock_challenge(session: Session, challenge_id: int, *, shared: bool = False) -> Challenge | None:
    """A challenge, locked: no other transaction adds a version until this one ends. To lock submissions as well, lock
    their challenge first, so that no two transactions wait for each other.

    On SQLite, writing transactions take the lock of the database when they begin; on PostgreSQL this locks the row.
    """
    return session.get(Challenge, challenge_id, with_for_update={"read": shared}, populate_existing=True)


def current_version(session: Session, challenge: Challenge) -> Version | None:
    """The version by which a challenge is scored and ranked."""
    return session.scalar(select(Version).where(Version.challenge_id == challenge.id, Version.state == "current"))


def candidate_version(session: Session, challenge: Challenge) -> Version | None:
    """The version that waits to be applied or discarded."""
    return session.scalar(select(Version).where(Version.challenge_id == challenge.id, Version.state == "candidate"))
