"""What many replicates of the bootstrap take in one walk: keys of rows, areas under the ROC curve, counts of cells."""

from __future__ import annotations

import copy
from bisect import bisect_left
from typing import Any

import numpy as np

from tallymark._core import resampled_areas, resampled_cells, resampled_precision
from tallymark.data.arrays import Array
from tallymark.data.batch import QUERY, Batch
from tallymark.data.labels import Label
from tallymark.errors import ParameterError, Text
from tallymark.states.labels.reading import encode
from tallymark.states.resampling.draws import Draws

_MOST_ROWS = 1 << 28  # of one walk
_MOST_CELLS = 4096
_WORD = 1 << 64
HASH_BITS = 64
MOST_GROUPS = 256  # of rows, that are left out one after the other
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def row_keys(batch: Batch, cluster: object = None) -> Array | None:
    """The keys by which rows are resampled: their own, or those of their clusters, a label per row; None for places."""
    if cluster is not None:
        batch = copy.copy(batch)
        batch.add_cluster(cluster)
    return own_keys(batch) if batch.cluster_side is None else label_keys(batch, batch.cluster_side)


def query_keys(batch: Batch, keys: Array | None) -> Array | None:
    """The keys of rows whose queries are resampled as a whole: those given if rows of a query share them, or if each
    row is one, as in a table; else those of the queries."""
    if not batch.has_query:
        return keys
    return keys if keys is not None and nested(batch, keys) else label_keys(batch, QUERY)


def nested(batch: Batch, keys: Array) -> bool:
    """Whether all rows of a query have the same key."""
    labels, codes = encode(batch, QUERY)
    of_query = np.zeros(len(labels), np.uint64)
    of_query[codes] = keys
    return bool((of_query[codes] == keys).all())


def label_keys(batch: Batch, side: int) -> Array:
    """The keys of rows by a label of theirs, so that rows of one label count alike."""
    source, _, names = batch.labels(side)
    whole = names is None and type(source) is np.ndarray and source.dtype.kind in "iu" and len(source) > 0
    if whole and source.min() >= 0:
        found: Array = source.astype(np.uint64)  # as `_key_of` has it, without a look at each
        return found
    labels, codes = encode(batch, side)
    return np.array([_key_of(label) for label in labels], np.uint64)[codes]


def _key_of(label: Label) -> int:
    """The same on every machine: a whole number that fits is its own key, and everything else is hashed."""
    if not isinstance(label, str) and 0 <= label < _WORD:
        return int(label)
    import hashlib  # slow to load, and few ask

    digest = hashlib.blake2b(str(label).encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little")


def own_keys(batch: Batch) -> Array | None:
    """The keys that rows were given, which no two of them share; None where their places are their keys."""
    if batch.keys is None and batch.key_side is not None:
        found = label_keys(batch, batch.key_side)
        ordered, counts = np.unique(found, return_counts=True)
        if len(ordered) < len(found):
            row = int(np.flatnonzero(found == ordered[counts.argmax()])[1])
            shown = f"{batch.places.row(row)} has {batch.item(batch.key_side, row)!r}"
            raise ParameterError(
                Text("{keys} must differ from row to row; {} again", shown),
                argument="keys",
                hint="Rows that belong together are passed as cluster=",
            )
        batch.keys = found
    return batch.keys


def spread_keys(keys: Array | None, rows: int) -> Array:
    """Hashes that tell keys apart, None of which are the places of the rows, and lie evenly in 64 bits."""
    held = np.arange(rows, dtype=np.uint64) if keys is None else keys
    return held * _GOLDEN  # Fibonacci hashing: one for each key, and those of places that follow each other lie apart


def coarsen(hashes: Array) -> tuple[int, Array, Array]:
    """Groups of hashes that begin alike: as many last bits are left out as it takes to have few enough groups, then
    those groups in order, and the place of each hash among them. They depend on the set of hashes alone."""
    ids = np.unique(hashes)
    dropped = bisect_left(range(HASH_BITS - 1), True, key=lambda bits: _distinct(ids, bits) <= MOST_GROUPS)
    groups = np.unique(ids >> np.uint64(dropped))
    return dropped, groups, np.searchsorted(groups, hashes >> np.uint64(dropped))


def _distinct(ids: Array, dropped: int) -> int:
    """How many numbers in order differ without their last bits."""
    held = ids >> np.uint64(dropped)
    return int(np.count_nonzero(held[1:] != held[:-1])) + min(len(held), 1)


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
    return _walk(resampled_areas, rank_order, scores, positive, weights, draws)


def _walk(
    kernel: Any, put_in_order: Any, scores: Array, positive: Array, weights: Array | None, draws: Draws
) -> Array | None:
    if len(scores) > _MOST_ROWS:
        return None
    scores = np.array(scores)  # which are put in order, and must not change meanwhile
    keys = np.arange(len(scores), dtype=np.uint64) if draws.keys is None else draws.keys
    order, steps = put_in_order(scores, positive, keys, weights)
    held = None if weights is None else weights[order]
    found: Array = kernel(keys[order], steps, held, draws.seed, 0, draws.resamples)
    return found


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
    return _walk(resampled_precision, precision_order, scores, positive, weights, draws)


def resample_cells(cells: Array, count: int, draws: Draws) -> Array | None:
    """How many rows are in every cell, one line per replicate; None where there are too many cells or rows."""
    if count > _MOST_CELLS or len(cells) > _MOST_ROWS:
        return None
    keys = None if draws.keys is None else np.ascontiguousarray(draws.keys)
    return resampled_cells(np.ascontiguousarray(cells, np.int64), count, keys, draws.seed, 0, draws.resamples)


def own_weights(batch: Batch) -> Array | None:
    """The weights of rows, None where all are 1."""
    if batch.weights is None or (np.asarray(batch.weights) == 1).all():
        return None
    return np.array(batch.weights, np.float64)
