"""Invitations: links for a list of people or for a class, which expire, are counted and can be revoked."""

from __future__ import annotations

import csv
import io
import re
import secrets
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from sqlalchemy import or_, select, update
from sqlalchemy.orm import Session

from tallymark.app.domain import audit, outbox
from tallymark.app.domain.accounts import hash_secret
from tallymark.app.domain.errors import FormError, NotFoundError
from tallymark.app.service import Service
from tallymark.app.settings import is_address
from tallymark.app.store.models import Challenge, Invitation, Organiser, User

MAX_PEOPLE = 2000
MAX_USES = 10_000
MAX_DAYS = 365
MAX_LIST_BYTES = 500_000
_MAX_NAME_LENGTH = 200
_EMAIL_HEADERS = ("email", "e-mail", "mail", "address", "email address", "e-mail address")
_NAME_HEADERS = ("name", "student", "full name", "participant")
_NAME_AND_ADDRESS = re.compile(r"(?P<name>[^<>]*)<(?P<email>[^<>]*)>\s*")
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


class Invitee(NamedTuple):
    """A person on a list: a name, an address, or both."""

    name: str | None
    email: str | None


class WrongLine(NamedTuple):
    """A line of a list that cannot be read, and why."""

    line: int
    reason: str


class WrongListError(FormError):
    """A list of people with wrong lines, which has them all."""

    def __init__(self, lines: Sequence[WrongLine]) -> None:
        count = "1 line is" if len(lines) == 1 else f"{len(lines):,} lines are"
        super().__init__({"people": f"{count} wrong, so nobody was invited. Correct the list and send it again."})
        self.lines = lines


def decode_list(content: bytes) -> str:
    """The text of an uploaded list."""
    if len(content) > MAX_LIST_BYTES:
        raise FormError({"list": f"A list may have at most {MAX_LIST_BYTES // 1000} kB."})
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise FormError({"list": "The file is not valid UTF-8. In a spreadsheet, save it as “CSV UTF-8”."}) from None
    if "\0" in text:
        raise FormError({"list": "The file is not a text. Save the list as CSV."})
    return text


def parse_people(text: str, *, need_addresses: bool = False) -> list[Invitee]:
    """The people of a list: a name or an address in each line, or CSV with columns for both.

    >>> parse_people("name,email\\nAda,ada@example.org\\nBen")
    [Invitee(name='Ada', email='ada@example.org'), Invitee(name='Ben', email=None)]
    """
    people: list[Invitee] = []
    wrong: list[WrongLine] = []
    seen: dict[str, int] = {}
    columns: tuple[int | None, int | None] | None = None
    for line, cells in _read_rows(text):
        if not people and not wrong and columns is None:
            columns = _header(cells)
            if columns is not None:
                continue
        try:
            invitee = _invitee(cells, columns)
            if need_addresses and invitee.email is None:
                raise ValueError("an e-mail address is missing")
            key = (invitee.email or invitee.name or "").casefold()
            if key in seen:
                raise ValueError(f"the same as in line {seen[key]}")
        except ValueError as error:
            wrong.append(WrongLine(line, str(error)))
            continue
        seen[key] = line
        people.append(invitee)
    if wrong:
        raise WrongListError(wrong)
    if not people:
        raise FormError({"people": "Enter a name or an e-mail address in each line, or choose a file."})
    if len(people) > MAX_PEOPLE:
        raise FormError({"people": f"Invite at most {MAX_PEOPLE:,} people at once; the list has {len(people):,}."})
    return people


def _read_rows(text: str) -> Iterable[tuple[int, list[str]]]:
    """The rows of a list that are not empty, with the numbers of their lines."""
    first = next((line for line in text.splitlines() if line.strip()), "")
    delimiter = max("\t;,", key=first.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, skipinitialspace=True)
    line = 1
    try:
        for cells in reader:
            cleaned = [" ".join(cell.split()) for cell in cells]
            if any(cleaned):
                yield line, cleaned
            line = reader.line_num + 1
    except csv.Error as error:
        raise WrongListError([WrongLine(line, f"not valid CSV: {error}")]) from None


def _header(cells: Sequence[str]) -> tuple[int | None, int | None] | None:
    """The columns of names and addresses, if the first row has their headings."""
    lowered = [cell.casefold() for cell in cells]
    email = next((place for place, cell in enumerate(lowered) if cell in _EMAIL_HEADERS), None)
    name = next((place for place, cell in enumerate(lowered) if cell in _NAME_HEADERS), None)
    return None if email is None and name is None else (name, email)


def _invitee(cells: Sequence[str], columns: tuple[int | None, int | None] | None) -> Invitee:
    """The person in a row; raises `ValueError` with what is wrong."""
    if columns is not None:
        name, email = (cells[place] if place is not None and place < len(cells) else "" for place in columns)
    elif len(cells) == 1 and (found := _NAME_AND_ADDRESS.fullmatch(cells[0])) is not None:
        name, email = found["name"].strip(' "'), found["email"].strip()
    else:
        email = next((cell for cell in cells if "@" in cell), "")
        name = next((cell for cell in cells if cell and cell != email), "")
    if not name and not email:
        raise ValueError("neither a name nor an e-mail address")
    if email and not is_address(email):
        raise ValueError(f"{email[:80]!r} is not an e-mail address")
    if len(name) > _MAX_NAME_LENGTH or not name.isprintable():
        raise ValueError(f"a name must have at most {_MAX_NAME_LENGTH} printable characters")
    return Invitee(name or None, email or None)


