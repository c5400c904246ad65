"""The probabilities state: exact totals of what the probability of each row cost. Its size is fixed.

One column of probabilities with a truth of 0 and 1 is one more pair of columns for the sums: log loss and squared error
are terms, and the same pass finds the range of both columns, so that most input is read once. Other labels become 0 and
1 first. Of several columns, the core makes one column per quantity, which is summed like any other.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, NamedTuple

import numpy as np

from tallymark._core import Tasks
from tallymark.data.batch import Batch
from tallymark.data.labels import Label
from tallymark.data.target import Target
from tallymark.errors import StateError
from tallymark.states.base import UNIT_BITS, Reads, divide
from tallymark.states.probabilities.base import LabelledState, checked_shape
from tallymark.states.probabilities.reading import (
    BRIER,
    HAPPENED,
    RANKED,
    BinaryProbabilities,
    check_kind,
    read_hinge_losses,
    read_probability_columns_of,
    total_binary,
    with_checks,
)
from tallymark.states.scores.scores import margin_between
from tallymark.states.serialization import unpack_target
from tallymark.states.sums import CODES, POWERS, Moments, Task, moments, read_totals, run_tasks

# What a cost is over one column of probabilities, and which quantity of a row of several it is.
_BINARY = {"brier": "squared_error", "log_loss": "log_loss", "rps": "squared_error"}
_SEVERAL = {"brier": BRIER, "log_loss": HAPPENED, "rps": RANKED}
_BINARY.update({f"{name}_{power}": f"{term}_{power}" for name, term in _BINARY.items() for power in POWERS})
_SEVERAL.update({f"{name}_{power}": quantity for name, quantity in _SEVERAL.items() for power in POWERS})
_HINGE = ("hinge", *(f"hinge_{power}" for power in POWERS))


class Cost(NamedTuple):
    """What the probability of a row costs: log_loss with its clip, brier or rps, or a power of that; or hinge, what its
    margin costs."""

    name: str
    clip: float = 0.0

    @property
    def is_of_margins(self) -> bool:
        """Whether margins are read as they are, and not as probabilities."""
        return self.name in _HINGE

    @property
    def powers(self) -> tuple[Cost, ...]:
        """The square and the cube of the cost."""
        return tuple(Cost(f"{self.name}_{power}", self.clip) for power in POWERS)

    def task(self) -> Task:
        """The core's task over one column of probabilities."""
        return (CODES[_BINARY[self.name]], self.clip, 0, 0)

    def column_task(self, column: int) -> Task:
        """The core's task over the column that `read_columns` made of several."""
        if self.name.startswith("log_loss"):
            return (CODES[_BINARY[self.name]], self.clip, 0, column)
        # The column is the cost itself: its distance from 0, which is the second column of the truth.
        name = self.name.replace(self.name.split("_")[0], "absolute_error")
        return (CODES["exact_prediction" if name == "absolute_error" else name], self.clip, 1, column)


def binary_term(cost: Cost) -> str:
    """The term that a cost is over one column of probabilities."""
    return _BINARY[cost.name]


def quantity_per_row(cost: Cost) -> int:
    """The quantity of a row of several probabilities that a cost reads."""
    return _SEVERAL[cost.name]


class CostTotal(NamedTuple):
    """One cost over all rows: the exact total of its finite values, and how many were infinite."""

    exact: int  # in the unit of its state
    infinite: int


