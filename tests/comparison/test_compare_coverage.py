"""compare() finds no more differences than it may where there are none, and its intervals hold the true one.

A short run of bench/comparison_coverage.py, which has more metrics and more data sets.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest
from scipy import stats

PATH = Path(__file__).resolve().parents[2] / "bench" / "comparison_coverage.py"
LOADED = importlib.util.spec_from_file_location("comparison_coverage", PATH)
bench = importlib.util.module_from_spec(LOADED)
LOADED.loader.exec_module(bench)

TRIALS = {"accuracy": 600, "auc": 600, "logloss": 200}


def most(chance: float, trials: int) -> float:
    """The share that a right method exceeds once in a thousand runs."""
    return stats.binom.ppf(0.999, trials, chance) / trials


@pytest.mark.slow
@pytest.mark.parametrize("metric", TRIALS)
def test_at_most_one_in_twenty_finds_a_difference_that_is_not_there(metric):
    """At most one in twenty, up to the error of so many data sets."""
    trials = TRIALS[metric]
    found = list(bench.differences("rare", (metric,), 200, 0.0, trials, seed=1, resamples=199))
    assert bench.false_findings(found) <= most(0.05, trials)


@pytest.mark.slow
@pytest.mark.parametrize("metric", TRIALS)
def test_intervals_contain_the_true_difference_at_the_nominal_level(metric):
    """The interval misses the true difference once in twenty, neither more nor much less often."""
    trials = TRIALS[metric]
    found = list(bench.differences("half", (metric,), 200, bench.EDGE, trials, seed=2, resamples=199))
    missed = 1 - bench.coverage(found, bench.truth_of("half", metric, bench.EDGE))
    assert stats.binom.ppf(0.001, trials, 0.04) / trials <= missed <= most(0.06, trials)


@pytest.mark.slow
def test_macro_averages_of_few_positives_keep_the_nominal_coverage():
    """Of twenty positive rows among 200 the interval of a mean over classes holds no less often than it says."""
    found = list(bench.differences("rare", ("balanced_accuracy",), 200, bench.EDGE, 200, seed=5, resamples=199))
    held = bench.coverage(found, bench.truth_of("rare", "balanced_accuracy", bench.EDGE))
    assert 1 - held <= most(0.05, 200)


@pytest.mark.slow
def test_the_detectable_difference_is_found_in_eight_of_ten():
    """A difference of the detectable size shows in eight of ten data sets."""
    low, high = 0.0, 0.9
    for _ in range(8):  # the edge whose data show as detectable what the true difference is
        edge = (low + high) / 2
        found = [d.detectable for d in bench.differences("half", ("auc",), 200, edge, 150, seed=3)]
        low, high = (edge, high) if bench.truth_of("half", "auc", edge) < sum(found) / len(found) else (low, edge)
    shown = [d.p < 0.05 for d in bench.differences("half", ("auc",), 200, edge, 1000, seed=4)]
    assert 0.75 <= sum(shown) / len(shown) <= 0.88
