"""Which metrics were asked for, under which keys, and what they need together."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from tallymark.data.arguments import check_choice
from tallymark.data.batch import Batch
from tallymark.data.target import Target
from tallymark.errors import (
    EmptyError,
    FormulaError,
    LengthError,
    MissingValueError,
    ParameterError,
    TallymarkError,
    Text,
    WeightError,
    brief,
)
from tallymark.evaluation.group_slices import Slices
from tallymark.evaluation.report import Cell, Report
from tallymark.evaluation.report_source import ReportSource
from tallymark.metrics.answer import Answer
from tallymark.metrics.base import Metric
from tallymark.metrics.fairness.base import GroupMetric
from tallymark.metrics.naming import describe_other, metric
from tallymark.states.groups import Slice
from tallymark.states.plan import Plan, SizeOf, States
from tallymark.states.sums import total_weight

ERRORS = ("cell", "raise")
Wanted = str | Metric | Mapping[str, Any] | Iterable[Any] | None


DATA_FAULTS = (LengthError, WeightError, MissingValueError, EmptyError)  # of the rows, whatever reads them


def select_metrics(wanted: Wanted, batch: Batch | None = None, target: Target | None = None) -> dict[str, Metric]:
    """The metrics under their keys. Without a wish, the set goes by the types of truth and prediction."""
    if wanted is None and batch is not None and target is not None:
        return select_metrics(_default_set(batch, target))
    if isinstance(wanted, Mapping):
        return {_checked_key(key): metric(value) for key, value in wanted.items()} or _none_given()
    if isinstance(wanted, (str, Metric)):
        wanted = [wanted]
    if not isinstance(wanted, Iterable):
        raise ParameterError(
            argument="metrics", expected="be a metric, a name, or a list of them", got=f"{describe_other(wanted)}"
        )
    try:
        items = list(wanted)
    except Exception as error:  # an array of no dimensions, say
        raise ParameterError(
            argument="metrics", expected="be a list of metrics or names", got=f"{describe_other(wanted)}"
        ) from error
    found: dict[str, Metric] = {}
    for item in map(metric, items):
        if found.setdefault(str(item), item) != item:
            raise ParameterError(
                f"two metrics are called {str(item)!r}; give them names: {{'first': ..., 'second': ...}}"
            )
    return found or _none_given()


def _checked_key(key: object) -> str:
    if not isinstance(key, str) or not key:
        raise ParameterError(Text("the keys of {metrics} must be names; one was {}", brief(key)))
    return key


def _none_given() -> dict[str, Metric]:
    raise ParameterError(argument="metrics", expected="name at least one metric", got="none")


VALUES = ["rmse", "mae", "r2"]
LABELS = ["accuracy", "precision(average=macro)", "recall(average=macro)", "fscore(average=macro)"]


PROBABILITIES = ["auc", "logloss", "brier", "accuracy"]
SCORES = ["auc", "average_precision"]
RANKINGS = ["ndcg", "map", "mrr"]
_BY_KIND = {"value": VALUES, "label": LABELS, "probability": PROBABILITIES, "margin": PROBABILITIES, "score": SCORES}


def _default_set(batch: Batch, target: Target) -> list[str]:
    """By the kind that was declared, or by the types; never by the values."""
    if batch.has_query and target.kind in (None, "score"):
        return RANKINGS
    if target.kind is not None:
        return _BY_KIND[target.kind]
    truth, prediction = _type_of(batch, 0), _type_of(batch, 1)
    table = batch.truth_columns == 1 and batch.prediction_columns > 1 and prediction == "real"
    if truth == "real" and not table:
        return VALUES
    if prediction != "real":
        return LABELS
    if truth == "integer" and not table:
        raise ParameterError(
            Text(
                "{metrics} or {kind} must be given: whole numbers as truth with floats as "
                'predictions can be numbers to predict ({kind="value"}), or labels with '
                'probabilities ({kind="probability"}), scores ({kind="score"}) or labels '
                '({kind="label"})'
            ),
            argument="metrics",
        )
    return PROBABILITIES


def _type_of(batch: Batch, side: int) -> str:
    """boolean, integer, real or text, from the type of an input."""
    columns = (batch.truth_columns, batch.prediction_columns)[side]
    if columns == 1:
        return batch.labels(side).type
    kind = (batch.truth if side == 0 else batch.prediction).dtype.kind
    return "real" if kind == "f" else "boolean" if kind == "b" else "integer"


class MetricPlan:
    """Metrics under their keys, the target they share, and the plan of the states that they need."""

    __slots__ = ("_places", "errors", "metrics", "plan", "target")

    def __init__(
        self,
        metrics: dict[str, Metric],
        target: Target,
        columns: tuple[int, int] | None,
        *,
        errors: str,
        failed: dict[str, TallymarkError] | None = None,
    ) -> None:
        self.metrics = metrics
        self.target = target
        self.errors: dict[str, TallymarkError] = failed or {}
        reads = []
        for key, item in metrics.items():
            if key in self.errors:
                continue
            try:
                if columns is not None:  # None: no rows yet, so nothing can be wrong with them
                    item.check_columns(*columns)
                reads.extend(item.all_needs(target))
            except TallymarkError as error:
                if errors == "raise":
                    raise
                self.errors[key] = error
        self.plan = Plan(reads or [SizeOf()])  # rows and weight are counted, whatever the metrics read
        self._places = {
            key: self.plan.place(item.needs(target))
            for key, item in metrics.items()
            if key not in self.errors and not isinstance(item, GroupMetric)
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
            except DATA_FAULTS:
                raise
            except TallymarkError as error:
                unreadable[reads.group] = error
        failed = dict(self.errors)
        for key, item in self.metrics.items():
            groups = [] if key in failed else [each.group for each in item.all_needs(self.target)]
            found = next((unreadable[group] for group in groups if group in unreadable), None)
            if found is not None:
                failed[key] = found
        return MetricPlan(self.metrics, self.target, None, errors="cell", failed=failed)

    def report(
        self,
        states: States,
        *,
        dropped: int,
        errors: str,
        batch: Batch | None = None,
        slices: Sequence[Slice] | None = None,
        by: tuple[str, ...] = (),
        min_rows: int = 1,
    ) -> Report:
        """Read the states: one cell per metric, and the same for every slice by the columns of these names."""
        found = None
        if slices is not None:
            rows = [key for key, item in self.metrics.items() if not isinstance(item, GroupMetric)]
            reports = {each.group: self._report(rows, each.states, errors) for each in slices}
            found = Slices(by, reports, min_rows)
        read_groups = _GroupReader(self, slices, min_rows)
        report = self._report(list(self.metrics), states, errors, batch, dropped, found, read_groups)
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
        n, weight = whole.n, total_weight(whole)
        cells = {key: self._cell(key, states, n, weight, errors, batch, read_groups) for key in keys}
        return Report(cells, n=n, total_weight=weight, dropped=dropped, kind=self.target.kind, slices=slices)

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
        item = self.metrics[key]
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

    __slots__ = ("_chosen", "_min_rows", "_slices")

    def __init__(self, chosen: MetricPlan, slices: Sequence[Slice] | None, min_rows: int) -> None:
        self._chosen = chosen
        self._slices = slices
        self._min_rows = min_rows

    def __call__(self, item: GroupMetric) -> Answer:
        if self._slices is None:
            raise ParameterError(argument="by", expected=f"be given for {item}, which compares groups of rows")
        plan, target = self._chosen.plan, self._chosen.target
        return item.read_slices(self._slices, lambda each: plan.place(each.needs(target)), self._min_rows)


@lru_cache(maxsize=256)
def _remembered(metrics: tuple[tuple[str, Metric], ...], target: Target, columns: tuple[int, int] | None) -> MetricPlan:
    return MetricPlan(dict(metrics), target, columns, errors="raise")


def plan(metrics: dict[str, Metric], target: Target, columns: tuple[int, int] | None, *, errors: str) -> MetricPlan:
    """The chosen metrics and their plan; the same object each time for the same wish, where nothing fails."""
    try:
        return _remembered(tuple(metrics.items()), target, columns)
    except TallymarkError:
        return MetricPlan(metrics, target, columns, errors=errors)
    except TypeError:  # a function metric around something that cannot be hashed
        return MetricPlan(metrics, target, columns, errors=errors)


def check_errors(errors: str) -> None:
    """Refuse an unknown way to treat metrics that cannot be computed."""
    check_choice("errors", errors, ERRORS)
