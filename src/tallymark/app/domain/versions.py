"""Versions: how a challenge is scored, and the answers it is scored by. A version never changes."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from sqlalchemy import delete, func, or_, select, update
from sqlalchemy.orm import Session

import tallymark
from tallymark.app.http.errors import FieldError, in_field
from tallymark.app.service import Service
from tallymark.app.store.database import insert_of
from tallymark.app.store.files import StoredContent
from tallymark.app.store.models import Challenge, LeaderboardEntry, StoredFile, StoredScore, Submission, User, Version
from tallymark.data.arrays import Array
from tallymark.errors import Rejection, TallymarkError
from tallymark.metrics.base import Metric
from tallymark.submissions.disclosure import scores_only
from tallymark.submissions.parts import PUBLIC, Answers, read_answers, score_parts
from tallymark.submissions.score import score_submission
from tallymark.submissions.settings import Limits, scoring_settings

NUMBERS = ("numbers", "ranking")  # tasks whose answers are numbers


class Scoring(NamedTuple):
    """How a challenge is scored: what a version is made of, but for the answers."""

    task: str
    id_column: str
    label_column: str
    query_column: str
    classes: list[str] | None
    positive: str | None
    missing: str
    metrics: list[str]
    split: dict[str, Any]

    def told(self) -> dict[str, Any]:
        """The same in the words of `score_submission`."""
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


def check_scoring(scoring: Scoring) -> dict[str, str]:
    """What is wrong with metrics and columns, before any answers are there."""
    try:
        scoring_settings(mode="challenge", **scoring.told())
    except TallymarkError as error:
        fields = {"classes": "classes", "id": "id_column", "label": "label_column", "task": "task"}
        return in_field(error, fields, "metrics")
    return {}


def metrics_of(version: Version | Scoring) -> dict[str, Metric]:
    """The metrics of a version by name; the first ranks."""
    return scoring_settings(mode="challenge", **scoring_of(version).told()).metrics


def scoring_of(version: Version | Scoring) -> Scoring:
    """How a version is scored."""
    return Scoring(*(getattr(version, name) for name in Scoring._fields))


class Prepared(NamedTuple):
    """What was made from answers before anything is written down."""

    scoring: Scoring
    answers: StoredContent
    sample: StoredContent
    public: StoredContent | None
    rows: int
    public_rows: int


def prepare(service: Service, scoring: Scoring, answers: BinaryIO) -> Prepared:
    """Read answers, try the metrics on them, and store them with a sample of a submission and the split."""
    held = _read(service, scoring, answers)
    sample = _sample(held, scoring)
    answers.seek(0)
    _try_out(answers, sample, scoring, held.public)
    public = None if held.public is None else service.files.keep([np.packbits(held.public).tobytes()])
    rows = len(held.ids)
    return Prepared(
        scoring,
        service.files.keep_stream(answers),
        service.files.keep([sample]),
        public,
        rows,
        rows if held.public is None else int(held.public.sum()),
    )


def _read(service: Service, scoring: Scoring, answers: BinaryIO) -> Answers:
    """The answers as they are scored by, with their parts."""
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
        raise FieldError(in_field(error, fields, "answers")) from error


def _sample(held: Answers, scoring: Scoring) -> bytes:
    """A submission that would be taken: every id, in an order that tells nothing, and what says nothing."""
    columns, row = [scoring.label_column], ["0"]
    if scoring.task == "labels":
        row = ["label"]
    elif scoring.task == "probabilities":
        columns = scoring.classes or columns
        row = ["0.5"] if len(columns) == 1 else _shares(len(columns))
    return _csv([scoring.id_column, *columns], ([each, *row] for each in sorted(held.ids.to_pylist())))


def _shares(count: int) -> list[str]:
    return [repr(1 / count)] * count


def _try_out(answers: BinaryIO, sample: bytes, scoring: Scoring, public: Array | None) -> None:
    """Score something, so that metrics which cannot be computed show now, in full words, and not to participants."""
    perfect = scoring.task != "probabilities"
    copy = io.BytesIO(answers.read()) if perfect else io.BytesIO(sample)
    answers.seek(0)
    try:
        result = score_submission(answers, copy, **scoring.told())
        failures = result.report.failures
        if failures:
            raise FieldError({"metrics": str(next(iter(failures.values())))})
        scores_only(result.report)
        for each in (answers, copy):
            each.seek(0)
        for part, scored in score_parts(answers, copy, public, **scoring.told()).parts.items():
            key, value = next(iter(scored.scores.items()))
            if not math.isfinite(value):
                raise FieldError({"metrics": f"{key} is undefined on the {part} part: nobody could be ranked there."})
        answers.seek(0)
    except TallymarkError as error:
        raise FieldError(in_field(error, {"positive": "positive", "classes": "classes"}, "metrics")) from error


def answers_of_part(service: Service, version: Version, part: str) -> bytes:
    """The answers of a part as CSV, by which the scores of that part can be had elsewhere."""
    scoring = scoring_of(version)
    with service.files.path(version.answers).open("rb") as stream:
        held = _read(service, scoring, stream)
    columns = [held.ids.to_pylist(), held.labels.tolist() if scoring.task in NUMBERS else held.labels.to_pylist()]
    names = [scoring.id_column, scoring.label_column]
    if held.queries is not None:
        columns.append(held.queries.to_pylist())
        names.append(scoring.query_column)
    rows: Iterable[Sequence[object]] = zip(*columns, strict=True)
    if held.public is not None:
        wanted = held.public if part == PUBLIC else ~held.public
        rows = (row for row, inside in zip(rows, wanted.tolist(), strict=True) if inside)
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
    made: Prepared,
    note: str = "",
    *,
    after: Version | None = None,
) -> None:
    """Write down the version that follows another, and have all that was ever scored scored by it."""
    now = service.now()
    lock(session, challenge.id)
    for kept in filter(None, (made.answers, made.sample, made.public)):
        note_file(session, kept, now)
    last = session.scalar(select(func.max(Version.number)).where(Version.challenge_id == challenge.id)) or 0
    if last != (0 if after is None else after.number):
        raise FieldError({"": "Somebody else has changed this challenge by now. Look at it again, and then change it."})
    version = Version(
        challenge_id=challenge.id,
        number=last + 1,
        created_by=user.id,
        created=now,
        note=note,
        **made.scoring._asdict(),
        answers=made.answers.hash,
        sample=made.sample.hash,
        public=None if made.public is None else made.public.hash,
        rows=made.rows,
        public_rows=made.public_rows,
        software=f"tallymark {tallymark.__version__}",
    )
    session.add(version)
    session.flush()
    ever = select(StoredScore.submission_id).where(StoredScore.submission_id == Submission.id).exists()
    earlier = (Submission.challenge_id == challenge.id) & or_(Submission.state != "rejected", ever)
    again = {"version_id": version.id, "state": "queued", "work": "score", "claimed_by": None, "attempts": 0}
    session.execute(update(Submission).where(earlier).values(**again))
    session.execute(
        delete(LeaderboardEntry).where(LeaderboardEntry.challenge_id == challenge.id)
    )  # places by scores of the past
    session.execute(update(Challenge).where(Challenge.id == challenge.id).values(changes=Challenge.changes + 1))


def note_file(session: Session, kept: StoredContent, now: datetime) -> None:
    """Write down that a file is there."""
    values = {"hash": kept.hash, "size": kept.size, "created": now}
    session.execute(insert_of(session)(StoredFile).values(**values).on_conflict_do_nothing())


def lock(session: Session, challenge_id: int, *, shared: bool = False) -> Challenge | None:
    """A challenge, which no other transaction gives a new version until this one ends. Whoever also locks submissions
    locks their challenge first, so that no two wait for each other."""
    return session.get(Challenge, challenge_id, with_for_update={"read": shared}, populate_existing=True)


def current_version(session: Session, challenge: Challenge) -> Version | None:
    """The newest version of a challenge."""
    asked = select(Version).where(Version.challenge_id == challenge.id)
    return session.scalar(asked.order_by(Version.number.desc()).limit(1))
