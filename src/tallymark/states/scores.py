"""The scores state: the scores of every class in order, as runs of distinct scores. It grows with the distinct scores.

Everything about ranking is in it: the area under the ROC curve, average precision, every curve and every threshold.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np

from tallymark._core import (
    class_sums,
    curve_points,
    merge_runs,
    rank_sums,
    read_probability_columns,
    score_steps,
    sort_columns,
    sort_scores,
)
from tallymark.arrays import Array
from tallymark.batch import Batch
from tallymark.errors import DomainError, InputError, LengthError, ParameterError, ShapeError, StateError
from tallymark.labels import Label, normal_label
from tallymark.states.base import ONE, Reads, TargetState, divide
from tallymark.states.counts import find_positive
from tallymark.states.encoding import check_classes, class_places, column_classes, own_errors, read_pairs
from tallymark.states.label_faults import label_fault
from tallymark.states.packing import pack_labels, target_of, unpack_labels
from tallymark.states.pairs import check_two
from tallymark.states.rows import exact_sum
from tallymark.target import ANY_TARGET, Target, show_labels

Runs = tuple[Array, "Array | None", "Array | None"]
"""Distinct scores in order, or distinct pairs of score and weight; weights, or None if all are 1; how often each
occurs, or None if once."""

NOTHING: Runs = (np.empty(0), None, None)
_MOST_INTEGER = 1 << 53
_HIGHEST = float(np.finfo(np.float64).max)


class Part(NamedTuple):
    """Labels in order, and the runs of every label in every column."""

    labels: list[Label]
    columns: list[list[Runs]]

    def rows(self) -> int:
        """How many runs there are."""
        return sum(len(runs[0]) for column in self.columns for runs in column)


class ScoresOf(Reads):
    """Asks for the scores of every class. `wants` are the sums that will be read, so that one walk takes them all."""

    __slots__ = ("target", "wants")

    def __init__(self, target: Target = ANY_TARGET, wants: frozenset[str] = frozenset()) -> None:
        self.target = target
        self.wants = wants

    @property
    def group(self) -> Hashable:
        return (ScoresOf, self.target)

    def join(self, other: ScoresOf) -> ScoresOf:
        return self if other.wants <= self.wants else ScoresOf(self.target, self.wants | other.wants)

    def zero(self) -> Scores:
        return Scores(self, None, 0, 0, ())

    def fold(self, batch: Batch) -> Scores:
        if batch.n == 0:
            return self.zero()
        if batch.prediction_columns > 2:
            part, weight = self._fold_table(batch)
        else:
            part, weight = sort_rows(batch, self.target, read_scores(batch, self.target))
        columns = (batch.truth_columns, batch.prediction_columns)
        return Scores(self, columns, batch.n, batch.n * ONE if weight is None else weight, (part,))

    def _fold_table(self, batch: Batch) -> tuple[Part, int | None]:
        classes, places, table = read_table(batch, self.target)
        found = sort_columns(places, len(classes), table, batch.weights)
        if found is None:
            raise _refused(batch)
        columns, weight = found
        order = sorted(range(len(classes)), key=lambda k: classes[k])
        in_order = [[column[k] for k in order] for column in columns]
        return Part([classes[k] for k in order], in_order), _exact(weight)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ScoresOf) and self.target == other.target

    def __hash__(self) -> int:
        return hash((ScoresOf, self.target))

    def __repr__(self) -> str:
        return f"ScoresOf({self.target!r})"


def _exact(weight: tuple[bytes, int] | None) -> int | None:
    return None if weight is None else int.from_bytes(weight[0], "little", signed=True) << weight[1]


def _refused(batch: Batch) -> InputError:
    batch.require_finite_side(1)
    batch.require_weights()
    return InputError("the input changed while it was being read")


def check_scores(batch: Batch, target: Target) -> None:
    """Refuse tables of truth, whole numbers that a float64 cannot tell apart, and what cannot be normalised."""
    if batch.truth_columns != 1:
        raise ShapeError(f"`y_true` must be one label per row; it had {batch.truth_columns} columns")
    if target.normalize and batch.prediction_columns == 1:
        raise ParameterError("`normalize` divides the probabilities of several columns; `y_pred` held one column")
    held = batch.prediction
    if held.dtype.kind in "iu" and held.dtype.itemsize == 8 and held.size:
        most = max(int(held.min()), int(held.max()), key=abs)
        if abs(most) > _MOST_INTEGER:
            raise DomainError(
                f"`y_pred` must hold scores that float64 can tell apart, up to 2**53; it held {most}. Subtract a "
                "constant, or pass ranks"
            )


def read_scores(batch: Batch, target: Target) -> Array:
    """One score per row: the column itself, or of two columns that of the positive class."""
    check_scores(batch, target)
    held = batch.prediction
    if batch.prediction_columns == 1:
        return held
    check_rows(batch, target)
    place = positive_column(column_classes(target, batch), target)
    if target.kind == "margin":
        return margin_between(held, place)
    if not target.normalize:
        return held[:, place]
    near_one = np.ldexp(held.astype(np.float64), -np.frexp(held.max(axis=1, keepdims=True))[1])  # no sum overflows
    return np.asarray(near_one[:, place] / (near_one[:, 0] + near_one[:, 1]))


def margin_between(table: Array, place: int) -> Array:
    """Of two columns of margins, how far the one at a place is above the other."""
    with np.errstate(over="ignore"):
        gap = table[:, place].astype(np.float64) - table[:, 1 - place]
    return np.clip(gap, -_HIGHEST, _HIGHEST)  # what overflows stays the highest or lowest there is


def positive_column(classes: Sequence[Label], target: Target) -> int:
    """Which of two columns is the positive class's; the second where nothing says it, and it does not matter."""
    if target.positive is None and 1 not in classes:
        return 1
    place = find_positive(classes, target)
    return 1 if place is None else place


