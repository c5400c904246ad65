"""tm.model_selection.cross_validate: train and test a model on several splits of the rows, and what the folds gave."""

from __future__ import annotations

import copy
import inspect
import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from numbers import Integral
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tallymark.data.arguments import describe
from tallymark.data.arrays import Array
from tallymark.data.batch import Batch
from tallymark.data.labels import Label
from tallymark.data.target import Target, target_of
from tallymark.errors import Argument, LengthError, ParameterError, Text, brief
from tallymark.evaluation.default_metrics import MetricsLike, select_metrics
from tallymark.evaluation.evaluate import check_errors, evaluate_batch, raise_failures
from tallymark.evaluation.model_predictions import (
    ModelPredictions,
    default_metrics_of_model,
    is_classifier,
    predict,
    prediction_method,
    take_rows,
)
from tallymark.evaluation.report import Cell, Report, reason_text
from tallymark.intervals.distributions import student_quantile
from tallymark.intervals.settings import Intervals, as_intervals, show_level
from tallymark.metrics.base import Better, Metric
from tallymark.metrics.fairness.base import GroupMetric
from tallymark.metrics.listing import show_better
from tallymark.metrics.names_elsewhere import names_elsewhere
from tallymark.model_selection.parallel import run_jobs
from tallymark.model_selection.splitters import GroupKFold, KFold, Splitter, StratifiedKFold, number_of_rows
from tallymark.rendering.exports import DataFrameExport, to_json
from tallymark.rendering.html_table import to_html
from tallymark.rendering.table import ShownNumber, Table, show_estimate
from tallymark.rendering.text import to_text
from tallymark.states.labels.encoding import encode_labels

FoldProgress = Callable[["Fold"], object] | bool | None


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
    predicted: dict[str, ModelPredictions]


def cross_validate(
    trainer: Any,
    X: Any,  # noqa: N803 - as theirs
    y: Any,
    *,
    splitter: Any = None,
    cv: Any = None,
    metrics: MetricsLike = None,
    scoring: Any = None,
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
    progress: FoldProgress = None,
    errors: str = "raise",
    **parameters: Any,
) -> CrossValidation:
    """Train on some rows and test on others, fold by fold.

    Args:
        trainer: A function ``(X, y) -> model``, where a model is a function of X or has `predict`; or an estimator such
            as those of scikit-learn, of which every fold gets a fresh copy. Metrics ask the model for what they read:
            labels and values from `predict`, probabilities from `predict_proba`, scores from that or
            `decision_function`.
        X: The features: an array, a data frame or anything else whose rows can be selected.
        y: The truth, one value or label per row.
        metrics: As in `evaluate`; by default those of the most detailed predictions of an estimator.
        splitter: `KFold`, `StratifiedKFold`, `TimeSeries`, …, a splitter of scikit-learn, pairs of training and test
            rows, or a number of folds; by default five. A number of folds is stratified for a classifier and for
            labels, and does not split `groups`.
        cv: Another name of `splitter`.
        scoring: Another name of `metrics`, which also takes the names of scikit-learn: "neg_log_loss" is logloss, which
            is not negative here.
        weights: One weight per row, for the metrics, and for a trainer that takes `sample_weight` or `weights`.
        groups: A label per row, for the splitter.
        kind: What the predictions of a model are that is a function.
        classes: All classes; by default those of all of y, so that a fold that lacks one can still be scored.
        ci: The confidence level of the mean over the folds.
        n_jobs: How many folds run at a time; -1 for as many as there are CPUs.
        backend: Run folds in "processes" or "threads".
        progress: A function that is called with every finished `Fold`; True prints a line.
        errors: "raise" raises the error of a trainer; "report" leaves its fold out and names it in the notes.
        parameters: Parameters such as `average="macro"` or `threshold=0.3`, for every metric that has them.

    >>> def mean_of(X, y):
    ...     return lambda rows: [sum(y) / len(y)] * len(rows)
    >>> found = cross_validate(mean_of, [[1], [2], [3], [4]], [1.0, 2.0, 3.0, 4.0], cv=2, metrics=["mae"])
    >>> len(found["mae"].values)
    2
    """
    for name in parameters.keys() & {"n_splits", "folds", "n_folds", "shuffle", "seed", "random_state"}:
        hint = "Pass cv=5, or a splitter such as cv=tm.model_selection.StratifiedKFold(5, seed=0)"
        raise ParameterError(Text("cross_validate has no argument {}", Argument(name)), argument=name, hint=hint)
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
    trainer = _check_trainer(trainer)
    selected = _select_metrics(_one_of(metrics=metrics, scoring=scoring)[1], rows, about.kind, trainer, parameters)
    known = _all_classes(rows, selected) if about.classes is None else about.classes
    facts = Target(**{**about.keywords(), "classes": known}).keywords()
    task = FoldTask(trainer, X, y, rows.weights, query, selected, facts, errors)
    splits = _splits(*_one_of(splitter=splitter, cv=cv), task, groups, stratified=_has_classes(trainer, rows))
    show = (lambda fold: print(_fold_line(fold, len(splits)))) if progress is True else progress or None
    outcomes = []
    for outcome in run_jobs(run_fold, task, splits, n_jobs, backend):
        if callable(show):
            show(outcome.fold)
        outcomes.append(outcome)
    return CrossValidation([outcome.fold for outcome in outcomes], _out_of_fold(task, outcomes), selected, level)


