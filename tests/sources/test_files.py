"""The reader of files: Parquet, pipes and places; the same rows from CSV and Parquet."""

from __future__ import annotations

import gzip
import io
import os
import threading
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet as pq
import pytest

import tallymark as tm
from tallymark.errors import FileError, MissingPackageError, ParameterError
from tallymark.sources import streams
from tallymark.sources.csv import reader
from tallymark.sources.files import read_columns
from tests.sources.conftest import column, items


def write_parquet(path, **columns):
    pq.write_table(pa.table(columns), path, row_group_size=2)
    return path


def test_parquet_has_types_of_its_own(tmp_path):
    """They are taken as they are, with the same values for what is missing."""
    path = write_parquet(
        tmp_path / "rows.parquet",
        i=pa.array([2**60 + 1, None, 3]),
        u=pa.array([2**64 - 1, 0, 1], pa.uint64()),
        f=pa.array([0.5, None, 1.5], pa.float32()),
        b=pa.array([True, False, True]),
        t=pa.array(["a", "", None]),
        n=pa.array([None, None, None]),
        d=pa.array(["a", "b", "a"]).dictionary_encode(),
        m=pa.array([1, 2, 3], pa.decimal128(20, 0)),
        q=pa.array(["1", "2", "3"]),
        when=pa.array([0, 1, 2], pa.date32()),
    )
    found = read_columns(path, [*"iufbtndmq", "when"])
    assert {name: each.type for name, each in found.items()} == {
        **dict.fromkeys("ium", "integer"),
        **dict.fromkeys("fn", "real"),
        **dict.fromkeys("tdq", "text"),
        "b": "boolean",
        "when": "text",
    }
    assert items(found["i"]) == [2**60 + 1, None, 3]
    assert items(found["u"]) == [2**64 - 1, 0, 1]
    assert items(found["t"]) == ["a", None, None]
    assert items(found["d"]) == ["a", "b", "a"]
    assert items(found["when"]) == ["1970-01-01", "1970-01-02", "1970-01-03"]
    assert items(column(path, "q", "number")) == [1, 2, 3]
    assert items(column(path, "i", "text")) == [str(2**60 + 1), None, "3"]


def test_parquet_that_cannot_be_read(tmp_path, file):
    """Lists, bytes, a column that is not there, and a name that lies."""
    path = write_parquet(tmp_path / "rows.parquet", y=pa.array([[1], [2]]), b=pa.array([b"\xff", b"a"]))
    with pytest.raises(FileError, match="column 'y' must contain numbers or text; got values of type list"):
        column(path)
    with pytest.raises(FileError, match="column 'b' must contain numbers or text; got bytes"):
        column(path, "b")
    with pytest.raises(FileError, match=r"has no column 'z'\. Its columns are 'y', 'b'"):
        column(path, "z")
    with pytest.raises(FileError, match="must be a Parquet file, as its name says"):
        column(file("y\n1\n", "other.parquet"))
    whole = path.read_bytes()
    for cut in range(1, len(whole), 97):
        (tmp_path / "cut.parquet").write_bytes(whole[:cut])
        with pytest.raises(FileError):
            column(tmp_path / "cut.parquet", "b")


def test_arrow_streams_are_read_by_what_is_in_them(tmp_path, monkeypatch):
    """Whatever their name is, and from standard input; one that was cut is refused."""
    table = pa.table({"y": pa.array([1, None, 3]), "word": pa.array(["a", "b", "a"], pa.string_view())})
    path = tmp_path / "rows"
    with pa.ipc.new_stream(path, table.schema) as stream:
        stream.write_table(table, max_chunksize=2)
    for name in ("rows.arrow", "rows.csv", "rows"):
        path = path.rename(tmp_path / name)
        assert items(column(path)) == [1, None, 3]
        assert items(column(path, "word")) == ["a", "b", "a"]
    whole = path.read_bytes()
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(whole)))
    assert items(column("-", "word")) == ["a", "b", "a"]
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(FileError, match="could not be read as an Arrow file; it may be damaged"):
        column(path)


def test_names_of_arrow_files_do_not_lie(file):
    """As those of Parquet."""
    for name in ("rows.arrow", "rows.feather", "rows.ipc"):
        with pytest.raises(FileError, match="must be an Arrow file, as its name says; it does not begin like one"):
            column(file("y\n1\n", name))


def test_parquet_is_bounded_before_it_is_read(tmp_path):
    """A small file that would unfold to much is refused by its number of values; CSV, as soon as there are too many."""
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table({"y": np.zeros(1_000_000)}), path)
    assert path.stat().st_size < 20_000
    with pytest.raises(FileError, match=r"must have at most 999,999 values .*; it has 1,000,000"):
        column(path, max_cells=999_999)
    (tmp_path / "rows.csv").write_text("y,x\n" + "1,2\n" * 10)
    with pytest.raises(FileError, match="must have at most 9 values"):
        column(tmp_path / "rows.csv", max_cells=9)


def test_texts_that_repeat_are_held_once(tmp_path):
    """A small file of long texts cannot unfold, not even where some are empty, which are missing."""
    places = pa.array(np.arange(70_000) % 3, pa.int32())
    texts = pa.DictionaryArray.from_arrays(places, pa.array(["", "a" * 2_000, "b"]))
    pq.write_table(pa.table({"y": texts}), tmp_path / "rows.parquet", store_schema=False)
    found = column(tmp_path / "rows.parquet").values
    assert found.nbytes < 1 << 20
    assert found.null_count == 23_334
    assert found[1].as_py() == "a" * 2_000
    assert tm.accuracy(found[1:3], found[1:3]) == 1.0


