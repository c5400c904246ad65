"""The submissions of a challenge as its organisers search, filter and sort them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from sqlalchemy import Select, and_, func, or_, select
from sqlalchemy.orm import Session, joinedload, selectinload

from tallymark.app.domain.accounts import name_key
from tallymark.app.domain.errors import FormError
from tallymark.app.domain.leaderboards import ranking_key
from tallymark.app.domain.versions import metrics_of
from tallymark.app.store.models import StoredScore, Submission, Team, User, Version
from tallymark.submissions.public_private import PUBLIC

STATES = ("queued", "scored", "rejected", "failed")
MARKS = ("late", "disqualified", "final", "baseline")
SORTS = ("newest", "oldest", "best", "worst", "team", "file")


class SubmissionFilter(NamedTuple):
    """Which submissions are listed, in which order; an empty field matches all."""

    text: str = ""
    """A part of the name of a team, a user or a file."""
    state: str = ""
    mark: str = ""
    team: int | None = None
    since: datetime | None = None
    until: datetime | None = None
    sort: str = SORTS[0]


def parse_filter(query: Mapping[str, str]) -> SubmissionFilter:
    """A filter from the fields of its form; raises `FormError` with all invalid fields."""
    errors: dict[str, str] = {}

    def choice(name: str, choices: Sequence[str], default: str = "") -> str:
        value = query.get(name, "") or default
        if value not in (default, *choices):
            errors[name] = f"Choose one of {', '.join(choices)}."
        return value

    def time(name: str) -> datetime | None:
        text = query.get(name, "").strip()
        try:
            found = datetime.fromisoformat(text) if text else None
            return found if found is None else found.replace(tzinfo=found.tzinfo or UTC).astimezone(UTC)
        except (ValueError, OverflowError):
            errors[name] = "Enter a date and time in UTC, such as 2027-01-31T12:00."
            return None

    team = query.get("team", "")
    if team and not (team.isascii() and team.isdigit() and len(team) < 10):
        errors["team"] = "Choose a team of this challenge."
    found = SubmissionFilter(
        query.get("q", "").strip()[:200],
        choice("state", STATES),
        choice("mark", MARKS),
        int(team) if team and "team" not in errors else None,
        time("since"),
        time("until"),
        choice("sort", SORTS, SORTS[0]),
    )
    if found.since and found.until and found.since >= found.until:
        errors["until"] = "The end must be after the beginning."
    if errors:
        raise FormError(errors)
    return found


def count_submissions(session: Session, version: Version, wanted: SubmissionFilter) -> int:
    """How many submissions match."""
    return session.scalar(_matching(select(func.count()).select_from(Submission), version, wanted)) or 0


def list_submissions(
    session: Session, version: Version, wanted: SubmissionFilter, start: int = 0, size: int | None = None
) -> Sequence[Submission]:
    """The matching submissions to the challenge of a version, with their teams, users and scores."""
    score = (StoredScore.submission_id == Submission.id) & (StoredScore.version_id == version.id)
    score &= (StoredScore.part == PUBLIC) & (StoredScore.place == 0)
    query = _matching(select(Submission).outerjoin(StoredScore, score), version, wanted)
    return session.scalars(
        query.order_by(*_order(version, wanted.sort))
        .offset(start)
        .limit(size)
        .options(joinedload(Submission.team), joinedload(Submission.user), selectinload(Submission.scores))
    ).all()


def _matching(query: Select[Any], version: Version, wanted: SubmissionFilter) -> Select[Any]:
    query = query.join(Team, Team.id == Submission.team_id).join(User, User.id == Submission.user_id)
    conditions: list[Any] = [Submission.challenge_id == version.challenge_id]
    if wanted.text:
        key = name_key(wanted.text)
        names = [column.contains(key, autoescape=True) for column in (Team.key, User.key)]
        conditions.append(or_(*names, Submission.file_name.icontains(wanted.text, autoescape=True)))
    if wanted.state:
        conditions.append(Submission.state == wanted.state)
    if wanted.mark:
        marks: dict[str, Any] = {
            "late": Submission.late,
            "disqualified": Submission.disqualified.is_not(None),
            "final": Submission.final,
            "baseline": Team.baseline,
        }
        conditions.append(marks[wanted.mark])
    if wanted.team is not None:
        conditions.append(Submission.team_id == wanted.team)
    if wanted.since is not None:
        conditions.append(Submission.created >= wanted.since)
    if wanted.until is not None:
        conditions.append(Submission.created < wanted.until)
    return query.where(and_(*conditions))


def _order(version: Version, sort: str) -> list[Any]:
    newest_first: list[Any] = [Submission.created.desc(), Submission.id.desc()]
    distance = ranking_key(next(iter(metrics_of(version).values())), StoredScore.value, func.abs)
    orders = {
        "newest": newest_first,
        "oldest": [Submission.created, Submission.id],
        "best": [distance.asc().nulls_last(), *newest_first],
        "worst": [distance.desc().nulls_last(), *newest_first],
        "team": [Team.key, *newest_first],
        "file": [func.lower(Submission.file_name), *newest_first],
    }
    return orders[sort]
