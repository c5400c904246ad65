"""The scores state: the scores of every class as sorted runs. It grows with the distinct scores.

A state holds parts that are merged when they are of similar size, or when the state is read: a stream of small batches
costs little more than one sort.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Sequence
from typing import Any, Generic, TypeVar

import numpy as np

from tallymark._core import class_sums, curve_points, merge_runs, read_probability_columns, sort_columns, sort_scores
from tallymark.data.arrays import Array
from tallymark.data.batch import Batch
from tallymark.data.labels import Label, normal_label
from tallymark.data.target import ANY_TARGET, Target, show_labels
from tallymark.errors import (
    Argument,
    DomainError,
    InputError,
    LengthError,
    ParameterError,
    ShapeError,
    StateError,
    Text,
)
from tallymark.states.base import ONE, R, Reads, TargetState, check_label_types, exact_total
from tallymark.states.labels.counts import check_two, find_positive, knows_positive, name_decisions
from tallymark.states.labels.encoding import (
    check_classes,
    class_places,
    column_classes,
    encode_labels,
    label_fault,
    read_pairs,
    wrap_label_errors,
)
from tallymark.states.resampling.draws import Draws
from tallymark.states.resampling.one_pass import resample_areas, resample_precision
from tallymark.states.scores.runs import (
    NO_RUNS,
    PlacementSums,
    RankSums,
    Runs,
    RunsOfClasses,
    Steps,
    check_runs,
    join_runs,
    measure_runs,
    merge_parts,
    roc_with_sums,
    share_in_order,
    sum_placements,
    sum_ranks,
    walk_steps,
)
from tallymark.states.serialization import pack_labels, unpack_columns, unpack_labels, unpack_target

S = TypeVar("S")
_ODD_TOTAL = 1e-3  # how far the totals of two columns may be apart, for their size


class ScoreState(TargetState[R], Generic[R, S]):
    """The scores of every class, in one column for two classes, or in one for each of more. S is what the state keeps
    of a class in a column."""

    __slots__ = ("_weight",)
    exact = True

    def __init__(self, reads: R, columns: tuple[int, int] | None, n: int, weight: int) -> None:
        super().__init__(reads, columns, n)
        self._weight = weight

    @property
    def weight(self) -> int:
        return self._weight

    @property
    @abstractmethod
    def labels(self) -> list[Label]:
        """The labels that were seen, in order."""

    @abstractmethod
    def of_class(self, label: Label, column: int = 0) -> S:
        """The scores of a class in a column."""

    @abstractmethod
    def _together(self, classes: list[S], column: int) -> S:
        """The scores of several classes, or of none, as those of one."""

    @abstractmethod
    def class_weights(self) -> list[int]:
        """The exact weight of every class, in one unit."""

    @property
    def classes(self) -> Sequence[Label]:
        """All classes, as the target says or as they were seen."""
        return self.target.classes or self.labels

    @property
    def several(self) -> bool:
        """Whether there is a column for each of three or more classes."""
        return self.width > 2

    def binary(self, *, symmetric: bool = False) -> tuple[S, S]:
        """The scores of the negative and of the positive class. A metric that is `symmetric` takes two columns either
        way round."""
        target = self.target
        classes = target.classes or self.labels
        if self.columns == (1, 1):
            check_two(classes, labels=False)
        two = symmetric and self.columns == (1, 2) and len(classes) == 2
        place = positive_column(classes, target) if two else find_positive(classes, target)
        return self._against_rest(classes, place, 0)

    def one_against_rest(self, place: int) -> tuple[S, S]:
        """The scores, in the column of a class, of the other classes and of the class itself."""
        return self._against_rest(self.classes, place, place)

    def _against_rest(self, classes: Sequence[Label], place: int | None, column: int) -> tuple[S, S]:
        others = [self.of_class(label, column) for k, label in enumerate(classes) if k != place]
        own = self._together([], column) if place is None else self.of_class(classes[place], column)
        return self._together(others, column), own

    def fields(self) -> dict[str, Any]:
        return {**super().fields(), "weight": self._weight}


def check_same_labels(labels: Sequence[Sequence[Label]], columns: int, target: Target) -> None:
    """Refuse to add labels of two kinds, and columns that belong to different classes."""
    check_label_types({isinstance(side[0], str) for side in labels if side})
    if columns > 1 and target.classes is None and any(side != labels[0] for side in labels):
        shown = next(side for side in labels if side != labels[0])
        raise StateError(
            "only states whose columns have the same classes can be added; these have "
            f"{show_labels(labels[0])} and {show_labels(shown)}",
            hint=Text("Pass {classes}"),
        )


def check_widths(columns: tuple[int, int], labels: Sequence[Label], target: Target) -> None:
    """Reject columns, labels and classes of a stored state that no rows can have."""
    if columns[0] != 1 or columns[1] < 1:
        raise StateError("truth is one column, and predictions at least one")
    if any(isinstance(label, float) for label in labels):
        raise StateError("labels must be whole numbers or strings")
    if target.classes is not None:
        check_classes([labels], target.classes)
    classes = len(labels if target.classes is None else target.classes)
    if classes > 2 if columns[1] == 1 else classes != columns[1]:
        raise StateError("the columns do not fit the classes")


MOST_INTEGER = 1 << 53
"""Whole numbers up to here are all float64s."""

_HIGHEST = float(np.finfo(np.float64).max)


def check_scores(batch: Batch, target: Target) -> None:
    """Reject tables of truth, whole numbers that a float64 cannot tell apart, and what cannot be normalised."""
    if batch.truth_columns != 1:
        raise ShapeError(argument="y_true", expected="be one label per row", got=f"{batch.truth_columns} columns")
    if target.normalize and batch.prediction_columns == 1:
        raise ParameterError(
            Text("{normalize} applies to probabilities in several columns; {y_pred} has one column"),
            argument="normalize",
        )
    held = batch.prediction
    if held.dtype.kind in "iu" and held.dtype.itemsize == 8 and held.size:
        most = max(int(held.min()), int(held.max()), key=abs)
        if abs(most) > MOST_INTEGER:
            raise DomainError(
                argument="y_pred",
                expected="contain scores that float64 can distinguish, up to 2**53",
                got=f"{most}",
                hint="Subtract a constant, or pass ranks",
            )


def read_scores(batch: Batch, target: Target) -> Array:
    """One score per row: the column itself, or of two columns that of the positive class."""
    check_scores(batch, target)
    held = batch.prediction
    if batch.prediction_columns == 1:
        return held
    check_score_columns(batch, target)
    place = positive_column(column_classes(target, batch), target)
    if target.kind == "margin":
        return margin_between(held, place)
    if not target.normalize:
        if target.kind is None:
            _require_complements(batch)
        return held[:, place]
    near_one = np.ldexp(held.astype(np.float64), -np.frexp(held.max(axis=1, keepdims=True))[1])  # no sum overflows
    return np.asarray(near_one[:, place] / (near_one[:, 0] + near_one[:, 1]))


def _require_complements(batch: Batch) -> None:
    """Reject two columns that do not add up to one constant, as scores of two classes do: those of two models, for
    example, of which one would be left out without a word."""
    used = batch.prediction if batch.weights is None else batch.prediction[np.asarray(batch.weights) > 0]
    with np.errstate(over="ignore", invalid="ignore"):
        totals = np.asarray(used[:, 0], np.float64) + used[:, 1]
        apart = float(np.ptp(totals)) if len(totals) else 0.0
        if not apart > _ODD_TOTAL * max(1.0, float(np.abs(used).max(initial=0.0))):
            return
    row = int(np.argmax(np.abs(totals - np.median(totals))))
    raise DomainError(
        argument="y_pred",
        expected="have one column, or two that add up to the same number in every row, as those of two classes do",
        got=f"{used[row, 0]!s} and {used[row, 1]!s}",
        place=batch.places.row(row) if batch.weights is None else None,
        hint=Text('Pass {kind="score"} if they are scores of two classes; compare two models instead'),
    )


def margin_between(table: Array, place: int) -> Array:
    """Of two columns of margins, how far the one at a place is above the other."""
    with np.errstate(over="ignore"):
        gap = table[:, place].astype(np.float64) - table[:, 1 - place]
    return np.clip(gap, -_HIGHEST, _HIGHEST)  # what overflows stays the highest or lowest there is


def positive_column(classes: Sequence[Label], target: Target) -> int:
    """Which of two columns is the positive class's; the second where nothing says it, and it does not matter."""
    if not knows_positive(classes, target):
        return 1
    place = find_positive(classes, target)
    return 1 if place is None else place


