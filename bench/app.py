"""The leaderboard of the app over 10,000 submissions, beside one over 100: python -m bench.app."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from bench.measure import best_of, show_time
from tests.app.crowd import crowd
from tests.app.stage import Stage, table, truth

from tallymark.app import boards
from tallymark.app.store.models import Challenge

ROWS = 1000


def page_times(folder: Path, teams: int) -> dict[str, float]:
    """Seconds to answer for some pages, best of at least 20, and to write the leaderboard anew, once."""
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
    boards.rebuild(stage.service, challenge.id)
    found["places and groups, written anew"] = time.perf_counter() - start
    found["/health, which does nothing"] = best_of({"health": lambda: client.get("/health")}, least=20)["health"]
    stage.close()
    return found


def main() -> None:
    for teams in (100, 10_000):
        with tempfile.TemporaryDirectory() as folder:
            for what, seconds in page_times(Path(folder) / "data", teams).items():
                print(f"{teams:>6,} submissions: {what}: {show_time(seconds)}")


if __name__ == "__main__":
    main()
