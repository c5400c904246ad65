"""Rows that come batch by batch: read once, in order, and no further than needed."""

from __future__ import annotations

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet as pq
import pytest

import tallymark as tm
from tallymark.sources.batches import Batches

ASKED = {"truth": "y", "prediction": "p", "metrics": ["mae"]}
TABLE = pa.table({"y": [1.0, 2.0, 3.0, 4.0], "p": [1.0, 2.0, 4.0, 6.0], "city": ["Ulm", "Bonn", "Ulm", "Bonn"]})


def batches(*, ends_with=None):
    """Batches of one row, and an error at the end if there is one."""
    yield from TABLE.to_batches(max_chunksize=1)
    if ends_with is not None:
        raise ends_with


class Stream:
    """Something that gives its rows to Arrow, and nothing else."""

    def __arrow_c_stream__(self, requested_schema=None):
        return TABLE.__arrow_c_stream__(requested_schema)


@pytest.mark.parametrize(
    ("source", "kind"),
    [
        (lambda: pl.from_arrow(TABLE).lazy(), "a lazy frame"),
        (lambda: duckdb.from_arrow(TABLE), "a relation"),
        (lambda: pyarrow.dataset.dataset(TABLE), "a dataset"),
        (lambda: TABLE.to_reader(2), "a reader"),
        (lambda: Stream(), "a stream"),
        (lambda: batches(), "batches"),
        (lambda: TABLE.to_batches(max_chunksize=3), "batches"),
        (lambda: [TABLE, TABLE.slice(0, 0)], "batches"),
        (lambda: ({"y": [y], "p": [p]} for y, p in zip(*TABLE.select(["y", "p"]), strict=True)), "batches"),
        (lambda: [TABLE.to_pandas()[:3], TABLE.to_pandas()[3:]], "batches"),
    ],
)
def test_every_source_of_batches_is_recognised_and_read_once(source, kind):
    """Is told by what it can do, and all of its rows are counted once."""
    assert Batches(source()).kind == kind
    found = tm.evaluate_table(source(), **ASKED)
    assert (found.n, found["mae"]) == (4, 0.75)


@pytest.mark.parametrize("kind", [KeyboardInterrupt, RuntimeError, OSError])
def test_errors_of_the_source_are_its_own(kind):
    """What a generator raises reaches the caller as it is."""
    with pytest.raises(kind, match="no more"):
        tm.evaluate_table(batches(ends_with=kind("no more")), **ASKED)


def test_errors_of_progress_are_its_own():
    """And no batch is asked for after it."""
    asked = []

    def rows():
        for k in range(10):
            asked.append(k)
            yield {"y": [1.0], "p": [2.0]}

    def progress(done, total):
        assert total == 0
        if done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        tm.evaluate_table(rows(), **ASKED, progress=progress)
    assert asked == [0, 1, 2]


@pytest.mark.parametrize(
    ("source", "told"),
    [
        (lambda: iter([{"y": [1.0], "p": [1.0]}, {"y": [1.0]}]), "the table has no column 'p'. Its columns are 'y'"),
        (lambda: iter([{"y": [1.0], "p": [1.0]}, {"y": [1.0], "p": ["x"]}]), "`prediction` must contain real numbers"),
        (lambda: iter([{"y": [1.0], "p": [1.0]}, 3]), "`source` must yield tables.* item 1 was 3"),
        (lambda: iter([{"y": [1.0], "p": [None]}]), "`prediction` must be finite"),
        (lambda: iter([{"y": [1.0, 2.0], "p": [1.0]}]), "the columns of a table must be of one length; 'y' has 2"),
        (lambda: pl.from_arrow(TABLE).lazy().select("y"), "the frame has no column 'p'"),
        (lambda: duckdb.from_arrow(TABLE).select("y"), "the relation has no column 'p'"),
        (lambda: pyarrow.dataset.dataset(TABLE.select(["y"])), "the dataset has no column 'p'"),
        (lambda: TABLE.select(["y"]).to_reader(), "the table has no column 'p'"),
        (lambda: TABLE.slice(0, 0).to_reader(), "`source` has no rows"),
        (lambda: pl.from_arrow(TABLE).lazy().filter(pl.lit(False)), "`source` has no rows"),
        (lambda: [pd.DataFrame({"y": [], "p": []})], "`source` has no rows"),
    ],
)
def test_a_batch_that_does_not_fit_is_explained(source, told):
    """The error says what was wrong with which."""
    with pytest.raises(tm.TallymarkError, match=told):
        tm.evaluate_table(source(), **ASKED)


def test_a_duckdb_query_is_read_and_read_again(tmp_path):
    """A relation may be any query, over files as well, and may be read again."""
    pq.write_table(TABLE, tmp_path / "rows.parquet")
    relation = duckdb.sql(f"select y, p * 1 as p, upper(city) as city from '{tmp_path}/rows.parquet' where y < 4")
    for _ in range(2):
        report = tm.evaluate_table(relation, **ASKED, by="city")
        assert (report.n, list(report.slices)) == (3, ["BONN", "ULM"])
    odd = duckdb.from_arrow(TABLE.rename_columns(['a "b"', "p", "x; drop"]))
    assert tm.evaluate_table(odd, **{**ASKED, "truth": 'a "b"'}, by="x; drop").n == 4


@pytest.mark.filterwarnings("ignore:Arrow output on a DB-API result")  # DuckDB's advice to pass con.sql instead
def test_a_result_of_duckdb_is_read_as_its_rows():
    """What execute returns is the connection, which holds the rows."""
    con = duckdb.connect()
    con.register("rows", TABLE)
    assert tm.evaluate_table(con.execute("select y, p from rows"), **ASKED)["mae"] == 0.75
    with pytest.raises(tm.errors.FileError, match=r"has no column 'p'\. Its columns are 'y'"):
        tm.evaluate_table(con.execute("select y from rows"), **ASKED)
    with pytest.raises(
        tm.errors.ParameterError, match=r"connection of DuckDB without a result. Pass con\.sql\(query\)"
    ):
        tm.evaluate_table(duckdb.connect(), **ASKED)


@pytest.mark.parametrize(
    ("opened", "library"),
    [
        (pyarrow.dataset.dataset, "a dataset of pyarrow"),
        (lambda folder: pyarrow.dataset.dataset(folder).scanner().to_reader(), "a reader of pyarrow"),
        (pl.scan_parquet, "a lazy frame of polars"),
        (lambda folder: duckdb.read_parquet(f"{folder}/*.parquet"), "a relation of duckdb"),
    ],
)
def test_files_that_a_library_cannot_read_together(opened, library, tmp_path):
    """Their types differ; the sentence says so, and that the folder itself may be passed."""
    odd = (
        pa.array(["1.5", "x", "2", "3"]) if "duckdb" in library else pa.array([1.5, 2, 3, 4]).cast(pa.decimal128(3, 1))
    )
    whole = TABLE.set_column(0, "y", pa.array([1, 2, 3, 4]))
    pq.write_table(whole, tmp_path / "a.parquet")
    pq.write_table(whole.set_column(0, "y", odd), tmp_path / "b.parquet")
    with pytest.raises(
        tm.errors.FileError, match=rf"{library} failed: .*different types, pass the folder or the paths"
    ):
        tm.evaluate_table(opened(tmp_path), **ASKED)
    if "duckdb" not in library:
        assert tm.evaluate_table(tmp_path, **ASKED)["mae"] == (0 + 0 + 1 + 2 + 0.5 + 0 + 1 + 2) / 8
