"""tm.model_selection.cross_validate: train and test a model on several splits of the rows."""

from __future__ import annotations

import copy
import inspect
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from tallymark.data.arguments import describe
from tallymark.data.arrays import Array
from tallymark.data.batch import Batch
from tallymark.data.labels import Label
from tallymark.data.target import Target, target_of
from tallymark.errors import LengthError, ParameterError, Text, brief
from tallymark.evaluation.evaluate import evaluate_batch
from tallymark.evaluation.predictions import Predicted, method_of, predict, take_rows
from tallymark.evaluation.report import Cell, Report
from tallymark.evaluation.selection import Wanted, check_errors, select_metrics
from tallymark.intervals.settings import Intervals, as_intervals
from tallymark.metrics.base import Metric
from tallymark.metrics.fairness.base import GroupMetric
from tallymark.model_selection.cross_validation import CrossValidation, Fold
from tallymark.model_selection.parallel import run_jobs
from tallymark.model_selection.splitters import KFold, Splitter, number_of_rows
from tallymark.states.labels.reading import encode

Progress = Callable[[Fold], object] | bool | None


class FoldTask(NamedTuple):
    """All that a fold needs to know; it may travel to another process."""

    trainer: Any
    X: Any
    y: Any
    weights: Array | None
    query: Any
    metrics: dict[str, Metric]
    target: dict[str, Any]
    errors: str


class FoldResult(NamedTuple):
    """A fold, which method of the model each metric asked, and the predictions by method."""

    fold: Fold
    methods: dict[str, str]
    predicted: dict[str, Predicted]


def cross_validate(
    trainer: Any,
    X: Any,  # noqa: N803 - as theirs
    y: Any,
    *,
    splitter: Any = None,
    metrics: Wanted = None,
    weights: object = None,
    groups: object = None,
    query: object = None,
    target: Target | None = None,
    kind: str | None = None,
    classes: object = None,
    positive: object = None,
    ci: float | Intervals = 0.95,
    n_jobs: int = 1,
    backend: str = "processes",
    progress: Progress = None,
    errors: str = "raise",
) -> CrossValidation:
    """Train on a part of the rows, test on others, again and again.

    `trainer` is a function ``(X, y) -> model``, where a model is a function of X or has `predict`, or an estimator such
    as those of scikit-learn, of which every fold gets a fresh copy. Metrics ask the model for what they read: labels
    and values from `predict`, probabilities from `predict_proba`, scores from that or `decision_function`. `kind` says
    what the predictions of a model are that is a function.

    `splitter` is one of `KFold`, `StratifiedKFold`, `TimeSeries`, …, one of scikit-learn's, or a number of folds; five
    by default. `groups` go to the splitter. `weights` are given to the metrics, and to the trainer where it
    takes `sample_weight` or `weights`. `classes` are those of all of y, so that a fold which lacks one still scores.

    `n_jobs` folds run at a time (-1: as many as there are CPUs), in "processes" or "threads". `progress` is called with
    every `Fold` that is done; True prints a line. With ``errors="cell"`` a fold whose trainer fails is left out and
    named in the notes.

    >>> def mean_of(X, y):
    ...     return lambda rows: [sum(y) / len(y)] * len(rows)
    >>> found = cross_validate(mean_of, [[1], [2], [3], [4]], [1.0, 2.0, 3.0, 4.0], splitter=2, metrics=["mae"])
    >>> len(found["mae"].values)
    2
    """
    check_errors(errors)
    level = _level(ci)
    n = number_of_rows(X)
    if number_of_rows(y) != n:
        raise LengthError(
            Text("{X} and {y} must have the same length; got {} and {} rows", n, number_of_rows(y)), argument="X"
        )
    rows = Batch(y, y, weights, query=query)
    rows.names = ("y", "y", *rows.names[2:])
    rows.require_weights()
    about = target_of(target, kind, classes, positive)
    chosen = _choose(metrics, rows, about.kind)
    known = _classes(rows, chosen) if about.classes is None else about.classes
    facts = Target(**{**about.facts(), "classes": known}).facts()
    task = FoldTask(_checked(trainer), X, y, rows.weights, query, chosen, facts, errors)
    splits = [
        (k, np.asarray(train), np.asarray(test)) for k, (train, test) in enumerate(_splits(splitter, X, y, groups), 1)
    ]
    if not splits:
        raise ParameterError(Text("{splitter} must give at least one split; it gave none"), argument="splitter")
    show = (lambda fold: print(_line(fold, len(splits)))) if progress is True else progress or None
    outcomes = []
    for outcome in run_jobs(run_fold, task, splits, n_jobs, backend):
        if callable(show):
            show(outcome.fold)
        outcomes.append(outcome)
    return CrossValidation([outcome.fold for outcome in outcomes], _out_of_fold(task, outcomes), chosen, level)


def _level(ci: object) -> float:
    """The level of intervals of means over folds, which are made in one way."""
    asked = as_intervals(ci)
    if asked != Intervals(asked.level):
        raise ParameterError(
            argument="ci", expected="say no more than a level: means over folds have one method", got=brief(asked)
        )
    return asked.level


def run_fold(task: FoldTask, split: tuple[int, Array, Array]) -> FoldResult:
    """Train, predict and score one split."""
    number, train, test = split
    start = time.perf_counter()
    fitted = start
    try:
        model = _fit(task, train)
        fitted = time.perf_counter()
        rows = take_rows(task.X, test)
        methods = {key: method_of(item, model) for key, item in task.metrics.items()}
        known = task.target["classes"]
        predicted = {method: predict(model, rows, method, known) for method in dict.fromkeys(methods.values())}
        report = score(task, methods, predicted, test)
    except Exception as error:  # of the code of the model
        if task.errors == "raise" or isinstance(error, MemoryError):
            error.add_note(f"in fold {number} of cross_validate")
            raise
        told = f"{type(error).__name__}: {error}"
        end = time.perf_counter()
        return FoldResult(Fold(number, None, len(train), len(test), fitted - start, end - fitted, test, told), {}, {})
    end = time.perf_counter()
    return FoldResult(
        Fold(number, report, len(train), len(test), fitted - start, end - fitted, test), methods, predicted
    )


