"""Every metric agrees with an independent reference, and the validation page says so."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from bench import validate

import tallymark as tm
from tests.references.comparisons import COMPARISONS, Comparison, difference, largest_difference


def base(metric: str) -> str:
    """The name of a metric without its parameters."""
    return metric.partition("(")[0]


def rows_of_the_page() -> Iterator[list[str]]:
    """The cells of every row that compares a metric with a reference."""
    for line in validate.PAGE.read_text().splitlines():
        if line.startswith("| `"):
            yield [cell.strip(" `") for cell in line.strip("|").split(" | ")]


def test_every_metric_has_a_reference():
    """A new metric needs a comparison in `comparisons.py`. Metrics that other tests define are not ours."""
    built_in = [metric for metric in tm.list_metrics() if type(metric).__module__.startswith("tallymark.")]
    ours = {str(metric) for metric in built_in if metric.family != "custom"}
    assert {base(each.metric) for each in COMPARISONS} == ours


def test_the_page_has_every_comparison():
    """Write it anew with: make validate."""
    rows = [(metric, reference, tolerance) for metric, reference, _, _, tolerance in rows_of_the_page()]
    assert sorted(rows) == sorted((each.metric, each.reference, f"{each.tolerance:.0e}") for each in COMPARISONS)


def test_no_difference_on_the_page_exceeds_its_tolerance():
    """As it was written."""
    for metric, _, _, found, tolerance in rows_of_the_page():
        assert float(found) <= float(tolerance), metric


@pytest.mark.slow
@pytest.mark.parametrize("comparison", COMPARISONS, ids=lambda each: f"{each.metric}-{each.reference}")
def test_a_few_random_cases_agree(comparison):
    """`make validate` runs more of them."""
    assert largest_difference(comparison, 10) <= comparison.tolerance


def test_differences_are_relative_to_the_value():
    """Or to 1 where the largest value is 1; a value that only one side has is infinitely far."""
    nan = float("nan")
    assert difference(tm.mae, 2e-50, 1e-50) == 1.0
    assert difference(tm.auc, 2e-5, 1e-5) == pytest.approx(1e-5)
    assert difference(tm.mae, nan, nan) == 0.0
    assert difference(tm.mae, nan, 1.0) == difference(tm.mae, 1.0, nan) == float("inf")
    assert difference(tm.roc_curve, [0.0, 1.0], [0.0]) == float("inf")


@pytest.mark.parametrize("found", [1.1, float("nan")])
def test_a_failing_comparison_prevents_the_page(monkeypatch, tmp_path, found):
    """The exit status is not zero, the message names the row, and the page stays as it was."""
    page = tmp_path / "validation.md"
    monkeypatch.setattr(validate, "PAGE", page)
    monkeypatch.setattr(validate, "COMPARISONS", [Comparison("mae", "a reference", lambda rng: (found, 1.0))])
    with pytest.raises(SystemExit, match=r"validation.md was not written: 1 of 1 rows fail\n`mae` \| a reference"):
        validate.main()
    assert not page.exists()


def test_a_method_that_misses_its_level_prevents_the_page(monkeypatch, tmp_path):
    """On average over metrics and populations; one that is low by chance does not."""
    page, shares = tmp_path / "validation.md", [(0.95, "`mae`"), (0.85, "`mse`")]
    monkeypatch.setattr(validate, "PAGE", page)
    monkeypatch.setattr(validate, "COMPARISONS", [])
    monkeypatch.setattr(validate, "law_table", str)
    monkeypatch.setattr(validate, "measure_coverage", lambda: [validate.Covered("Hall", 200, 500, shares)])
    with pytest.raises(SystemExit, match=r"1 of 1 rows fail\nHall \| 200 \| 2 \| 500 \| 90\.0 \| 85\.0 \| `mse`"):
        validate.main()
    assert not page.exists()
    assert not validate.Covered("Hall", 200, 500, [(0.95, "`mae`"), (0.91, "`mse`")]).fails
