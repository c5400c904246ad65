"""Dask data frames: every row once, in one type, whatever the partitions look like."""

from __future__ import annotations

import datetime
from decimal import Decimal

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tallymark.errors import FileError, MissingValueError, ParameterError, TypeOfDataError
from tallymark.sources.dask import connected, fold, open_files, schema
from tests.sources.clusters.jobs import FailsOnce, Refuses, Rows, as_rows, read
from tests.waiting import until


@pytest.fixture(params=["cluster", "threads"])
def anywhere(request):
    """On worker processes and on threads of this one."""
    if request.param == "cluster":
        request.getfixturevalue("dask_client")
        yield
    else:
        with dask.config.set(scheduler="threads"):
            yield


def in_pieces(*frames):
    """A frame with these partitions, and the types of the first."""
    parts = [dask.delayed(frame) for frame in frames]
    return dd.from_delayed(parts, meta=frames[0].iloc[:0], verify_meta=False)


def numbers(n=100, partitions=20):
    return dd.from_pandas(pd.DataFrame({"y": np.arange(n), "p": np.arange(n) / 4, "z": "unread"}), partitions)


def test_every_row_is_read_once(anywhere):
    """Of the wanted columns only, in their order, with progress to the end."""
    seen = []
    rows, types = read(fold(numbers(), Rows("p", "y"), lambda done, of: seen.append((done, of))))
    assert rows == as_rows([k / 4 for k in range(100)], range(100))
    assert types == [["double", "int64"]]
    assert seen == [(k, 20) for k in range(1, 21)]


def test_types_are_those_of_the_whole(anywhere):
    """Partitions that are empty, hold gaps, other dictionaries, or nothing at all have the types of the others."""
    first = pd.DataFrame(
        {
            "whole": [1, 2],
            "real": [0.5, float("nan")],
            "flag": [True, False],
            "text": ["a", None],
            "class": pd.Categorical(["x", "y"]),
            "money": pd.array([Decimal("1.50"), None], pd.ArrowDtype(pa.decimal128(10, 2))),
            "day": pd.array([datetime.date(2026, 1, 1), None], pd.ArrowDtype(pa.date32())),
            "time": pd.to_datetime(["2026-01-01", None]),
        }
    )
    gaps = pd.DataFrame(
        {
            "whole": [float("nan"), 4.0],
            "real": [1, 2],
            "flag": pd.Series([None, True], dtype=object),
            "text": pd.Series([None, None], dtype=object),
            "class": pd.Categorical(["z", None]),
            "money": first["money"],
            "day": first["day"],
            "time": first["time"],
        }
    )
    frame = in_pieces(first, first.iloc[:0], gaps)
    rows, types = read(fold(frame, Rows(*first.columns)))
    assert [types] == [[[str(kind) for kind in schema(frame).types]]]
    assert types[0][:4] == ["int64", "double", "bool", "large_string"]
    assert types[0][5:7] == ["decimal128(10, 2)", "date32[day]"]
    assert len(rows) == 4
    assert [row[:5] for row in rows] == as_rows(
        [1, 2, None, 4],
        [0.5, float("nan"), 1.0, 2.0],
        [True, False, None, True],
        ["a", None, None, None],
        [*"xyz", None],
    )


@pytest.mark.parametrize(
    ("column", "told"),
    [
        (
            pd.Series([1, "a"], dtype=object),
            "column 'y' must contain values of one type that Arrow supports; its type is object",
        ),
        (
            pd.Series([1, 2], dtype=object),
            "must contain values of type large_string in every partition; one contains .* int64",
        ),
        (pd.Series([b"a", b"b"], dtype=object), "one contains values of type binary"),
        (pd.Series([1j, 2j]), "its type is complex128"),
        (pd.Series([{}, {}], dtype=object), "one contains values of type struct"),
    ],
)
def test_a_column_of_objects_is_named_with_a_fix(anywhere, column, told):
    """The column is named, and what to do, where Dask has not made texts of them."""
    with (
        dask.config.set({"dataframe.convert-string": False}),
        pytest.raises(TypeOfDataError, match=told) as caught,
    ):
        fold(in_pieces(pd.DataFrame({"y": column})), Rows("y"))
    assert "'y'" in str(caught.value)
    assert str(caught.value).endswith("Convert the column first")


