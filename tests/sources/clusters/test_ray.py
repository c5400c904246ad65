"""Ray datasets: every row once, in one type, from blocks of Arrow and pandas."""

from __future__ import annotations

import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tallymark as tm
from tallymark.errors import FileError, MissingValueError, ParameterError, TypeOfDataError
from tallymark.sources.ray import connected, fold, open_files, schema
from tests.sources.clusters.jobs import FailsOnce, Refuses, Rows, as_rows, read


def numbers(ray, n=100, blocks=20):
    table = pa.table({"y": np.arange(n), "p": np.arange(n) / 4, "z": ["unread"] * n})
    return ray.data.from_arrow([table.slice(start, n // blocks) for start in range(0, n, n // blocks)])


def test_every_row_is_read_once(ray):
    """Of the wanted columns only, in their order, with progress to the end."""
    seen = []
    rows, types = read(fold(numbers(ray), Rows("p", "y"), lambda done, of: seen.append((done, of))))
    assert rows == as_rows([k / 4 for k in range(100)], range(100))
    assert types == [["double", "int64"]]
    assert seen[-1] == (20, 20)


def test_empty_blocks_add_nothing(ray):
    """Some, or all of them; and a dataset that is made while it is read."""
    empty = pa.table({"y": pa.array([], pa.int64())})
    assert read(fold(ray.data.from_arrow([empty, pa.table({"y": [7]}), empty]), Rows("y")))[0] == as_rows([7])
    assert read(fold(ray.data.from_arrow([empty, empty]), Rows("y")))[0] == []
    made = ray.data.range(40, override_num_blocks=4).map_batches(_half)
    assert read(fold(made, Rows("y")))[0] == as_rows(range(20))


def _half(batch):
    return {"y": batch["id"][batch["id"] < 20]}


def test_types_are_those_of_the_whole(ray):
    """Blocks of other integers, dictionaries or nothing at all have the types of the others."""
    day = datetime.date(2026, 1, 1)
    first = pa.table(
        {
            "whole": pa.array([1, None]),
            "text": pa.array(["a", "b"]),
            "class": pa.array(["x", "y"]).dictionary_encode(),
            "money": pa.array([Decimal("1.50"), None]),
            "day": pa.array([day, None]),
        }
    )
    second = pa.table(
        {
            "whole": pa.array([3, 4], pa.int8()),
            "text": pa.array([None, None]),
            "class": pa.array(["z", None]).dictionary_encode(),
            "money": pa.array([None, None], pa.decimal128(3, 2)),
            "day": pa.array([None, day]),
        }
    )
    data = ray.data.from_arrow([first, first.slice(0, 0), second])
    rows, types = read(fold(data, Rows(*first.column_names)))
    assert types == [[str(kind) for kind in schema(data).types]]
    columns = [first[name].to_pylist() + second[name].to_pylist() for name in first.column_names]
    assert rows == as_rows(*columns)


def test_pandas_blocks_with_gaps_categories_and_texts_are_read(ray):
    """Gaps among whole numbers, categories that differ, and texts."""
    first = pd.DataFrame({"y": [1, 2], "c": pd.Categorical(["a", "b"]), "t": ["x", None]})
    second = pd.DataFrame({"y": [None, 4.0], "c": pd.Categorical(["b", "c"]), "t": [None, None]})
    data = ray.data.from_pandas([first, second])
    rows, types = read(fold(data, Rows("y", "c", "t")))
    assert rows == as_rows([1, 2, None, 4], ["a", "b", "b", "c"], ["x", None, None, None])
    assert len(types) == 1
    with pytest.raises(TypeOfDataError, match="column 'y' must contain values of type int64 in every partition"):
        fold(ray.data.from_pandas([first, pd.DataFrame({"y": [0.5]})]), Rows("y"))


def test_missing_columns_are_named(ray):
    """The others are named."""
    with pytest.raises(FileError, match=r"the frame has no column 'q'\. Its columns are 'y', 'p', 'z'"):
        fold(numbers(ray), Rows("q"))


def test_an_error_of_ours_arrives_as_it_was(ray):
    """Its class and its sentence, and nothing of Ray's."""
    with pytest.raises(MissingValueError, match=r'"13" \(dreizehn, тринадцать\) was in row 3\n of many') as caught:
        fold(numbers(ray), Rows("y", before=Refuses()))
    assert caught.value.__suppress_context__


def test_a_retried_task_counts_its_rows_once(ray, tmp_path):
    """Ray tries it again where it is told to, and no row is lost or counted twice."""
    marker = tmp_path / "tried"
    data = numbers(ray)
    data.context.retried_map_errors, data.context.max_map_retries = True, 2
    rows, _ = read(fold(data, Rows("y", before=FailsOnce(marker))))
    assert marker.exists()
    assert rows == as_rows(range(100))


def test_the_tasks_of_a_dead_worker_go_to_others(ray, tmp_path):
    """Its tasks go to others."""
    marker = tmp_path / "tried"
    rows, _ = read(fold(numbers(ray), Rows("y", before=FailsOnce(marker, killed=True))))
    assert marker.exists()
    assert rows == as_rows(range(100))


def test_blocks_must_not_get_lost(ray):
    """A dataset that goes on without the blocks that fail would give a number of other rows."""
    data = numbers(ray)
    data.context.max_errored_blocks = 3
    with pytest.raises(ParameterError, match=r"set DataContext\.max_errored_blocks to 0"):
        fold(data, Rows("y"))


def test_an_interrupt_ends_it(ray):
    """The CPUs are free again."""

    def interrupt(done, of):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fold(numbers(ray), Rows("y"), interrupt)
    assert read(fold(numbers(ray), Rows("y")))[0] == as_rows(range(100))


def test_files_are_read_by_ray_and_connections_are_kept(ray, tmp_path):
    """Files are read by Ray's own reader; a connection that was there before stays."""
    for part in range(3):
        pq.write_table(pa.table({"y": [part, None], "z": ["a", "b"]}), tmp_path / f"{part}.parquet")
    with connected(None):
        data = open_files(sorted(map(str, tmp_path.glob("*.parquet"))), ["y"])
        assert read(fold(data, Rows("y")))[0] == as_rows([0, 1, 2, None, None, None])
    assert ray.is_initialized()


def test_files_whose_types_differ_are_told_in_a_sentence(ray, tmp_path):
    """Instead of in the lines of a worker."""
    pq.write_table(pa.table({"y": [1, 2], "p": [1.0, 2.0]}), tmp_path / "a.parquet")
    pq.write_table(pa.table({"y": [Decimal("1.5"), Decimal("2.0")], "p": [1.0, 2.0]}), tmp_path / "b.parquet")
    with pytest.raises(FileError, match=r"must have columns of the same types; .* pass the folder") as caught:
        tm.evaluate_table(ray.data.read_parquet(str(tmp_path)), truth="y", prediction="p", metrics=["mae"])
    assert "\n" not in str(caught.value)
