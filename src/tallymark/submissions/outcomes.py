"""Outcomes: what every row of the answers says about a submission, packed, so that two submissions can be compared long
after their files are gone.

They tell the answers to whoever reads them: they are for those who hold a challenge, never for those who take part.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from tallymark.arrays import Array
from tallymark.errors import StateError
from tallymark.states.format import pack, unpack

BITS = "bits"
INFLUENCE = "influence"
_NAME = "SubmissionOutcomes"
_FIELDS = {"kind", "sizes", "value", "scale", "exponent", "packed"}
_MOST_EXPONENT = 1100  # beyond those of float64


class Outcomes(NamedTuple):
    """A bit for every row, of which the score is `scale` times the share that is set; or the influence of every row on
    the score, as a float32 in units of 2**exponent: how far the score moves towards what this row alone says.

    Rows are in the order of the answers; of rows that stand for a query, in that of the queries. `sizes` has how many
    there are: one number, or for an area under the ROC curve that of positive rows and then that of negative ones.
    """

    kind: str
    sizes: tuple[int, ...]
    value: float
    packed: Array
    scale: float = 1.0
    exponent: int = 0

    @classmethod
    def of_bits(cls, counts: Array, value: float, scale: float = 1.0) -> Outcomes:
        """Whether each row counts.

        >>> Outcomes.of_bits(np.array([True, True, False]), 2 / 3).rows
        3
        """
        return cls(BITS, (len(counts),), value, np.packbits(counts), scale)

    @classmethod
    def of_influences(cls, value: float, *parts: Array) -> Outcomes:
        """How far each row moves the value, in one part or in two of different rows."""
        moved = np.concatenate(parts)
        largest = float(np.max(np.abs(moved), initial=0.0))
        exponent = math.frexp(largest)[1]
        packed = np.ldexp(moved, -exponent).astype(np.float32)
        return cls(INFLUENCE, tuple(map(len, parts)), value, packed, exponent=exponent)

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return sum(self.sizes)

    @property
    def shape(self) -> tuple[str, tuple[int, ...]]:
        """What two outcomes must share to be of the same rows."""
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
        return _checked(fields)


class NoOutcomes(NamedTuple):
    """What stands for outcomes where rows do not make up a score: the reason."""

    reason: str


def _checked(fields: dict[str, Any]) -> Outcomes:
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
    if type(exponent) is not int or abs(exponent) > _MOST_EXPONENT:
        raise StateError("influences have the unit of a number")
    if kind == BITS and rows % 8 and packed[-1] & (0xFF >> rows % 8):
        raise StateError("there are no outcomes beyond the rows")
    if kind == INFLUENCE:
        packed = packed.view("<f4")
        if not (np.abs(packed) <= 1).all():
            raise StateError("influences are numbers of at most 1 in their unit")
    return Outcomes(kind, tuple(sizes), fields["value"], packed, fields["scale"], exponent)
