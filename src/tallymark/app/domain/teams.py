"""Teams: who takes part together, and what they choose to be ranked in the end."""

from __future__ import annotations

import secrets
from collections.abc import Sequence

from sqlalchemy import func, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from tallymark.app.domain import leaderboards
from tallymark.app.domain.accounts import check_name, name_key
from tallymark.app.domain.challenges import accepts_submissions, is_over
from tallymark.app.domain.errors import FieldError, not_found
from tallymark.app.domain.versions import lock_challenge
from tallymark.app.service import Service
from tallymark.app.store.models import Challenge, Member, Submission, Team, User


def join(service: Service, user: User, challenge: Challenge, name: str, code: str) -> Team:
    """Take part: in a new team of this name, or in the one with this code. What an organiser sends is a baseline."""
    with service.database.writing() as session:
        held = session.get(Challenge, challenge.id)
        if held is None:
            raise not_found()
        if is_over(held, service.now()) and not accepts_submissions(held, service.now()):
            raise FieldError({"": "The challenge is over: nobody can join it any more."})
        if code.strip():
            team = session.scalar(select(Team).where(Team.code == code.strip(), Team.challenge_id == challenge.id))
            if team is None:
                raise FieldError({"code": "No team of this challenge has this code. Ask those in the team for it."})
        elif not name:
            raise FieldError({"team": "Give a new team its name, or enter the code of one that there is."})
        else:
            team = create_team(session, service, challenge, name, baseline=user.organiser)
        try:
            with session.begin_nested():
                session.add(Member(team_id=team.id, user_id=user.id, challenge_id=challenge.id))
        except IntegrityError:
            raise FieldError({"": "You take part in this challenge already."}) from None
        return team


def create_team(session: Session, service: Service, challenge: Challenge, name: str, *, baseline: bool = False) -> Team:
    """A team without members."""
    shown = check_name(name, "team")
    team = Team(
        challenge_id=challenge.id,
        name=shown,
        key=name_key(shown),
        code=secrets.token_urlsafe(12),
        baseline=baseline,
        created=service.now(),
    )
    try:
        with session.begin_nested():
            session.add(team)
    except IntegrityError:
        raise FieldError({"team": "Another team has this name. Take another."}) from None
    return team


def choose_finals(
    service: Service, challenge: Challenge, team_id: int, keys: Sequence[str], shown: Sequence[str] | None = None
) -> int:
    """Choose the submissions that are ranked in the end, of those `shown` or of all; how many are chosen now."""
    wanted = set(keys)
    with service.database.writing() as session:
        now_so = lock_challenge(session, challenge.id)
        if now_so is None:
            raise not_found()
        if is_over(now_so, service.now()):
            raise FieldError({"final": "The challenge is over: the choice stands."})
        own = (Submission.challenge_id == challenge.id) & (Submission.team_id == team_id)
        able = own & (Submission.state == "scored") & Submission.late.is_(False)
        found = session.scalars(select(Submission.id).where(able & Submission.key.in_(wanted))).all()
        if len(found) != len(wanted):
            raise FieldError({"final": "Only submissions that were scored in time can be chosen."})
        asked = able if shown is None else able & Submission.key.in_(shown)
        session.execute(update(Submission).where(asked).values(final=False))
        session.execute(update(Submission).where(Submission.id.in_(found)).values(final=True))
        chosen = session.scalar(select(func.count()).select_from(Submission).where(own & Submission.final)) or 0
        if chosen > now_so.finals:
            raise FieldError({"final": f"At most {now_so.finals} can be chosen; these were {chosen}."})
        leaderboards.mark_changed(session, challenge.id)
    leaderboards.update_leaderboards(service, challenge.id)
    return chosen
