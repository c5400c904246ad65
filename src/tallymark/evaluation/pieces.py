"""What a tally holds of some rows: the states of their values, and those that intervals are read from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from tallymark.errors import StateError
from tallymark.labels import MOST_BITS
from tallymark.states import Group, Plan, Resampled, Slice, State, States, sorted_groups


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

    def under(self, whole: Piece) -> Piece:
        """The states of a group, with the classes of all rows."""
        return Piece(_settled(self.values, whole.values), _settled(self.intervals, whole.intervals))

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


def _settled(states: States, whole: States) -> States:
    return tuple(mine.under(every.reads.settled(None, every)) for mine, every in zip(states, whole, strict=True))


Groups = dict[Group, Piece]


def add_groups(left: Mapping[Group, Piece], right: Mapping[Group, Piece]) -> Groups:
    """The groups of both sets of rows."""
    out = dict(left)
    for group, piece in right.items():
        out[group] = out[group].plus(piece) if group in out else piece
    return out


def settled_groups(groups: Mapping[Group, Piece], whole: Piece) -> dict[Group, Piece]:
    """The groups in order, with the classes of all rows."""
    return {group: groups[group].under(whole) for group in sorted_groups(groups)}


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