def create_links(
    service: Service, by: User, people: Sequence[Invitee], challenge: Challenge | None, days: int
) -> list[str]:
    """The secrets of new links, one for each person."""
    made = [secrets.token_urlsafe(32) for _ in people]
    _create(service, by, people, challenge, days, made, None)
    return made


def mail_links(service: Service, by: User, people: Sequence[Invitee], challenge: Challenge | None, days: int) -> None:
    """Send a link to each person by e-mail. Nobody else sees it, so it confirms their address."""
    if service.settings.smtp is None:
        raise FormError({"": outbox.NO_MAIL})
    _create(service, by, people, challenge, days, [secrets.token_urlsafe(32) for _ in people], "queued")


def _create(
    service: Service,
    by: User,
    people: Sequence[Invitee],
    challenge: Challenge | None,
    days: int,
    made: Sequence[str],
    mail: str | None,
) -> None:
    """Store the invitations of a list. They replace earlier ones of the same sender to the same people."""
    now = service.now()
    challenge_id = None if challenge is None else challenge.id
    with service.database.writing() as session:
        _check_challenge(session, by, challenge)
        for start in range(0, len(people), 500):
            some = people[start : start + 500]
            same_person = or_(
                Invitation.email.in_([each.email for each in some if each.email]),
                Invitation.email.is_(None) & Invitation.name.in_([each.name for each in some if not each.email]),
            )
            earlier = (Invitation.created_by == by.id) & (Invitation.max_uses == 1) & (Invitation.uses == 0)
            earlier &= Invitation.revoked.is_(None) & Invitation.challenge_id.is_not_distinct_from(challenge_id)
            session.execute(update(Invitation).where(earlier, same_person).values(revoked=now))
        invitations = [
            Invitation(
                secret=hash_secret(secret),
                name=person.name,
                email=person.email,
                mail=mail,
                created_by=by.id,
                created=now,
                expires=now + timedelta(days=days),
                challenge_id=challenge_id,
            )
            for person, secret in zip(people, made, strict=True)
        ]
        session.add_all(invitations)
        session.flush()
        if mail is not None:
            for each in invitations:
                outbox.enqueue(session, service, "invitation", each.email or "", invitation=each.id)
        audit.record(session, service, by, "invite", challenge, people=len(people), mailed=mail is not None)


def create_shared_link(service: Service, by: User, uses: int, days: int, challenge: Challenge | None) -> str:
    """The secret of a new link by which `uses` people can sign up."""
    secret, now = secrets.token_urlsafe(32), service.now()
    with service.database.writing() as session:
        _check_challenge(session, by, challenge)
        session.add(
            Invitation(
                secret=hash_secret(secret),
                created_by=by.id,
                created=now,
                expires=now + timedelta(days=days),
                max_uses=uses,
                challenge_id=None if challenge is None else challenge.id,
            )
        )
        audit.record(session, service, by, "invite", challenge, people=uses, mailed=False)
    return secret


def _check_challenge(session: Session, by: User, challenge: Challenge | None) -> None:
    if challenge is not None and session.get(Organiser, (challenge.id, by.id)) is None:
        raise FormError({"challenge": "Choose a challenge that you organise."})


def revoke_invitation(service: Service, by: User, invitation_id: int) -> None:
    """End an invitation of this user. Whoever signed up with it keeps their account."""
    with service.database.writing() as session:
        own = (Invitation.id == invitation_id) & (Invitation.created_by == by.id)
        revoked = update(Invitation).where(own, Invitation.revoked.is_(None)).values(revoked=service.now())
        if session.scalar(revoked.returning(Invitation.id)) is None:
            raise NotFoundError()
        audit.record(session, service, by, "revoke invitation", invitation=invitation_id)


def invitation_state(invitation: Invitation, now: datetime) -> str:
    """Whether an invitation is "open", "used", "expired", "revoked" or "not delivered"."""
    if invitation.uses >= invitation.max_uses:
        return "used"
    if invitation.mail == "failed":
        return "not delivered"
    if invitation.revoked is not None:
        return "revoked"
    return "open" if invitation.expires > now else "expired"


def invited_to(session: Session, secret: str) -> Challenge | None:
    """The challenge that an invitation leads to, unless it is a draft."""
    of_link = select(Challenge).join(Invitation, Invitation.challenge_id == Challenge.id)
    of_link = of_link.where(Challenge.published.is_not(None))
    return session.scalar(of_link.where(Invitation.secret == hash_secret(secret))) if secret else None


def links_as_csv(people: Sequence[Invitee], links: Sequence[str], expires: datetime) -> bytes:
    """A file with the link of each person. No cell can be a formula in a spreadsheet."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(["name", "email", "link", "expires"])
    until = expires.isoformat(timespec="minutes")
    for person, link in zip(people, links, strict=True):
        writer.writerow([escape_formula(each) for each in (person.name or "", person.email or "", link, until)])
    return text.getvalue().encode("utf-8-sig")


def escape_formula(cell: str) -> str:
    """A cell of CSV that spreadsheets show as it is, and never compute.

    >>> escape_formula("=1+1"), escape_formula("Ada")
    ("'=1+1", 'Ada')
    """
    return f"'{cell}" if cell.startswith(_FORMULA_STARTS) else cell
