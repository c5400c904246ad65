"""From rows to outcomes: which rows are right where a score is a share of them, how far each moves it where it is not.

An influence is the derivative of a score by the weight of a row, so that in first order a score is the mean of what its
rows say, and the difference of two scores that of the differences of their rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from tallymark.arrays import Array
from tallymark.batch import QUERY, Batch
from tallymark.errors import TallymarkError
from tallymark.evaluation.evidence import value_of
from tallymark.metrics import Metric
from tallymark.metrics.labels import LabelMetric
from tallymark.metrics.probability import CostMetric
from tallymark.metrics.ranking import RankingMetric
from tallymark.metrics.regression import MeanMetric
from tallymark.metrics.variance_explained import R2, ExplainedVariance
from tallymark.states import Pairs, PairsOf, Placements
from tallymark.states.decisions import LABELS
from tallymark.states.encoding import Counted, encode
from tallymark.states.paired_rows import read_cells
from tallymark.states.row_terms import row_costs, row_terms
from tallymark.states.slices import rows_by
from tallymark.submissions.outcomes import NoOutcomes, Outcomes
from tallymark.target import Target

NO_FORM = NoOutcomes("it is not made up of what single rows say")
NO_VALUE = NoOutcomes("it has no value")
NOT_READ = NoOutcomes("its rows cannot be read one by one")
NO_DIRECTION = NoOutcomes("neither higher nor lower is better")
TOO_MANY = NoOutcomes("there are too many pairs of classes")
MOST_CELLS = 4096
_STEPS = 1024  # to the weight of a row
_ROUNDING = 1e-9
_SLOPE = 2.0**-17


def outcomes_of(item: Metric, value: float, batch: Batch, target: Target) -> Outcomes | NoOutcomes:
    """What each row says of a score, where rows have no weights; or why rows do not."""
    if not math.isfinite(value):
        return NO_VALUE
    if item.better not in ("higher", "lower"):
        return NO_DIRECTION
    try:
        with np.errstate(all="ignore"):  # what leaves the floats is found below
            found = _by_row(item, value, batch, target)
    except TallymarkError:  # whose words may hold answers
        return NOT_READ
    if isinstance(found, Outcomes) and not np.isfinite(found.packed).all():
        return NO_FORM
    return found


def _by_row(item: Metric, value: float, batch: Batch, target: Target) -> Outcomes | NoOutcomes:
    rows = item.paired(batch, target)
    if isinstance(rows, Placements):
        return _of_placements(rows, value)
    if rows is not None and abs(value_of(rows) - value) <= _ROUNDING * rows.scale:
        return Outcomes.of_bits(rows.counts, value, rows.scale)
    kinds: list[tuple[type[Metric], Callable[..., Array | NoOutcomes]]] = [
        (LabelMetric, _of_labels),
        (MeanMetric, _of_mean),
        (R2, _of_squares),
        (ExplainedVariance, _of_squares),
        (CostMetric, _of_cost),
        (RankingMetric, _of_queries),
    ]
    for kind, read in kinds:
        if isinstance(item, kind):
            moved = read(item, value, batch, target)
            return moved if isinstance(moved, NoOutcomes) else Outcomes.of_influences(value, moved)
    return NO_FORM


def _of_placements(rows: Placements, value: float) -> Outcomes | NoOutcomes:
    """The placements of each class among the other, whose mean is the area (DeLong et al. 1988)."""
    sizes = len(rows.positive), len(rows.negative)
    shares = rows.positive / (2 * sizes[1]), rows.negative / (2 * sizes[0])
    area = value_of(rows) / rows.scale
    return Outcomes.of_influences(value, *(rows.scale * (share - area) for share in shares))


def _of_labels(item: LabelMetric, value: float, batch: Batch, target: Target) -> Array | NoOutcomes:
    """By pair of labels: what a little more and a little less of its rows makes of the value."""
    reads = item.needs(target)
    if batch.truth_columns > 1 or not isinstance(reads, PairsOf) or reads.clusters:
        return NO_FORM
    labels, cells, counts, rows = read_cells(reads, batch)
    if len(counts) > MOST_CELLS:
        return TOO_MANY
    columns, held = (1, batch.prediction_columns), _STEPS * counts

    def moved(place: int, step: int) -> float:
        values = held.copy()
        values[place] += step
        state = Pairs(reads, columns, LABELS, _STEPS * batch.n + step, Counted(labels, cells, values))
        return float(item.answer(state).value)

    if abs(moved(0, 0) - value) > _ROUNDING:
        return NO_FORM  # it goes by the number of rows, not by their shares
    half = _STEPS * batch.n / 2
    slopes = np.array([half * (moved(place, 1) - moved(place, -1)) for place in range(len(counts))])
    return np.asarray(slopes[rows])


def _of_mean(item: MeanMetric, value: float, batch: Batch, target: Target) -> Array | NoOutcomes:
    """The loss of each row, by how much the value goes up with their mean."""
    if max(batch.truth_columns, batch.prediction_columns) > 1 or item.layout != "paired":
        return NO_FORM
    losses = row_terms(item.term, batch.truth, batch.prediction)
    mean = float(np.mean(losses))
    if not math.isclose(item.of_mean(mean), value, rel_tol=_ROUNDING):
        return NO_FORM
    if mean == 0:  # nothing is lost in any row
        return np.zeros(batch.n)
    step = _SLOPE * mean
    return np.asarray((item.of_mean(mean + step) - item.of_mean(mean - step)) / (2 * step) * (losses - mean))


def _of_squares(item: Metric, value: float, batch: Batch, target: Target) -> Array | NoOutcomes:
    """Squared errors beside squared deviations of the truth, both of which a row changes."""
    if max(batch.truth_columns, batch.prediction_columns) > 1:
        return NO_FORM
    truth, prediction = (np.asarray(side, np.float64) for side in (batch.truth, batch.prediction))
    error, away = prediction - truth, truth - np.mean(truth)
    if isinstance(item, ExplainedVariance):
        error = error - np.mean(error)
    size = max(float(np.max(np.abs(away))), float(np.max(np.abs(error))))  # of squares near 1 none is lost
    error, away = error / size, away / size
    return np.asarray(((1 - value) * away**2 - error**2) / np.mean(away**2))


def _of_cost(item: CostMetric, value: float, batch: Batch, target: Target) -> Array | NoOutcomes:
    """What the probability of each row cost."""
    return row_costs(item.cost, batch, target) - value


def _of_queries(item: RankingMetric, value: float, batch: Batch, target: Target) -> Array | NoOutcomes:
    """The value of each query by itself; those without one count in no submission."""
    if not batch.has_query:
        return NO_FORM
    names, codes = encode(batch, QUERY)
    reads = item.needs(target)
    found = np.array([item.answer(reads.fold(part)).value for part in rows_by(batch, codes, len(names))], np.float64)
    return found[~np.isnan(found)] - value
