"""Analytic intervals of shares of rows and what rises with them, against statsmodels."""

from __future__ import annotations

import numpy as np
import pytest
from statsmodels.stats.proportion import proportion_confint
from tests.interval_rows import P2, P4, Y2, Y4, interval

from tallymark.intervals.analytic import wilson


def test_wilson_is_that_of_statsmodels():
    """For counts of any size and any level."""
    for rows in (1, 2, 9, 10, 57, 1_000, 10**9):
        for hits in {0, 1, rows // 3, rows - 1, rows}:
            for level in (0.5, 0.9, 0.95, 0.999):
                wanted = proportion_confint(hits, rows, 1 - level, "wilson")
                assert wilson(hits, rows, level) == pytest.approx(wanted, rel=1e-10, abs=1e-15)


@pytest.mark.parametrize(
    ("name", "hits", "rows"),
    [
        ("accuracy", Y2 == P2, None),
        ("error_rate", Y2 != P2, None),
        ("precision", Y2 == 1, P2 == 1),
        ("fdr", Y2 == 0, P2 == 1),
        ("recall", P2 == 1, Y2 == 1),
        ("fnr", P2 == 0, Y2 == 1),
        ("specificity", P2 == 0, Y2 == 0),
        ("fallout", P2 == 1, Y2 == 0),
        ("npv", Y2 == 0, P2 == 0),
        ("jaccard", Y2 == P2, (Y2 == 1) | (P2 == 1)),
    ],
)
def test_the_interval_counts_the_rows_of_the_denominator(name, hits, rows):
    """Each is a share of the rows that its denominator counts."""
    rows = np.ones(300, bool) if rows is None else rows
    wanted = proportion_confint((hits & rows).sum(), rows.sum(), 0.05, "wilson")
    assert interval(name, Y2, P2)[:2] == pytest.approx(wanted, rel=1e-10)


def test_classes_have_intervals_of_their_own():
    """Under the same keys as the values."""
    found = interval("recall(average=None)", Y4, P4)
    for k in range(4):
        wanted = proportion_confint(((k == Y4) & (k == P4)).sum(), (k == Y4).sum(), 0.05, "wilson")
        assert (found.lo[k], found.hi[k]) == pytest.approx(wanted, rel=1e-10)


def test_a_class_without_rows_says_so():
    """Its ends are None, and those of the others stand."""
    found = interval("precision(average=None)", [0, 1, 2, 2], [0, 1, 1, 0])
    assert found.lo[2] is None
    assert found.hi[2] is None
    assert found.lo[0] < 0.5 < found.hi[0]
    assert "class 2: no row was predicted positive" in found.notes


def test_micro_averages_are_functions_of_accuracy():
    """With one label per row, all rows count alike."""
    ends = interval("accuracy", Y4, P4)[:2]
    for name in ("precision", "recall", "fscore", "f2"):
        assert interval(f"{name}(average=micro)" if name != "f2" else "fscore(beta=2, average=micro)", Y4, P4)[
            :2
        ] == pytest.approx(ends, rel=1e-12)
    assert interval("jaccard(average=micro)", Y4, P4)[:2] == pytest.approx([a / (2 - a) for a in ends], rel=1e-12)
    assert interval("specificity(average=micro)", Y4, P4)[:2] == pytest.approx([1 - (1 - a) / 3 for a in ends])


def test_two_classes_of_f():
    """F1 is a function of the share of rows in the intersection; other betas are not, and have no formula."""
    tp, either = ((Y2 == 1) & (P2 == 1)).sum(), ((Y2 == 1) | (P2 == 1)).sum()
    lo, hi = proportion_confint(tp, either, 0.05, "wilson")
    assert interval("fscore", Y2, P2)[:2] == pytest.approx((2 * lo / (1 + lo), 2 * hi / (1 + hi)), rel=1e-10)
    assert interval("f2", Y2, P2) is None
    each = interval("fscore(average=None)", Y4, P4)
    for k in range(4):
        both, either = ((k == Y4) & (k == P4)).sum(), ((k == Y4) | (k == P4)).sum()
        ends = np.array(proportion_confint(both, either, 0.05, "wilson"))
        assert (each.lo[k], each.hi[k]) == pytest.approx(2 * ends / (1 + ends), rel=1e-10)


def test_recall_by_weight_is_accuracy():
    """Its classes add up to the rows."""
    assert interval("recall(average=weighted)", Y4, P4)[:2] == pytest.approx(interval("accuracy", Y4, P4)[:2])
    assert interval("fnr(average=weighted)", Y4, P4)[:2] == pytest.approx(interval("error_rate", Y4, P4)[:2])
    for name in ("precision", "specificity", "fscore"):
        assert interval(f"{name}(average=weighted)", Y4, P4) is None
