"""A real browser for the tests in this folder: pages are looked at as people see them."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.browser.server import Host, Server, started
from tests.browser.visitor import Visitor, broke
from tests.waiting import LIMIT

WIDTHS = {"phone": 390, "tablet": 820, "desktop": 1280}
THEMES = ("light", "dark")
_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")


class View(NamedTuple):
    """A page at a width in a look, with all that went wrong while it was loaded."""

    page: Any
    look: str
    width: int
    troubles: list[str]


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Headless Chromium: that of the system, or the one that playwright has installed."""
    from playwright.sync_api import Error, expect, sync_playwright

    os.environ.setdefault("PLAYWRIGHT_BROWSERS_PATH", str(Path(sys.prefix) / "browsers"))  # where make puts one
    expect.set_options(timeout=1000 * LIMIT)
    found = next(filter(None, map(shutil.which, _NAMES)), None)
    with sync_playwright() as playwright:
        try:
            started = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        except Error as error:
            pytest.fail(f"these tests need Chromium; install it with: make .venv/.browser. {error}", pytrace=False)
        yield started
        started.close()


@pytest.fixture(params=[(look, name) for look in THEMES for name in WIDTHS], ids=lambda each: "-".join(each))
def view(request: pytest.FixtureRequest, browser: Any) -> Iterator[View]:
    """An empty page of every width in every look, without a network."""
    look, name = request.param
    width = WIDTHS[name]
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=look, offline=True)
    page = context.new_page()
    troubles: list[str] = []
    page.on("console", lambda message: troubles.append(f"console: {message.text}"))
    page.on("pageerror", lambda error: troubles.append(f"error: {error}"))
    page.on("requestfailed", lambda asked: troubles.extend([f"failed: {asked.url}"] * broke(asked)))
    page.on("request", lambda asked: troubles.extend([f"asked: {asked.url}"] * asked.url.startswith("http")))
    yield View(page, look, width, troubles)
    context.close()


@pytest.fixture
def serious(browser: Any) -> Any:
    """A function that names the serious findings of axe in a page."""
    from axe_playwright_python.sync_playwright import Axe

    def findings(page: Any) -> list[str]:
        found = Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]  # half the time
        return [
            f"{each['id']}: {each['help']} at {each['nodes'][0]['target']}"
            for each in found
            if each["impact"] in ("serious", "critical")
        ]

    return findings


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The app with the example in it, for all journeys: each has a team of its own."""
    with started(tmp_path_factory.mktemp("app")) as server:
        yield server


@pytest.fixture(scope="session")
def host(server: Server) -> Iterator[Host]:
    """The organiser of that app, who invites others."""
    host = Host(server)
    yield host
    host.close()


@pytest.fixture
def visits(browser: Any, serious: Any) -> Iterator[Callable[..., Visitor]]:
    """A function that gives a visitor of a server."""
    made: list[Visitor] = []

    def visits(server: Server, **options: Any) -> Visitor:
        made.append(Visitor(browser, server, serious, **options))
        return made[-1]

    yield visits
    for each in made:
        each.context.close()
