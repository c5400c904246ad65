"""The sums state: exact totals, and extremes, of the pointwise terms that a plan asks for. Its size is fixed.

A term reads rows in one of three layouts: `paired` (column k of the predictions answers column k of the truth, one
total per output), `quantiles` (every column of the predictions answers the one column of the truth, with a parameter of
its own) and `interval` (two columns of predictions, lower and upper, answer the one column of the truth).

A total is exact: a whole number in units of 2**-1074, a Python int here. It is a function of the rows alone, whatever
their order, pieces or threads, and adding states adds whole numbers. Formulas divide totals once, which Python rounds
correctly. So an entry that was found in an earlier round of training, for the same truth, is that of a new pass
(`Batch.truth_memo`).
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from typing import Any, NamedTuple

import numpy as np

from tallymark._core import Tasks
from tallymark.data.arrays import Array
from tallymark.data.batch import Batch
from tallymark.errors import ParameterError, ShapeError, StateError, Text
from tallymark.states.base import (
    ONE,
    UNIT_BITS,
    FoldedState,
    ParameterlessReads,
    Reads,
    check_same_width,
    divide,
    to_float,
)
from tallymark.states.serialization import unpack_columns

PAIRED = "paired"
QUANTILES = "quantiles"
INTERVAL = "interval"

# The terms that the core can total. The numbers are those of the core (core/terms.hpp) and never change.
CODES = {
    "squared_error": 1,
    "absolute_error": 2,
    "exact_error": 3,
    "exact_error_squares": 4,
    "exact_truth": 5,
    "exact_truth_squares": 6,
    "exact_prediction": 7,
    "exact_prediction_squares": 8,
    "exact_products": 9,
    "relative_error": 10,
    "symmetric_error": 11,
    "absolute_truth": 12,
    "huber": 13,
    "log_cosh": 14,
    "squared_log_error": 15,
    "deviance": 16,
    "pinball": 17,
    "interval": 18,
    "covered": 19,
    "small_truth": 20,
    "truth_range": 21,
    "lowest_prediction": 22,
    "highest_absolute_error": 23,
    "lowest_width": 24,
    "log_loss": 25,
    "soft_truth": 26,
}

_PLAIN = tuple(CODES)
_POWER = 64  # added to the number of a term that stands for its square, twice for its cube, and so on
_WITH_POWERS = (
    "squared_error",
    "absolute_error",
    "relative_error",
    "symmetric_error",
    "huber",
    "log_cosh",
    "squared_log_error",
    "deviance",
    "pinball",
    "interval",
    "log_loss",
)
POWERS = ("squares", "cubes")
CODES.update(
    {f"{name}_{power}": CODES[name] + k * _POWER for k, power in enumerate(POWERS, 1) for name in _WITH_POWERS}
)

SQUARES = frozenset(name for name in CODES if name.endswith(("squared_error", *POWERS)))
"""Terms that are squares or higher powers, and so sink below float64 before the values do."""

LIKE_SQUARES = frozenset({"huber", "log_cosh", "squared_log_error", "deviance"})
"""Terms that are like squares near 0, and sink as well."""

ROUNDING = frozenset(
    name for name in CODES if name.startswith(("squared_log_error", "deviance", "interval", "covered", "lowest_width"))
)
"""Terms that compare values as float64 holds them, so that integers must not be rounded before."""

TRUTH_ONLY = frozenset(
    {"exact_truth", "exact_truth_squares", "absolute_truth", "small_truth", "truth_range", "soft_truth"}
)
"""Terms that do not read the predictions."""

_PARAMETRIC = ("relative_error", "huber", "deviance", "pinball", "interval", "log_loss")
_WITH_PARAMETER = frozenset({"small_truth", *(name for name in CODES if name.startswith(_PARAMETRIC))})
_INTERVAL_TERMS = frozenset({"interval", *(f"interval_{power}" for power in POWERS), "covered", "lowest_width"})


class Term(NamedTuple):
    """A term and its parameters: none, one for all outputs, or one per column of predictions."""

    name: str
    parameters: tuple[float, ...] = ()

    @property
    def squares(self) -> Term:
        """The term whose total is that of the squares."""
        return Term(f"{self.name}_squares", self.parameters)

    @property
    def cubes(self) -> Term:
        """The term whose total is that of the cubes."""
        return Term(f"{self.name}_cubes", self.parameters)

    @property
    def layout(self) -> str:
        """How the term reads the columns."""
        if self.name in _INTERVAL_TERMS:
            return INTERVAL
        return QUANTILES if len(self.parameters) > 1 else PAIRED

    def tasks(self, truth_columns: int, prediction_columns: int) -> list[tuple[int, float, int, int]]:
        """The core's tasks for this term on tables of these widths."""
        check_layout(self.layout, truth_columns, prediction_columns, len(self.parameters))
        code = CODES[self.name]
        if self.layout == INTERVAL:
            return [(code, self.parameters[0] if self.parameters else 0.0, 0, 0)]
        if self.layout == QUANTILES:
            return [(code, parameter, 0, k) for k, parameter in enumerate(self.parameters)]
        parameter = self.parameters[0] if self.parameters else 0.0
        return [(code, parameter, k, k) for k in range(prediction_columns)]


