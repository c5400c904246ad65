"""Spark data frames: every row once, in one type, in tallies of any size."""

from __future__ import annotations

import datetime
import os
import signal
import threading
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tallymark as tm
from tallymark.errors import FileError, MissingValueError, ParameterError, StateError
from tallymark.sources import spark
from tallymark.sources import spark as engine
from tallymark.sources.spark import connected, fold, open_files, schema
from tests.sources.clusters.jobs import FailsOnce, Held, Large, Refuses, Rows, Slow, as_rows, read
from tests.waiting import until


def numbers(spark, n=100, partitions=8):
    return spark.range(n, numPartitions=partitions).selectExpr("id as y", "id / 4 as p", "'unread' as z")


def test_every_row_is_read_once(spark):
    """Of the wanted columns only, in their order."""
    seen = []
    rows, types = read(fold(numbers(spark), Rows("p", "y"), lambda done, of: seen.append((done, of))))
    assert rows == as_rows([k / 4 for k in range(100)], range(100))
    assert types == [["double", "int64"]]
    assert seen[-1][0] == seen[-1][1]


def test_empty_partitions_add_nothing(spark):
    """Some, or all of them."""
    frame = numbers(spark)
    rows, _ = read(fold(frame.where("y = 7"), Rows("y", "z")))
    assert rows == as_rows([7], ["unread"])
    assert read(fold(frame.where("y < 0"), Rows("y"))) == ([], [])
    assert read(fold(spark.createDataFrame([], "y int"), Rows("y"))) == ([], [])


def test_spark_types_arrive_as_arrow_types(spark):
    """Nulls, decimals, dates, times, flags and bytes come as Arrow has them, whatever the columns are called."""
    day, time_ = datetime.date(2026, 1, 1), datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)
    held = [
        (1, Decimal("1.50"), day, time_, True, "a", b"x", 0.5),
        (None,) * 8,
        (3, None, None, None, False, "b", b"", None),
    ]
    kinds = ["int", "decimal(10,2)", "date", "timestamp", "boolean", "string", "binary", "float"]
    names = ["a b", "c.d", "e`f", "g", "h", "i", "j", "k"]
    told = ", ".join(f"`{name.replace('`', '``')}` {kind}" for name, kind in zip(names, kinds, strict=True))
    frame = spark.createDataFrame(held, told).repartition(5)
    rows, types = read(fold(frame, Rows(*names)))
    assert types == [[str(kind) for kind in schema(frame).types]]
    assert types[0][:3] == ["int32", "decimal128(10, 2)", "date32[day]"]
    columns = list(zip(*held, strict=True))
    del columns[3]
    assert sorted([*row[:3], *row[4:]] for row in rows) == as_rows(*columns)
    assert sorted(row[3] for row in rows)[:2] == ["None", "None"]


def test_missing_and_repeated_columns_are_named(spark):
    """None, or two of one name."""
    with pytest.raises(FileError, match=r"the frame has no column 'q'\. Its columns are 'y', 'p', 'z'"):
        fold(numbers(spark), Rows("q"))
    with pytest.raises(FileError, match="the frame must have the column 'y' once"):
        fold(numbers(spark).selectExpr("y", "p as y"), Rows("y"))


def test_an_error_of_ours_arrives_as_it_was(spark):
    """Its class and its sentence, and nothing of Spark's."""
    with pytest.raises(MissingValueError, match=r'"13" \(dreizehn, тринадцать\) was in row 3\n of many') as caught:
        fold(numbers(spark), Rows("y", before=Refuses()))
    assert caught.value.__suppress_context__


def test_a_retried_task_counts_its_rows_once(spark, tmp_path):
    """Spark tries it again, and no row is lost or counted twice, even where the process of the worker is gone."""
    for killed in (False, True):
        marker = tmp_path / f"tried {killed}"
        rows, _ = read(fold(numbers(spark), Rows("y", before=FailsOnce(marker, killed=killed))))
        assert marker.exists()
        assert rows == as_rows(range(100))


def test_a_large_tally_travels_in_pieces(spark, monkeypatch):
    """They travel in pieces, which come together in their order."""
    cut = [*engine._to_rows(1, 9, b"a" * 30 + b"b" * 31, 30)]
    assert [len(batch.column("bytes")[0].as_py()) for batch in cut] == [30, 30, 1]
    assert engine._from_rows([*cut, *engine._to_rows(0, 3, b"c", 30)][::-1]) == {3: b"c", 9: b"a" * 30 + b"b" * 31}
    monkeypatch.setattr(engine, "_MAX_ROW_BYTES", 30_000)
    found = fold(numbers(spark, 20, 10), Large())
    assert found == b"".join(bytes([k]) * 100_000 for k in range(0, 20, 2))


def test_tallies_larger_than_the_driver_reads(spark):
    """The error names the setting of Spark, and what needs less."""
    refused = RuntimeError("Total size of serialized results is bigger than spark.driver.maxResultSize (1024.0 MiB)")
    with pytest.raises(StateError, match=r"raise spark\.driver.maxResultSize, choose .*score_ranges=64"):
        engine._collect(_Failing(refused))
    with pytest.raises(RuntimeError, match="other"):
        engine._collect(_Failing(RuntimeError("other")))


class _Failing:
    """A data frame that cannot be collected."""

    def __init__(self, error):
        self.error = error

    def toArrow(self):  # noqa: N802 - the name of Spark's
        raise self.error


