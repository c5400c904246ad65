"""Somebody with a browser, who goes from page to page and sees whatever goes wrong on the way."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tests.browser.server import CHALLENGE, PASSWORD, Server
from tests.waiting import LIMIT

_TOLD = "Failed to load resource: the server responded"  # which is seen in the answer itself
_LOOKED: set[str] = set()  # pages that axe has seen, since it takes a second


class Visitor:
    """A browser of one's own at a server. After each page, `look` says that nothing was wrong with it."""

    def __init__(self, browser: Any, server: Server, serious: Callable[[Any], list[str]], **options: Any) -> None:
        self.context = browser.new_context(base_url=server.url, **options)
        self.page = self.context.new_page()
        self.page.set_default_timeout(1000 * LIMIT)
        self._serious = serious if options.get("java_script_enabled", True) else lambda _: []
        self._troubles: list[str] = []
        self._refusals: list[int] = []
        self.page.on("console", lambda each: each.text.startswith(_TOLD) or self._troubles.append(each.text))
        self.page.on("pageerror", lambda error: self._troubles.append(str(error)))
        self.page.on("requestfailed", self._note_failure)
        self.page.on("response", lambda each: self._refusals.extend([each.status] * (each.status >= 400)))

    def _note_failure(self, request: Any) -> None:
        if broke(request) and not request.is_navigation_request():  # else it is a download, or one that a test asks for
            self._troubles.append(f"failed: {request.url}")

    def open(self, path: str, status: int = 200) -> None:
        """Go to a page."""
        self.page.goto(path)
        self.look(status)

    def look(self, status: int = 200) -> None:
        """Nothing in the console, nothing stopped by the policy, no request that failed, nothing serious for axe."""
        self.page.wait_for_load_state()
        assert self._troubles == [], self._troubles
        told = (self._refusals, self.texts(".error, .flash, .problems"))
        assert self._refusals == ([] if status == 200 else [status]), told
        self._refusals.clear()
        kind = f"{self.page.locator('h1').inner_text()} {status}"
        if kind not in _LOOKED:
            _LOOKED.add(kind)
            found = self._serious(self.page)
            assert found == [], (kind, found)

    def fill(self, **fields: str) -> None:
        """Fill in fields by their names."""
        for name, value in fields.items():
            self.page.locator(f'[name="{name}"]').fill(value)

    def choose(self, name: str, file: Path | Mapping[str, Any]) -> None:
        """Choose a file."""
        self.page.locator(f'input[type=file][name="{name}"]').set_input_files(file)

    def press(self, name: str, status: int = 200) -> None:
        """Press a button that leads to another page."""
        with self.page.expect_navigation():
            self.page.get_by_role("button", name=name, exact=True).click()
        self.look(status)

    def follow(self, name: str) -> None:
        """Follow a link to another page."""
        with self.page.expect_navigation():
            self.page.get_by_role("link", name=name, exact=True).first.click()
        self.look()

    def download(self, role: str, name: str) -> Path:
        """The file that a button or a link gives."""
        with self.page.expect_download() as held:
            self.page.get_by_role(role, name=name, exact=True).click()
        return Path(held.value.path())

    def sign_up(self, link: str, name: str) -> None:
        """Sign up by an invitation."""
        self.open(link)
        self.fill(name=name, password=PASSWORD, again=PASSWORD)
        self.press("Sign up")

    def join(self, team: str) -> None:
        """Take part in the example with a new team."""
        self.open(CHALLENGE)
        self.fill(team=team)
        self.press("Join")

    def submit(self, chosen: Path, note: str = "") -> str:
        """Have a file checked for the example, submit it, and come to its result; its key."""
        self.open(f"{CHALLENGE}/submit")
        self.choose("submission", chosen)
        self.page.locator("[data-result]").wait_for()
        self.fill(note=note)
        with self.page.expect_navigation(url="**/submissions/*"):
            self.page.get_by_role("button", name="Submit", exact=True).click()
        self.look()
        return str(self.page.url).rpartition("/")[2]

    def text(self, of: str = "main") -> str:
        """What is read, in one line."""
        return re.sub(r"\s+", " ", self.page.locator(of).inner_text())

    def texts(self, of: str) -> list[str]:
        """What is read of each, in one line."""
        return [re.sub(r"\s+", " ", each).strip() for each in self.page.locator(of).all_inner_texts()]


def broke(request: Any) -> bool:
    """Whether a request that failed was not just given up by the browser, since somebody has left its page."""
    return bool(request.failure != "net::ERR_ABORTED")


def file(content: bytes, name: str = "predictions.csv") -> dict[str, Any]:
    """A file to choose."""
    return {"name": name, "mimeType": "text/csv", "buffer": content}
