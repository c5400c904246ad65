"""How far Spark is with a call: how many tasks are done, of those of the stages that have begun.

Spark plans stage by stage, so that the whole grows when a stage begins. A classic session is asked twice a second by a
thread of its own, which waits in between; the client of Spark Connect calls a handler when its server tells it.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any
from uuid import uuid4

from tallymark.engines.job import Progress

_SECONDS = 0.5  # between two questions


@contextmanager
def watched(session: Any, progress: Progress | None) -> Iterator[None]:
    """Tells how far Spark is with what this thread runs in here, and at its end that all is done."""
    if progress is None:
        yield
        return
    tasks = _Tasks(progress)
    context = getattr(session, "sparkContext", None)  # which is with the server in Spark Connect
    with _told(session, tasks) if context is None else _asked(context, tasks):
        yield
    tasks.end()


class _Tasks:
    """The tasks of every stage that has begun, and how many of them are done."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._stages: dict[int, tuple[int, int]] = {}
        self._shown = 0

    def see(self, stages: Iterable[tuple[int, int, int]]) -> None:
        """Take the numbers of stages, their tasks and those that are done, and tell if there are more."""
        for stage, tasks, done in stages:
            # One of which nothing is done may be one that Spark skips, since it has its outcome.
            if done > self._stages.get(stage, (0, 0))[1]:
                self._stages[stage] = tasks, done
        done = sum(done for _, done in self._stages.values())
        if done > self._shown:
            self._shown = done
            self._progress(done, self._whole())

    def end(self) -> None:
        """Tell that all is done."""
        self._progress(self._whole(), self._whole())

    def is_done(self, stage: int) -> bool:
        """Whether there is nothing more to learn of a stage."""
        tasks, done = self._stages.get(stage, (1, 0))
        return tasks == done

    def _whole(self) -> int:
        """All tasks, and one for what the driver does at the end: what has begun may be done while more is to come."""
        return sum(tasks for tasks, _ in self._stages.values()) + 1


@contextmanager
def _told(session: Any, tasks: _Tasks) -> Iterator[None]:
    """By Spark Connect, whose client calls all handlers for all that it runs, each time in the thread that waits."""
    mine = threading.get_ident()

    def hear(stages: Any = None, **_: Any) -> None:
        if threading.get_ident() == mine:
            tasks.see((each.stage_id, each.num_tasks, each.num_completed_tasks) for each in stages or ())

    session.registerProgressHandler(hear)
    try:
        yield
    finally:
        with suppress(ValueError):  # which somebody else has removed with all others
            session.removeProgressHandler(hear)


@contextmanager
def _asked(context: Any, tasks: _Tasks) -> Iterator[None]:
    """By a thread that asks a classic session. What `progress` raises there ends the jobs, and is raised here."""
    asking = _Asking(context, tasks, f"tallymark-progress-{uuid4()}")
    thread = threading.Thread(target=asking.run, name=asking.tag, daemon=True)
    context.addJobTag(asking.tag)
    try:
        thread.start()
        yield
    except Exception:  # that the jobs were cancelled, where a fault of `progress` is why
        if asking.fault is None:
            raise
    finally:
        asking.ended.set()
        with suppress(Exception):  # a session that was stopped has none
            context.removeJobTag(asking.tag)
        thread.join()
    if asking.fault is not None:
        raise asking.fault


class _Asking:
    """Asks for the stages of jobs with a tag, until it has ended."""

    def __init__(self, context: Any, tasks: _Tasks, tag: str) -> None:
        self.tag = tag
        self.ended = threading.Event()
        self.fault: BaseException | None = None
        self._context = context
        self._tasks = tasks

    def run(self) -> None:
        """What the thread does."""
        while not self.ended.wait(_SECONDS):
            if self.fault is not None:
                with suppress(Exception):
                    self._context.cancelJobsWithTag(self.tag)  # again and again, since Spark may start the next one
                continue
            found = self._stages()
            try:
                self._tasks.see(found)
            except BaseException as fault:  # to be raised where somebody waits
                self.fault = fault

    def _stages(self) -> list[tuple[int, int, int]]:
        """What is known of the stages. It is for show, so whatever Spark cannot say now is left out."""
        try:
            # Python's own tracker knows groups of jobs only, and a thread has one, which may be the caller's.
            jobs = self._context._jsc.sc().statusTracker().getJobIdsForTag(self.tag)
            tracker = self._context.statusTracker()
            known = [info for info in map(tracker.getJobInfo, jobs) if info is not None]
            stages = {stage for info in known for stage in info.stageIds if not self._tasks.is_done(stage)}
            seen = [info for info in map(tracker.getStageInfo, stages) if info is not None]
            return [(info.stageId, info.numTasks, info.numCompletedTasks) for info in seen]
        except Exception:  # of Java, or of a session that is ending
            return []
