"""Tally: metrics over rows that come in pieces. Pieces add in any order and give the same value to the last bit."""

from __future__ import annotations

from typing import Any

from tallymark.batch import Batch, check_missing
from tallymark.errors import ParameterError, ShapeError, StateError
from tallymark.evaluation.chosen import Chosen, Wanted, check_errors, choose, plan
from tallymark.evaluation.result import Report
from tallymark.metrics import GroupMetric, Metric, metric
from tallymark.states import Plan, State, States
from tallymark.target import Target


class Tally:
    """Metrics over rows that come in pieces: update it, add it to others, and read a report at any time.

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
        self.dropped = 0
        self._columns: tuple[int, int] | None = None
        self._states: States = ()

    @property
    def n(self) -> int:
        """How many rows were counted."""
        return self._states[0].n if self._states else 0

    def update(self, y_true: object, y_pred: object, *, weights: object = None, query: object = None) -> Tally:
        """Add rows. If they are refused, the tally stays as it was."""
        batch = Batch(y_true, y_pred, weights, missing=self.missing, whole=False, query=query)
        columns = (batch.truth_columns, batch.prediction_columns)
        if self._columns is not None and batch.n and columns != self._columns:
            raise ShapeError(
                f"`y_true` and `y_pred` must keep their {self._columns[0]} and {self._columns[1]} columns; "
                f"they had {columns[0]} and {columns[1]}"
            )
        if batch.n:
            chosen = self._chosen(columns)
            states = chosen.fold(batch)
            self._states = Plan.add(self._states, states) if self._states else states
            self._columns = columns
        self.dropped += batch.dropped
        return self

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
        out = Tally(self.metrics, missing=self.missing, **self.target.facts())
        out.dropped = self.dropped + other.dropped
        out._columns = self._columns or other._columns
        both = self._states and other._states
        out._states = Plan.add(self._states, other._states) if both else self._states or other._states
        return out

    def __radd__(self, other: object) -> Tally:
        if other == 0:  # so that sum() works
            return self
        return NotImplemented

    def report(self, *, errors: str = "cell") -> Report:
        """The values so far. Without rows every value is undefined."""
        check_errors(errors)
        chosen = self._chosen(self._columns)
        return chosen.report(self._states or chosen.plan.zero(), dropped=self.dropped, errors=errors)

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
            },
        )

    @staticmethod
    def from_bytes(data: bytes) -> Tally:
        """The tally that `to_bytes` wrote."""
        from tallymark.states.format import unpack

        kind, fields = unpack(data)
        if kind != "Tally":
            raise StateError(f"these bytes hold a {kind}, not a Tally")
        try:
            out = Tally(dict(fields["metrics"]), missing=fields["missing"], **fields["target"])
            out.dropped = int(fields["dropped"])
            out._columns = None if fields["columns"] is None else (int(fields["columns"][0]), int(fields["columns"][1]))
            out._states = tuple(State.restore(name, content) for name, content in fields["states"])
            expected = out._chosen(out._columns).plan.reads if out._columns else ()
        except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError) as error:
            raise StateError(f"these bytes do not hold a valid Tally: {error}") from error
        held = [(state.reads, state.columns) for state in out._states]
        if out.dropped < 0 or held != [(reads, out._columns) for reads in expected]:
            raise StateError("these bytes do not hold a valid Tally: its states do not fit its metrics")
        return out

    def __reduce__(self) -> tuple[Any, ...]:
        return (Tally.from_bytes, (self.to_bytes(),))

    def __repr__(self) -> str:
        return f"Tally({', '.join(self.metrics)}; {self.n:,} row{'' if self.n == 1 else 's'})"

    def _chosen(self, columns: tuple[int, int] | None) -> Chosen:
        return plan(self.metrics, self.target, columns, errors="cell")
