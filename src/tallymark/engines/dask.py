"""Dask data frames: each partition becomes a tally where it lies, and tallies are added eight at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from uuid import uuid4

from tallymark.engines.job import Job, Progress
from tallymark.engines.packages import load
from tallymark.engines.pandas_columns import array_of, type_of
from tallymark.engines.refusals import Refusal, attempt, one_thread
from tallymark.engines.uniform import narrowed, uniform
from tallymark.errors import ParameterError, TallymarkError
from tallymark.packages import needed

_TOGETHER = 8
_RETRIES = 3


def schema(source: Any) -> Any:
    """Names and types of the columns, from what Dask knows beforehand. An object column is one of texts, as in Dask."""
    meta = source._meta
    named = [place for place, name in enumerate(meta.columns) if isinstance(name, str)]
    return load("pyarrow").schema([(meta.columns[place], type_of(meta.iloc[:, place])) for place in named])


def fold(source: Any, job: Job, progress: Progress | None = None) -> bytes:
    """The tally of all rows, on the cluster that Dask is connected to, or by its own scheduler on this machine."""
    dask = _load()
    types = narrowed(schema(source), job.columns)
    parts = source[list(job.columns)].to_delayed()
    client = _client(source)
    shared = dask.delayed(job, traverse=False, name=f"tallymark-job-{uuid4()}")
    leaf, join = dask.delayed(_fold, pure=False), dask.delayed(_add, pure=False)
    leaves = [leaf(part, shared, types, client is not None) for part in parts]
    level = leaves
    while len(level) > 1:
        level = [join(shared, level[at : at + _TOGETHER]) for at in range(0, len(level), _TOGETHER)]
    done = _on_cluster(client, leaves, level[0], progress) if client else _here(source, leaves, level[0], progress)
    if isinstance(done, Refusal):
        raise done.original()
    return done


def _fold(part: Any, job: Job, types: Any, remote: bool) -> bytes | Refusal:
    """The tally of a partition. A cluster would try an error again, so it is handed over as what it is."""

    def work() -> bytes:
        return job.fold([uniform([array_of(part[name], name) for name in types.names], types)])

    if not remote:
        return work()
    one_thread()
    return attempt(work)


def _add(job: Job, pieces: Sequence[bytes | Refusal]) -> bytes | Refusal:
    """The tally of several; an error if one is."""
    tallies = [piece for piece in pieces if not isinstance(piece, Refusal)]
    if len(tallies) < len(pieces):
        return next(piece for piece in pieces if isinstance(piece, Refusal))
    return attempt(lambda: job.add(tallies))


def _on_cluster(client: Any, leaves: list[Any], root: Any, progress: Progress | None) -> bytes | Refusal:
    """What the root gives. The first partition that is refused, and an interrupt, end all of it."""
    from distributed import as_completed

    *folding, whole = client.compute([*leaves, root], retries=_RETRIES)
    waiting = as_completed(folding)
    folding.clear()  # a tally that is held here would stay in the memory of its worker after it was added
    try:
        for done, future in enumerate(waiting, 1):
            if future.status == "error" or future.type is Refusal:
                return _told(future)
            if progress is not None:
                progress(done, len(leaves))
        return _told(whole)
    finally:
        client.cancel([*waiting.futures, whole])


def _told(future: Any) -> bytes | Refusal:
    outcome: bytes | Refusal = future.result()
    return outcome


def _here(source: Any, leaves: list[Any], root: Any, progress: Progress | None) -> bytes | Refusal:
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
            outcome: bytes | Refusal = root.compute(scheduler=_scheduler(source))
    except TallymarkError as error:
        raise error.with_traceback(None) from None  # the way through Dask says nothing
    return outcome


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
            f"`scheduler` must be the address of a Dask scheduler, such as tcp://host:8786; {scheduler!r} could not be "
            f"reached: {told.splitlines()[0]}"
        ) from error
    with client:
        yield
