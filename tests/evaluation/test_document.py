"""Reports and comparisons as pages, Markdown, CSV and files; how to make them again."""

from __future__ import annotations

import csv
import io
import json
import pickle
import re
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import tallymark as tm
from tallymark.comparison.document import reproduce_comparison
from tallymark.data.batch import Batch
from tallymark.evaluation.reproduction import fingerprint, reproduce_report
from tallymark.rendering.table import show_estimate

RNG = np.random.default_rng(3)
TRUTH = RNG.random(300) < 0.4
CHANCE = np.clip(0.3 * TRUTH + RNG.beta(2, 4, 300), 0, 1)
REGION = np.array(["north", "south"])[RNG.integers(0, 2, 300)]


def text_of(html):
    return re.sub(r"\s+", " ", re.sub(r"<style.*?</style>|<[^>]+>", " ", html, flags=re.DOTALL))


@pytest.fixture(scope="module")
def report():
    metrics = ["auc", "accuracy", "logloss", "confusion_matrix"]
    return tm.evaluate(TRUTH, CHANCE, metrics, by={"region": REGION}, ci=tm.Intervals(0.9, resamples=50))


@pytest.fixture(scope="module")
def comparison():
    models = {"old": CHANCE, "new": np.clip(CHANCE + 0.1 * TRUTH, 0, 1)}
    return tm.compare(TRUTH, models, ["auc", "brier"], ci=tm.Intervals(resamples=50))


def test_a_page_has_it_all(report):
    """Every value, interval, reading, plot, group, and how to make it again."""
    html = report.to_html(title="Churn", command="tallymark evaluate churn.csv")
    text = text_of(html)
    cell = report.cell("auc")
    for shown in (
        "Churn",
        "300 rows",
        "ROC AUC",
        *show_estimate(cell.value, cell.lo, cell.hi),
        "90 % interval",
        cell.metric.reading,
        "Groups by region 2 groups",
        "tallymark evaluate churn.csv",
        f"tallymark {tm.__version__}",
    ):
        assert shown in text, shown
    drawn = 7 + 3  # the first of all rows, and one of groups for each metric with one number
    assert html.count("<figure>") == html.count("<svg ") - html.count('<svg class="scale"') == drawn


def test_the_page_of_a_comparison_shows_the_best_model_and_all_plots(comparison):
    """Who is better, by how much, with the plots of all models."""
    html = comparison.to_html()
    text = text_of(html)
    assert "Comparison of old and new" in text
    assert "new scores best; the difference is significant" in text
    for difference in comparison:
        assert str(difference).replace("<", "&lt;") in text
    assert html.count("<figure>") == 2 + len(comparison.plot.available()) - 1


def test_what_has_no_value_is_said():
    """Undefined, failed and replaced, with the reasons; and plots that cannot be drawn."""
    report = tm.evaluate([1, 1, 1], [0.5, 0.6, 0.7], ["auc", "ks", "auc(undefined=0.5)", "coverage"], errors="report")
    text = text_of(report.to_html())
    assert "Metrics without a value" in text
    for what in (
        "ROC AUC, KS statistic undefined all rows are of one class",
        "ROC AUC (undefined 0.5) replaced",
        "coverage failed",
        "roc: ",
    ):
        assert what in text, what
    assert "Metrics without a value" not in tm.evaluate([1.0, 2.0], [1.0, 3.0], ["rmse"]).to_html()


def test_the_page_of_a_tally_has_no_fingerprint():
    """Its rows are gone: no fingerprint, and the call is that of a tally."""
    report = tm.Tally(["auc", "accuracy"], kind="probability").update(TRUTH, CHANCE).report()
    text = text_of(report.to_html())
    assert "tm.Tally([&quot;auc&quot;, &quot;accuracy&quot;], kind=&quot;probability&quot;)" in text
    assert "fingerprint" not in text
    assert "fingerprint" not in text_of(pickle.loads(pickle.dumps(report)).to_html())


def test_values_per_class_get_a_line_each_up_to_a_limit():
    """A line for each, of many the first, and how many more there are."""
    truth = np.arange(300) % 70
    report = tm.evaluate(truth, truth, ["recall(average=none)"])
    text = text_of(report.to_html())
    assert "recall by class · 0 1" in text
    assert "recall by class · and 20 more" in text


