"""Changes of teams: a new name or link, leaving, and merges that both teams agree to.

Each locks its challenge, so no file is submitted meanwhile; `teams` has how people join.
"""

from __future__ import annotations

import secrets
from typing import NamedTuple

from sqlalchemy import ColumnElement, delete, exists, func, or_, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from tallymark.app.domain import leaderboards
from tallymark.app.domain.accounts import check_look_alikes, check_name, name_key
from tallymark.app.domain.challenges import is_over
from tallymark.app.domain.errors import ConflictError, FormError, NotFoundError
from tallymark.app.domain.teams import size_problem
from tallymark.app.domain.versions import lock_challenge
from tallymark.app.service import Service
from tallymark.app.store.database import dialect_insert
from tallymark.app.store.models import Challenge, LeaderboardEntry, Member, Quota, Submission, Team, TeamMerge, User

HAS_SUBMITTED = "Your team has submitted a file, so this can no longer change."


class MergeRequest(NamedTuple):
    """A request of one team to join another, by their ids and names."""

    team_id: int
    team: str
    into_id: int
    into: str


def has_submitted(session: Session, team_id: int) -> bool:
    """Whether a team has submitted any file, valid or not."""
    return bool(session.scalar(select(exists().where(Submission.team_id == team_id))))


def merge_requests(session: Session, team_id: int) -> list[MergeRequest]:
    """The requests from and to a team."""
    requests = session.scalars(select(TeamMerge).where(_of_team(team_id)).order_by(TeamMerge.created))
    return [
        MergeRequest(
            each.team_id,
            session.get_one(Team, each.team_id).name,
            each.into_id,
            session.get_one(Team, each.into_id).name,
        )
        for each in requests
    ]


def rename_team(service: Service, user: User, challenge: Challenge, name: str) -> None:
    """Give the team of a user another name, before its first submission."""
    displayed = check_name(name, "name")
    try:
        with service.database.writing() as session:
            _, team = _lock_team(session, user, challenge)
            if has_submitted(session, team.id):
                raise FormError({"name": HAS_SUBMITTED})
            others = select(Team.name).where(Team.challenge_id == challenge.id, Team.id != team.id)
            check_look_alikes(displayed, session.scalars(others), "name")
            team.name, team.key = displayed, name_key(displayed)
    except IntegrityError:
        raise FormError({"name": "This team name is taken. Choose another."}) from None


def renew_code(service: Service, user: User, challenge: Challenge) -> None:
    """Give the team of a user another link and code to join by; the earlier ones end."""
    with service.database.writing() as session:
        _, team = _lock_team(session, user, challenge)
        team.code = secrets.token_urlsafe(12)


def leave_team(service: Service, user: User, challenge: Challenge) -> None:
    """Leave a team that has not submitted anything. The last one to leave deletes it."""
    with service.database.writing() as session:
        _, team = _lock_team(session, user, challenge)
        if has_submitted(session, team.id):
            raise FormError({"": HAS_SUBMITTED})
        session.execute(delete(Member).where(Member.team_id == team.id, Member.user_id == user.id))
        if not session.scalar(select(exists().where(Member.team_id == team.id))):
            _delete_team(session, team)


def request_merge(service: Service, user: User, challenge: Challenge, name: str) -> None:
    """Ask another team, by its name, to take in the team of a user. A new request replaces the earlier one."""
    with service.database.writing() as session:
        locked, team = _lock_team(session, user, challenge)
        of_challenge = (Team.challenge_id == challenge.id) & (Team.key == name_key(" ".join(name.split())))
        into = session.scalar(select(Team).where(of_challenge))
        if into is None:
            raise FormError({"merge": "No team in this challenge has this name."})
        _check_merge(session, service, locked, team, into)
        session.execute(delete(TeamMerge).where(TeamMerge.team_id == team.id))
        session.add(TeamMerge(team_id=team.id, into_id=into.id, requested_by=user.id, created=service.now()))


