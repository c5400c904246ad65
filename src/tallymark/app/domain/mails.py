"""Mails: what each kind says, and how the outbox is sent by SMTP, with retries for three days."""

from __future__ import annotations

import logging
import secrets
import smtplib
import ssl
from collections.abc import Callable
from datetime import datetime, timedelta
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime
from typing import Any, NamedTuple

from sqlalchemy import delete, func, select, update
from sqlalchemy.orm import Session

from tallymark.app.domain.accounts import hash_secret
from tallymark.app.domain.addresses import create_confirmation, create_sign_up_invitation
from tallymark.app.domain.password_resets import create_reset, find_account
from tallymark.app.service import Service
from tallymark.app.settings import SmtpServer
from tallymark.app.store.models import AddressConfirmation, Challenge, Invitation, QueuedMail, Submission, User
from tallymark.rendering.text import printable

GIVE_UP_AFTER = timedelta(days=3)
_LEASE = timedelta(minutes=10)  # after which a mail is sent again if its process died
_FIRST_RETRY, _LAST_RETRY = timedelta(minutes=1), timedelta(hours=4)
_BATCH = 100  # mails over one connection
_TIMEOUT = 20.0  # seconds for each step of the conversation with the server
_IGNORE = "If you did not ask for this, ignore this mail."
_LOG = logging.getLogger("tallymark.app")


class Mail(NamedTuple):
    """A mail to one person."""

    recipient: str
    subject: str
    text: str


class _ClaimedMail(NamedTuple):
    id: int
    kind: str
    created: datetime
    attempts: int
    mail: Mail


def _one_line(text: str) -> str:
    return printable(" ".join(text.split()))


def _until(moment: datetime) -> str:
    return f"{moment.day} {moment:%B %Y, %H:%M} UTC"


def _invitation(session: Session, service: Service, row: QueuedMail) -> Mail | None:
    invitation = session.get(Invitation, row.facts["invitation"])
    if invitation is None or invitation.revoked is not None or invitation.expires <= service.now():
        return None
    if invitation.uses >= invitation.max_uses:
        return None
    secret = secrets.token_urlsafe(32)
    invitation.secret, invitation.mail = hash_secret(secret), "sent"
    sender = session.get(User, invitation.created_by) if invitation.created_by is not None else None
    challenge = None if invitation.challenge_id is None else session.get(Challenge, invitation.challenge_id)
    if challenge is not None and challenge.published is None:  # nobody but its organisers learns of a draft
        challenge = None
    by = _one_line(sender.name) if sender is not None else "An organiser"
    to = (
        "take part in challenges" if challenge is None else f"take part in the challenge “{_one_line(challenge.title)}”"
    )
    subject = "Invitation" if challenge is None else f"Invitation to {_one_line(challenge.title)}"
    greeting = f"Hello {_one_line(invitation.name)},\n\n" if invitation.name else ""
    link = f"{service.settings.address}/sign-up?invitation={secret}"
    text = (
        f"{greeting}{by} invites you to {to} at {service.settings.address}.\n\nSign up here, once, until "
        f"{_until(invitation.expires)}:\n{link}\n\nIf you do not know the sender, ignore this mail.\n"
    )
    return Mail(row.recipient, subject, text)


def _sign_up(session: Session, service: Service, row: QueuedMail) -> Mail | None:
    user = session.scalar(select(User).where(User.email_key == row.recipient.lower()))
    address = service.settings.address
    if user is not None:
        text = (
            f"Somebody, probably you, wants to sign up at {address} with this address. It belongs to the account "
            f"{_one_line(user.name)} already: {address}/sign-in\n\n{_IGNORE}\n"
        )
        return Mail(row.recipient, "You have an account", text)
    secret = create_sign_up_invitation(session, service, row.recipient)
    link = f"{address}/sign-up?invitation={secret}"
    text = f"Continue your sign-up here, once, within 24 hours:\n{link}\n\n{_IGNORE}\n"
    return Mail(row.recipient, "Confirm your address to sign up", text)


def _reset(session: Session, service: Service, row: QueuedMail) -> Mail | None:
    user = find_account(session, service, row.facts["account"])
    if user is None or user.email is None:
        return None
    link = f"{service.settings.address}/reset?secret={create_reset(session, service, user)}"
    text = (
        f"Set a new password for the account {_one_line(user.name)} here, once, within an hour:\n{link}\n\n"
        f"{_IGNORE} Your password stays as it is.\n"
    )
    return Mail(user.email, "Set a new password", text)


def _address(session: Session, service: Service, row: QueuedMail) -> Mail | None:
    confirmation, user = session.get(AddressConfirmation, row.facts["user"]), session.get(User, row.facts["user"])
    if confirmation is None or user is None or confirmation.email != row.recipient:
        return None
    link = f"{service.settings.address}/account/email/confirm?secret={create_confirmation(session, confirmation)}"
    text = (
        f"Confirm that this is the address of the account {_one_line(user.name)} at {service.settings.address}, within "
        f"24 hours:\n{link}\n\n{_IGNORE}\n"
    )
    return Mail(row.recipient, "Confirm your address", text)


