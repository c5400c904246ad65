"""Texts and names in normal form: without blanks around them and in form C; numbers as floats."""

from __future__ import annotations

import unicodedata
from typing import Any

import numpy as np

from tallymark._core import are_plain
from tallymark.sources.arrow import load
from tallymark.sources.columns import NUMBER, arrow_to_numpy
from tallymark.submissions.limits import Limits

_BLANKS = "\t\n\v\f\r\x1c\x1d\x1e\x1f "  # those of Unicode that are ASCII


def normal_name(name: str) -> str:
    """The name of a column as labels are read: without blanks around it, in normal form C."""
    return unicodedata.normalize("NFC", name).strip()


def normal_column(values: Any, way: str, limits: Limits) -> Any:
    """Texts trimmed, in normal form C, without a dictionary; numbers as floats, NaN where there is none."""
    pa, compute = load("pyarrow"), load("pyarrow.compute")
    if way == NUMBER:
        if isinstance(values, np.ndarray):
            return values.astype(np.float64)
        values = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
        return arrow_to_numpy(compute.cast(values, pa.float64(), safe=False))
    return normal_texts(_plain_texts(values, limits))


def _plain_texts(values: Any, limits: Limits) -> Any:
    """Texts as a plain column. Those of a dictionary are unfolded only where they unfold to no more than they may."""
    pa, compute = load("pyarrow"), load("pyarrow.compute")
    chunks = values.chunks if isinstance(values, pa.ChunkedArray) else [values]
    plain, size = [], 0
    for chunk in chunks:
        if pa.types.is_dictionary(chunk.type):
            lengths = compute.binary_length(chunk.dictionary).take(chunk.indices)
            size += compute.sum(compute.cast(lengths, pa.int64())).as_py() or 0
            limits.bounds().check_unpacked(size, max(chunk.nbytes, 1), "the file")
            chunk = compute.cast(chunk, chunk.type.value_type)
        plain.append(compute.cast(chunk, pa.string()))
    return pa.chunked_array(plain, pa.string())


def normal_texts(values: Any) -> Any:
    """Texts without blanks around them and in normal form C; what is then empty is missing."""
    pa = load("pyarrow")
    return pa.chunked_array(
        [piece if are_plain(piece) else _normal_piece(piece) for piece in values.chunks], pa.string()
    )


def _normal_piece(piece: Any) -> Any:
    pa, compute = load("pyarrow"), load("pyarrow.compute")
    if compute.all(compute.string_is_ascii(piece)).as_py() in (True, None):
        texts = compute.ascii_trim(piece, characters=_BLANKS)
    else:
        texts = compute.utf8_trim_whitespace(compute.utf8_normalize(piece, form="NFC"))
    lengths = compute.binary_length(texts)
    if compute.min(lengths).as_py() == 0:
        return compute.if_else(compute.equal(lengths, 0), pa.scalar(None, pa.string()), texts)
    return texts
