"""Spark data frames, classic or through Spark Connect: a tally of each partition, merged in groups by a shuffle.

`fold` has a worker make the tally of each partition, brings eight of them together by their key (`_AddTallies`), and
adds what is left on the driver. `shuffle` brings the pieces of each range together instead.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import groupby
from typing import Any
from uuid import uuid4

from tallymark.errors import ParameterError, StateError, Text
from tallymark.optional_packages import needed
from tallymark.sources.arrow import load
from tallymark.sources.base import Chunk, Job, ProgressCallback, ShuffleJob, chunks
from tallymark.sources.schema_cast import cast_batch, combine_batches, select_fields
from tallymark.sources.worker_errors import decode_errors, encode_errors, use_one_thread

_POLL_SECONDS = 0.5  # between two polls


@contextmanager
def report_progress(session: Any, progress: ProgressCallback | None) -> Iterator[None]:
    """Report how far Spark is with what this thread runs in here, and at its end that all is done."""
    if progress is None:
        yield
        return
    tasks = _Tasks(progress)
    context = getattr(session, "sparkContext", None)  # which is with the server in Spark Connect
    with _listen(session, tasks) if context is None else _poll(context, tasks):
        yield
    tasks.end()


class _Tasks:
    """The tasks of every stage that has begun, and how many of them are done."""

    def __init__(self, progress: ProgressCallback) -> None:
        self._progress = progress
        self._stages: dict[int, tuple[int, int]] = {}
        self._reported = 0

    def update(self, stages: Iterable[tuple[int, int, int]]) -> None:
        """Take stages, their tasks and those that are done, and report if more are done."""
        for stage, tasks, done in stages:
            # One of which nothing is done may be one that Spark skips, since it has its outcome.
            if done > self._stages.get(stage, (0, 0))[1]:
                self._stages[stage] = tasks, done
        done = sum(done for _, done in self._stages.values())
        if done > self._reported:
            self._reported = done
            self._progress(done, self._all_tasks())

    def end(self) -> None:
        """Report that all is done."""
        self._progress(self._all_tasks(), self._all_tasks())

    def is_done(self, stage: int) -> bool:
        """Whether there is nothing more to learn of a stage."""
        tasks, done = self._stages.get(stage, (1, 0))
        return tasks == done

    def _all_tasks(self) -> int:
        """All tasks, and one for what the driver does at the end: what has begun may be done while more is to come."""
        return sum(tasks for tasks, _ in self._stages.values()) + 1


@contextmanager
def _listen(session: Any, tasks: _Tasks) -> Iterator[None]:
    """Progress of Spark Connect, whose client calls all handlers for all that it runs, in the thread that waits."""
    mine = threading.get_ident()

    def listener(stages: Any = None, **_: Any) -> None:
        if threading.get_ident() == mine:
            tasks.update((each.stage_id, each.num_tasks, each.num_completed_tasks) for each in stages or ())

    session.registerProgressHandler(listener)
    try:
        yield
    finally:
        with suppress(ValueError):  # which somebody else has removed with all others
            session.removeProgressHandler(listener)


@contextmanager
def _poll(context: Any, tasks: _Tasks) -> Iterator[None]:
    """Progress of a classic session, polled by a thread. What `progress` raises there ends the jobs, and is raised
    here."""
    poller = _Poller(context, tasks, f"tallymark-progress-{uuid4()}")
    thread = threading.Thread(target=poller.run, name=poller.tag, daemon=True)
    context.addJobTag(poller.tag)
    try:
        thread.start()
        yield
    except Exception:  # that the jobs were cancelled, where a fault of `progress` is why
        if poller.fault is None:
            raise
    finally:
        poller.ended.set()
        with suppress(Exception):  # a session that was stopped has none
            context.removeJobTag(poller.tag)
        thread.join()
    if poller.fault is not None:
        raise poller.fault


class _Poller:
    """Polls the stages of jobs with a tag, until it has ended."""

    def __init__(self, context: Any, tasks: _Tasks, tag: str) -> None:
        self.tag = tag
        self.ended = threading.Event()
        self.fault: BaseException | None = None
        self._context = context
        self._tasks = tasks

    def run(self) -> None:
        """What the thread does."""
        while not self.ended.wait(_POLL_SECONDS):
            if self.fault is not None:
                with suppress(Exception):
                    self._context.cancelJobsWithTag(self.tag)  # again and again, since Spark may start the next one
                continue
            found = self._stages()
            try:
                self._tasks.update(found)
            except BaseException as fault:  # to be raised where somebody waits
                self.fault = fault

    def _stages(self) -> list[tuple[int, int, int]]:
        """What is known of the stages. It is for show, so whatever Spark cannot say now is left out."""
        try:
            # Python's own tracker knows groups of jobs only, and a thread has one, which may be the caller's.
            jobs = self._context._jsc.sc().statusTracker().getJobIdsForTag(self.tag)
            tracker = self._context.statusTracker()
            known = [info for info in map(tracker.getJobInfo, jobs) if info is not None]
            stages = {stage for info in known for stage in info.stageIds if not self._tasks.is_done(stage)}
            seen = [info for info in map(tracker.getStageInfo, stages) if info is not None]
            return [(info.stageId, info.numTasks, info.numCompletedTasks) for info in seen]
        except Exception:  # of Java, or of a session that is ending
            return []


_FAN_IN = 8
_MAX_ROW_BYTES = 32 * 2**20
_ROW_SCHEMA = "key long, number long, part long, bytes binary"


def schema(source: Any) -> Any:
    """Names and types of the columns."""
    pa = load("pyarrow")
    return pa.schema([(field.name, _type(field.dataType)) for field in source.schema.fields])


def fold(source: Any, job: Job, progress: ProgressCallback | None = None) -> bytes:
    """The tally of all rows, where Spark has them."""
    folded = _map_partitions(
        source, job, _FoldPartition(job, select_fields(schema(source), job.columns), _MAX_ROW_BYTES)
    )
    added = folded.repartition("key").mapInArrow(_AddTallies(job, _MAX_ROW_BYTES), _ROW_SCHEMA)
    tallies = [tally for _, tally in _run(source, added, progress)]
    return job.add(tallies) if tallies else job.fold([])


def shuffle(source: Any, job: ShuffleJob, progress: ProgressCallback | None = None) -> list[bytes]:
    """The result of every range."""
    split = _map_partitions(
        source, job, _SplitPartition(job, select_fields(schema(source), job.columns), _MAX_ROW_BYTES)
    )
    ordered = split.repartition("key").sortWithinPartitions("key")
    found = dict(_run(source, ordered.mapInArrow(_FinishRanges(job, _MAX_ROW_BYTES), _ROW_SCHEMA), progress))
    return [found[place] if place in found else job.finish(place, []) for place in range(job.ranges)]


def _map_partitions(source: Any, job: Job | ShuffleJob, work: _FoldPartition) -> Any:
    """A data frame of the pieces that workers make of each partition."""
    # By other names, since mapInArrow does not quote them.
    named = [source[_quoted(name)].alias(f"column_{place}") for place, name in enumerate(job.columns)]
    return source.select(*named).mapInArrow(work, _ROW_SCHEMA)


def _run(source: Any, frame: Any, progress: ProgressCallback | None) -> list[tuple[int, bytes]]:
    """The pieces that Spark brings to the driver, by number."""
    session = source.sparkSession
    with decode_errors(), report_progress(session, progress), _cancel_on_interrupt(session):
        return list(_from_rows(_collect(frame)).items())


def _collect(frame: Any) -> Any:
    """The batches of a data frame, on the driver."""
    try:
        return frame.toArrow().to_batches()
    except Exception as error:  # by its text, since classic Spark and Connect have none in common
        if "spark.driver.maxResultSize" not in str(error):
            raise
        raise StateError(
            "the tally is larger than Spark lets its driver read; raise spark.driver.maxResultSize, choose metrics of "
            "fixed size, or process the scores in ranges (score_ranges=64)"
        ) from error


class _FoldPartition:
    """On a worker: the tally of a partition."""

    def __init__(self, job: Any, types: Any, max_row_bytes: int) -> None:
        self.job = job
        self.types = types
        self.max_row_bytes = max_row_bytes

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        from pyspark import TaskContext

        use_one_thread()
        number = TaskContext.get().partitionId()
        with encode_errors():
            rows = combine_batches(cast_batch(batch.columns, self.types) for batch in batches)
            results = self.results(number, chunks(rows, f"partition {number}"))
        for key, piece in results:
            yield from _to_rows(key, number, piece, self.max_row_bytes)

    def results(self, number: int, rows: Iterable[Chunk]) -> list[tuple[int, bytes]]:
        """The pieces of a partition, each with the key of the group in which it is added."""
        return [(number // _FAN_IN, self.job.fold(rows))]


class _SplitPartition(_FoldPartition):
    """On a worker: the pieces of a partition, by range."""

    def results(self, number: int, rows: Iterable[Chunk]) -> list[tuple[int, bytes]]:
        return list(enumerate(self.job.split(rows)))


class _AddTallies:
    """On a worker: the sum of the tallies with the same key."""

    def __init__(self, job: Job, max_row_bytes: int) -> None:
        self.job = job
        self.max_row_bytes = max_row_bytes

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        use_one_thread()
        tallies = _from_rows(batches)
        if tallies:
            with encode_errors():
                tally = self.job.add(list(tallies.values()))
            yield from _to_rows(0, min(tallies), tally, self.max_row_bytes)


class _FinishRanges:
    """On a worker: the results of ranges, whose rows come one range after the other."""

    def __init__(self, job: ShuffleJob, max_row_bytes: int) -> None:
        self.job = job
        self.max_row_bytes = max_row_bytes

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        use_one_thread()
        rows = (batch.slice(row, 1) for batch in batches for row in range(batch.num_rows))
        for place, of_range in groupby(rows, key=lambda row: row.column("key")[0].as_py()):
            with encode_errors():
                closed = self.job.finish(place, _from_rows(of_range).values())
            yield from _to_rows(place, place, closed, self.max_row_bytes)


def _to_rows(key: int, number: int, piece: bytes, max_row_bytes: int) -> Iterator[Any]:
    """A piece as batches of one row each, with at most so many bytes of it and the key that brings rows together."""
    pa = load("pyarrow")
    for part, start in enumerate(range(0, len(piece), max_row_bytes)):
        row = [key, number, part]
        columns = [pa.array([value], pa.int64()) for value in row]
        columns.append(pa.array([piece[start : start + max_row_bytes]], pa.binary()))
        yield pa.RecordBatch.from_arrays(columns, names=["key", "number", "part", "bytes"])


def _from_rows(batches: Iterable[Any]) -> dict[int, bytes]:
    """Pieces by their number, from rows in any order."""
    found: dict[int, dict[int, bytes]] = {}
    for batch in batches:
        for row in batch.to_pylist():
            found.setdefault(row["number"], {})[row["part"]] = row["bytes"]
    return {number: b"".join(parts[part] for part in range(len(parts))) for number, parts in sorted(found.items())}


@contextmanager
def _cancel_on_interrupt(session: Any) -> Iterator[None]:
    """Cancel what Spark runs for this thread in here, if it is interrupted."""
    tag = f"tallymark-{uuid4()}"
    session.addTag(tag)
    try:
        yield
    except BaseException as error:
        with suppress(Exception):  # a server that cannot be reached has nothing to cancel
            session.interruptTag(tag)
        if _is_interrupt(error):
            raise KeyboardInterrupt from None
        raise
    finally:
        with suppress(Exception):
            session.removeTag(tag)


def _is_interrupt(error: BaseException | None) -> bool:
    """Whether an interrupt is behind an error: Spark's own, about a job that was cancelled, may hide it."""
    return error is not None and (isinstance(error, KeyboardInterrupt) or _is_interrupt(error.__context__))


