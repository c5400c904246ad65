"""The team of a user in a challenge, and the page where those join who got its link."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from fastapi import APIRouter, Request
from fastapi.responses import Response
from sqlalchemy import select

from tallymark.app.domain import team_changes
from tallymark.app.domain.challenges import find_challenge
from tallymark.app.domain.errors import FormError, NotFoundError
from tallymark.app.domain.permissions import resource_of
from tallymark.app.domain.teams import join_challenge, member_names
from tallymark.app.http.errors import invalid_form
from tallymark.app.http.request_context import ContextDep, RequestContext, handle_form, redirect
from tallymark.app.http.uploads import ParsedForm
from tallymark.app.pages.formatting import pluralize
from tallymark.app.pages.people import IncomingMerge, JoinTeamPage, TeamPage
from tallymark.app.store.models import Team

router = APIRouter()


@router.get("/challenges/{slug}/team")
def team(slug: str, context: ContextDep) -> Response:
    """The team of the user."""
    return _team_page(context, slug)


def _team_page(
    context: RequestContext,
    slug: str,
    values: Mapping[str, str] | None = None,
    errors: Mapping[str, str] | None = None,
) -> Response:
    with context.service.database.reading() as session:
        challenge, version = find_challenge(session, slug)
        actor = context.require("manage own team", session, resource_of(challenge, version))
        if actor.team_id is None:
            raise NotFoundError()
        own = session.get_one(Team, actor.team_id)
        requests = team_changes.merge_requests(session, own.id)
        view = TeamPage(
            context.shell("Your team", {"name": own.name, **(values or {})}, errors),
            slug,
            challenge.title,
            own.name,
            member_names(session, own.id),
            f"{context.settings.address}/challenges/{slug}/join/{own.code}",
            "" if challenge.team_size is None else f"A team has at most {pluralize(challenge.team_size, 'member')}.",
            not team_changes.has_submitted(session, own.id),
            not own.baseline,
            [IncomingMerge(each.team_id, each.team) for each in requests if each.into_id == own.id],
            next((each.into for each in requests if each.team_id == own.id), ""),
        )
    return context.page("team.html", view, 422 if errors else 200)


@router.post("/challenges/{slug}/team")
async def change_team(slug: str, request: Request, context: ContextDep) -> Response:
    """Rename or leave the team, renew its link, or ask for, accept, decline or withdraw a merge."""
    context.require("have an account")
    return await handle_form(request, context, partial(_change_team, slug))


def _change_team(slug: str, context: RequestContext, form: ParsedForm) -> Response:
    with context.service.database.reading() as session:
        challenge, version = find_challenge(session, slug)
        context.require("manage own team", session, resource_of(challenge, version))
    service, user, action = context.service, context.signed_in_user(), form.values.get("action", "")
    path, flash = f"/challenges/{slug}/team", "saved"
    try:
        if action == "rename":
            team_changes.rename_team(service, user, challenge, form.values.get("name", ""))
        elif action == "renew":
            team_changes.renew_code(service, user, challenge)
        elif action == "leave":
            team_changes.leave_team(service, user, challenge)
            path, flash = f"/challenges/{slug}", "left"
        elif action == "merge":
            team_changes.request_merge(service, user, challenge, form.values.get("merge", ""))
            flash = "merge-requested"
        elif action == "withdraw":
            team_changes.withdraw_merge(service, user, challenge)
        elif action == "accept":
            team_changes.accept_merge(service, user, challenge, _team_id(form))
            flash = "merged"
        elif action == "decline":
            team_changes.decline_merge(service, user, challenge, _team_id(form))
        else:
            raise invalid_form()
    except FormError as error:
        return _team_page(context, slug, form.values, error.errors)
    return redirect(path, flash)


def _team_id(form: ParsedForm) -> int:
    text = form.values.get("team", "")
    if not text.isascii() or not text.isdigit() or len(text) > 9:
        raise invalid_form()
    return int(text)


@router.get("/challenges/{slug}/join/{code}")
def join_form(slug: str, code: str, context: ContextDep) -> Response:
    """Ask whether the user wants to join the team of a link."""
    context.require("have an account")
    return _join_page(context, slug, code)


def _join_page(context: RequestContext, slug: str, code: str, errors: Mapping[str, str] | None = None) -> Response:
    with context.service.database.reading() as session:
        challenge, version = find_challenge(session, slug)
        context.require("join a challenge", session, resource_of(challenge, version))
        found = session.scalar(select(Team).where(Team.code == code, Team.challenge_id == challenge.id))
        if found is None:
            raise NotFoundError("This link no longer works.", "Ask a member of the team for a new one.")
        names = member_names(session, found.id)
    shell = context.shell("Join a team", {}, errors)
    view = JoinTeamPage(shell, slug, challenge.title, code, found.name, names, challenge.must_accept)
    return context.page("join_team.html", view, 422 if errors else 200)


@router.post("/challenges/{slug}/join/{code}")
async def join_by_link(slug: str, code: str, request: Request, context: ContextDep) -> Response:
    """Join the team of a link."""
    context.require("have an account")
    return await handle_form(request, context, partial(_join_by_link, slug, code))


def _join_by_link(slug: str, code: str, context: RequestContext, form: ParsedForm) -> Response:
    with context.service.database.reading() as session:
        challenge, version = find_challenge(session, slug)
        context.require("join a challenge", session, resource_of(challenge, version))
    try:
        accepted = form.values.get("accept") == "1"
        join_challenge(context.service, context.signed_in_user(), challenge, "", code, accepted=accepted)
    except FormError as error:
        errors = {field if field == "accept" else "": message for field, message in error.errors.items()}
        return _join_page(context, slug, code, errors)
    return redirect(f"/challenges/{slug}", "joined")
