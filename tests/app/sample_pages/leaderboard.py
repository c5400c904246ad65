"""A view of a leaderboard with groups, own entries and baselines."""

from __future__ import annotations

from typing import Any

from tallymark.app.pages.leaderboard import (
    ChartPoint,
    HistoryChart,
    IntervalBar,
    LeaderboardPage,
    LeaderboardRow,
    RankGroup,
)
from tallymark.app.pages.shell import Link, Pagination
from tests.app.sample_pages.shell import HIGHER, SHORT, Say, shell


def entry(say: Say, team: str, score: float, **facts: Any) -> LeaderboardRow:
    bar = IntervalBar(*(round(160 * (score + reach - 0.36), 2) for reach in (-0.04, 0, 0.04)))
    band = "good" if score >= 0.8 else "fair" if score >= 0.6 else "poor"
    interval = f"{100 * score - 4:.1f} to {100 * score + 4:.1f} %"
    return LeaderboardRow(
        say(team),
        f"{100 * score:.1f} %",
        band,
        interval,
        bar,
        [f"{100 * score - 2:.1f} %", "0.612"],
        "14",
        SHORT,
        **facts,
    )


def leaderboard(say: Say) -> LeaderboardPage:
    groups = [
        RankGroup("1", [entry(say, "Early birds", 0.91)]),
        RankGroup(
            "2–4",
            [
                entry(say, "Hedgehogs", 0.845),
                entry(say, "Night owls", 0.842, own=True, href="/submissions/k3y"),
                entry(say, "Badgers", 0.839),
            ],
        ),
        RankGroup("5–6", [entry(say, "All deer", 0.62, baseline=True), entry(say, "Moles", 0.41)]),
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
        groups,
        "Entries of a group cannot be told apart by these rows: each may be as good as the best of them.",
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
    )