def check_parameters(term: Term) -> None:
    """Reject a term that does not exist, or with parameters that it does not have."""
    if term.name not in CODES:
        raise ParameterError(f"there is no term {term.name!r}; the terms are {', '.join(_PLAIN)}")
    wanted = "one parameter" if term.name in _WITH_PARAMETER else "no parameters"
    count = len(term.parameters)
    if count != (1 if term.name in _WITH_PARAMETER else 0) and not (term.name.startswith("pinball") and count > 1):
        raise ParameterError(f"the term {term.name!r} has {wanted}; got {count}")


def check_layout(layout: str, truth_columns: int, prediction_columns: int, quantiles: int) -> None:
    """Reject tables whose widths do not fit the layout."""
    if layout == PAIRED:
        if truth_columns != prediction_columns:
            raise ShapeError(
                Text(
                    "{y_true} and {y_pred} must have the same number of columns; got {} and {}",
                    truth_columns,
                    prediction_columns,
                ),
                argument="y_true",
            )
        return
    if truth_columns != 1:
        raise ShapeError(argument="y_true", expected="have one column here", got=f"{truth_columns}")
    if layout == QUANTILES and prediction_columns != quantiles:
        raise ShapeError(
            argument="y_pred",
            expected="have one column per quantile",
            got=f"{prediction_columns} for {quantiles} alphas",
        )
    if layout == INTERVAL and prediction_columns != 2:
        raise ShapeError(
            argument="y_pred", expected="have two columns, lower and upper bound", got=f"{prediction_columns}"
        )


LOWEST = {"y_true": Term("truth_range"), "y_pred": Term("lowest_prediction"), "width": Term("lowest_width")}
"""The terms that find the lowest value of an input."""


_ROUNDED = 1 << 48  # a variance so many times smaller than the squares is a matter of their rounding
_BLURRED = 1 << 26  # a variance so many times smaller leaves too few digits of the third moment


class Moments(NamedTuple):
    """Mean, variance (that of a sample) and skewness of a term."""

    mean: float
    variance: float
    skewness: float


def moments(rows: int, weight: int, total: int, squares: int, cubes: int | None = None) -> Moments | None:
    """The moments of a term on two rows or more; None where its squares or cubes sank below float64. Totals are in the
    unit of the weight. Where there are no cubes, the squares are taken to be exact and the skewness to be 0."""
    spread = weight * squares - total * total
    mean = divide(total, weight)
    if cubes is None:
        return Moments(mean, divide(spread, weight * weight) * (rows / (rows - 1)), 0.0)
    if _sank(weight, total, squares) or _sank(total, squares, cubes):
        return None
    if spread * _ROUNDED <= weight * squares:
        return Moments(mean, 0.0, 0.0)
    third = weight * (weight * cubes - 3 * total * squares) + 2 * total**3
    if spread * _BLURRED < weight * squares:
        third = 0
    skewness = math.sqrt(divide(third * third, spread**3))
    if skewness > rows:  # that of rows is never above their root
        raise ValueError("the cubes are too large for the squares")
    variance = divide(spread, weight * weight) * (rows / (rows - 1))
    return Moments(mean, variance, skewness if third >= 0 else -skewness)


