"""The shuffle on one machine: every piece comes to its range once, and no file is left."""

from __future__ import annotations

import errno
import tempfile

import pyarrow as pa
import pyarrow.parquet
import pytest

from tallymark.errors import FileError
from tallymark.sources.batches import Batches
from tallymark.sources.datasets import FileDataset
from tallymark.sources.disk_shuffle import shuffle_on_disk
from tests.sources.clusters.jobs import Digits


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Where temporary files go."""
    held = tmp_path / "temporary"
    held.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(held))
    yield held
    assert list(held.iterdir()) == []


def test_every_row_is_written_to_its_range_once(tmp_path):
    """Of batches and of files, in any number of threads."""
    table = pa.table({"y": list(range(1000))})
    expected = [",".join(str(k) for k in range(1000) if k % 10 == place).encode() for place in range(10)]
    assert Batches(table.to_batches(max_chunksize=30)).shuffle(Digits(), None) == expected
    pa.parquet.write_table(table, tmp_path / "a.parquet", row_group_size=70)
    assert FileDataset(tmp_path / "a.parquet").shuffle(Digits(), None) == expected


def test_empty_ranges_are_closed_too():
    """They are closed as well."""
    assert Batches([{"y": [3]}]).shuffle(Digits(), None) == [b"", b"", b"", b"3", *[b""] * 6]


def test_a_full_disk_is_reported_with_the_room_needed():
    """The error says how much room is needed, and where; other errors stay as they are."""

    def fail(error):
        def fold(_):
            raise error

        return fold

    with pytest.raises(FileError, match=r"could not be kept in .*, 8 bytes for each row: No space left.*Set TMPDIR"):
        shuffle_on_disk(Digits(), fail(OSError(errno.ENOSPC, "No space left on device")))
    with pytest.raises(OSError, match="gone"):
        shuffle_on_disk(Digits(), fail(OSError(errno.EIO, "gone", "/elsewhere")))
