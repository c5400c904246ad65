"""Tally: metrics over rows that come in pieces. Pieces add in any order and give the same value to the last bit."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from copy import copy
from threading import RLock
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tallymark.data.arguments import check_min_rows, check_path
from tallymark.data.batch import Batch, check_missing
from tallymark.data.labels import MOST_BITS
from tallymark.data.target import Target, target_of
from tallymark.errors import FileError, ParameterError, ShapeError, StateError, TallymarkError, Text, brief, from_dict
from tallymark.evaluation.default_metrics import (
    DEFAULTS_BY_KIND,
    MetricsLike,
    check_default_parameters,
    default_kind,
    metrics_of_kind,
    select_metrics,
)
from tallymark.evaluation.evaluate import ROW_ERRORS, MetricPlan, check_errors, plan_metrics, raise_failures
from tallymark.evaluation.report import INFERRED_KINDS, Report
from tallymark.intervals.settings import Intervals, as_intervals, check_whole, resampled_by, resolve
from tallymark.metrics.base import Metric
from tallymark.metrics.fairness.base import GroupMetric
from tallymark.metrics.naming import metric
from tallymark.states.base import Plan, Reads, State, States
from tallymark.states.groups import Group, Slice, group_columns, sorted_groups, split
from tallymark.states.resampling.keys import row_keys
from tallymark.states.resampling.replicates import MOST_RESAMPLES, Resampled
from tallymark.states.serialization import count_of, unpack_columns
from tallymark.states.sums import Size

if TYPE_CHECKING:
    from tallymark.evaluation.group_slices import Slices
    from tallymark.intervals.maker import IntervalPlan


class TallyStates(NamedTuple):
    """The states of some rows, all of them or those of a group."""

    values: States
    intervals: States = ()

    @property
    def n(self) -> int:
        """How many rows there are."""
        return self.values[0].n

    def plus(self, other: TallyStates) -> TallyStates:
        """The states of both sets of rows."""
        return TallyStates(Plan.add(self.values, other.values), Plan.add(self.intervals, other.intervals))

    def without_keys(self) -> TallyStates:
        """The states without the replicates of rows that cannot be told from others."""
        states = (state.without_keys() if isinstance(state, Resampled) else state for state in self.intervals)
        return TallyStates(self.values, tuple(states))

    def resolved_by(self, whole: TallyStates) -> TallyStates:
        """The states of a group, with the classes of all rows."""
        return TallyStates(_resolve_states(self.values, whole.values), _resolve_states(self.intervals, whole.intervals))

    def fits(self, columns: tuple[int, int] | None, reads: list[Any]) -> bool:
        """Whether the states answer these declarations, and are of as many rows and columns. Those of intervals need
        not hold rows that weigh nothing, and resamples may be of some rows only."""
        states = [*self.values, *self.intervals]
        if [state.reads for state in states] != reads or not states:
            return False
        of_all = {(state.columns, state.n) for state in self.values}
        weight = {state.weight for state in states if not isinstance(state, Resampled)}
        of_some = [state for state in self.intervals if state.n]
        fitting = all(state.columns == columns and state.n <= self.n for state in of_some)
        return fitting and of_all <= {(columns, self.n)} and len(weight) <= 1


def _resolve_states(states: States, whole: States) -> States:
    return tuple(mine.with_reads(every.reads.resolved(None, every)) for mine, every in zip(states, whole, strict=True))


StatesByGroup = dict[Group, TallyStates]


def add_states_by_group(left: Mapping[Group, TallyStates], right: Mapping[Group, TallyStates]) -> StatesByGroup:
    """The groups of both sets of rows."""
    out = dict(left)
    for group, piece in right.items():
        out[group] = out[group].plus(piece) if group in out else piece
    return out


def resolve_groups(groups: Mapping[Group, TallyStates], whole: TallyStates) -> dict[Group, TallyStates]:
    """The groups in order, with the classes of all rows."""
    return {group: groups[group].resolved_by(whole) for group in sorted_groups(groups)}


def slices_from_states(groups: Mapping[Group, TallyStates]) -> list[Slice]:
    """Groups of which only the states are known, as slices."""
    return [Slice(group, None, piece.values) for group, piece in groups.items()]


def pack_states(states: States) -> list[Any]:
    """States as the byte format writes them."""
    return [[type(state).__name__, state.fields()] for state in states]


def unpack_states(packed: Any) -> States:
    """The states that `pack_states` wrote."""
    return tuple(State.restore(name, fields) for name, fields in packed)


def pack_groups(groups: Mapping[Group, TallyStates]) -> list[Any]:
    """Groups as the byte format writes them, in order."""
    out = []
    for group in sorted_groups(groups):
        piece = groups[group]
        labels = list(group) if isinstance(group, tuple) else [group]
        out.append([labels, pack_states(piece.values), pack_states(piece.intervals)])
    return out


def _is_label(label: object) -> bool:
    """Whether this is a label of a group; NaN is none, since it is not even itself."""
    if isinstance(label, int):
        return label.bit_length() <= MOST_BITS
    return type(label) in (float, str) and label == label


def unpack_groups(packed: Any, by: tuple[str, ...]) -> StatesByGroup:
    """The groups that `pack_groups` wrote, of so many columns."""
    out: StatesByGroup = {}
    for labels, values, intervals in packed:
        if type(labels) is not list or len(labels) != len(by) or not all(map(_is_label, labels)):
            raise StateError("a group has one label per column")
        group = labels[0] if len(by) == 1 else tuple(labels)
        if group in out:
            raise StateError(f"duplicate group {group!r}")
        out[group] = TallyStates(unpack_states(values), unpack_states(intervals))
    return out


def _pick(states: States, wanted: Sequence[Reads]) -> States:
    """The states of some of the declarations; rows and weight can be read from any state."""
    by_group = {state.reads.group: state for state in states}
    size = Size(states[0].columns, states[0].n, states[0].weight) if states else None
    return tuple(by_group.get(reads.group, size) for reads in wanted)  # type: ignore[misc]


class _Contents(NamedTuple):
    """What a tally holds of its rows. An update replaces it as a whole, so a reader never sees half an update."""

    whole: TallyStates | None = None
    groups: StatesByGroup = {}
    columns: tuple[int, int] | None = None
    numbered: bool = False  # whether rows are numbered by their place in this tally
    dropped: int = 0
    kind: str | None = None  # what the rows look like, where metrics were not named
    failures: Mapping[str, TallymarkError] = {}  # the errors of metrics that could not read some rows

    @property
    def n(self) -> int:
        return 0 if self.whole is None else self.whole.n


class Tally:
    """Metrics over rows that arrive in batches: update a tally, add it to others, and read a report at any time.

    Threads may share a tally: its updates run one after the other, and every reader sees a whole number of them.

    Args:
        metrics: Names and metrics, or a mapping that gives them names of your own. The default follows from what the
            first rows contain, as in `evaluate`; later rows that look different are an error that asks for `kind`.
        by: The names of the columns of groups. Each update then passes the groups of its rows, every metric is kept for
            every group, and group metrics compare the groups.
        ci: As in `evaluate`. Intervals by formula need a few more totals. A bootstrap keeps one state per replicate:
            1,000 of them take about 1 MB for a metric of few totals and tens of milliseconds per update, so pass rows
            in large batches. A state that grows with the rows is not kept for replicates: such a metric has an interval
            by formula or none, and a note says so.
        errors: "raise" refuses rows that one of the named metrics cannot read; the `report` of the error has the other
            metrics. "report" keeps a failed cell, as default metrics do.
        parameters: Parameters such as `average="macro"` or `threshold=0.3`, for every metric that has them.

    >>> monday, tuesday = Tally(["rmse", "mae"]), Tally(["rmse", "mae"])
    >>> monday.update([3, -0.5], [2.5, 0])
    Tally(rmse, mae; 2 rows)
    >>> tuesday.update([2, 7], [2, 8])
    Tally(rmse, mae; 2 rows)
    >>> (monday + tuesday).report()["rmse"]
    0.6123724356957945
    """

    def __init__(
        self,
        metrics: MetricsLike = None,
        *,
        target: Target | None = None,
        kind: str | None = None,
        classes: object = None,
        positive: object = None,
        normalize: bool = False,
        missing: str = "error",
        by: str | Sequence[str] | None = None,
        ci: float | Intervals | None = None,
        errors: str = "raise",
        **parameters: Any,
    ) -> None:
        self._named: dict[str, Metric] | None = None
        self._parameters: dict[str, Any] = {}  # of default metrics
        if metrics is not None:
            self._named = select_metrics(metrics, parameters=parameters)
        elif parameters:
            self._parameters = check_default_parameters(parameters)
        self.by = _group_names(by)
        for item in (self._named or {}).values():
            if isinstance(item, GroupMetric) and not self.by:
                raise ParameterError(
                    argument="by", expected=f"name the columns of groups that {item} compares, such as by='country'"
                )
        self.target = target_of(target, kind, classes, positive, normalize)
        check_errors(errors)
        self.errors = errors
        if errors == "raise" and self._named is not None:
            plan_metrics(self._named, self.target, None, errors="raise")  # what no rows can help
        check_missing(missing)
        self.missing = missing
        self.interval: Intervals | None = None if ci is None else _limit_resamples(as_intervals(ci))
        self._contents = _Contents()
        self._lock = RLock()  # reentrant, since reading labels may run code of the caller's

    if not TYPE_CHECKING:  # which knows the attributes

        def __getattr__(self, name: str) -> Any:
            """Say what stands for the methods of torchmetrics and Keras."""
            if name in _INSTEAD:
                raise AttributeError(f"a tally has no {name!r}; use {_INSTEAD[name]}", name=name, obj=self)
            return object.__getattribute__(self, name)  # which raises the error, also that of a property

    @property
    def metrics(self) -> dict[str, Metric]:
        """The metrics; if none were named, the defaults for the rows so far."""
        return self._metrics(self._contents)

    def _metrics(self, contents: _Contents) -> dict[str, Metric]:
        if self._named is not None or contents.kind is None:
            return self._named or {}
        state = None
        if contents.kind == "label" and contents.whole is not None:
            first = next(iter(metrics_of_kind(contents.kind, self.target, None, self._parameters).values()))
            wanted = first.needs(self.target).group  # the counts of labels
            state = next(each for each in contents.whole.values if each.reads.group == wanted)
        return metrics_of_kind(contents.kind, self.target, state, self._parameters)

    @property
    def n(self) -> int:
        """The number of rows."""
        return self._contents.n

    @property
    def dropped(self) -> int:
        """The number of rows left out for missing values."""
        return self._contents.dropped

    @property
    def failures(self) -> dict[str, TallymarkError]:
        """The errors of metrics that could not read some of the rows, by key."""
        return dict(self._contents.failures)

    def update(
        self,
        y_true: object,
        y_pred: object,
        *,
        weights: object = None,
        query: object = None,
        by: object = None,
        keys: object = None,
        cluster: object = None,
    ) -> Tally:
        """Add rows. If they are refused, the tally does not change.

        `by` is the group of each row if the tally has groups: one column, or a mapping or table of all of them.

        `keys` is a unique label per row, across all tallies that will be added: an id, or the position among all rows.
        Rows are resampled by key, so that intervals do not depend on the batches. Without `keys`, rows are numbered in
        order of arrival, and bootstrap intervals do not survive a sum of tallies. Rows with the same `cluster` are
        resampled together.
        """
        if self.interval is None and (keys is not None or cluster is not None):
            raise resampled_by("keys" if cluster is None else "cluster")
        labels: dict[str, Any] = {"query": query, "by": self._group_columns(by), "cluster": cluster, "keys": keys}
        batch = Batch(y_true, y_pred, weights, missing=self.missing, whole=False, **labels)
        try:
            return self._update(batch)
        except ROW_ERRORS:
            raise
        except TallymarkError as error:
            with suppress(TallymarkError):
                error.report = copy(self)._update(batch, keep_failures=True).report(errors="report")
            raise

    def _update(self, batch: Batch, *, keep_failures: bool = False) -> Tally:
        """Add rows that have been read already. With `keep_failures`, metrics that cannot read them fail, if not all.

        Kernels run outside the lock, so that threads fold in parallel; rows that are numbered for intervals wait for
        their numbers.
        """
        columns = (batch.truth_columns, batch.prediction_columns)
        folded = None
        kind = default_kind(batch, self.target) if self._named is None and batch.n else None
        if batch.n and self.interval is None:
            self._check_columns(columns)
            folded = self._fold(batch, kind, keep_failures)
        with self._lock:
            if not batch.n:
                contents = self._contents
                self._contents = contents._replace(dropped=contents.dropped + batch.dropped)
                return self
            self._check_columns(columns)
            added = folded or self._fold(batch, kind, keep_failures)
            _check_same_kind(self._contents.kind, kind)
            self._contents = self._join(self._contents, added)
        return self

    def _join(self, left: _Contents, right: _Contents) -> _Contents:
        """The contents of both sets of rows. A metric that failed in one of them has failed."""
        failures = {**right.failures, **left.failures}
        left, right = self._without_failed(left, failures), self._without_failed(right, failures)
        whole = left.whole or right.whole
        if left.whole is not None and right.whole is not None:
            whole = left.whole.plus(right.whole)
        return _Contents(
            whole,
            add_states_by_group(left.groups, right.groups),
            left.columns or right.columns,
            left.numbered or right.numbered,
            left.dropped + right.dropped,
            left.kind or right.kind,
            failures,
        )

    def _without_failed(self, contents: _Contents, failures: Mapping[str, TallymarkError]) -> _Contents:
        """The contents without the states that only failed metrics read."""
        if contents.whole is None or contents.failures.keys() == failures.keys():
            return contents
        metric_plan = self._plan(self._metrics(contents), contents.columns, failures)
        values = metric_plan.plan.reads
        intervals: tuple[Reads, ...] = ()
        if self.interval is not None:
            intervals = self._interval_plan(metric_plan, contents.columns).states.reads

        def part(piece: TallyStates) -> TallyStates:
            return TallyStates(_pick(piece.values, values), _pick(piece.intervals, intervals))

        groups = {group: part(piece) for group, piece in contents.groups.items()}
        return contents._replace(whole=part(contents.whole), groups=groups)

    def _check_columns(self, columns: tuple[int, int]) -> None:
        earlier = self._contents.columns
        if earlier is not None and columns != earlier:
            raise ShapeError(
                Text(
                    "{y_true} and {y_pred} must keep their {} and {} columns; got {} and {}",
                    earlier[0],
                    earlier[1],
                    columns[0],
                    columns[1],
                ),
                argument="y_true",
            )

    def _group_columns(self, by: object) -> dict[str, object] | None:
        """The groups of rows under the names that this tally has for them."""
        if by is None and not self.by:
            return None
        if by is None or not self.by:
            how = f"was made with by={list(self.by)}" if self.by else "was made without"
            raise ParameterError(
                Text("{by} must be given for a tally and for its rows, or for neither; the tally {}", how),
                argument="by",
            )
        columns = group_columns(by)
        if len(columns) == len(self.by) == 1:
            return dict(zip(self.by, columns.values(), strict=True))
        if set(columns) != set(self.by):
            raise ParameterError(
                argument="by", expected=f"have the columns {', '.join(self.by)}", got=f"{', '.join(columns)}"
            )
        return {name: columns[name] for name in self.by}

    def _fold(self, batch: Batch, kind: str | None, keep_failures: bool) -> _Contents:
        """The contents of a tally of these rows."""
        columns = (batch.truth_columns, batch.prediction_columns)
        numbered = batch.key_side is None and batch.cluster_side is None
        metrics = self._metrics(_Contents(kind=kind))
        metric_plan = self._plan(metrics, columns, self._contents.failures)
        try:
            values = metric_plan.fold(batch)
        except ROW_ERRORS:
            raise
        except TallymarkError:
            metric_plan = metric_plan.without_unreadable(batch)
            keeps = (keep_failures or self._named is None) and len(metric_plan.errors) < len(metrics)
            if self.errors == "raise" and not keeps:
                raise
            values = metric_plan.fold(batch)
        whole, groups = TallyStates(values), dict[Group, TallyStates]()
        if self.interval is None:
            groups = {group: TallyStates(metric_plan.fold(rows)) for group, rows in self._split(batch)}
        else:
            whole, groups = self._fold_for_intervals(batch, metric_plan, values, numbered=numbered)
        return _Contents(whole, groups, columns, numbered, batch.dropped, kind, metric_plan.unreadable)

    def _fold_for_intervals(
        self, batch: Batch, metric_plan: MetricPlan, values: States, *, numbered: bool
    ) -> tuple[TallyStates, StatesByGroup]:
        """The states of rows with those of their intervals, and of each of their groups."""
        if self.n and numbered != self._contents.numbered:
            raise ParameterError(
                Text(
                    "{keys} or {cluster} must be given for all rows of a tally or for none, since "
                    "rows are resampled by them; earlier rows had {}",
                    "none" if self._contents.numbered else "some",
                ),
                argument="keys",
            )
        if numbered:
            batch.keys = np.arange(self.n, self.n + batch.n, dtype=np.uint64)
        if batch.weights is not None:
            row_keys(batch)  # a fault in them names the row, of which some may go now
        counted = batch.without_zero_weights()
        plan = self._interval_plan(metric_plan, (batch.truth_columns, batch.prediction_columns)).states
        whole = TallyStates(values, plan.fold(counted))
        parts = dict(self._split(counted))
        groups = {
            group: TallyStates(metric_plan.fold(rows), plan.fold(parts[group]) if group in parts else plan.zero())
            for group, rows in self._split(batch)
        }
        return whole, groups

    def _split(self, batch: Batch) -> list[tuple[Group, Batch]]:
        return split(batch) if self.by else []

    def _interval_plan(self, metric_plan: MetricPlan, columns: tuple[int, int] | None) -> IntervalPlan:
        from tallymark.evaluation.report_intervals import interval_plan  # most tallies have none

        assert self.interval is not None
        return interval_plan(metric_plan, self.interval, columns)

    def __add__(self, other: Tally) -> Tally:
        if not isinstance(other, Tally):
            return NotImplemented
        left, right = self._contents, other._contents
        self._check_addable(other, left.columns, right.columns)
        if left.whole is not None and right.whole is not None and (left.numbered or right.numbered):
            left, right = (
                each._replace(whole=each.whole.without_keys(), groups=_without_keys(each.groups))  # type: ignore[union-attr]
                for each in (left, right)
            )
        out = self.empty()
        out._contents = self._join(left, right)
        return out

    def _check_addable(self, other: Tally, mine: tuple[int, int] | None, theirs: tuple[int, int] | None) -> None:
        if self._parameters != other._parameters:
            raise StateError("only tallies of the same metrics can be added; these have other parameters")
        if self._named != other._named or self.target != other.target:
            one, two = (
                (", ".join(each._named or ["the default metrics"]) for each in (self, other))
                if self._named != other._named
                else (self.target, other.target)
            )
            raise StateError(f"only tallies of the same metrics and target can be added; these have {one} and {two}")
        _check_same_kind(self._contents.kind, other._contents.kind)
        if self.by != other.by:
            one, two = (", ".join(tally.by) or "none" for tally in (self, other))
            raise StateError(f"only tallies of the same groups can be added; these have {one} and {two}")
        if mine and theirs and mine != theirs:
            raise StateError(
                f"only tallies of tables of the same width can be added; these have {mine} and {theirs} columns"
            )
        if self.interval != other.interval:
            one, two = (str(tally.interval and tally.interval.to_dict()) for tally in (self, other))
            raise StateError(f"only tallies with the same intervals can be added; these have {one} and {two}")

    def empty(self) -> Tally:
        """A tally with the same settings and without rows."""
        facts: dict[str, Any] = {"missing": self.missing, "by": self.by or None, "errors": self.errors}
        out = Tally(self._named, target=self.target, **facts, **self._parameters)
        out.interval = self.interval
        return out

    def with_metrics(self, metrics: dict[str, Metric], *instead: State) -> Tally:
        """The tally of the same rows that has other metrics, which read its states and those that are given."""
        out = Tally(metrics, missing=self.missing, by=self.by or None, target=self.target)
        out.interval = self.interval
        contents = self._contents
        whole = None
        if contents.whole is not None:
            states = {state.reads.group: state for state in (*contents.whole.values, *instead)}
            values = tuple(states[reads.group] for reads in out._plan(metrics, contents.columns).plan.reads)
            whole = TallyStates(values, contents.whole.intervals)
        out._contents = contents._replace(whole=whole, groups={})
        return out

    def state(self, reads: Reads) -> State | None:
        """The state that answers a declaration; None where there is none, or no rows."""
        whole = self._contents.whole
        states = () if whole is None else whole.values
        return next((state for state in states if state.reads.group == reads.group), None)

    def __radd__(self, other: object) -> Tally:
        if other == 0:  # so that sum() works
            return self
        return NotImplemented

    def report(self, *, errors: str | None = None, min_rows: int = 1) -> Report:
        """The values so far. Without rows every value is undefined. Group metrics leave out groups with fewer than
        `min_rows` rows. `errors` is as in `evaluate`, by default as in the tally."""
        errors = self.errors if errors is None else errors
        check_errors(errors)
        if check_min_rows(min_rows) > 1 and not self.by:
            raise ParameterError(
                Text("{min_rows} is the smallest size of groups that are compared; this tally has none"),
                argument="min_rows",
            )
        contents = self._contents
        report = self._report(contents, contents.groups, self.by, min_rows)
        if report.slices is not None and len(self.by) > 1:

            def slices_by(name: str) -> Slices:
                groups: StatesByGroup = {}
                for labels, piece in contents.groups.items():
                    assert isinstance(labels, tuple)
                    groups = add_states_by_group(groups, {labels[self.by.index(name)]: piece})
                by_column = self._report(contents, groups, (name,), min_rows).slices
                assert by_column is not None
                return by_column

            report.slices.read_column = slices_by
        if self._named is None:
            report.inferred_kind = (
                contents.kind if self.target.kind is None and contents.kind in INFERRED_KINDS else None
            )
        if errors == "raise" and (self._named is not None or len(report.failures) == len(report)):
            raise_failures(report)
        return report

    def _report(self, contents: _Contents, by_group: StatesByGroup, by: tuple[str, ...], min_rows: int) -> Report:
        metric_plan = self._plan(self._metrics(contents), contents.columns, contents.failures)
        whole = contents.whole or TallyStates(metric_plan.plan.zero())
        groups = resolve_groups(by_group, whole)
        of_groups: dict[str, Any] = {"slices": slices_from_states(groups), "by": by, "min_rows": min_rows} if by else {}
        report = metric_plan.report(whole.values, dropped=contents.dropped, **of_groups)
        if self.interval is None:
            return report
        from tallymark.evaluation.report_intervals import add_kept_intervals

        intervals = self._interval_plan(metric_plan, contents.columns)
        states = whole if whole.intervals else TallyStates(whole.values, intervals.states.zero())
        try:
            return add_kept_intervals(report, intervals, metric_plan, states, groups)
        except TallymarkError:
            raise
        except (ArithmeticError, ValueError) as error:  # bytes can hold totals that fit together in all but their sizes
            raise StateError(f"no rows have the totals of this tally: {error}") from error

    def to_bytes(self) -> bytes:
        """The tally in the portable byte format of states."""
        from tallymark.states.serialization import pack

        for key, item in (self._named or {}).items():
            if metric(str(item)) != item:
                raise StateError(f"{key} cannot be written: its name does not lead back to it")
        contents = self._contents
        whole = contents.whole or TallyStates(())
        fields = {
            "metrics": [[key, str(item)] for key, item in (self._named or {}).items()],
            "target": self.target.keywords(),
            "missing": self.missing,
            "dropped": contents.dropped,
            "columns": None if contents.columns is None else list(contents.columns),
            "states": pack_states(whole.values),
        }
        if self._named is None:
            fields |= {"kind": contents.kind}
        if self._parameters:
            fields |= {"parameters": self._parameters}
        if self.errors != "raise":
            fields |= {"errors": self.errors}
        if contents.failures:
            fields |= {"failures": [[key, error.to_dict()] for key, error in contents.failures.items()]}
        if self.by:
            fields |= {"by": list(self.by), "groups": pack_groups(contents.groups)}
        if self.interval is not None:
            fields |= {
                "interval": self.interval.to_dict(),
                "interval_states": pack_states(whole.intervals),
                "numbered": contents.numbered,
            }
        return pack("Tally", fields)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the tally to a file, whole or not at all, from which `Tally.load` reads it."""
        from tallymark.rendering.files import write_atomically

        write_atomically(path, self.to_bytes())

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Tally:
        """The tally in a file that `save` wrote."""
        place = check_path(path)
        try:
            with open(place, "rb") as file:
                data = file.read()
        except OSError as error:
            reason_text = error.strerror or error
            raise FileError(f"the tally `{place}` could not be read: {reason_text}") from error
        try:
            return Tally.from_bytes(data)
        except StateError as error:
            raise FileError(f"`{place}` does not contain a tally: {error}") from error

    @staticmethod
    def from_bytes(data: bytes) -> Tally:
        """The tally that `to_bytes` wrote, by this release or an earlier one."""
        from tallymark.states.serialization import unpack

        kind, fields = unpack(data)
        if kind != "Tally":
            raise StateError(f"these bytes contain a {kind}, not a Tally")
        try:
            by = _checked_group_columns(fields.get("by", []))
            named = dict(fields["metrics"]) if "kind" not in fields else None
            facts = {"missing": fields["missing"], "by": by, "target": Target(**fields["target"])}
            out = Tally(named, **facts, errors="report", **fields.get("parameters", {}))
            out.errors = fields.get("errors", "raise")
            check_errors(out.errors)
            out.interval = _read_intervals(fields.get("interval"))
            whole = TallyStates(unpack_states(fields["states"]), unpack_states(fields.get("interval_states", ())))
            out._contents = _Contents(
                whole if whole.values else None,
                unpack_groups(fields.get("groups", ()), out.by),
                unpack_columns(fields["columns"]),
                out.interval is not None and fields["numbered"] is True,
                count_of(fields["dropped"]),
                _read_kind(fields.get("kind")),
                {key: from_dict(error) for key, error in fields.get("failures", ())},
            )
            out._check_states()
        except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError) as error:
            raise StateError(f"these bytes do not contain a valid Tally: {error}") from error
        return out

    def _check_states(self) -> None:
        """Reject states that are not of these metrics, or groups that are not those of all rows."""
        whole, groups, columns, _, _, kind, failures = self._contents
        if self._named is None and (kind is None) != (whole is None):
            raise StateError("it has no kind of rows")
        metrics = self._metrics(_Contents(kind=kind))
        if not failures.keys() <= metrics.keys():
            raise StateError("its failures are not those of its metrics")
        metric_plan = self._plan(metrics, columns, failures)
        reads: list[Any] = list(metric_plan.plan.reads)
        if self.interval is not None:
            reads += self._interval_plan(metric_plan, columns).states.reads
        pieces = [] if whole is None else [whole, *groups.values()]
        fits = (columns is None) == (whole is None) and (whole is not None or not groups)
        if not fits or not all(piece.fits(columns, reads) for piece in pieces):
            raise StateError("its states do not fit its metrics")
        if self.by and sum(piece.n for piece in groups.values()) != self.n:
            raise StateError("its groups are not those of its rows")

    def __reduce__(self) -> tuple[Any, ...]:
        return (Tally.from_bytes, (self.to_bytes(),))

    def __copy__(self) -> Tally:
        out = self.empty()
        out._contents = self._contents
        return out

    def __deepcopy__(self, memo: dict[int, Any]) -> Tally:
        return self.__copy__()  # nothing changes a state or a metric once it is made

    def __repr__(self) -> str:
        n = self.n
        return f"Tally({', '.join(self.metrics)}; {n:,} row{'' if n == 1 else 's'})"

    def _plan(
        self,
        metrics: dict[str, Metric],
        columns: tuple[int, int] | None,
        failures: Mapping[str, TallymarkError] | None = None,
    ) -> MetricPlan:
        if failures:
            return MetricPlan(metrics, self.target, columns, errors="report", unreadable=failures)
        return plan_metrics(metrics, self.target, columns, errors="report")


