"""Replicates of the bootstrap: how often each row counts in each, by the key of the row."""

from __future__ import annotations

import hashlib
from typing import NamedTuple

import numpy as np

from tallymark._core import poisson_counts, poisson_counts_of_places, resampled_areas, resampled_cells
from tallymark.arrays import Array
from tallymark.batch import Batch
from tallymark.labels import Label
from tallymark.states.encoding import encode

_MOST_ROWS = 1 << 28  # that the walks of many replicates take
_MOST_CELLS = 4096
_WORD = 1 << 64


class Draws(NamedTuple):
    """Which replicates there are: a seed, how many, and the keys of the rows, None where they are the places.

    A row counts in a replicate as often as seed, replicate and key say, whatever the order of the rows. Rows of one key
    count alike.
    """

    seed: int
    resamples: int
    keys: Array | None
    rows: int

    def counts(self, replicate: int) -> Array:
        """How often each row counts in a replicate."""
        if self.keys is None:
            return poisson_counts_of_places(self.seed, replicate, 0, self.rows)
        return poisson_counts(self.seed, replicate, self.keys)

    def weights(self, replicate: int, own: Array | None) -> Array:
        """The weights of the rows in a replicate."""
        counts = self.counts(replicate)
        return counts.astype(np.float64) if own is None else counts * np.asarray(own, np.float64)


def label_keys(batch: Batch, side: int) -> Array:
    """The keys of rows by a label of theirs, so that rows of one label count alike."""
    labels, codes = encode(batch, side)
    return np.array([_key_of(label) for label in labels], np.uint64)[codes]


def _key_of(label: Label) -> int:
    """The same on every machine: a whole number is its own key."""
    if isinstance(label, str):
        return int.from_bytes(hashlib.blake2b(label.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")
    return int(label) % _WORD


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
    rows for one walk."""
    if len(scores) > _MOST_ROWS:
        return None
    keys = np.arange(len(scores), dtype=np.uint64) if draws.keys is None else draws.keys
    order, steps = rank_order(scores, positive, keys, weights)
    held = None if weights is None else weights[order]
    return resampled_areas(keys[order], steps, held, draws.seed, 0, draws.resamples)


def resample_cells(cells: Array, count: int, draws: Draws) -> Array | None:
    """How many rows are in every cell, one line per replicate; None where there are too many cells or rows."""
    if count > _MOST_CELLS or len(cells) > _MOST_ROWS:
        return None
    return resampled_cells(np.ascontiguousarray(cells, np.int64), count, draws.keys, draws.seed, 0, draws.resamples)
