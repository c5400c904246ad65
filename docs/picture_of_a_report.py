"""Makes docs/images/report.png and report-cards.png: the page of a report in a browser, and its first part.

Needs Chromium and playwright.
"""

import shutil
import tempfile
from pathlib import Path

import numpy as np
from playwright.sync_api import sync_playwright

import tallymark as tm

IMAGES = Path(__file__).parent / "images"


def make(path: Path) -> None:
    """A report of customers that may leave, by region."""
    rng = np.random.default_rng(12)
    churned = rng.random(4000) < 0.3
    chance = np.clip(0.4 * churned + rng.beta(2, 5, 4000), 0, 1)
    region = np.array(["north", "south", "east", "west"])[rng.integers(0, 4, 4000)]
    metrics = ["auc", "logloss", "accuracy", "recall"]
    report = tm.evaluate(churned, chance, metrics, by={"region": region}, ci=0.95)
    report.save(path, title="Customers who may leave")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        page_file = Path(folder) / "report.html"
        make(page_file)
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1120, "height": 1340}, color_scheme="light")
        page.goto(page_file.as_uri())
        page.screenshot(path=IMAGES / "report.png")
        cards = page.locator(".cards").first.bounding_box()
        height = cards["y"] + cards["height"] + cards["x"]  # with a margin as wide as that at the side
        page.screenshot(path=IMAGES / "report-cards.png", clip={"x": 0, "y": 0, "width": 1120, "height": height})
        browser.close()
