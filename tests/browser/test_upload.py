"""The form that sends a file: it says what is wrong before, how far it is, and where the answer is."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

import tallymark as tm
from tallymark.app.checking import check_settings
from tests.browser.pages import DROP, serving

pytestmark = pytest.mark.slow

ASKED = ("Failed to load resource: the server responded with a status of 4", "Failed to load resource: net::ERR_FAILED")
GOOD = b"row_id,label\na,cat\nb,dog\n"
BAD = b"row_id,label\na,cat\na,refuse\nb,\n<img src=x onerror=alert(1)>\n"
TICKS = """() => {
    let [time, ticks] = [0, 0];
    performance.now = () => (time += 20);  // as if every look at the clock came late
    const tick = () => { window.ticks = ++ticks; setTimeout(tick); };
    tick();
}"""


@pytest.fixture
def site():
    with serving(check_settings(limits=tm.Limits(bytes=20_000_000))) as served:
        yield served


@pytest.fixture
def page(browser, site):
    """The page of the form; nothing may stand in its console but what the tests ask for."""
    context = browser.new_context()
    page = context.new_page()
    troubles = []
    page.on("console", lambda message: troubles.append(message.text))
    page.on("pageerror", lambda error: troubles.append(str(error)))
    page.goto(site.url)
    yield page
    context.close()
    assert [each for each in troubles if not each.startswith(ASKED)] == []


def choose(page, content, name="answers.csv"):
    page.set_input_files("input", {"name": name, "mimeType": "text/csv", "buffer": content})


def says(page, text):
    expect(page.locator("[data-status]")).to_have_text(text)


def test_a_file_without_problems_is_sent_and_its_answer_opened(page, site):
    """While it is scored, the form says so; nothing is sent twice."""
    choose(page, GOOD)
    says(page, "answers.csv: 2 rows can be read.")
    site.answering.clear()
    page.locator("button").click()
    says(page, "Scoring …")
    expect(page.locator("progress")).to_be_visible()
    page.locator("button").click()
    site.answering.set()
    page.wait_for_url("**/result")
    assert len(site.sent) == 1
    assert GOOD in site.sent[0]


def test_problems_are_told_before_anything_is_sent(page, site, serious):
    """Each with its place and how to mend it, as text whatever is in the file; then another file may be chosen."""
    choose(page, BAD)
    says(page, "answers.csv would be rejected: 3 problems.")
    assert page.locator("[data-problems] li").all_inner_texts() == [
        "line 3, column 1 the id 'a' stands in lines 2 and 3. Give each id one row.",
        "line 4, column 3 the field 'label' is empty. Give each row a value.",
        "line 5, column 1 the row has 1 field, the header 2. Put what holds a separator in quotes.",
    ]
    assert page.locator("[data-problems]").get_attribute("aria-live") == "polite"
    assert serious(page) == []
    choose(page, b"row_id,<img src=x onerror=alert(1)>\n")
    expect(page.locator("[data-problems] li")).to_contain_text("<img src=x onerror=alert(1)>")
    choose(page, GOOD)
    says(page, "answers.csv: 2 rows can be read.")
    assert page.locator("[data-problems]").inner_text() == ""
    assert page.locator("button").inner_text() == "Send"
    assert site.sent == []


def test_of_many_problems_the_first_are_shown(page):
    """The others are counted."""
    choose(page, b"row_id,label\n" + b"a\n" * 120)
    says(page, "answers.csv would be rejected: 120 problems.")
    assert page.locator("[data-problems] li").count() == 50
    assert page.locator("[data-problems] p").inner_text() == "and 70 more"
    choose(page, b"row_id,label\n" + b"a\n" * 50_000)
    expect(page.locator("[data-problems] p")).to_have_text(
        re.compile("^and at least [0-9,]+ more; the rest was not looked at$")
    )


def test_a_file_with_problems_can_be_sent_all_the_same_by_keyboard(page, site):
    """The server decides; its answer takes the place of the page, and its form works as the first did."""
    choose(page, BAD)
    expect(page.locator("button")).to_have_text("Send it anyway")
    page.locator("input").focus()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text("The file was rejected")
    assert page.title() == "The file was rejected"
    assert page.evaluate("document.activeElement.tagName") == "H1"
    assert BAD in site.sent[0]
    choose(page, GOOD)
    says(page, "answers.csv: 2 rows can be read.")
    page.locator("button").click()
    page.wait_for_url("**/result")


def test_a_file_can_be_dropped(page, site):
    """On the zone around the field."""
    page.evaluate(DROP, ["dropped.csv", GOOD.decode()])
    says(page, "dropped.csv: 2 rows can be read.")
    page.locator("button").click()
    page.wait_for_url("**/result")
    assert b'filename="dropped.csv"' in site.sent[0]


def test_an_answer_that_is_no_page_is_told_and_the_form_stays(page, site):
    """As is a connection that breaks."""
    choose(page, b"row_id,label\na,plain\n")
    page.locator("button").click()
    says(page, "The file was not taken: the server answered 413.")
    page.route("**/send", lambda route: route.abort())
    page.locator("button").click()
    says(page, "The connection broke before an answer came. Send it again.")
    page.unroute("**/send")
    choose(page, GOOD)
    page.locator("button").click()
    page.wait_for_url("**/result")


def test_what_is_packed_is_checked_when_it_arrives(page):
    """Which the form says."""
    choose(page, b"PAR1", "answers.parquet")
    says(page, "answers.parquet is checked when it arrives.")


def test_ten_megabytes_leave_the_page_its_turn(page, tmp_path):
    """Other work goes on while the file is looked at, and another file can be chosen in the meantime."""
    rows = "".join(f"{row},label {row % 7}\n" for row in range(680_000))
    path = tmp_path / "large.csv"
    path.write_text(f"row_id,label\n{rows}0,x\n")
    assert path.stat().st_size > 10_000_000
    page.evaluate(TICKS)
    page.set_input_files("input", path)
    says(page, "large.csv would be rejected: 1 problem.")
    assert page.evaluate("window.ticks") > 200  # of 620 blocks; without turns for others there are some 20
    expect(page.locator("[data-problems] li")).to_contain_text("the id '0' stands in lines 2 and 680,002")
    page.set_input_files("input", path)
    choose(page, GOOD)
    says(page, "answers.csv: 2 rows can be read.")


def test_without_scripts_the_form_sends_as_any_other(browser, site):
    """And the server answers with a page."""
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(site.url)
    choose(page, GOOD)
    page.locator("button").click()
    page.wait_for_url("**/result")
    assert GOOD in site.sent[0]
    context.close()
