"""Every kind of report in a real browser: three widths, two looks, nothing cut, nothing asked for."""

from __future__ import annotations

import io

import matplotlib.image
import numpy as np
import pytest

import tallymark as tm

HOSTILE = [
    "<script>alert(1)</script>",
    "$x$ and $\\frac{1}{2}$",
    "a_very_long_name_without_a_place_to_break_" * 4,
    "many words that go on and on " * 8,
    "\u05e9\u05dc\u05d5\u05dd \u05e2\u05d5\u05dc\u05dd",
    "\u202eright to left",
    "日本語のラベル",
    "",
]
SPILLS = """() => [...document.querySelectorAll("body *")]
    .filter(e => !e.closest(".wide, .plots, svg, .unseen, thead, .skip, details:not([open])"))
    .filter(e => e.getBoundingClientRect().right > innerWidth + 1)
    .map(e => e.tagName + " " + e.className)"""


def made(n=600):
    rng = np.random.default_rng(7)
    truth = rng.random(n) < 0.3
    return rng, truth, np.clip(0.35 * truth + rng.beta(2, 4, n), 0, 1)


def binary():
    rng, truth, chance = made()
    region = np.array(["north", "south", "east", "west"])[rng.integers(0, 4, len(truth))]
    metrics = ["auc", "logloss", "brier", "accuracy", "precision", "recall", "fscore", "mcc", "confusion_matrix"]
    return tm.evaluate(truth, chance, metrics, by={"region": region}, ci=tm.Intervals(resamples=50))


def several():
    rng, *_ = made()
    truth = rng.integers(0, 3, 600)
    scores = rng.random((600, 3)) + 0.8 * np.eye(3)[truth]
    classes = ["setosa", "versicolor", "virginica"]
    return tm.evaluate(
        np.array(classes)[truth],
        scores / scores.sum(axis=1, keepdims=True),
        ["accuracy", "logloss", "auc", "fscore(average=none)", "classification_report"],
        kind="probability",
        classes=classes,
    )


def values():
    rng, *_ = made()
    truth = rng.gamma(2, 20, 600)
    return tm.evaluate(truth, truth + rng.normal(0, 8, 600), ["rmse", "mae", "r2", "mape", "mean_bias"], ci=0.9)


def troubled():
    """Undefined, failed, weighted, dropped."""
    truth, found = [5.0, 5.0, 5.0, float("nan")], [4.0, 6.0, 5.0, 1.0]
    metrics = ["r2", "coverage", "rmse", "pearson"]
    return tm.evaluate(truth, found, metrics, weights=[1, 2, 1, 1], missing="drop", errors="report")


def hostile():
    rng, *_ = made()
    truth, found = (np.array(HOSTILE, object)[rng.integers(0, len(HOSTILE), 300)] for _ in range(2))
    names = {HOSTILE[0]: "accuracy", HOSTILE[2]: "mcc", "table": "confusion_matrix", "each": "recall(average=none)"}
    groups = {HOSTILE[0]: truth, HOSTILE[2]: found}
    return tm.evaluate(truth, found, names, by=groups)


def pieces():
    _, truth, chance = made()
    return tm.Tally(["auc", "accuracy"], kind="probability").update(truth, chance).report()


def models():
    rng, truth, chance = made()
    found = {"old": chance, "new": np.clip(chance + 0.05 * truth, 0, 1), HOSTILE[0]: rng.random(len(truth))}
    return tm.compare(truth, found, ["auc", "accuracy", "brier"], ci=tm.Intervals(resamples=200))


KINDS = {each.__name__: each for each in (binary, several, values, troubled, hostile, pieces, models)}


@pytest.fixture(scope="session", params=KINDS)
def path(request, tmp_path_factory):
    """A page of every kind of report."""
    file = tmp_path_factory.mktemp("pages") / f"{request.param}.html"
    title = HOSTILE[0] + HOSTILE[2] if request.param == "hostile" else f"A report: {request.param}"
    KINDS[request.param]().save(file, title=title, command="tallymark evaluate rows.csv --html page.html")
    return file


@pytest.mark.slow
def test_a_page_as_people_see_it(path, view, serious):
    """No message, no request, nothing beyond the edge, its own background, and no serious finding of axe."""
    page = view.page
    page.goto(path.as_uri())
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.evaluate(SPILLS) == []
    picture = matplotlib.image.imread(io.BytesIO(page.screenshot(full_page=True)))
    assert picture.shape[1] == view.width
    assert (picture[:200, :4].mean() > 0.9) == (view.look == "light")
    page.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.evaluate(SPILLS) == []
    assert serious(page) == []
    assert view.troubles == []


def useless():
    """Ten metrics of a model that calls nothing positive."""
    rng, *_ = made()
    truth = np.arange(2000) < 110
    chance = np.clip(rng.beta(2, 18, 2000) - 0.006 * truth, 0.001, 0.49)
    metrics = ["accuracy", "auc", "recall", "precision", "f1", "logloss", "brier", "mcc", "ap", "balanced_accuracy"]
    return tm.evaluate(truth, chance, metrics, kind="probability", ci=tm.Intervals(resamples=50))


