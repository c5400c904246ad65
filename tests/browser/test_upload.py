"""The script of the submit page: files are sent as soon as they are chosen, and the answer takes the page's place."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.pages import DROP, MOST, serving

pytestmark = pytest.mark.slow

ASKED = ("Failed to load resource: the server responded with a status of 4", "Failed to load resource: net::ERR_FAILED")
GOOD = b"row_id,label\na,cat\nb,dog\n"
BAD = b"row_id,label\na,cat\na,refuse\n"


@pytest.fixture
def site():
    with serving() as served:
        yield served


@pytest.fixture
def page(browser, site):
    """The page of the form; nothing may be in its console but what the tests ask for."""
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


def test_a_file_is_sent_when_it_is_chosen_and_only_once(page, site):
    """While it is checked the form says so, and its button sends nothing more."""
    site.answering.clear()
    choose(page, GOOD)
    says(page, "Checking …")
    expect(page.locator("progress")).to_be_visible()
    page.locator("button").click()
    site.answering.set()
    page.wait_for_url("**/result")
    assert len(site.sent) == 1
    assert GOOD in site.sent[0]


def test_the_answer_takes_the_place_of_the_page(page, site, serious):
    """Its heading is where a screen reader goes on, and its form works as the first did."""
    choose(page, BAD)
    expect(page.locator("h1")).to_have_text("The file was rejected")
    assert page.title() == "The file was rejected"
    assert page.evaluate("document.activeElement.tagName") == "H1"
    assert serious(page) == []
    choose(page, GOOD)
    page.wait_for_url("**/result")
    assert [BAD in each for each in site.sent] == [True, False]


def test_another_file_can_be_chosen_while_one_is_sent(page, site):
    """The answer to the first is not waited for."""
    site.answering.clear()
    choose(page, BAD)
    says(page, "Checking …")
    choose(page, GOOD, "second.csv")
    site.answering.set()
    page.wait_for_url("**/result")


def test_a_file_can_be_dropped(page, site):
    """On the zone around the field."""
    page.evaluate(DROP, ["dropped.csv", GOOD.decode()])
    page.wait_for_url("**/result")
    assert b'filename="dropped.csv"' in site.sent[0]


def test_a_file_over_the_limit_is_refused_before_it_is_sent(page, site, tmp_path):
    """By its size, also by the button; one of exactly the limit is sent."""
    (tmp_path / "large.csv").write_bytes(b"x" * (MOST + 1))
    page.set_input_files("input", tmp_path / "large.csv")
    told = "large.csv has 20,000,001 bytes; the limit is 20,000,000. Remove unneeded columns."
    says(page, told)
    page.locator("button").click()
    says(page, told)
    expect(page.locator("progress")).to_be_hidden()
    assert site.sent == []
    (tmp_path / "fits.csv").write_bytes(b"x" * MOST)
    page.set_input_files("input", tmp_path / "fits.csv")
    page.wait_for_url("**/result")


def test_an_answer_that_is_no_page_is_reported_and_the_form_stays(page):
    """As is a connection that breaks; the button sends the file again."""
    choose(page, b"row_id,label\na,plain\n")
    says(page, "The upload failed: the server answered 413.")
    page.route("**/send", lambda route: route.abort())
    page.locator("button").click()
    says(page, "The connection was lost. Try again.")
    page.unroute("**/send")
    choose(page, GOOD)
    page.wait_for_url("**/result")


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
