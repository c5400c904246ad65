"""Tally: metrics over rows that come in pieces. Pieces add in any order and give the same value to the last bit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tallymark.batch import Batch, check_missing
from tallymark.errors import ParameterError, ShapeError, StateError
from tallymark.evaluation.chosen import Chosen, Wanted, check_errors, choose, plan
from tallymark.evaluation.result import Report
from tallymark.evaluation.settings import IntervalSettings, check_whole, interval_settings, resampled_by
from tallymark.metrics import GroupMetric, Metric, metric
from tallymark.states import MOST_RESAMPLES, Plan, Resampled, State, States
from tallymark.target import Target

if TYPE_CHECKING:
    from tallymark.evaluation.interval_states import IntervalStates


class Tally:
    """Metrics over rows that come in pieces: update it, add it to others, and read a report at any time.

    `ci=0.95` puts intervals into the report, as in `evaluate`: by a formula where a metric has one, which takes no more
    than a few totals beside those of the value, else by a bootstrap. Of its `resamples` one state each is kept: a
    thousand take about 1 MB for a metric of few totals, and tens of milliseconds for each update, so give rows in large
    pieces. A state that grows with the rows is not kept a thousand times: such metrics have an interval by formula or
    none, and say so.

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
        metrics: Wanted,
        *,
        kind: str | None = None,
        classes: object = None,
        positive: object = None,
        normalize: bool = False,
        missing: str = "error",
        ci: float | None = None,
        ci_method: str = "auto",
        resamples: int = 1000,
        seed: int = 0,
    ) -> None:
        if metrics is None:
            raise ParameterError("`metrics` must be given for a Tally: there are no rows yet to go by")
        self.metrics: dict[str, Metric] = choose(metrics)
        for item in self.metrics.values():
            if isinstance(item, GroupMetric):
                raise ParameterError(f"a Tally has no groups, which {item} compares; keep one Tally per group")
        self.target = Target(kind, classes=classes, positive=positive, normalize=normalize)
        check_missing(missing)
        self.missing = missing
        self.interval: IntervalSettings | None = interval_settings(ci, ci_method, resamples, seed)
        if self.interval is not None and self.interval.method != "analytic":
            check_whole("resamples", resamples, 1, MOST_RESAMPLES, " for a Tally, which keeps a state of each")
        self.dropped = 0
        self._columns: tuple[int, int] | None = None
        self._states: States = ()
        self._interval_states: States = ()
        self._numbered = False  # whether rows are told apart by their place in this tally

    @property
    def n(self) -> int:
        """How many rows were counted."""
        return self._states[0].n if self._states else 0

    def update(
        self,
        y_true: object,
        y_pred: object,
        *,
        weights: object = None,
        query: object = None,
        keys: object = None,
        cluster: object = None,
    ) -> Tally:
        """Add rows. If they are refused, the tally stays as it was.

        `keys` hold a label for each row that no other row has, here or in tallies that this one will be added to: an
        id, or its place among all rows. Resamples go by it, so that intervals do not depend on the pieces. Without
        `keys`, rows are numbered as they come, and intervals from resamples do not survive a sum of tallies. Rows of
        one `cluster` are resampled together.
        """
        if self.interval is None and (keys is not None or cluster is not None):
            raise ParameterError(resampled_by("keys" if cluster is None else "cluster"))
        batch = Batch(
            y_true, y_pred, weights, missing=self.missing, whole=False, query=query, cluster=cluster, keys=keys
        )
        columns = (batch.truth_columns, batch.prediction_columns)
        if self._columns is not None and batch.n and columns != self._columns:
            raise ShapeError(
                f"`y_true` and `y_pred` must keep their {self._columns[0]} and {self._columns[1]} columns; "
                f"they had {columns[0]} and {columns[1]}"
            )
        if batch.n:
            chosen = self._chosen(columns)
            states, intervals = chosen.fold(batch), self._fold_intervals(chosen, batch)
            if self._states:
                states, intervals = Plan.add(self._states, states), Plan.add(self._interval_states, intervals)
            self._states, self._interval_states, self._columns = states, intervals, columns
            self._numbered = keys is None and cluster is None
        self.dropped += batch.dropped
        return self

    def _fold_intervals(self, chosen: Chosen, batch: Batch) -> States:
        """The states that intervals read, of a piece."""
        if self.interval is None:
            return ()
        numbered = batch.key_side is None and batch.cluster_side is None
        if self.n and numbered != self._numbered:
            raise ParameterError(
                "`keys` or `cluster` must be given for all rows of a tally or for none, since rows are resampled by "
                f"them; earlier rows had {'none' if self._numbered else 'some'}"
            )
        if numbered:
            batch.keys = np.arange(self.n, self.n + batch.n, dtype=np.uint64)
        plan = self._intervals(chosen, (batch.truth_columns, batch.prediction_columns)).plan
        return plan.fold(batch.counted_once() or batch)  # rows that weigh nothing are as if they were not there

    def _intervals(self, chosen: Chosen, columns: tuple[int, int] | None) -> IntervalStates:
        from tallymark.evaluation.interval_states import IntervalStates  # most tallies have none

        assert self.interval is not None
        return IntervalStates(chosen, self.interval, columns)

    def __add__(self, other: Tally) -> Tally:
        if not isinstance(other, Tally):
            return NotImplemented
        if self.metrics != other.metrics or self.target != other.target:
            mine, theirs = (
                (", ".join(self.metrics), ", ".join(other.metrics))
                if self.metrics != other.metrics
                else (self.target, other.target)
            )
            raise StateError(f"only tallies of the same metrics and target add; these have {mine} and {theirs}")
        if self._columns and other._columns and self._columns != other._columns:
            raise StateError(
                f"only tallies of tables of the same width add; these have {self._columns} and {other._columns} columns"
            )
        if self.interval != other.interval:
            mine, theirs = (str(tally.interval and tally.interval.to_dict()) for tally in (self, other))
            raise StateError(f"only tallies with the same intervals add; these have {mine} and {theirs}")
        out = Tally(self.metrics, missing=self.missing, **self.target.facts())
        out.interval = self.interval
        out.dropped = self.dropped + other.dropped
        out._columns = self._columns or other._columns
        both = self._states and other._states
        out._states = Plan.add(self._states, other._states) if both else self._states or other._states
        out._numbered = self._numbered or other._numbered
        held = [tally._interval_states for tally in (self, other) if tally._states]
        if both and out._numbered:
            held = [_without_keys(states) for states in held]
        out._interval_states = Plan.add(*held) if both else held[0] if held else ()
        return out

    def __radd__(self, other: object) -> Tally:
        if other == 0:  # so that sum() works
            return self
        return NotImplemented

    def report(self, *, errors: str = "cell") -> Report:
        """The values so far. Without rows every value is undefined."""
        check_errors(errors)
        chosen = self._chosen(self._columns)
        values = self._states or chosen.plan.zero()
        report = chosen.report(values, dropped=self.dropped, errors=errors)
        if self.interval is None:
            return report
        intervals = self._intervals(chosen, self._columns)
        return intervals.fill(report, values, self._interval_states or intervals.plan.zero())

    def to_bytes(self) -> bytes:
        """The tally in the portable byte format of states."""
        from tallymark.states.format import pack

        for key, item in self.metrics.items():
            if metric(str(item)) != item:
                raise StateError(f"{key} cannot be written: its name does not lead back to it")
        return pack(
            "Tally",
            {
                "metrics": [[key, str(item)] for key, item in self.metrics.items()],
                "target": self.target.facts(),
                "missing": self.missing,
                "dropped": self.dropped,
                "columns": None if self._columns is None else list(self._columns),
                "states": [[type(state).__name__, state.fields()] for state in self._states],
                **({} if self.interval is None else self._interval_fields(self.interval)),
            },
        )

    def _interval_fields(self, settings: IntervalSettings) -> dict[str, Any]:
        return {
            "interval": settings.to_dict(),
            "interval_states": [[type(state).__name__, state.fields()] for state in self._interval_states],
            "numbered": self._numbered,
        }

    @staticmethod
    def from_bytes(data: bytes) -> Tally:
        """The tally that `to_bytes` wrote."""
        from tallymark.states.format import unpack

        kind, fields = unpack(data)
        if kind != "Tally":
            raise StateError(f"these bytes hold a {kind}, not a Tally")
        try:
            settings = _read_settings(fields.get("interval"))
            out = Tally(dict(fields["metrics"]), missing=fields["missing"], **settings, **fields["target"])
            out.dropped = int(fields["dropped"])
            out._columns = None if fields["columns"] is None else (int(fields["columns"][0]), int(fields["columns"][1]))
            out._states = tuple(State.restore(name, content) for name, content in fields["states"])
            chosen = out._chosen(out._columns)
            expected = list(chosen.plan.reads) if out._columns else []
            held = list(out._states)
            if out.interval is not None:
                out._interval_states = tuple(State.restore(*packed) for packed in fields["interval_states"])
                out._numbered = fields["numbered"] is True
                held += out._interval_states
                expected += out._intervals(chosen, out._columns).plan.reads if out._columns else ()
        except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError) as error:
            raise StateError(f"these bytes do not hold a valid Tally: {error}") from error
        if out.dropped < 0 or [state.reads for state in held] != expected or not out._fits(held):
            raise StateError("these bytes do not hold a valid Tally: its states do not fit its metrics")
        return out

    def _fits(self, held: list[State]) -> bool:
        """Whether states are of the columns and rows of this tally; resamples may be of some rows only."""
        whole = {(state.columns, state.n) for state in held if not isinstance(state, Resampled)}
        some = [state for state in held if isinstance(state, Resampled) and state.n]
        return whole <= {(self._columns, self.n)} and all(s.columns == self._columns and s.n <= self.n for s in some)

    def __reduce__(self) -> tuple[Any, ...]:
        return (Tally.from_bytes, (self.to_bytes(),))

    def __repr__(self) -> str:
        return f"Tally({', '.join(self.metrics)}; {self.n:,} row{'' if self.n == 1 else 's'})"

    def _chosen(self, columns: tuple[int, int] | None) -> Chosen:
        return plan(self.metrics, self.target, columns, errors="cell")


def _without_keys(states: States) -> States:
    """The states without the replicates of rows that cannot be told from others."""
    return tuple(state.without_keys() if isinstance(state, Resampled) else state for state in states)


def _read_settings(fields: Any) -> dict[str, Any]:
    """The keywords of a tally that make these settings."""
    if fields is None:
        return {}
    names = {"level": "ci", "method": "ci_method", "resamples": "resamples", "seed": "seed"}
    return {name: fields[key] for key, name in names.items()}
