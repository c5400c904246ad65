"""Corrected answers in a real browser: previewed beside the old board, then applied; one disqualified; a baseline."""

from __future__ import annotations

import json

import pytest

from tests.browser.server import Host, started
from tests.browser.visitor import file

pytestmark = pytest.mark.slow
ROWS = 60
BOARD = "/challenges/birds/leaderboard"


def birds(turn: int, right: int = ROWS) -> bytes:
    """A file of three birds in turn, from another one on; only the first rows are right."""
    kinds = ["owl", "wren", "tit"]
    rows = [f"{n},{kinds[(n + turn) % 3] if n < right else 'emu'}\n" for n in range(ROWS)]
    return "".join(["row_id,label\n", *rows]).encode()


@pytest.fixture
def server(tmp_path):
    with started(tmp_path) as server:
        yield server


def test_corrected_answers_are_previewed_and_applied(visits, server):
    """The board changes when the organiser applies them, and not before; what happened is in the log."""
    host = Host(server)
    organiser = visits(server)
    organiser.sign_up(host.invite("organiser"), "Olga")
    organiser.open("/organise/new")
    organiser.fill(title="Birds")
    organiser.choose("answers", file(birds(0)))
    organiser.press("Create challenge")
    organiser.follow("Publish")
    organiser.press("Publish")
    for name, content in (("Badgers", birds(0, 40)), ("Otters", birds(1))):
        submit(visits(server), host.invite(), name, content)
    organiser.open(BOARD)
    assert organiser.texts(".board tbody th") == ["Badgers", "Otters"]
    organiser.open("/organise/birds")
    organiser.choose("answers", file(birds(1)))
    organiser.fill(answers_note="One bird off")
    organiser.press("Upload")
    organiser.page.get_by_role("button", name="Apply version 2").wait_for()  # the page reloads itself
    assert organiser.texts("tbody th") == ["Otters", "Badgers"]
    assert organiser.texts("tbody td.short") == ["up 1", "down 1"]
    visitor = visits(server)
    visitor.open(BOARD)
    assert visitor.texts(".board tbody th") == ["Badgers", "Otters"]
    organiser.press("Apply version 2")
    visitor.open(BOARD)
    assert visitor.texts(".board tbody th") == ["Otters", "Badgers"]
    look_after(organiser)
    visitor.open(BOARD)
    assert visitor.texts(".board tbody th") == ["Always owl baseline", "Badgers"]


def submit(visitor, link, name, content):
    """Sign up, join and submit a file."""
    visitor.sign_up(link, f"{name} one")
    visitor.open("/challenges/birds")
    visitor.fill(team=name)
    visitor.press("Join")
    visitor.open("/challenges/birds/submit")
    visitor.choose("submission", file(content, f"{name}.csv"))
    visitor.page.locator("[data-result]").wait_for()
    with visitor.page.expect_navigation(url="**/submissions/*"):
        visitor.page.get_by_role("button", name="Submit", exact=True).click()
    visitor.look()


def look_after(organiser):
    """One is found and disqualified, a baseline is added and withdrawn and restored, all is exported and logged."""
    organiser.follow("Submissions")
    organiser.fill(q="otter")
    organiser.press("Show")
    assert "1 of 2 submissions match." in organiser.text()
    assert organiser.download("link", "File Otters.csv").read_bytes() == birds(1)
    organiser.follow("Otters.csv")
    organiser.fill(reason="two accounts")
    organiser.press("Disqualify")
    assert "It is not ranked. The team reads this reason: two accounts" in organiser.text()
    organiser.follow("Submissions")
    organiser.fill(baseline="Always owl")
    organiser.choose("submission", file(birds(1, 50)))
    organiser.press("Add baseline")
    organiser.follow("Submissions")
    organiser.press("Withdraw Always owl")
    organiser.press("Restore Always owl")
    exported = json.loads(organiser.download("link", "Submissions as JSON").read_text())
    assert [each["disqualified"] for each in exported["submissions"]] == [None, "two accounts", None]
    organiser.follow("Log")
    assert [each.split(":")[0] for each in organiser.texts("tbody th")] == [
        "Olga restored a baseline",
        "Olga withdrew a baseline",
        "Olga added a file of a baseline",
        "Olga disqualified a submission",
        "Olga applied a new version",
        "Olga uploaded new answers",
        "Olga published the challenge",
        "Olga created the challenge",
    ]