def test_markdown_has_tables_and_no_plots(report, comparison):
    """Tables for people, no plots, and what a page folds away is left out."""
    text = report.to_markdown(title="Churn")
    assert text.startswith("# Churn\n\n300 rows\n\n## All metrics\n\n| metric | value | 90 % interval |")
    assert "## Groups" in text
    assert "## Plots" not in text
    assert "## About" not in text
    assert "| ROC AUC | new | " in comparison.to_markdown()


def test_csv_has_one_line_per_value_to_the_last_bit(report, comparison):
    """One line per value, of all rows and of every group; every number is the same to the last bit."""
    lines = list(csv.DictReader(io.StringIO(report.to_csv())))
    assert [line["region"] for line in lines] == [""] * 4 + ["north"] * 4 + ["south"] * 4
    assert float(lines[0]["value"]) == report["auc"]
    assert float(lines[4]["hi"]) == report.slices["north"].cell("auc").hi
    assert lines[3]["value"] == ""
    found = list(csv.DictReader(io.StringIO(comparison.to_csv())))
    assert float(found[0]["p"]) == comparison[("old", "new"), "auc"].p
    assert tm.evaluate([1.0], [2.0], ["mae"]).to_csv().splitlines()[1].startswith("mae,,1.0,,,,lower,")


def test_csv_and_data_frames_have_the_groups_of_each_column():
    """All rows, then the groups of each column, then those of both; `by` names the columns, and labels stay what they
    are."""
    by = {"site": ["a", "b"] * 3, "by": [1, 1, 2, 2, 3, 3]}
    report = tm.evaluate([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], [1.0, 3.0, 5.0, 7.0, 9.0, 11.0], ["mae"], by=by)
    frame = report.to_pandas()
    assert list(frame.columns[:4]) == ["by", "site", "by (group)", "metric"]
    assert frame["by"].fillna("").tolist() == ["", *["site"] * 2, *["by"] * 3, *["site, by"] * 6]
    assert frame["by (group)"].dropna().tolist() == [1, 2, 3, 1, 2, 3, 1, 2, 3]
    assert frame.query("by == 'site'")["value"].tolist() == [2.0, 3.0]
    lines = list(csv.DictReader(io.StringIO(report.to_csv())))
    assert [line["site"] for line in lines] == frame["site"].fillna("").tolist()
    assert [float(line["value"]) for line in lines] == frame["value"].tolist()
    assert json.loads(report.to_json())["slices"]["by_column"][0]["groups"][1]["group"] == {"site": "b"}


def test_wide_tables_are_broken_into_blocks():
    """Each with the names of the groups and no line wider than 100, intervals beside their values."""
    metrics = ["auc", "accuracy", "brier", "logloss", "recall", "precision"]
    text = str(tm.evaluate(TRUTH, CHANCE, metrics, by={"region": REGION}, ci=0.9))
    table = text.partition("2 groups")[2].partition("·")[0]
    assert max(map(len, table.splitlines())) <= 100
    assert table.count("region  rows") == table.count("north") == 2
    for metric in ("ROC AUC", "accuracy", "Brier score", "log loss", "recall", "precision"):
        assert re.search(rf"{metric}  90 % interval", table), metric


def test_the_file_ending_decides_the_format(report, comparison, tmp_path):
    """HTML, Markdown, JSON and CSV; anything else is an error that says so."""
    for what in (report, comparison):
        for ending, content in (
            ("html", what.to_html()),
            ("md", what.to_markdown()),
            ("json", what.to_json()),
            ("CSV", what.to_csv()),
        ):
            what.save(tmp_path / f"a.{ending}")
            assert (tmp_path / f"a.{ending}").read_text() == content
    assert json.loads((tmp_path / "a.json").read_text())["n"] == 300
    with pytest.raises(tm.ParameterError, match=r"must end in \.html, \.md, \.json, \.csv; got 'a\.txt'"):
        report.save("a.txt")


HOSTILE = [
    "</title></svg><script>alert(1)</script>",
    "'\"><img src=x onerror=alert(1)>",
    "]]> --> &amp;",
    "\x00\x1b[2J",
    "\ud800",
    "a\nb",
]


