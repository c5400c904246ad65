"""Teams: joining a challenge, and choosing the final submissions."""

from __future__ import annotations

import secrets
from collections.abc import Sequence

from sqlalchemy import func, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from tallymark.app.domain import leaderboards
from tallymark.app.domain.accounts import check_look_alikes, check_name, name_key
from tallymark.app.domain.challenges import accepts_submissions, is_over
from tallymark.app.domain.errors import FormError, NotFoundError
from tallymark.app.domain.versions import lock_challenge
from tallymark.app.service import Service
from tallymark.app.store.models import Challenge, Member, Organiser, Submission, Team, User


def join_challenge(
    service: Service, user: User, challenge: Challenge, name: str, code: str, *, accepted: bool = False
) -> Team:
    """Join a challenge in a new team of this name, or in the team with this code, with its rules accepted where it
    asks for that. Teams that its organisers make are baselines."""
    with service.database.writing() as session:
        current = lock_challenge(session, challenge.id, shared=bool(code.strip()))
        if current is None:
            raise NotFoundError()
        if is_over(current, service.now()) and not accepts_submissions(current, service.now()):
            raise FormError({"": "The challenge is over; nobody can join any more."})
        if current.must_accept and not accepted:
            raise FormError({"accept": "Read the rules and accept them to take part."})
        organises = session.get(Organiser, (challenge.id, user.id)) is not None
        if code.strip():
            of_code = select(Team).where(Team.code == code.strip(), Team.challenge_id == challenge.id)
            team = session.scalar(of_code.with_for_update())  # of two who would be the last, one is refused
            if team is None:
                raise FormError({"code": "No team in this challenge has this code. Ask a member of the team."})
            if team.baseline != organises:
                raise FormError({"code": "Organisers and participants cannot be in the same team."})
            problem = size_problem(session, current, team.id, 1)
            if problem:
                raise FormError({"code": problem})
        elif not name:
            raise FormError({"team": "Enter a name for a new team, or the code of an existing one."})
        else:
            team = create_team(session, service, challenge, name, baseline=organises)
        try:
            with session.begin_nested():
                accepted_at = service.now() if accepted else None
                member = Member(team_id=team.id, user_id=user.id, challenge_id=challenge.id, accepted=accepted_at)
                session.add(member)
        except IntegrityError:
            raise FormError({"": "You already take part in this challenge."}) from None
        return team


def create_team(session: Session, service: Service, challenge: Challenge, name: str, *, baseline: bool = False) -> Team:
    """A new team without members."""
    displayed = check_name(name, "team")
    check_look_alikes(displayed, session.scalars(select(Team.name).where(Team.challenge_id == challenge.id)), "team")
    team = Team(
        challenge_id=challenge.id,
        name=displayed,
        key=name_key(displayed),
        code=secrets.token_urlsafe(12),
        baseline=baseline,
        created=service.now(),
    )
    try:
        with session.begin_nested():
            session.add(team)
    except IntegrityError:
        raise FormError({"team": "This team name is taken. Choose another."}) from None
    return team


def size_problem(session: Session, challenge: Challenge, team_id: int, more: int) -> str:
    """Why so many more cannot be in a team; empty if they can. The challenge must be locked, or the team."""
    members = session.scalar(select(func.count()).select_from(Member).where(Member.team_id == team_id)) or 0
    if challenge.team_size is None or members + more <= challenge.team_size:
        return ""
    return f"A team in this challenge may have at most {challenge.team_size}; this would be {members + more}."


def choose_finals(
    service: Service, challenge: Challenge, team_id: int, keys: Sequence[str], shown: Sequence[str] | None = None
) -> int:
    """Select the submissions that are ranked in the private part; how many are selected now.

    With `shown`, the submissions that the form listed, selections among the others stay.
    """
    selected = set(keys)
    with service.database.writing() as session:
        locked = lock_challenge(session, challenge.id)
        if locked is None:
            raise NotFoundError()
        if is_over(locked, service.now()):
            raise FormError({"final": "The challenge is over; the selection can no longer change."})
        own = (Submission.challenge_id == challenge.id) & (Submission.team_id == team_id)
        own &= Submission.disqualified.is_(None)
        eligible = own & (Submission.state == "scored") & Submission.late.is_(False)
        ids = session.scalars(select(Submission.id).where(eligible & Submission.key.in_(selected))).all()
        if len(ids) != len(selected):
            raise FormError({"final": "Only submissions from before the deadline that were scored can be selected."})
        listed = eligible if shown is None else eligible & Submission.key.in_(shown)
        session.execute(update(Submission).where(listed).values(final=False))
        session.execute(update(Submission).where(Submission.id.in_(ids)).values(final=True))
        chosen = session.scalar(select(func.count()).select_from(Submission).where(own & Submission.final)) or 0
        if chosen > locked.finals:
            raise FormError({"final": f"Select at most {locked.finals}; you selected {chosen}."})
        leaderboards.mark_changed(session, challenge.id)
    leaderboards.update_leaderboards(service, challenge.id)
    return chosen


def count_teams(session: Session, challenge: Challenge) -> int:
    """How many teams take part in a challenge, without baselines."""
    teams = select(func.count()).select_from(Team).where(Team.challenge_id == challenge.id, Team.baseline.is_(False))
    return session.scalar(teams) or 0


def member_names(session: Session, team_id: int) -> list[str]:
    """The names of the members of a team, sorted."""
    names = select(User.name).join(Member, Member.user_id == User.id).where(Member.team_id == team_id)
    return sorted(session.scalars(names))
