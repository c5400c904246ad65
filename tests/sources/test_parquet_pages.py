"""Pages of Parquet files: their sizes by their own headers, whatever the footer says."""

from __future__ import annotations

import io

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tallymark.errors import BoundError, FileError
from tallymark.sources.files import File
from tallymark.sources.parquet import _header, unpacked_bytes
from tallymark.sources.streams import SizeLimits

TABLE = pa.table(
    {"id": [f"row {k}" for k in range(20_000)], "x": np.arange(20_000.0), "label": ["cat", "dog"] * 10_000}
)


def written(table=TABLE, **options):
    out = io.BytesIO()
    pq.write_table(table, out, **options)
    return out


@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize("options", [{}, {"use_dictionary": False}, {"data_page_size": 1000}, {"row_group_size": 999}])
def test_sizes_are_those_of_the_footer_where_it_is_honest(options, version):
    """Which counts the headers of the pages, too."""
    out = written(**options, data_page_version=version, compression="zstd")
    metadata = pq.read_metadata(out)
    for name in TABLE.column_names:
        groups = [metadata.row_group(k) for k in range(metadata.num_row_groups)]
        columns = [group.column(TABLE.column_names.index(name)) for group in groups]
        declared = sum(column.total_uncompressed_size for column in columns)
        sizes = list(unpacked_bytes(out, metadata, [name]))
        assert 0 < declared - sum(sizes) < 200 * len(sizes)


def test_a_column_that_unpacks_to_much_is_refused_before_it_is_read():
    """A small file of long texts that are all alike; other columns may be read."""
    table = pa.table({"id": ["a", "b"], "label": ["x" * (20 << 20), "y"]})
    out = written(table, use_dictionary=False, compression="zstd")
    assert len(out.getvalue()) < 10_000
    with File(io.BytesIO(out.getvalue()), size_limits=SizeLimits(ratio=100.0)) as file:
        with pytest.raises(BoundError, match="must unpack to at most"):
            file.read({"label": "text"})
        assert file.read({"id": "text"})["id"].values.to_pylist() == ["a", "b"]


def varint(number, length=0):
    """A whole number from 0 on as Thrift writes it, filled up to a length."""
    digits = [number << 1 >> 7 * k & 0x7F for k in range(max(length, (number.bit_length() + 7) // 7))]
    return bytes([*(digit | 0x80 for digit in digits[:-1]), digits[-1]])


def test_a_footer_that_declares_less_does_not_help():
    """The pages are asked themselves."""
    table = pa.table({"label": ["x" * (20 << 20), "y"]})
    honest = written(table, use_dictionary=False, compression="zstd", write_statistics=False).getvalue()
    declared = varint(pq.read_metadata(io.BytesIO(honest)).row_group(0).column(0).total_uncompressed_size)
    footer = len(honest) - 8 - int.from_bytes(honest[-8:-4], "little")
    forged = honest[:footer] + honest[footer:].replace(declared, varint(64, len(declared)))
    assert pq.read_metadata(io.BytesIO(forged)).row_group(0).column(0).total_uncompressed_size == 64
    with (
        File(io.BytesIO(forged), size_limits=SizeLimits(ratio=100.0)) as file,
        pytest.raises(BoundError, match="must unpack to at most"),
    ):
        file.read({"label": "text"})


@given(st.binary(max_size=200))
@settings(max_examples=300, deadline=None)
def test_any_bytes_are_a_header_or_an_error(data):
    """Never a crash, and never without an end."""
    try:
        length, _, _ = _header(io.BytesIO(data), 0)
    except FileError:
        return
    assert 0 < length <= len(data)
