"""Bins of scores: all scores of a bin have the same first bits, in the order of float64 as whole numbers.

As many bits are kept as the number of bins allows, which the set of scores alone decides, so that merging in any order
gives the same bins. As long as there are no more distinct scores than bins, nothing is lost.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tallymark.arrays import Array
from tallymark.errors import StateError
from tallymark.labels import Label
from tallymark.states.base import UNIT_BITS
from tallymark.states.encoding import lowest_terms
from tallymark.states.packing import pack_labels, pack_weights, unpack_labels, unpack_weights

ALL_BITS = 64


class Binned(NamedTuple):
    """Bins of one column in order, and the exact weight of every class in them, in units of 2**unit."""

    bits: int
    bins: Array  # int64: the first bits of the scores in them
    labels: list[Label]
    weights: list[Array]  # by label, then by bin: int64 of rows that count one each, else whole numbers of any size
    unit: int

    @property
    def exact(self) -> bool:
        """Whether every bin is one score."""
        return self.bits == ALL_BITS

    def weights_of(self, label: Label) -> list[int]:
        """The weight of a class in every bin."""
        return self.weights[self.labels.index(label)].tolist() if label in self.labels else [0] * len(self.bins)

    def class_weights(self) -> list[int]:
        """The exact weight of every label."""
        return [sum(held.tolist()) << (UNIT_BITS + self.unit) for held in self.weights]

    def pack(self) -> list[Any]:
        """The bins as the byte format writes them."""
        weights = [pack_weights(held.tolist()) for held in self.weights]
        return [self.bits, self.bins, pack_labels(self.labels), weights, self.unit]


def order_of(scores: Array) -> Array:
    """Scores as whole numbers in the same order; both zeros are one."""
    raw = (np.asarray(scores, np.float64) + 0.0).view(np.int64)
    return np.where(raw < 0, raw ^ np.int64(0x7FFF_FFFF_FFFF_FFFF), raw)


def lowest_scores(bins: Array, bits: int) -> Array:
    """The lowest score that bins of so many bits can hold; with others below them, it is finite."""
    ordered = bins << (ALL_BITS - bits)
    return np.where(ordered < 0, ordered ^ np.int64(0x7FFF_FFFF_FFFF_FFFF), ordered).view(np.float64)


def fit(bins: Array, bits: int, most: int) -> int:
    """How many of the first `bits` bits tell at most so many bins apart; bins are in order and differ."""
    if len(bins) <= most:
        return bits
    differ = (bins[1:] ^ bins[:-1]).view(np.uint64) & np.uint64((1 << bits) - 1)
    alone = differ & ~(differ >> np.uint64(1))  # only the first of a row of ones, so that a float rounds to itself
    agree = bits - np.frexp(alone.astype(np.float64))[1]  # leading bits that neighbours share
    apart = 1 + np.cumsum(np.bincount(agree, minlength=bits))  # bins told apart by one bit more than the index
    return int(np.searchsorted(apart, most, side="right"))


def in_lowest_terms(binned: Binned) -> Binned:
    """The same with weights in the largest unit."""
    together = 0
    for held in binned.weights:
        together |= int(np.bitwise_or.reduce(held)) if len(held) else 0
    shift = (together & -together).bit_length() - 1
    if shift <= 0:
        return binned if together else binned._replace(unit=0)
    return binned._replace(weights=[held >> shift for held in binned.weights], unit=binned.unit + shift)


def merge_bins(left: Binned, right: Binned, most: int) -> Binned:
    """The bins of both sets of rows, coarser where there would be too many."""
    bits = min(left.bits, right.bits)
    both = _distinct(np.concatenate([part.bins >> (part.bits - bits) for part in (left, right)]))
    fitted = fit(both, bits, most)
    bins = _distinct(both >> (bits - fitted))
    bits = fitted
    labels = sorted({*left.labels, *right.labels})
    unit = min(left.unit, right.unit)
    small = all(held.dtype == np.int64 for part in (left, right) for held in part.weights)
    weights = [np.zeros(len(bins), np.int64 if small else object) for _ in labels]
    for part in (left, right):
        at = np.searchsorted(bins, part.bins >> (part.bits - bits))
        for label, held in zip(part.labels, part.weights, strict=True):
            np.add.at(weights[labels.index(label)], at, (held if small else held.astype(object)) << (part.unit - unit))
    return in_lowest_terms(Binned(bits, bins, labels, weights, unit))


def _distinct(numbers: Array) -> Array:
    """Numbers in order, each once; np.unique hashes them, which is slower."""
    found = np.sort(numbers)
    return found[np.concatenate(([True], found[1:] != found[:-1]))] if len(found) else found


def unpack_bins(most: int, bits: int, bins: Array, labels: Any, weights: list[Any], unit: int) -> Binned:
    """The bins that `pack` wrote, if there are no more than may be and they are in their one normal form."""
    names, held = unpack_labels(labels), [unpack_weights(packed) for packed in weights]
    if bins.ndim != 1 or bins.dtype != np.int64 or len(bins) > most or (bins[1:] <= bins[:-1]).any():
        raise StateError("bins must be in order, and no more than may be")
    if type(bits) is not int or not 1 <= bits <= ALL_BITS or len(held) != len(names):
        raise StateError("bins, labels and weights do not fit")
    if bits < ALL_BITS and len(bins) and (bins[0] < -(1 << (bits - 1)) or bins[-1] >= 1 << (bits - 1)):
        raise StateError("bins have more bits than they may")
    if any(len(row) != len(bins) or not any(row) for row in held) or not all(map(any, zip(*held, strict=True))):
        raise StateError("every bin and every label must have weight")
    if bool(len(bins)) != bool(names):
        raise StateError("every bin and every label must have weight")
    flat = [weight for row in held for weight in row]
    if type(unit) is not int or not -UNIT_BITS <= unit <= 2048 or (flat, unit) != lowest_terms(flat, unit):
        raise StateError("weights must be in lowest terms")
    small = unit >= 0 and sum(flat) << unit < 1 << 62  # a number of rows
    return Binned(bits, bins, names, [np.array(row, np.int64 if small else object) for row in held], unit)
