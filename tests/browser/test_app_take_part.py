"""Somebody takes part: from an invitation to the last submission of the day, in a real browser at a real server."""

from __future__ import annotations

import io
import re

import pytest
from playwright.sync_api import expect

import tallymark as tm
from tallymark.submissions.public_private import read_answers
from tests.browser.server import ANSWERS, BROKEN, CHALLENGE, GOOD, MEDIOCRE, MOST
from tests.browser.visitor import file
from tests.waiting import until_midnight_is_far

pytestmark = pytest.mark.slow
TWICE = b"row_id,label\nphoto-001,deer\nphoto-001,fox\nphoto-002\n"
LARGE = b"row_id,label\n" + b"".join(b"%d,x\n" % row for row in range(MOST // 6))


def place(visitor):
    """One's own row, counted from above."""
    visitor.open(f"{CHALLENGE}/leaderboard")
    rows = visitor.page.locator("tbody tr")
    [own] = [k for k in range(rows.count()) if "own" in (rows.nth(k).get_attribute("class") or "")]
    return own


def test_two_people_in_one_team(visits, server, host):
    """One makes it, the other joins by its code; a wrong code and a name that is taken are told."""
    ada, ben = visits(server), visits(server)
    ada.sign_up(host.invite(), "Ada of Owls")
    ada.follow("Animals on photographs")
    ada.fill(team="Good")
    ada.press("Join", 422)
    assert "This team name is taken." in ada.text("#team-error")
    ada.fill(team="Night Owls")
    ada.press("Join")
    assert "You have joined." in ada.text()
    code = ada.text(".team code")
    ben.sign_up(host.invite(), "Ben of Owls")
    ben.open(CHALLENGE)
    ben.fill(code="nonsense")
    ben.press("Join", 422)
    assert "No team in this challenge has this code." in ben.text("#code-error")
    ben.fill(code=code)
    ben.press("Join")
    assert ben.text(".team .name") == "Night Owls"
    assert ben.text(".team .quiet") == "Ada of Owls, Ben of Owls"


def test_a_result_is_what_the_library_says(visits, server, host):
    """The same bits are written down and shown in percent; the report is the same in a file."""
    visitor = visits(server)
    visitor.sign_up(host.invite(), "Reader")
    visitor.join("Readers")
    key = visitor.submit(MEDIOCRE, note="the first <try>")
    assert visitor.text(".outcome") == "Scored Scored on the 200 rows of the public part."
    assert visitor.text(".remark") == "the first <try>"
    found = tm.submissions.score_submission(io.BytesIO(public_answers()), MEDIOCRE, mode="challenge")
    kept = server.rows(
        "select name, value from scores join submissions on submissions.id = submission_id "
        "where key = ? and part = 'public' order by place",
        key,
    )
    assert dict(kept) == found.scores
    assert visitor.texts(".card .name") == [found.report.display_name(key) for key in found.scores]
    assert [each.rpartition(" ")[0] for each in visitor.texts(".card .value")] == in_percent(found.scores)
    expect(visitor.page.locator(".card").first).to_contain_text("95 % interval")
    assert visitor.texts(".cards + [role=status]") == []
    assert visitor.texts("#warnings li") == ["'fox' and 'Fox' are different labels: they differ only in case"]
    assert visitor.texts("dl.counts div") == ["compared 388", "missing 12", "extra 1"]
    assert visitor.texts("#classes tbody th") == ["badger", "deer", "fox", "owl"]
    page = visits(server)
    page.page.set_content(visitor.download("link", "Download report").read_text())
    assert [each.rpartition(" ")[0] for each in page.texts(".card .value")] == in_percent(found.scores)


def public_answers():
    """The rows of the answers that are public in the example."""
    public = read_answers(ANSWERS, task="labels", share=0.5, seed=7).public
    header, *rows = ANSWERS.read_bytes().splitlines(keepends=True)
    return b"".join([header, *(row for row, told in zip(rows, public, strict=True) if told)])


def in_percent(scores):
    return [f"{100 * value:.1f} %" for value in scores.values()]


def test_files_that_are_rejected_cost_nothing(visits, server, host):
    """A check shows all problems at once and submits nothing; a file that is too large is not sent."""
    visitor = visits(server)
    visitor.sign_up(host.invite(), "Hasty")
    visitor.join("Hasty people")
    visitor.follow("Submit a file")
    assert visitor.text(".cost") == "submission 1 of 5 today; resets at 00:00 UTC"
    visitor.choose("submission", BROKEN)
    expect(visitor.page.locator(".problems li")).to_have_count(6)
    visitor.look(422)
    assert visitor.page.evaluate("document.activeElement.className") == "lead"
    assert visitor.text(".problems .lead") == "▲ submission-broken.csv cannot be submitted: it has 6 problems."
    assert re.match(r"line \d+, column \d+ ", visitor.texts(".problems li")[0])
    assert visitor.text(".cost") == "submission 1 of 5 today; resets at 00:00 UTC"
    visitor.choose("submission", file(LARGE))
    expect(visitor.page.locator("[data-status]")).to_contain_text("the limit is 100,000")
    visitor.look()
    visitor.open(f"{CHALLENGE}/mine")
    assert visitor.texts("td .state") == []
    assert "0 of 5 submissions used today" in visitor.text()


def test_a_checked_file_is_submitted_once(visits, server, host):
    """Going back and submitting again says that it was submitted; nothing counts twice."""
    visitor = visits(server)
    visitor.sign_up(host.invite(), "Twice")
    visitor.join("Twice people")
    visitor.open(f"{CHALLENGE}/submit")
    visitor.choose("submission", GOOD)
    expect(visitor.page.locator("[data-result]")).to_have_text("submission-good.csv: no problems found, 400 rows")
    token = visitor.page.locator("[name=token]").get_attribute("value")
    visitor.page.get_by_role("button", name="Submit", exact=True).click()
    visitor.page.wait_for_url("**/submissions/*")
    visitor.open(f"{CHALLENGE}/submit")
    visitor.choose("submission", MEDIOCRE)
    visitor.page.locator("[data-result]").wait_for()
    visitor.page.evaluate("token => { document.querySelector('[name=token]').value = token; }", token)
    visitor.page.get_by_role("button", name="Submit", exact=True).click()
    expect(visitor.page.locator("h1")).to_have_text("Page not found")
    visitor.look(404)
    visitor.follow("My submissions")
    assert visitor.texts("td .state") == ["scored"]
    assert "1 of 5 submissions used today" in visitor.text()


def test_a_better_submission_goes_up_until_the_day_is_used_up(visits, server, host):
    """Its row is marked as one's own; some are chosen for the end; then nothing more is taken, and nothing is shown."""
    until_midnight_is_far()
    visitor = visits(server)
    visitor.sign_up(host.invite(), "Climber")
    visitor.join("Climbers")
    visitor.submit(MEDIOCRE)
    first = place(visitor)
    assert visitor.page.locator("tr.own").count() == 1
    assert "Climbers you" in visitor.text("tr.own")
    visitor.submit(ANSWERS)
    assert place(visitor) == 0 < first
    assert "100.0 %" in visitor.text("tr.own .score")
    assert "from" in visitor.text("figcaption")
    for _ in range(3):
        visitor.submit(GOOD)
    assert place(visitor) == 0
    visitor.follow("My submissions")
    assert "5 of 5 submissions used today" in visitor.text()
    choose_finals(visitor)
    visitor.open(f"{CHALLENGE}/submit")
    assert "Your team has used all 5 submissions of today." in visitor.text()
    assert visitor.page.locator("form[data-send]").count() == 0
    sign_out_and_go_back(visitor)


def choose_finals(visitor):
    """Two of them, not three."""
    boxes = visitor.page.get_by_role("checkbox")
    for k in (0, 3, 4):
        boxes.nth(k).check()
    visitor.press("Save selection", 422)
    assert visitor.text(".flash.bad") == "Error Select at most 2; you selected 3."
    boxes.nth(0).uncheck()
    visitor.press("Save selection")
    assert "Selection saved." in visitor.text()
    assert [each.is_checked() for each in boxes.all()] == [False] * 3 + [True] * 2


def sign_out_and_go_back(visitor):
    """Pages of one's own are not shown from what the browser remembers."""
    visitor.open(f"{CHALLENGE}/mine")
    visitor.press("Sign out")
    assert "You are signed out." in visitor.text()
    visitor.page.go_back()
    expect(visitor.page).to_have_url(re.compile("/sign-in"))
    assert "Climbers" not in visitor.page.content()
