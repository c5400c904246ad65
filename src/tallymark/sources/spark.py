"""Spark data frames, classic or through Spark Connect: a tally of each partition, added in groups by a shuffle."""

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
from tallymark.sources.base import Chunk, Exchange, Job, ProgressCallback, chunks
from tallymark.sources.schema_cast import gathered, narrowed, uniform
from tallymark.sources.worker_errors import one_thread, refusing, telling

_SECONDS = 0.5  # between two questions


@contextmanager
def watched(session: Any, progress: ProgressCallback | None) -> Iterator[None]:
    """Tells how far Spark is with what this thread runs in here, and at its end that all is done."""
    if progress is None:
        yield
        return
    tasks = _Tasks(progress)
    context = getattr(session, "sparkContext", None)  # which is with the server in Spark Connect
    with _told(session, tasks) if context is None else _asked(context, tasks):
        yield
    tasks.end()


class _Tasks:
    """The tasks of every stage that has begun, and how many of them are done."""

    def __init__(self, progress: ProgressCallback) -> None:
        self._progress = progress
        self._stages: dict[int, tuple[int, int]] = {}
        self._shown = 0

    def see(self, stages: Iterable[tuple[int, int, int]]) -> None:
        """Take the numbers of stages, their tasks and those that are done, and tell if there are more."""
        for stage, tasks, done in stages:
            # One of which nothing is done may be one that Spark skips, since it has its outcome.
            if done > self._stages.get(stage, (0, 0))[1]:
                self._stages[stage] = tasks, done
        done = sum(done for _, done in self._stages.values())
        if done > self._shown:
            self._shown = done
            self._progress(done, self._whole())

    def end(self) -> None:
        """Tell that all is done."""
        self._progress(self._whole(), self._whole())

    def is_done(self, stage: int) -> bool:
        """Whether there is nothing more to learn of a stage."""
        tasks, done = self._stages.get(stage, (1, 0))
        return tasks == done

    def _whole(self) -> int:
        """All tasks, and one for what the driver does at the end: what has begun may be done while more is to come."""
        return sum(tasks for tasks, _ in self._stages.values()) + 1


@contextmanager
def _told(session: Any, tasks: _Tasks) -> Iterator[None]:
    """By Spark Connect, whose client calls all handlers for all that it runs, each time in the thread that waits."""
    mine = threading.get_ident()

    def hear(stages: Any = None, **_: Any) -> None:
        if threading.get_ident() == mine:
            tasks.see((each.stage_id, each.num_tasks, each.num_completed_tasks) for each in stages or ())

    session.registerProgressHandler(hear)
    try:
        yield
    finally:
        with suppress(ValueError):  # which somebody else has removed with all others
            session.removeProgressHandler(hear)


@contextmanager
def _asked(context: Any, tasks: _Tasks) -> Iterator[None]:
    """By a thread that asks a classic session. What `progress` raises there ends the jobs, and is raised here."""
    asking = _Asking(context, tasks, f"tallymark-progress-{uuid4()}")
    thread = threading.Thread(target=asking.run, name=asking.tag, daemon=True)
    context.addJobTag(asking.tag)
    try:
        thread.start()
        yield
    except Exception:  # that the jobs were cancelled, where a fault of `progress` is why
        if asking.fault is None:
            raise
    finally:
        asking.ended.set()
        with suppress(Exception):  # a session that was stopped has none
            context.removeJobTag(asking.tag)
        thread.join()
    if asking.fault is not None:
        raise asking.fault


class _Asking:
    """Asks for the stages of jobs with a tag, until it has ended."""

    def __init__(self, context: Any, tasks: _Tasks, tag: str) -> None:
        self.tag = tag
        self.ended = threading.Event()
        self.fault: BaseException | None = None
        self._context = context
        self._tasks = tasks

    def run(self) -> None:
        """What the thread does."""
        while not self.ended.wait(_SECONDS):
            if self.fault is not None:
                with suppress(Exception):
                    self._context.cancelJobsWithTag(self.tag)  # again and again, since Spark may start the next one
                continue
            found = self._stages()
            try:
                self._tasks.see(found)
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


_TOGETHER = 8
_LARGEST = 32 * 2**20
_TRAVELLING = "together long, tally long, place long, bytes binary"


def schema(source: Any) -> Any:
    """Names and types of the columns."""
    pa = load("pyarrow")
    return pa.schema([(field.name, _type(field.dataType)) for field in source.schema.fields])


def fold(source: Any, job: Job, progress: ProgressCallback | None = None) -> bytes:
    """The tally of all rows, where Spark has them."""
    folded = _mapped(source, job, _Folding(job, narrowed(schema(source), job.columns), _LARGEST))
    added = folded.repartition("together").mapInArrow(_Adding(job, _LARGEST), _TRAVELLING)
    tallies = [tally for _, tally in _ran(source, added, progress)]
    return job.add(tallies) if tallies else job.fold([])