def _fit(task: FoldTask, train: Array) -> Any:
    X, y = take_rows(task.X, train), take_rows(task.y, train)  # noqa: N806 - as theirs
    weights = None if task.weights is None else task.weights[train]
    if not hasattr(task.trainer, "fit"):
        given = {"weights": weights} if weights is not None and _takes(task.trainer, "weights") else {}
        return task.trainer(X, y, **given)
    model = _fresh(task.trainer)
    given = {"sample_weight": weights} if weights is not None and _takes(model.fit, "sample_weight") else {}
    fitted = model.fit(X, y, **given)
    return model if fitted is None else fitted


def _takes(function: Any, name: str) -> bool:
    try:
        return name in inspect.signature(function).parameters
    except (TypeError, ValueError):
        return False


def _fresh(estimator: Any) -> Any:
    """An estimator with the same settings that has not been fitted."""
    if hasattr(estimator, "get_params"):
        from sklearn.base import clone

        return clone(estimator)
    return copy.deepcopy(estimator)


def score(task: FoldTask, methods: Mapping[str, str], predicted: Mapping[str, Predicted], places: Array) -> Report:
    """One report of all metrics, each on the predictions that it reads."""
    weights = None if task.weights is None else task.weights[places]
    truth, query = take_rows(task.y, places), None if task.query is None else take_rows(task.query, places)
    cells: dict[str, Cell] = {}
    n, weight = len(places), float(len(places))
    read: dict[tuple[str, str | None], dict[str, Metric]] = {}
    for key, item in task.metrics.items():
        kind = item.kind if methods[key] == "predict" else predicted[methods[key]].kind or task.target["kind"]
        read.setdefault((methods[key], kind), {})[key] = item
    for (method, kind), metrics in read.items():
        batch = Batch(truth, predicted[method].y_pred, weights, query=query)
        report = evaluate_batch(batch, metrics, Target(**{**task.target, "kind": kind}), errors=task.errors)
        cells.update({key: report.cell(key) for key in metrics})
        weight = report.total_weight
    return Report({key: cells[key] for key in task.metrics}, n=n, total_weight=weight, kind=task.target["kind"])


def _out_of_fold(task: FoldTask, outcomes: Sequence[FoldResult]) -> Report:
    """The report over all rows that were tested, in the order of the splits."""
    good = [outcome for outcome in outcomes if outcome.fold.error is None and outcome.fold.report is not None]
    if not good:
        raise ParameterError(f"every fold failed; the first with {outcomes[0].fold.error}")
    places = np.concatenate([outcome.fold.test for outcome in good])
    kinds = {method: found.kind for method, found in good[0].predicted.items()}
    predicted = {
        method: Predicted(np.concatenate([outcome.predicted[method].y_pred for outcome in good]), kinds[method])
        for method in kinds
    }
    return score(task, good[0].methods, predicted, places)


def _splits(splitter: Any, X: Any, y: Any, groups: object) -> Iterator[tuple[Any, Any]]:  # noqa: N803 - as theirs
    if splitter is None or (isinstance(splitter, int) and not isinstance(splitter, bool)):
        splitter = KFold(5 if splitter is None else splitter)
    if isinstance(splitter, str) or not callable(getattr(splitter, "split", None)):
        raise ParameterError(
            argument="splitter", expected="be a splitter such as KFold(5), or a number of folds", got=brief(splitter)
        )
    given = {} if groups is None and not isinstance(splitter, Splitter) else {"groups": groups}
    rows = np.arange(number_of_rows(X)) if isinstance(X, Mapping) else X
    return splitter.split(rows, y, **given)  # type: ignore[no-any-return]


def _choose(metrics: Wanted, rows: Batch, kind: str | None) -> dict[str, Metric]:
    """The metrics; without a wish they go by the type of the truth, as the predictions are not known yet."""
    chosen = select_metrics(metrics, rows, Target(kind))
    for key, item in chosen.items():
        if isinstance(item, GroupMetric):
            raise ParameterError(
                Text("{metrics} must read rows, not groups of them; {} compares groups", key), argument="metrics"
            )
    return chosen


def _classes(rows: Batch, metrics: Mapping[str, Metric]) -> list[Label] | None:
    """The classes of all of y, where it holds labels and a metric reads them; those of rows that weigh something."""
    if rows.truth_columns > 1 or all(item.kind == "value" or item.by_query for item in metrics.values()):
        return None
    if rows.truth_labels.type == "real":
        return None  # probabilities, or labels as floats, which the rows of a fold tell
    labels, _ = encode(rows, 0)
    return labels if len(labels) > 1 else None


def _checked(trainer: Any) -> Any:
    if isinstance(trainer, type) or not (callable(trainer) or hasattr(trainer, "fit")):
        raise ParameterError(
            argument="trainer",
            expected="be a function (X, y) -> model, or an estimator with `fit`",
            got=describe(trainer),
        )
    return trainer


def _line(fold: Fold, folds: int) -> str:
    """A fold in one line."""
    values = (
        [f"failed: {fold.error}"] if fold.report is None else [f"{key}: {fold.value(key):.6f}" for key in fold.report]
    )
    return "  ".join([f"fold {fold.number} of {folds}", *values, f"fit {fold.fit_time:.3g} s"])