def test_labels_can_do_nothing(tmp_path):
    """In titles, names, groups, cells and drawings; and every file can be written and read."""
    rng = np.random.default_rng(0)
    truth, found = (np.array(HOSTILE, object)[rng.integers(0, len(HOSTILE), 200)] for _ in range(2))
    metrics = {HOSTILE[0]: "accuracy", "table": "confusion_matrix", "each": "recall(average=none)"}
    report = tm.evaluate(truth, found, metrics, by={HOSTILE[0]: truth})
    for ending in ("html", "md", "csv", "json"):
        report.save(tmp_path / f"a.{ending}", title="\n".join(HOSTILE), command=HOSTILE[3])
        (tmp_path / f"a.{ending}").read_text()
    html = (tmp_path / "a.html").read_text()
    for bad in ("<script", "<img", "\x00", "\x1b"):
        assert bad not in html
    assert html.count("<title id=") == html.count("<svg ") - html.count('<svg class="scale"')
    assert html.count("</title>") == html.count("<title id=") + html.count("><title>")
    labels = json.loads((tmp_path / "a.json").read_text())["metrics"]["table"]["value"]["classes"]
    assert set(labels) == set(HOSTILE)


def test_a_page_without_matplotlib_says_what_to_install(monkeypatch):
    """A page says what to install; everything else is there."""
    report = tm.evaluate([1.0, 2.0], [1.0, 3.0], ["rmse"])
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(tm.MissingPackageError, match=r'pip install "tallymark\[plots\]"'):
        report.to_html()
    assert "rmse" in report.to_markdown()


def test_the_same_rows_give_the_same_page(report):
    """Nothing of the day or the machine's state is in it."""
    assert report.to_html() == report.to_html()


def test_the_call_gives_the_same_report_again():
    """Of metrics under names of their own, with all that was said about the rows."""
    y_true, y_pred, weights = np.where(TRUTH, "yes", "no"), CHANCE, RNG.random(300)
    group = REGION
    made = tm.evaluate(
        y_true, y_pred, {"F": "f2", "auc": "auc"}, weights=weights, positive="yes", by=group, min_rows=5,
        ci=tm.Intervals(0.9, "bootstrap", 40, seed=7),
    )  # fmt: skip
    code = next(part.text for part in reproduce_report(made).parts if hasattr(part, "text"))
    again = eval(code.removeprefix("import tallymark as tm\n"), {"tm": tm, **locals()})
    assert again.to_json() == made.to_json()
    assert "missing" not in code
    dropped = tm.evaluate([1.0, float("nan")], [1.0, 2.0], ["rmse"], missing="drop")
    assert 'tm.evaluate(y_true, y_pred, ["rmse"], missing="drop")' in reproduce_report(dropped).parts[1].text
    kind = tm.evaluate(TRUTH.astype(int), CHANCE, kind="probability", classes=[0, 1])
    assert 'kind="probability", classes=[0, 1])' in reproduce_report(kind).parts[1].text


def test_the_page_of_a_comparison_shows_its_call_and_fingerprints(comparison):
    """With what is not the default; each model has a fingerprint."""
    section = reproduce_comparison(comparison)
    call = section.parts[1].text.splitlines()[-1]
    assert call == ('tm.compare(y_true, {"old": …, "new": …}, ["auc", "brier"], ci=tm.Intervals(0.95, resamples=50))')
    names = [name for name, _ in section.parts[0].facts]
    assert names == ["data", "fingerprint with old", "fingerprint with new", "made with"]


def same(*batches):
    found = {fingerprint(batch) for batch in batches}
    assert None not in found
    return len(found) == 1


def test_a_fingerprint_is_that_of_the_rows():
    """Whatever holds them, in any order; weights of 1 are none."""
    y, p = [0, 1, 1, 0], [0.1, 0.5, 0.25, -0.0]
    assert same(
        Batch(y, p),
        Batch(np.array(y, bool), np.array(p)),
        Batch(pd.Series(y, dtype="float64"), pd.Series(p)),
        Batch(y[::-1], np.array(p)[::-1]),
        Batch(np.array(y, np.uint8), [0.1, 0.5, 0.25, 0.0], [1, 1, 1, 1]),
    )
    words = ["a", "b", "b", "c"]
    assert same(Batch(words, words), Batch(np.array(words), pd.Series(words, dtype="category")))