def _sank(low: int, middle: int, high: int) -> bool:
    """Whether totals of three powers in a row, of terms that are not negative, are not log-convex, as they would be
    beyond their rounding if the highest had not sunk below float64."""
    return low > 0 and (low * high << 20) < middle * middle * ((1 << 20) - 1)


_from_bytes = int.from_bytes
_new_tuple = tuple.__new__  # a call of Total takes twice as long, and every pass makes some
_DIGITS = 45  # that a total keeps beside what its terms may have lost
_SAFE_BITS = 960  # a total of 2**-960 or more has all its digits
_LINKS = {None: 0, "log": 1, "sigmoid": 2}  # the core's numbers


class Total(NamedTuple):
    """One term over all rows: the exact total of its finite values, counts of the others, and its extremes."""

    exact: int  # in the unit of its state
    above: int  # values that were +inf
    below: int  # values that were -inf
    undefined: int  # values that were NaN, as inf - inf is
    lowest: float
    highest: float

    def plus(self, other: Total) -> Total:
        """The total of both sets of rows."""
        return Total(
            self.exact + other.exact,
            self.above + other.above,
            self.below + other.below,
            self.undefined + other.undefined,
            _lower(self.lowest, other.lowest),
            -_lower(-self.highest, -other.highest),
        )

    def shifted(self, bits: int) -> Total:
        """The same total in a unit that is 2**bits smaller."""
        return self._replace(exact=self.exact << bits) if bits else self


def _lower(a: float, b: float) -> float:
    """The lower of two floats, where -0.0 is lower than 0.0: `min` would go by their order."""
    return a if (a, math.copysign(1.0, a)) <= (b, math.copysign(1.0, b)) else b


Task = tuple[int, float, int, int]
Entry = tuple[bytes, int, int, int, int, float, float]  # of one total, as the core writes it


def run_tasks(
    tasks: Tasks, batch: Batch, link: str | None = None, *, truth: Any = None, prediction: Any = None
) -> list[Entry]:
    """One entry per task over a batch, or over columns made of it; and one for the weights, if there are any."""
    y = batch.truth if truth is None else truth
    found = tasks.run(y, batch.prediction if prediction is None else prediction, batch.weights, _LINKS[link])
    if found is None:
        raise batch.fault()
    return found


def read_totals(found: list[Entry], batch: Batch) -> tuple[int, list[Total], int]:
    """The unit, the total of every task, and the weight."""
    unit = min([UNIT_BITS, *[entry[1] for entry in found]])
    totals = [
        _new_tuple(Total, (_from_bytes(raw, "little", signed=True) << (shift - unit), above, below, undefined, lo, hi))
        for raw, shift, above, below, undefined, lo, hi in found
    ]
    weight = batch.n << (UNIT_BITS - unit) if batch.weights is None else totals.pop().exact
    return unit, totals, weight


class TruthSplit(NamedTuple):
    """Tasks in two: those that read the truth alone, whose entries are found once where only predictions change, and
    the others. An entry is a function of its task and the rows, so it does not matter with which others it was found.
    """

    key: tuple[Task, ...]
    truth: Tasks
    others: Tasks
    places: tuple[int, ...]  # of the entry of each task, when those of the others follow those of the truth

    @classmethod
    def of(cls, tasks: list[Task], truth_only: list[bool]) -> TruthSplit | None:
        """The tasks of which some read the truth alone, as `truth_only` says; None where none do, or all."""
        order = sorted(range(len(tasks)), key=lambda place: not truth_only[place])
        count = sum(truth_only)
        if count in (0, len(tasks)):  # a pass without any other would not look at the predictions
            return None
        ordered = [tasks[place] for place in order]
        places = sorted(range(len(tasks)), key=order.__getitem__)
        return cls(tuple(ordered[:count]), Tasks(ordered[:count]), Tasks(ordered[count:]), tuple(places))

    def run(self, batch: Batch, link: str | None, memo: dict[Hashable, Any]) -> list[Entry]:
        """The entries of all tasks, as `run_tasks` has them."""
        known = memo.get(self.key)
        if known is None:
            known = memo[self.key] = run_tasks(self.truth, batch, prediction=batch.truth)[: len(self.key)]
        found = known + run_tasks(self.others, batch, link)
        return [found[place] for place in self.places] + found[len(self.places) :]


