"""Calls that raise the errors of files, whose wording is kept in messages.txt."""

from __future__ import annotations

import io
import os
import tempfile
from pathlib import Path
from unittest import mock

import duckdb
import pyarrow as pa

import tallymark as tm
from tallymark.sources.files import read_columns
from tallymark.sources.schema_cast import cast_column
from tallymark.sources.spark import _collect
from tallymark.states.serialization import pack, unpack


def read(content, **wanted):
    """Columns of a file that comes as standard input."""
    with mock.patch("sys.stdin", io.TextIOWrapper(io.BytesIO(content))):
        return read_columns("-", wanted or {"y": "auto"})


def wild_texts():
    """Texts of which the second begins behind its end."""
    return pa.Array.from_buffers(
        pa.string(), 2, [None, pa.py_buffer(pa.array([0, 99, 2], pa.int32()).buffers()[1]), pa.py_buffer(b"ab")]
    )


def failing_reader():
    """A reader of Arrow whose batches cannot be had."""

    def batches():
        raise pa.ArrowInvalid("Rescaling Decimal value would cause data loss")
        yield

    return pa.RecordBatchReader.from_batches(pa.schema({"y": pa.int64(), "p": pa.int64()}), batches())


def evaluate(source=None, files=None, **asked):
    """A table, or files of CSV in a folder that they are read from, one after the other."""
    before, threads = os.getcwd(), tm.get_threads()
    tm.set_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            for name, text in (files or {}).items():
                Path(name).parent.mkdir(parents=True, exist_ok=True)
                Path(name).write_text(text)
            given = {"truth": "y", "prediction": "p", "metrics": ["mae"], **asked}
            return tm.evaluate_table("." if source is None else source, **given)
        finally:
            os.chdir(before)
            tm.set_threads(threads)


def one(**columns):
    """A batch of a row."""
    return iter([{"y": [1.0], "p": [1.0], **columns}])


def load_tally(data):
    """A tally from a file of these bytes."""
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            Path("a.tally").write_bytes(data)
            return tm.Tally.load("a.tally")
        finally:
            os.chdir(before)


def in_ranges(source=None, metrics="auc", **asked):
    """A table whose scores are walked in ranges."""
    rows = [{"y": [0, 1], "p": [0.2, 0.4]}]
    return evaluate(rows if source is None else source, metrics=metrics, **{"score_ranges": 4, **asked})


class Changing:
    """Tables that are others whenever they are read."""

    looks = 0

    def __iter__(self):
        self.looks += 1
        return iter([{"y": [0, 1] * self.looks, "p": [0.2, 0.4] * self.looks}])


class TooLarge:
    """A frame of Spark whose tally the driver may not read."""

    def toArrow(self):  # noqa: N802 - the name of Spark's
        raise RuntimeError("results are bigger than spark.driver.maxResultSize")


