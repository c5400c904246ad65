"""The leaderboard: a page of 100 places."""

from __future__ import annotations

from itertools import islice

from fastapi import APIRouter
from fastapi.responses import Response

from tallymark.app.domain.challenges import find_challenge
from tallymark.app.domain.errors import NotFoundError
from tallymark.app.domain.leaderboards import Leaderboard, count_queued, score_history
from tallymark.app.domain.permissions import resource_of
from tallymark.app.domain.results import visibility
from tallymark.app.domain.versions import metrics_of
from tallymark.app.http.request_context import ContextDep
from tallymark.app.pages.formatting import direction_arrow, direction_text, metric_names
from tallymark.app.pages.leaderboard import (
    ORDER,
    RANK_MEANING,
    LeaderboardPage,
    bar_scale,
    history_chart,
    leaderboard_rows,
    metric_headings,
    part_tabs,
    queued_sentence,
    ranking_sentence,
    scale_sentence,
)
from tallymark.app.pages.lifecycle import unrevealed_sentence
from tallymark.app.pages.pagination import paginate
from tallymark.app.pages.shell import Link
from tallymark.submissions.document import band_key
from tallymark.submissions.public_private import PRIVATE, PUBLIC

router = APIRouter()
PAGE_SIZE = 100
MAX_OTHER_METRICS = 3  # shown beside the one that ranks


@router.get("/challenges/{slug}/leaderboard")
def leaderboard(slug: str, context: ContextDep, page: int = 1, part: str = PUBLIC) -> Response:
    """A page of the leaderboard."""
    with context.service.database.reading() as session:
        challenge, version = find_challenge(session, slug)
        actor = context.require("see a leaderboard", session, resource_of(challenge, version))
        if version is None:
            raise NotFoundError()
        visible = visibility(challenge, version, context.now, is_organiser=actor.organises)
        parts = [PUBLIC, PRIVATE] if visible.private_part else [PUBLIC]
        if part not in parts:
            raise NotFoundError()

        path, query = f"/challenges/{slug}/leaderboard", "" if part == PUBLIC else f"&part={part}"
        board = Leaderboard(challenge.id, part)
        start, pages = paginate(board.count(session), page, PAGE_SIZE, path, "entry", query)
        entries = board.entries(session, start, PAGE_SIZE)
        metrics = dict(islice(metrics_of(version).items(), 1 + MAX_OTHER_METRICS))
        name, metric = next(iter(metrics.items()))
        scale = bar_scale(entries, metric, name, part) if visible.intervals else None
        rows = leaderboard_rows(
            entries,
            metrics,
            part,
            context.now,
            actor.team_id,
            scale=scale,
            intervals=visible.intervals,
            links=actor.organises,
        )
        own_place = None if actor.team_id is None else board.place_of_team(session, actor.team_id)
        own_page = None if own_place is None else (own_place - 1) // PAGE_SIZE + 1
        return context.page(
            "leaderboard.html",
            LeaderboardPage(
                shell=context.shell(f"Leaderboard of {challenge.title}"),
                slug=slug,
                title=challenge.title,
                tabs=part_tabs(slug, parts, part),
                sentence=ranking_sentence(version, part),
                metric=metric_names(version)[name],
                arrow=direction_arrow(metric),
                direction=direction_text(metric),
                interval="95 % interval" if visible.intervals else "",
                others=metric_headings(version)[1 : 1 + MAX_OTHER_METRICS],
                rows=rows,
                meaning=f"{ORDER} {RANK_MEANING}",
                key_of_bands=band_key([metric]),
                scale=scale_sentence(metric, scale, rows),
                pages=pages,
                own_page=None
                if own_page is None or own_page == page
                else Link(f"You are on page {own_page}", f"{path}?page={own_page}{query}"),
                history=history_chart(metric, *score_history(session, version, metric, part)) if page == 1 else None,
                queued=queued_sentence(count_queued(session, challenge)),
                notice=unrevealed_sentence(challenge, version, context.now),
            ),
        )