class TaskLayout(NamedTuple):
    """Where the totals of each term stand, for tables of given widths."""

    tasks: Tasks
    slots: dict[Term, tuple[int, ...]]
    split: TruthSplit | None

    def run(self, batch: Batch, link: str | None) -> list[Entry]:
        """One entry per total, and one for the weights, if there are any."""
        if batch.truth_memo is None or self.split is None:
            return run_tasks(self.tasks, batch, link)
        return self.split.run(batch, link, batch.truth_memo)


class SumsOf(Reads):
    """Asks for totals of these terms. `link="log"` reads predictions through exp first."""

    __slots__ = ("_layouts", "link", "terms")

    def __init__(self, *terms: Term, link: str | None = None) -> None:
        for term in terms:
            check_parameters(term)
        self.terms = tuple(sorted(set(terms)))
        self.link = link
        self._layouts: dict[tuple[int, int], TaskLayout] = {}

    @property
    def group(self) -> Hashable:
        return (SumsOf, self.link)

    def join(self, other: SumsOf) -> SumsOf:
        return SumsOf(*self.terms, *other.terms, link=self.link)

    def through(self, link: str) -> SumsOf:
        """The same terms of predictions that are read through a link."""
        return SumsOf(*self.terms, link=link)

    def zero(self) -> Sums:
        return Sums(self, None, 0, UNIT_BITS, 0, ())

    def fold(self, batch: Batch) -> Sums:
        if batch.n == 0:
            return self.zero()
        if not ROUNDING.isdisjoint(term.name for term in self.terms):
            batch.require_exact(0)
            batch.require_exact(1)
        columns = (batch.truth_columns, batch.prediction_columns)
        layout = self._layouts.get(columns) or self.layout(columns)
        unit, totals, weight = read_totals(layout.run(batch, self.link), batch)
        return Sums(self, columns, batch.n, unit, weight, tuple(totals))

    def layout(self, columns: tuple[int, int]) -> TaskLayout:
        """The tasks for tables of these widths, made once."""
        wanted = [(task[2:], task, term) for term in self.terms for task in term.tasks(*columns)]
        wanted.sort(key=lambda entry: entry[0])  # tasks on the same columns stand together
        slots: dict[Term, list[int]] = {}
        for position, (_, _, term) in enumerate(wanted):
            slots.setdefault(term, []).append(position)
        tasks = [task for _, task, _ in wanted]
        split = TruthSplit.of(tasks, [term.name in TRUTH_ONLY for _, _, term in wanted])
        layout = TaskLayout(Tasks(tasks), {term: tuple(places) for term, places in slots.items()}, split)
        self._layouts[columns] = layout
        return layout

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SumsOf) and (self.terms, self.link) == (other.terms, other.link)

    def __hash__(self) -> int:
        return hash((self.terms, self.link))

    def __reduce__(self) -> tuple[Any, ...]:
        return (_sums_of, (self.terms, self.link))  # the core's tasks are made again

    def __repr__(self) -> str:
        return f"SumsOf({', '.join(term.name for term in self.terms)})"


def _sums_of(terms: tuple[Term, ...], link: str | None) -> SumsOf:
    """The declaration that a pickle stands for."""
    return SumsOf(*terms, link=link)