def test_whole_numbers_that_pandas_has_rounded():
    """Beyond 2⁵³ a gap among them would change the others, so they are refused."""
    with (
        dask.config.set(scheduler="sync"),
        pytest.raises(TypeOfDataError, match="'y' must contain values of type int64"),
    ):
        fold(in_pieces(pd.DataFrame({"y": [1]}), pd.DataFrame({"y": [2.0**53 + 2, None]})), Rows("y"))


def test_categories_that_dask_does_not_know():
    """They are taken for texts; numbers are refused until Dask knows them."""
    frame = dd.from_pandas(pd.DataFrame({"y": [3, 1, 2], "t": ["b", "a", "b"]}), 2).astype("category")
    with dask.config.set(scheduler="sync"):
        assert read(fold(frame, Rows("t")))[0] == as_rows(["b", "a", "b"])
        with pytest.raises(TypeOfDataError, match="'y' must contain values of type large_string"):
            fold(frame, Rows("y"))
        assert read(fold(frame.categorize(), Rows("y")))[0] == as_rows([1, 2, 3])


def test_missing_and_repeated_columns_are_named():
    """None, or two of one name."""
    frame = numbers()
    with pytest.raises(FileError, match=r"the frame has no column 'q'\. Its columns are 'y', 'p', 'z'"):
        fold(frame, Rows("q"))
    twice = dd.concat([frame[["y"]], frame[["y", "p"]]], axis=1)
    with pytest.raises(FileError, match="the frame must have the column 'y' once"):
        fold(twice, Rows("y", "p"))


def test_an_error_of_ours_arrives_as_it_was(anywhere):
    """Its class and its sentence, and nothing of Dask's."""
    with pytest.raises(MissingValueError, match=r'"13" \(dreizehn, тринадцать\) was in row 3\n of many') as caught:
        fold(numbers(), Rows("y", before=Refuses()))
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


def test_a_retried_task_counts_its_rows_once(dask_client, tmp_path):
    """Dask tries it again, and no row is lost or counted twice."""
    marker = tmp_path / "tried"
    rows, _ = read(fold(numbers(), Rows("y", before=FailsOnce(marker))))
    assert marker.exists()
    assert rows == as_rows(range(100))


def test_the_tasks_of_a_dead_worker_go_to_others(dask_client, tmp_path):
    """Its tasks go to others."""
    marker = tmp_path / "tried"
    rows, _ = read(fold(numbers(), Rows("y", before=FailsOnce(marker, killed=True))))
    assert marker.exists()
    assert rows == as_rows(range(100))
    dask_client.wait_for_workers(2)


def test_an_interrupt_cancels_the_tasks(dask_client):
    """Nothing is left to do on the cluster, and nothing held."""

    def interrupt(done, of):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fold(numbers(), Rows("y"), interrupt)
    nothing_is_left_on(dask_client)


def test_nothing_is_left_behind(dask_client):
    """Neither of a job that ends well nor of one that is refused."""
    fold(numbers(), Rows("y"))
    nothing_is_left_on(dask_client)
    with pytest.raises(MissingValueError):
        fold(numbers(), Rows("y", before=Refuses()))
    nothing_is_left_on(dask_client)


def nothing_is_left_on(client):
    """Wait until the scheduler has forgotten all tasks, as it does with those that were let go."""
    until(lambda: not client.run_on_scheduler(lambda dask_scheduler: list(map(str, dask_scheduler.tasks))))


def test_files_are_read_by_dask_and_connections_are_kept(dask_client, tmp_path):
    """Files are read by Dask's own reader, on the cluster at an address; who was connected before stays so."""
    for part in range(3):
        pq.write_table(pa.table({"y": [part, None], "z": ["a", "b"]}), tmp_path / f"{part}.parquet")
    with connected(dask_client.scheduler.address):
        frame = open_files(sorted(map(str, tmp_path.glob("*.parquet"))), ["y"])
        assert read(fold(frame, Rows("y")))[0] == as_rows([0, 1, 2, None, None, None])
    assert dask_client.status == "running"
    with (
        pytest.raises(ParameterError, match="`scheduler` must be the address of a Dask scheduler"),
        connected("tcp:nowhere"),
    ):
        pass
