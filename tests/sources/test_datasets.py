"""Many files as one table: what is wrong with one of them, and threads that end."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet as pq
import pytest

import tallymark as tm
from tallymark.errors import FileError
from tallymark.sources import datasets
from tallymark.sources.datasets import FileDataset
from tallymark.sources.paths import find_files
from tests.waiting import LIMIT

ASKED = {"truth": "y", "prediction": "p", "metrics": ["mae"]}


def write(folder, name, rows=4, **columns):
    """A file of rows in the form that its name says."""
    held = pd.DataFrame({"y": np.arange(rows, dtype=float), "p": np.arange(rows) + 0.5, **columns})
    path = folder / name
    if path.suffix == ".parquet":
        held.to_parquet(path, row_group_size=2)
    elif path.suffix == ".arrow":
        table = pa.Table.from_pandas(held, preserve_index=False)
        with pa.ipc.new_file(path, table.schema) as file:
            file.write_table(table, max_chunksize=2)
    else:
        held.to_csv(path, index=False)
    return path


@pytest.fixture
def two_threads():
    before = tm.get_threads()
    tm.set_threads(2)
    yield
    tm.set_threads(before)


def test_circular_links_count_a_file_once(tmp_path):
    """A file counts once, however many ways lead to it."""
    (tmp_path / "rows").mkdir()
    path = write(tmp_path / "rows", "a.csv")
    (tmp_path / "rows" / "again").symlink_to(tmp_path / "rows")
    (tmp_path / "rows" / "b.csv").symlink_to(path)
    (tmp_path / "rows" / "lost.csv").symlink_to(tmp_path / "absent.csv")
    (tmp_path / "rows" / "self.csv").symlink_to(tmp_path / "rows" / "self.csv")
    for source in (tmp_path / "rows", str(tmp_path / "rows" / "**" / "[ab].csv"), [path, tmp_path / "rows" / "b.csv"]):
        assert find_files(source) == [str(path)]
        assert tm.evaluate_table(source, **ASKED).n == 4


@pytest.mark.parametrize("form", ["csv", "parquet", "arrow"])
@pytest.mark.usefixtures("two_threads")
def test_files_without_rows_add_nothing(tmp_path, form):
    """They add nothing, wherever they stand; their columns must be there all the same."""
    write(tmp_path, f"b.{form}")
    for name in ("a", "c"):
        write(tmp_path, f"{name}.{form}", rows=0)
    assert tm.evaluate_table(tmp_path, **ASKED).n == 4
    assert tm.evaluate_table(tmp_path, truth="y", prediction="p", kind="value").n == 4
    with pytest.raises(tm.EmptyError, match="`source` has no rows"):
        tm.evaluate_table([tmp_path / f"a.{form}", tmp_path / f"c.{form}"], **ASKED)
    (tmp_path / f"d.{form}").write_text("")
    with pytest.raises(FileError, match=rf"d\.{form}` is empty"):
        tm.evaluate_table(tmp_path, **ASKED)


@pytest.mark.parametrize("form", ["csv", "parquet", "arrow"])
@pytest.mark.usefixtures("two_threads")
def test_a_file_without_the_column_is_named(tmp_path, form):
    """The error names the file, and what it has."""
    for k in range(5):
        write(tmp_path, f"{k}.{form}", **({"q": 1.0} if k != 3 else {}))
    with pytest.raises(FileError, match=rf"3\.{form}` has no column 'q'. Its columns are 'y', 'p'"):
        tm.evaluate_table(tmp_path, **{**ASKED, "prediction": "q"})


@pytest.mark.parametrize("form", ["parquet", "arrow"])
@pytest.mark.parametrize("damage", ["cut", "tail", "head", "foreign"])
@pytest.mark.usefixtures("two_threads")
def test_a_damaged_file_among_good_ones(tmp_path, form, damage):
    """The error names it, whichever thread found it."""
    for k in range(5):
        write(tmp_path, f"{k}.{form}")
    path = tmp_path / f"3.{form}"
    data = path.read_bytes()
    changed = {"cut": data[: len(data) // 2], "tail": data[:-1], "head": data[:8], "foreign": b"\x89PNG\r\n" * 9}
    path.write_bytes(changed[damage])
    with pytest.raises(FileError, match=rf"3\.{form}` "):
        tm.evaluate_table(tmp_path, **ASKED)


@pytest.mark.parametrize(
    ("columns", "asked", "message"),
    [
        ({"p": np.nan}, {}, "must be finite"),
        ({"w": -1.0}, {"weights": "w"}, "must be finite and not negative"),
        (
            {"w": [1.0, 2.0, 1.0, 1.0]},
            {"weights": "w", "query": "q", "metrics": "ndcg"},
            "the same in all rows of a query",
        ),
        ({"y": -1.0}, {"query": "q", "metrics": "ndcg"}, "at least 0; got -1.0"),
        ({"p": [{"x": 1}] * 4}, {}, "must contain numbers or text"),
    ],
    ids=["a value", "a weight", "a query", "a relevance", "a type"],
)
def test_an_error_about_rows_names_their_file_once(tmp_path, columns, asked, message):
    """Whether it is about a row, a query or a column, among files that are fine."""
    for k in range(3):
        write(tmp_path, f"{k}.parquet", **{"w": 1.0, "q": "x", **(columns if k == 1 else {})})
    with pytest.raises(tm.TallymarkError, match=message) as caught:
        tm.evaluate_table(tmp_path, **{**ASKED, **asked})
    assert str(caught.value).count(f"`{tmp_path / '1.parquet'}`") == 1


@pytest.mark.usefixtures("two_threads")
def test_a_quote_that_is_never_closed(tmp_path):
    """What is wrong with a CSV file among others is told with its name and line."""
    for k in range(4):
        write(tmp_path, f"{k}.csv")
    (tmp_path / "2.csv").write_text('y,p\n1,2\n"3,4\n')
    with pytest.raises(FileError, match=r"2\.csv`.*line 3"):
        tm.evaluate_table(tmp_path, **ASKED)


@pytest.mark.parametrize("threads", [1, 2])
def test_a_file_with_another_column_type_is_named(tmp_path, threads):
    """Numbers in one Parquet file and texts in another: the error names the column's file, for values and labels."""
    before = tm.get_threads()
    tm.set_threads(threads)
    try:
        for k in range(3):
            write(tmp_path, f"{k}.parquet", label=[1, 0, 1, 0])
        write(tmp_path, "3.parquet", label=list("abab"))
        told = (
            r"column 'label' must contain either numbers or text in all files; it is int64 in .*0\..* and .*3\.parquet`"
        )
        for asked in ({"truth": "y", "metrics": ["mae"]}, {"truth": "label", "metrics": ["accuracy"], "kind": "label"}):
            with pytest.raises(tm.TypeOfDataError, match=told):
                tm.evaluate_table(tmp_path, prediction="label", **asked)
    finally:
        tm.set_threads(before)