def withdraw_merge(service: Service, user: User, challenge: Challenge) -> None:
    """Withdraw the request of the team of a user."""
    with service.database.writing() as session:
        _, team = _lock_team(session, user, challenge)
        session.execute(delete(TeamMerge).where(TeamMerge.team_id == team.id))


def decline_merge(service: Service, user: User, challenge: Challenge, team_id: int) -> None:
    """Decline the request of another team."""
    with service.database.writing() as session:
        _, into = _lock_team(session, user, challenge)
        _find_request(session, team_id, into)
        session.execute(delete(TeamMerge).where(TeamMerge.team_id == team_id))


def accept_merge(service: Service, user: User, challenge: Challenge, team_id: int) -> None:
    """Take another team, which asked for it, into the team of a user: with its members, its submissions, and its used
    quota, so that both together have no more than one team afterwards."""
    with service.database.writing() as session:
        locked, into = _lock_team(session, user, challenge)
        team = _find_request(session, team_id, into)
        _check_merge(session, service, locked, team, into)
        finals = _count_finals(session, team.id) + _count_finals(session, into.id)
        if finals > locked.finals:  # more than one team may select: those of the team that asked are dropped
            session.execute(update(Submission).where(Submission.team_id == team.id).values(final=False))
        session.execute(update(Member).where(Member.team_id == team.id).values(team_id=into.id))
        session.execute(update(Submission).where(Submission.team_id == team.id).values(team_id=into.id))
        for day, used in session.execute(select(Quota.day, Quota.used).where(Quota.team_id == team.id)).all():
            first = dialect_insert(session)(Quota).values(team_id=into.id, day=day, used=used)
            added = first.on_conflict_do_update(
                index_elements=[Quota.team_id, Quota.day], set_={"used": Quota.used + used}
            )
            session.execute(added)
        session.execute(delete(LeaderboardEntry).where(LeaderboardEntry.team_id == team.id))
        _delete_team(session, team)
        leaderboards.mark_changed(session, challenge.id)
    leaderboards.update_leaderboards(service, challenge.id)


def _of_team(team_id: int) -> ColumnElement[bool]:
    return or_(TeamMerge.team_id == team_id, TeamMerge.into_id == team_id)


def _lock_team(session: Session, user: User, challenge: Challenge) -> tuple[Challenge, Team]:
    """The challenge, locked, and the team of a user in it as it is now."""
    locked = lock_challenge(session, challenge.id)
    team = select(Team).join(Member, Member.team_id == Team.id)
    found = session.scalar(team.where(Member.challenge_id == challenge.id, Member.user_id == user.id))
    if locked is None or found is None:
        raise NotFoundError()
    return locked, found


def _find_request(session: Session, team_id: int, into: Team) -> Team:
    """The team that asks to join another one."""
    request = session.get(TeamMerge, team_id)
    if request is None or request.into_id != into.id:
        raise ConflictError("This request was withdrawn, or has been answered.")
    return session.get_one(Team, team_id)


def _check_merge(session: Session, service: Service, challenge: Challenge, team: Team, into: Team) -> None:
    """Raise `FormError` if two teams cannot merge."""
    if team.id == into.id:
        raise FormError({"merge": "This is your own team."})
    if team.baseline or into.baseline:
        raise FormError({"merge": "Teams of organisers cannot merge."})
    if is_over(challenge, service.now()):
        raise FormError({"merge": "The challenge is over; teams can no longer merge."})
    problem = size_problem(session, challenge, into.id, _count_members(session, team.id))
    if problem:
        raise FormError({"merge": problem})


def _count_members(session: Session, team_id: int) -> int:
    return session.scalar(select(func.count()).select_from(Member).where(Member.team_id == team_id)) or 0


def _count_finals(session: Session, team_id: int) -> int:
    chosen = (Submission.team_id == team_id) & Submission.final
    return session.scalar(select(func.count()).select_from(Submission).where(chosen)) or 0


def _delete_team(session: Session, team: Team) -> None:
    session.execute(delete(TeamMerge).where(_of_team(team.id)))
    session.execute(delete(Quota).where(Quota.team_id == team.id))
    session.flush()
    session.execute(delete(Team).where(Team.id == team.id))
