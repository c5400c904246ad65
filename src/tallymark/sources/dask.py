"""Dask data frames: each partition becomes a tally where it lies, and tallies are added eight at a time.

In an exchange, tasks pick from what a partition was dealt to the piece of each range, so that pieces travel one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar
from uuid import uuid4

from tallymark.errors import ParameterError, TallymarkError, Text
from tallymark.optional_packages import needed
from tallymark.sources.arrow import load
from tallymark.sources.base import Chunk, Exchange, Job, ProgressCallback, chunks
from tallymark.sources.schema_cast import narrowed, uniform
from tallymark.sources.tables import array_of, type_of
from tallymark.sources.worker_errors import Refusal, attempt, one_thread

T = TypeVar("T")

_TOGETHER = 8
_RETRIES = 3


def schema(source: Any) -> Any:
    """Names and types of the columns, from what Dask knows beforehand. An object column is one of texts, as in Dask."""
    meta = source._meta
    named = [place for place, name in enumerate(meta.columns) if isinstance(name, str)]
    return load("pyarrow").schema([(meta.columns[place], type_of(meta.iloc[:, place])) for place in named])


def fold(source: Any, job: Job, progress: ProgressCallback | None = None) -> bytes:
    """The tally of all rows, on the cluster that Dask is connected to, or by its own scheduler on this machine."""
    join = _load().delayed(_add, pure=False)
    shared, leaves = _leaves(source, job, _fold)
    level = leaves
    while len(level) > 1:
        level = [join(shared, level[at : at + _TOGETHER]) for at in range(0, len(level), _TOGETHER)]
    found: bytes = _outcome(source, leaves, level[0], progress)
    return found


def exchange(source: Any, job: Exchange, progress: ProgressCallback | None = None) -> list[bytes]:
    """What is left of every range."""
    dask = _load()
    pick, close, gather = (dask.delayed(each, pure=False) for each in (_pick, _close, _gather))
    shared, leaves = _leaves(source, job, _deal)
    ranges = [close(shared, place, [pick(leaf, place) for leaf in leaves]) for place in range(job.ranges)]
    found: list[bytes] = _outcome(source, leaves, gather(ranges), progress)
    return found


def _leaves(source: Any, job: Job | Exchange, work: Callable[..., Any]) -> tuple[Any, list[Any]]:
    """The job as all tasks share it, and a task for each partition."""
    dask = _load()
    types = narrowed(schema(source), job.columns)
    parts = source[list(job.columns)].to_delayed()
    remote = _client(source) is not None
    shared = dask.delayed(job, traverse=False, name=f"tallymark-job-{uuid4()}")
    leaf = dask.delayed(_leaf, pure=False)
    return shared, [leaf(part, place, shared, types, work, remote) for place, part in enumerate(parts)]


def _outcome(source: Any, leaves: list[Any], root: Any, progress: ProgressCallback | None) -> Any:
    """What the root gives, wherever Dask runs it."""
    client = _client(source)
    done = _on_cluster(client, leaves, root, progress) if client else _here(source, leaves, root, progress)
    if isinstance(done, Refusal):
        raise done.error
    return done


def _fold(job: Job, rows: Iterable[Chunk]) -> bytes:
    return job.fold(rows)


def _deal(job: Exchange, rows: Iterable[Chunk]) -> list[bytes]:
    return job.deal(rows)


def _leaf(part: Any, place: int, job: Any, types: Any, does: Callable[..., Any], remote: bool) -> Any:
    """What becomes of a partition. A cluster would try an error again, so it is handed over as what it is."""

    def work() -> Any:
        batch = uniform([array_of(part[name], name) for name in types.names], types)
        return does(job, chunks([batch], f"partition {place}"))

    if not remote:
        return work()
    one_thread()
    return attempt(work)


def _add(job: Job, pieces: Sequence[bytes | Refusal]) -> bytes | Refusal:
    """The tally of several."""
    return _unless_refused(pieces, job.add)


def _pick(dealt: list[bytes] | Refusal, place: int) -> bytes | Refusal:
    """The piece of a range."""
    return dealt if isinstance(dealt, Refusal) else dealt[place]


def _close(job: Exchange, place: int, pieces: Sequence[bytes | Refusal]) -> bytes | Refusal:
    """What is left of a range."""
    return _unless_refused(pieces, lambda held: job.close(place, filter(None, held)))


def _gather(ranges: Sequence[bytes | Refusal]) -> list[bytes] | Refusal:
    """What is left of all ranges."""
    return _unless_refused(ranges, list)


def _unless_refused(pieces: Sequence[bytes | Refusal], work: Callable[[list[bytes]], T]) -> T | Refusal:
    """What work makes of pieces; an error if one is."""
    held = [piece for piece in pieces if not isinstance(piece, Refusal)]
    if len(held) < len(pieces):
        return next(piece for piece in pieces if isinstance(piece, Refusal))
    return attempt(lambda: work(held))


def _on_cluster(client: Any, leaves: list[Any], root: Any, progress: ProgressCallback | None) -> Any:
    """What the root gives. The first partition that is refused, and an interrupt, end all of it."""
    from distributed import as_completed

    *folding, whole = client.compute([*leaves, root], retries=_RETRIES)
    waiting = as_completed(folding)
    folding.clear()  # a tally that is held here would stay in the memory of its worker after it was added
    try:
        for done, future in enumerate(waiting, 1):
            if future.status == "error" or future.type is Refusal:
                return future.result()
            if progress is not None:
                progress(done, len(leaves))
        return whole.result()
    finally:
        client.cancel([*waiting.futures, whole])


def _here(source: Any, leaves: list[Any], root: Any, progress: ProgressCallback | None) -> Any:
    """What the root gives by a scheduler of this machine, which stops at the first error."""
    from dask.callbacks import Callback

    keys, done = {leaf.key for leaf in leaves}, 0

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
    """What runs a graph of Dask now: as it was set, the cluster that is connected, or threads."""
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
        told = str(error) or type(error).__name__
        raise ParameterError(
            Text(
                "{scheduler} must be the address of a Dask scheduler, such as tcp://host:8786; "
                "{} could not be reached: {}",
                repr(scheduler),
                told.splitlines()[0],
            ),
            argument="scheduler",
        ) from error
    with client:
        yield