_INSTEAD = {
    **dict.fromkeys(("compute", "result"), "tally.report()"),
    "reset": "tally.empty(), an empty one like it",
    "merge": "sum(tallies) or tally + other",
    **dict.fromkeys(("update_state", "forward", "add"), "tally.update(y_true, y_pred)"),
}
"""What stands for the methods of torchmetrics and Keras."""


def _check_same_kind(earlier: str | None, kind: str | None) -> None:
    """Reject rows that look different from earlier ones, where the metrics follow from what they look like."""
    if earlier is not None and kind is not None and earlier != kind:
        raise ParameterError(
            Text(
                "{kind} must be given, since some rows look like kind={} and others like kind={}; the "
                "kind can be inferred only from all rows together",
                repr(earlier),
                repr(kind),
            ),
            argument="kind",
        )


def _read_kind(kind: Any) -> str | None:
    """The kind of the rows, as it was written."""
    if kind is not None and kind not in DEFAULTS_BY_KIND:
        raise StateError("its rows are of no known kind")
    return None if kind is None else str(kind)


def _limit_resamples(asked: Intervals) -> Intervals:
    """The settings, if so many resamples can be kept; no more than that where the number is the usual one."""
    if asked.method == "analytic":
        return resolve(asked)
    if asked.resamples is not None:
        check_whole(
            "resamples", asked.resamples, 1, MOST_RESAMPLES, " for a Tally, which keeps one state per replicate"
        )
    return resolve(asked, most=MOST_RESAMPLES)