def test_integers_floats_and_nulls_of_several_files(tmp_path):
    """Numbers of any type are numbers; a column of nothing is missing."""
    table = {"y": pa.array([1, 2], pa.int8()), "p": pa.array([1.0, 2.5], pa.float32())}
    pq.write_table(pa.table(table), tmp_path / "a.parquet")
    pq.write_table(pa.table({"y": pa.array([1.5, 2.0]), "p": pa.array([1, 2], pa.uint64())}), tmp_path / "b.parquet")
    pq.write_table(pa.table({"y": pa.nulls(2), "p": pa.array([1.0, 2.0])}), tmp_path / "c.parquet")
    found = tm.evaluate_table(tmp_path, **ASKED, missing="drop")
    assert (found.n, found.dropped, found["mae"]) == (4, 2, 0.25)
    with pytest.raises(tm.MissingValueError, match=r"`truth` .*c\.parquet"):
        tm.evaluate_table(tmp_path, **ASKED)


def threads_now():
    return {thread for thread in threading.enumerate() if thread.is_alive()}


@pytest.mark.parametrize("kind", [KeyboardInterrupt, RuntimeError, SystemExit])
@pytest.mark.parametrize("form", ["csv", "parquet"])
@pytest.mark.usefixtures("two_threads")
def test_an_interrupt_ends_all_threads(tmp_path, kind, form):
    """What is raised while rows are read reaches the caller, few parts are read after it, and no thread is left."""
    for k in range(60):
        write(tmp_path, f"{k:02}.{form}")
    before, heard = threads_now(), []

    def progress(done, total):
        heard.append(done)
        if len(heard) > 2:
            raise kind("enough")

    with pytest.raises(kind, match="enough"):
        tm.evaluate_table(tmp_path, **ASKED, progress=progress)
    assert len(heard) < 10
    assert threads_now() <= before


@pytest.mark.usefixtures("two_threads")
def test_a_fault_of_the_rows_ends_all_threads(tmp_path, monkeypatch):
    """The other thread does not read the rest of the files first."""
    stop, stopped = datasets._PartQueue.stop, threading.Event()
    monkeypatch.setattr(datasets._PartQueue, "stop", lambda work: (stop(work), stopped.set()))
    for k in range(200):
        write(tmp_path, f"{k:03}.csv")
    (tmp_path / "001.csv").write_text("y,p\n1,\n")
    before, heard = threads_now(), []

    def progress(done, total):
        heard.append(done)
        assert len(heard) < 50 or stopped.wait(LIMIT)  # the thread with the fault may be the slower one

    with pytest.raises(tm.MissingValueError, match=r"001\.csv"):
        tm.evaluate_table(tmp_path, **ASKED, progress=progress)
    assert len(heard) < 100
    assert threads_now() <= before


