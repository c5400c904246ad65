"""Tally: metrics over rows that come in pieces. Pieces add in any order and give the same value to the last bit."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from threading import RLock
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tallymark.data.arguments import check_path
from tallymark.data.batch import Batch, check_missing
from tallymark.data.groups import group_columns
from tallymark.data.labels import MOST_BITS
from tallymark.data.target import Target, target_of
from tallymark.errors import FileError, ParameterError, ShapeError, StateError, TallymarkError, Text, brief
from tallymark.evaluation.report import Report
from tallymark.evaluation.selection import MetricPlan, Wanted, check_errors, plan, select_metrics
from tallymark.intervals.settings import Intervals, as_intervals, check_whole, resampled_by, resolve
from tallymark.metrics.base import Metric
from tallymark.metrics.fairness.base import GroupMetric, check_min_rows
from tallymark.metrics.naming import metric
from tallymark.states.base import Reads, State
from tallymark.states.groups import Group, Slice, sorted_groups, split
from tallymark.states.plan import Plan, States
from tallymark.states.resampling.keys import row_keys
from tallymark.states.resampling.replicates import MOST_RESAMPLES, Resampled
from tallymark.states.serialization import count_of, unpack_columns

if TYPE_CHECKING:
    from tallymark.intervals.providers import IntervalPlan


class Piece(NamedTuple):
    """The states of some rows, all of them or those of a group."""

    values: States
    intervals: States = ()

    @property
    def n(self) -> int:
        """How many rows there are."""
        return self.values[0].n

    def plus(self, other: Piece) -> Piece:
        """The states of both sets of rows."""
        return Piece(Plan.add(self.values, other.values), Plan.add(self.intervals, other.intervals))

    def without_keys(self) -> Piece:
        """The states without the replicates of rows that cannot be told from others."""
        held = (state.without_keys() if isinstance(state, Resampled) else state for state in self.intervals)
        return Piece(self.values, tuple(held))

    def resolved_by(self, whole: Piece) -> Piece:
        """The states of a group, with the classes of all rows."""
        return Piece(_resolved(self.values, whole.values), _resolved(self.intervals, whole.intervals))

    def fits(self, columns: tuple[int, int] | None, reads: list[Any]) -> bool:
        """Whether the states answer these declarations, and are of as many rows and columns. Those of intervals need
        not hold rows that weigh nothing, and resamples may be of some rows only."""
        held = [*self.values, *self.intervals]
        if [state.reads for state in held] != reads or not held:
            return False
        of_all = {(state.columns, state.n) for state in self.values}
        weight = {state.weight for state in held if not isinstance(state, Resampled)}
        of_some = [state for state in self.intervals if state.n]
        fitting = all(state.columns == columns and state.n <= self.n for state in of_some)
        return fitting and of_all <= {(columns, self.n)} and len(weight) <= 1


def _resolved(states: States, whole: States) -> States:
    return tuple(mine.with_reads(every.reads.resolved(None, every)) for mine, every in zip(states, whole, strict=True))


Groups = dict[Group, Piece]


def add_groups(left: Mapping[Group, Piece], right: Mapping[Group, Piece]) -> Groups:
    """The groups of both sets of rows."""
    out = dict(left)
    for group, piece in right.items():
        out[group] = out[group].plus(piece) if group in out else piece
    return out


def resolve_groups(groups: Mapping[Group, Piece], whole: Piece) -> dict[Group, Piece]:
    """The groups in order, with the classes of all rows."""
    return {group: groups[group].resolved_by(whole) for group in sorted_groups(groups)}


def slices_of(groups: Mapping[Group, Piece]) -> list[Slice]:
    """Groups of which only the states are known, as slices."""
    return [Slice(group, None, piece.values) for group, piece in groups.items()]


def pack_states(states: States) -> list[Any]:
    """States as the byte format writes them."""
    return [[type(state).__name__, state.fields()] for state in states]


def unpack_states(packed: Any) -> States:
    """The states that `pack_states` wrote."""
    return tuple(State.restore(name, fields) for name, fields in packed)


def pack_groups(groups: Mapping[Group, Piece]) -> list[Any]:
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


def unpack_groups(packed: Any, by: tuple[str, ...]) -> Groups:
    """The groups that `pack_groups` wrote, of so many columns."""
    out: Groups = {}
    for labels, values, intervals in packed:
        if type(labels) is not list or len(labels) != len(by) or not all(map(_is_label, labels)):
            raise StateError("a group has one label per column")
        group = labels[0] if len(by) == 1 else tuple(labels)
        if group in out:
            raise StateError(f"the group {group!r} stands there twice")
        out[group] = Piece(unpack_states(values), unpack_states(intervals))
    return out


class _Contents(NamedTuple):
    """What a tally holds of its rows. An update replaces it as a whole, so a reader never sees half an update."""

    whole: Piece | None = None
    groups: Groups = {}
    columns: tuple[int, int] | None = None
    numbered: bool = False  # whether rows are numbered by their place in this tally
    dropped: int = 0

    @property
    def n(self) -> int:
        return 0 if self.whole is None else self.whole.n


class Tally:
    """Metrics over rows that come in pieces: update it, add it to others, and read a report at any time.

    Threads may share a tally: its updates run one after the other, and everything else sees a whole number of them.

    `ci=0.95` puts intervals into the report, as in `evaluate`: by a formula where a metric has one, which takes no more
    than a few totals beside those of the value, else by a bootstrap. Of its resamples one state each is kept: a
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
        target: Target | None = None,
        kind: str | None = None,
        classes: object = None,
        positive: object = None,
        normalize: bool = False,
        missing: str = "error",
        by: str | Sequence[str] | None = None,
        ci: float | Intervals | None = None,
    ) -> None:
        if metrics is None:
            raise ParameterError(argument="metrics", expected="be given for a Tally: there are no rows yet to go by")
        self.metrics: dict[str, Metric] = select_metrics(metrics)
        self.by = _group_names(by)
        for item in self.metrics.values():
            if isinstance(item, GroupMetric) and not self.by:
                raise ParameterError(
                    argument="by", expected=f"name the columns of groups that {item} compares, such as by='country'"
                )
        self.target = target_of(target, kind, classes, positive, normalize)
        check_missing(missing)
        self.missing = missing
        self.interval: Intervals | None = None if ci is None else _kept(as_intervals(ci))
        self._contents = _Contents()
        self._lock = RLock()  # reentrant, since reading labels may run code of the caller's

    @property
    def n(self) -> int:
        """How many rows were counted."""
        return self._contents.n

    @property
    def dropped(self) -> int:
        """How many rows were left out for missing values."""
        return self._contents.dropped

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
            raise resampled_by("keys" if cluster is None else "cluster")
        labels: dict[str, Any] = {"query": query, "by": self._group_columns(by), "cluster": cluster, "keys": keys}
        return self._update(Batch(y_true, y_pred, weights, missing=self.missing, whole=False, **labels))

    def _update(self, batch: Batch) -> Tally:
        """Add rows that have been read already.

        Kernels run outside the lock, so that threads fold in parallel; rows that are numbered for intervals wait for
        their numbers.
        """
        columns = (batch.truth_columns, batch.prediction_columns)
        folded = None
        if batch.n and self.interval is None:
            self._check_columns(columns)
            folded = self._fold(batch)
        with self._lock:
            if not batch.n:
                held = self._contents
                self._contents = held._replace(dropped=held.dropped + batch.dropped)
                return self
            self._check_columns(columns)
            whole, groups = folded or self._fold(batch)
            held = self._contents
            if held.whole is not None:
                whole, groups = held.whole.plus(whole), add_groups(held.groups, groups)
            numbered = batch.key_side is None and batch.cluster_side is None
            self._contents = _Contents(whole, groups, columns, numbered, held.dropped + batch.dropped)
        return self

    def _check_columns(self, columns: tuple[int, int]) -> None:
        kept = self._contents.columns
        if kept is not None and columns != kept:
            raise ShapeError(
                Text(
                    "{y_true} and {y_pred} must keep their {} and {} columns; got {} and {}",
                    kept[0],
                    kept[1],
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
            told = f"was made with by={list(self.by)}" if self.by else "was made without"
            raise ParameterError(
                Text("{by} must be given for a tally and for its rows, or for neither; the tally {}", told),
                argument="by",
            )
        columns = group_columns(by)
        if len(columns) == len(self.by) == 1:
            return dict(zip(self.by, columns.values(), strict=True))
        if set(columns) != set(self.by):
            raise ParameterError(
                argument="by", expected=f"hold the columns {', '.join(self.by)}", got=f"{', '.join(columns)}"
            )
        return {name: columns[name] for name in self.by}

    def _fold(self, batch: Batch) -> tuple[Piece, Groups]:
        """The states of rows, and of each of their groups."""
        chosen = self._chosen((batch.truth_columns, batch.prediction_columns))
        if self.interval is None:
            whole = Piece(chosen.fold(batch))
            return whole, {group: Piece(chosen.fold(rows)) for group, rows in self._split(batch)}
        numbered = batch.key_side is None and batch.cluster_side is None
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
        plan = self._intervals(chosen, (batch.truth_columns, batch.prediction_columns)).states
        whole = Piece(chosen.fold(batch), plan.fold(counted))
        parts = dict(self._split(counted))
        groups = {
            group: Piece(chosen.fold(rows), plan.fold(parts[group]) if group in parts else plan.zero())
            for group, rows in self._split(batch)
        }
        return whole, groups

    def _split(self, batch: Batch) -> list[tuple[Group, Batch]]:
        return split(batch) if self.by else []

    def _intervals(self, chosen: MetricPlan, columns: tuple[int, int] | None) -> IntervalPlan:
        from tallymark.evaluation.intervals import interval_plan  # most tallies have none

        assert self.interval is not None
        return interval_plan(chosen, self.interval, columns)

    def __add__(self, other: Tally) -> Tally:
        if not isinstance(other, Tally):
            return NotImplemented
        left, right = self._contents, other._contents
        self._check_addable(other, left.columns, right.columns)
        numbered = left.numbered or right.numbered
        pieces = [(held.whole, held.groups) for held in (left, right) if held.whole is not None]
        if len(pieces) == 2 and numbered:
            pieces = [(whole.without_keys(), _without_keys(groups)) for whole, groups in pieces]
        total: Piece | None = None
        by_group: Groups = {}
        for whole, groups in pieces:
            total = whole if total is None else total.plus(whole)
            by_group = add_groups(by_group, groups)
        out = self.empty()
        out._contents = _Contents(
            total, by_group, left.columns or right.columns, numbered, left.dropped + right.dropped
        )
        return out

    def _check_addable(self, other: Tally, mine: tuple[int, int] | None, theirs: tuple[int, int] | None) -> None:
        if self.metrics != other.metrics or self.target != other.target:
            one, two = (
                (", ".join(self.metrics), ", ".join(other.metrics))
                if self.metrics != other.metrics
                else (self.target, other.target)
            )
            raise StateError(f"only tallies of the same metrics and target add; these have {one} and {two}")
        if self.by != other.by:
            one, two = (", ".join(tally.by) or "none" for tally in (self, other))
            raise StateError(f"only tallies of the same groups add; these have {one} and {two}")
        if mine and theirs and mine != theirs:
            raise StateError(f"only tallies of tables of the same width add; these have {mine} and {theirs} columns")
        if self.interval != other.interval:
            one, two = (str(tally.interval and tally.interval.to_dict()) for tally in (self, other))
            raise StateError(f"only tallies with the same intervals add; these have {one} and {two}")

    def empty(self) -> Tally:
        """A tally of the same kind that has no rows yet."""
        out = Tally(self.metrics, missing=self.missing, by=self.by or None, target=self.target)
        out.interval = self.interval
        return out

    def read_by(self, metrics: dict[str, Metric], *instead: State) -> Tally:
        """The tally of the same rows that has other metrics, which read its states and those that are given."""
        out = Tally(metrics, missing=self.missing, by=self.by or None, target=self.target)
        out.interval = self.interval
        held = self._contents
        whole = None
        if held.whole is not None:
            states = {state.reads.group: state for state in (*held.whole.values, *instead)}
            values = tuple(states[reads.group] for reads in out._chosen(held.columns).plan.reads)
            whole = Piece(values, held.whole.intervals)
        out._contents = held._replace(whole=whole, groups={})
        return out

    def state(self, reads: Reads) -> State | None:
        """The state that answers a declaration; None where there is none, or no rows."""
        whole = self._contents.whole
        held = () if whole is None else whole.values
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
            raise ParameterError(
                Text("{min_rows} is the smallest size of groups that are compared; this tally has none"),
                argument="min_rows",
            )
        held = self._contents
        chosen = self._chosen(held.columns)
        whole = held.whole or Piece(chosen.plan.zero())
        groups = resolve_groups(held.groups, whole)
        of_groups: dict[str, Any] = (
            {"slices": slices_of(groups), "by": self.by, "min_rows": min_rows} if self.by else {}
        )
        report = chosen.report(whole.values, dropped=held.dropped, errors=errors, **of_groups)
        if self.interval is None:
            return report
        from tallymark.evaluation.intervals import add_kept_intervals

        intervals = self._intervals(chosen, held.columns)
        states = whole if whole.intervals else Piece(whole.values, intervals.states.zero())
        try:
            return add_kept_intervals(report, intervals, chosen, states, groups)
        except TallymarkError:
            raise
        except (ArithmeticError, ValueError) as error:  # bytes can hold totals that fit together in all but their sizes
            raise StateError(f"no rows have the totals of this tally: {error}") from error

    def to_bytes(self) -> bytes:
        """The tally in the portable byte format of states."""
        from tallymark.states.serialization import pack

        for key, item in self.metrics.items():
            if metric(str(item)) != item:
                raise StateError(f"{key} cannot be written: its name does not lead back to it")
        held = self._contents
        whole = held.whole or Piece(())
        fields = {
            "metrics": [[key, str(item)] for key, item in self.metrics.items()],
            "target": self.target.facts(),
            "missing": self.missing,
            "dropped": held.dropped,
            "columns": None if held.columns is None else list(held.columns),
            "states": pack_states(whole.values),
        }
        if self.by:
            fields |= {"by": list(self.by), "groups": pack_groups(held.groups)}
        if self.interval is not None:
            fields |= {
                "interval": self.interval.to_dict(),
                "interval_states": pack_states(whole.intervals),
                "numbered": held.numbered,
            }
        return pack("Tally", fields)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the tally to a file, whole or not at all, from which `Tally.load` reads it."""
        from tallymark.rendering.files import write_whole

        write_whole(path, self.to_bytes())

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Tally:
        """The tally in a file that `save` wrote."""
        place = check_path(path)
        try:
            with open(place, "rb") as file:
                data = file.read()
        except OSError as error:
            why = error.strerror or error
            raise FileError(f"the tally `{place}` could not be read: {why}") from error
        try:
            return Tally.from_bytes(data)
        except StateError as error:
            raise FileError(f"`{place}` does not hold a tally: {error}") from error

    @staticmethod
    def from_bytes(data: bytes) -> Tally:
        """The tally that `to_bytes` wrote, by this release or an earlier one."""
        from tallymark.states.serialization import unpack

        kind, fields = unpack(data)
        if kind != "Tally":
            raise StateError(f"these bytes hold a {kind}, not a Tally")
        try:
            by = _read_names(fields.get("by", []))
            out = Tally(dict(fields["metrics"]), missing=fields["missing"], by=by, target=Target(**fields["target"]))
            out.interval = _read_settings(fields.get("interval"))
            whole = Piece(unpack_states(fields["states"]), unpack_states(fields.get("interval_states", ())))
            out._contents = _Contents(
                whole if whole.values else None,
                unpack_groups(fields.get("groups", ()), out.by),
                unpack_columns(fields["columns"]),
                out.interval is not None and fields["numbered"] is True,
                count_of(fields["dropped"]),
            )
            out._check_states()
        except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError) as error:
            raise StateError(f"these bytes do not hold a valid Tally: {error}") from error
        return out

    def _check_states(self) -> None:
        """Refuse states that are not of these metrics, or groups that are not those of all rows."""
        whole, groups, columns, _, _ = self._contents
        chosen = self._chosen(columns)
        reads: list[Any] = list(chosen.plan.reads)
        if self.interval is not None:
            reads += self._intervals(chosen, columns).states.reads
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

    def _chosen(self, columns: tuple[int, int] | None) -> MetricPlan:
        return plan(self.metrics, self.target, columns, errors="cell")


def _kept(asked: Intervals) -> Intervals:
    """The settings, if so many resamples can be kept; no more than that where the number is the usual one."""
    if asked.method == "analytic":
        return resolve(asked)
    if asked.resamples is not None:
        check_whole("resamples", asked.resamples, 1, MOST_RESAMPLES, " for a Tally, which keeps a state of each")
    return resolve(asked, most=MOST_RESAMPLES)


def _group_names(by: object) -> tuple[str, ...]:
    """The names of the columns of groups, checked."""
    if by is None:
        return ()
    try:
        names = (by,) if isinstance(by, str) else tuple(by)  # type: ignore[arg-type]
    except Exception as error:
        raise ParameterError(argument="by", expected="be the names of columns, each once", got=brief(by)) from error
    if not names:
        raise ParameterError(argument="by", expected="name at least one column", got="none")
    if not all(isinstance(name, str) and name for name in names) or len(set(names)) < len(names):
        raise ParameterError(argument="by", expected="be the names of columns, each once", got=brief(by))
    return names


def _without_keys(groups: Groups) -> Groups:
    return {group: piece.without_keys() for group, piece in groups.items()}


def _read_names(names: Any) -> tuple[str, ...] | None:
    """The names of the columns of groups, as they were written."""
    if type(names) is not list:
        raise StateError(Text("{by} is no list"), argument="by")
    return tuple(names) or None


def _read_settings(fields: Any) -> Intervals | None:
    """The settings of intervals, as they were written."""
    if fields is None:
        return None
    level, method, resamples, seed = (fields[name] for name in ("level", "method", "resamples", "seed"))
    usual = _kept(Intervals(level, method, None, seed))  # which may be fewer resamples than the level needs
    return usual if usual.resamples == resamples else _kept(Intervals(level, method, resamples, seed))
