"""The fingerprint of rows: the same for the same rows in any order, and another for others."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from tallymark.arrays import Array, as_numbers
from tallymark.batch import Batch
from tallymark.errors import TallymarkError
from tallymark.states.encoding import encode

_BLOCK = 1 << 15  # rows, which stay in a near cache
_WORD = 1 << 64
_EXACT = 2.0**53  # whole numbers up to here are floats as well
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def fingerprint(batch: Batch) -> str | None:
    """Sixteen hexadecimal digits: a sum of hashes of the rows, which no order can change; None if they cannot be read.

    Numbers count by their value, texts by their letters; weights count unless all are 1.
    """
    try:
        columns = [column for side in range(len(batch.names)) for column in _columns(batch, side)]
    except TallymarkError:
        return None
    if batch.weights is not None and not (batch.weights == 1).all():
        columns.append((_key("weights"), batch.weights))
    total = batch.n
    for start in range(0, batch.n, _BLOCK):
        hashes = np.zeros(min(_BLOCK, batch.n - start), np.uint64)
        for name, held in columns:
            hashes ^= _bits(held[start : start + _BLOCK])
            hashes += name
            _mix(hashes)
        total += int(hashes.sum(dtype=np.uint64))
    return f"{total % _WORD:016x}"


def _columns(batch: Batch, side: int) -> list[tuple[np.uint64, Array]]:
    """The columns of a side as numbers, or as hashes of texts, each with the hash of its name."""
    name = batch.names[side]
    held = as_numbers(batch.source(side), name) if _is_numbers(batch, side) else _hashed(batch, side)
    table = held.reshape(len(held), -1)
    return [(_key(f"{name} {k}"), table[:, k]) for k in range(table.shape[1])]


def _is_numbers(batch: Batch, side: int) -> bool:
    return batch.source(side).ndim == 2 or batch.labels(side).type != "text"


def _hashed(batch: Batch, side: int) -> Array:
    labels, codes = encode(batch, side)
    found: Array = np.array([_key(f"text {label}") for label in labels], np.uint64)[codes]
    return found


def _key(text: str) -> np.uint64:
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return np.uint64(int.from_bytes(digest, "little"))


def _bits(column: Any) -> Array:
    """Bits that are equal where numbers are: those of a float, or of a whole number that is too large to be one."""
    numbers = np.asarray(column, np.float64) + 0.0  # no -0.0
    bits: Array = numbers.view(np.uint64)
    if column.dtype.kind == "f" or column.dtype.itemsize < 8:
        return bits
    large = np.abs(numbers) >= _EXACT
    return np.where(large, column.astype(np.uint64) * _GOLDEN, bits) if large.any() else bits


def _mix(hashes: Array) -> None:
    """Every bit of the result depends on every bit (the finalizer of SplitMix64), in place."""
    hashes ^= hashes >> np.uint64(30)
    hashes *= _FIRST
    hashes ^= hashes >> np.uint64(27)
    hashes *= _SECOND
    hashes ^= hashes >> np.uint64(31)
