"""Challenges: the list, a challenge with its rules, its sample file, and how to take part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from fastapi import APIRouter, Request
from fastapi.responses import FileResponse, Response
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from tallymark.app.domain.challenges import find, state_of, takes_files
from tallymark.app.domain.permissions import MAY, Actor, subject_of
from tallymark.app.domain.teams import join
from tallymark.app.domain.versions import current_version, metrics_of
from tallymark.app.http.errors import FieldError, not_found
from tallymark.app.http.request_context import RequestContext, Visiting, answer_form, redirect
from tallymark.app.http.uploads import Sent
from tallymark.app.pages.challenges import ChallengeCard, ChallengePage, ChallengesPage, ColumnFacts
from tallymark.app.pages.challenges import TeamCard as OwnTeam
from tallymark.app.pages.formatting import TASKS, arrow, direction, explain_metrics, many, maybe, show_rules
from tallymark.app.store.models import Challenge, Member, Team, User, Version
from tallymark.submissions.settings import requires_every_row

router = APIRouter()
_MEANING = {
    "labels": ("what you predict", "cat"),
    "numbers": ("the number that you predict", "12.5"),
    "ranking": ("a score: the higher, the further up in its query", "0.73"),
    "probabilities": ("the probability of the positive class", "0.73"),
}


@router.get("/challenges")
def challenges(visit: Visiting) -> Response:
    """All challenges, those that are open first."""
    visit.may("see challenges")
    with visit.service.database.reading() as session:
        every = session.scalars(select(Challenge).order_by(Challenge.created.desc())).all()
        order = {"open": 0, "soon": 1, "closed": 2}
        ordered = sorted(every, key=lambda each: order[state_of(each, visit.now)])
        view = ChallengesPage(visit.shell("Challenges"), tiles(session, visit, ordered))
    return visit.page("challenges.html", view)


def tiles(session: Session, visit: RequestContext, found: Sequence[Challenge]) -> list[ChallengeCard]:
    """Challenges in a list, as far as they can be seen."""
    cards = []
    for each in found:
        version = current_version(session, each)
        if version is None or not MAY["see a challenge"](Actor(visit.user), subject_of(each, version)):
            continue
        key, item = next(iter(metrics_of(version).items()))
        cards.append(
            ChallengeCard(
                each.slug,
                each.title,
                each.summary,
                TASKS[version.task],
                key,
                arrow(item),
                direction(item),
                state_of(each, visit.now),
                maybe(each.deadline, visit.now),
                many(_teams(session, each), "team"),
            )
        )
    return cards


def _teams(session: Session, challenge: Challenge) -> int:
    asked = select(func.count()).select_from(Team).where(Team.challenge_id == challenge.id, Team.baseline.is_(False))
    return session.scalar(asked) or 0


@router.get("/challenges/{slug}")
def challenge(slug: str, visit: Visiting) -> Response:
    """A challenge with its rules."""
    return _page(visit, slug)


def _page(
    visit: RequestContext, slug: str, values: Mapping[str, str] | None = None, errors: Mapping[str, str] | None = None
) -> Response:
    with visit.service.database.reading() as session:
        found, version = find(session, slug)
        actor = visit.may("see a challenge", session, subject_of(found, version))
        if version is None:
            raise not_found()
        state = state_of(found, visit.now)
        team = None if actor.team_id is None else _own_team(session, actor.team_id)
        view = ChallengePage(
            shell=visit.shell(found.title, values, errors),
            slug=slug,
            title=found.title,
            summary=found.summary,
            state=state,
            rules=show_rules(found.rules),
            task=TASKS[version.task],
            metrics=explain_metrics(metrics_of(version).items()),
            columns=_columns(version),
            example=_example(visit, version),
            opens=maybe(found.opens, visit.now),
            deadline=maybe(found.deadline, visit.now),
            late="Taken and marked, but not ranked" if found.late == "mark" else "Nothing is taken",
            quota=f"{found.quota} a day for each team",
            split=split_sentence(version),
            finals=_finals(found, version),
            shown=_shown(found, version),
            teams=many(_teams(session, found), "team"),
            team=team,
            may_join=actor.user is not None and team is None and (state == "soon" or takes_files(found, visit.now)),
            may_submit=team is not None and takes_files(found, visit.now),
            may_organise=visit.organises,
        )
    return visit.page("challenge.html", view, 422 if errors else 200)


def _own_team(session: Session, team_id: int) -> OwnTeam:
    team = session.get_one(Team, team_id)
    names = session.scalars(select(User.name).join(Member, Member.user_id == User.id).where(Member.team_id == team_id))
    return OwnTeam(team.name, team.code, sorted(names))


def _columns(version: Version) -> list[ColumnFacts]:
    whole = requires_every_row(version.task, version.missing, metrics_of(version).values())
    need = "each one once" if whole else "each at most once; one that is missing counts as wrong"
    ids = ColumnFacts(version.id_column, f"the ids that are asked for, {need}", "17")
    if version.task == "probabilities" and version.classes:
        share = f"{1 / len(version.classes):.3g}"
        return [ids, *(ColumnFacts(name, f"the probability of {name}", share) for name in version.classes)]
    return [ids, ColumnFacts(version.label_column, *_MEANING[version.task])]


def _example(visit: RequestContext, version: Version) -> str:
    """The first lines of the sample."""
    with visit.service.files.path(version.sample).open(encoding="utf-8") as file:
        return "".join(line for line, _ in zip(file, range(4), strict=False)).rstrip("\n")


def split_sentence(version: Version) -> str:
    """Which rows are scored when, in words."""
    if version.public is None:
        return f"All {version.rows:,} rows of the answers are scored at once."
    private = version.rows - version.public_rows
    return (
        f"Scores are of {version.public_rows:,} public rows while the challenge runs. The {private:,} private rows, "
        "which decide in the end, are told when it is over. Nobody is told which rows are which."
    )


def _finals(challenge: Challenge, version: Version) -> str:
    if version.public is None:
        return "The best submission of a team counts"
    most = many(challenge.finals, "submission")
    return f"A team chooses up to {most} for the private part; else its best in public counts"


def _shown(challenge: Challenge, version: Version) -> list[str]:
    told = ["Your scores, and where they stand on the leaderboard."]
    if challenge.shows_intervals:
        told.append("How sure each score is: its 95 % interval.")
    labels = version.task == "labels"
    if challenge.shows_counts and labels:
        told.append("How many rows are right and wrong.")
    if challenge.shows_classes and labels:
        told.append("Precision, recall and F1 of each class.")
    return [*told, "Never the answers, nor which rows are right."]


@router.get("/challenges/{slug}/sample")
def sample(slug: str, visit: Visiting) -> Response:
    """A file with every id that is asked for."""
    with visit.service.database.reading() as session:
        found, version = find(session, slug)
        visit.may("take a sample", session, subject_of(found, version))
        if version is None:
            raise not_found()
    return FileResponse(visit.service.files.path(version.sample), media_type="text/csv", filename=f"{slug}-sample.csv")


@router.post("/challenges/{slug}/join")
async def take_part(slug: str, request: Request, visit: Visiting) -> Response:
    """Take part, in a new team or in one that there is."""
    visit.may("have an account")
    return await answer_form(request, visit, partial(_take_part, slug))


def _take_part(slug: str, visit: RequestContext, sent: Sent) -> Response:
    with visit.service.database.reading() as session:
        found, version = find(session, slug)
        visit.may("join a challenge", session, subject_of(found, version))
    try:
        join(visit.service, visit.person(), found, sent.texts.get("team", "").strip(), sent.texts.get("code", ""))
    except FieldError as error:
        return _page(visit, slug, sent.texts, error.errors)
    return redirect(f"/challenges/{slug}", "joined")
