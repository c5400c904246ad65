"""A view of a leaderboard with rank ranges, own entries and baselines."""

from __future__ import annotations

from typing import Any

from tallymark.app.pages.leaderboard import (
    ORDER,
    RANK_MEANING,
    BarScale,
    ChartPoint,
    HistoryChart,
    LeaderboardPage,
    LeaderboardRow,
)
from tallymark.app.pages.shell import Link, Pagination
from tallymark.app.store.models import StoredScore
from tests.app.sample_pages.shell import HIGHER, SHORT, Say, shell


def entry(say: Say, place: int, ranks: str, team: str, score: float, **facts: Any) -> LeaderboardRow:
    bar = BarScale(0.6, 0.95).bar(StoredScore(value=score, lo=score - 0.04, hi=score + 0.04))
    band = "good" if score >= 0.8 else "fair" if score >= 0.6 else "poor"
    interval = f"{100 * score - 4:.1f} to {100 * score + 4:.1f} %"
    return LeaderboardRow(
        str(place),
        say(team),
        f"{100 * score:.1f} %",
        band,
        interval,
        bar,
        ranks,
        [f"{100 * score - 2:.1f} %", "0.612"],
        "14",
        SHORT,
        **facts,
    )


def leaderboard(say: Say) -> LeaderboardPage:
    rows = [
        entry(say, 1, "1", "Early birds", 0.91),
        entry(say, 2, "2–4", "Hedgehogs", 0.845),
        entry(say, 3, "2–4", "Night owls", 0.842, own=True, href="/submissions/k3y"),
        entry(say, 4, "2–4", "Badgers", 0.839),
        entry(say, 5, "5", "All deer", 0.62, baseline=True),
        entry(say, 6, "6", "Moles", 0.41),
    ]
    base = "/challenges/deer/leaderboard"
    steps = [
        ChartPoint(0.0, 0.1, "1 November: 41.0 %, Moles"),
        ChartPoint(0.3, 0.5, "5 November: 62.0 %"),
        ChartPoint(0.8, 0.9, "12 November: 91.0 %"),
    ]
    return LeaderboardPage(
        shell(say, "Leaderboard", base),
        "deer",
        say("Deer or fox"),
        [Link("Public", f"{base}?part=public", True), Link("Private", f"{base}?part=private")],
        "Ranked by fscore on the public part, 30 % of the rows. The private part decides in the end.",
        "fscore",
        *HIGHER,
        "95 % interval",
        ["accuracy ↑", "F1 of macro precision and recall ↑"],
        rows,
        f"{ORDER} {RANK_MEANING}",
        Pagination(
            "Entries 1 to 100 of 312",
            [Link(str(k), f"{base}?page={k}", k == 1) for k in (1, 2, 3, 4)],
            "",
            f"{base}?page=2",
        ),
        Link("You are on page 3", f"{base}?page=3"),
        HistoryChart(
            steps,
            "The best score rose from 41.0 % to 91.0 % in 15 days.",
            "1 November",
            "15 November",
            "36.0 %",
            "96.0 %",
        ),
        scale="The bars are drawn from 60.0 % to 95.0 %; an arrow marks an interval that goes on beyond.",
    )