class Sums(FoldedState[SumsOf]):
    """Exact totals of terms over rows. A function of the multiset of rows: no order or grouping changes a bit of it.

    Totals and weight are whole numbers of 2**(unit - 1074), where `unit` is as large as these rows allow: most of the
    2,200 bits that a total may need are zero, and arithmetic on them would take its time.
    """

    __slots__ = ("_outputs", "_weight", "totals", "unit", "weight")
    weight: int

    def __init__(
        self,
        reads: SumsOf,
        columns: tuple[int, int] | None,
        n: int,
        unit: int,
        weight: int,
        totals: tuple[Total, ...],
    ) -> None:
        super().__init__(reads, columns, n)
        self.unit = unit
        self._weight = weight
        self.weight = weight << unit  # which every metric asks for
        self.totals = totals
        self._outputs: dict[int, Output] = {}  # which every formula asks for

    @property
    def entries(self) -> int:
        return 6 * len(self.totals)

    def __add__(self, other: Sums) -> Sums:
        if not isinstance(other, Sums):
            return NotImplemented
        if self.reads != other.reads:
            raise StateError(f"only states of the same terms can be added; these read {self.reads} and {other.reads}")
        check_same_width(self, other)
        if self.columns is None:
            return other
        if other.columns is None:
            return self
        unit = min(self.unit, other.unit)
        left, right = self.unit - unit, other.unit - unit
        totals = tuple([a.shifted(left).plus(b.shifted(right)) for a, b in zip(self.totals, other.totals, strict=True)])
        weight = (self._weight << left) + (other._weight << right)
        return Sums(self.reads, self.columns, self.n + other.n, unit, weight, totals)

    def at(self, output: int) -> Output:
        """The totals of one output, for a formula to read."""
        found = self._outputs.get(output)
        if found is None:
            found = self._outputs[output] = Output(self, output)
        return found

    def lowest(self, term: Term) -> float:
        """The lowest value of a term over all outputs."""
        return min(self.totals[place].lowest for place in self.slots[term])

    def count(self, term: Term) -> int:
        """The total of a term that counts rows, over all outputs."""
        return sum(self.totals[place].exact for place in self.slots[term]) << self.unit >> UNIT_BITS

    @property
    def slots(self) -> dict[Term, tuple[int, ...]]:
        """Where the totals of each term stand, one per output."""
        if self.columns is None:
            raise StateError("a state of no rows has no totals")
        layout = self.reads._layouts.get(self.columns) or self.reads.layout(self.columns)
        return layout.slots

    def fields(self) -> dict[str, Any]:
        return {
            "terms": [[term.name, list(term.parameters)] for term in self.reads.terms],
            "link": self.reads.link,
            "columns": None if self.columns is None else list(self.columns),
            "n": self.n,
            "weight": self.weight,
            "totals": [list(total.shifted(self.unit)) for total in self.totals],
        }

    @classmethod
    def from_fields(cls, fields: dict[str, Any]) -> Sums:
        terms = [Term(str(name), tuple(float(p) for p in parameters)) for name, parameters in fields["terms"]]
        if fields["link"] not in _LINKS:
            raise StateError(f"unknown link {fields['link']!r}")
        reads = SumsOf(*terms, link=fields["link"])
        totals = tuple(_checked_total(*entry) for entry in fields["totals"])
        columns = unpack_columns(fields["columns"])
        if columns is not None and (min(columns) < 1 or (terms and max(columns) > max(len(totals), 2))):
            raise StateError(f"tables of {columns} columns do not fit {len(totals)} totals")
        if int(fields["n"]) < 0 or int(fields["weight"]) < 0:
            raise StateError("rows and weights cannot be negative")
        expected = 0 if columns is None else sum(len(slots) for slots in reads.layout(columns).slots.values())
        if len(totals) != expected:
            raise StateError(f"there are {len(totals)} totals for {expected} terms")
        return cls(reads, columns, int(fields["n"]), 0, int(fields["weight"]), totals)


def _checked_total(exact: int, above: int, below: int, undefined: int, lowest: float, highest: float) -> Total:
    return Total(int(exact), int(above), int(below), int(undefined), float(lowest), float(highest))


