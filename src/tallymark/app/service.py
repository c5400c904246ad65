"""What every part of the app works with: settings, the database, files, the time, and how many may score at once."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable
from datetime import UTC, datetime

from tallymark.app.prometheus import PrometheusMetrics
from tallymark.app.settings import AppSettings
from tallymark.app.store.database import Database
from tallymark.app.store.files import FileStore


def utc_now() -> datetime:
    """The time."""
    return datetime.now(UTC)


class Service:
    """The parts of a running app."""

    def __init__(self, settings: AppSettings, clock: Callable[[], datetime] = utc_now) -> None:
        settings.folder.mkdir(parents=True, exist_ok=True)
        settings.folder.chmod(0o700)
        self.settings = settings
        self.database = Database(settings.database_url)
        self.files = FileStore(settings.folder)
        self.now = clock
        self.prometheus = PrometheusMetrics()
        self.name = secrets.token_hex(8)  # of this process, among others that work on the same queue
        self.scoring = threading.BoundedSemaphore(settings.scorers)
        self.hashing = threading.BoundedSemaphore(2)  # each hash takes 64 MB
        self.claiming = threading.Lock()
        self.busy: set[int] = set()  # submissions that a thread of this process works on
        self.wake = threading.Event()  # there is work for the worker

    def close(self) -> None:
        """Let go of the database."""
        self.database.close()
