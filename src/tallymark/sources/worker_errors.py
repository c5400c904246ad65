"""Errors of tallymark on their way from a worker to the caller, through engines that turn errors into pages of text.

A worker sends the fields of an error as JSON in one line of text, and the caller makes the same error of them.
"""

from __future__ import annotations

import base64
import json
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from tallymark import errors
from tallymark.threads import VARIABLE, set_threads

T = TypeVar("T")

_MARK = re.compile(r"tallymark refuses <([A-Za-z0-9+/=]*)>")


class WorkerError(Exception):
    """An error of tallymark as one line of text, from which it can be made again."""

    def __init__(self, error: errors.TallymarkError) -> None:
        super().__init__(error)
        self.error = error

    def __str__(self) -> str:
        packed = base64.b64encode(json.dumps(self.error.to_dict()).encode()).decode()
        return f"tallymark refuses <{packed}>\n{self.error}"


def find_error(text: str) -> errors.TallymarkError | None:
    """The error of tallymark in a text of an engine; None without one."""
    found = _MARK.search(text)
    try:
        return None if found is None else errors.from_dict(json.loads(base64.b64decode(found[1])))
    except (ValueError, KeyError, TypeError, AttributeError):  # another text that looks like it
        return None


def catch_error(work: Callable[[], T]) -> T | WorkerError:
    """The result of some work, or its error as a value, which engines do not retry."""
    try:
        return work()
    except errors.TallymarkError as error:
        return WorkerError(error)


@contextmanager
def encode_errors() -> Iterator[None]:
    """On a worker: raise errors of tallymark as a line of text."""
    try:
        yield
    except errors.TallymarkError as error:
        raise WorkerError(error) from None


@contextmanager
def decode_errors() -> Iterator[None]:
    """At the caller: where an engine's error contains one of tallymark, raise that one."""
    try:
        yield
    except Exception as error:  # each engine has its own
        ours = find_error(str(error))
        if ours is None:
            raise
        raise ours from None


def use_one_thread() -> None:
    """On a worker, which runs as many tasks at once as it has CPUs: one thread each, unless the environment sets
    another number."""
    if VARIABLE not in os.environ:
        set_threads(1)
