"""The leaderboard of the app over 10,000 submissions, beside one over 100."""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

from measure import ROOT, best_of, show_time
from measure import table as listed

from tallymark.app.domain import leaderboards
from tallymark.app.store.models import Challenge

ROWS = 1000


def page_times(folder: Path, teams: int) -> dict[str, float]:
    """Seconds to answer for some pages, best of at least 20, and to write the leaderboard anew, once."""
    sys.path.append(str(ROOT))  # the crowd is that of the tests
    from tests.app.crowd import crowd
    from tests.app.stage import Stage, table, truth

    stage = Stage(folder)
    challenge = stage.challenge(stage.person("Olga", organiser=True), table(truth(ROWS)))
    crowd(stage, challenge, teams)
    client, path = stage.client(), f"/challenges/{challenge.slug}/leaderboard"

    def page(number: int) -> None:
        assert client.get(f"{path}?page={number}").status_code == 200

    numbers = sorted({1, -(-teams // 200), -(-teams // 100)})
    found = best_of({f"page {number}": lambda n=number: page(n) for number in numbers}, least=20)
    with stage.service.database.writing() as session:
        session.get_one(Challenge, challenge.id).changes += 1
    start = time.perf_counter()
    leaderboards.rebuild_leaderboards(stage.service, challenge.id)
    found["places and groups, written anew"] = time.perf_counter() - start
    found["/health, which does nothing"] = best_of({"health": lambda: client.get("/health")}, least=20)["health"]
    stage.close()
    return found


def sections() -> list[str]:
    """The part of the result page on the app."""
    rows = []
    for teams in (100, 10_000):
        print(f"leaderboard, {teams:,} submissions ...", flush=True)
        with tempfile.TemporaryDirectory() as folder:
            found = page_times(Path(folder) / "data", teams)
        rows += [[f"{teams:,}", what, show_time(seconds)] for what, seconds in found.items()]
    return [
        "## The app: pages of a leaderboard",
        "",
        f"One submission a team, {ROWS:,} rows of answers, 100 places a page, SQLite; the time until the server has",
        "answered.",
        "",
        listed(["submissions", "what", "time"], rows),
        "",
    ]
