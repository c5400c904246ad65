"""The resampled state: the states of all replicates of the rows, and of groups of rows that can be left out.

How often a row counts in a replicate follows from its key alone, so the replicates of pieces add up to those of the
whole, to the last bit. The size is fixed where that of a replicate is.

There are at most 256 groups, by the first bits of a hash of the keys; prefix and suffix sums of their states give what
is left when one is taken out. The number of bits is the largest at which there are few enough groups: it depends on the
set of keys alone. So few rows are left out one by one, and `evaluate` and any sum of pieces leave out the same.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from itertools import accumulate
from operator import add
from typing import Any, NamedTuple

import numpy as np

from tallymark.data.arrays import Array
from tallymark.data.batch import Batch
from tallymark.errors import StateError
from tallymark.states.base import Reads, State
from tallymark.states.groups import rows_by
from tallymark.states.resampling.draws import Draws
from tallymark.states.resampling.keys import HASH_BITS, MOST_GROUPS, group_hashes, hash_keys, row_keys

MOST_RESAMPLES = 10_000  # whose states are kept
MOST_HELD = 1 << 21  # numbers, in the states of all replicates and groups together
MOST_LEFT_OUT = 10_000  # rows beyond which leaving some out tells nothing that matters
KEPT = ("fixed", "distinct pairs")
"""Sizes of states of which a replicate each can be kept."""
TOO_LARGE, NO_KEYS = "size", "keys"
_LOST = ("", TOO_LARGE, NO_KEYS)


class Groups(NamedTuple):
    """The states of groups of rows whose hashes begin alike, in the order of those first bits."""

    bits: int
    ids: Array
    states: tuple[State, ...]

    def plus(self, other: Groups) -> Groups:
        """The groups of both sets of rows, as few as there may be."""
        bits = min(self.bits, other.bits)
        ids = np.concatenate([each.ids >> np.uint64(each.bits - bits) for each in (self, other)])
        dropped, ids, codes = group_hashes(ids)
        states: list[State | None] = [None] * len(ids)
        for code, state in zip(codes.tolist(), (*self.states, *other.states), strict=True):
            before = states[code]
            states[code] = state if before is None else before + state
        return Groups(bits - dropped, ids, tuple(state for state in states if state is not None))

    def left_out(self, zero: State) -> Iterator[State]:
        """The state of all groups but one, for one after the other."""
        before = list(accumulate(self.states, add, initial=zero))
        after = list(accumulate(reversed(self.states), add, initial=zero))[::-1]
        for place in range(len(self.states)):
            yield before[place] + after[place + 1]


class ResampledOf(Reads):
    """Asks for the replicates of a state. `always=False` leaves out rows that have neither weights nor clusters, for
    which there is a formula."""

    __slots__ = ("always", "of", "resamples", "seed")

    def __init__(self, of: Reads, seed: int, resamples: int, *, always: bool = True) -> None:
        self.of = of
        self.seed = seed
        self.resamples = resamples
        self.always = always

    @property
    def group(self) -> Hashable:
        return (ResampledOf, self.of.group, self.seed, self.resamples, self.always)

    def join(self, other: ResampledOf) -> ResampledOf:
        return ResampledOf(self.of.join(other.of), self.seed, self.resamples, always=self.always)

    def zero(self) -> Resampled:
        return Resampled(self, self.of.zero(), (), None)

    def resolved(self, batch: Batch | None, whole: Resampled) -> ResampledOf:
        of = self.of.resolved(None, whole.whole)
        return ResampledOf(of, self.seed, self.resamples, always=self.always)

    def fold(self, batch: Batch) -> Resampled:
        if batch.n == 0 or not (self.always or batch.weights is not None or batch.cluster_side is not None):
            return self.zero()
        whole, keys = self.of.fold(batch), row_keys(batch)
        if not self.can_hold(whole):
            return Resampled(self, whole, (), None, TOO_LARGE)
        draws = Draws(self.seed, self.resamples, keys, batch.n)
        # With weights all replicates are folded alike, whichever rows of a piece happen to have a weight of 1.
        found = (
            Reads.replicates(self.of, batch, draws) if batch.weights is not None else self.of.replicates(batch, draws)
        )
        states = tuple(self._checked(state, batch, draws, place) for place, state in enumerate(found))
        groups = self._fold_groups(batch, keys) if batch.n <= MOST_LEFT_OUT else None
        return Resampled(self, whole, states, groups)

    def can_hold(self, whole: State) -> bool:
        """Whether replicates of a state are not too large to keep all of them. Further rows never make them smaller."""
        return (self.resamples + MOST_GROUPS) * whole.entries <= MOST_HELD

    def _checked(self, state: State | None, batch: Batch, draws: Draws, replicate: int) -> State:
        if state is None:
            return self.of.fold(batch.with_weights(draws.weights(replicate, batch.weights)))  # which says why
        return state if state.n else self.of.zero()

    def _fold_groups(self, batch: Batch, keys: Array | None) -> Groups:
        hashes = hash_keys(keys, batch.n)
        counts = np.ones(batch.n, bool) if batch.weights is None else np.asarray(batch.weights) > 0
        dropped, ids, found = group_hashes(hashes[counts])
        codes = np.full(batch.n, len(ids))
        codes[counts] = found
        parts = rows_by(batch, codes, len(ids))
        return Groups(HASH_BITS - dropped, ids, tuple(self.of.fold(part) for part in parts))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ResampledOf) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    @property
    def _key(self) -> tuple[Hashable, ...]:
        return (self.of, self.seed, self.resamples, self.always)

    def __repr__(self) -> str:
        return f"ResampledOf({self.of!r}, seed={self.seed}, resamples={self.resamples})"


class Resampled(State):
    """The state of all rows, those of the replicates, and those of groups; None where there are too many rows for
    groups to matter.

    `lost` says why there are no replicates any more: "size" if they hold too many numbers, "keys" if rows of the pieces
    that were added cannot be told apart.
    """

    __slots__ = ("_reads", "groups", "lost", "states", "whole")

    def __init__(
        self, reads: ResampledOf, whole: State, states: tuple[State, ...], groups: Groups | None, lost: str = ""
    ) -> None:
        self._reads = reads
        self.whole = whole
        self.states = states
        self.groups = groups
        self.lost = lost

    @property
    def reads(self) -> ResampledOf:
        return self._reads

    @property
    def columns(self) -> tuple[int, int] | None:
        return self.whole.columns

    @property
    def n(self) -> int:
        return self.whole.n

    @property
    def weight(self) -> int:
        return self.whole.weight

    def with_reads(self, reads: ResampledOf) -> Resampled:
        states = tuple(state.with_reads(reads.of) for state in self.states)
        groups = self.groups
        if groups is not None:
            groups = groups._replace(states=tuple(state.with_reads(reads.of) for state in groups.states))
        return Resampled(reads, self.whole.with_reads(reads.of), states, groups, self.lost)

    def replicates(self) -> Iterator[State]:
        """The states of the replicates, with the classes of all rows."""
        return self._resolved(self.states)

    def left_out(self) -> Iterator[State] | None:
        """The states without one group after the other, with the classes of all rows; None where nothing is left
        out."""
        return None if self.groups is None else self._resolved(self.groups.left_out(self._reads.of.zero()))

    def _resolved(self, states: Iterable[State]) -> Iterator[State]:
        reads = self._reads.of.resolved(None, self.whole)
        return (state.with_reads(reads) for state in states)

    def resolved_whole(self) -> State:
        """The state of all rows, which says which classes there are."""
        return next(self._resolved([self.whole]))

    def without_keys(self) -> Resampled:
        """The same without its replicates, where rows that will be added cannot be told from these."""
        return Resampled(self._reads, self.whole, (), None, NO_KEYS) if self.n else self

    def __add__(self, other: Resampled) -> Resampled:
        if not isinstance(other, Resampled):
            return NotImplemented
        if self._reads != other._reads:
            raise StateError(
                f"only replicates of the same kind can be added; these are {self._reads} and {other._reads}"
            )
        if self.columns is None or other.columns is None:
            return other if self.columns is None else self
        whole = self.whole + other.whole
        lost = max(self.lost, other.lost, "" if self._reads.can_hold(whole) else TOO_LARGE, key=_LOST.index)
        if lost:
            return Resampled(self._reads, whole, (), None, lost)
        states = tuple(map(add, self.states, other.states))
        groups = None
        if self.groups is not None and other.groups is not None and whole.n <= MOST_LEFT_OUT:
            groups = self.groups.plus(other.groups)
        return Resampled(self._reads, whole, states, groups)

    def fields(self) -> dict[str, Any]:
        groups = self.groups
        return {
            "seed": self._reads.seed,
            "resamples": self._reads.resamples,
            "always": self._reads.always,
            "none": _packed(self._reads.of.zero()),
            "whole": _packed(self.whole),
            "states": [_packed(state) for state in self.states],
            "groups": None
            if groups is None
            else [groups.bits, groups.ids.view(np.int64), [_packed(state) for state in groups.states]],
            "lost": self.lost,
        }

    @classmethod
    def from_fields(cls, fields: dict[str, Any]) -> Resampled:
        seed, resamples, always, lost = (fields[key] for key in ("seed", "resamples", "always", "lost"))
        if type(seed) is not int or not 0 <= seed < 1 << 64 or not isinstance(always, bool) or lost not in _LOST:
            raise StateError("resamples have a seed, and are there or lost")
        if type(resamples) is not int or not 1 <= resamples <= MOST_RESAMPLES:
            raise StateError(f"there must be 1 to {MOST_RESAMPLES:,} resamples")
        reads = ResampledOf(_restored(fields["none"]).reads, seed, resamples, always=always)
        whole = _restored(fields["whole"])
        states = tuple(map(_restored, fields["states"]))
        groups = None if fields["groups"] is None else _checked_groups(*fields["groups"])
        for state in (whole, *states, *(groups.states if groups else ())):
            if state.reads != reads.of or state.columns not in (None, whole.columns):
                raise StateError("the resamples do not fit the rows")
        if len(states) != (resamples if whole.n and not lost else 0) or (groups is not None and not states):
            raise StateError("there must be one state per resample")
        if groups is not None and sum(state.n for state in groups.states) > whole.n:
            raise StateError("there are more rows in groups than there are rows")
        if states and ((groups is None) != (whole.n > MOST_LEFT_OUT) or not reads.can_hold(whole)):
            raise StateError("groups are kept of few rows, and resamples of small states")
        return cls(reads, whole, states, groups, lost)


def _packed(state: State) -> list[Any]:
    return [type(state).__name__, state.fields()]


def _restored(packed: Any) -> State:
    name, fields = packed
    if name == Resampled.__name__:
        raise StateError("resamples are not resampled again")
    found = State.restore(name, fields)
    if type(found).size not in KEPT:
        raise StateError(f"a {name} state is too large to be kept for each resample")
    return found


def _checked_groups(bits: Any, ids: Any, packed: Any) -> Groups:
    states = tuple(map(_restored, packed))
    if type(bits) is not int or not 1 <= bits <= HASH_BITS or ids.dtype != np.int64 or ids.ndim != 1:
        raise StateError("groups begin with the same bits")
    hashes = ids.view(np.uint64)
    if len(hashes) != len(states) or len(hashes) > MOST_GROUPS or (hashes[1:] <= hashes[:-1]).any():
        raise StateError("groups must differ and be in order, one state for each")
    if len(hashes) and bits < HASH_BITS and int(hashes[-1]) >> bits:
        raise StateError("groups begin with the same bits")
    return Groups(bits, hashes, states)