def left_of(spark):
    """What a call has left behind: tags of its jobs, and threads."""
    threads = [thread.name for thread in threading.enumerate() if thread.name.startswith("tallymark")]
    return {*spark.getTags(), *spark.sparkContext.getJobTags(), *threads}


@pytest.fixture
def often(monkeypatch):
    """Spark is asked how far it is more often than in earnest."""
    monkeypatch.setattr(spark, "_POLL_SECONDS", 0.05)


@pytest.mark.usefixtures("often")
@pytest.mark.parametrize("again", [False, True])
def test_progress_counts_finished_tasks_while_others_run(spark, again, tmp_path):
    """Tasks are counted while others run, also where a frame has a shuffle of its own; all are done at the end only."""
    frame = numbers(spark).repartition(6) if again else numbers(spark)
    held = Held(tmp_path, 8 + 6 if again else 8)
    rows, _ = read(fold(frame, Rows("y", before=held), held.tell))
    assert rows == as_rows(range(100))
    assert len(held.seen) > 1
    assert [done for done, _ in held.seen] == sorted({done for done, _ in held.seen})
    assert [done == whole for done, whole in held.seen] == [False] * (len(held.seen) - 1) + [True]
    assert held.seen[-1][1] > held.tasks
    assert not left_of(spark)


@pytest.mark.usefixtures("often")
def test_nothing_is_left_of_a_call_that_fails(spark):
    """Whether a worker refuses rows or progress itself fails, which ends the job and arrives as it was."""
    with pytest.raises(MissingValueError):
        fold(numbers(spark), Rows("y", before=Refuses()), lambda done, of: None)
    assert not left_of(spark)
    tracker, jobs = spark.sparkContext.statusTracker(), []

    def fail(done, of):
        jobs.extend(tracker.getActiveJobsIds())
        raise OSError("the terminal is gone")

    with pytest.raises(OSError, match="the terminal is gone"):
        fold(numbers(spark, 400, 200), Rows("y", before=Slow(0.3)), fail)
    assert [tracker.getJobInfo(job).status for job in jobs] == ["FAILED"]
    assert not left_of(spark)


@pytest.mark.parametrize("progress", [None, lambda done, of: None])
def test_an_interrupt_cancels_the_job(spark, progress):
    """What runs on Spark for the call is cancelled, and its tags are gone."""
    tracker = spark.sparkContext.statusTracker()

    def interrupt():
        until(tracker.getActiveJobsIds)
        os.kill(os.getpid(), signal.SIGINT)

    until(lambda: not tracker.getActiveJobsIds())  # of other tests, which would call for the interrupt too early
    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        fold(numbers(spark), Rows("y", before=Slow()), progress)
    thread.join()
    assert not left_of(spark)
    until(lambda: not tracker.getActiveJobsIds())


def test_files_are_read_by_spark_and_sessions_are_kept(spark, tmp_path):
    """Files are read by Spark's own reader; a session that was there before stays."""
    for part in range(3):
        pq.write_table(pa.table({"y": [part, None], "z": ["a", "b"]}), tmp_path / f"{part}.parquet")
    with connected(None):
        frame = open_files(sorted(map(str, tmp_path.glob("*.parquet"))), ["y"])
        assert frame.columns == ["y"]
        assert read(fold(frame, Rows("y")))[0] == as_rows([0, 1, 2, None, None, None])
    assert spark.range(3).count() == 3


ASKED = {"truth": "y", "prediction": "p", "metrics": ["mae"]}


def test_files_whose_types_differ_are_told_in_a_sentence(spark, tmp_path):
    """Instead of in the pages of Java; the folder itself can be read."""
    pq.write_table(pa.table({"y": [1, 2], "p": [1.0, 2.0]}), tmp_path / "a.parquet")
    pq.write_table(pa.table({"y": [Decimal("1.5"), Decimal("2.0")], "p": [1.0, 2.0]}), tmp_path / "b.parquet")
    with pytest.raises(FileError, match=r"must have columns of the same types; .*\[y\].* pass the folder") as caught:
        tm.evaluate_table(spark.read.parquet(str(tmp_path)), **ASKED)
    assert "\n" not in str(caught.value)
    assert tm.evaluate_table(tmp_path, **ASKED)["mae"] == 0.125


def test_a_stream_is_refused_with_what_to_do(spark):
    """It has no end, so there is no report of all rows."""
    stream = spark.readStream.format("rate").load()
    with pytest.raises(ParameterError, match=r"must be a frame that ends; got a stream of Spark.*foreachBatch"):
        tm.evaluate_table(stream, truth="value", prediction="value", metrics=["mae"])


def test_a_frame_of_pandas_on_spark_is_its_frame_of_spark(spark):
    """By what `to_spark` gives: pandas on Spark itself does not load with pandas 3."""
    frame = type("DataFrame", (), {"__module__": "pyspark.pandas.frame", "to_spark": lambda self: numbers(spark)})()
    assert tm.evaluate_table(frame, **ASKED) == tm.evaluate_table(numbers(spark), **ASKED)


def test_what_is_not_a_frame_is_refused(spark):
    """A session, or groups."""
    for source in (spark, spark.range(3).groupBy("id")):
        with pytest.raises(ParameterError, match="`source` must be a table, a path"):
            tm.evaluate_table(source, **ASKED)
