"""Texts and names in normal form: without blanks around them and in Unicode form C; numbers as floats."""

from __future__ import annotations

import unicodedata
from typing import Any

import numpy as np

from tallymark._core import are_plain
from tallymark.sources.arrow import load
from tallymark.sources.columns import NUMBER, arrow_to_numpy
from tallymark.sources.streams import SizeLimits

_BLANKS = "\t\n\v\f\r\x1c\x1d\x1e\x1f "  # those of Unicode that are ASCII


def normalize_name(name: str) -> str:
    """The name of a column, normalized as labels are: without blanks around it, in normal form C."""
    return unicodedata.normalize("NFC", name).strip()


def normalize_column(values: Any, column_type: str, sizes: SizeLimits) -> Any:
    """Texts trimmed, in normal form C, without a dictionary; numbers as floats, NaN where one is missing."""
    pa, compute = load("pyarrow"), load("pyarrow.compute")
    if column_type == NUMBER:
        if isinstance(values, np.ndarray):
            return values.astype(np.float64)
        values = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
        return arrow_to_numpy(compute.cast(values, pa.float64(), safe=False))
    return normalize_texts(_decode_dictionaries(values, sizes))


def _decode_dictionaries(values: Any, sizes: SizeLimits) -> Any:
    """Texts as a plain column. A dictionary is decoded only where it unpacks to no more than the limit."""
    pa, compute = load("pyarrow"), load("pyarrow.compute")
    chunks = values.chunks if isinstance(values, pa.ChunkedArray) else [values]
    plain, size = [], 0
    for chunk in chunks:
        if pa.types.is_dictionary(chunk.type):
            lengths = compute.binary_length(chunk.dictionary).take(chunk.indices)
            size += compute.sum(compute.cast(lengths, pa.int64())).as_py() or 0
            sizes.check_unpacked(size, max(chunk.nbytes, 1), "the file")
            chunk = compute.cast(chunk, chunk.type.value_type)
        plain.append(compute.cast(chunk, pa.string()))
    return pa.chunked_array(plain, pa.string())


def normalize_texts(values: Any) -> Any:
    """Texts without blanks around them and in normal form C; a text that is then empty becomes null."""
    pa = load("pyarrow")
    return pa.chunked_array(
        [chunk if are_plain(chunk) else _normalize_chunk(chunk) for chunk in values.chunks], pa.string()
    )


def _normalize_chunk(chunk: Any) -> Any:
    pa, compute = load("pyarrow"), load("pyarrow.compute")
    if compute.all(compute.string_is_ascii(chunk)).as_py() in (True, None):
        texts = compute.ascii_trim(chunk, characters=_BLANKS)
    else:
        texts = compute.utf8_trim_whitespace(compute.utf8_normalize(chunk, form="NFC"))
    lengths = compute.binary_length(texts)
    if compute.min(lengths).as_py() == 0:
        return compute.if_else(compute.equal(lengths, 0), pa.scalar(None, pa.string()), texts)
    return texts