def test_other_rows_have_another_fingerprint():
    """One value changed, rows paired otherwise, sides swapped, rows more, weights, groups, numbers beyond 2⁵³."""
    y, p = [0, 1, 1, 0], [1.0, 2.0, 3.0, 4.0]
    others = [
        Batch(y, p),
        Batch(y, [1.0, 2.0, 3.0, np.nextafter(4.0, 5.0)]),
        Batch([1, 0, 1, 0], p),
        Batch(p, y),
        Batch([*y, 0], [*p, 4.0]),
        Batch([*y, 0, 0], [*p, 4.0, 4.0]),
        Batch(y, p, [1, 1, 1, 2]),
        Batch(y, p, by={"g": y}),
        Batch(y, p, query=y),
        Batch([0, 2**60, 1, 0], p),
        Batch([0, 2**60 + 1, 1, 0], p),
        Batch([str(each) for each in y], p),
        Batch(y, [[each, each] for each in p]),
    ]
    assert len({fingerprint(batch) for batch in others}) == len(others)


def test_a_fingerprint_does_not_depend_on_the_machine():
    """The digits are part of what a report says."""
    assert fingerprint(Batch([0, 1, 1], [0.5, 0.25, 1.5], [1, 2, 3])) == "8e3a30ce1e11cb2a"
    assert fingerprint(Batch(["cat", "dog"], ["cat", "cat"])) == "58cddfee6e4313ba"


