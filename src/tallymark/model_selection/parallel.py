"""Runs the same function on many splits: one after another, in threads or in processes.

Processes are spawned. A forked process may hang in the threads of the libraries that models use.
"""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from tallymark.data.arguments import check_choice
from tallymark.errors import ParameterError
from tallymark.intervals.settings import check_whole

BACKENDS = ("processes", "threads")
R = TypeVar("R")
_task: Any = None  # of a worker process
_run: Any = None


def run_jobs(run: Callable[[Any, Any], R], task: Any, splits: Sequence[Any], n_jobs: int, backend: str) -> Iterator[R]:
    """run(task, piece) for every piece, in their order."""
    check_choice("backend", backend, BACKENDS)
    workers = min(_count(n_jobs), len(splits))
    if workers == 1:
        yield from (run(task, split) for split in splits)
        return
    from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor  # slow to load, and few ask

    if backend == "threads":
        with ThreadPoolExecutor(workers) as pool:
            yield from pool.map(lambda split: run(task, split), splits)
        return
    import multiprocessing
    from concurrent.futures.process import BrokenProcessPool

    packed = _pack(run, task)
    # A forked process may hang in the threads of the libraries that models use.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, context, _start, (packed,)) as pool:
        try:
            yield from pool.map(_run_split, splits)
        except BrokenProcessPool as error:
            raise ParameterError(
                argument="n_jobs",
                expected="be 1 here, since other processes ended before they were done",
                hint="They load the script that starts them: what it does must stand under `if __name__ "
                '== "__main__":`. Or pass backend="threads" to stay in this process',
            ) from error


def _count(n_jobs: int) -> int:
    if n_jobs == -1 and not isinstance(n_jobs, bool):
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    check_whole("n_jobs", n_jobs, 1, 1024, " or -1 for all CPUs")
    return int(n_jobs)


def _pack(run: Any, task: Any) -> bytes:
    try:
        return pickle.dumps((run, task))
    except Exception as error:  # what is packed may raise anything
        raise ParameterError(
            argument="trainer",
            expected=f"be something that other processes can load, such as a function of a module: {error}",
            hint='Pass backend="threads" to stay in this process',
        ) from error


def _start(packed: bytes) -> None:
    global _run, _task
    _run, _task = pickle.loads(packed)


def _run_split(split: Any) -> Any:
    return _run(_task, split)
