"""Dask data frames: each partition becomes a tally where it lies, and tallies are added eight at a time.

In a shuffle, a partition is split by ranges, and the task of a range picks its piece, so pieces travel one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar
from uuid import uuid4

from tallymark.errors import ParameterError, TallymarkError, Text
from tallymark.optional_packages import needed
from tallymark.sources.arrow import load
from tallymark.sources.base import Chunk, Job, ProgressCallback, ShuffleJob, chunks
from tallymark.sources.schema_cast import cast_batch, select_fields
from tallymark.sources.tables import array_of, type_of
from tallymark.sources.worker_errors import WorkerError, catch_error, use_one_thread

T = TypeVar("T")

_FAN_IN = 8
_RETRIES = 3


def schema(source: Any) -> Any:
    """Names and types of the columns, from what Dask knows beforehand. An object column is one of texts, as in Dask."""
    meta = source._meta
    named = [place for place, name in enumerate(meta.columns) if isinstance(name, str)]
    return load("pyarrow").schema([(meta.columns[place], type_of(meta.iloc[:, place])) for place in named])


def fold(source: Any, job: Job, progress: ProgressCallback | None = None) -> bytes:
    """The tally of all rows, on the cluster that Dask is connected to, or by its own scheduler on this machine."""
    join = _load().delayed(_add, pure=False)
    shared, partitions = _partition_tasks(source, job, _fold)
    level = partitions
    while len(level) > 1:
        level = [join(shared, level[at : at + _FAN_IN]) for at in range(0, len(level), _FAN_IN)]
    found: bytes = _compute(source, partitions, level[0], progress)
    return found


def shuffle(source: Any, job: ShuffleJob, progress: ProgressCallback | None = None) -> list[bytes]:
    """The result of every range."""
    dask = _load()
    pick, finish, gather = (dask.delayed(each, pure=False) for each in (_pick, _finish_range, _gather))
    shared, partitions = _partition_tasks(source, job, _split)
    ranges = [finish(shared, place, [pick(task, place) for task in partitions]) for place in range(job.ranges)]
    found: list[bytes] = _compute(source, partitions, gather(ranges), progress)
    return found


def _partition_tasks(source: Any, job: Job | ShuffleJob, work: Callable[..., Any]) -> tuple[Any, list[Any]]:
    """The job as all tasks share it, and a task for each partition."""
    dask = _load()
    types = select_fields(schema(source), job.columns)
    parts = source[list(job.columns)].to_delayed()
    remote = _client(source) is not None
    shared = dask.delayed(job, traverse=False, name=f"tallymark-job-{uuid4()}")
    task = dask.delayed(_run_on_partition, pure=False)
    return shared, [task(part, place, shared, types, work, remote) for place, part in enumerate(parts)]


def _compute(source: Any, partitions: list[Any], root: Any, progress: ProgressCallback | None) -> Any:
    """The result of the root, wherever Dask runs it."""
    client = _client(source)
    done = (
        _compute_on_cluster(client, partitions, root, progress)
        if client
        else _compute_locally(source, partitions, root, progress)
    )
    if isinstance(done, WorkerError):
        raise done.error
    return done


def _fold(job: Job, rows: Iterable[Chunk]) -> bytes:
    return job.fold(rows)


def _split(job: ShuffleJob, rows: Iterable[Chunk]) -> list[bytes]:
    return job.split(rows)


def _run_on_partition(part: Any, place: int, job: Any, types: Any, does: Callable[..., Any], remote: bool) -> Any:
    """The result of a partition. A cluster would retry after an error, so the error is returned as a value."""

    def work() -> Any:
        batch = cast_batch([array_of(part[name], name) for name in types.names], types)
        return does(job, chunks([batch], f"partition {place}"))

    if not remote:
        return work()
    use_one_thread()
    return catch_error(work)


def _add(job: Job, pieces: Sequence[bytes | WorkerError]) -> bytes | WorkerError:
    """The sum of several pieces."""
    return _unless_failed(pieces, job.add)


def _pick(by_range: list[bytes] | WorkerError, place: int) -> bytes | WorkerError:
    """The piece of a range."""
    return by_range if isinstance(by_range, WorkerError) else by_range[place]


def _finish_range(job: ShuffleJob, place: int, pieces: Sequence[bytes | WorkerError]) -> bytes | WorkerError:
    """The result of a range."""
    return _unless_failed(pieces, lambda filled: job.finish(place, filter(None, filled)))


def _gather(ranges: Sequence[bytes | WorkerError]) -> list[bytes] | WorkerError:
    """The results of all ranges."""
    return _unless_failed(ranges, list)


def _unless_failed(pieces: Sequence[bytes | WorkerError], work: Callable[[list[bytes]], T]) -> T | WorkerError:
    """The result of work on pieces; the first error among them, if there is one."""
    results = [piece for piece in pieces if not isinstance(piece, WorkerError)]
    if len(results) < len(pieces):
        return next(piece for piece in pieces if isinstance(piece, WorkerError))
    return catch_error(lambda: work(results))


def _compute_on_cluster(client: Any, partitions: list[Any], root: Any, progress: ProgressCallback | None) -> Any:
    """The result of the root. The first partition that fails, and an interrupt, end all of it."""
    from distributed import as_completed

    *folding, whole = client.compute([*partitions, root], retries=_RETRIES)
    waiting = as_completed(folding)
    folding.clear()  # a tally that is held here would stay in the memory of its worker after it was added
    try:
        for done, future in enumerate(waiting, 1):
            if future.status == "error" or future.type is WorkerError:
                return future.result()
            if progress is not None:
                progress(done, len(partitions))
        return whole.result()
    finally:
        client.cancel([*waiting.futures, whole])


def _compute_locally(source: Any, partitions: list[Any], root: Any, progress: ProgressCallback | None) -> Any:
    """The result of the root by a scheduler of this machine, which stops at the first error."""
    from dask.callbacks import Callback

    keys, done = {task.key for task in partitions}, 0

    def count(key: Any, *_: Any) -> None:
        nonlocal done
        if key in keys:
            done += 1
            if progress is not None:
                progress(done, len(keys))

    try:
        with Callback(posttask=count):
            return root.compute(scheduler=_scheduler(source))
    except TallymarkError as error:
        raise error.with_traceback(None) from None  # the way through Dask says nothing


def _scheduler(source: Any) -> Any:
    """The scheduler that Dask would use now: as it was set, the cluster that is connected, or threads."""
    from dask.base import get_scheduler

    return get_scheduler(collections=[source])


def _client(source: Any) -> Any:
    """The connection to a cluster, if that runs graphs now."""
    owner = getattr(_scheduler(source), "__self__", None)
    return owner if hasattr(owner, "cancel") else None


def _load() -> Any:
    with needed("evaluating Dask data frames", "dask", extra="dask"):
        import dask
        import dask.dataframe
    return dask


def open_files(paths: list[str], columns: Sequence[str]) -> Any:
    """Columns of Parquet files, as Dask reads them."""
    return _load().dataframe.read_parquet(paths, columns=list(columns))


@contextmanager
def connected(scheduler: str | None = None) -> Iterator[None]:
    """With the cluster at an address, or with processes of this machine, which end with it."""
    with needed("a Dask cluster", "distributed", extra="dask"):
        from distributed import Client
    _load()
    settings = {"processes": True, "dashboard_address": "127.0.0.1:0"} if scheduler is None else {}
    try:
        client = Client(scheduler, **settings)
    except (OSError, ValueError) as error:
        reason = str(error) or type(error).__name__
        raise ParameterError(
            Text(
                "{scheduler} must be the address of a Dask scheduler, such as tcp://host:8786; "
                "{} could not be reached: {}",
                repr(scheduler),
                reason.splitlines()[0],
            ),
            argument="scheduler",
        ) from error
    with client:
        yield
