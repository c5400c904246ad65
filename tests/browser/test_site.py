"""The documentation in a real browser: three widths, two looks, nothing cut, nothing asked for."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from urllib.parse import quote

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGES = ("index.html", "reference/probability.html", "examples.html", "compatibility.html")
FIRST = {
    "confidence interval": "how-to/intervals.html",
    "ROC AUC": "reference/score.html",
    "true positive rate": "reference/classification.html",
    "pandas DataFrame": "how-to/data-frames.html",
    "Jupyter": "how-to/data-frames.html",
    "pip install": "how-to/install.html",
    "early stopping": "how-to/early-stopping.html",
    "Parquet": "how-to/large-files.html",
    "fairness": "reference/fairness.html",
    "calibration": "concepts/probabilities.html",
    "statistically significant": "how-to/compare.html",
    "p-value": "how-to/compare.html",
    "semantic versioning": "compatibility.html",
    "deprecation": "compatibility.html",
    "JSON schema": "compatibility.html",
    "security": "compatibility.html",
}
SCROLLED = "document.documentElement.scrollWidth - innerWidth"
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The built site."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "-q", "-d", folder / "doctrees", DOCS, folder / "html"]
    subprocess.run(command, check=True)
    return folder / "html"


def test_pages_fit_and_find_what_they_need(view, site):
    """Nothing is wider than the screen, no file is missing, the console stays empty, no request leaves the machine."""
    for page in PAGES:
        view.page.goto((site / page).as_uri(), wait_until="networkidle")
        assert view.page.evaluate(SCROLLED) <= 0, page
        assert all(view.page.evaluate("[...document.images].map(image => image.naturalWidth > 0)")), page
    assert view.troubles == []


def test_pages_can_be_read_by_everybody(view, site, serious):
    """Axe has no serious finding."""
    for page in PAGES:
        view.page.goto((site / page).as_uri())
        assert serious(view.page) == [], page


def test_the_look_follows_the_reader(view, site):
    """Text is dark on light or light on dark, as the system says."""
    view.page.goto((site / "index.html").as_uri())
    paper = view.page.evaluate("getComputedStyle(document.body).backgroundColor")
    brightness = sum(map(int, paper.removeprefix("rgb(").removesuffix(")").split(","))) / 3
    assert (brightness > 128) == (view.look == "light")


def test_the_search_finds_a_metric_offline(view, site):
    """From the file system, without a server."""
    view.page.goto((site / "search.html").as_uri() + "?q=balanced_accuracy")
    view.page.wait_for_selector("#search-results li a")
    assert view.page.locator("#search-results li a").count() >= 1
    assert view.troubles == []


def test_the_search_finds_the_right_page_first(browser, site):
    """For what a newcomer would type."""
    page = browser.new_page()
    for query, expected in FIRST.items():
        page.goto((site / "search.html").as_uri() + f"?q={quote(query)}")
        found = page.locator("#search-results li a").first.get_attribute("href")
        assert found.partition("#")[0].partition("?")[0] == expected, query
    page.close()


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *words):
        pass


@pytest.fixture
def hosted(site, tmp_path):
    """Two versions side by side on a server, the older of which lacks a page; the address of their folder."""
    shutil.copytree(site, tmp_path / "0.2.0")
    shutil.copytree(site, tmp_path / "0.1.0")
    (tmp_path / "0.1.0" / "how-to" / "accept.html").unlink()
    (tmp_path / "versions.json").write_text(json.dumps(["0.2.0", "0.1.0"]))
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=tmp_path)) as server:
        Thread(target=server.serve_forever).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_a_hosted_page_leads_to_the_same_page_of_another_version(browser, hosted, serious):
    """Or to the front page of a version that does not have it."""
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    choice = page.get_by_label("Version of the documentation")
    page.goto(f"{hosted}/0.2.0/how-to/compare.html")
    choice.wait_for()
    assert choice.locator("option").all_text_contents() == ["0.2.0", "0.1.0"]
    assert choice.evaluate("choice => choice.selectedOptions[0].text") == "0.2.0"
    assert serious(page) == []
    choice.select_option("0.1.0")
    page.wait_for_url(f"{hosted}/0.1.0/how-to/compare.html")
    page.goto(f"{hosted}/0.2.0/how-to/accept.html")
    choice.select_option("0.1.0")
    page.wait_for_url(f"{hosted}/0.1.0/")
    page.close()
