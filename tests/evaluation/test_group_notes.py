"""Notes on the values of groups are told wherever their table is shown: equal ones once, and not too many."""

from __future__ import annotations

import re
from html import unescape

import numpy as np
import pytest

import tallymark as tm
from tallymark.evaluation.group_slices import group_notes
from tallymark.evaluation.report import Cell, Report
from tallymark.metrics.naming import metric
from tallymark.rendering.text import list_first

LACKS = "macro recall for flat: 'dog' counted as 0: no row is truly positive"
FEW = "accuracy, macro recall for flat: only 6 rows: coverage may be below the nominal level"


def animals(**more):
    """Flats have cats only, and few of them."""
    truth = ["cat", "dog"] * 20 + ["cat"] * 6
    found = ["cat", "dog", "dog", "dog"] * 10 + ["cat"] * 5 + ["dog"]
    home = ["house"] * 40 + ["flat"] * 6
    return tm.evaluate(truth, found, ["accuracy", "recall(average=macro)"], by={"home": home}, **more)


def as_text(report):
    return str(report)


def as_slices(report):
    return str(report.slices)


def as_notebook(report):
    return unescape(report._repr_html_())


def as_notebook_of_slices(report):
    return unescape(report.slices._repr_html_())


def as_terminal(report):
    return " ".join(report.to_terminal(width=300, colour=False).split())


def as_markdown(report):
    return re.sub(r"\\(.)", r"\1", report.to_markdown())


def as_page(report):
    return unescape(report.to_html())


FORMS = (as_text, as_slices, as_notebook, as_notebook_of_slices, as_terminal, as_markdown, as_page)


@pytest.mark.parametrize("form", FORMS)
def test_the_table_of_groups_tells_the_notes_of_its_cells(form):
    """What a value is made of, how far an interval can be trusted, and why there is none."""
    assert form(animals()).count(LACKS) == 1
    shown = form(animals(ci=0.95))
    assert shown.count(LACKS) == 1
    assert shown.count(FEW) == 1
    asked = tm.evaluate([1.0, 2.0, 4.0, 7.0], [1.0, 2.0, 3.0, 4.0], ["mae"], by=["a", "a", "a", "b"], ci=0.95)
    assert "MAE for b: no interval: " in form(asked)


@pytest.mark.parametrize("form", FORMS)
def test_metrics_without_a_column_are_named(form):
    """What has several numbers for each group is not in the table, but does not vanish; one note tells of all."""
    labels, home = ["cat", "dog", "cat", "dog"] * 20, ["flat"] * 40 + ["house"] * 40
    asked = ["recall(average=None)", "confusion_matrix", "accuracy"]
    note = "recall by class, confusion matrix: several numbers for each group, which are in its report"
    report = tm.evaluate(labels, labels, asked, by={"home": home})
    assert form(report).count(note) == 1
    assert "several numbers" not in form(tm.evaluate(labels, labels, ["accuracy"], by={"home": home}))
    assert set(report.slices["flat"]["recall(average=None)"]) == {"cat", "dog"}  # where the note sends the reader
    assert set(report.to_dict()["slices"]["groups"][0]["metrics"]) == set(report)