class ProbabilitiesOf(Reads):
    """Asks for totals of these costs of probabilities, or of margins if the target says so."""

    __slots__ = ("_places", "_tasks", "costs", "target")

    def __init__(self, target: Target, *costs: Cost) -> None:
        self.target = target
        self.costs = tuple(sorted(set(costs)))
        self._tasks: Tasks | None = None
        self._places: dict[Cost, int] | None = None

    def place(self, cost: Cost) -> int:
        """The place of a cost among all of them."""
        if self._places is None:
            self._places = {each: place for place, each in enumerate(self.costs)}
        return self._places[cost]

    @property
    def _by_margin(self) -> bool:
        return bool(self.costs) and self.costs[0].is_of_margins

    @property
    def group(self) -> Hashable:
        return (ProbabilitiesOf, self.target, *(["margins"] if self._by_margin else []))

    def join(self, other: ProbabilitiesOf) -> ProbabilitiesOf:
        return ProbabilitiesOf(self.target, *self.costs, *other.costs)

    def zero(self) -> Probabilities:
        return Probabilities(self, None, 0, (), 0, UNIT_BITS, 0, tuple(CostTotal(0, 0) for _ in self.costs))

    def resolved(self, batch: Batch | None, whole: Probabilities) -> ProbabilitiesOf:
        return ProbabilitiesOf(whole.resolved_target(), *self.costs)

    def fold(self, batch: Batch) -> Probabilities:
        if batch.n == 0:
            return self.zero()
        if self._by_margin:
            return self._fold_margins(batch)
        check_kind(batch, self.target)
        if batch.prediction_columns > 1:
            return self._fold_several(batch)
        if self._tasks is None:
            self._tasks = with_checks([cost.task() for cost in self.costs])
        return self._state(batch, total_binary(batch, self.target, self._tasks))

    def _fold_several(self, batch: Batch) -> Probabilities:
        wanted = sorted({_SEVERAL[cost.name] for cost in self.costs})
        found = read_probability_columns_of(batch, self.target, wanted)
        link = None
        if len(found.classes) == 2:
            truth, table = found.places == found.positive, found.columns[0]
            if self.target.kind == "margin":  # as one column of them is read
                link, table = "sigmoid", margin_between(batch.prediction, found.positive)
            tasks = Tasks([cost.task() for cost in self.costs])
        else:
            truth, table = np.broadcast_to((1.0, 0.0), (batch.n, 2)), found.columns.T
            tasks = Tasks([cost.column_task(wanted.index(_SEVERAL[cost.name])) for cost in self.costs])
        entries = run_tasks(tasks, batch, link, truth=truth, prediction=table)
        return self._state(batch, BinaryProbabilities(truth, tuple(found.classes), 0, entries))

    def _fold_margins(self, batch: Batch) -> Probabilities:
        found = read_hinge_losses(batch, self.target)
        truth = np.broadcast_to((1.0, 0.0), (batch.n, 2))
        tasks = Tasks([cost.column_task(0) for cost in self.costs])
        entries = run_tasks(tasks, batch, truth=truth, prediction=found.losses[:, None])
        return self._state(batch, BinaryProbabilities(truth, found.labels, found.soft, entries))

    def _state(self, batch: Batch, found: BinaryProbabilities) -> Probabilities:
        unit, totals, weight = read_totals(found.entries, batch)
        spent = tuple([CostTotal(total.exact, total.above) for total in totals])
        columns = (1, batch.prediction_columns)
        return Probabilities(self, columns, batch.n, found.labels, found.soft, unit, weight, spent)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ProbabilitiesOf) and (self.costs, self.target) == (other.costs, other.target)

    def __hash__(self) -> int:
        return hash((self.costs, self.target))

    def __reduce__(self) -> tuple[Any, ...]:
        return (ProbabilitiesOf, (self.target, *self.costs))  # the core's tasks are made again

    def __repr__(self) -> str:
        return f"ProbabilitiesOf({self.target!r}, {', '.join(cost.name for cost in self.costs)})"