def _one_of(**given: Any) -> tuple[str, Any]:
    """Of two names of one argument, the one that was given, with its value; the first if none was."""
    (first, value), (second, other) = given.items()
    if value is not None and other is not None:
        raise ParameterError(
            Text("{} and {} are the same; pass one of them", Argument(first), Argument(second)), argument=first
        )
    if second == "scoring" and other is not None:
        return second, _without_signs(other)
    return (first, value) if other is None else (second, other)


def _without_signs(scoring: Any) -> Any:
    """Metrics by the names of scikit-learn, in which "neg_" stands for a loss."""
    if isinstance(scoring, Mapping):
        return {key: _without_signs(value) for key, value in scoring.items()}
    if isinstance(scoring, (list, tuple, set)):
        return list(map(_without_signs, scoring))
    if isinstance(scoring, str):
        theirs = next((row for row in names_elsewhere() if (row.library, row.name) == ("scikit-learn", scoring)), None)
        if theirs is not None:
            return theirs.here or scoring  # which is refused with what to use instead
        return scoring.removeprefix("neg_")
    scoring = getattr(scoring, "metric", scoring)  # of a scorer of tm.sklearn
    if isinstance(scoring, Metric):
        return scoring
    raise ParameterError(
        argument="scoring",
        expected='be names of metrics, such as "neg_log_loss", or metrics',
        got=describe(scoring),
        hint="Wrap a function of truth and predictions with tm.custom",
    )


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
        methods = {key: prediction_method(item, model) for key, item in task.metrics.items()}
        known = task.target["classes"]
        predicted = {method: predict(model, rows, method, known) for method in dict.fromkeys(methods.values())}
        report = score(task, methods, predicted, test)
    except Exception as error:  # of the code of the model
        if task.errors == "raise" or isinstance(error, MemoryError):
            error.add_note(f"in fold {number} of cross_validate")
            raise
        problem = f"{type(error).__name__}: {error}"
        end = time.perf_counter()
        return FoldResult(
            Fold(number, None, len(train), len(test), fitted - start, end - fitted, test, problem), {}, {}
        )
    end = time.perf_counter()
    return FoldResult(
        Fold(number, report, len(train), len(test), fitted - start, end - fitted, test), methods, predicted
    )


def _fit(task: FoldTask, train: Array) -> Any:
    X, y = take_rows(task.X, train), take_rows(task.y, train)  # noqa: N806 - as theirs
    weights = None if task.weights is None else task.weights[train]
    if not hasattr(task.trainer, "fit"):
        weights_argument = (
            {"weights": weights} if weights is not None and _has_parameter(task.trainer, "weights") else {}
        )
        return task.trainer(X, y, **weights_argument)
    model = _unfitted_copy(task.trainer)
    weights_argument = (
        {"sample_weight": weights} if weights is not None and _has_parameter(model.fit, "sample_weight") else {}
    )
    fitted = model.fit(X, y, **weights_argument)
    return model if fitted is None else fitted


def _has_parameter(function: Any, name: str) -> bool:
    try:
        return name in inspect.signature(function).parameters
    except (TypeError, ValueError):
        return False


def _unfitted_copy(estimator: Any) -> Any:
    """An estimator with the same settings that has not been fitted."""
    if hasattr(estimator, "get_params"):
        from sklearn.base import clone

        return clone(estimator)
    return copy.deepcopy(estimator)


