"""The worker: a thread that scores the queue in the database, and takes over expired claims of other processes."""

from __future__ import annotations

import logging
import threading
from datetime import timedelta

from sqlalchemy import exists, or_, select, update

from tallymark.app.domain import checks, kept_files, leaderboards, mails
from tallymark.app.domain.rescoring import process_rescoring, retry_or_fail_rescoring
from tallymark.app.domain.scoring import MAX_ATTEMPTS, process_submission, retry_or_fail
from tallymark.app.service import Service
from tallymark.app.store.models import Rescoring, Submission

CLAIM_LEASE = timedelta(seconds=60)  # after which a claim that nobody has renewed has expired
_RENEWAL_INTERVAL = 15.0  # seconds
_POLL_INTERVAL = 2.0  # seconds between looks at the queue, if nothing wakes the worker
_MAIL_INTERVAL = 2.0  # seconds between looks at the outbox
_LOG = logging.getLogger("tallymark.app")


class Worker:
    """A thread that scores, one that renews its claims and deletes expired checked files, and one that sends mails.

    Failed work is attempted three times in all.
    """

    def __init__(self, service: Service) -> None:
        self._service = service
        self._stopped = threading.Event()
        self._threads = [
            threading.Thread(target=self._run, name="worker", daemon=True),
            threading.Thread(target=self._maintain, name="claims", daemon=True),
        ]
        if service.settings.smtp is not None:  # a thread of its own: a slow mail server must not let claims expire
            self._threads.append(threading.Thread(target=self._send_mails, name="mail", daemon=True))

    def start(self) -> None:
        """Start, with what an earlier process has left in the queue."""
        if self._service.database.is_sqlite:  # which one process serves: earlier claims are of a dead one
            with self._service.database.writing() as session:
                session.execute(update(Submission).where(Submission.work.is_not(None)).values(claimed_by=None))
                session.execute(update(Rescoring).values(claimed_by=None))
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Stop after the current submission."""
        self._stopped.set()
        self._service.work_available.set()
        for thread in self._threads:
            thread.join()

    @property
    def alive(self) -> bool:
        """Whether all threads run."""
        return all(thread.is_alive() for thread in self._threads)

    def _run(self) -> None:
        while not self._stopped.is_set():
            self._service.work_available.clear()
            try:
                while not self._stopped.is_set() and self.step():
                    continue
            except Exception:
                _LOG.exception("the worker failed")
            self._service.work_available.wait(_POLL_INTERVAL)

    def step(self) -> bool:
        """Score one submission, else rebuild stale leaderboards, else score one submission by a candidate version;
        whether there was anything to do."""
        service = self._service
        submission_id = claim_next(service)
        if submission_id is not None:
            try:
                process_submission(service, submission_id)
            except Exception:
                _LOG.exception("a submission could not be worked on", extra={"facts": {"submission": submission_id}})
                retry_or_fail(service, submission_id)
            finally:
                service.in_progress.discard(submission_id)
            return True
        with service.database.reading() as session:
            stale = leaderboards.stale_challenges(session)
        rebuilt = [_try_to_rebuild(service, challenge_id) for challenge_id in stale]
        return any(rebuilt) or _rescore_next(service)

    def _maintain(self) -> None:
        while not self._stopped.wait(_RENEWAL_INTERVAL):
            try:
                self._renew_claims()
            except Exception:
                _LOG.exception("a claim could not be renewed")
            try:
                checks.discard_expired(self._service)
                kept_files.discard_expired(self._service)
            except Exception:
                _LOG.exception("checked files could not be discarded")

    def _send_mails(self) -> None:
        while not self._stopped.wait(_MAIL_INTERVAL):
            try:
                while mails.send_due(self._service, self._stopped.is_set):
                    continue
            except Exception:
                _LOG.exception("mails could not be sent")

    def _renew_claims(self) -> None:
        in_progress, instance_id = list(self._service.in_progress), self._service.instance_id
        if in_progress:
            with self._service.database.writing() as session:
                own = Submission.id.in_(in_progress) & (Submission.claimed_by == instance_id)
                session.execute(update(Submission).where(own).values(claimed=self._service.now()))
        with self._service.database.reading() as session:
            rescores = session.scalar(select(exists().where(Rescoring.claimed_by == instance_id)))
        if rescores:
            with self._service.database.writing() as session:
                claimed = update(Rescoring).where(Rescoring.claimed_by == instance_id)
                session.execute(claimed.values(claimed=self._service.now()))


def _try_to_rebuild(service: Service, challenge_id: int) -> bool:
    """Whether the leaderboards of a challenge were rebuilt; a failure does not hold up the others."""
    try:
        leaderboards.rebuild_leaderboards(service, challenge_id)
    except Exception:
        _LOG.exception("leaderboards could not be written", extra={"facts": {"challenge": challenge_id}})
        return False
    return True


def _rescore_next(service: Service) -> bool:
    """Score one submission by a candidate version; whether there was one."""
    claim = claim_next_rescoring(service)
    if claim is None:
        return False
    try:
        process_rescoring(service, *claim)
    except Exception:
        _LOG.exception("a submission could not be scored again", extra={"facts": {"submission": claim[1]}})
        retry_or_fail_rescoring(service, *claim)
    return True


def claim_next_rescoring(service: Service) -> tuple[int, int] | None:
    """Claim the oldest submission that waits for a candidate version: their ids, that of the version first; None where
    there is none. This process scores one at a time, so it has finished or given up what it claimed before."""
    now = service.now()
    with service.claim_lock, service.database.writing() as session:
        own = Rescoring.claimed_by == service.instance_id
        free = or_(Rescoring.claimed_by.is_(None), own, Rescoring.claimed < now - CLAIM_LEASE)
        pending = select(Rescoring).where(Rescoring.state == "queued", free).order_by(Rescoring.submission_id).limit(1)
        claimed = session.scalar(pending.with_for_update(skip_locked=True, of=Rescoring))
        if claimed is None:
            return None
        claimed.claimed_by, claimed.claimed, claimed.attempts = service.instance_id, now, claimed.attempts + 1
        claim = (claimed.version_id, claimed.submission_id)
        has_attempts = claimed.attempts <= MAX_ATTEMPTS
    if has_attempts:
        return claim
    retry_or_fail_rescoring(service, *claim)
    return claim_next_rescoring(service)


def claim_next(service: Service) -> int | None:
    """Claim the oldest pending submission, scores before intervals; None where there is none. A submission is free if
    nobody has claimed it, if its claim has expired, or if this process claimed it and no longer scores it."""
    now = service.now()
    own = Submission.claimed_by == service.instance_id
    expired = ~own & (Submission.claimed < now - CLAIM_LEASE)
    with service.claim_lock, service.database.writing() as session:
        free = or_(Submission.claimed_by.is_(None), expired, own & Submission.id.not_in(service.in_progress))
        pending = select(Submission.id).where(Submission.work.is_not(None), free)
        oldest = pending.order_by(Submission.work.desc(), Submission.created).limit(1)  # "score" before "intervals"
        submission_id = session.scalar(oldest.with_for_update(skip_locked=True))
        if submission_id is None:
            return None
        values = {"claimed_by": service.instance_id, "claimed": now, "attempts": Submission.attempts + 1}
        session.execute(update(Submission).where(Submission.id == submission_id).values(**values))
        service.in_progress.add(submission_id)
    with service.database.reading() as session:
        submission = session.get(Submission, submission_id)
        attempts = 0 if submission is None else submission.attempts
    if attempts > MAX_ATTEMPTS:
        service.in_progress.discard(submission_id)
        retry_or_fail(service, submission_id, no_retry=True)
        return claim_next(service)
    return submission_id
