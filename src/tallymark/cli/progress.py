"""How far long work is, for a person who watches; a pipe hears nothing."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from tallymark.sources.streams import Progress

LONG = 16 << 20  # bytes from which on reading takes a while


@contextmanager
def watched(what: str, long: int = LONG) -> Iterator[Progress | None]:
    """Something to tell how much of how much is read, which shows a bar where it takes a while; None where nobody
    watches."""
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

    def tell(done: int, size: int) -> None:
        if size >= long:
            bar.start()
            bar.update(
                task, completed=done, total=size, description="computing" if done >= size else f"reading {shown}"
            )

    try:
        yield tell
    finally:
        bar.stop()
