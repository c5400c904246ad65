"""The pages of the app in a real browser: three widths, two looks, hostile texts, under the policy of the server."""

from __future__ import annotations

from pathlib import Path

import pytest

from tallymark.app.pages import rendering
from tests.app.sample_pages import samples

CONTENT_SECURITY_POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HOSTILE = f"<script>alert(1)</script> {'averylongword' * 12} שלום עולם"
KINDS = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
SITE = "http://app.test/"
SPILLS = """() => [...document.querySelectorAll("body *")]
    .filter(e => !e.closest(".wide, .plots, svg, .unseen, thead, .skip, .tabs, details:not([open])"))
    .filter(e => e.getBoundingClientRect().right > innerWidth + 1)
    .map(e => e.tagName + " " + e.className)"""
SMALL = """() => [...document.querySelectorAll("button, .button, input:not([type=hidden], [hidden]), select")]
    .filter(e => e.checkVisibility() && !e.closest(".look, .choice") && e.getBoundingClientRect().height < 44)
    .map(e => e.outerHTML)"""
EXPECTED = f"asked: {SITE}"
ASKED = (("light", 390), ("dark", 1280))  # of axe, which takes most of the time: both looks, both layouts
GROUND = "getComputedStyle(document.documentElement).backgroundColor"
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def pages():
    """Every page with texts of people who mean harm."""
    return {name: rendering.render(*sample) for name, sample in samples(lambda text: f"{text} {HOSTILE}").items()}


def serve(page, pages):
    """Answer a browser's requests from the pages and the static files."""

    def answer(route):
        name = route.request.url.removeprefix(SITE).partition("?")[0]
        file = Path(name.removeprefix("static/"))
        if name in pages:
            headers = {"content-type": "text/html; charset=utf-8", "content-security-policy": CONTENT_SECURITY_POLICY}
            route.fulfill(body=pages[name], headers=headers)
        elif file.name in rendering.static_files():
            route.fulfill(body=rendering.static_files()[file.name], headers={"content-type": KINDS[file.suffix]})
        else:
            route.fulfill(status=404, body="")

    page.route("**/*", answer)


def test_pages_fit_every_width_and_theme(view, pages, serious):
    """Nothing beyond the edge, nothing too small to hit, no finding of axe, nothing that the policy had to stop."""
    serve(view.page, pages)
    for name in pages:
        view.page.goto(SITE + name)
        view.page.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
        assert view.page.evaluate("document.documentElement.scrollWidth <= innerWidth"), name
        assert view.page.evaluate(SPILLS) == [], name
        assert view.page.evaluate(SMALL) == [], name
        if (view.look, view.width) in ASKED:
            assert serious(view.page) == [], name
    assert [each for each in view.troubles if not each.startswith(EXPECTED)] == []


def test_the_look_that_was_chosen_is_kept(browser, pages):
    """From page to page, whatever the system says."""
    context = browser.new_context(color_scheme="dark")
    page = context.new_page()
    serve(page, pages)
    page.goto(SITE + "challenges")
    dark = page.evaluate(GROUND)
    page.get_by_label("Light", exact=True).check()
    page.goto(SITE + "organise")
    assert page.evaluate(GROUND) == "rgb(255, 255, 255)" != dark
    page.get_by_label("System", exact=True).check()
    page.goto(SITE + "challenges")
    assert page.evaluate(GROUND) == dark
    context.close()


def test_a_result_that_is_waited_for_appears(browser, pages):
    """The page asks again, and shows the scores when they are there."""
    page = browser.new_page()
    template, waiting = samples()["result-queued"]
    shown = {"result": rendering.render(template, waiting._replace(refresh=1))}
    serve(page, shown)
    page.goto(SITE + "result")
    assert page.locator(".outcome.queued").count() == 1
    shown["result"] = pages["result"]
    page.wait_for_selector(".outcome.scored")
    assert page.locator(".card").count() == 4
    page.close()


def test_the_answer_to_a_check_keeps_the_look(browser, pages):
    """The page that takes the place of the form is as light or dark as was chosen."""
    context = browser.new_context(color_scheme="dark")
    page = context.new_page()
    serve(page, {"submit": rendering.render(*samples()["submit"]), "challenges/deer/submit": pages["submit-problems"]})
    page.goto(SITE + "submit")
    page.get_by_label("Light", exact=True).check()
    rows = b"row_id,label\na,deer\na,fox\n"
    page.get_by_label("Predictions").set_input_files({"name": "twice.csv", "mimeType": "text/csv", "buffer": rows})
    page.wait_for_selector("div.problems")
    assert page.evaluate(GROUND) == "rgb(255, 255, 255)"
    context.close()


def test_a_result_on_paper_has_no_controls(browser, pages):
    """Printed, there is what was scored, and nothing to press."""
    page = browser.new_page()
    serve(page, pages)
    page.goto(SITE + "result")
    page.emulate_media(media="print")
    assert page.evaluate("[...document.querySelectorAll('.bar, .buttons')].every(e => !e.offsetHeight)")
    assert page.locator(".card").first.is_visible()
    page.close()


def test_every_page_can_be_used_by_keyboard(browser, pages):
    """The first stop is the link past the bar, and every stop can be seen."""
    page = browser.new_page()
    serve(page, pages)
    page.goto(SITE + "challenges")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    assert page.evaluate("document.activeElement.getBoundingClientRect().top") >= 0
    page.keyboard.press("Tab")
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    page.close()
