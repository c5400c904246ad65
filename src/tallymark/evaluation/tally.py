"""Tally: metrics over rows that come in pieces. Pieces add in any order and give the same value to the last bit."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tallymark.batch import Batch, check_missing
from tallymark.errors import FileError, ParameterError, ShapeError, StateError
from tallymark.evaluation.chosen import Chosen, Wanted, check_errors, choose, plan
from tallymark.evaluation.pieces import (
    Groups,
    Piece,
    add_groups,
    pack_groups,
    pack_states,
    settled_groups,
    slices_of,
    unpack_groups,
    unpack_states,
)
from tallymark.evaluation.result import Report
from tallymark.evaluation.settings import (
    IntervalSettings,
    check_whole,
    interval_settings,
    resampled_by,
)
from tallymark.grouping import group_columns
from tallymark.metrics import GroupMetric, Metric, metric
from tallymark.metrics.group_metric import check_min_rows
from tallymark.states import MOST_RESAMPLES, Group, Reads, State, row_keys, split
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

    `by` names columns of groups, and rows then come with them: every metric is kept for every group as well, and
    metrics of groups compare them.

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
        by: str | Sequence[str] | None = None,
        ci: float | None = None,
        ci_method: str = "auto",
        resamples: int | None = None,
        seed: int = 0,
    ) -> None:
        if metrics is None:
            raise ParameterError("`metrics` must be given for a Tally: there are no rows yet to go by")
        self.metrics: dict[str, Metric] = choose(metrics)
        self.by = _group_names(by)
        for item in self.metrics.values():
            if isinstance(item, GroupMetric) and not self.by:
                raise ParameterError(f"`by` must name the columns of groups that {item} compares, such as by='country'")
        self.target = Target(kind, classes=classes, positive=positive, normalize=normalize)
        check_missing(missing)
        self.missing = missing
        self.interval: IntervalSettings | None = interval_settings(ci, ci_method, resamples, seed)
        if self.interval is not None and self.interval.method != "analytic":
            self.interval = _kept(self.interval, usual=resamples is None)
        self.dropped = 0
        self._columns: tuple[int, int] | None = None
        self._whole: Piece | None = None
        self._groups: Groups = {}
        self._numbered = False  # whether rows are told apart by their place in this tally

    @property
    def n(self) -> int:
        """How many rows were counted."""
        return 0 if self._whole is None else self._whole.n

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
        """Add rows. If they are refused, the tally stays as it was.

        `by` holds the group of each row where the tally has groups: one column, or a mapping or table of all of them.

        `keys` hold a label for each row that no other row has, here or in tallies that this one will be added to: an
        id, or its place among all rows. Resamples go by it, so that intervals do not depend on the pieces. Without
        `keys`, rows are numbered as they come, and intervals from resamples do not survive a sum of tallies. Rows of
        one `cluster` are resampled together.
        """
        if self.interval is None and (keys is not None or cluster is not None):
            raise ParameterError(resampled_by("keys" if cluster is None else "cluster"))
        labels: dict[str, Any] = {"query": query, "by": self._group_columns(by), "cluster": cluster, "keys": keys}
        batch = Batch(y_true, y_pred, weights, missing=self.missing, whole=False, **labels)
        columns = (batch.truth_columns, batch.prediction_columns)
        if self._columns is not None and batch.n and columns != self._columns:
            raise ShapeError(
                f"`y_true` and `y_pred` must keep their {self._columns[0]} and {self._columns[1]} columns; "
                f"they had {columns[0]} and {columns[1]}"
            )
        if batch.n:
            whole, groups = self._fold(batch)
            if self._whole is not None:
                whole, groups = self._whole.plus(whole), add_groups(self._groups, groups)
            self._whole, self._groups, self._columns = whole, groups, columns
            self._numbered = keys is None and cluster is None
        self.dropped += batch.dropped
        return self

    def _group_columns(self, by: object) -> dict[str, object] | None:
        """The groups of rows under the names that this tally has for them."""
        if by is None and not self.by:
            return None
        if by is None or not self.by:
            told = f"was made with by={list(self.by)}" if self.by else "was made without"
            raise ParameterError(f"`by` must be given for a tally and for its rows, or for neither; the tally {told}")
        columns = group_columns(by)
        if len(columns) == len(self.by) == 1:
            return dict(zip(self.by, columns.values(), strict=True))
        if set(columns) != set(self.by):
            raise ParameterError(f"`by` must hold the columns {', '.join(self.by)}; it held {', '.join(columns)}")
        return {name: columns[name] for name in self.by}

    def _fold(self, batch: Batch) -> tuple[Piece, Groups]:
        """The states of rows, and of each of their groups."""
        chosen = self._chosen((batch.truth_columns, batch.prediction_columns))
        if self.interval is None:
            groups = {group: Piece(chosen.fold(rows)) for group, rows in self._split(batch)}
            return Piece(chosen.fold(batch)), groups
        numbered = batch.key_side is None and batch.cluster_side is None
        if self.n and numbered != self._numbered:
            raise ParameterError(
                "`keys` or `cluster` must be given for all rows of a tally or for none, since rows are resampled by "
                f"them; earlier rows had {'none' if self._numbered else 'some'}"
            )
        if numbered:
            batch.keys = np.arange(self.n, self.n + batch.n, dtype=np.uint64)
        if batch.weights is not None:
            row_keys(batch)  # a fault in them names the row, of which some may go now
        counted = batch.weighing()
        plan = self._intervals(chosen, (batch.truth_columns, batch.prediction_columns)).plan
        whole = Piece(chosen.fold(batch), plan.fold(counted))
        parts = dict(self._split(counted))
        groups = {
            group: Piece(chosen.fold(rows), plan.fold(parts[group]) if group in parts else plan.zero())
            for group, rows in self._split(batch)
        }
        return whole, groups

    def _split(self, batch: Batch) -> list[tuple[Group, Batch]]:
        return split(batch) if self.by else []

    def _intervals(self, chosen: Chosen, columns: tuple[int, int] | None) -> IntervalStates:
        from tallymark.evaluation.interval_states import IntervalStates  # most tallies have none

        assert self.interval is not None
        return IntervalStates(chosen, self.interval, columns)

    def __add__(self, other: Tally) -> Tally:
        if not isinstance(other, Tally):
            return NotImplemented
        self._check_addable(other)
        out = self.empty()
        out.dropped = self.dropped + other.dropped
        out._columns = self._columns or other._columns
        out._numbered = self._numbered or other._numbered
        pieces = [(tally._whole, tally._groups) for tally in (self, other) if tally._whole is not None]
        if len(pieces) == 2 and out._numbered:
            pieces = [(whole.without_keys(), _without_keys(groups)) for whole, groups in pieces]
        for whole, groups in pieces:
            out._whole = whole if out._whole is None else out._whole.plus(whole)
            out._groups = add_groups(out._groups, groups)
        return out

    def _check_addable(self, other: Tally) -> None:
        if self.metrics != other.metrics or self.target != other.target:
            mine, theirs = (
                (", ".join(self.metrics), ", ".join(other.metrics))
                if self.metrics != other.metrics
                else (self.target, other.target)
            )
            raise StateError(f"only tallies of the same metrics and target add; these have {mine} and {theirs}")
        if self.by != other.by:
            mine, theirs = (", ".join(tally.by) or "none" for tally in (self, other))
            raise StateError(f"only tallies of the same groups add; these have {mine} and {theirs}")
        if self._columns and other._columns and self._columns != other._columns:
            raise StateError(
                f"only tallies of tables of the same width add; these have {self._columns} and {other._columns} columns"
            )
        if self.interval != other.interval:
            mine, theirs = (str(tally.interval and tally.interval.to_dict()) for tally in (self, other))
            raise StateError(f"only tallies with the same intervals add; these have {mine} and {theirs}")

    def empty(self) -> Tally:
        """A tally of the same kind that has no rows yet."""
        out = Tally(self.metrics, missing=self.missing, by=self.by or None, **self.target.facts())
        out.interval = self.interval
        return out

    def read_by(self, metrics: dict[str, Metric], *instead: State) -> Tally:
        """The tally of the same rows that has other metrics, which read its states and those that are given."""
        out = Tally(metrics, missing=self.missing, by=self.by or None, **self.target.facts())
        out.interval, out.dropped = self.interval, self.dropped
        out._columns, out._numbered = self._columns, self._numbered
        if self._whole is not None:
            held = {state.reads.group: state for state in (*self._whole.values, *instead)}
            values = tuple(held[reads.group] for reads in out._chosen(self._columns).plan.reads)
            out._whole = Piece(values, self._whole.intervals)
        return out

    def state(self, reads: Reads) -> State | None:
        """The state that answers a declaration; None where there is none, or no rows."""
        held = () if self._whole is None else self._whole.values
        return next((state for state in held if state.reads.group == reads.group), None)

    def __radd__(self, other: object) -> Tally:
        if other == 0:  # so that sum() works
            return self
        return NotImplemented

    def report(self, *, errors: str = "cell", min_rows: int = 1) -> Report:
        """The values so far. Without rows every value is undefined. Metrics of groups leave out groups of fewer than
        `min_rows` rows."""
        check_errors(errors)
        if check_min_rows(min_rows) > 1 and not self.by:
            raise ParameterError("`min_rows` is the smallest size of groups that are compared; this tally has none")
        chosen = self._chosen(self._columns)
        whole = self._whole or Piece(chosen.plan.zero())
        groups = settled_groups(self._groups, whole)
        of_groups: dict[str, Any] = (
            {"slices": slices_of(groups), "by": self.by, "min_rows": min_rows} if self.by else {}
        )
        report = chosen.report(whole.values, dropped=self.dropped, errors=errors, **of_groups)
        if self.interval is None:
            return report
        intervals = self._intervals(chosen, self._columns)
        return intervals.fill(report, whole if whole.intervals else Piece(whole.values, intervals.plan.zero()), groups)

    def to_bytes(self) -> bytes:
        """The tally in the portable byte format of states."""
        from tallymark.states.format import pack

        for key, item in self.metrics.items():
            if metric(str(item)) != item:
                raise StateError(f"{key} cannot be written: its name does not lead back to it")
        whole = self._whole or Piece(())
        fields = {
            "metrics": [[key, str(item)] for key, item in self.metrics.items()],
            "target": self.target.facts(),
            "missing": self.missing,
            "dropped": self.dropped,
            "columns": None if self._columns is None else list(self._columns),
            "states": pack_states(whole.values),
        }
        if self.by:
            fields |= {"by": list(self.by), "groups": pack_groups(self._groups)}
        if self.interval is not None:
            fields |= {
                "interval": self.interval.to_dict(),
                "interval_states": pack_states(whole.intervals),
                "numbered": self._numbered,
            }
        return pack("Tally", fields)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the tally to a file, whole or not at all, from which `Tally.load` reads it."""
        from tallymark.report.saving import write_whole

        write_whole(path, self.to_bytes())

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Tally:
        """The tally in a file that `save` wrote."""
        try:
            with open(path, "rb") as file:
                data = file.read()
        except OSError as error:
            why = error.strerror or error
            raise FileError(f"the tally `{os.fspath(path)}` could not be read: {why}") from error
        try:
            return Tally.from_bytes(data)
        except StateError as error:
            raise FileError(f"`{os.fspath(path)}` does not hold a tally: {error}") from error

    @staticmethod
    def from_bytes(data: bytes) -> Tally:
        """The tally that `to_bytes` wrote, by this release or an earlier one."""
        from tallymark.states.format import unpack

        kind, fields = unpack(data)
        if kind != "Tally":
            raise StateError(f"these bytes hold a {kind}, not a Tally")
        try:
            settings = _read_settings(fields.get("interval"))
            by = _read_names(fields.get("by", []))
            out = Tally(dict(fields["metrics"]), missing=fields["missing"], by=by, **settings, **fields["target"])
            out.dropped = int(fields["dropped"])
            out._columns = None if fields["columns"] is None else (int(fields["columns"][0]), int(fields["columns"][1]))
            whole = Piece(unpack_states(fields["states"]), unpack_states(fields.get("interval_states", ())))
            out._whole = whole if whole.values else None
            out._groups = unpack_groups(fields.get("groups", ()), out.by)
            out._numbered = out.interval is not None and fields["numbered"] is True
            out._check_states()
        except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError) as error:
            raise StateError(f"these bytes do not hold a valid Tally: {error}") from error
        return out

    def _check_states(self) -> None:
        """Refuse states that are not of these metrics, or groups that are not those of all rows."""
        chosen = self._chosen(self._columns)
        reads: list[Any] = list(chosen.plan.reads)
        if self.interval is not None:
            reads += self._intervals(chosen, self._columns).plan.reads
        pieces = [] if self._whole is None else [self._whole, *self._groups.values()]
        fits = (self._columns is None) == (self._whole is None) and (self._whole is not None or not self._groups)
        if self.dropped < 0 or not fits or not all(piece.fits(self._columns, reads) for piece in pieces):
            raise StateError("its states do not fit its metrics")
        if self.by and sum(piece.n for piece in self._groups.values()) != self.n:
            raise StateError("its groups are not those of its rows")

    def __reduce__(self) -> tuple[Any, ...]:
        return (Tally.from_bytes, (self.to_bytes(),))

    def __repr__(self) -> str:
        return f"Tally({', '.join(self.metrics)}; {self.n:,} row{'' if self.n == 1 else 's'})"

    def _chosen(self, columns: tuple[int, int] | None) -> Chosen:
        return plan(self.metrics, self.target, columns, errors="cell")