def check_rows(batch: Batch, target: Target, *, finite: bool = True) -> None:
    """Refuse rows of several columns that are not what a declared kind says."""
    if target.kind == "probability" or target.normalize:
        read_pairs(batch, None, decision=(0.5, False, target.normalize, 2))  # for what it refuses
    if finite:
        batch.require_finite_side(1)  # of two columns only one is sorted
    batch.require_weights()  # before classes go by them


def read_table(batch: Batch, target: Target) -> tuple[Sequence[Label], Array, Array]:
    """The classes of the columns, the place of each row's true class among them, and the scores."""
    check_scores(batch, target)
    check_rows(batch, target, finite=False)
    classes, places = class_places(target, batch)
    held = batch.prediction
    if target.kind == "margin":
        columns = np.empty((batch.prediction_columns, batch.n))
        faults = read_probability_columns(held, True, False, columns)
        if faults:
            raise label_fault(batch, faults, decided=True)
        return classes, places, columns.T
    return classes, places, shares(held) if target.normalize else held


def shares(table: Array) -> Array:
    """Every row divided by its sum. Sums go from the smallest up, so that the order of the columns does not show."""
    held = np.array(table, np.float64, order="C")
    held = np.ldexp(held, -np.frexp(held.max(axis=1, keepdims=True))[1])  # near 1 no sum overflows
    return np.asarray(held / np.sort(held, axis=1).sum(axis=1, keepdims=True))


def sort_rows(batch: Batch, target: Target, scores: Array) -> tuple[Part, int | None]:
    """One column of scores by the labels of the truth, and the exact weight (None: a row is 1)."""
    truth = batch.truth_labels
    with own_errors("`y_true`"):
        found = sort_scores(truth.source, scores, batch.weights, normal_label)
    if found is None:
        raise _refused(batch)
    if isinstance(found, list):
        raise label_fault(batch, found, decided=True)
    labels, groups, weight, rows = found
    if rows != batch.n:
        raise LengthError(f"`y_true` must have {batch.n} rows; its labels were {rows}")
    by_label: dict[Label, Runs] = dict(zip(labels, groups or [NOTHING] * len(labels), strict=True))
    if truth.names is not None:
        by_label = _by_name(by_label, truth.names)
    names = sorted(by_label)
    if target.classes is not None:
        check_classes([names], target.classes)
    if batch.prediction_columns == 1 and (len(names) > 1 or (names and isinstance(names[0], str))):
        classes = target.classes or names
        check_two(classes, labels=False)  # what can never be read is refused at once
        find_positive(classes, target)
    ends = (end for runs in by_label.values() if len(runs[0]) for end in (runs[0][0], runs[0][-1]))
    if target.kind == "probability" and not all(0 <= end <= 1 for end in ends):
        check_probabilities(batch, target)
    return Part(names, [[by_label[name] for name in names]]), _exact(weight)


def _by_name(by_place: dict[Label, Runs], names: Sequence[Label]) -> dict[Label, Runs]:
    """The runs of labels that are places among names, of which several may be equal."""
    out: dict[Label, Runs] = {}
    for place, runs in by_place.items():
        name = names[int(place)]
        out[name] = merge_runs(out[name], runs) if name in out else runs
    return out