@pytest.mark.usefixtures("two_threads")
def test_progress_is_reported_within_a_large_file(tmp_path):
    """A large file of CSV, which is one part, tells how far it is."""
    path = tmp_path / "rows.csv"
    path.write_text("y,p\n" + "1.5,2.5\n" * 1_000_000)
    heard = []
    tm.evaluate_table(path, **ASKED, progress=lambda done, total: heard.append((done, total)))
    assert len(heard) > 3
    assert heard == sorted(heard)
    assert heard[-1] == (path.stat().st_size,) * 2


def test_a_pipe_is_refused(tmp_path):
    """It could be read only once, and whoever opens it waits."""
    os.mkfifo(tmp_path / "pipe")
    for source in ("-", tmp_path / "pipe", [write(tmp_path, "a.csv"), tmp_path / "pipe"]):
        with pytest.raises(FileError, match=r"must be a file.*it is a pipe"):
            tm.evaluate_table(source, **ASKED)


@pytest.mark.slow
@pytest.mark.usefixtures("two_threads")
def test_five_thousand_files_are_read_and_closed(tmp_path):
    """None is left open, and all are counted."""
    for k in range(5_000):
        (tmp_path / f"{k}.csv").write_text(f"y,p\n{k},{k + 1}\n")
    tm.evaluate_table(tmp_path / "0.csv", **ASKED)  # the first time, Arrow opens some of its own
    open_before = len(os.listdir("/proc/self/fd"))
    found = tm.evaluate_table(tmp_path, **ASKED)
    assert (found.n, found["mae"]) == (5_000, 1.0)
    assert len(os.listdir("/proc/self/fd")) <= open_before


def test_columns_are_read_as_numbers_or_text_where_that_is_asked_for(tmp_path):
    """As numbers, as texts, or as what all fields are, from files with types and without."""
    (tmp_path / "a.csv").write_text("y,p\n007,1\n,2.0\n")
    pq.write_table(pa.table({"y": ["007", ""], "p": [1.0, 2.0]}), tmp_path / "b.parquet")

    def types(read_as):
        return [
            [str(field.type) for field in FileDataset(tmp_path / name, read_as=read_as).empty(["y", "p"]).schema]
            for name in ("a.csv", "b.parquet")
        ]

    assert types({}) == [["string", "double"], ["string", "double"]]
    assert types({"y": "number", "p": "text"}) == [["int64", "string"], ["double", "string"]]
    assert types({"y": "auto"}) == types({})


FUZZ = """
import sys, random, pathlib
import tallymark as tm
good = pathlib.Path(sys.argv[1]).read_bytes()
path, form = pathlib.Path(sys.argv[2]), sys.argv[3]
outcomes = set()
for seed in range(int(sys.argv[4])):
    rng = random.Random(seed)
    data = bytearray(good)
    for _ in range(rng.choice([1, 1, 2, 8])):
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    path.write_bytes(data[: rng.randrange(len(data))] if seed % 10 == 0 else data)
    try:
        tm.evaluate_table(path, truth="y", prediction="p", by="city", metrics=["mae"], missing="drop")
        outcomes.add("read")
    except tm.TallymarkError as error:
        assert type(error) is not tm.FileError or path.name in str(error), error
        outcomes.add("refused")
print(*sorted(outcomes))
"""


@pytest.mark.slow
@pytest.mark.parametrize("form", ["arrow", "parquet"])
def test_forged_files_are_read_or_refused(tmp_path, form):
    """Whatever bits are flipped: an error of ours or rows, and never the end of the interpreter."""
    good = write(tmp_path, f"good.{form}", rows=40, city=["Ulm", "Bonn"] * 20)
    command = [sys.executable, "-c", FUZZ, str(good), str(tmp_path / f"bad.{form}"), form, "600"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stdout) == (0, "read refused\n"), done.stderr[-2000:]


def test_a_file_that_asks_for_more_memory_than_there_is_is_refused(tmp_path):
    """Whichever of its lengths is forged."""
    path = tmp_path / "forged.arrow"
    columns = {"y": np.arange(50.0), "p": np.arange(50.0)}
    options = pa.ipc.IpcWriteOptions(compression="zstd")
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, pa.table(columns).schema, options=options) as writer:
        writer.write_table(pa.table(columns))
    good = path.read_bytes()
    refused = 0
    for place in range(0, len(good) - 8, 8):
        path.write_bytes(good[:place] + (1 << 58).to_bytes(8, "little") + good[place + 8 :])
        try:
            tm.evaluate_table(path, truth="y", prediction="p", metrics=["mae"])
        except tm.TallymarkError as error:
            refused += "malloc" in str(error)
    assert refused
