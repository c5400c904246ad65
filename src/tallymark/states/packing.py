"""Parts of states as the byte format writes them, and back."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from typing import Any

import numpy as np

from tallymark.arrays import Array
from tallymark.errors import StateError
from tallymark.labels import MOST_BITS, Label
from tallymark.states.base import MOST_ROWS
from tallymark.target import Target


def target_of(fields: dict[str, Any]) -> Target:
    """The target of these facts."""
    unanswered = fields.get("unanswered")
    if unanswered is not None and not isinstance(unanswered, str):
        raise StateError("what stands for no prediction must be a text")
    return Target(
        fields["kind"],
        classes=fields["classes"],
        positive=fields["positive"],
        normalize=fields["normalize"],
        unanswered=unanswered,
    )


def count_of(packed: object) -> int:
    """A number of rows."""
    if type(packed) is not int or not 0 <= packed <= MOST_ROWS:
        raise StateError("a number of rows must be a whole number, from 0 to 2**53")
    return packed


def columns_of(packed: Any) -> tuple[int, int] | None:
    """The numbers of columns of truth and prediction; None before the first row."""
    return None if packed is None else (int(packed[0]), int(packed[1]))


def pack_weights(values: Sequence[int]) -> Array:
    """Whole numbers that are not negative as rows of little-endian bytes."""
    width = max((value.bit_length() for value in values), default=0) // 8 + 1
    raw = b"".join(value.to_bytes(width, "little") for value in values)
    return np.frombuffer(raw, np.uint8).reshape(len(values), width)


def unpack_weights(packed: Array) -> list[int]:
    """The inverse of `pack_weights`."""
    if packed.ndim != 2 or packed.dtype != np.uint8 or 0 in packed.shape[1:]:
        raise StateError("weights must be rows of bytes")
    return [int.from_bytes(row.tobytes(), "little") for row in packed]


def _is_whole(label: float) -> bool:
    return not math.isfinite(label) or label.is_integer()


def pack_labels(labels: list[Label]) -> Any:
    """Labels as the byte format writes them: an array where they are integers that fit."""
    if all(type(label) is int and -(1 << 63) <= label < 1 << 63 for label in labels):
        return np.array(labels, np.int64)
    return list(labels)


def unpack_labels(packed: Any) -> list[Label]:
    """The inverse of `pack_labels`."""
    labels = packed.tolist() if isinstance(packed, np.ndarray) else list(packed)
    if not all(type(label) in (int, float, str) for label in labels):
        raise StateError("labels must be numbers or strings")
    if any(label.bit_length() > MOST_BITS for label in labels if type(label) is int):
        raise StateError("labels that are whole numbers must have at most 4,200 digits")
    if any(_is_whole(label) for label in labels if type(label) is float):
        raise StateError("labels that are whole numbers must be integers, and others finite")
    if len({isinstance(label, str) for label in labels}) > 1:
        raise StateError("labels must be all numbers or all strings")
    if any(bisect_left(labels, label) != k for k, label in enumerate(labels)):
        raise StateError("labels must differ and be in order")
    return labels