class Output:
    """The totals of one output, as formulas read them. Exact totals and the weight share one unit."""

    __slots__ = ("_output", "_rows", "_slots", "_totals", "_unit", "weight")

    def __init__(self, state: Sums, output: int) -> None:
        self._output = output
        self._slots = state.slots
        self._totals = state.totals
        self._unit = state.unit
        self._rows = state.n
        self.weight = state._weight

    def find(self, term: Term, column: int | None = None) -> Total:
        """The total of a term; a term with a single total serves every output."""
        places = self._slots[term]
        if len(places) == 1:
            return self._totals[places[0]]
        return self._totals[places[self._output if column is None else column]]

    def total(self, term: Term) -> float:
        """The weighted total, rounded once."""
        return self._rounded(term, 1 << (UNIT_BITS - self._unit))

    def mean(self, term: Term, *, column: int | None = None) -> float:
        """The weighted mean, rounded once; of another column of predictions if one is named."""
        return self._rounded(term, self.weight, column)

    def ratio(self, numerator: Term, denominator: Term) -> float:
        """One total over another, rounded once."""
        below = self.exact(denominator)
        return self._rounded(numerator, below) if below else math.nan

    def exact(self, term: Term) -> int | None:
        """The exact total in the unit of this state; None if a value overflowed."""
        found = self.find(term)
        return None if found.above or found.below or found.undefined else found.exact

    def lost(self, term: Term) -> bool:
        """Whether a total of errors or squares sank below what float64 can hold, although its values are not zero."""
        return self._sank(term, self.find(term))

    def _sank(self, term: Term, found: Total) -> bool:
        safe = found.exact != 0 and found.exact.bit_length() + self._unit > UNIT_BITS - _SAFE_BITS
        if safe or found.above or not 0 < found.highest < math.inf:
            return False
        if term.name in LIKE_SQUARES:  # each may be off by half of the smallest float, times its weight
            return found.exact << self._unit < max(self._rows, self.weight << self._unit >> UNIT_BITS) << _DIGITS
        # Squares below the floor have lost digits. Plain values have not, unless a weight took them there.
        return term.name in SQUARES or to_float(found.exact << self._unit) < found.highest

    def absolute(self, term: Term) -> int | None:
        """The exact total in the smallest unit, 2**-1074, in which totals of different states compare."""
        exact = self.exact(term)
        return None if exact is None else exact << self._unit

    def lowest(self, term: Term) -> float:
        """The lowest value."""
        return self.find(term).lowest

    def highest(self, term: Term) -> float:
        """The highest value."""
        return self.find(term).highest

    def _rounded(self, term: Term, denominator: int, column: int | None = None) -> float:
        found = self.find(term, column)
        own = found if column is None else self.find(term)
        if found.undefined or (found.above and found.below) or self._sank(term, own):
            return math.nan
        if found.above or found.below:
            return math.inf if found.above else -math.inf
        return divide(found.exact, denominator)


_VALUES = Term("exact_truth")
_ONE_COLUMN = SumsOf(_VALUES)


def exact_sum(values: Array, counts: Array | None = None) -> int:
    """The exact total of finite values, each as often as its count says."""
    if counts is not None:
        return sum(int(c) * exact_sum(values[counts == c]) for c in np.unique(counts).tolist())
    if len(values) == 0:
        return 0
    return _ONE_COLUMN.fold(Batch(values, values)).at(0).absolute(_VALUES) or 0


class SizeOf(ParameterlessReads):
    """Asks for rows and weight only."""

    __slots__ = ()

    def zero(self) -> Size:
        return Size(None, 0, 0)

    def fold(self, batch: Batch) -> Size:
        if batch.n == 0:
            return self.zero()
        batch.require_weights()
        weight = batch.n * ONE if batch.weights is None else exact_sum(batch.weights)
        return Size((batch.truth_columns, batch.prediction_columns), batch.n, weight)


class Size(FoldedState[SizeOf]):
    """Rows and their exact weight."""

    __slots__ = ("_weight",)

    def __init__(self, columns: tuple[int, int] | None, n: int, weight: int) -> None:
        super().__init__(SizeOf(), columns, n)
        self._weight = weight

    @property
    def weight(self) -> int:
        return self._weight

    def __add__(self, other: Size) -> Size:
        if not isinstance(other, Size):
            return NotImplemented
        return Size(self.columns or other.columns, self.n + other.n, self._weight + other._weight)

    def fields(self) -> dict[str, Any]:
        return {
            "columns": None if self.columns is None else list(self.columns),
            "n": self.n,
            "weight": self._weight,
        }

    @classmethod
    def from_fields(cls, fields: dict[str, Any]) -> Size:
        columns = None if fields["columns"] is None else (int(fields["columns"][0]), int(fields["columns"][1]))
        n, weight = int(fields["n"]), int(fields["weight"])
        if n < 0 or weight < 0 or (columns is None) != (n == 0):
            raise StateError("rows and weights cannot be negative")
        return cls(columns, n, weight)
