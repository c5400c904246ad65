"""Challenges: the list, a challenge with its rules, its sample file, and joining it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from fastapi import APIRouter, Request
from fastapi.responses import FileResponse, Response
from sqlalchemy import select
from sqlalchemy.orm import Session

from tallymark.app.domain.announcements import list_announcements
from tallymark.app.domain.challenges import (
    accepts_submissions,
    challenge_state,
    find_challenge,
    state_once_published,
)
from tallymark.app.domain.data_files import list_data_files
from tallymark.app.domain.errors import FormError, NotFoundError
from tallymark.app.domain.permissions import Actor, Resource, is_allowed, resource_of
from tallymark.app.domain.teams import count_teams, join_challenge, member_names
from tallymark.app.domain.versions import current_version
from tallymark.app.http.request_context import ContextDep, RequestContext, handle_form, redirect
from tallymark.app.http.uploads import ParsedForm
from tallymark.app.pages.challenges import (
    ChallengeCard,
    ChallengePage,
    ChallengesPage,
    TeamCard,
    challenge_card,
    describe_columns,
    describe_finals,
    describe_quota,
    describe_split,
    describe_visibility,
    explain_metrics,
)
from tallymark.app.pages.formatting import TASK_NAMES, optional_page_time, pluralize, render_markdown
from tallymark.app.pages.materials import announcement_card, data_file_rows
from tallymark.app.store.models import Challenge, Team, Version

router = APIRouter()
_EXAMPLE_LINES = 4


@router.get("/challenges")
def challenges(context: ContextDep) -> Response:
    """All challenges: open ones first, past ones last."""
    context.require("see challenges")
    with context.service.database.reading() as session:
        newest_first = session.scalars(select(Challenge).order_by(Challenge.created.desc())).all()
        by_state: dict[str, list[Challenge]] = {"open": [], "soon": [], "closed": [], "draft": []}
        for each in newest_first:
            by_state[challenge_state(each, context.now)].append(each)
        current = challenge_cards(session, context, [*by_state["open"], *by_state["soon"]])
        past = challenge_cards(session, context, by_state["closed"])
        view = ChallengesPage(context.shell("Challenges"), current, past)
    return context.page("challenges.html", view)


def challenge_cards(session: Session, context: RequestContext, challenges: Sequence[Challenge]) -> list[ChallengeCard]:
    """The challenges that the user can see, as cards."""
    cards = []
    for each in challenges:
        version = current_version(session, each)
        if version is None or not is_allowed("see a challenge", Actor(context.user), resource_of(each, version)):
            continue
        state, teams = challenge_state(each, context.now), count_teams(session, each)
        cards.append(challenge_card(each, version, state, teams, context.now))
    return cards


@router.get("/challenges/{slug}")
def challenge(slug: str, context: ContextDep) -> Response:
    """A challenge with its rules."""
    return _challenge_page(context, slug)


@router.get("/organise/{slug}/preview")
def preview(slug: str, context: ContextDep) -> Response:
    """A challenge as participants see it, for its organisers."""
    context.require("have an account")
    with context.service.database.reading() as session:
        challenge, version = find_challenge(session, slug)
        context.require("organise a challenge", session, resource_of(challenge, version))
    return _challenge_page(context, slug, preview=True)


def _challenge_page(
    context: RequestContext,
    slug: str,
    values: Mapping[str, str] | None = None,
    errors: Mapping[str, str] | None = None,
    *,
    preview: bool = False,
) -> Response:
    with context.service.database.reading() as session:
        challenge, version = find_challenge(session, slug)
        actor = context.require("see a challenge", session, resource_of(challenge, version))
        if version is None:
            raise NotFoundError()
        state = challenge_state(challenge, context.now)
        accepts = accepts_submissions(challenge, context.now)
        if preview:
            actor, state = Actor(context.user), state_once_published(challenge, context.now)
        team = None if actor.team_id is None else _team_card(session, actor.team_id)
        view = ChallengePage(
            shell=context.shell(challenge.title, values, errors),
            slug=slug,
            title=challenge.title,
            summary=challenge.summary,
            state=state,
            rules=render_markdown(challenge.rules),
            task=TASK_NAMES[version.task],
            metrics=explain_metrics(version),
            columns=describe_columns(version),
            example=_first_lines(context, version),
            opens=optional_page_time(challenge.opens, context.now),
            deadline=optional_page_time(challenge.deadline, context.now),
            late="Accepted and marked as late, not ranked" if challenge.late == "mark" else "No submissions",
            quota=describe_quota(challenge),
            split=describe_split(challenge, version),
            finals=describe_finals(challenge, version),
            shown=describe_visibility(challenge, version),
            teams=pluralize(count_teams(session, challenge), "team"),
            team=team,
            may_join=actor.user is not None and team is None and (state == "soon" or accepts),
            may_submit=team is not None and accepts,
            may_organise=actor.organises,
            preview=preview,
            must_accept=challenge.must_accept,
            announcements=[announcement_card(each, context.now) for each in list_announcements(session, challenge)],
            data_files=data_file_rows(list_data_files(session, challenge), context.now),
            may_download=is_allowed("download data", actor, Resource(challenge, published=True)),
        )
    return context.page("challenge.html", view, 422 if errors else 200)


def _team_card(session: Session, team_id: int) -> TeamCard:
    team = session.get_one(Team, team_id)
    return TeamCard(team.name, team.code, member_names(session, team_id))


def _first_lines(context: RequestContext, version: Version) -> str:
    """The first lines of the sample submission."""
    with context.service.files.path(version.sample).open(encoding="utf-8") as file:
        return "".join(line for line, _ in zip(file, range(_EXAMPLE_LINES), strict=False)).rstrip("\n")


@router.get("/challenges/{slug}/sample")
def sample(slug: str, context: ContextDep) -> Response:
    """A sample submission with all ids."""
    with context.service.database.reading() as session:
        challenge, version = find_challenge(session, slug)
        context.require("take a sample", session, resource_of(challenge, version))
        if version is None:
            raise NotFoundError()
    path = context.service.files.path(version.sample)
    return FileResponse(path, media_type="text/csv", filename=f"{slug}-sample.csv")


@router.post("/challenges/{slug}/join")
async def join(slug: str, request: Request, context: ContextDep) -> Response:
    """Join a challenge, in a new or an existing team."""
    context.require("have an account")
    return await handle_form(request, context, partial(_join, slug))


def _join(slug: str, context: RequestContext, form: ParsedForm) -> Response:
    with context.service.database.reading() as session:
        challenge, version = find_challenge(session, slug)
        context.require("join a challenge", session, resource_of(challenge, version))
    name, code = form.values.get("team", "").strip(), form.values.get("code", "")
    try:
        accepted = form.values.get("accept") == "1"
        join_challenge(context.service, context.signed_in_user(), challenge, name, code, accepted=accepted)
    except FormError as error:
        return _challenge_page(context, slug, form.values, error.errors)
    return redirect(f"/challenges/{slug}", "joined")
