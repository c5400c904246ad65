"""E-mail addresses: of users, who confirm them by a link, and of people who may sign up with them."""

from __future__ import annotations

import secrets
from datetime import timedelta

from sqlalchemy import delete, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from tallymark.app.domain import accounts, outbox
from tallymark.app.domain.accounts import hash_secret
from tallymark.app.domain.errors import FormError
from tallymark.app.domain.outbox import check_address
from tallymark.app.service import Service
from tallymark.app.store.models import AddressConfirmation, Invitation, Submission, User

_CONFIRMATION_LIFETIME = timedelta(hours=24)
INVALID_CONFIRMATION = "This link is invalid, used or expired. Enter the address again."
TOO_MANY = "Too many mails were asked for. Try again in an hour."


def request_sign_up(service: Service, typed: str) -> None:
    """Mail a link for signing up to an address of one of the domains that may. Whether there is an account with this
    address, only the mail says."""
    if service.settings.smtp is None or not service.settings.domains:
        raise FormError({"": accounts.INVITATION_REQUIRED})
    address = check_address(typed)
    if address.lower().rpartition("@")[2] not in service.settings.domains:
        raise FormError({"email": f"Use an address of {' or '.join(service.settings.domains)}."})
    with service.database.writing() as session:
        if outbox.may_request(session, service, f"sign-up {address.lower()}"):
            outbox.enqueue(session, service, "sign-up", address)


def request_address(service: Service, user: User, typed: str, password: str) -> None:
    """Mail a link to the new address of a user, who confirms it. It takes the password: who reads the mail of an
    account can set its password."""
    if service.settings.smtp is None:
        raise FormError({"": outbox.NO_MAIL})
    address = check_address(typed)
    if user.password is not None and not accounts.password_matches(service, user.password, password):
        raise FormError({"old": "Wrong password."})
    with service.database.writing() as session:
        if not outbox.may_request(session, service, f"address {user.id}"):
            raise FormError({"": TOO_MANY})
        session.execute(delete(AddressConfirmation).where(AddressConfirmation.user_id == user.id))
        expires = service.now() + _CONFIRMATION_LIFETIME
        session.add(AddressConfirmation(user_id=user.id, email=address, expires=expires))
        outbox.enqueue(session, service, "address", address, user=user.id)


def create_confirmation(session: Session, confirmation: AddressConfirmation) -> str:
    """The secret of the link that confirms an address. Only its hash is stored."""
    secret = secrets.token_urlsafe(32)
    confirmation.secret = hash_secret(secret)
    return secret


def find_confirmation(session: Session, service: Service, secret: str) -> AddressConfirmation | None:
    """The address of a link that can still be used."""
    found = session.scalar(select(AddressConfirmation).where(AddressConfirmation.secret == hash_secret(secret)))
    return None if found is None or found.expires <= service.now() else found


def confirm_address(service: Service, secret: str) -> None:
    """Make the address of a link that of its user."""
    try:
        with service.database.writing() as session:
            found = find_confirmation(session, service, secret)
            if found is None:
                raise FormError({"": INVALID_CONFIRMATION})
            in_use = (User.id == found.user_id) & User.disabled.is_(None) & User.deleted.is_(None)
            values = {"email": found.email, "email_key": found.email.lower()}
            session.execute(update(User).where(in_use).values(**values))
            session.delete(found)
    except IntegrityError:
        raise FormError({"": "Another account has this address. Remove it there first."}) from None


def remove_address(service: Service, user: User) -> None:
    """Forget the address of a user."""
    with service.database.writing() as session:
        values = {"email": None, "email_key": None, "mail_results": False}
        session.execute(update(User).where(User.id == user.id).values(**values))
        session.execute(delete(AddressConfirmation).where(AddressConfirmation.user_id == user.id))


def set_mail_results(service: Service, user: User, *, wanted: bool) -> None:
    """Whether a user gets a mail when a submission of theirs is scored."""
    with service.database.writing() as session:
        has_address = (User.id == user.id) & User.email.is_not(None)
        session.execute(update(User).where(has_address).values(mail_results=wanted))


def notify_of_result(session: Session, service: Service, submission: Submission) -> None:
    """Mail the sender of a submission that it has a result, if they want that. A rescored one causes no mail."""
    if service.settings.smtp is None or submission.finished is not None:
        return
    user = session.get(User, submission.user_id)
    if user is not None and user.mail_results and user.email is not None:
        outbox.enqueue(session, service, "result", user.email, submission=submission.id)


def create_sign_up_invitation(session: Session, service: Service, address: str) -> str:
    """The secret of an invitation to whoever reads the mail of an address."""
    secret, now = secrets.token_urlsafe(32), service.now()
    session.add(
        Invitation(
            secret=hash_secret(secret), email=address, mail="sent", created=now, expires=now + _CONFIRMATION_LIFETIME
        )
    )
    return secret
