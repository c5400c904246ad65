"""What all metrics that compare two clusterings share."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from tallymark._core import entropy, mutual_information
from tallymark.data.batch import Batch
from tallymark.errors import ShapeError, Text, WeightError
from tallymark.metrics.base import Metric
from tallymark.states.base import divide
from tallymark.states.labels.pairs import Pairs, PairsOf

__all__ = ["ClusterMetric"]


_READS = PairsOf(clusters=True)


class ClusterMetric(Metric, abstract=True):
    """A metric of two clusterings of the same rows. Labels of any type name the clusters; only who is with whom counts.

    A subclass writes `formula_value(pairs)`.
    """

    family: ClassVar[str] = "clustering"
    outliers: ClassVar[str] = "none: only who is with whom counts."
    kind: ClassVar[str] = "label"
    takes: ClassVar[str] = "labels of clusters"
    better = "higher"
    range = (0.0, 1.0)
    at_perfect: ClassVar[float | None] = 1.0
    symmetric = True
    whole_weights: ClassVar[bool] = False
    """Whether a weight stands for that many rows, and so must be a whole number."""

    @property
    def reads(self) -> PairsOf:
        return _READS

    def check_columns(self, truth_columns: int, prediction_columns: int) -> None:
        if (truth_columns, prediction_columns) != (1, 1):
            raise ShapeError(
                Text(
                    "{y_true} and {y_pred} must be one label per row for {}; got {} and {} columns",
                    self,
                    truth_columns,
                    prediction_columns,
                ),
                argument="y_true",
            )

    def check_values(self, state: Any, batch: Batch | None) -> None:
        if self.whole_weights and not state.whole_weights:
            raise fractional_weight(self, batch)


def fractional_weight(metric: Metric, batch: Batch | None) -> WeightError:
    """The error for weights that are no numbers of rows."""
    got = place = None
    if batch is not None and batch.weights is not None:
        row = int(np.argmax(batch.weights != np.floor(batch.weights)))
        got, place = str(float(batch.weights[row])), batch.places.row(row)
    expected = f"be whole numbers for {metric}, since weight 2 counts a row twice"
    return WeightError(argument="weights", expected=expected, got=got, place=place)


def is_identical(pairs: Pairs) -> bool:
    """Whether both sides put the same rows together: every cluster meets exactly one of the other side."""
    return len(pairs.cells[0]) == len(pairs.labels[0]) == len(pairs.labels[1])


def is_trivial(pairs: Pairs) -> bool:
    """Whether one side says nothing: one cluster for all rows."""
    return min(map(len, pairs.labels)) == 1


class Information:
    """Entropies and mutual information of two clusterings, in nats."""

    def __init__(self, pairs: Pairs) -> None:
        truth, predicted = pairs.sizes()
        total = sum(truth)
        # Only shares matter: weights are brought near 1, so that no product of theirs can leave float64.
        scale = 1 if pairs.unit is None else 1 << total.bit_length()
        self._cells = (*pairs.cells, _floats(pairs.values, scale))
        self._sizes = (_floats(truth, scale), _floats(predicted, scale))
        self.total = divide(total, scale)

    @property
    def mutual(self) -> float:
        """What one side tells about the other."""
        return mutual_information(*self._cells, *self._sizes, self.total)

    @property
    def truth(self) -> float:
        """The entropy of the true clusters."""
        return entropy(self._sizes[0], self.total)

    @property
    def prediction(self) -> float:
        """The entropy of the predicted clusters."""
        return entropy(self._sizes[1], self.total)

    @property
    def joint(self) -> float:
        """The entropy of the pairs."""
        return entropy(self._cells[2], self.total)


def _floats(values: Any, scale: int) -> Any:
    if scale == 1:
        return np.asarray(values, dtype=np.float64)
    return np.array([divide(value, scale) for value in values])


def pairs_of_rows(sizes: Any) -> int:
    """How many pairs of rows lie in the same group, over groups of these sizes."""
    total = int(sizes.sum()) if isinstance(sizes, np.ndarray) else sum(sizes)
    if len(sizes) > 64 and total < 1 << 31:
        table = np.asarray(sizes, dtype=np.int64)
        return int((table * (table - 1)).sum()) // 2
    return sum(size * (size - 1) for size in map(int, sizes)) // 2


def ratio_of_entropies(part: float, whole: float) -> float:
    """A share of an entropy, clamped to [0, 1] against rounding."""
    return min(max(part / whole, 0.0), 1.0) if whole > 0.0 else 1.0


def normalizer(info: Information, norm: str) -> float:
    """What mutual information is divided by."""
    truth, prediction = info.truth, info.prediction
    if norm == "sqrt":
        return math.sqrt(truth * prediction)
    if norm == "sum":
        return (truth + prediction) / 2
    return info.joint if norm == "joint" else max(truth, prediction) if norm == "max" else min(truth, prediction)
