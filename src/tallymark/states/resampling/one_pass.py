"""Values of many replicates in one pass over the rows: areas under curves, and counts of cells.

Reading the state of each replicate takes a pass for each. The core reads the rows once for 32 replicates, one in each
lane (`core/resample.hpp`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tallymark._core import resampled_areas, resampled_cells, resampled_precision
from tallymark.data.arrays import Array
from tallymark.states.resampling.draws import Draws

_MOST_ROWS = 1 << 28  # of one pass
_MOST_CELLS = 4096


def rank_order(scores: Array, positive: Array, keys: Array, weights: Array | None) -> tuple[Array, Array]:
    """The order of rows from the lowest score up, positives first where scores are equal, and the step of each.

    With weights, rows of equal score and class have an order too, so that sums do not depend on that of the input.
    """
    negative = ~positive
    order = np.lexsort((negative, scores) if weights is None else (weights, keys, negative, scores))
    scores, positive = scores[order], positive[order]
    first = np.ones(len(scores), bool)
    first[1:] = scores[1:] != scores[:-1]
    run = np.cumsum(first) - 1
    mixed = np.bincount(run, positive) % np.bincount(run) > 0
    tied = mixed[run]
    steps = np.where(positive, np.where(tied, np.where(first, 2, 3), 1), np.where(tied, 4, 0))
    return order, steps.astype(np.uint8)


def resample_areas(scores: Array, positive: Array, weights: Array | None, draws: Draws) -> Array | None:
    """The area under the ROC curve in every replicate, NaN where a class has no rows; None where there are too many
    rows for one pass."""
    return _one_pass(resampled_areas, rank_order, scores, positive, weights, draws)


def _one_pass(
    kernel: Any, row_order: Any, scores: Array, positive: Array, weights: Array | None, draws: Draws
) -> Array | None:
    if len(scores) > _MOST_ROWS:
        return None
    scores = np.array(scores)  # which are put in order, and must not change meanwhile
    keys = np.arange(len(scores), dtype=np.uint64) if draws.keys is None else draws.keys
    order, steps = row_order(scores, positive, keys, weights)
    ordered_weights = None if weights is None else weights[order]
    values: Array = kernel(keys[order], steps, ordered_weights, draws.seed, 0, draws.resamples)
    return values


def precision_order(scores: Array, positive: Array, keys: Array, weights: Array | None) -> tuple[Array, Array]:
    """The order of rows from the highest score down, and the step of each: 1 for a positive row, and 2 more where a run
    of equal scores with positives ends."""
    order = np.lexsort((-scores,) if weights is None else (weights, keys, positive, -scores))
    scores, positive = scores[order], positive[order]
    last = np.ones(len(scores), bool)
    last[:-1] = scores[1:] != scores[:-1]
    run = np.cumsum(last) - last
    ends = last & (np.bincount(run, positive)[run] > 0)
    return order, (positive + 2 * ends).astype(np.uint8)


def resample_precision(scores: Array, positive: Array, weights: Array | None, draws: Draws) -> Array | None:
    """The area under the steps of precision by recall in every replicate, as `resample_areas` has it."""
    return _one_pass(resampled_precision, precision_order, scores, positive, weights, draws)


def resample_cells(cells: Array, count: int, draws: Draws) -> Array | None:
    """How many rows are in every cell, one line per replicate; None where there are too many cells or rows."""
    if count > _MOST_CELLS or len(cells) > _MOST_ROWS:
        return None
    keys = None if draws.keys is None else np.ascontiguousarray(draws.keys)
    return resampled_cells(np.ascontiguousarray(cells, np.int64), count, keys, draws.seed, 0, draws.resamples)
