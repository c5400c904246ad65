"""No cancellation: a value that does not depend on where zero is keeps its digits far away from it.

Nobody lists the metrics that are invariant: rows whose value a small shift leaves alone are also shifted by 1e8. All
numbers lie on a binary grid, on which 1e8 is added without rounding, so any change is made by the metric.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

import tallymark as tm
from tallymark.metrics.regression.base import SumMetric
from tallymark.states.sums import Output, Term
from tests.docs.pages import DOCS, run_examples
from tests.laws.cases import METRICS, close, labels_for, numbers, random_rows, reads_labels

GRID = 2.0**10
SMALL = (1.0, 16.0)
FAR = 1e8
SEEDS = range(6)


def moved(rows, by=0.0):
    """The rows with all columns of numbers brought to the grid and shifted. Labels stay."""
    return rows._replace(
        **{
            name: np.ceil(np.fmod(column, 64.0) * GRID) / GRID + by
            for name, column in (("y", rows.y), ("p", rows.p))
            if column.dtype.kind == "f"
        }
    )


def check_no_cancellation(metric):
    """Compare each value that small shifts leave alone with that of a large shift. Returns how many there were."""
    checked = 0
    for seed in SEEDS:
        labels = reads_labels(metric)
        rows = labels_for(metric, np.random.default_rng(seed), 60) if labels else random_rows(metric, 60, seed)
        if not {rows.y.dtype.kind, rows.p.dtype.kind} & {"f"}:
            continue
        try:
            expected = moved(rows).call(metric)
            same = [close(moved(rows, by).call(metric), expected, 1e-7) for by in SMALL]
        except tm.DomainError:  # probabilities, which have no other place to be
            continue
        if all(same) and any(map(math.isfinite, numbers(expected))):
            checked += 1
            assert close(moved(rows, FAR).call(metric), expected, 1e-9)
    return checked


@pytest.mark.parametrize("metric", METRICS, ids=str)
def test_values_far_from_zero_keep_their_digits(metric):
    """As far as 1e8, in truth and predictions alike, to 1e-9."""
    if not check_no_cancellation(metric):
        pytest.skip("a shift changes the value")


def test_metrics_written_as_the_how_to_shows_keep_their_digits():
    """Those of the page itself: a function, and classes that read exact totals."""
    _, metrics = run_examples(DOCS / "how-to" / "add-a-metric.md")
    checked = {metric.name: check_no_cancellation(metric) for metric in metrics if metric.name != "sklearn_hinge_loss"}
    assert [name for name, count in checked.items() if not count] == [
        "their_f1",
        "prevalence",
    ]  # of labels, which do not move


def test_a_metric_that_subtracts_rounded_means_is_found():
    """The law has teeth: this one passes all the others."""

    class MeansApart(SumMetric, abstract=True):
        terms = (Term("exact_truth"), Term("exact_prediction"))

        def output(self, s: Output) -> float:
            return s.mean(self.terms[1]) - s.mean(self.terms[0])

    with pytest.raises(AssertionError):
        check_no_cancellation(MeansApart())