def _kept(asked: IntervalSettings, *, usual: bool) -> IntervalSettings:
    """The settings, if so many resamples can be kept; no more than that where the number is the usual one."""
    if usual:
        return asked._replace(resamples=min(asked.resamples, MOST_RESAMPLES))
    check_whole("resamples", asked.resamples, 1, MOST_RESAMPLES, " for a Tally, which keeps a state of each")
    return asked


def _group_names(by: object) -> tuple[str, ...]:
    """The names of the columns of groups, checked."""
    names = () if by is None else (by,) if isinstance(by, str) else tuple(by)  # type: ignore[arg-type]
    if by is not None and not names:
        raise ParameterError("`by` must name at least one column; it was empty")
    if not all(isinstance(name, str) and name for name in names) or len(set(names)) < len(names):
        raise ParameterError(f"`by` must be the names of columns, each once; it was {by!r}")
    return names


def _without_keys(groups: Groups) -> Groups:
    return {group: piece.without_keys() for group, piece in groups.items()}


def _read_names(names: Any) -> tuple[str, ...] | None:
    """The names of the columns of groups, as they were written."""
    if type(names) is not list:
        raise StateError("`by` is no list")
    return tuple(names) or None


def _read_settings(fields: Any) -> dict[str, Any]:
    """The keywords of a tally that make these settings."""
    if fields is None:
        return {}
    names = {"level": "ci", "method": "ci_method", "resamples": "resamples", "seed": "seed"}
    return {name: fields[key] for key, name in names.items()}