def _group_names(by: object) -> tuple[str, ...]:
    """The names of the columns of groups, checked."""
    if by is None:
        return ()
    try:
        names = (by,) if isinstance(by, str) else tuple(by)  # type: ignore[arg-type]
    except Exception as error:
        raise ParameterError(argument="by", expected="be a list of distinct column names", got=brief(by)) from error
    if not names:
        raise ParameterError(argument="by", expected="name at least one column", got="none")
    if not all(isinstance(name, str) and name for name in names) or len(set(names)) < len(names):
        raise ParameterError(argument="by", expected="be a list of distinct column names", got=brief(by))
    return names


def _without_keys(groups: StatesByGroup) -> StatesByGroup:
    return {group: piece.without_keys() for group, piece in groups.items()}


def _checked_group_columns(names: Any) -> tuple[str, ...] | None:
    """The names of the columns of groups, as they were written."""
    if type(names) is not list:
        raise StateError(Text("{by} must be a list"), argument="by")
    return tuple(names) or None


def _read_intervals(fields: Any) -> Intervals | None:
    """The settings of intervals, as they were written."""
    if fields is None:
        return None
    level, method, resamples, seed = (fields[name] for name in ("level", "method", "resamples", "seed"))
    usual = _limit_resamples(Intervals(level, method, None, seed))  # which may be fewer resamples than the level needs
    return usual if usual.resamples == resamples else _limit_resamples(Intervals(level, method, resamples, seed))
