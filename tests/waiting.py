"""What tests wait for that start threads and processes: a condition, never a time."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

LIMIT = 120  # seconds, which only keep a test from waiting for ever: a busy machine may stand still for many


def until(done: Callable[[], object]) -> None:
    """Wait until something is so."""
    end = time.monotonic() + LIMIT
    while not done():
        assert time.monotonic() < end, f"it took more than {LIMIT} seconds"
        time.sleep(0.02)


def until_midnight_is_far() -> None:
    """Wait for the next day where this one ends soon: a quota that is counted by days would begin anew in a test."""
    now = datetime.now(UTC)
    left = datetime(now.year, now.month, now.day, tzinfo=UTC) + timedelta(days=1) - now
    if left < timedelta(minutes=5):
        time.sleep(left.total_seconds() + 1)


@contextmanager
def free_port() -> Iterator[int]:
    """A port for a server. It stays taken, so that nobody else is given it before the server is there; that does not
    keep a server from listening, as long as both allow it."""
    with socket.socket() as held:
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        held.bind(("127.0.0.1", 0))
        yield held.getsockname()[1]