def check_score_columns(batch: Batch, target: Target, *, finite: bool = True) -> None:
    """Reject rows of several columns that are not what a declared kind says."""
    if target.kind == "probability" or target.normalize:
        read_pairs(batch, None, decision=(0.5, False, target.normalize, 2, False))  # for what it refuses
    if finite:
        batch.require_finite_side(1)  # of two columns only one is sorted
    batch.require_weights()  # before classes go by them


def read_score_table(batch: Batch, target: Target) -> tuple[Sequence[Label], Array, Array]:
    """The classes of the columns, the place of each row's true class among them, and the scores."""
    check_scores(batch, target)
    check_score_columns(batch, target, finite=False)
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


def check_truth(seen: Sequence[Label], target: Target, *, one: bool, labels: bool) -> None:
    """Reject labels that are no classes or, with `one` column of predictions, can never have a positive class, whatever
    rows come yet. `labels` says that the predictions could be labels as well."""
    if target.classes is not None:
        check_classes([seen], target.classes)
    if one and (len(seen) > 1 or (seen and isinstance(seen[0], str))):
        name_decisions(seen, target, labels=labels)


def check_probabilities(batch: Batch, target: Target) -> None:
    """Require probabilities in a single column."""
    if target.kind == "probability" and batch.prediction_columns == 1:
        fault = outside_fault(batch)
        if fault is not None:
            raise fault