def score(
    task: FoldTask, methods: Mapping[str, str], predicted: Mapping[str, ModelPredictions], places: Array
) -> Report:
    """One report of all metrics, each on the predictions that it reads."""
    weights = None if task.weights is None else task.weights[places]
    truth, query = take_rows(task.y, places), None if task.query is None else take_rows(task.query, places)
    cells: dict[str, Cell] = {}
    n, weight = len(places), float(len(places))
    read: dict[tuple[str, str | None], dict[str, Metric]] = {}
    for key, item in task.metrics.items():
        own_kind = methods[key] == "predict" or item.kind == "margin"
        kind = item.kind if own_kind else predicted[methods[key]].kind or task.target["kind"]
        read.setdefault((methods[key], kind), {})[key] = item
    for (method, kind), metrics in read.items():
        batch = Batch(truth, predicted[method].y_pred, weights, query=query)
        report = evaluate_batch(batch, metrics, Target(**{**task.target, "kind": kind}), errors="report")
        cells.update({key: report.cell(key) for key in metrics})
        weight = report.total_weight
    report = Report({key: cells[key] for key in task.metrics}, n=n, total_weight=weight, kind=task.target["kind"])
    if task.errors == "raise":
        raise_failures(report)
    return report


def _out_of_fold(task: FoldTask, outcomes: Sequence[FoldResult]) -> Report:
    """The report over all rows that were tested, in the order of the splits."""
    good = [outcome for outcome in outcomes if outcome.fold.error is None and outcome.fold.report is not None]
    if not good:
        raise ParameterError(f"every fold failed; the first with {outcomes[0].fold.error}")
    places = np.concatenate([outcome.fold.test for outcome in good])
    kinds = {method: found.kind for method, found in good[0].predicted.items()}
    predicted = {
        method: ModelPredictions(np.concatenate([outcome.predicted[method].y_pred for outcome in good]), kinds[method])
        for method in kinds
    }
    return score(task, good[0].methods, predicted, places)


def _splits(
    argument: str, splitter: Any, task: FoldTask, groups: object, *, stratified: bool
) -> list[tuple[int, Array, Array]]:
    """The number, the training rows and the test rows of every split."""
    if splitter is None or (isinstance(splitter, Integral) and not isinstance(splitter, bool)):
        kind = KFold if groups is None and not stratified else StratifiedKFold if groups is None else GroupKFold
        splitter = kind(5 if splitter is None else int(splitter))
    if not isinstance(splitter, str) and callable(getattr(splitter, "split", None)):
        rows = np.arange(number_of_rows(task.X)) if isinstance(task.X, Mapping) else task.X
        given = {} if groups is None and not isinstance(splitter, Splitter) else {"groups": groups}
        splits = list(splitter.split(rows, task.y, **given))
    else:
        splits = [] if isinstance(splitter, str) or not isinstance(splitter, Iterable) else list(splitter)
        if not splits or not all(isinstance(each, (tuple, list)) and len(each) == 2 for each in splits):
            raise ParameterError(
                argument=argument,
                expected="be a number of folds, a splitter such as KFold(5), or pairs of training and test rows",
                got=brief(splitter),
            )
    if not splits:
        raise ParameterError(argument=argument, expected="give at least one split", got="none")
    return [(k, np.asarray(train), np.asarray(test)) for k, (train, test) in enumerate(splits, 1)]


def _has_classes(trainer: Any, rows: Batch) -> bool:
    """Whether the truth is classes: those of a classifier, or labels that are no numbers."""
    return rows.truth_columns == 1 and (is_classifier(trainer) or rows.truth_labels.type in ("text", "boolean"))


def _select_metrics(
    metrics: MetricsLike, rows: Batch, kind: str | None, trainer: Any, parameters: Mapping[str, Any]
) -> dict[str, Metric]:
    """The metrics; without any, those of the estimator, or by the type of the truth where predictions are unknown."""
    if metrics is None and kind is None and rows.truth_columns == 1 and not rows.has_query:
        metrics = default_metrics_of_model(trainer)
    selected = select_metrics(metrics, rows, Target(kind), parameters)
    for key, item in selected.items():
        if isinstance(item, GroupMetric):
            raise ParameterError(
                Text("{metrics} must read rows, not groups of them; {} compares groups", key), argument="metrics"
            )
    return selected


def _all_classes(rows: Batch, metrics: Mapping[str, Metric]) -> list[Label] | None:
    """The classes of all of y, where it holds labels and a metric reads them; those of rows that weigh something."""
    if rows.truth_columns > 1 or all(item.kind == "value" or item.by_query for item in metrics.values()):
        return None
    if rows.truth_labels.type == "real":
        return None  # probabilities, or labels as floats, which the rows of a fold tell
    labels, _ = encode_labels(rows, 0)
    return labels if len(labels) > 1 else None


