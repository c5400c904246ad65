"""The app without scripts, and without a mouse, in a real browser at a real server."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.pages import DROP
from tests.browser.server import ANSWERS, BROKEN, CHALLENGE, GOOD, MEDIOCRE, MOST, PASSWORD
from tests.browser.visitor import file
from tests.waiting import until_midnight_is_far

pytestmark = pytest.mark.slow
HERE = "[document.activeElement.id, document.activeElement.innerText].filter(Boolean).join(' ').trim()"
SEEN = "getComputedStyle(document.activeElement).outlineStyle != 'none'"


def check(visitor, chosen, status=200):
    visitor.open(f"{CHALLENGE}/submit")
    visitor.choose("submission", chosen)
    visitor.press("Check file", status)


def send(visitor, chosen):
    check(visitor, chosen)
    visitor.press("Submit")


def test_taking_part_without_scripts(visits, server, host):
    """Sign up, join, send files of all kinds, read what came of them, choose, sign out and in again."""
    until_midnight_is_far()
    visitor = visits(server, java_script_enabled=False)
    visitor.sign_up(host.invite(), "Plain")
    visitor.join("Plain people")
    check(visitor, BROKEN, 422)
    assert "submission-broken.csv cannot be submitted: it has 6 problems." in visitor.text(".problems")
    assert visitor.page.locator(".problems li").count() == 6
    check(visitor, file(b"x" * (MOST + 1)), 413)
    assert "A file may have at most 100 kB." in visitor.text()
    send(visitor, GOOD)
    assert visitor.text(".outcome .word") == "Scored"
    assert "94.0 % good" in visitor.texts(".card .value")
    visitor.follow("Go to the leaderboard")
    assert "Plain people you" in visitor.text("tr.own")
    visitor.follow("My submissions")
    assert "1 of 5 submissions used today" in visitor.text()
    visitor.page.get_by_role("checkbox").check()
    visitor.press("Save selection")
    assert visitor.page.get_by_role("checkbox").is_checked()
    visitor.press("Sign out")
    visitor.open(f"{CHALLENGE}/mine")
    visitor.fill(name="Plain", password="not this one")
    visitor.press("Sign in", 422)
    assert visitor.page.locator("[name=name]").input_value() == "Plain"
    visitor.fill(password=PASSWORD)
    visitor.press("Sign in")
    assert visitor.text("h1") == "My submissions"


def test_two_files_are_scored_without_scripts(visits, server):
    """The report comes as a page."""
    visitor = visits(server, java_script_enabled=False)
    visitor.open("/analyse")
    visitor.choose("answers", ANSWERS)
    visitor.choose("submission", GOOD)
    visitor.press("Score")
    assert visitor.page.locator(".card").count() == 5


def test_what_is_waited_for_comes_without_scripts(visits, server, host):
    """The page looks again by itself, and has the intervals."""
    visitor = visits(server, java_script_enabled=False)
    visitor.sign_up(host.invite(), "Patient")
    visitor.join("Patient people")
    send(visitor, MEDIOCRE)
    expect(visitor.page.locator(".card").first).to_contain_text("95 % interval")


def test_a_file_is_sent_by_keyboard(visits, server, host):
    """The first stop is the link past the bar; each stop is seen; the form goes from the file to the button."""
    visitor = visits(server)
    visitor.sign_up(host.invite(), "Keys")
    visitor.join("Keyboards")
    visitor.open(f"{CHALLENGE}/submit")
    page = visitor.page
    assert stops(page, 3) == ["Skip to the content", "tallymark", "Analyse"]
    page.reload()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    told = ["Challenges", "Animals on photographs", "Overview", "Submit", "Leaderboard", "My submissions", "submission"]
    assert stops(page, len(told)) == told
    visitor.choose("submission", GOOD)
    expect(page.locator("[data-result]")).to_be_focused()
    assert stops(page, 1) == ["note"]
    page.keyboard.type("by hand")
    assert stops(page, 1) == ["Submit"]
    with page.expect_navigation(url="**/submissions/*"):
        page.keyboard.press("Enter")
    visitor.look()
    assert visitor.text(".remark") == "by hand"


def stops(page, count):
    """Where the next stops are, each of which is seen."""
    found = []
    for _ in range(count):
        page.keyboard.press("Tab")
        found.append(page.evaluate(HERE))
        assert page.evaluate(SEEN), found
    return found


def test_a_file_is_dropped(visits, server, host):
    """It is checked as one that was chosen."""
    visitor = visits(server)
    visitor.sign_up(host.invite(), "Mouse")
    visitor.join("Mice")
    visitor.open(f"{CHALLENGE}/submit")
    visitor.page.evaluate(DROP, ["dropped.csv", GOOD.read_text()])
    expect(visitor.page.locator("[data-result]")).to_have_text("dropped.csv: no problems found, 400 rows")
    with visitor.page.expect_navigation(url="**/submissions/*"):
        visitor.page.get_by_role("button", name="Submit").click()
    visitor.look()
    assert visitor.text("h1") == "dropped.csv"
