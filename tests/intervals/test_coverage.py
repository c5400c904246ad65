"""How often bootstrap intervals hold the value of the population: a short form of bench/bootstrap_coverage.py."""

from __future__ import annotations

import math
from functools import partial

import pytest
from bench.bootstrap_coverage import BOOTSTRAPPED, bootstrapped
from bench.interval_coverage import measure

TRIALS = 200
QUICK = {
    "two classes, 30 %": ("recall",),
    "two classes, 10 %, few wrong": ("balanced_accuracy",),
    "scores, 10 %": ("auc",),
    "lognormal amounts": ("r2", "pearson"),
    "clusters": ("mae",),
}


@pytest.mark.slow
@pytest.mark.parametrize("title", QUICK)
def test_resampled_intervals_hold_as_often_as_they_say(title):
    """On 200 rows or clusters, 95 of 100 intervals contain the value, up to the shortfall that the documentation has
    and what so few trials can tell."""
    population = BOOTSTRAPPED[title]._replace(metrics=QUICK[title])
    for name, found in measure(population, 200, TRIALS, 1, partial(bootstrapped, resamples=199)).items():
        assert found.trials >= 0.97 * TRIALS  # where resamples lean to one side, there is none
        assert abs(found.held - 0.95) < 0.015 + 3 * math.sqrt(0.95 * 0.05 / TRIALS), (name, found)