def outside_fault(batch: Batch) -> InputError | None:
    """The error for one column of numbers that are no probabilities, if there are any of weight."""
    held = np.asarray(batch.prediction).reshape(-1)
    outside = ~((held >= 0) & (held <= 1))
    if batch.weights is not None:
        outside &= np.asarray(batch.weights) > 0
    count = int(np.count_nonzero(outside))
    if not count:
        return None
    return label_fault(batch, [(1, "outside", count, int(outside.argmax()))], decided=True, labels=False)


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

    def resolved(self, batch: Batch | None, whole: Scores) -> ScoresOf:
        return ScoresOf(self.target.with_classes(whole.labels), self.wants)

    def fold(self, batch: Batch) -> Scores:
        if batch.n == 0:
            return self.zero()
        if batch.prediction_columns > 2:
            part, weight = self._fold_table(batch)
        else:
            part, weight = self._fold_column(batch)
        columns = (batch.truth_columns, batch.prediction_columns)
        return Scores(self, columns, batch.n, batch.n * ONE if weight is None else exact_total(*weight), (part,))

    def areas(self, batch: Batch, draws: Draws) -> list[Array | None]:
        """The area under the ROC curve in every replicate, of two classes or of every class against the rest; NaN where
        one has no rows, None where there is no faster way than to read the state of each."""
        weights = batch.non_unit_weights()
        if batch.n and batch.prediction_columns > 2:
            classes, places, table = read_score_table(batch, self.target)
            columns = (np.asarray(table[:, k], np.float64) for k in range(len(classes)))
            return [resample_areas(column, places == k, weights, draws) for k, column in enumerate(columns)]
        rows = self._two_classes(batch, symmetric=True)
        return [None if rows is None else resample_areas(*rows, weights, draws)]

    def precision_areas(self, batch: Batch, draws: Draws) -> Array | None:
        """The area under the steps of precision by recall of two classes, in the same way."""
        rows = self._two_classes(batch, symmetric=False)
        return None if rows is None else resample_precision(*rows, batch.non_unit_weights(), draws)

    def _two_classes(self, batch: Batch, *, symmetric: bool) -> tuple[Array, Array] | None:
        """The score of each row, and whether it is positive; None where there are more classes, or none is positive."""
        if batch.n == 0 or max(batch.truth_columns, batch.prediction_columns - 1) > 1:
            return None
        labels, codes = encode_labels(batch, 0)
        classes = self.target.classes or labels
        either = symmetric and batch.prediction_columns == 2 and len(classes) == 2
        place = positive_column(classes, self.target) if either else find_positive(classes, self.target)
        if place is None or len(classes) > 2 or classes[place] not in labels:
            return None
        return np.asarray(read_scores(batch, self.target), np.float64), codes == labels.index(classes[place])

    def _fold_column(self, batch: Batch) -> tuple[RunsOfClasses, tuple[bytes, int] | None]:
        """The runs of one score per row, by the labels of the truth, and the weight; None where a row is 1."""
        scores, truth = read_scores(batch, self.target), batch.truth_labels
        with wrap_label_errors(Argument("y_true")):
            found = sort_scores(truth.source, scores, batch.weights, normal_label)
        if found is None:
            raise _refused(batch)
        if isinstance(found, list):
            raise label_fault(batch, found, decided=True)
        labels, groups, weight, rows = found
        if rows != batch.n:
            raise LengthError(Text("{y_true} must have {} rows; its labels were {}", batch.n, rows), argument="y_true")
        by_label: dict[Label, Runs] = dict(zip(labels, groups or [NO_RUNS] * len(labels), strict=True))
        if truth.names is not None:
            by_label = _by_name(by_label, truth.names)
        names = sorted(by_label)
        check_truth(names, self.target, one=batch.prediction_columns == 1, labels=False)
        part = RunsOfClasses(names, [[by_label[name] for name in names]])
        if self.target.kind == "probability" and not part.within_one():
            check_probabilities(batch, self.target)
        return part, weight

    def _fold_table(self, batch: Batch) -> tuple[RunsOfClasses, tuple[bytes, int] | None]:
        classes, places, table = read_score_table(batch, self.target)
        found = sort_columns(places, len(classes), table, batch.weights)
        if found is None:
            raise _refused(batch)
        columns, weight = found
        order = sorted(range(len(classes)), key=lambda k: classes[k])
        in_order = [[column[k] for k in order] for column in columns]
        return RunsOfClasses([classes[k] for k in order], in_order), weight

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ScoresOf) and self.target == other.target

    def __hash__(self) -> int:
        return hash((ScoresOf, self.target))

    def __repr__(self) -> str:
        return f"ScoresOf({self.target!r})"