def check_probabilities(batch: Batch, target: Target) -> None:
    """Refuse one column of probabilities that are none."""
    if target.kind != "probability" or batch.prediction_columns != 1:
        return
    held = batch.prediction.reshape(-1)
    outside = ~((held >= 0) & (held <= 1))
    if batch.weights is not None:
        outside &= np.asarray(batch.weights) > 0
    if outside.any():
        count, row = int(np.count_nonzero(outside)), int(outside.argmax())
        raise label_fault(batch, [(1, "outside", count, row)], decided=True, labels=False)


def _area(positives: int, negatives: int, wins: float) -> float:
    if not positives or not negatives:
        return 0.0
    return min(wins, 1.0) if isinstance(wins, float) else divide(wins, 2 * positives * negatives)


class RankSums(NamedTuple):
    """What two classes of scores say about each other, the second being the positive one; None where it has no value.

    `area` is the share of pairs that are in order, half of those that tie; `distance` the largest one between the rates
    of true and false positives; `steps` and `trapezoids` are the areas under precision by recall.
    """

    area: float | None
    distance: float | None
    steps: float | None
    trapezoids: float | None


def sum_ranks(negative: Runs, positive: Runs, wants: frozenset[str]) -> RankSums:
    """The sums over two classes; those that nobody wants are not to be read."""
    p, n, area, distance, steps, trapezoids = rank_sums(
        negative, positive, "steps" in wants, "trapezoids" in wants, "distance" in wants
    )
    if negative[1] is None and positive[1] is None:
        area = _area(p, n, int(area))
        distance = divide(int(distance), p * n) if p and n else 0.0
        steps, trapezoids = (steps / p, trapezoids / p) if p else (0.0, 0.0)
    return RankSums(
        min(float(area), 1.0) if p and n else None,
        min(float(distance), 1.0) if p and n else None,
        min(float(steps), 1.0) if p else None,
        min(float(trapezoids), 1.0) if p else None,
    )


class Steps(NamedTuple):
    """Every distinct score, the highest first, and the weight of positives and negatives that reach it, and that do
    not."""

    thresholds: Array
    tp: Array
    fp: Array
    fn: Array
    tn: Array

    @property
    def positives(self) -> float:
        """The weight of all positives."""
        return float(self.tp[-1]) if len(self.tp) else 0.0

    @property
    def negatives(self) -> float:
        """The weight of all negatives."""
        return float(self.fp[-1]) if len(self.fp) else 0.0

    @property
    def finite(self) -> bool:
        """Whether a float64 can hold the weights."""
        return math.isfinite(self.positives + self.negatives)


