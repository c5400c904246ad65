"""What a submission predicts: which columns each task takes, and what they must hold."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from tallymark.data.arguments import check_choice
from tallymark.data.arrays import Array
from tallymark.errors import ParameterError, Text, brief
from tallymark.sources.columns import NUMBER
from tallymark.sources.csv.fields import TEXT
from tallymark.sources.problems import MOST_SHOWN, Place
from tallymark.submissions.entries import Entries
from tallymark.submissions.limits import Limits
from tallymark.submissions.match import code_columns, first_rows, repeated, texts_at
from tallymark.submissions.normalize import normal_name
from tallymark.submissions.problems import SubmissionProblems, submission_problem

TASKS = ("labels", "numbers", "probabilities", "ranking")
_SUM = 1e-4  # how far the probabilities of a row may be from adding up to 1: what the core takes, told with a line
_BY_KIND = {"value": "numbers", "label": "labels", "probability": "probabilities", "score": "probabilities"}


class Names(NamedTuple):
    """The names of the columns."""

    id: str
    label: str
    query: str


def task_columns(id: object, label: object, query: object = "query") -> Names:
    """The names of the columns, as names in a header are read."""
    given = {"id": id, "label": label, "query": query}
    for argument, value in given.items():
        if not isinstance(value, str) or not value.strip():
            raise ParameterError(argument=argument, expected="be the name of a column", got=brief(value))
    names = Names(*(normal_name(str(value)) for value in given.values()))
    if names.id == names.label:
        raise ParameterError(Text("{id} and {label} must be two columns; both were {}", repr(names.id)), argument="id")
    return names


def task_of(task: str | None, metrics: Mapping[str, Any] | None) -> str:
    """The task that was named; else that of the first metric; else labels."""
    if task is None:
        first = next(iter(metrics.values())) if metrics else None
        if first is None:
            return "labels"
        return "ranking" if first.family == "ranking" else _BY_KIND.get(first.kind, "labels")
    check_choice("task", task, TASKS)
    return task


def class_names(classes: object, names: Names, task: str) -> list[str] | None:
    """The names of the columns of the classes, as names in a header are read."""
    if classes is None:
        return None
    if task != "probabilities":
        raise ParameterError(
            argument="classes", expected=f"be left out where the task is {task}: it names columns of probabilities"
        )
    if isinstance(classes, (str, bytes)) or not isinstance(classes, Iterable):
        raise ParameterError(argument="classes", expected="be a list of labels", got=brief(classes))
    found = [normal_name(str(each)) for each in classes]
    if names.id in found:
        raise ParameterError(
            Text("{classes} must not be called like the column of ids; one of them was {}", repr(names.id)),
            argument="classes",
        )
    return found


def answer_columns(task: str, names: Names) -> Mapping[str, str]:
    """The columns of the answers."""
    way = NUMBER if task in ("numbers", "ranking") else TEXT
    return {names.id: TEXT, names.label: way, **({names.query: TEXT} if task == "ranking" else {})}


def prediction_columns(
    task: str, names: Names, found: Sequence[str], classes: Callable[[], Sequence[str]]
) -> Mapping[str, str]:
    """The columns of a submission. Probabilities stand in one column, or in one for each class."""
    if task == "labels":
        return {names.id: TEXT, names.label: TEXT}
    if task != "probabilities" or names.label in found:
        return {names.id: TEXT, names.label: NUMBER}
    return {names.id: TEXT, **dict.fromkeys(classes(), NUMBER)}


def check_entries(
    entries: Entries, codes: Array, names: Names, task: str, limits: Limits, *, answers: bool = False
) -> SubmissionProblems:
    """What is wrong with ids, whose codes are given, and with columns, whatever the file was."""
    found = _check_ids(entries, codes, names.id)
    for name, held in entries.columns.items():
        if name == names.id:
            continue
        if isinstance(held, np.ndarray):
            found = found.join(_check_numbers(entries, name, held, between=task == "probabilities" and not answers))
        else:
            found = found.join(_check_texts(entries, name, held, limits))
    several = [held for name, held in entries.columns.items() if name != names.id]
    if task == "probabilities" and not answers and len(several) > 1 and not found:
        found = _check_sums(entries, several)
    return found


def _check_ids(entries: Entries, codes: Array, name: str) -> SubmissionProblems:
    ids = entries.columns[name]
    found = _check_empty(entries, name, ids, "empty_id")
    shown, total = repeated(codes, MOST_SHOWN)
    for rows, count in shown:
        text = texts_at(ids, np.array(rows[:1]))[0]
        place = entries.place(rows[1], name, text)
        found.add(submission_problem("duplicate_id", place, id=repr(text[:40]), places=_places(entries, rows, count)))
    found.count(total - len(shown))
    return found


def _places(entries: Entries, rows: Sequence[int], count: int) -> str:
    word = "rows" if entries.lines is None else "lines"
    numbers = [f"{entries.number(row):,}" for row in rows]
    if count > len(rows):
        return f"{word} {', '.join(numbers)} and {count - len(rows):,} more"
    return f"{word} {', '.join(numbers[:-1])} and {numbers[-1]}"


def _check_empty(entries: Entries, name: str, texts: Any, code: str) -> SubmissionProblems:
    found = SubmissionProblems()
    if not texts.null_count:
        return found
    for row in first_rows(np.asarray(texts.is_null()), MOST_SHOWN).tolist():
        found.add(submission_problem(code, entries.place(row, name), column=repr(name)))
    found.count(max(texts.null_count - MOST_SHOWN, 0))
    return found


def _check_texts(entries: Entries, name: str, texts: Any, limits: Limits) -> SubmissionProblems:
    found = _check_empty(entries, name, texts, "empty_field")
    if limits.labels is not None:
        distinct = len(code_columns(texts)[1])
        if distinct > limits.labels:
            found.add(
                submission_problem(
                    "too_many_labels", Place(field=name), count=f"{distinct:,}", most=f"{limits.labels:,}"
                )
            )
    return found


def _check_numbers(entries: Entries, name: str, held: Array, *, between: bool) -> SubmissionProblems:
    found = SubmissionProblems()
    finite = np.isfinite(held)
    outside = finite & ((held < 0) | (held > 1)) if between else np.zeros(0, bool)
    for code, bad in (("not_finite", ~finite), ("out_of_range", outside)):
        rows = np.flatnonzero(bad)
        for row in rows[:MOST_SHOWN].tolist():
            found.add(submission_problem(code, entries.place(row, name), value=f"{held[row]:g}"))
        found.count(max(len(rows) - MOST_SHOWN, 0))
    return found


def _check_sums(entries: Entries, columns: Sequence[Array]) -> SubmissionProblems:
    found = SubmissionProblems()
    sums = np.sum(columns, axis=0)
    rows = np.flatnonzero(np.abs(sums - 1) > _SUM)
    for row in rows[:MOST_SHOWN].tolist():
        found.add(submission_problem("bad_sum", entries.place(row), sum=f"{sums[row]:.6g}"))
    found.count(max(len(rows) - MOST_SHOWN, 0))
    return found