def exchange(source: Any, job: Exchange, progress: ProgressCallback | None = None) -> list[bytes]:
    """What is left of every range."""
    dealt = _mapped(source, job, _Dealing(job, narrowed(schema(source), job.columns), _LARGEST))
    ordered = dealt.repartition("together").sortWithinPartitions("together")
    found = dict(_ran(source, ordered.mapInArrow(_Closing(job, _LARGEST), _TRAVELLING), progress))
    return [found[place] if place in found else job.close(place, []) for place in range(job.ranges)]


def _mapped(source: Any, job: Job | Exchange, work: _Folding) -> Any:
    """What a worker makes of each partition."""
    # By other names, since mapInArrow does not quote them.
    named = [source[_quoted(name)].alias(f"column_{place}") for place, name in enumerate(job.columns)]
    return source.select(*named).mapInArrow(work, _TRAVELLING)


def _ran(source: Any, frame: Any, progress: ProgressCallback | None) -> list[tuple[int, bytes]]:
    """What Spark brings to the driver, by number."""
    session = source.sparkSession
    with telling(), watched(session, progress), _cancelled_when_interrupted(session):
        return list(_whole(_collected(frame)).items())


def _collected(frame: Any) -> Any:
    """The batches of a data frame, on the driver."""
    try:
        return frame.toArrow().to_batches()
    except Exception as error:  # by its text, since classic Spark and Connect have none in common
        if "spark.driver.maxResultSize" not in str(error):
            raise
        raise StateError(
            "the tally is larger than Spark lets its driver read; raise spark.driver.maxResultSize, choose metrics of "
            "fixed size, or have the scores walked in ranges (score_ranges=64)"
        ) from error


class _Folding:
    """On a worker: the tally of a partition."""

    def __init__(self, job: Any, types: Any, largest: int) -> None:
        self.job = job
        self.types = types
        self.largest = largest

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        from pyspark import TaskContext

        one_thread()
        number = TaskContext.get().partitionId()
        with refusing():
            rows = gathered(uniform(batch.columns, self.types) for batch in batches)
            made = self.made(number, chunks(rows, f"partition {number}"))
        for together, piece in made:
            yield from _rows(together, number, piece, self.largest)

    def made(self, number: int, rows: Iterable[Chunk]) -> list[tuple[int, bytes]]:
        """What goes to others, and with what it comes together there."""
        return [(number // _TOGETHER, self.job.fold(rows))]


class _Dealing(_Folding):
    """On a worker: the pieces of a partition, by range."""

    def made(self, number: int, rows: Iterable[Chunk]) -> list[tuple[int, bytes]]:
        return list(enumerate(self.job.deal(rows)))


class _Adding:
    """On a worker: the tally of those that came together."""

    def __init__(self, job: Job, largest: int) -> None:
        self.job = job
        self.largest = largest

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        one_thread()
        tallies = _whole(batches)
        if tallies:
            with refusing():
                tally = self.job.add(list(tallies.values()))
            yield from _rows(0, min(tallies), tally, self.largest)


class _Closing:
    """On a worker: what is left of ranges that came one after the other."""

    def __init__(self, job: Exchange, largest: int) -> None:
        self.job = job
        self.largest = largest

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        one_thread()
        rows = (batch.slice(row, 1) for batch in batches for row in range(batch.num_rows))
        for place, of_range in groupby(rows, key=lambda row: row.column("together")[0].as_py()):
            with refusing():
                closed = self.job.close(place, _whole(of_range).values())
            yield from _rows(place, place, closed, self.largest)


def _rows(together: int, number: int, tally: bytes, largest: int) -> Iterator[Any]:
    """A tally as batches of one row, which holds at most so many bytes of it."""
    pa = load("pyarrow")
    for place, start in enumerate(range(0, len(tally), largest)):
        row = [together, number, place]
        columns = [pa.array([value], pa.int64()) for value in row]
        columns.append(pa.array([tally[start : start + largest]], pa.binary()))
        yield pa.RecordBatch.from_arrays(columns, names=["together", "tally", "place", "bytes"])


def _whole(batches: Iterable[Any]) -> dict[int, bytes]:
    """Tallies by their number, from rows in any order."""
    found: dict[int, dict[int, bytes]] = {}
    for batch in batches:
        for row in batch.to_pylist():
            found.setdefault(row["tally"], {})[row["place"]] = row["bytes"]
    return {number: b"".join(pieces[place] for place in range(len(pieces))) for number, pieces in sorted(found.items())}


@contextmanager
def _cancelled_when_interrupted(session: Any) -> Iterator[None]:
    """What Spark runs for this thread in here ends with it."""
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
        told = (str(error).splitlines() or [type(error).__name__])[0]
        raise ParameterError(
            Text(
                "{scheduler} must be a master of Spark, such as local[4] or spark://host:7077, "
                "or a remote, such as sc://host; {} could not be reached: {}",
                repr(scheduler),
                told,
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