def test_malformed_parquet_texts_are_refused(tmp_path):
    """Bytes that are no UTF-8, and places in a dictionary that it does not have, are damage."""
    written = pa.array([b"\xff\xfe", b"a"])
    path = write_parquet(tmp_path / "rows.parquet", y=pa.Array.from_buffers(pa.string(), 2, written.buffers()))
    with pytest.raises(FileError, match=r"could not be read as Parquet; it may be damaged: .*UTF8"):
        column(path)


@pytest.mark.parametrize("labels", [True, False])
def test_csv_and_parquet_of_the_same_rows_give_the_same_report(tmp_path, labels):
    """To the last bit, with slices and weights."""
    rng = np.random.default_rng(5)
    n = 500
    truth = np.array(["no", "yes"])[rng.integers(0, 2, n)] if labels else rng.normal(size=n)
    table = pa.table(
        {
            "y": truth,
            "p": np.array(["no", "yes"])[rng.integers(0, 2, n)] if labels else rng.normal(size=n),
            "w": rng.random(n),
            "g": rng.integers(1, 4, n),
        }
    )
    import pyarrow.csv as pa_csv

    pa_csv.write_csv(table, tmp_path / "rows.csv")
    pq.write_table(table, tmp_path / "rows.parquet", row_group_size=100)
    reports = []
    for name in ("rows.csv", "rows.parquet"):
        held = {key: each.values for key, each in read_columns(tmp_path / name, ["y", "p", "w", "g"]).items()}
        reports.append(tm.evaluate(held["y"], held["p"], weights=held["w"], by={"g": held["g"]}).to_json())
    assert reports[0] == reports[1]


def test_compressed_files_are_recognised_by_content(file):
    """By what is in them, whatever their name."""
    import bz2

    for packed in (gzip.compress(b"y\n1\n"), bz2.compress(b"y\n1\n"), pa.compress(b"y\n1\n", "zstd", asbytes=True)):
        assert items(column(file(packed, "rows"))) == [1]


def test_a_path_that_is_not_a_readable_file_is_explained(tmp_path, file):
    """A folder, nothing, something similar, something without permission, and a name that no file can have."""
    with pytest.raises(FileError, match=r"`.*` must be a file; it is a directory"):
        column(tmp_path)
    with pytest.raises(FileError, match=r"there is no file `.*absent`$"):
        column(tmp_path / "absent")
    file("y\n1\n", "deliveries.csv")
    with pytest.raises(FileError, match=r"there is no file `.*`. Did you mean `.*deliveries.csv`\?"):
        column(tmp_path / "delivery.csv")
    for unrelated in ("absent.csv", "d.csv", "answers.csv"):
        with pytest.raises(FileError, match=rf"there is no file `.*{unrelated}`$"):
            column(tmp_path / unrelated)
    with pytest.raises(ParameterError, match="`path` must not contain a NUL character"):
        column("a\0b")


def test_a_pipe_is_read_like_a_file(tmp_path):
    """Even though it can be read only once, and its types may need a second look."""
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=lambda: path.write_text("y,x\n" + "1,2\n" * 5 + "a,3\n"))
    writer.start()
    assert items(column(path)) == ["1"] * 5 + ["a"]
    writer.join()


def test_a_pipe_without_end_stops(monkeypatch):
    """Before its copy has taken the room that others need."""
    monkeypatch.setattr(streams, "_MEMORY_COPY", 1 << 20)
    monkeypatch.setattr(streams.shutil, "disk_usage", lambda _: SimpleNamespace(free=4 << 20))
    with pytest.raises(FileError, match="is a pipe of more than 2,097,152 bytes, which is half of the room"):
        column("/dev/zero")


def test_a_header_without_rows(file):
    """No rows: the call that wants some says so."""
    for content in ("y,x\n", "y,x", "y,x\n\n\n"):
        path = file(content)
        assert len(column(path).values) == 0


def test_progress_goes_from_nothing_to_all(tmp_path, file, monkeypatch):
    """Never back, and never beyond."""
    monkeypatch.setattr(reader, "BLOCK", 1 << 12)
    path = file("y,x\n" + "1,2\n" * 90_000)
    pq.write_table(pa.table({"y": range(300_000)}), tmp_path / "rows.parquet")
    for each in (path, tmp_path / "rows.parquet"):
        told = []
        column(each, progress=lambda done, size, seen=told: seen.append((done, size)))
        done = [first for first, _ in told]
        assert {size for _, size in told} == {each.stat().st_size}
        assert done == sorted(done)
        assert done[-1] == each.stat().st_size
        assert len(done) > 3


def test_without_arrow_it_says_what_to_install(file, monkeypatch):
    """And is an ImportError, too."""
    import importlib

    from tallymark.sources import arrow

    def refuse(name):
        raise ImportError(name)

    arrow.load.cache_clear()
    monkeypatch.setattr(importlib, "import_module", refuse)
    with pytest.raises(MissingPackageError, match=r'pip install "tallymark\[files\]"'):
        column(file("y\n1\n"))
    arrow.load.cache_clear()


def test_reading_does_not_load_pandas(tmp_path):
    """Which takes longer than all the rest."""
    import subprocess
    import sys

    (tmp_path / "rows.csv").write_text("y,p,t,b\n1,0.5,a,true\n2,,b,false\n")
    code = (
        "import sys; from tallymark.sources.files import read_columns;"
        "read_columns('rows.csv', ['y', 'p', 't', 'b']); print('pandas' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path)
    assert (done.stdout, done.stderr) == ("False\n", "")
