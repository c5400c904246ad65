"""The algebra: State, Reads and Plan.

A `State` has a zero and can be added. A `Reads` declares which state a metric reads and what that must hold. A `Plan`
joins the declarations of many metrics, so that each state is computed once.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Iterator, Set
from copy import copy
from importlib import import_module
from typing import Any, ClassVar, Generic, Self, TypeVar

from tallymark.data.batch import Batch
from tallymark.data.target import Target
from tallymark.errors import StateError, TallymarkError
from tallymark.states.resampling.draws import Draws
from tallymark.threads import map_in_order

UNIT_BITS = 1074
"""Exact totals are integers in units of 2**-1074, the smallest positive float64."""

MOST_ROWS = 1 << 53
"""More rows than this are not counted exactly by a float64."""

MOST_WHOLE = 1 << 117
"""No integer weights add up to more: each has 64 bits, and there are at most 2**53 rows."""

ONE = 1 << UNIT_BITS
"""The number 1 as an exact total."""


def to_float(exact: int) -> float:
    """An exact total rounded once to the nearest float64; infinite if it is out of range."""
    return divide(exact, ONE)


def divide(numerator: int, denominator: int) -> float:
    """The quotient of two integers, rounded once; infinite if it is out of range."""
    try:
        return numerator / denominator
    except OverflowError:
        return float("inf") if (numerator > 0) == (denominator > 0) else float("-inf")


def to_number(exact: int) -> float:
    """An exact total as a float; as an int where it is whole and a float would round it.

    >>> to_number(ONE // 2), to_number(3 * ONE), to_number((2**53 + 1) * ONE)
    (0.5, 3.0, 9007199254740993)
    """
    whole, rest = divmod(exact, ONE)
    found = to_float(exact)
    return found if rest or found == whole or whole >= MOST_WHOLE else whole


def exact_total(raw: bytes, shift: int) -> int:
    """An exact total as the core gives it: little-endian bytes, and how many bits below them are zero."""
    return int.from_bytes(raw, "little", signed=True) << shift


class State(ABC):
    """What a metric needs to know about the rows seen so far.

    Nothing changes a state once it is made. States add in any order and grouping, and zero changes nothing. `size`
    says what the size of the state goes with: it is fixed, or grows with the distinct pairs of labels or with the rows.
    """

    __slots__ = ()
    size: ClassVar[str] = "fixed"
    exact: ClassVar[bool] = False
    """Whether formulas read whole numbers only, so that no weight is too small for them."""
    sides: ClassVar[str] = "truth and prediction"
    """What the columns hold."""

    @property
    @abstractmethod
    def reads(self) -> Reads:
        """The declaration that the state answers."""

    @property
    @abstractmethod
    def columns(self) -> tuple[int, int] | None:
        """How many columns of truth and prediction were seen; None before the first row."""

    @property
    @abstractmethod
    def n(self) -> int:
        """How many rows were seen."""

    @property
    @abstractmethod
    def weight(self) -> int:
        """The total weight, as an exact total."""

    @property
    def total_weight(self) -> float:
        """The total weight as a float, or as an int where a float would round it."""
        return to_number(self.weight)

    @property
    def unweighted(self) -> bool:
        """Whether all rows can be of weight 1, as far as the totals say: weights of mean 1 look the same."""
        return self.weight == self.n << UNIT_BITS

    @property
    def entries(self) -> int:
        """How many numbers it holds, roughly. Rows never make it less."""
        return 1

    def with_reads(self, reads: Any) -> State:
        """The same totals read by a declaration that knows more, such as the classes of all rows."""
        return self

    def with_row_count(self, n: int) -> State:
        """The same totals of so many rows only, where the others weigh nothing."""
        return self

    @abstractmethod
    def __add__(self, other: Any) -> State: ...

    @abstractmethod
    def fields(self) -> dict[str, Any]:
        """What the byte format writes: numbers, strings, arrays, and lists and dicts of them."""

    @classmethod
    @abstractmethod
    def from_fields(cls, fields: dict[str, Any]) -> State:
        """The inverse of `fields`; raises on anything that `fields` could not have written."""

    def to_bytes(self) -> bytes:
        """The state in the portable byte format."""
        from tallymark.states.serialization import pack

        return pack(type(self).__name__, self.fields())

    @staticmethod
    def from_bytes(data: bytes) -> State:
        """The state that `to_bytes` wrote, by this release or an earlier one."""
        from tallymark.states.serialization import unpack

        return State.restore(*unpack(data))

    @staticmethod
    def restore(name: str, fields: dict[str, Any]) -> State:
        """The state of the type `name` with these fields."""
        cls = _class_of(name)
        if cls is None:
            import_module("tallymark.states.resampling.units")  # which is not loaded before intervals are made
            cls = _class_of(name)
        if cls is None:
            raise StateError(
                f"these bytes contain a state of the unknown type {name!r}; a newer release may have written them"
            )
        try:
            found = cls.from_fields(fields)
        except (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError) as error:
            raise StateError(f"these bytes do not contain a valid {name} state: {error}") from error
        if found.n > MOST_ROWS:
            raise StateError(f"these bytes do not contain a valid {name} state: it has more than 2**53 rows")
        return found

    def __reduce__(self) -> tuple[Any, ...]:
        return (State.from_bytes, (self.to_bytes(),))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, State) and type(self) is type(other) and self.to_bytes() == other.to_bytes()

    def __hash__(self) -> int:
        return hash(self.to_bytes())


def _class_of(name: str) -> type[State] | None:
    found = (cls for cls in _subclasses(State) if cls.__name__ == name and not cls.__abstractmethods__)
    return next(found, None)


def _subclasses(cls: Any) -> Iterator[type[State]]:
    for sub in cls.__subclasses__():
        yield sub
        yield from _subclasses(sub)


class Reads(ABC):
    """Which state a metric reads, and what that state must hold. Equal declarations share one state."""

    __slots__ = ()

    @property
    @abstractmethod
    def group(self) -> Hashable:
        """Declarations of one group can be joined into one state."""

    @abstractmethod
    def join(self, other: Any) -> Reads:
        """The declaration of a state that serves both."""

    @abstractmethod
    def zero(self) -> State:
        """The state of no rows."""

    @abstractmethod
    def fold(self, batch: Batch) -> State:
        """The state of the rows of one batch."""

    def resolved(self, batch: Batch | None, whole: Any) -> Reads:
        """The declaration for some of the rows of a batch, given the state of all: what follows from the
        rows, such as the classes, follows from all of them. The batch is None if there are only states."""
        return self

    def replicates(self, batch: Batch, draws: Draws) -> Iterator[State | None]:
        """The states of all replicates of a batch, in order; None for one that cannot be read."""

        def fold(replicate: int) -> State | None:
            try:
                return self.fold(batch.with_weights(draws.weights(replicate, batch.weights)))
            except TallymarkError:
                return None

        return map_in_order(fold, draws.resamples, batch.n)


class ParameterlessReads(Reads):
    """A declaration without parameters: all of one class are the same."""

    __slots__ = ()

    @property
    def group(self) -> Hashable:
        return type(self)

    def join(self, other: Any) -> Reads:
        return self

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self)

    def __hash__(self) -> int:
        return hash(type(self))

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class KeyedReads(Reads):
    """A declaration that is what its key says: equal ones share a state, and others have nothing to join."""

    __slots__ = ()

    @property
    @abstractmethod
    def key(self) -> tuple[Hashable, ...]:
        """What it asks for."""

    @property
    def group(self) -> Hashable:
        return self

    def join(self, other: Any) -> Self:
        return self

    def __eq__(self, other: object) -> bool:
        return isinstance(other, KeyedReads) and type(other) is type(self) and self.key == other.key

    def __hash__(self) -> int:
        return hash((type(self), self.key))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(repr, self.key))})"


States = tuple[State, ...]


class Plan:
    """The joined declarations of many metrics: one state per group, each computed once."""

    __slots__ = ("_places", "reads")

    def __init__(self, wanted: Iterable[Reads]) -> None:
        groups: dict[Hashable, list[Reads]] = {}
        for reads in wanted:
            groups.setdefault(reads.group, []).append(reads)
        ordered = sorted(groups, key=str)  # the same states in the same order, whatever the order of the metrics
        self.reads = tuple(_joined(groups[group]) for group in ordered)
        self._places = {group: place for place, group in enumerate(ordered)}

    def part(self, groups: Set[Hashable]) -> Plan:
        """The plan of some groups, whose states stay what they are beside the others."""
        return Plan(reads for reads in self.reads if reads.group in groups)

    def zero(self) -> States:
        """The states of no rows."""
        return tuple(reads.zero() for reads in self.reads)

    def fold(self, batch: Batch) -> States:
        """The states of one batch."""
        return tuple(reads.fold(batch) for reads in self.reads)

    def place(self, reads: Reads) -> int:
        """Where the state stands that serves a declaration."""
        return self._places[reads.group]

    def pick(self, states: States, reads: Reads) -> State:
        """The state that serves a declaration."""
        return states[self.place(reads)]

    @staticmethod
    def add(left: States, right: States) -> States:
        """The states of both sets of rows."""
        return tuple(a + b for a, b in zip(left, right, strict=True))


def _joined(reads: list[Reads]) -> Reads:
    """The declaration that serves all of them. Neighbours join first: one after the other would take quadratic time."""
    while len(reads) > 1:
        reads = [reads[k].join(reads[k + 1]) if k + 1 < len(reads) else reads[k] for k in range(0, len(reads), 2)]
    return reads[0]


R = TypeVar("R", bound=Reads)


class FoldedState(State, Generic[R]):
    """A state that knows its declaration, the widths of the tables and the number of rows."""

    __slots__ = ("columns", "n", "reads")
    reads: R
    columns: tuple[int, int] | None
    n: int

    def __init__(self, reads: R, columns: tuple[int, int] | None, n: int) -> None:
        self.reads = reads
        self.columns = columns
        self.n = n

    def with_row_count(self, n: int) -> State:
        if self.n == n:
            return self
        out = copy(self)
        out.n = n
        return out


class TargetState(FoldedState[R]):
    """A state of rows that a target describes: it adds to one of the same declaration, and nothing changes it."""

    __slots__ = ()

    @property
    def target(self) -> Target:
        """What the predictions are."""
        target: Target = self.reads.target  # type: ignore[attr-defined]
        return target

    @property
    def width(self) -> int:
        """How many columns of predictions were seen."""
        return self.columns[1] if self.columns is not None else 0

    def __add__(self, other: Any) -> Self:
        if not isinstance(other, type(self)):
            return NotImplemented
        check_addable(self, other)
        if self.columns is None:
            return other
        if other.columns is None:
            return self
        return self._plus(other)

    @abstractmethod
    def _plus(self, other: Any) -> Self:
        """The state of both sets of rows, neither of which is empty."""

    def fields(self) -> dict[str, Any]:
        return {
            "target": self.target.keywords(),
            "columns": None if self.columns is None else list(self.columns),
            "n": self.n,
        }


def check_addable(left: State, right: State) -> None:
    """Refuse to add states of different declarations or widths."""
    if left.reads != right.reads:
        raise StateError(f"only states of the same target can be added; these read {left.reads} and {right.reads}")
    check_same_width(left, right)


def check_same_width(left: State, right: State) -> None:
    """Refuse to add states of tables of different widths."""
    if left.columns and right.columns and left.columns != right.columns:
        raise StateError(
            "only states of tables of the same width can be added; these have "
            f"{left.columns} and {right.columns} columns of {left.sides}"
        )


def check_label_types(kinds: Set[bool]) -> None:
    """Refuse to add labels that are numbers and labels that are strings; given whether they are strings."""
    if len(kinds) > 1:
        raise StateError(
            "only states with one type of label can be added; these contain numbers and strings",
            hint="Read the labels of all batches as strings; if they come from CSV files, read all files in one call",
        )
