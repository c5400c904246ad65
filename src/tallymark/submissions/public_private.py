"""A submission scored on a public and a private part of the answers.

The files are read and matched once; each part is a selection of the matched rows.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tallymark._core import TextCodes
from tallymark.data.arrays import Array
from tallymark.errors import ParameterError, Text
from tallymark.submissions.entries import Entries, check_columns
from tallymark.submissions.match import Matched, code_ids, texts_at
from tallymark.submissions.problems import SubmissionProblems
from tallymark.submissions.read import read_entries
from tallymark.submissions.result import PREVIEW_ROWS, SubmissionResult
from tallymark.submissions.score import read_both, score_rows
from tallymark.submissions.settings import Limits, answer_columns, check_column_names, scoring_settings

PUBLIC, PRIVATE = "public", "private"


class PartScores(NamedTuple):
    """The results by part, the match with all answers, and the first predictions without their answers."""

    parts: dict[str, SubmissionResult]
    compared: int
    missing: int
    missing_ids: list[str]
    extra: int
    extra_ids: list[str]
    preview: list[dict[str, Any]]


def score_parts(answers: object, submission: object, public: Array | None, **arguments: Any) -> PartScores:
    """Score a submission to a challenge as `score_submission` does, on the rows of the answers that are `public`, and
    on the others; on all of them where it is None. The outcomes of the first score are kept."""
    settings = scoring_settings(mode="challenge", **arguments)
    settings = settings._replace(outcomes=tuple(settings.metrics)[:1])
    answer_entries, entries, matched = read_both(answers, submission, settings, None)
    ids = answer_entries.columns[settings.columns.id]
    if public is None:
        parts = {PUBLIC: matched}
    elif len(public) == len(ids):
        parts = {PUBLIC: _select_part(ids, matched, public), PRIVATE: _select_part(ids, matched, ~public)}
    else:
        raise ParameterError(
            argument="public", expected=f"say of each of the {len(ids):,} answers", got=f"of {len(public):,}"
        )
    results = {name: score_rows(answer_entries, entries, rows, settings) for name, rows in parts.items()}
    return PartScores(
        results,
        len(matched.rows),
        len(matched.missing),
        matched.missing_ids,
        matched.extra,
        matched.extra_ids,
        _preview(entries, settings.columns.id),
    )


def _select_part(ids: Any, matched: Matched, mask: Array) -> Matched:
    """The matched rows in a part of the answers."""
    inside = mask[matched.answer_rows]
    missing = matched.missing[mask[matched.missing]]
    return matched._replace(
        rows=matched.rows[inside],
        answer_rows=matched.answer_rows[inside],
        missing=missing,
        missing_ids=texts_at(ids, missing),
    )


def _preview(entries: Entries, id: str) -> list[dict[str, Any]]:
    """The first rows as they were read."""
    few = min(PREVIEW_ROWS, entries.rows)
    columns = {
        name: values[:few].tolist() if isinstance(values, np.ndarray) else texts_at(values, np.arange(few), None)
        for name, values in entries.columns.items()
    }
    columns = {"id": columns.pop(id), **columns}
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


class Answers(NamedTuple):
    """The answers of a challenge: their ids, labels, which of them are public, and the queries of a ranking."""

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
    names = check_column_names(id, label, query)
    wanted = dict(answer_columns(task, names))
    if split_column is not None:
        wanted[split_column] = wanted[names.id]

    def check(entries: Entries) -> SubmissionProblems:
        id_codes = code_ids(TextCodes(), entries.columns[names.id])
        return check_columns(entries, id_codes, names, task, Limits(), answers=True)

    entries = read_entries(
        answers, lambda _: wanted, check, limits=limits or Limits(), name="`answers`", strict_separator=False
    )
    ids = entries.columns[names.id]
    public = None
    if split_column is not None:
        public = _read_split(entries.columns[split_column].to_pylist(), split_column)
    elif share is not None:
        public = _draw_split(ids.to_pylist(), share, seed)
    return Answers(ids, entries.columns[names.label], public, entries.columns.get(names.query))


def _read_split(words: list[str], column: str) -> Array:
    """Which rows a column calls public."""
    parts = [each.strip().lower() for each in words]
    unknown = next((each for each in parts if each not in (PUBLIC, PRIVATE)), None)
    if unknown is not None:
        raise ParameterError(
            f"column {column!r} must say public or private in each row; got {unknown!r}", argument="split_column"
        )
    public = np.array([each == PUBLIC for each in parts], bool)
    if public.all() or not public.any():
        raise ParameterError(
            f"column {column!r} must call some rows public and some private; all are {parts[0]}",
            argument="split_column",
        )
    return public


def _draw_split(ids: list[str], share: float, seed: int) -> Array:
    """A random share of the rows, which depends on the ids and the seed only, not on the order of the rows."""
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
