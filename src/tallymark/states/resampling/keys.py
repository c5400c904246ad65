"""The keys by which rows are resampled, and hashes of them.

A key is a label of the row, of its cluster or of its query, or else the place of the row. Since keys alone say how
often rows count in a replicate, neither their order nor how they are cut into pieces can show.
"""

from __future__ import annotations

import copy
from bisect import bisect_left

import numpy as np

from tallymark.data.arrays import Array
from tallymark.data.batch import QUERY, Batch
from tallymark.data.labels import Label
from tallymark.errors import ParameterError
from tallymark.states.labels.encoding import encode_labels

_WORD = 1 << 64
HASH_BITS = 64
MOST_GROUPS = 256  # of rows, that are left out one after the other
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def row_keys(batch: Batch, cluster: object = None) -> Array | None:
    """The keys by which rows are resampled: their own, or those of their clusters, a label per row; None for places."""
    if cluster is not None:
        batch = copy.copy(batch)
        batch.add_cluster(cluster)
    return unique_row_keys(batch) if batch.cluster_side is None else label_keys(batch, batch.cluster_side)


def query_keys(batch: Batch, keys: Array | None) -> Array | None:
    """The keys of rows whose queries are resampled as a whole: those given if rows of a query share them, or if each
    row is one, as in a table; else those of the queries."""
    if not batch.has_query:
        return keys
    return keys if keys is not None and nested(batch, keys) else label_keys(batch, QUERY)


def nested(batch: Batch, keys: Array) -> bool:
    """Whether all rows of a query have the same key."""
    labels, codes = encode_labels(batch, QUERY)
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
    labels, codes = encode_labels(batch, side)
    return np.array([_key_of(label) for label in labels], np.uint64)[codes]


def _key_of(label: Label) -> int:
    """The same on every machine: a whole number that fits is its own key, and everything else is hashed."""
    if not isinstance(label, str) and 0 <= label < _WORD:
        return int(label)
    import hashlib  # slow to load, and few ask

    digest = hashlib.blake2b(str(label).encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little")


def unique_row_keys(batch: Batch) -> Array | None:
    """The keys that rows were given, which no two of them share; None where their places are their keys."""
    if batch.keys is None and batch.key_side is not None:
        found = label_keys(batch, batch.key_side)
        ordered, counts = np.unique(found, return_counts=True)
        if len(ordered) < len(found):
            row = int(np.flatnonzero(found == ordered[counts.argmax()])[1])
            raise ParameterError(
                argument="keys",
                expected="be unique",
                got=f"{batch.item(batch.key_side, row)!r} twice",
                place=batch.places.row(row),
                hint="For rows that belong together, pass cluster=",
            )
        batch.keys = found
    return batch.keys


def hash_keys(keys: Array | None, rows: int) -> Array:
    """Hashes that tell keys apart, None of which are the places of the rows, and lie evenly in 64 bits."""
    numbers = np.arange(rows, dtype=np.uint64) if keys is None else keys
    return numbers * _GOLDEN  # Fibonacci hashing: one to one, and hashes of neighbouring places lie apart


def group_hashes(hashes: Array) -> tuple[int, Array, Array]:
    """Groups of hashes that begin alike: as many last bits are left out as it takes to have few enough groups, then
    those groups in order, and the place of each hash among them. They depend on the set of hashes alone."""
    ids = np.unique(hashes)
    dropped = bisect_left(range(HASH_BITS - 1), True, key=lambda bits: _distinct(ids, bits) <= MOST_GROUPS)
    groups = np.unique(ids >> np.uint64(dropped))
    return dropped, groups, np.searchsorted(groups, hashes >> np.uint64(dropped))


def _distinct(ids: Array, dropped: int) -> int:
    """How many numbers in order differ without their last bits."""
    prefixes = ids >> np.uint64(dropped)
    return int(np.count_nonzero(prefixes[1:] != prefixes[:-1])) + min(len(prefixes), 1)