def test_pages_and_colours_are_loaded_when_asked_for():
    """An import of the library knows nothing of rich, matplotlib or pages."""
    code = (
        "import sys, tallymark as tm; r = tm.evaluate([1., 2.], [1., 3.]); str(r); r._repr_html_(); r.to_json()\n"
        "print([m for m in sys.modules if m.split('.')[0] in ('rich', 'matplotlib') or m.startswith("
        "('tallymark.rendering.html_page', 'tallymark.rendering.plots', 'tallymark.evaluation.document'))])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.slow
def test_a_page_of_ten_million_rows_is_small():
    """Less than 2 MB with every plot, by groups, with intervals."""
    rng = np.random.default_rng(5)
    n = 10_000_000
    truth = rng.random(n, np.float32) < 0.3
    chance = np.float32(0.3) * truth + np.float32(0.7) * rng.random(n, np.float32)
    made = tm.evaluate(truth, chance, by={"part": rng.integers(0, 9, n, np.uint8)}, ci=tm.Intervals(method="analytic"))
    assert len(made.to_html().encode()) < 500_000
    values = tm.evaluate(truth + chance, chance, ["rmse", "mae"])
    assert len(values.to_html().encode()) < 500_000


def test_cards_show_uniform_guessing_among_the_classes_that_there_are():
    """ln 2 for two classes, ln 3 for three."""
    rng = np.random.default_rng(3)
    y, p = rng.integers(0, 3, 60), rng.dirichlet(np.ones(3), 60)
    cards = [tm.evaluate(y > 0, p[:, 1], ["logloss"]), tm.evaluate(y, p, ["logloss"])]
    assert ["uniform guessing: 0.6931" in report.to_html() for report in cards] == [True, False]
    assert ["uniform guessing: 1.099" in report.to_html() for report in cards] == [False, True]


def test_weights_are_not_called_rows():
    """A confusion by weight did not happen so many times."""
    y, p, w = [0, 1, 1, 0], [0, 0, 1, 0], [1.5, 2.5, 1.0, 1.0]
    told = tm.evaluate(y, p, ["accuracy"], weights=w).plot.confusion().description
    assert "of the weight is right" in told
    assert "2.5 by weight, 71 % of its weight" in told


FEW = tm.Intervals(0.9, resamples=199)


@pytest.mark.parametrize("ci", [None, FEW], ids=["values", "intervals"])
@pytest.mark.parametrize("weights", [None, [0.0, 2.0] * 30], ids=["rows", "weights"])
@pytest.mark.parametrize("form", ["html", "markdown", "json", "csv", "dict", "terminal", "notebook", "text"])
def test_every_form_shows_all_that_a_report_can_hold(form, weights, ci):
    """Groups of two columns, what compares them, values by class, tables, what failed and what is undefined."""
    truth, predicted = ["cat", "dog", "cat"] * 20, ["cat", "dog", "dog", "cat", "cat", "cat"] * 10
    metrics = ["accuracy", "recall(average=none)", "confusion_matrix", "worst(accuracy)", "gap(mcc)", "mcc", "rmse"]
    metrics += ["fscore", "equal_opportunity"]
    by = {"size": ["s", "m"] * 30, "site": list("abc") * 20}
    report = tm.evaluate(truth, predicted, metrics, by=by, weights=weights, ci=ci, errors="report", positive="dog")
    told = {
        "html": report.to_html,
        "markdown": report.to_markdown,
        "json": report.to_json,
        "csv": report.to_csv,
        "dict": lambda: str(report.to_dict()),
        "terminal": lambda: report.to_terminal(width=80),
        "notebook": report._repr_html_,
        "text": lambda: str(report),
    }[form]()
    in_code = form in ("json", "csv", "dict")
    keys = ("accuracy", "worst(accuracy)", "equal_opportunity", "confusion_matrix")
    assert all(name in told for name in (keys if in_code else map(report.display_name, keys)))


def test_all_digits_are_on_hover():
    """Of values and of intervals, in cards and tables."""
    report = tm.evaluate([1.0, 2.0, 4.0, 8.0] * 10, [1.5, 2.0, 3.0, 9.0] * 10, ["mae"], ci=0.95)
    page, cell = report.to_html(), report.cell("mae")
    assert f'title="{cell.value!r}; {cell.lo!r} to {cell.hi!r}"' in page
    assert f'title="{cell.lo!r} to {cell.hi!r}"' in page
    assert f'<td class="number" title="{cell.value!r}">' in page


def test_captions_round_as_cards_do():
    """By the interval of the metric; without one, to four digits."""
    for ci in (None, 0.95):
        report = tm.evaluate(TRUTH, CHANCE, ["auc", "ece"], by=REGION, ci=ci, kind="probability")
        shown = report.cell("auc").shown(report["auc"], report.cell("auc").lo, report.cell("auc").hi)[0]
        assert f"the area under the curve is {shown}" in report.plot.roc().description
        assert f"all rows have {shown};" in report.plot.slices("auc").description
        assert f"differ by {report['ece']:.4g} on" in report.plot.reliability().description


def test_captions_of_numbers_round_as_cards_do():
    """The mean of the residuals, their size and R²."""
    truth, guess = RNG.normal(size=90), RNG.normal(size=90)
    report = tm.evaluate(truth, guess, ["rmse", "r2", "mean_bias"], ci=0.95)
    root, share, bias = (str(report.cell(key).shown(report[key], *report.cell(key).bounds()[0])[0]) for key in report)
    assert f"R² is {share}, RMSE is {root}".replace("-", "−") in report.plot.predictions().description
    assert f"mean is {bias}, their root mean square {root}".replace("-", "−") in report.plot.residuals().description


@pytest.mark.parametrize(("classes", "most"), [(2, 1.0), (3, 2.0)])
def test_the_scale_of_a_brier_score_ends_where_it_can(classes, most):
    """At 1 for two classes, at 2 for more."""
    truth, table = np.arange(60) % classes, np.full((60, classes), 1 / classes)
    chance = table[:, 1] if classes == 2 else table
    (card,) = tm.evaluate(truth, chance, ["brier"])._document(None, None, pictures=False).cards
    assert (card.scale.low, card.scale.high) == (0.0, most)


def test_metrics_that_fail_for_one_reason_share_a_line():
    """In print and on pages, although each error names its metric."""
    report = tm.evaluate(TRUTH, CHANCE, ["auc", "rmse", "mae"], kind="probability", errors="report")
    reason = 'reads predictions of kind "value"; got kind="probability"'
    assert f"· RMSE, MAE: {reason}" in str(report)
    assert f"| RMSE, MAE | failed | {reason} |" in report.to_markdown()
