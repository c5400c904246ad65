"""Challenges: the list, one of them, its sample file, and joining it."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import FileResponse
from sqlalchemy import select
from sqlalchemy.orm import Session
from starlette.concurrency import run_in_threadpool

from tallymark.app.domain.challenges import challenge_state, find_challenge
from tallymark.app.domain.errors import NotFoundError
from tallymark.app.domain.permissions import is_allowed, resource_of
from tallymark.app.domain.quota import quota_status
from tallymark.app.domain.submissions import refusal_reason
from tallymark.app.domain.teams import count_teams, join_challenge, member_names
from tallymark.app.domain.versions import current_version, metrics_of
from tallymark.app.http.api_context import ApiContext, ReadDep, SubmitDep, read_json
from tallymark.app.pages.challenges import describe_columns
from tallymark.app.pages.formatting import metric_names
from tallymark.app.routes.api.cursors import Cursor, Limit, decode_cursor, encode_cursor
from tallymark.app.routes.api.models import (
    ChallengeFacts,
    ChallengeSummary,
    Column,
    JoinRequest,
    MetricFacts,
    Page,
    Quota,
    TeamFacts,
)
from tallymark.app.routes.api.openapi import describe, json_body
from tallymark.app.store.models import Challenge, Team, Version
from tallymark.metrics.base import Metric

router = APIRouter(prefix="/api/v1")


@router.get("/challenges", openapi_extra=describe(public=True))
def challenges(context: ReadDep, limit: Limit = 50, cursor: Cursor = "") -> Page[ChallengeSummary]:
    """The challenges that the user can see, the newest first."""
    context.require("see challenges")
    before = decode_cursor(cursor)
    query = select(Challenge).order_by(Challenge.id.desc())
    if before is not None:
        query = query.where(Challenge.id < before[0])
    items: list[ChallengeSummary] = []
    last = None
    with context.service.database.reading() as session:
        for each in session.scalars(query):
            version = current_version(session, each)
            actor = context.find_actor(session, each)
            if version is None or not is_allowed("see a challenge", actor, resource_of(each, version)):
                continue
            if len(items) == limit:
                return Page(items=items, next=encode_cursor(last or 0))
            items.append(_summary(session, context, each, version))
            last = each.id
    return Page(items=items)


def _summary(session: Session, context: ApiContext, challenge: Challenge, version: Version) -> ChallengeSummary:
    return ChallengeSummary(
        slug=challenge.slug,
        title=challenge.title,
        summary=challenge.summary,
        state=challenge_state(challenge, context.now),
        task=version.task,
        metric=metric_facts(version)[0],
        opens=challenge.opens,
        deadline=challenge.deadline,
        teams=count_teams(session, challenge),
    )


def metric_facts(version: Version) -> list[MetricFacts]:
    """The metrics of a version; the first ranks."""
    names = metric_names(version)
    return [
        MetricFacts(name=key, title=str(names[key]), better=_better(metric))
        for key, metric in metrics_of(version).items()
    ]


def _better(metric: Metric) -> str | float | None:
    return metric.better if metric.better is None or isinstance(metric.better, str) else float(metric.better)


@router.get("/challenges/{slug}", openapi_extra=describe(public=True))
def challenge(slug: str, context: ReadDep) -> ChallengeFacts:
    """A challenge, with the team and the quota of the user."""
    with context.service.database.reading() as session:
        challenge, version = find_challenge(session, slug)
        actor = context.require("see a challenge", session, resource_of(challenge, version))
        if version is None:
            raise NotFoundError()
        team = quota = refused = None
        if actor.team_id is not None:
            team = team_facts(session, session.get_one(Team, actor.team_id))
            status = quota_status(session, challenge, actor.team_id, context.now)
            quota = Quota(used=status.used, limit=status.limit)
            refused = refusal_reason(session, context.service, challenge, actor.team_id) or None
        return ChallengeFacts(
            **_summary(session, context, challenge, version).model_dump(),
            rules=challenge.rules,
            late=challenge.late,
            quota_per_day=challenge.quota,
            finals=challenge.finals,
            metrics=metric_facts(version),
            columns=[Column(name=each.name, meaning=each.meaning) for each in describe_columns(version)],
            rows=version.rows,
            has_private_part=version.public is not None,
            version=version.number,
            team=team,
            quota=quota,
            refused=refused,
        )


def team_facts(session: Session, team: Team) -> TeamFacts:
    """A team as its members see it."""
    return TeamFacts(name=team.name, code=team.code, members=member_names(session, team.id))


@router.get(
    "/challenges/{slug}/sample",
    response_class=FileResponse,
    responses={200: {"content": {"text/csv": {"schema": {"type": "string"}}}}},
    openapi_extra=describe(public=True),
)
def sample(slug: str, context: ReadDep) -> FileResponse:
    """A sample submission with all ids."""
    with context.service.database.reading() as session:
        challenge, version = find_challenge(session, slug)
        context.require("take a sample", session, resource_of(challenge, version))
        if version is None:
            raise NotFoundError()
    path = context.service.files.path(version.sample)
    return FileResponse(path, media_type="text/csv", filename=f"{slug}-sample.csv")


@router.post("/challenges/{slug}/team", status_code=201, openapi_extra=describe(body=json_body(JoinRequest)))
async def join(slug: str, request: Request, context: SubmitDep) -> TeamFacts:
    """Join a challenge, in a new or an existing team."""
    context.require("have an account")
    wanted = await read_json(request, JoinRequest)
    return await run_in_threadpool(_join, slug, context, wanted)


def _join(slug: str, context: ApiContext, wanted: JoinRequest) -> TeamFacts:
    with context.service.database.reading() as session:
        challenge, version = find_challenge(session, slug)
        context.require("join a challenge", session, resource_of(challenge, version))
    user = context.signed_in_user()
    team = join_challenge(context.service, user, challenge, wanted.team.strip(), wanted.code)
    with context.service.database.reading() as session:
        return team_facts(session, team)
