"""A submission scored on a public and a private part of the answers: read once, matched once."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tallymark._core import TextCodes
from tallymark.data.arrays import Array
from tallymark.errors import ParameterError, Text
from tallymark.submissions.entries import Entries
from tallymark.submissions.limits import Limits
from tallymark.submissions.match import Matched, code_ids, texts_at
from tallymark.submissions.preview import MOST_ROWS
from tallymark.submissions.read import read_entries
from tallymark.submissions.result import SubmissionResult
from tallymark.submissions.score import read_both, score_rows
from tallymark.submissions.settings import settings_of
from tallymark.submissions.tasks import answer_columns, check_entries, task_columns

PUBLIC, PRIVATE = "public", "private"


class Scored(NamedTuple):
    """The results by part, which of the answers the file has, and the first predictions without their answers."""

    parts: dict[str, SubmissionResult]
    compared: int
    missing: int
    missing_ids: list[str]
    extra: int
    extra_ids: list[str]
    preview: list[dict[str, Any]]


def score_parts(answers: object, submission: object, public: Array | None, **told: Any) -> Scored:
    """Score a submission to a challenge as `score_submission` does, on the rows of the answers that are `public`, and
    on the others; on all of them where it is None. The outcomes of the first score are kept."""
    settings = settings_of(mode="challenge", **told)
    settings = settings._replace(outcomes=tuple(settings.metrics)[:1])
    held, entries, matched = read_both(answers, submission, settings, None)
    ids = held.columns[settings.names.id]
    if public is None:
        parts = {PUBLIC: matched}
    elif len(public) == len(ids):
        parts = {PUBLIC: _of_part(ids, matched, public), PRIVATE: _of_part(ids, matched, ~public)}
    else:
        raise ParameterError(
            argument="public", expected=f"say of each of the {len(ids):,} answers", got=f"of {len(public):,}"
        )
    results = {name: score_rows(held, entries, rows, settings) for name, rows in parts.items()}
    return Scored(
        results,
        len(matched.rows),
        len(matched.missing),
        matched.missing_ids,
        matched.extra,
        matched.extra_ids,
        _first_rows(entries, settings.names.id),
    )


def _of_part(ids: Any, matched: Matched, which: Array) -> Matched:
    """The rows that belong to a part of the answers."""
    inside = which[matched.places]
    missing = matched.missing[which[matched.missing]]
    return matched._replace(
        rows=matched.rows[inside],
        places=matched.places[inside],
        missing=missing,
        missing_ids=texts_at(ids, missing),
    )


def _first_rows(entries: Entries, id: str) -> list[dict[str, Any]]:
    """The first rows as they were read."""
    few = min(MOST_ROWS, entries.rows)
    columns = {
        name: held[:few].tolist() if isinstance(held, np.ndarray) else texts_at(held, np.arange(few), None)
        for name, held in entries.columns.items()
    }
    columns = {"id": columns.pop(id), **columns}
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


class Answers(NamedTuple):
    """The answers of a challenge: their ids, what they say, which of them are public, and the queries of a ranking."""

    ids: Any
    labels: Any
    public: Array | None
    queries: Any = None


def read_answers(
    answers: object,
    *,
    task: str,
    id: str = "row_id",
    label: str = "label",
    query: str = "query",
    limits: Limits | None = None,
    split_column: str | None = None,
    share: float | None = None,
    seed: int = 0,
) -> Answers:
    """Read answers as `score_submission` will, and part them: by a column that says public or private, or so that this
    `share` of the rows is public, drawn by `seed` whatever the order of the rows. What is wrong raises a `Rejection`.
    """
    names = task_columns(id, label, query)
    wanted = dict(answer_columns(task, names))
    if split_column is not None:
        wanted[split_column] = wanted[names.id]

    def check(held: Entries) -> Any:
        return check_entries(held, code_ids(TextCodes(), held.columns[names.id]), names, task, Limits(), answers=True)

    held = read_entries(answers, lambda _: wanted, check, limits=limits or Limits(), name="`answers`", declared=False)
    ids = held.columns[names.id]
    public = None
    if split_column is not None:
        public = _told(held.columns[split_column].to_pylist(), split_column)
    elif share is not None:
        public = _drawn(ids.to_pylist(), share, seed)
    return Answers(ids, held.columns[names.label], public, held.columns.get(names.query))


def _told(words: list[str], column: str) -> Array:
    """Which rows a column calls public."""
    found = [each.strip().lower() for each in words]
    strange = next((each for each in found if each not in (PUBLIC, PRIVATE)), None)
    if strange is not None:
        raise ParameterError(
            f"column {column!r} must say public or private in each row; got {strange!r}", argument="split_column"
        )
    public = np.array([each == PUBLIC for each in found], bool)
    if public.all() or not public.any():
        raise ParameterError(
            f"column {column!r} must call some rows public and some private; all are {found[0]}",
            argument="split_column",
        )
    return public


def _drawn(ids: list[str], share: float, seed: int) -> Array:
    """A seeded share of the rows: of the same ids in any order, the same ones."""
    if not 0 < share < 1:
        raise ParameterError(argument="share", expected="be between 0 and 1", got=repr(share))
    count = round(share * len(ids))
    if not 0 < count < len(ids):
        raise ParameterError(
            Text("{share} must leave rows in both parts; {} of {} rows does not", f"{share:g}", f"{len(ids):,}"),
            argument="share",
        )
    ordered = sorted(range(len(ids)), key=ids.__getitem__)
    chosen = np.random.default_rng(seed).permutation(len(ids))[:count]
    public = np.zeros(len(ids), bool)
    public[np.array(ordered)[chosen]] = True
    return public