def _check_trainer(trainer: Any) -> Any:
    if isinstance(trainer, type) or not (callable(trainer) or hasattr(trainer, "fit")):
        raise ParameterError(
            argument="trainer",
            expected="be a function (X, y) -> model, or an estimator with `fit`",
            got=describe(trainer),
        )
    return trainer


def _fold_line(fold: Fold, folds: int) -> str:
    """A fold in one line."""
    values = (
        [f"failed: {fold.error}"] if fold.report is None else [f"{key}: {fold.value(key):.6f}" for key in fold.report]
    )
    return "  ".join([f"fold {fold.number} of {folds}", *values, f"fit {fold.fit_time:.3g} s"])


def _show_seconds(seconds: float) -> str:
    return f"{seconds:.3g} s" if seconds >= 0.9995 else f"{seconds * 1_000:.{0 if seconds >= 0.01 else 1}f} ms"


def mean_and_sd(values: Sequence[float]) -> tuple[float, float]:
    """The mean and the sample standard deviation; NaN where there are too few values."""
    if not values:
        return math.nan, math.nan
    mean = math.fsum(values) / len(values)
    if len(values) < 2:
        return mean, math.nan
    return mean, math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1))


def corrected_interval(values: Sequence[float], ratio: float, level: float) -> tuple[float, float]:
    """The interval of the mean; `ratio` is the number of test rows to that of training rows.

    The variance of the mean is (1/J + ratio) s² instead of s²/J, since folds that share training rows vary less than
    others would.

    >>> [round(end, 6) for end in corrected_interval([1.0, 2.0, 3.0], 0.5, 0.95)]
    [-1.927767, 5.927767]
    """
    mean, sd = mean_and_sd(values)
    if len(values) < 2:
        return math.nan, math.nan
    reach = -student_quantile((1.0 - level) / 2.0, len(values) - 1) * sd * math.sqrt(1.0 / len(values) + ratio)
    return mean - reach, mean + reach


class Fold(NamedTuple):
    """One split: its report, its times and its test rows. `error` says why there is no report."""

    number: int
    report: Report | None
    train_rows: int
    test_rows: int
    fit_time: float
    score_time: float
    test: Array
    error: str | None = None

    def value(self, key: str) -> float:
        """The value of a metric; NaN if it could not be computed."""
        cell = None if self.report is None else self.report.cell(key)
        return math.nan if cell is None or cell.error is not None else float(cell.value)

    def reason(self, key: str) -> str | None:
        """The reason why the value of a metric is not a number."""
        return self.error if self.report is None else reason_text(self.report.cell(key))


class Score(NamedTuple):
    """A metric over the folds: its values, their mean and sample standard deviation, and the corrected interval.

    Folds in which it is undefined are left out, and `notes` say why; `out_of_fold` is the value over all tested rows.
    """

    metric: str
    values: tuple[float, ...]
    mean: float
    sd: float
    lo: float
    hi: float
    out_of_fold: float
    better: Better
    notes: tuple[str, ...] = ()