def _by_name(by_place: dict[Label, Runs], names: Sequence[Label]) -> dict[Label, Runs]:
    """The runs of labels that are places among names, of which several may be equal."""
    out: dict[Label, Runs] = {}
    for place, runs in by_place.items():
        name = names[int(place)]
        out[name] = merge_runs(out[name], runs) if name in out else runs
    return out


def _refused(batch: Batch) -> InputError:
    batch.require_finite_side(1)
    batch.require_weights()
    return InputError("the input changed while it was being read")


def _can_draw(negative: Runs, positive: Runs) -> bool:
    """Whether the core can write the curves of two classes: both have rows, and none has weights."""
    return negative[1] is None and positive[1] is None and len(negative[0]) > 0 and len(positive[0]) > 0


class Scores(ScoreState[ScoresOf, Runs]):
    """The scores of every class in order.

    Parts that were added are merged when they are of similar size, or when somebody reads: a long stream costs little
    more than one sort.
    """

    __slots__ = ("_memo", "_parts")
    size = "distinct scores"

    def __init__(
        self, reads: ScoresOf, columns: tuple[int, int] | None, n: int, weight: int, parts: tuple[RunsOfClasses, ...]
    ) -> None:
        super().__init__(reads, columns, n, weight)
        self._parts = parts
        self._memo: dict[Hashable, Any] = {}

    def with_reads(self, reads: ScoresOf) -> Scores:
        return Scores(reads, self.columns, self.n, self._weight, self._parts)

    @property
    def whole(self) -> RunsOfClasses:
        """All rows as one part."""
        parts = self._parts  # read once: another thread may be merging them too
        while len(parts) > 1:
            parts = (*parts[:-2], merge_parts(*parts[-2:]))
        self._parts = parts
        return parts[0] if parts else RunsOfClasses([], [])

    @property
    def labels(self) -> list[Label]:
        return self.whole.labels

    def of_class(self, label: Label, column: int = 0) -> Runs:
        return self.whole.find(label, column)

    def _together(self, classes: list[Runs], column: int) -> Runs:
        return join_runs(classes)

    def areas(self, place: int) -> list[float]:
        """In the column of a class, the share of pairs with rows of every class that are in order; 0 of no pairs."""
        part = self.whole
        column = [self.of_class(label, place) for label in self.classes] if part.labels else []
        return [share_in_order(*found) for found in class_sums(column, place)]

    def sums(self, *, symmetric: bool = False, wants: str = "") -> RankSums:
        """The sums over the two classes."""
        every = self.reads.wants | {wants}
        symmetric = symmetric and self.columns == (1, 2)  # elsewhere it changes nothing
        if (symmetric, wants) not in self._memo:
            sides = self.binary(symmetric=symmetric)
            if "roc" in every and not symmetric and _can_draw(*sides):
                self._memo["roc"], found = roc_with_sums(*sides, every)
            else:
                found = sum_ranks(*sides, every)
            self._memo.update({(symmetric, want): found for want in (*every, "")})
        sums: RankSums = self._memo[symmetric, wants]
        return sums

    def placements(self) -> PlacementSums | None:
        """How the rows of the two classes are placed among each other, either way round; None where there are
        weights."""
        negative, positive = self.binary(symmetric=True)
        return sum_placements(negative, positive) if negative[1] is None and positive[1] is None else None

    def steps(self, *, symmetric: bool = False) -> Steps:
        """What every distinct score does as a threshold."""
        symmetric = symmetric and self.columns == (1, 2)
        if ("steps", symmetric) not in self._memo:
            self._memo["steps", symmetric] = walk_steps(*self.binary(symmetric=symmetric))
        found: Steps = self._memo["steps", symmetric]
        return found

    def points(self, curve: str, *, drop: bool = False) -> tuple[Array, ...] | None:
        """Thresholds and the columns of a curve; None where there are weights, or one class only."""
        sides = self.binary()
        if not _can_draw(*sides):
            return None
        if curve == "roc" and drop and self.reads.wants > {"roc"}:  # sums are read too, which one walk takes with it
            self.sums()
        known: tuple[Array, ...] | None = self._memo.get("roc") if curve == "roc" and drop else None
        return known or curve_points(curve, *sides, drop)

    def class_weights(self) -> list[int]:
        if "weights" not in self._memo:
            part = self.whole
            held = {label: measure_runs(runs)[1] for label, runs in zip(part.labels, part.columns[0], strict=True)}
            self._memo["weights"] = [held.get(label, 0) for label in self.classes]
        found: list[int] = self._memo["weights"]
        return found

    def _plus(self, other: Scores) -> Scores:
        parts = [*self._parts, *other._parts]
        check_same_labels([part.labels for part in parts], self.width, self.target)
        while len(parts) > 1 and 2 * parts[-1].rows() >= parts[-2].rows():
            parts[-2:] = [merge_parts(*parts[-2:])]
        return Scores(self.reads, self.columns, self.n + other.n, self._weight + other._weight, tuple(parts))

    def fields(self) -> dict[str, Any]:
        part = self.whole
        return {
            **super().fields(),
            "labels": pack_labels(part.labels),
            "scores": [[list(runs) for runs in column] for column in part.columns],
        }

    @classmethod
    def from_fields(cls, fields: dict[str, Any]) -> Scores:
        target = unpack_target(fields["target"])
        labels = unpack_labels(fields["labels"])
        columns = unpack_columns(fields["columns"])
        n, weight = int(fields["n"]), int(fields["weight"])
        if columns is None:
            if n or weight or labels or fields["scores"]:
                raise StateError("a state of no rows holds nothing")
            return cls(ScoresOf(target), None, 0, 0, ())
        check_widths(columns, labels, target)
        by_column = [[check_runs(*runs) for runs in column] for column in fields["scores"]]
        if len(by_column) != (1 if columns[1] <= 2 else columns[1]) or any(
            len(column) != len(labels) for column in by_column
        ):
            raise StateError("scores, labels and columns do not fit")
        sizes = [[measure_runs(runs) for runs in column] for column in by_column]
        rows, weights = (sum(part) for part in zip((0, 0), *sizes[0], strict=True))
        if any(column != sizes[0] for column in sizes) or not rows <= n or weights != weight or n < 1:
            raise StateError("rows and weights do not add up")
        if rows > MOST_INTEGER:
            raise StateError("there are more rows than float64 can count")
        if columns[1] <= 2 and (0, 0) in sizes[0]:
            raise StateError("every label must have rows")
        return cls(ScoresOf(target), columns, n, weight, (RunsOfClasses(labels, by_column),))
