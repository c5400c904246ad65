"""Outcomes: what each row of the answers contributes to a score, packed, to compare two submissions by row."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from tallymark.comparison.compare import value_from_rows
from tallymark.data.arrays import Array
from tallymark.data.batch import QUERY, Batch
from tallymark.data.target import Target
from tallymark.errors import StateError, TallymarkError
from tallymark.metrics.base import Metric
from tallymark.metrics.classification.base import LabelMetric
from tallymark.metrics.probability.base import CostMetric
from tallymark.metrics.ranking.base import RankingMetric
from tallymark.metrics.regression.base import MeanMetric
from tallymark.metrics.regression.variance_explained import R2, ExplainedVariance
from tallymark.states.groups import rows_by
from tallymark.states.labels.counts import LABELS
from tallymark.states.labels.encoding import CountedPairs, encode_labels
from tallymark.states.labels.pairs import Pairs, PairsOf
from tallymark.states.resampling.paired_rows import Placements, read_cells
from tallymark.states.row_terms import row_costs, row_terms
from tallymark.states.serialization import pack, unpack

BITS = "bits"
INFLUENCE = "influence"
_NAME = "SubmissionOutcomes"
_FIELDS = {"kind", "sizes", "value", "scale", "exponent", "packed"}
_MAX_EXPONENT = 1100  # beyond those of float64


class Outcomes(NamedTuple):
    """A bit for every row, where the score is `scale` times the share of bits that are set; or the influence of every
    row on the score, as a float32 in units of 2**exponent: how far the score moves towards the value of this row alone.

    Rows are in the order of the answers; for rankings, each query is one row. `sizes` is their number; for an area
    under the ROC curve the number of positive rows and that of negative rows.
    """

    kind: str
    sizes: tuple[int, ...]
    value: float
    packed: Array
    scale: float = 1.0
    exponent: int = 0

    @classmethod
    def from_bits(cls, counts: Array, value: float, scale: float = 1.0) -> Outcomes:
        """Whether each row counts.

        >>> Outcomes.from_bits(np.array([True, True, False]), 2 / 3).rows
        3
        """
        return cls(BITS, (len(counts),), value, np.packbits(counts), scale)

    @classmethod
    def from_influences(cls, value: float, *parts: Array) -> Outcomes:
        """How far each row moves the value, in one part or in two of different rows."""
        influences = np.concatenate(parts)
        largest = float(np.max(np.abs(influences), initial=0.0))
        exponent = math.frexp(largest)[1]
        packed = np.ldexp(influences, -exponent).astype(np.float32)
        return cls(INFLUENCE, tuple(map(len, parts)), value, packed, exponent=exponent)

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return sum(self.sizes)

    @property
    def shape(self) -> tuple[str, tuple[int, ...]]:
        """Equal for outcomes of the same rows."""
        return self.kind, self.sizes

    def counts(self) -> Array:
        """Whether each row counts, where there is a bit for each."""
        return np.unpackbits(self.packed, count=self.rows).astype(bool)

    def influences(self) -> list[Array]:
        """The influences in each part, in units of 2**exponent."""
        return np.split(self.packed.astype(np.float64), np.cumsum(self.sizes)[:-1])

    def to_bytes(self) -> bytes:
        """The same as bytes, in the format of states."""
        fields = {**self._asdict(), "sizes": list(self.sizes), "packed": self.packed.view(np.uint8)}
        return pack(_NAME, fields)

    @classmethod
    def from_bytes(cls, data: bytes) -> Outcomes:
        """What `to_bytes` wrote; anything else is a StateError."""
        name, fields = unpack(data)
        if name != _NAME:
            raise StateError(f"these bytes must be outcomes of a submission; they are a {name} state")
        return _parse_fields(fields)


class NoOutcomes(NamedTuple):
    """In place of outcomes, the reason why a score has none."""

    reason: str


def _parse_fields(fields: dict[str, Any]) -> Outcomes:
    if set(fields) != _FIELDS or fields["kind"] not in (BITS, INFLUENCE):
        raise StateError("outcomes of a submission are bits or influences")
    kind, sizes, packed, exponent = (fields[key] for key in ("kind", "sizes", "packed", "exponent"))
    parts = (1,) if kind == BITS else (1, 2)
    if not isinstance(sizes, list) or len(sizes) not in parts or not all(type(n) is int and n > 0 for n in sizes):
        raise StateError("outcomes of a submission have rows")
    if not isinstance(packed, np.ndarray) or packed.dtype != np.uint8 or packed.ndim != 1:
        raise StateError("outcomes of a submission are packed in bytes")
    rows = sum(sizes)
    if len(packed) != (-(-rows // 8) if kind == BITS else 4 * rows):
        raise StateError("outcomes of a submission have one value per row")
    if not all(isinstance(fields[key], float) and math.isfinite(fields[key]) for key in ("value", "scale")):
        raise StateError("a score is a finite number")
    if type(exponent) is not int or abs(exponent) > _MAX_EXPONENT:
        raise StateError("influences have the unit of a number")
    if kind == BITS and rows % 8 and packed[-1] & (0xFF >> rows % 8):
        raise StateError("there are no outcomes beyond the rows")
    if kind == INFLUENCE:
        packed = packed.view("<f4")
        if not (np.abs(packed) <= 1).all():
            raise StateError("influences are numbers of at most 1 in their unit")
    return Outcomes(kind, tuple(sizes), fields["value"], packed, fields["scale"], exponent)


NOT_BY_ROW = NoOutcomes("it is not a sum over rows")
NO_VALUE = NoOutcomes("it has no value")
NOT_READABLE = NoOutcomes("its rows cannot be read one by one")
NO_DIRECTION = NoOutcomes("neither higher nor lower is better")
TOO_MANY = NoOutcomes("there are too many pairs of classes")
MAX_CELLS = 4096
_STEPS = 1024  # to the weight of a row
_TOLERANCE = 1e-9
_SLOPE = 2.0**-17


def row_outcomes(item: Metric, value: float, batch: Batch, target: Target) -> Outcomes | NoOutcomes:
    """The outcome of each row for a score of rows without weights; or why there is none."""
    if not math.isfinite(value):
        return NO_VALUE
    if item.better not in ("higher", "lower"):
        return NO_DIRECTION
    try:
        with np.errstate(all="ignore"):  # what leaves the floats is found below
            found = _compute_outcomes(item, value, batch, target)
    except TallymarkError:  # whose words may hold answers
        return NOT_READABLE
    if isinstance(found, Outcomes) and not np.isfinite(found.packed).all():
        return NOT_BY_ROW
    return found


def _compute_outcomes(item: Metric, value: float, batch: Batch, target: Target) -> Outcomes | NoOutcomes:
    rows = item.paired_rows(batch, target)
    if isinstance(rows, Placements):
        return _auc_outcomes(rows, value)
    if rows is not None and abs(value_from_rows(rows) - value) <= _TOLERANCE * rows.scale:
        return Outcomes.from_bits(rows.counts, value, rows.scale)
    kinds: list[tuple[type[Metric], Callable[..., Array | NoOutcomes]]] = [
        (LabelMetric, _label_influences),
        (MeanMetric, _mean_influences),
        (R2, _squared_error_influences),
        (ExplainedVariance, _squared_error_influences),
        (CostMetric, _cost_influences),
        (RankingMetric, _query_influences),
    ]
    for kind, read in kinds:
        if isinstance(item, kind):
            influences = read(item, value, batch, target)
            if isinstance(influences, NoOutcomes):
                return influences
            return Outcomes.from_influences(value, influences)
    return NOT_BY_ROW


def _auc_outcomes(rows: Placements, value: float) -> Outcomes | NoOutcomes:
    """The placements of each class among the other, whose mean is the area (DeLong et al. 1988)."""
    sizes = len(rows.positive), len(rows.negative)
    shares = rows.positive / (2 * sizes[1]), rows.negative / (2 * sizes[0])
    area = value_from_rows(rows) / rows.scale
    return Outcomes.from_influences(value, *(rows.scale * (share - area) for share in shares))


def _label_influences(item: LabelMetric, value: float, batch: Batch, target: Target) -> Array | NoOutcomes:
    """By pair of labels: how the value changes with a little more and a little less weight of its rows."""
    reads = item.needs(target)
    if batch.truth_columns > 1 or not isinstance(reads, PairsOf) or reads.clusters:
        return NOT_BY_ROW
    labels, cells, counts, rows = read_cells(reads, batch)
    if len(counts) > MAX_CELLS:
        return TOO_MANY
    columns, scaled = (1, batch.prediction_columns), _STEPS * counts

    def value_with(place: int, step: int) -> float:
        values = scaled.copy()
        values[place] += step
        state = Pairs(reads, columns, LABELS, _STEPS * batch.n + step, CountedPairs(labels, cells, values))
        return float(item.answer(state).value)

    if abs(value_with(0, 0) - value) > _TOLERANCE:
        return NOT_BY_ROW  # it goes by the number of rows, not by their shares
    half = _STEPS * batch.n / 2
    slopes = np.array([half * (value_with(place, 1) - value_with(place, -1)) for place in range(len(counts))])
    return np.asarray(slopes[rows])


def _mean_influences(item: MeanMetric, value: float, batch: Batch, target: Target) -> Array | NoOutcomes:
    """The loss of each row, times the slope of the value in the mean loss."""
    if max(batch.truth_columns, batch.prediction_columns) > 1 or item.layout != "paired":
        return NOT_BY_ROW
    losses = row_terms(item.term, batch.truth, batch.prediction)
    mean = float(np.mean(losses))
    if not math.isclose(item.from_mean(mean), value, rel_tol=_TOLERANCE):
        return NOT_BY_ROW
    if mean == 0:  # nothing is lost in any row
        return np.zeros(batch.n)
    step = _SLOPE * mean
    return np.asarray((item.from_mean(mean + step) - item.from_mean(mean - step)) / (2 * step) * (losses - mean))


def _squared_error_influences(item: Metric, value: float, batch: Batch, target: Target) -> Array | NoOutcomes:
    """Squared errors beside squared deviations of the truth, both of which a row changes."""
    if max(batch.truth_columns, batch.prediction_columns) > 1:
        return NOT_BY_ROW
    truth, prediction = (np.asarray(side, np.float64) for side in (batch.truth, batch.prediction))
    error, deviation = prediction - truth, truth - np.mean(truth)
    if isinstance(item, ExplainedVariance):
        error = error - np.mean(error)
    size = max(float(np.max(np.abs(deviation))), float(np.max(np.abs(error))))  # of squares near 1 none is lost
    error, deviation = error / size, deviation / size
    return np.asarray(((1 - value) * deviation**2 - error**2) / np.mean(deviation**2))


def _cost_influences(item: CostMetric, value: float, batch: Batch, target: Target) -> Array | NoOutcomes:
    """The cost of the probability of each row."""
    return row_costs(item.cost, batch, target) - value


def _query_influences(item: RankingMetric, value: float, batch: Batch, target: Target) -> Array | NoOutcomes:
    """The value of each query by itself; those without one count in no submission."""
    if not batch.has_query:
        return NOT_BY_ROW
    names, codes = encode_labels(batch, QUERY)
    reads = item.needs(target)
    found = np.array([item.answer(reads.fold(part)).value for part in rows_by(batch, codes, len(names))], np.float64)
    return found[~np.isnan(found)] - value
