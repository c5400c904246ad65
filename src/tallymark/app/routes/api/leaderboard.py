"""The leaderboard."""

from __future__ import annotations

from itertools import islice
from typing import Annotated, Literal

from fastapi import APIRouter, Query
from sqlalchemy import select

from tallymark.app.domain.challenges import find_challenge
from tallymark.app.domain.errors import NotFoundError
from tallymark.app.domain.leaderboards import Leaderboard
from tallymark.app.domain.permissions import Actor, resource_of
from tallymark.app.domain.results import Visibility, visibility
from tallymark.app.domain.versions import metrics_of
from tallymark.app.http.api_context import ReadDep
from tallymark.app.routes.api.challenges import metric_facts
from tallymark.app.routes.api.cursors import Cursor, Limit, decode_cursor, make_page
from tallymark.app.routes.api.models import Entry, LeaderboardPage
from tallymark.app.routes.api.openapi import describe
from tallymark.app.routes.api.submissions import score_list
from tallymark.app.routes.leaderboard import MAX_OTHER_METRICS
from tallymark.app.store.models import LeaderboardEntry

router = APIRouter(prefix="/api/v1")
_Part = Annotated[Literal["public", "private"], Query(description="The private part is shown when it is over.")]


@router.get("/challenges/{slug}/leaderboard", openapi_extra=describe(public=True))
def leaderboard(
    slug: str, context: ReadDep, part: _Part = "public", limit: Limit = 50, cursor: Cursor = ""
) -> LeaderboardPage:
    """The entries of a leaderboard, the best first."""
    with context.service.database.reading() as session:
        challenge, version = find_challenge(session, slug)
        actor = context.require("see a leaderboard", session, resource_of(challenge, version))
        if version is None:
            raise NotFoundError()
        visible = visibility(challenge, version, context.now, is_organiser=actor.organises)
        if part == "private" and not visible.private_part:
            raise NotFoundError()
        board = Leaderboard(challenge.id, part)
        # The place of the last entry may have changed since the cursor was made.
        last_id, start = decode_cursor(cursor, 2) or (0, 0)
        of_board = (LeaderboardEntry.challenge_id == challenge.id) & (LeaderboardEntry.part == part)
        moved = session.scalar(
            select(LeaderboardEntry.place).where(of_board, LeaderboardEntry.submission_id == last_id)
        )
        entries = board.entries(session, start if moved is None else moved, limit + 1)
        metrics = list(islice(metrics_of(version), 1 + MAX_OTHER_METRICS))
        page = make_page(
            entries,
            limit,
            lambda entry: [entry.submission_id, entry.place],
            lambda entry: _entry(entry, part, metrics, visible, actor),
        )
        return LeaderboardPage(
            items=page.items,
            next=page.next,
            part=part,
            metrics=[each for each in metric_facts(version) if each.name in metrics],
            total=board.count(session),
        )


def _entry(entry: LeaderboardEntry, part: str, metrics: list[str], visible: Visibility, actor: Actor) -> Entry:
    submission, own = entry.submission, entry.team_id == actor.team_id
    ranking, *others = score_list(submission, part, visible, metrics)
    without_interval = [each.model_copy(update={"lo": None, "hi": None}) for each in others]
    return Entry(
        place=entry.place,
        team=entry.team.name,
        baseline=entry.team.baseline,
        own=own,
        best_rank=entry.best_rank,
        worst_rank=entry.worst_rank,
        scores=[ranking, *without_interval],
        submissions=entry.entries,
        created=submission.created,
        submission=submission.key if own or actor.organises else None,
    )