CASES = {
    "partition of another type": lambda: cast_column(pa.array(["1"]), pa.int64(), "y"),
    "tally too large for Spark's driver": lambda: _collect(TooLarge()),
    "no such file": lambda: read_columns("absent/rows.csv", ["y"]),
    "a folder": lambda: read_columns("/", ["y"]),
    "an empty file": lambda: read(b""),
    "no such column": lambda: read(b"a,b\n1,2\n"),
    "a similar column": lambda: read(b"yy,b\n1,2\n"),
    "another separator": lambda: read(b"y;b\n1;2\n"),
    "a column twice": lambda: read(b"y,y\n1,2\n"),
    "text in a column of numbers": lambda: read(b"y,b\n1,2\nx,2\n", y="number"),
    "an unknown way to read": lambda: read(b"y\n1\n", y="date"),
    "a short row": lambda: read(b"y,b\n1,2\n3\n"),
    "a quote that is never closed": lambda: read(b'y,b\n1,"2\n'),
    "a quote out of place": lambda: read(b'y,b\n1,5"\n'),
    "not UTF-8": lambda: read(b"y\n\xe9\n"),
    "UTF-16": lambda: read(b"\xff\xfey\0"),
    "a NUL": lambda: read(b"y\n\0\n"),
    "a spreadsheet": lambda: read(b"PK\x03\x04"),
    "an encrypted file": lambda: read(b"PARE"),
    "a bad separator": lambda: read_columns("-", ["y"], separator="::"),
    # tables, wherever they are
    "a source of no kind": lambda: evaluate(42),
    "no files": lambda: evaluate([]),
    "a folder without files": lambda: evaluate(files={"notes.txt": ""}),
    "a pattern without files": lambda: evaluate("*.parquet"),
    "a Delta table": lambda: evaluate("rows", files={"rows/_delta_log/0.json": "", "rows/a.csv": ""}),
    "an Iceberg table": lambda: evaluate("rows", files={"rows/metadata/v1.metadata.json": "", "rows/a.csv": ""}),
    "a Hudi table": lambda: evaluate("rows", files={"rows/.hoodie/hoodie.properties": "", "rows/a.csv": ""}),
    "a pattern of hidden files": lambda: evaluate("*", files={"_SUCCESS": ""}),
    "an address of an object store": lambda: evaluate("s3://bucket/rows.parquet"),
    "an address of the web": lambda: evaluate("https://example.org/rows.csv"),
    "an address of a local file": lambda: evaluate("file:///rows.csv"),
    "a pipe in pieces": lambda: evaluate("-"),
    "an item that is no table": lambda: evaluate([{"y": [1.0], "p": [1.0]}, 3]),
    "a table without rows": lambda: evaluate(iter([])),
    "all rows of a source dropped": lambda: evaluate(one(p=[None]), missing="drop"),
    "a column that a table lacks": lambda: evaluate({"y": [1.0], "q": [1.0]}),
    "columns that are no names": lambda: evaluate({"y": [1.0]}, truth=3),
    "several columns of weights": lambda: evaluate({"y": [1.0]}, weights=["a", "b"]),
    "a column named twice": lambda: evaluate({"y": [1.0]}, prediction=["y", "y"]),
    "columns of other lengths": lambda: evaluate({"y": [1.0, 2.0], "p": [1.0]}),
    "mixed values in a column": lambda: evaluate({"y": [1.0, "a"], "p": [1.0, 2.0]}),
    "a connection of DuckDB": lambda: evaluate(duckdb.connect()),
    "a reader that fails": lambda: evaluate(failing_reader()),
    "Arrow data that point anywhere": lambda: evaluate({"y": wild_texts(), "p": ["a", "b"]}, metrics=["accuracy"]),
    "no ranges of scores": lambda: in_ranges(score_ranges=0),
    "ranges for a curve": lambda: in_ranges(metrics="roc_curve"),
    "ranges for part of an area": lambda: in_ranges(metrics="auc(max_fpr=0.1)"),
    "ranges and weights": lambda: in_ranges(weights="p"),
    "ranges and groups": lambda: in_ranges(metrics="pr_auc", by="p"),
    "ranges of three classes": lambda: in_ranges(prediction=["p", "q", "r"]),
    "ranges of rows that are gone": lambda: in_ranges(one()),
    "ranges of rows that change": lambda: in_ranges(Changing()),
    "a curve from ranges": lambda: in_ranges().plot.roc(),
    "keys of a table without intervals": lambda: evaluate(one(), keys="y"),
    "a smallest group without groups": lambda: evaluate(one(), min_rows=5),
    "a missing value in a later file": lambda: evaluate(files={"a.csv": "y,p\n1,2\n", "b.csv": "y,p\n1,2\n,2\n"}),
    "a text in a later file": lambda: evaluate(files={"a.csv": "y,p\n1,2\n", "b.csv": "y,p\nx,2\n"}),
    "a file without a column": lambda: evaluate(files={"a.csv": "y,p\n1,2\n", "b.csv": "y,q\n1,2\n"}),
    "a tally that is not there": lambda: tm.Tally.load("absent.tally"),
    "a file that is no tally": lambda: load_tally(b"y,p\n1,2\n"),
    "a number as a path": lambda: tm.Tally.load(1),
    "a path with a NUL": lambda: tm.evaluate([1.0], [1.0], ["mae"]).save("a\0.html"),
    "a path with half a character": lambda: evaluate("a\ud800.csv"),
    "a history that is not there": lambda: tm.training.History.read("absent.json"),
    "a tally of too many dropped rows": lambda: tm.Tally.from_bytes(
        pack("Tally", {**unpack(tm.Tally(["mae"]).to_bytes())[1], "dropped": 10**9600})
    ),
    "a tally that was cut": lambda: load_tally(tm.Tally(["mae"]).to_bytes()[:-1]),
    "rows without their groups": lambda: tm.Tally(["mae"], by="city").update([1.0], [1.0]),
    "groups for a tally without": lambda: tm.Tally(["mae"]).update([1.0], [1.0], by=["x"]),
    "other columns of groups": lambda: tm.Tally(["mae"], by=["a", "b"]).update([1.0], [1.0], by={"a": [1], "c": [2]}),
    "tallies of other groups": lambda: tm.Tally(["mae"], by="a") + tm.Tally(["mae"]),
    "a metric of groups without them": lambda: tm.Tally(["gap(mae)"]),
}