def wide():
    """Fourteen metrics by two columns, one of which has many groups, and a condition that fails."""
    rng, truth, chance = made(2000)
    metrics = ["auc", "ap", "logloss", "brier", "accuracy", "balanced_accuracy", "precision", "recall", "f1", "fallout"]
    by = {"store": rng.integers(0, 60, 2000).astype(str), "age": np.digitize(rng.random(2000), [0.3, 0.6])}
    metrics += ["mcc", "cohen_kappa", "ece", "ks"]
    report = tm.evaluate(truth, chance, metrics, by=by, ci=tm.Intervals(resamples=40))
    return report.with_acceptance("auc > 0.99 and recall > 0")


@pytest.mark.slow
def test_ten_metrics_are_short_on_a_phone(browser, tmp_path):
    """Less than six screens, and what is no better than guessing says so on the first."""
    useless().save(tmp_path / "page.html")
    page = browser.new_page(viewport={"width": 390, "height": 844})
    page.goto((tmp_path / "page.html").as_uri())
    assert page.evaluate("document.documentElement.scrollHeight") < 6 * 844
    verdict = page.get_by_text("No better than always predicting the majority class").first
    assert verdict.bounding_box()["y"] < 844
    page.close()


@pytest.mark.slow
def test_groups_are_unfolded_and_the_verdict_leads(browser, tmp_path):
    """Twenty groups are shown, then all; whether the report is accepted is on the first screen of a phone."""
    wide().save(tmp_path / "page.html")
    page = browser.new_page(viewport={"width": 390, "height": 844})
    page.goto((tmp_path / "page.html").as_uri())
    assert page.get_by_role("heading", name="Refused").bounding_box()["y"] < 844
    assert page.get_by_text("20 of 60 groups shown").is_visible()
    every = page.get_by_text("Show all 60 groups")
    rows = every.locator("xpath=..").locator("tbody tr")
    assert not rows.last.is_visible()
    every.click()
    assert rows.last.is_visible()
    assert rows.count() == 61
    page.close()


@pytest.mark.slow
def test_paper_has_all_plots_and_columns(browser, tmp_path):
    """Nothing is wider than a sheet of A4 with its margins, though it is as narrow as a phone."""
    wide().save(tmp_path / "page.html")
    page = browser.new_page(viewport={"width": 680, "height": 960})
    page.emulate_media(media="print")
    page.goto((tmp_path / "page.html").as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") <= 680
    drawn = "[...document.querySelectorAll('figure, td, th')].map(each => each.getBoundingClientRect().right)"
    assert max(page.evaluate(drawn)) <= 681
    assert len(page.pdf(format="A4")) > 10_000
    page.close()


@pytest.mark.slow
def test_what_scrolls_sideways_fades_out_until_its_end(browser, tmp_path):
    """Tables and rows of plots that are wider than a phone; what fits does not fade."""
    wide().save(tmp_path / "page.html")
    page = browser.new_page(viewport={"width": 390, "height": 844})
    page.goto((tmp_path / "page.html").as_uri())
    fade = "e => getComputedStyle(e).getPropertyValue('--fade')"
    for each in (page.locator("#numbers .wide").first, page.locator(".plots").first):
        assert each.evaluate(fade) == "48px"
        each.evaluate("e => { e.scrollLeft = 99999 }")
        page.wait_for_function(f"e => ({fade})(e) === '0px'", arg=each.element_handle())
    page.set_viewport_size({"width": 1600, "height": 844})
    assert page.locator("#numbers .wide").first.evaluate(fade) == "0px"
    page.close()


@pytest.mark.slow
def test_the_look_can_be_chosen(browser, tmp_path):
    """Whatever the system says, and without a script."""
    values().save(tmp_path / "page.html")
    context = browser.new_context(color_scheme="dark", java_script_enabled=True)
    page = context.new_page()
    page.goto((tmp_path / "page.html").as_uri())
    ground = "getComputedStyle(document.documentElement).backgroundColor"
    dark = page.evaluate(ground)
    page.get_by_label("Light").check()
    assert page.evaluate(ground) == "rgb(255, 255, 255)" != dark
    page.get_by_label("Dark").check()
    assert page.evaluate(ground) == dark
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate(ground) == "rgb(255, 255, 255)"
    context.close()


@pytest.mark.slow
def test_a_report_can_be_used_by_keyboard(browser, tmp_path):
    """The first stop is the link past the contents, and every stop can be seen."""
    values().save(tmp_path / "page.html")
    page = browser.new_page()
    page.goto((tmp_path / "page.html").as_uri())
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    assert page.evaluate("document.activeElement.getBoundingClientRect().top") >= 0
    page.keyboard.press("Tab")
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    page.close()