class Scores(TargetState[ScoresOf]):
    """The scores of every class in order.

    Parts that were added are merged when they are of similar size, or when somebody reads: a long stream costs little
    more than one sort.
    """

    __slots__ = ("_memo", "_parts", "_weight")
    size = "distinct scores"
    exact = True

    def __init__(
        self, reads: ScoresOf, columns: tuple[int, int] | None, n: int, weight: int, parts: tuple[Part, ...]
    ) -> None:
        super().__init__(reads, columns, n)
        self._weight = weight
        self._parts = parts
        self._memo: dict[Hashable, Any] = {}

    @property
    def weight(self) -> int:
        return self._weight

    @property
    def whole(self) -> Part:
        """All rows as one part."""
        while len(self._parts) > 1:
            self._parts = (*self._parts[:-2], _merge(*self._parts[-2:]))
        return self._parts[0] if self._parts else Part([], [])

    @property
    def classes(self) -> Sequence[Label]:
        """All classes, as the target says or as they were seen."""
        return self._reads.target.classes or self.whole.labels

    @property
    def several(self) -> bool:
        """Whether there is a column for each of three or more classes."""
        return self._columns is not None and self._columns[1] > 2

    def runs(self, label: Label, column: int = 0) -> Runs:
        """The scores of a class in a column."""
        part = self.whole
        return part.columns[column][part.labels.index(label)] if label in part.labels else NOTHING

    def binary(self, *, symmetric: bool = False) -> tuple[Runs, Runs]:
        """The scores of the negative and of the positive class. A metric that is `symmetric` takes two columns either
        way round."""
        classes = self.classes
        if self._columns is not None and self._columns[1] == 1:
            check_two(classes, labels=False)
        place = self._positive(classes, symmetric=symmetric)
        part = self.whole
        held = dict(zip(part.labels, part.columns[0], strict=True)) if part.columns else {}
        runs = [held.get(label, NOTHING) for label in classes]
        positive = NOTHING if place is None else runs.pop(place)
        return _join(runs), positive

    def _positive(self, classes: Sequence[Label], *, symmetric: bool) -> int | None:
        if symmetric and self._columns == (1, 2) and len(classes) == 2:
            return positive_column(classes, self._reads.target)
        return find_positive(classes, self._reads.target)

    def one_against_rest(self, place: int) -> tuple[Runs, Runs]:
        """The scores, in the column of a class, of the other classes and of the class itself."""
        others = [self.runs(label, place) for k, label in enumerate(self.classes) if k != place]
        return _join(others), self.runs(self.classes[place], place)

    def areas(self, place: int) -> list[float]:
        """In the column of a class, the share of pairs with rows of every class that are in order; 0 of no pairs."""
        part = self.whole
        column = [self.runs(label, place) for label in self.classes] if part.labels else []
        return [_area(*found) for found in class_sums(column, place)]

    def sums(self, *, symmetric: bool = False, wants: str = "") -> RankSums:
        """The sums over the two classes."""
        every = self._reads.wants | {wants}
        symmetric = symmetric and self._columns == (1, 2)  # elsewhere it changes nothing
        if (symmetric, wants) not in self._memo:
            found = sum_ranks(*self.binary(symmetric=symmetric), every)
            self._memo.update({(symmetric, want): found for want in (*every, "")})
        sums: RankSums = self._memo[symmetric, wants]
        return sums

    def steps(self, *, symmetric: bool = False) -> Steps:
        """What every distinct score does as a threshold."""
        symmetric = symmetric and self._columns == (1, 2)
        if ("steps", symmetric) not in self._memo:
            scores, tp, fp, fn, tn = score_steps(*self.binary(symmetric=symmetric))
            fn, tn = (side[-1:] - side if rest is None else rest for side, rest in ((tp, fn), (fp, tn)))
            self._memo["steps", symmetric] = Steps(scores, tp, fp, fn, tn)
        found: Steps = self._memo["steps", symmetric]
        return found

    def points(self, curve: str, *, drop: bool = False) -> tuple[Array, ...] | None:
        """Thresholds and the columns of a curve; None where there are weights, or one class only."""
        negative, positive = self.binary()
        if negative[1] is not None or positive[1] is not None or not len(negative[0]) or not len(positive[0]):
            return None
        return curve_points(curve, negative, positive, drop)

    def class_weights(self) -> list[int]:
        """The exact weight of every class."""
        if "weights" not in self._memo:
            part = self.whole
            held = {label: _size([runs])[1] for label, runs in zip(part.labels, part.columns[0], strict=True)}
            self._memo["weights"] = [held.get(label, 0) for label in self.classes]
        found: list[int] = self._memo["weights"]
        return found

    def _plus(self, other: Scores) -> Scores:
        labels = [part.labels for part in (*self._parts, *other._parts)]
        check_same_labels(labels, self.width, self._reads.target)
        parts = [*self._parts, *other._parts]
        while len(parts) > 1 and 2 * parts[-1].rows() >= parts[-2].rows():
            parts[-2:] = [_merge(*parts[-2:])]
        return Scores(self._reads, self._columns, self._n + other._n, self._weight + other._weight, tuple(parts))

    def fields(self) -> dict[str, Any]:
        part = self.whole
        return {
            "target": self._reads.target.facts(),
            "columns": None if self._columns is None else list(self._columns),
            "n": self._n,
            "weight": self._weight,
            "labels": pack_labels(part.labels),
            "scores": [[list(runs) for runs in column] for column in part.columns],
        }

    @classmethod
    def from_fields(cls, fields: dict[str, Any]) -> Scores:
        target = target_of(fields["target"])
        labels = unpack_labels(fields["labels"])
        columns = None if fields["columns"] is None else (int(fields["columns"][0]), int(fields["columns"][1]))
        n, weight = int(fields["n"]), int(fields["weight"])
        if columns is None:
            if n or weight or labels or fields["scores"]:
                raise StateError("a state of no rows holds nothing")
            return cls(ScoresOf(target), None, 0, 0, ())
        check_widths(columns, labels, target)
        held = [[check_runs(*runs) for runs in column] for column in fields["scores"]]
        if len(held) != (1 if columns[1] <= 2 else columns[1]) or any(len(column) != len(labels) for column in held):
            raise StateError("scores, labels and columns do not fit")
        sizes = [[_size([runs]) for runs in column] for column in held]
        rows, weights = (sum(part) for part in zip((0, 0), *sizes[0], strict=True))
        if any(column != sizes[0] for column in sizes) or not rows <= n or weights != weight or n < 1:
            raise StateError("rows and weights do not add up")
        if rows > _MOST_INTEGER:
            raise StateError("there are more rows than float64 can count")
        if columns[1] <= 2 and (0, 0) in sizes[0]:
            raise StateError("every label must have rows")
        return cls(ScoresOf(target), columns, n, weight, (Part(labels, held),))


