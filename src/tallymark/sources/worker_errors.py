"""Errors of ours on their way from a worker to the caller, through engines that turn errors into pages of text."""

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


class Refusal(Exception):  # noqa: N818 - what a worker says instead of a tally
    """An error of ours as one line of text, from which it can be made again."""

    def __init__(self, error: errors.TallymarkError) -> None:
        super().__init__(error)
        self.error = error

    def __str__(self) -> str:
        packed = base64.b64encode(json.dumps(self.error.to_dict()).encode()).decode()
        return f"tallymark refuses <{packed}>\n{self.error}"


def refused_in(text: str) -> errors.TallymarkError | None:
    """The error of ours that a text of an engine tells of."""
    found = _MARK.search(text)
    try:
        return None if found is None else errors.from_dict(json.loads(base64.b64decode(found[1])))
    except (ValueError, KeyError, TypeError, AttributeError):  # a text of others that looks like it
        return None


def attempt(work: Callable[[], T]) -> T | Refusal:
    """What work gives, or the error of ours that it met: engines would try it again, with the same end."""
    try:
        return work()
    except errors.TallymarkError as error:
        return Refusal(error)


@contextmanager
def refusing() -> Iterator[None]:
    """On a worker: errors of ours leave as a line of text."""
    try:
        yield
    except errors.TallymarkError as error:
        raise Refusal(error) from None


@contextmanager
def telling() -> Iterator[None]:
    """At the caller: an engine's error that tells of one of ours is that one."""
    try:
        yield
    except Exception as error:  # each engine has its own
        told = refused_in(str(error))
        if told is None:
            raise
        raise told from None


def one_thread() -> None:
    """On a worker, which has as many tasks at once as CPUs: each takes one thread, unless the environment says else."""
    if VARIABLE not in os.environ:
        set_threads(1)
