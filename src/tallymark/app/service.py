"""What all parts of a running app share: settings, database, files, clock, and limits on concurrent work."""

from __future__ import annotations

import os
import secrets
import threading
from collections.abc import Callable
from datetime import UTC, datetime

from tallymark.app.prometheus import PrometheusMetrics
from tallymark.app.settings import AppSettings
from tallymark.app.store.database import Database
from tallymark.app.store.files import FileStore


def utc_now() -> datetime:
    """The current time in UTC."""
    return datetime.now(UTC)


class Service:
    """The shared parts of a running app."""

    def __init__(self, settings: AppSettings, clock: Callable[[], datetime] = utc_now) -> None:
        settings.folder.mkdir(0o700, parents=True, exist_ok=True)  # a folder that exists keeps its mode; its content
        if not settings.database:  # is for this user only, as are the log and the memory that SQLite puts beside it
            os.close(os.open(settings.folder / "tallymark.db", os.O_RDWR | os.O_CREAT, 0o600))
        self.settings = settings
        self.database = Database(settings.database_url)
        self.files = FileStore(settings.folder)
        self.now = clock
        self.prometheus = PrometheusMetrics()
        self.instance_id = secrets.token_hex(8)  # of this process, among others that share the queue
        self.scoring_slots = threading.BoundedSemaphore(settings.scorers)
        self.hashing_slots = threading.BoundedSemaphore(2)  # each hash takes 64 MB
        self.claim_lock = threading.Lock()
        self.in_progress: set[int] = set()  # submissions that a thread of this process scores
        self.work_available = threading.Event()  # wakes the worker

    def close(self) -> None:
        """Close the database."""
        self.database.close()
