"""Pictures of every page in three widths and two looks, to be looked at: TALLYMARK_PICTURES names their folder."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.browser.conftest import THEMES, WIDTHS
from tests.browser.server import ANSWERS, BROKEN, CHALLENGE, GOOD, MEDIOCRE, MOST, Host, started
from tests.browser.visitor import file

FOLDER = os.environ.get("TALLYMARK_PICTURES")
LONG = "Society for names longer than any board"
BOARD = f"{CHALLENGE}/leaderboard"
pytestmark = [pytest.mark.slow, pytest.mark.skipif(not FOLDER, reason="makes pictures, where TALLYMARK_PICTURES is")]
FOR_ALL = {
    "front": "/",
    "challenges": "/challenges",
    "challenge": CHALLENGE,
    "leaderboard": BOARD,
    "sign-in": "/sign-in",
    "sign-up-refused": "/sign-up",
    "not-found": "/challenges/none",
}
FOR_PARTICIPANTS = {
    "challenge-joined": CHALLENGE,
    "leaderboard-own": BOARD,
    "mine": f"{CHALLENGE}/mine",
    "account": "/account",
    "challenge-to-join": "/challenges/birds",
    "leaderboard-empty": "/challenges/birds/leaderboard",
    "not-joined": "/challenges/birds/submit",
}
FOR_ORGANISERS = {
    "organise": "/organise",
    "new": "/organise/new",
    "edit": "/organise/animals-on-photographs",
    "leaderboard-organiser": f"{BOARD}?part=private",
}


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """One whose worker has enough to do for minutes."""
    with started(tmp_path_factory.mktemp("app"), "--direct-bytes", "5900", "--resamples", "400000") as server:
        yield server


def test_every_page_is_photographed_in_every_width_and_theme(visits, server):
    """One for each page, width and look."""
    host = Host(server)
    organiser, visitor = visits(server), visits(server)
    organiser.sign_up(host.invite("organiser"), "Organiser of forests")
    organiser.open("/organise/new")
    organiser.fill(title="Birds")
    organiser.page.get_by_label("Publish now").check()
    organiser.page.locator("[value=numbers]").check()
    organiser.choose("answers", file(b"row_id,label\n1,2\n2,3\n"))
    organiser.press("Create challenge")
    visitor.sign_up(host.invite(), "Ada")
    visitor.join(LONG)
    results = {
        "result-pending": f"/submissions/{visitor.submit(MEDIOCRE)}",
        "result-queued": f"/submissions/{visitor.submit(GOOD)}",
    }
    link = host.invite()
    for look in THEMES:
        for width, pixels in WIDTHS.items():
            shape = {"viewport": {"width": pixels, "height": 900}, "color_scheme": look}
            see(visits(server, **shape), {**FOR_ALL, "sign-up": link}, f"{width}-{look}")
            participant = visits(server, **shape, storage_state=visitor.context.storage_state())
            see(participant, {**FOR_PARTICIPANTS, **results}, f"{width}-{look}")
            see_forms(participant, f"{width}-{look}")
            owner = visits(server, **shape, storage_state=organiser.context.storage_state())
            see(owner, FOR_ORGANISERS, f"{width}-{look}")
            owner.page.goto("/account")
            owner.press("Create link")
            take(owner, f"account-organiser-{width}-{look}")
            owner.open(BOARD)
            owner.page.get_by_role("link", name="Good").click()
            owner.page.locator(".outcome.scored").wait_for()
            take(owner, f"result-{width}-{look}")
    host.close()


def see(visitor, pages, ending):
    for name, path in pages.items():
        visitor.page.goto(path)
        take(visitor, f"{name}-{ending}")


def see_forms(visitor, ending):
    """What comes of forms."""
    visitor.page.goto(f"{CHALLENGE}/submit")
    take(visitor, f"submit-{ending}")
    visitor.choose("submission", BROKEN)
    visitor.page.locator(".problems li").first.wait_for()
    take(visitor, f"submit-problems-{ending}")
    visitor.choose("submission", MEDIOCRE)
    visitor.page.locator("[data-result]").wait_for()
    take(visitor, f"submit-checked-{ending}")
    for name, chosen in (("mediocre", MEDIOCRE), ("broken", BROKEN)):
        visitor.page.goto("/analyse")
        if name == "mediocre":
            take(visitor, f"analyse-{ending}")
        visitor.choose("answers", ANSWERS)
        visitor.choose("submission", chosen)
        visitor.page.get_by_label("95 % intervals").check()
        visitor.page.get_by_role("button", name="Score", exact=True).click()
        visitor.page.locator(".result, .problems").first.wait_for()
        take(visitor, f"analysed-{name}-{ending}")
    visitor.choose("answers", ANSWERS)
    visitor.choose("submission", file(b"x" * 2 * MOST))
    visitor.page.get_by_role("button", name="Score", exact=True).click()
    visitor.page.locator(".lost").wait_for()
    take(visitor, f"too-large-{ending}")


def take(visitor, name):
    folder = Path(str(FOLDER))
    folder.mkdir(parents=True, exist_ok=True)
    visitor.page.screenshot(path=folder / f"{name}.png", full_page=True)
