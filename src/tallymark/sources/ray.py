"""Ray datasets: each block becomes a tally where it lies, and tallies are added eight at a time by plain tasks.

In a shuffle, a task for each block returns as many pieces as there are ranges, and a task for each range takes its own.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from tallymark.errors import ParameterError, Text
from tallymark.optional_packages import needed
from tallymark.sources.arrow import load
from tallymark.sources.base import Chunk, Job, ProgressCallback, ShuffleJob, chunks
from tallymark.sources.schema_cast import cast_batch, combine_batches, select_fields
from tallymark.sources.tables import array_of, type_of
from tallymark.sources.worker_errors import decode_errors, encode_errors, use_one_thread

_FAN_IN = 8
_SUBMIT_SECONDS = 1.0  # seconds, far more than a task takes to leave this process


def schema(source: Any) -> Any:
    """Names and types of the columns. Where a dataset does not know them, Ray makes its first block."""
    pa = load("pyarrow")
    known = source.schema()
    if known is None:
        return pa.schema([])
    if isinstance(known.base_schema, pa.Schema):
        return known.base_schema
    import pandas as pd

    kinds = zip(known.base_schema.names, known.base_schema.types, strict=True)
    return pa.schema([(name, type_of(pd.Series([], dtype=kind))) for name, kind in kinds])


def fold(source: Any, job: Job, progress: ProgressCallback | None = None) -> bytes:
    """The tally of all rows, where Ray has them; blocks are folded as they are made, and not kept."""
    ray = _load()
    _check_blocks(source)
    given = {"job": job, "types": select_fields(schema(source), job.columns)}
    tallies = source.select_columns(list(job.columns)).map_batches(
        _fold, batch_size=None, batch_format=None, zero_copy_batch=True, fn_kwargs=given
    )
    join, shared = ray.remote(_add), ray.put(job)
    waiting: deque[Any] = deque()  # what is not added yet; oldest first, so that they make a tree
    done, known = 0, _known_blocks(source)

    def add_oldest() -> None:
        waiting.append(join.remote(shared, *[waiting.popleft() for _ in range(min(_FAN_IN, len(waiting)))]))

    with decode_errors():
        try:
            bundles = tallies.iter_internal_ref_bundles()
            for bundle in bundles:
                waiting.extend(bundle.block_refs)
                done += len(bundle.block_refs)
                if progress is not None:
                    progress(done, max(known, done))
                while len(waiting) >= 2 * _FAN_IN:
                    add_oldest()
            add_oldest()
            while len(waiting) > 1:
                add_oldest()
            whole: bytes = ray.get(waiting[0])
        except BaseException:
            _cancel(ray, list(waiting))
            raise
        finally:
            bundles = None  # which ends what still runs
    return whole


def shuffle(source: Any, job: ShuffleJob, progress: ProgressCallback | None = None) -> list[bytes]:
    """The result of every range; blocks are split as they are made, and not kept."""
    ray = _load()
    _check_blocks(source)
    split, finish, shared = (
        ray.remote(_split).options(num_returns=1 + job.ranges),
        ray.remote(_finish_range),
        ray.put(job),
    )
    types = select_fields(schema(source), job.columns)
    done, known = 0, _known_blocks(source)
    most = 2 * int(ray.cluster_resources().get("CPU", 1))  # blocks that wait in memory to be split
    running: list[Any] = []
    pieces: list[list[Any]] = [[] for _ in range(job.ranges)]

    def end_some(left: int) -> None:
        while len(running) > left:
            ended, _ = ray.wait(running)
            ray.get(ended)  # which raises what the task has met
            running.remove(*ended)

    with decode_errors():
        try:
            bundles = source.select_columns(list(job.columns)).iter_internal_ref_bundles()
            for bundle in bundles:
                for block in bundle.block_refs:
                    task, *pieces_of_block = split.remote(block, shared, types)
                    running.append(task)
                    for range_pieces, piece in zip(pieces, pieces_of_block, strict=True):
                        range_pieces.append(piece)
                    end_some(most)
                    done += 1
                    if progress is not None:
                        progress(done - len(running), max(known, done))
            end_some(0)
            running += [finish.remote(shared, place, *range_pieces) for place, range_pieces in enumerate(pieces)]
            pieces.clear()
            found: list[bytes] = ray.get(running)
        except BaseException:
            _cancel(ray, running)
            raise
        finally:
            bundles = None  # which ends what still runs
    if progress is not None:
        progress(done, done)
    return found


def _cancel(ray: Any, tasks: list[Any]) -> None:
    """Cancel what is not done. Ray dies where this overtakes the submission of a task, so it waits for that first."""
    if tasks:
        _, left = ray.wait(tasks, num_returns=len(tasks), timeout=_SUBMIT_SECONDS, fetch_local=False)
        for task in left:
            ray.cancel(task)


def _check_blocks(source: Any) -> None:
    if source.context.max_errored_blocks:
        raise ParameterError("a Ray dataset must not lose blocks: set DataContext.max_errored_blocks to 0")


def _fold(block: Any, job: Job, types: Any) -> Any:
    """On a worker: the tally of a block."""
    use_one_thread()
    pa = load("pyarrow")
    with encode_errors():
        return pa.table({"tally": pa.array([job.fold(_chunks(block, types))], pa.large_binary())})


def _split(block: Any, job: ShuffleJob, types: Any) -> list[bytes]:
    """On a worker: a mark that it is done, and then the pieces of a block by range."""
    use_one_thread()
    with encode_errors():
        return [b"", *job.split(_chunks(block, types))]


def _finish_range(job: ShuffleJob, place: int, *pieces: bytes) -> bytes:
    """On a worker: the result of a range."""
    use_one_thread()
    with encode_errors():
        return job.finish(place, filter(None, pieces))


def _chunks(block: Any, types: Any) -> Iterator[Chunk]:
    """The rows of a block of Arrow or pandas. Ray has no numbers for blocks, so errors show the first row of theirs."""
    if isinstance(block, load("pyarrow").Table):
        batches = [cast_batch(batch.columns, types) for batch in block.select(types.names).to_batches()]
    else:
        batches = [cast_batch([array_of(block[name], name) for name in types.names], types)]
    rows = [row for batch in batches[:1] for row in batch.slice(0, 1).to_pylist()]
    shown = ", ".join(f"{name}={value!r}" for row in rows for name, value in row.items())
    return chunks(combine_batches(batches), f"the block that begins with ({shown[:200]})")


def _add(job: Job, *pieces: Any) -> bytes:
    """On a worker: the tally of several, which are blocks of tallies or what was added before."""
    use_one_thread()
    tallies: list[bytes] = []
    for piece in pieces:
        tallies += [piece] if isinstance(piece, bytes) else piece["tally"].to_pylist() if piece.num_rows else []
    with encode_errors():
        return job.add(tallies) if tallies else job.fold([])


def _known_blocks(source: Any) -> int:
    """How many blocks there are, where Ray knows before it makes them."""
    try:
        return int(source.num_blocks())
    except NotImplementedError:  # Ray's way to say that it does not know yet
        return 0


def open_files(paths: list[str], columns: Sequence[str]) -> Any:
    """Columns of Parquet files, as Ray reads them."""
    return _load().data.read_parquet(paths).select_columns(list(columns))


@contextmanager
def connected(scheduler: str | None = None) -> Iterator[None]:
    """With the cluster at an address, or by Ray's own settings: RAY_ADDRESS, else processes of this machine.

    A connection that was there before stays.
    """
    ray = _load()
    if ray.is_initialized():
        yield
        return
    try:
        ray.init(address=scheduler, include_dashboard=None if scheduler else False, log_to_driver=False)
    except (ConnectionError, ValueError, RuntimeError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise ParameterError(
            Text(
                "{scheduler} must be the address of a Ray cluster, such as host:6379 or "
                "ray://host:10001; {} could not be reached: {}",
                repr(scheduler),
                reason,
            ),
            argument="scheduler",
        ) from error
    try:
        yield
    finally:
        ray.shutdown()


def _load() -> Any:
    with needed("evaluating Ray datasets", "ray", extra="ray"):
        import ray
        import ray.data
    return ray
