"""A progress bar for long work, on a terminal only."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from tallymark.sources.base import ProgressCallback

LONG = 16 << 20  # bytes from which on reading takes a while


@contextmanager
def progress_bar(what: str, long: int = LONG) -> Iterator[ProgressCallback | None]:
    """A callback that shows a bar where the work takes a while; None where standard error is not a terminal."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield None
        return
    try:
        from rich.console import Console
        from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar
    except ImportError:  # a bar is not worth an error
        yield None
        return
    parts = TextColumn("{task.description}", markup=False), BarColumn(), TaskProgressColumn(), TimeRemainingColumn()
    bar = Bar(*parts, console=Console(stderr=True), transient=True)
    shown = "standard input" if what == "-" else what
    task = bar.add_task(f"reading {shown}", total=None)

    def update(done: int, size: int) -> None:
        if size >= long:
            bar.start()
            bar.update(
                task, completed=done, total=size, description="computing" if done >= size else f"reading {shown}"
            )

    try:
        yield update
    finally:
        bar.stop()