def test_groups_without_notes_have_none():
    """Nothing stands below a table of which there is nothing to say."""
    many = np.arange(400) % 2
    text = str(tm.evaluate(many, np.roll(many, 1) | many, ["accuracy"], by=np.arange(400) // 200, ci=0.95).slices)
    assert "·" not in text.split("groups", 1)[1]


def reports(notes, interval_notes=None, reasons=None, keys=("mae", "rmse")):
    """Reports of groups with notes by group and key."""
    places = {group: None for found in (notes, interval_notes or {}, reasons or {}) for group, _ in found}
    out = {}
    for group in places:
        cells = {}
        for key in keys:
            reason = (reasons or {}).get((group, key))
            cells[key] = Cell(metric(key), 1.0, 1, 1.0, reason, notes.get((group, key), ()))
            cells[key].interval_notes = (interval_notes or {}).get((group, key), ())
        out[group] = Report(cells, n=1, total_weight=1.0)
    return out


def told(*args, shown=None, **more):
    found = reports(*args, **more)
    return group_notes(found, next(iter(found.values())), found if shown is None else shown)


def test_equal_notes_are_told_once():
    """Metrics with the same groups stand together; others behind a semicolon."""
    both = {(group, key): ("mind",) for group in "ab" for key in ("mae", "rmse")}
    assert told(both) == ["MAE, RMSE for a, b: mind"]
    assert told({**both, ("c", "rmse"): ("mind",)}) == ["MAE for a, b; RMSE for a, b, c: mind"]
    assert told({("a", "mae"): ("mind", "mind")}) == ["MAE for a: mind"]
    assert told({(("x", 1), "mae"): ("mind",)}) == ["MAE for x · 1: mind"]


def test_notes_come_by_kind_and_by_how_many_cells_have_them():
    """Why there is no value, then the values, then their intervals; what most cells have comes first."""
    notes = {("a", "mae"): ("rare",), ("b", "mae"): ("common",), ("c", "mae"): ("common",)}
    lines = told(notes, {(group, "mae"): ("wide",) for group in "abc"}, {("c", "rmse"): "no rows"})
    assert lines == ["RMSE for c: no rows", "MAE for b, c: common", "MAE for a: rare", "MAE for a, b, c: wide"]


def test_all_reasons_are_told():
    """A group without a value for another reason than the first is not passed over."""
    lines = told({}, reasons={("a", "mae"): "no rows", ("b", "mae"): "total weight is zero"})
    assert lines == ["MAE for a: no rows", "MAE for b: total weight is zero"]


def test_many_notes_are_cut():
    """Each kind for itself, and the last line says how many more there are and where."""
    notes = {(f"g{k}", "mae"): (f"value {k}",) for k in range(30)}
    intervals = {(f"g{k}", "mae"): (f"interval {k}",) for k in range(7)}
    lines = told(notes, intervals)
    assert [line.split(": ")[1] for line in lines[:-1]] == [
        f"{kind} {k}" for kind in ("value", "interval") for k in range(3)
    ]
    assert lines[-1] == "31 more notes: see .slices.to_pandas() or the report as CSV"
    four = dict(list(intervals.items())[:4])
    assert told({}, four)[-1].startswith("1 more note: ")


def test_groups_that_are_shown_come_first():
    """Notes on rows of the table are not cut for the sake of groups that are not in it."""
    notes = {(f"g{k}", key): (f"value {k}",) for k in range(30) for key in ("mae", "rmse")[: 1 + (k < 20)]}
    assert told(notes, shown={"g29"})[0] == "MAE for g29: value 29"


def test_many_names_are_cut():
    """Groups, metrics and pairs of both."""
    assert list_first(list("abcde")) == "a, b, c, d, e"
    assert list_first(list("abcdef")) == "a, b, c, d, e, and 1 more"
    assert list_first(list("abcdefg"), "; ") == "a; b; c; d; e; and 2 more"
    everywhere = {(k, "mae"): ("mind",) for k in range(2000)}
    assert told(everywhere) == ["MAE for all 2,000 groups: mind"]
    nearly = {(k, "mae"): ("mind",) for k in range(2000)} | {("last", "mae"): ()}
    assert told(nearly) == ["MAE for 0, 1, 2, 3, 4, and 1,995 more: mind"]
    bins = {(f"({k}, {k + 1}]", "mae"): ("mind",) for k in range(3)}
    assert told(bins) == ["MAE for (0, 1]; (1, 2]; (2, 3]: mind"]


def test_the_notes_that_are_cut_stand_in_the_frame():
    """Where the last line sends the reader."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 4, 900)
    found = np.where(rng.random(900) < 0.7, truth, rng.integers(0, 4, 900))
    report = tm.evaluate(truth, found, by=rng.integers(0, 60, 900), ci=0.95)
    lines = report.slices.table().notes
    more = int(lines[-1].split(" ")[0])
    named = {text for notes in report.slices.to_pandas()["notes"].dropna() for text in notes.split("; ")}
    reasons = set(report.slices.to_pandas()["reason"].dropna())
    assert len(named) + len(reasons) == more + sum(" for " in line for line in lines)
    assert all(text in report.to_csv() for text in named)


def test_notes_of_the_value_come_before_those_of_the_interval():
    """Those of the value come before those of its interval."""
    cell = animals(ci=0.95).slices["flat"].cell("recall(average=macro)")
    assert cell.value_notes == ("'dog' counted as 0: no row is truly positive",)
    assert all("coverage" in note for note in cell.interval_notes)
    assert cell.notes == (*cell.value_notes, *cell.interval_notes)