class CrossValidation(Mapping[str, Score], DataFrameExport):
    """The scores by metric. `folds` hold every split, `out_of_fold` is the report over all tested rows."""

    _types = {
        **dict.fromkeys(("metric", "reason"), str),
        **dict.fromkeys(("fold", "train_rows", "test_rows"), int),
        **dict.fromkeys(("value", "fit_time", "score_time"), float),
    }

    def __init__(self, folds: list[Fold], out_of_fold: Report, metrics: dict[str, Metric], level: float) -> None:
        self.folds = folds
        self.out_of_fold = out_of_fold
        self.level = level
        self.metrics = metrics
        self._scores = {key: self._score(key, item) for key, item in metrics.items()}

    if not TYPE_CHECKING:  # which knows the attributes

        def __getattr__(self, name: str) -> Any:
            """Say where the figures of a metric are, for those who look for the array of `cross_val_score`."""
            own = {"std": "sd"}.get(name, name)
            if own in Score._fields:
                raise AttributeError(
                    f'a cross-validation has no {name!r}; a metric has: result["{next(iter(self), "auc")}"].{own}',
                    name=name,
                    obj=self,
                )
            return object.__getattribute__(self, name)  # which raises the error, also that of a property

    def _score(self, key: str, item: Metric) -> Score:
        values = [fold.value(key) for fold in self.folds]
        finite = [value for value in values if math.isfinite(value)]
        mean, sd = mean_and_sd(finite)
        lo, hi = corrected_interval(finite, self.ratio, self.level)
        if not math.isnan(lo):
            lo, hi = max(lo, item.range[0]), min(hi, item.range[1])
        notes = [f"fold {fold.number}: {fold.reason(key)}" for fold in self.folds if not math.isfinite(fold.value(key))]
        cell = self.out_of_fold.cell(key)
        whole = math.nan if cell.error is not None else float(cell.value)
        if cell.error is not None:
            notes.append(f"out of fold: {cell.error}")
        return Score(key, tuple(values), mean, sd, lo, hi, whole, item.better, tuple(notes))

    @property
    def ratio(self) -> float:
        """The number of test rows per training row."""
        return math.fsum(fold.test_rows / fold.train_rows for fold in self.folds) / len(self.folds)

    @property
    def fit_time(self) -> float:
        """Seconds of training, over all folds."""
        return math.fsum(fold.fit_time for fold in self.folds)

    @property
    def score_time(self) -> float:
        """Seconds of predicting and scoring, over all folds."""
        return math.fsum(fold.score_time for fold in self.folds)

    def __getitem__(self, key: str | Metric) -> Score:
        if isinstance(key, str) and key in self._scores:
            return self._scores[key]
        cell = self.out_of_fold.cell(key)  # which says what there is
        return self._scores[next(name for name in self.out_of_fold if self.out_of_fold.cell(name) is cell)]

    def __iter__(self) -> Iterator[str]:
        return iter(self._scores)

    def __len__(self) -> int:
        return len(self._scores)

    def to_dict(self) -> dict[str, Any]:
        """Everything but the rows, as plain data."""
        folds = [
            {**{key: value for key, value in fold._asdict().items() if key not in ("report", "test")}}
            for fold in self.folds
        ]
        return {
            "level": self.level,
            "metrics": {key: {**score._asdict(), "values": list(score.values)} for key, score in self.items()},
            "folds": folds,
            "out_of_fold": self.out_of_fold.to_dict(),
        }

    def to_json(self, *, indent: int | None = 2) -> str:
        """The same as JSON; what is undefined is null, with its reason in the notes."""
        return to_json(self.to_dict(), indent)

    def columns(self) -> dict[str, list[Any]]:
        """One row per fold and metric: what the data frames hold."""
        names = ("fold", "metric", "value", "train_rows", "test_rows", "fit_time", "score_time", "reason")
        rows = [
            (
                fold.number,
                key,
                fold.value(key),
                fold.train_rows,
                fold.test_rows,
                fold.fit_time,
                fold.score_time,
                fold.reason(key),
            )
            for fold in self.folds
            for key in self
        ]
        return {name: [row[k] for row in rows] for k, name in enumerate(names)}

    def _frame(self) -> Mapping[str, Any]:
        return self.columns()

    def _table(self) -> Table:
        interval = f"{show_level(self.level)} interval"
        named = {key: self.out_of_fold.name_of_part(key) for key in self}
        rows: list[tuple[object, ...]] = []
        for key, score in self.items():
            lo, hi = (None, None) if math.isnan(score.lo) else (score.lo, score.hi)
            mean, limits = show_estimate(score.mean, lo, hi)
            whole, _ = show_estimate(score.out_of_fold, lo, hi)
            failed = self.out_of_fold.cell(key).error is not None
            rows.append(
                (
                    named[key],
                    "failed" if failed and math.isnan(score.mean) else ShownNumber(score.mean, mean),
                    None if math.isnan(score.sd) else ShownNumber(score.sd, f"{score.sd:.2g}"),
                    limits,
                    "failed" if failed else ShownNumber(score.out_of_fold, whole),
                    show_better(score.better),
                )
            )
        times = [_show_seconds(seconds / len(self.folds)) for seconds in (self.fit_time, self.score_time)]
        notes = [f"mean times of a fold: {times[0]} to fit, {times[1]} to score"]
        if any(not math.isnan(score.lo) for score in self.values()):
            notes.append(f"intervals: Nadeau and Bengio, from the spread of {len(self.folds)} folds")
        notes += [f"{named[key]}, {note}" for key, score in self.items() for note in score.notes]
        title = "1 fold" if len(self.folds) == 1 else f"{len(self.folds):,} folds"
        headings = ("metric", "mean", "sd", interval, "out of fold", "better")
        return Table(
            f"{title} · {self.out_of_fold.title()} tested", headings, rows, notes, numbers=("mean", "sd", "out of fold")
        )

    def __str__(self) -> str:
        return to_text(self._table())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return to_html(self._table())