def _type(kind: Any) -> Any:
    """The Arrow type of a type of Spark; null where Arrow has none."""
    from pyspark.errors import PySparkTypeError
    from pyspark.sql.pandas.types import to_arrow_type

    try:
        return to_arrow_type(kind, timezone="UTC")
    except PySparkTypeError:  # which matters only if the column is read
        return load("pyarrow").null()


def open_files(paths: list[str], columns: Sequence[str]) -> Any:
    """Columns of Parquet files, as Spark reads them."""
    session = _session_class().active()
    return session.read.parquet(*paths).select(*map(_quoted, columns))


@contextmanager
def connected(scheduler: str | None = None) -> Iterator[None]:
    """With the master or the remote (sc://…) of this name, or with what Spark's own settings say.

    A session that was there before stays.
    """
    sessions = _session_class()
    before = sessions.getActiveSession()
    builder = sessions.builder
    if scheduler is not None:
        builder = builder.remote(scheduler) if scheduler.startswith("sc://") else builder.master(scheduler)
    try:
        session = before or builder.getOrCreate()
    except Exception as error:  # of Java, gRPC or Spark
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise ParameterError(
            Text(
                "{scheduler} must be a master of Spark, such as local[4] or spark://host:7077, "
                "or a remote, such as sc://host; {} could not be reached: {}",
                repr(scheduler),
                reason,
            ),
            argument="scheduler",
        ) from error
    try:
        yield
    finally:
        if before is None:
            session.stop()


def _quoted(name: str) -> str:
    return f"`{name.replace('`', '``')}`"


def _session_class() -> Any:
    with needed("evaluating Spark data frames", "pyspark", extra="spark"):
        from pyspark.sql import SparkSession
    return SparkSession