def _result(session: Session, service: Service, row: QueuedMail) -> Mail | None:
    submission = session.get(Submission, row.facts["submission"])
    user = None if submission is None else session.get(User, submission.user_id)
    if submission is None or user is None or user.email is None or not user.mail_results or user.disabled is not None:
        return None
    what = {"scored": "has been scored", "rejected": "was rejected"}.get(submission.state, "has a result")
    title = _one_line(submission.challenge.title)
    text = (
        f"Your submission {_one_line(submission.file_name)} to {title} {what}:\n"
        f"{service.settings.address}/submissions/{submission.key}\n\n"
        f"To get no such mails, change it here: {service.settings.address}/account/email\n"
    )
    return Mail(user.email, f"{title}: your submission {what}", text)


KINDS: dict[str, Callable[[Session, Service, QueuedMail], Mail | None]] = {
    "invitation": _invitation,
    "sign-up": _sign_up,
    "reset": _reset,
    "address": _address,
    "result": _result,
}
"""What writes each kind of mail; None where there is no longer anything to say."""


def send_due(service: Service, stopped: Callable[[], bool] = lambda: False) -> int:
    """Send the mails that are due, at most a hundred, until it is stopped; how many the server accepted."""
    server, sent = service.settings.smtp, 0
    if server is None:
        return 0
    connection: smtplib.SMTP | None = None
    try:
        for _ in range(_BATCH):
            claimed = None if stopped() else _claim_next(service)
            if claimed is None:
                break
            try:
                connection = connection or _connect(server)
                connection.send_message(_message(service, claimed))
            except smtplib.SMTPRecipientsRefused as error:
                codes = [code for code, _ in error.recipients.values()]
                _retry(service, claimed, give_up=all(code >= 500 for code in codes))
            except smtplib.SMTPDataError as error:
                _retry(service, claimed, give_up=error.smtp_code >= 500)
            except (OSError, smtplib.SMTPException) as error:  # the server is not there: all mails wait
                _LOG.warning("mail could not be sent", extra={"facts": {"error": type(error).__name__}})
                _retry(service, claimed)
                break
            else:
                _remove(service, claimed)
                sent += 1
    finally:
        if connection is not None:
            _close(connection)
    return sent


def count_waiting(session: Session) -> int:
    """How many mails wait in the outbox."""
    return session.scalar(select(func.count()).select_from(QueuedMail)) or 0


def _claim_next(service: Service) -> _ClaimedMail | None:
    """Write the next mail that is due; nobody else sends it meanwhile."""
    now = service.now()
    while True:
        with service.database.writing() as session:
            due = select(QueuedMail).where(QueuedMail.due <= now).order_by(QueuedMail.due, QueuedMail.id).limit(1)
            row = session.scalar(due.with_for_update(skip_locked=True))
            if row is None:
                return None
            mail = KINDS[row.kind](session, service, row)
            if mail is None:
                session.delete(row)
                continue
            row.attempts += 1
            row.due = now + _LEASE
            return _ClaimedMail(row.id, row.kind, row.created, row.attempts, mail)


def _retry(service: Service, claimed: _ClaimedMail, *, give_up: bool = False) -> None:
    """Try a mail again later, in growing intervals; give up after three days, or where the server refuses it."""
    now = service.now()
    if give_up or now - claimed.created >= GIVE_UP_AFTER:
        _LOG.warning("mail was given up", extra={"facts": {"mail": claimed.id, "kind": claimed.kind}})
        _remove(service, claimed, failed=True)
        return
    wait = min(_FIRST_RETRY * 2 ** min(claimed.attempts - 1, 10), _LAST_RETRY)
    with service.database.writing() as session:
        session.execute(update(QueuedMail).where(QueuedMail.id == claimed.id).values(due=now + wait))


def _remove(service: Service, claimed: _ClaimedMail, *, failed: bool = False) -> None:
    with service.database.writing() as session:
        row = session.get(QueuedMail, claimed.id)
        if row is None:
            return
        if failed and row.kind == "invitation":
            undelivered = Invitation.id == row.facts["invitation"]
            session.execute(update(Invitation).where(undelivered).values(mail="failed", revoked=service.now()))
        session.execute(delete(QueuedMail).where(QueuedMail.id == claimed.id))


def _message(service: Service, claimed: _ClaimedMail) -> EmailMessage:
    """A mail in plain text. Its headers refuse line breaks, so no text adds another header."""
    sender = service.settings.mail_from
    message = EmailMessage(SMTP)
    message["From"] = Address("tallymark", addr_spec=sender)
    message["To"] = Address(addr_spec=claimed.mail.recipient)
    message["Subject"] = _one_line(claimed.mail.subject)[:200]
    message["Date"] = format_datetime(service.now())
    stamp = f"{claimed.created:%Y%m%d%H%M%S}.{claimed.id}"  # the same if it is sent again
    message["Message-ID"] = f"<{stamp}.tallymark@{sender.rpartition('@')[2]}>"
    message["Auto-Submitted"] = "auto-generated"
    message.set_content(claimed.mail.text)
    return message


def _connect(server: SmtpServer) -> smtplib.SMTP:
    context: Any = ssl.create_default_context()
    if server.encryption == "tls":
        connection: smtplib.SMTP = smtplib.SMTP_SSL(server.host, server.port, timeout=_TIMEOUT, context=context)
    else:
        connection = smtplib.SMTP(server.host, server.port, timeout=_TIMEOUT)
    try:
        if server.encryption == "starttls":
            connection.starttls(context=context)
        if server.user:
            connection.login(server.user, server.password)
    except BaseException:
        connection.close()
        raise
    return connection


def _close(connection: smtplib.SMTP) -> None:
    try:
        connection.quit()
    except (OSError, smtplib.SMTPException):
        connection.close()
