"""The byte format of states: portable, versioned, self-checking, never executable.

::

    offset  size  what
    0       4     the letters TMST
    4       2     format version, little-endian (1)
    6       2     zero
    8       8     length of the header in bytes, little-endian
    16      h     header: UTF-8 JSON {"type": ..., "fields": ..., "buffers": [lengths]}
    16+h    ...   the buffers, one after another
    end-32  32    SHA-256 of everything before it

In the fields, ``{"~int": k}`` stands for the big integer in buffer k (little-endian two's complement), ``{"~array": k,
"dtype": "<f8", "shape": [...]}`` for an array in C order, ``{"~float": "inf"}`` for a float that JSON cannot write, and
``{"~text": k}`` for a text with lone surrogates, which JSON readers may join (UTF-8, surrogates passed). Each buffer
is referenced at most once.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections.abc import Sequence
from typing import Any

import numpy as np

from tallymark.data.arrays import Array
from tallymark.data.labels import MOST_BITS, Label
from tallymark.data.target import Target
from tallymark.errors import StateError
from tallymark.states.base import MOST_ROWS

MAGIC = b"TMST"
VERSION = 1
_DIGEST = 32
_PREFIX = 16
_SAFE_INT = 1 << 53  # every JSON reader keeps integers below this
_SURROGATE = re.compile("[\ud800-\udfff]")
_DTYPES = ("<f8", "<i8", "|u1")


def pack(kind: str, fields: dict[str, Any]) -> bytes:
    """The bytes of a state of type `kind` with these fields."""
    import hashlib  # slow to load, and few ask
    import json

    buffers: list[bytes] = []
    content = _encode(fields, buffers)
    header = json.dumps(
        {"type": kind, "fields": content, "buffers": [len(b) for b in buffers]}, separators=(",", ":"), sort_keys=True
    ).encode()
    head = MAGIC + VERSION.to_bytes(2, "little") + bytes(2) + len(header).to_bytes(8, "little")
    body = b"".join([head, header, *buffers])
    return body + hashlib.sha256(body).digest()


def unpack(data: bytes) -> tuple[str, dict[str, Any]]:
    """The type and fields that `pack` wrote."""
    import hashlib  # slow to load, and few ask
    import json

    if not isinstance(data, (bytes, bytearray, memoryview)):
        raise StateError(f"a state must be bytes; got a {type(data).__name__}")
    data = bytes(data)
    if len(data) < _PREFIX + _DIGEST or data[:4] != MAGIC:
        raise StateError("these bytes are not a tallymark state")
    version = int.from_bytes(data[4:6], "little")
    if version > VERSION:
        raise StateError(
            f"these bytes are a state in format {version}; this release reads up to {VERSION}: upgrade tallymark"
        )
    body = data[:-_DIGEST]
    if hashlib.sha256(body).digest() != data[-_DIGEST:]:
        raise StateError("these bytes are a damaged tallymark state: the checksum does not match")
    try:
        length = int.from_bytes(data[8:16], "little")
        header = json.loads(body[_PREFIX : _PREFIX + length].decode())
        buffers = _cut(body[_PREFIX + length :], header["buffers"])
        fields = _decode(header["fields"], buffers)
        kind = header["type"]
    except StateError:
        raise
    except (KeyError, TypeError, ValueError, IndexError, OverflowError, RecursionError) as error:
        raise StateError(f"these bytes are not a valid tallymark state: {error}") from error
    if not isinstance(kind, str) or not isinstance(fields, dict):
        raise StateError("these bytes are not a valid tallymark state: the header is malformed")
    return kind, fields


def _encode(value: Any, buffers: list[bytes]) -> Any:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        if value.isascii() or not _SURROGATE.search(value):
            return value
        buffers.append(value.encode("utf-8", "surrogatepass"))
        return {"~text": len(buffers) - 1}
    if isinstance(value, int):
        if -_SAFE_INT < value < _SAFE_INT:
            return value
        buffers.append(value.to_bytes(value.bit_length() // 8 + 1, "little", signed=True))
        return {"~int": len(buffers) - 1}
    if isinstance(value, float):
        return value if math.isfinite(value) else {"~float": repr(value)}
    if isinstance(value, np.ndarray):
        array = np.ascontiguousarray(value, dtype=value.dtype.newbyteorder("<"))
        buffers.append(array.tobytes())
        return {"~array": len(buffers) - 1, "dtype": array.dtype.str, "shape": list(array.shape)}
    if isinstance(value, (list, tuple)):
        return [_encode(item, buffers) for item in value]
    if isinstance(value, dict):
        return {key: _encode(item, buffers) for key, item in value.items()}
    raise StateError(f"a state cannot hold a value of type {type(value).__name__}")


def _cut(data: bytes, lengths: list[int]) -> list[bytes | None]:
    out: list[bytes | None] = []
    at = 0
    for length in lengths:
        if type(length) is not int or length < 0 or at + length > len(data):
            raise StateError("these bytes are not a valid tallymark state: a buffer is cut short")
        out.append(data[at : at + length])
        at += length
    return out


def _take(buffers: list[bytes | None], place: Any) -> bytes:
    """A buffer, of which there is one reference only: a small file could unfold to any size by repeating one."""
    if type(place) is not int or not 0 <= place < len(buffers):
        raise StateError(f"these bytes are not a valid tallymark state: there is no buffer {place!r}")
    found = buffers[place]
    if found is None:
        raise StateError(f"these bytes are not a valid tallymark state: buffer {place} is referenced twice")
    buffers[place] = None
    return found


def _decode(value: Any, buffers: list[bytes | None]) -> Any:
    if isinstance(value, list):
        return [_decode(item, buffers) for item in value]
    if not isinstance(value, dict):
        return value
    if "~int" in value:
        return int.from_bytes(_take(buffers, value["~int"]), "little", signed=True)
    if "~text" in value:
        return _take(buffers, value["~text"]).decode("utf-8", "surrogatepass")
    if "~float" in value:
        return float(value["~float"])
    if "~array" in value:
        if value["dtype"] not in _DTYPES:
            raise StateError(f"these bytes are not a valid tallymark state: arrays of {value['dtype']!r} are not used")
        array = np.frombuffer(_take(buffers, value["~array"]), dtype=value["dtype"])
        return array.astype(array.dtype.newbyteorder("="), copy=False).reshape(value["shape"])
    return {key: _decode(item, buffers) for key, item in value.items()}


def unpack_target(fields: dict[str, Any]) -> Target:
    """The target of these facts."""
    unanswered = fields.get("unanswered")
    if unanswered is not None and not isinstance(unanswered, str):
        raise StateError("the label of missing predictions must be a string")
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
        raise StateError("the number of rows must be an integer from 0 to 2**53")
    return packed


def unpack_columns(packed: Any) -> tuple[int, int] | None:
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
