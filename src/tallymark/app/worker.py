"""The worker: a thread that does what the queue in the database holds, and goes on where another stopped."""

from __future__ import annotations

import logging
import threading
from datetime import timedelta

from sqlalchemy import or_, select, update

from tallymark.app.domain import checks, leaderboards
from tallymark.app.domain.scoring import MAX_ATTEMPTS, process_submission, retry_or_fail
from tallymark.app.service import Service
from tallymark.app.store.models import Submission

CLAIM_LEASE = timedelta(seconds=60)  # after which a claim that nobody renews is worth nothing
_RENEWAL = 15.0  # seconds
_PAUSE = 2.0  # seconds between looks at the queue, where nothing wakes the worker
_LOG = logging.getLogger("tallymark.app")


class Worker:
    """One thread that works, and one that renews its claim and discards checked files that nobody has submitted.

    Whatever fails is tried again, three times in all.
    """

    def __init__(self, service: Service) -> None:
        self._service = service
        self._stopped = threading.Event()
        self._threads = [
            threading.Thread(target=self._run, name="worker", daemon=True),
            threading.Thread(target=self._renew, name="claims", daemon=True),
        ]

    def start(self) -> None:
        """Begin, with what an earlier process of this database has left."""
        if self._service.database.is_sqlite:  # which one process serves: whoever had claims is gone
            with self._service.database.writing() as session:
                session.execute(update(Submission).where(Submission.work.is_not(None)).values(claimed_by=None))
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """End when what is being done is done."""
        self._stopped.set()
        self._service.wake.set()
        for thread in self._threads:
            thread.join()

    @property
    def alive(self) -> bool:
        """Whether it works."""
        return all(thread.is_alive() for thread in self._threads)

    def _run(self) -> None:
        while not self._stopped.is_set():
            self._service.wake.clear()
            try:
                while not self._stopped.is_set() and self.step():
                    continue
            except Exception:
                _LOG.exception("the worker failed")
            self._service.wake.wait(_PAUSE)

    def step(self) -> bool:
        """Do one thing; whether there was one."""
        service = self._service
        found = claim(service)
        if found is not None:
            try:
                process_submission(service, found)
            except Exception:
                _LOG.exception("a submission could not be worked on", extra={"facts": {"submission": found}})
                retry_or_fail(service, found)
            finally:
                service.busy.discard(found)
            return True
        with service.database.reading() as session:
            stale = leaderboards.stale_challenges(session)
        done = [_rebuilt(service, challenge) for challenge in stale]
        return any(done)

    def _renew(self) -> None:
        while not self._stopped.wait(_RENEWAL):
            try:
                self._renew_claims()
            except Exception:
                _LOG.exception("a claim could not be renewed")
            try:
                checks.discard_expired(self._service)
            except Exception:
                _LOG.exception("checked files could not be discarded")

    def _renew_claims(self) -> None:
        busy = list(self._service.busy)
        if not busy:
            return
        with self._service.database.writing() as session:
            mine = Submission.id.in_(busy) & (Submission.claimed_by == self._service.name)
            session.execute(update(Submission).where(mine).values(claimed=self._service.now()))


def _rebuilt(service: Service, challenge_id: int) -> bool:
    """Whether leaderboards were written anew; those that cannot be do not keep others waiting."""
    try:
        leaderboards.rebuild_leaderboards(service, challenge_id)
    except Exception:
        _LOG.exception("leaderboards could not be written", extra={"facts": {"challenge": challenge_id}})
        return False
    return True


def claim(service: Service) -> int | None:
    """Take the oldest submission that waits, scores before intervals, if no other worker was quicker. One that this
    process claimed and works on no more is free, too."""
    now = service.now()
    own = Submission.claimed_by == service.name
    left = ~own & (Submission.claimed < now - CLAIM_LEASE)
    with service.claiming, service.database.writing() as session:
        free = or_(Submission.claimed_by.is_(None), left, own & Submission.id.not_in(service.busy))
        waiting = select(Submission.id).where(Submission.work.is_not(None), free)
        order = waiting.order_by(Submission.work.desc(), Submission.created).limit(1)  # "score" before "intervals"
        found = session.scalar(order.with_for_update(skip_locked=True))
        if found is None:
            return None
        values = {"claimed_by": service.name, "claimed": now, "attempts": Submission.attempts + 1}
        session.execute(update(Submission).where(Submission.id == found).values(**values))
        service.busy.add(found)
    with service.database.reading() as session:
        held = session.get(Submission, found)
        tries = 0 if held is None else held.attempts
    if tries > MAX_ATTEMPTS:
        service.busy.discard(found)
        retry_or_fail(service, found, at_once=True)
        return claim(service)
    return found
