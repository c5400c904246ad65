"""tm.evaluate: many metrics on the same rows. A `MetricPlan` joins the states they need, so each is computed once."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from tallymark.data.arguments import check_choice, check_min_rows, describe
from tallymark.data.arrays import column_names
from tallymark.data.batch import Batch
from tallymark.data.target import Target, target_of
from tallymark.errors import (
    Argument,
    EmptyError,
    FormulaError,
    LengthError,
    MissingValueError,
    ParameterError,
    TallymarkError,
    Text,
    TypeOfDataError,
    WeightError,
)
from tallymark.evaluation.default_metrics import (
    MetricsLike,
    default_kind,
    default_metrics,
    select_metrics,
)
from tallymark.evaluation.group_slices import Slices
from tallymark.evaluation.report import INFERRED_KINDS, Cell, Report, ReportSource
from tallymark.intervals.settings import Intervals, interval_settings
from tallymark.metrics.answer import Answer
from tallymark.metrics.base import Metric
from tallymark.metrics.fairness.base import GroupMetric, show_group
from tallymark.states.base import Plan, Reads, States
from tallymark.states.groups import Slice, group_columns, slice_states
from tallymark.states.sums import SizeOf

ERROR_MODES = ("raise", "report")
ROW_ERRORS = (LengthError, WeightError, MissingValueError, EmptyError)  # no metric can read such rows


def evaluate(
    y_true: object,
    y_pred: object = None,
    *rest: Any,
    metrics: MetricsLike = None,
    truth: str | Sequence[str] | None = None,
    prediction: str | Sequence[str] | None = None,
    weights: object = None,
    query: object = None,
    target: Target | None = None,
    kind: str | None = None,
    classes: object = None,
    positive: object = None,
    normalize: bool = False,
    missing: str = "error",
    errors: str = "raise",
    by: object = None,
    min_rows: int = 1,
    ci: float | Intervals | None = None,
    cluster: object = None,
    keys: object = None,
    **parameters: Any,
) -> Report:
    """Evaluate many metrics in one pass over the rows.

    Call `evaluate(y_true, y_pred, metrics)` with arrays, or `evaluate(frame, "y", "p", metrics)` with a data frame, a
    table or a file and the names of its columns. All arguments that are columns are then names, as in `evaluate_table`.

    Args:
        y_true: The truth, one value or label per row; several columns are several outputs. Or a table.
        y_pred: The predictions in the same order: one column, or one per class, output or quantile. Or the name of the
            truth column of a table.
        rest: The metrics; for a table, the prediction columns, then the metrics.
        metrics: Names and metrics, or a mapping that gives them names of your own. The default depends on what the
            columns contain, and a note in the report says how they were read: RMSE, MAE and R² for numbers; accuracy,
            precision, recall and F1 for labels (macro unless there are two classes and one is positive); ROC AUC, log
            loss, Brier score and accuracy for probabilities; NDCG, MAP and MRR with `query`.
        truth: The truth columns of a table.
        prediction: The prediction columns of a table.
        weights: One weight per row, finite and not negative.
        query: The query that each row belongs to, for ranking metrics.
        target: A `Target`, which combines `kind`, `classes`, `positive` and `normalize`.
        kind: What the predictions are, if it cannot be inferred from the type: "value", "label", "probability" (of the
            positive class, or one column per class), "margin" (before sigmoid or softmax) or "score".
        classes: All classes, in the order of the prediction columns; by default the sorted labels of the rows.
        positive: The positive class; by default 1 if the other class is 0 or -1.
        normalize: True divides the probabilities of each row by their sum.
        missing: "error" refuses missing values; "drop" leaves out and counts the rows that have any.
        errors: "raise" raises the error of a metric that cannot be computed, and its `report` has the others;
            "report" keeps a failed cell. Default metrics always keep failed cells, unless all of them fail.
        by: The group of each row: one column of labels, or a table or mapping of several. Every metric is also computed
            for every group, as `report.slices`; group metrics such as `gap("recall")` compare the groups.
        min_rows: Group metrics leave out groups with fewer rows.
        ci: A confidence level such as 0.95 puts a confidence interval around every number, as `cell.lo` and `cell.hi`:
            by formula if the metric has one, else by bootstrap. `Intervals(...)` also sets the method, the number of
            bootstrap replicates and the seed.
        cluster: A label per row; rows with the same label, such as those of one patient, are resampled together.
        keys: A unique label per row, such as an id. Rows are then resampled by key instead of position, so that neither
            their order nor the batches of a `Tally` change the interval.
        parameters: Parameters such as `average="macro"` or `threshold=0.3`, for every metric that has them.

    >>> report = evaluate([3, -0.5, 2, 7], [2.5, 0, 2, 8], ["rmse", "mae"])
    >>> report["mae"]
    0.5
    >>> print(report)
    4 rows
    <BLANKLINE>
    metric   value  better  unit
    ──────  ──────  ──────  ─────────
    RMSE    0.6124  lower   same as y
    MAE     0.5     lower   same as y
    """
    if type(y_true) is not np.ndarray and hasattr(y_true, "predict"):
        raise TypeOfDataError(
            argument="y_true",
            expected="be an array or a sequence, one item per row",
            got=describe(y_true),
            hint="For a fitted model, call tm.evaluate_model(model, X, y)",
        )
    if type(y_pred) is dict:
        raise TypeOfDataError(
            argument="y_pred",
            expected="be the predictions of one model",
            got=describe(y_pred),
            hint="To compare models, call tm.compare(y_true, models)",
        )
    by_name = y_pred is None or truth is not None or prediction is not None
    if by_name or (type(y_pred) is not np.ndarray and _names_columns(y_true, y_pred)):
        truth, prediction, metrics = _read_column_arguments(y_pred, rest, truth, prediction, metrics)
        from tallymark.evaluation.table import evaluate_table  # reads files and frames of any kind

        columns: dict[str, Any] = {"weights": weights, "query": query, "by": by, "cluster": cluster, "keys": keys}
        facts: dict[str, Any] = {"kind": kind, "classes": classes, "positive": positive, "normalize": normalize}
        return evaluate_table(
            y_true,
            truth,
            prediction,
            metrics,
            **columns,
            **facts,
            target=target,
            missing=missing,
            errors=errors,
            min_rows=min_rows,
            ci=ci,
            **parameters,
        )
    if rest:
        frame: Any = y_true if hasattr(rest[0], "__array__") and column_names(y_true) is not None else None
        if frame is not None and len(rest[0]) == len(frame):  # as in evaluate(frame, frame.y, frame.p)
            raise ParameterError(_HOW_TO_CALL)
        if len(rest) > 1 or metrics is not None:
            raise ParameterError(
                Text("evaluate takes {y_true}, {y_pred} and {metrics}; pass everything else by keyword")
            )
        metrics = rest[0]
    check_errors(errors)
    about = target_of(target, kind, classes, positive, normalize)
    columns_of_groups = None if by is None else group_columns(by)
    if check_min_rows(min_rows) > 1 and by is None:
        raise ParameterError(
            Text("{min_rows} is the smallest group size to compare: pass {by}, the groups, too"),
            argument="min_rows",
        )
    settings = interval_settings(ci, cluster=cluster is not None, keys=keys is not None)
    batch = Batch(
        y_true, y_pred, weights, missing=missing, query=query, by=columns_of_groups, cluster=cluster, keys=keys
    )
    return evaluate_batch(
        batch, metrics, about, errors=errors, min_rows=min_rows, settings=settings, parameters=parameters
    )


_HOW_TO_CALL = (
    'call evaluate(y_true, y_pred) with arrays, or evaluate(frame, "y", "p") with a table and the names of its truth '
    "and prediction columns"
)


def _names_columns(y_true: object, y_pred: object) -> bool:
    """Whether the second argument names columns of the first: one, or several columns of a table that has them."""
    if isinstance(y_pred, str):
        return True
    if not isinstance(y_pred, (list, tuple)) or isinstance(y_true, (list, tuple, np.ndarray)):
        return False
    known = list(y_true) if isinstance(y_true, Mapping) else column_names(y_true)
    return known is not None and bool(y_pred) and set(map(type, y_pred)) == {str} and set(y_pred) <= set(known)


def _read_column_arguments(
    y_pred: Any, rest: tuple[Any, ...], truth: Any, prediction: Any, metrics: MetricsLike
) -> tuple[Any, Any, MetricsLike]:
    """Truth and prediction columns and metrics of a call with a table."""
    given = [] if y_pred is None else [y_pred, *rest]
    named = {"truth": truth, "prediction": prediction, "metrics": metrics}
    for name, value in zip(named, given, strict=False):
        if named[name] is not None:
            raise ParameterError(Text("{} is given twice, by position and by name", Argument(name)), argument=name)
        named[name] = value
    if len(given) > len(named) or named["truth"] is None or named["prediction"] is None:
        raise ParameterError(_HOW_TO_CALL)
    return named["truth"], named["prediction"], named["metrics"]


def evaluate_batch(
    batch: Batch,
    metrics: MetricsLike,
    target: Target,
    *,
    errors: str = "raise",
    min_rows: int = 1,
    settings: Intervals | None = None,
    parameters: Mapping[str, Any] | None = None,
) -> Report:
    """The report of rows that have been read already. Default metrics may fail, but not all of them."""
    batch.require_rows()
    kind = default_kind(batch, target) if metrics is None else None
    if kind is None:
        selected = select_metrics(metrics, parameters=parameters)
    else:
        selected = default_metrics(batch, target, kind, parameters)
    strict = errors if kind is None else "report"
    metric_plan = plan_metrics(selected, target, (batch.truth_columns, batch.prediction_columns), errors=strict)
    report = evaluate_planned(batch, metric_plan, errors=strict, min_rows=min_rows, settings=settings)
    report.inferred_kind = kind if target.kind is None and kind in INFERRED_KINDS else None
    if kind is not None and errors == "raise" and len(report.failures) == len(report):
        raise_failures(report)
    return report


def plan_batch(batch: Batch, metrics: MetricsLike, target: Target, *, errors: str) -> MetricPlan:
    """The metrics for rows that have been read already, and their plan."""
    selected = select_metrics(metrics, batch, target)
    return plan_metrics(selected, target, (batch.truth_columns, batch.prediction_columns), errors=errors)


def evaluate_planned(
    batch: Batch,
    metric_plan: MetricPlan,
    *,
    errors: str = "raise",
    min_rows: int = 1,
    settings: Intervals | None = None,
) -> Report:
    """The report of rows that have been read, by a plan that has been made."""
    try:
        return _evaluate_planned(batch, metric_plan, errors, min_rows, settings)
    except ROW_ERRORS:
        raise
    except TallymarkError as error:
        if errors != "raise":
            raise
        try:
            report = _evaluate_planned(batch, metric_plan, "report", min_rows, settings)
        except TallymarkError:
            raise error from None
        raise_failures(report)
        raise


def _evaluate_planned(
    batch: Batch, metric_plan: MetricPlan, errors: str, min_rows: int, settings: Intervals | None
) -> Report:
    try:
        states = metric_plan.fold(batch)
    except ROW_ERRORS:
        raise
    except TallymarkError:
        if errors == "raise":
            raise
        metric_plan = metric_plan.without_unreadable(batch)
        states = metric_plan.fold(batch)
    slices = slice_states(batch, states) if batch.group_names else None
    of_groups: dict[str, Any] = {"slices": slices, "by": batch.group_names, "min_rows": min_rows}
    report = metric_plan.report(states, dropped=batch.dropped, errors=errors, batch=batch, **of_groups)
    if settings is not None:
        from tallymark.evaluation.report_intervals import add_intervals  # most calls ask for none

        add_intervals(report, settings, metric_plan, states, batch, slices)
    if report.slices is not None and len(batch.group_names) > 1:

        def slices_by(name: str) -> Slices:
            by_column = evaluate_planned(
                batch.grouped_by(name), metric_plan, errors=errors, min_rows=min_rows, settings=settings
            ).slices
            assert by_column is not None
            return by_column

        report.slices.read_column = slices_by
    batch.memo.clear()  # the report keeps the rows, and should keep no more
    return report


def raise_failures(report: Report) -> None:
    """Raise the error of the first metric that could not be computed; it carries the report with the others."""
    for group, part in [(None, report), *(report.slices or {}).items()]:
        for key, error in part.failures.items():
            if len(part) > 1 and part.cell(key).metric.name not in str(error) and key not in str(error):
                error.add_place(key)
            if group is not None:
                error.add_place(f"group {show_group(group)}")
            error.report = report
            raise error


class MetricPlan:
    """Metrics under their keys, the target they share, and the plan of the states that they need.

    `of_slices` are the metrics of a group of rows: those of rows, and those that metrics of groups compare.
    """

    __slots__ = ("_places", "errors", "metrics", "of_slices", "plan", "target", "unreadable")

    def __init__(
        self,
        metrics: dict[str, Metric],
        target: Target,
        columns: tuple[int, int] | None,
        *,
        errors: str,
        unreadable: Mapping[str, TallymarkError] | None = None,
    ) -> None:
        self.metrics = metrics
        self.target = target
        self.unreadable = unreadable or {}  # the errors of metrics that could not read some rows
        self.errors: dict[str, TallymarkError] = dict(self.unreadable)
        reads: list[Reads] = []
        wanted: set[Hashable] = set()
        for key, item in metrics.items():
            try:
                if columns is not None:  # None: no rows yet, so nothing can be wrong with them
                    item.check_columns(*columns)
                needs = item.all_needs(target)
            except TallymarkError as error:
                if errors == "raise":
                    raise
                self.errors.setdefault(key, error)
                continue
            reads.extend(needs)
            if key not in self.errors:
                wanted.update(each.group for each in needs)
        self.plan = Plan(reads).part(wanted) if self.unreadable else Plan(reads)
        if not wanted:
            self.plan = Plan([SizeOf()])  # rows and weight are counted, whatever the metrics read
        comparing = {key: item for key, item in metrics.items() if isinstance(item, GroupMetric)}
        self.of_slices = {key: item for key, item in metrics.items() if key not in comparing}
        for key, item in comparing.items():
            compared = () if key in self.errors else [each for each in item.of if each not in metrics.values()]
            self.of_slices |= {str(each): each for each in compared if str(each) not in metrics}
        self._places = {
            key: self.plan.place(item.needs(target)) for key, item in self.of_slices.items() if key not in self.errors
        }

    def fold(self, batch: Batch) -> States:
        """The states of a batch."""
        if self.errors:
            batch.require_present()  # what no state reads must not hide a fault
        return self.plan.fold(batch)

    def without_unreadable(self, batch: Batch) -> MetricPlan:
        """The same metrics, where those that cannot read these rows are failed cells and the others compute."""
        batch.require_present()
        unreadable: dict[Hashable, TallymarkError] = {}
        for reads in self.plan.reads:
            try:
                Plan([reads]).fold(batch)
            except ROW_ERRORS:
                raise
            except TallymarkError as error:
                unreadable[reads.group] = error
        failed = dict(self.unreadable)
        for key, item in self.metrics.items():
            groups = [] if key in self.errors else [each.group for each in item.all_needs(self.target)]
            failure = next((unreadable[group] for group in groups if group in unreadable), None)
            if failure is not None:
                failed[key] = failure
        columns = (batch.truth_columns, batch.prediction_columns)
        return MetricPlan(self.metrics, self.target, columns, errors="report", unreadable=failed)

    def report(
        self,
        states: States,
        *,
        dropped: int,
        errors: str = "report",
        batch: Batch | None = None,
        slices: Sequence[Slice] | None = None,
        by: tuple[str, ...] = (),
        min_rows: int = 1,
    ) -> Report:
        """Read the states: one cell per metric, and the same for every slice by the columns of these names."""
        group_slices = None
        if slices is not None:
            reports = {each.group: self._report(list(self.of_slices), each.states, errors) for each in slices}
            group_slices = Slices(by, reports, min_rows)
        read_groups = _GroupReader(self, slices, min_rows)
        report = self._report(list(self.metrics), states, errors, batch, dropped, group_slices, read_groups)
        report._source = ReportSource(self, states, batch)
        return report

    def _report(
        self,
        keys: list[str],
        states: States,
        errors: str,
        batch: Batch | None = None,
        dropped: int = 0,
        slices: Slices | None = None,
        read_groups: _GroupReader | None = None,
    ) -> Report:
        whole = states[0]
        n, weight = whole.n, whole.total_weight
        cells = {key: self._cell(key, states, n, weight, errors, batch, read_groups) for key in keys}
        return Report(
            cells,
            n=n,
            total_weight=weight,
            dropped=dropped,
            kind=self.target.kind,
            slices=slices,
            positive=self.target.positive,
        )

    def _cell(
        self,
        key: str,
        states: States,
        n: int,
        weight: float,
        errors: str,
        batch: Batch | None,
        read_groups: _GroupReader | None,
    ) -> Cell:
        item = self.metrics[key] if key in self.metrics else self.of_slices[key]
        failure: TallymarkError
        try:
            if key in self.errors:
                raise self.errors[key]
            if isinstance(item, GroupMetric) and read_groups is not None:
                answer = read_groups(item)
            else:
                answer = item.answer(states[self._places[key]], batch)
            value, reason, notes, lo, hi, method = answer
            return Cell(item, value, n, weight, reason, notes, None, lo, hi, method)
        except TallymarkError as error:
            failure = error
        except Exception as error:  # a formula of the user's own may raise anything
            failure = FormulaError(f"the formula of {item} failed: {type(error).__name__}: {error}")
            failure.__cause__ = error
        if errors == "raise":
            raise failure
        return Cell(item, None, n, weight, error=failure)


class _GroupReader:
    """Reads metrics of groups from slices."""

    __slots__ = ("_metric_plan", "_min_rows", "_slices")

    def __init__(self, metric_plan: MetricPlan, slices: Sequence[Slice] | None, min_rows: int) -> None:
        self._metric_plan = metric_plan
        self._slices = slices
        self._min_rows = min_rows

    def __call__(self, item: GroupMetric) -> Answer:
        if self._slices is None:
            raise ParameterError(argument="by", expected=f"be given for {item}, which compares groups of rows")
        plan, target = self._metric_plan.plan, self._metric_plan.target
        return item.read_slices(self._slices, lambda each: plan.place(each.needs(target)), self._min_rows)


@lru_cache(maxsize=256)
def _cached_plan(
    metrics: tuple[tuple[str, Metric], ...], target: Target, columns: tuple[int, int] | None
) -> MetricPlan:
    return MetricPlan(dict(metrics), target, columns, errors="raise")


def plan_metrics(
    metrics: dict[str, Metric], target: Target, columns: tuple[int, int] | None, *, errors: str
) -> MetricPlan:
    """The plan of these metrics; the same object for the same metrics, target and columns, unless one of them fails."""
    try:
        return _cached_plan(tuple(metrics.items()), target, columns)
    except TallymarkError:
        return MetricPlan(metrics, target, columns, errors=errors)
    except TypeError:  # a function metric around something that cannot be hashed
        return MetricPlan(metrics, target, columns, errors=errors)


def check_errors(errors: str) -> None:
    """Require a known way to treat metrics that cannot be computed."""
    check_choice("errors", errors, ERROR_MODES)