def check_same_labels(labels: Sequence[Sequence[Label]], columns: int, target: Target) -> None:
    """Refuse to add labels of two kinds, and columns that belong to different classes."""
    if len({isinstance(held[0], str) for held in labels if held}) > 1:
        raise StateError("only states of one kind of label add; these hold numbers and strings")
    if columns > 1 and target.classes is None and any(held != labels[0] for held in labels):
        shown = next(held for held in labels if held != labels[0])
        raise StateError(
            "only states whose columns have the same classes add; these have "
            f"{show_labels(labels[0])} and {show_labels(shown)}. Pass `classes`"
        )


def check_widths(columns: tuple[int, int], labels: Sequence[Label], target: Target) -> None:
    """Refuse columns, labels and classes of a stored state that no rows can have."""
    if columns[0] != 1 or columns[1] < 1:
        raise StateError("truth is one column, and predictions at least one")
    if any(isinstance(label, float) for label in labels):
        raise StateError("labels must be whole numbers or strings")
    if target.classes is not None:
        check_classes([labels], target.classes)
    classes = len(labels if target.classes is None else target.classes)
    if classes > 2 if columns[1] == 1 else classes != columns[1]:
        raise StateError("the columns do not fit the classes")


def _size(column: list[Runs]) -> tuple[int, int]:
    """Rows and exact weight of one column."""
    rows = weight = 0
    for scores, weights, counts in column:
        rows += len(scores) if counts is None else sum(counts.tolist())
        if weights is None:
            weight += ONE * (len(scores) if counts is None else sum(counts.tolist()))
        elif counts is None:
            weight += exact_sum(weights)
        else:
            weight += sum(int(c) * exact_sum(weights[counts == c]) for c in np.unique(counts).tolist())
    return rows, weight


def check_runs(scores: Array, weights: Array | None, counts: Array | None) -> Runs:
    """Refuse stored runs that are not in their one normal form."""
    for held, dtype in ((scores, np.float64), (weights, np.float64), (counts, np.int64)):
        if held is not None and (held.ndim != 1 or held.dtype != dtype or len(held) != len(scores)):
            raise StateError("scores, weights and counts differ in length or type")
    if not np.isfinite(scores).all() or (np.signbit(scores) & (scores == 0)).any():
        raise StateError("scores must be finite, and zero has no sign")
    if weights is not None and not (np.isfinite(weights).all() and (weights > 0).all() and (weights != 1).any()):
        raise StateError("weights must be finite, positive and not all one")
    if counts is not None and not ((counts > 0).all() and (counts != 1).any()):
        raise StateError("counts must be positive and not all one")
    rises = np.diff(scores) > 0
    if weights is not None:
        rises |= (np.diff(scores) == 0) & (np.diff(weights) > 0)
    if not rises.all():
        raise StateError("scores must differ and be in order")
    return tuple(None if a is None else np.ascontiguousarray(a) for a in (scores, weights, counts))  # type: ignore[return-value]


def _join(runs: list[Runs]) -> Runs:
    """The runs of several classes as one; those of similar size first."""
    while len(runs) > 1:
        runs = [merge_runs(*runs[k : k + 2]) if k + 1 < len(runs) else runs[k] for k in range(0, len(runs), 2)]
    return runs[0] if runs else NOTHING


def _merge(left: Part, right: Part) -> Part:
    labels = left.labels if left.labels == right.labels else sorted({*left.labels, *right.labels})

    def find(part: Part, column: int, label: Label) -> Runs:
        return part.columns[column][part.labels.index(label)] if label in part.labels else NOTHING

    columns = [
        [merge_runs(find(left, k, label), find(right, k, label)) for label in labels] for k in range(len(left.columns))
    ]
    return Part(labels, columns)
