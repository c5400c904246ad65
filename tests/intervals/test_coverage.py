"""How often bootstrap intervals contain the value of the population: a short form of bench/bootstrap_coverage.py."""

from __future__ import annotations

import math
from functools import partial
from pathlib import Path

import pytest
from bench.bootstrap_coverage import BOOTSTRAPPED, bootstrapped
from bench.interval_coverage import LEVEL, measure

from tallymark import Intervals

TRIALS = 200
RESAMPLED = Intervals(LEVEL, "bootstrap", 199)
QUICK = {
    "two classes, 30 %": ("recall",),
    "two classes, 10 %, few wrong": ("balanced_accuracy",),
    "scores, 10 %": ("auc",),
    "lognormal amounts": ("r2", "pearson"),
    "clusters": ("mae",),
}


DRAWS = 300  # behind each figure of the documentation


def documented(title, name):
    """The share of intervals that contain the value, as the documentation has it."""
    page = Path(__file__).parents[2] / "docs/concepts/intervals.md"
    (row,) = (line for line in page.read_text().splitlines() if line.startswith(f"| {title} | `{name}` |"))
    return float(row.split("|")[3]) / 100


@pytest.mark.slow
@pytest.mark.parametrize("title", QUICK)
def test_resampled_intervals_contain_the_value_as_often_as_documented(title):
    """On 200 rows or clusters, as far as so few trials can tell."""
    population = BOOTSTRAPPED[title]._replace(metrics=QUICK[title])
    for name, found in measure(population, 200, TRIALS, 1, partial(bootstrapped, ci=RESAMPLED)).items():
        share = documented(title, name)
        error = math.sqrt(share * (1 - share) * (1 / TRIALS + 1 / DRAWS))
        assert found.trials >= 0.97 * TRIALS  # where resamples lean to one side, there is none
        assert abs(found.held - share) < 0.015 + 3 * error, (name, found, share)
