"""The outbox: mails that wait to be sent, so that no request waits for a mail server, and a lost server loses no mail.

A row names what to write, and `mails` writes it when it is sent: a link with a secret is never stored.
"""

from __future__ import annotations

import hashlib
from datetime import timedelta
from typing import Any

from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session

from tallymark.app.domain.errors import FormError
from tallymark.app.service import Service
from tallymark.app.settings import is_address
from tallymark.app.store.models import MailRequest, QueuedMail

MAX_REQUESTS = 3  # mails that can be asked for in an hour, for one address or account
_REQUEST_LIFETIME = timedelta(hours=1)
NO_MAIL = "This server does not send e-mail. Its operator can set `--smtp-url`."


def check_address(text: str, field: str = "email") -> str:
    """An e-mail address without spaces around it; raises `FormError` for an invalid one."""
    address = text.strip()
    if not is_address(address):
        raise FormError({field: "Enter an e-mail address such as ada@example.org."})
    return address


def enqueue(session: Session, service: Service, kind: str, recipient: str, **facts: Any) -> None:
    """Add a mail in the transaction that causes it. Its kind is one of `mails.KINDS`."""
    now = service.now()
    session.add(QueuedMail(kind=kind, recipient=recipient, facts=facts, created=now, due=now))


def may_request(session: Session, service: Service, key: str) -> bool:
    """Count a request for a mail to an address or account; False after too many in an hour."""
    now, hashed = service.now(), hashlib.sha256(key.encode()).hexdigest()
    session.execute(delete(MailRequest).where(MailRequest.created <= now - _REQUEST_LIFETIME))
    earlier = session.scalar(select(func.count()).select_from(MailRequest).where(MailRequest.key == hashed)) or 0
    if earlier >= MAX_REQUESTS:
        return False
    session.add(MailRequest(key=hashed, created=now))
    return True