class Probabilities(LabelledState[ProbabilitiesOf]):
    """Exact totals of costs over rows. A function of the multiset of rows: no order or grouping changes a bit of it.

    Totals and weight are whole numbers of 2**(unit - 1074).
    """

    __slots__ = ("_soft", "_weight", "spent", "unit")

    def __init__(
        self,
        reads: ProbabilitiesOf,
        columns: tuple[int, int] | None,
        n: int,
        labels: tuple[Label, ...],
        soft: int,
        unit: int,
        weight: int,
        spent: tuple[CostTotal, ...],
    ) -> None:
        super().__init__(reads, columns, n, labels)
        self._soft = soft
        self.unit = unit
        self._weight = weight
        self.spent = spent

    @property
    def weight(self) -> int:
        return self._weight << self.unit

    @property
    def entries(self) -> int:
        return len(self.spent)

    def with_reads(self, reads: ProbabilitiesOf) -> Probabilities:
        n, labels = self.n, self.labels
        return Probabilities(reads, self.columns, n, labels, self.soft, self.unit, self._weight, self.spent)

    @property
    def soft(self) -> int:
        return self._soft

    def mean(self, cost: Cost) -> float:
        """The weighted mean of a cost, rounded once; infinite if one row's is."""
        found = self.spent[self.reads.place(cost)]
        return float("inf") if found.infinite else divide(found.exact, self._weight)

    def moments(self, cost: Cost) -> Moments | None:
        """The moments of a cost over unweighted rows, if its powers were asked for too; None where one is infinite."""
        found = [self.spent[self.reads.place(wanted)] for wanted in (cost, *cost.powers)]
        if any(power.infinite for power in found):
            return None
        return moments(self.n, self._weight, *(power.exact for power in found))

    def _plus(self, other: Probabilities) -> Probabilities:
        labels = self.joined_labels(other)
        unit = min(self.unit, other.unit)
        left, right = self.unit - unit, other.unit - unit
        spent = tuple(
            CostTotal((a.exact << left) + (b.exact << right), a.infinite + b.infinite)
            for a, b in zip(self.spent, other.spent, strict=True)
        )
        weight = (self._weight << left) + (other._weight << right)
        n, soft = self.n + other.n, self.soft + other.soft
        return Probabilities(self.reads, self.columns, n, labels, soft, unit, weight, spent)

    def fields(self) -> dict[str, Any]:
        return {
            **super().fields(),
            "costs": [list(cost) for cost in self.reads.costs],
            "soft": self.soft,
            "weight": self.weight,
            "spent": [[found.exact << self.unit, found.infinite] for found in self.spent],
        }

    @classmethod
    def from_fields(cls, fields: dict[str, Any]) -> Probabilities:
        target = unpack_target(fields["target"])
        costs = [Cost(_checked_name(name), float(clip)) for name, clip in fields["costs"]]
        reads = ProbabilitiesOf(target, *costs)
        if list(reads.costs) != costs or not all(0.0 <= cost.clip < 0.5 for cost in costs):
            raise StateError("the costs must differ, be in order and have a clip in [0, 0.5)")
        if len({cost.is_of_margins for cost in costs}) > 1 or (reads._by_margin and target.kind != "margin"):
            raise StateError("only margins have costs of margins, and no others beside them")
        columns, n, labels = checked_shape(fields, target)
        spent = tuple(CostTotal(int(exact), int(infinite)) for exact, infinite in fields["spent"])
        weight, soft = int(fields["weight"]), int(fields["soft"])
        if len(spent) != len(costs):
            raise StateError(f"there are {len(spent)} totals for {len(costs)} costs")
        if min(weight, soft, n - soft, *(part for total in spent for part in total)) < 0:
            raise StateError("rows, weights and costs cannot be negative")
        if any(total.infinite > n for total in spent):
            raise StateError("more costs are infinite than there are rows")
        if soft and (columns is None or columns[1] > 1):
            raise StateError("only one column of predictions goes with a truth of probabilities")
        if columns is None:
            if weight or any(map(any, spent)):
                raise StateError("no rows have no weight and no costs")
            return reads.zero()
        return cls(reads, columns, n, labels, soft, 0, weight, spent)


def _checked_name(name: object) -> str:
    if name not in _BINARY and name not in _HINGE:
        raise StateError(f"unknown cost {name!r}")
    return str(name)
