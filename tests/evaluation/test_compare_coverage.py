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

TRIALS = {"accuracy": 600, "auc": 600, "brier": 200}


def most(chance: float, trials: int) -> float:
    """The share that a right method exceeds once in a thousand runs."""
    return stats.binom.ppf(0.999, trials, chance) / trials


@pytest.mark.slow
@pytest.mark.parametrize("metric", TRIALS)
def test_false_findings(metric):
    """At most one in twenty, up to the error of so many data sets."""
    trials = TRIALS[metric]
    assert bench.false_findings(metric, 200, trials, resamples=199) <= most(0.05, trials)


@pytest.mark.slow
@pytest.mark.parametrize("metric", TRIALS)
def test_coverage(metric):
    """The interval misses the true difference once in twenty, neither more nor much less often."""
    trials = TRIALS[metric]
    missed = 1 - bench.coverage(metric, 200, trials, resamples=199)
    assert stats.binom.ppf(0.001, trials, 0.04) / trials <= missed <= most(0.06, trials)


@pytest.mark.slow
def test_power():
    """A difference of the detectable size shows in eight of ten data sets."""
    low, high = 0.0, 0.9
    for _ in range(8):  # the edge whose data show as detectable what the true difference is
        edge = (low + high) / 2
        found = [d.detectable for d in bench.differences("auc", 200, edge, 60, seed=3, resamples=199)]
        low, high = (edge, high) if bench.truth_of("auc", edge) < sum(found) / len(found) else (low, edge)
    shown = [d.p <= 0.05 for d in bench.differences("auc", 200, edge, 500, seed=4, resamples=199)]
    assert 0.73 <= sum(shown) / len(shown) <= 0.87
