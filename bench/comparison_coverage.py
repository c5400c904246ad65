"""How often compare() finds a difference that is not there, and how often its intervals hold the true one.

    python bench/comparison_coverage.py [trials]

Two models see the same rows with errors that are partly shared. Without a true difference, p ≤ 0.05 should come in at
most 5 % of data sets; with one, the 95 % interval should hold it in 95 %.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

import tallymark as tm

SIZES = (50, 200, 1000)
METRICS = ("accuracy", "recall", "auc", "logloss", "fscore", "rmse", "r2")
POPULATION = 400_000


class Rows(NamedTuple):
    truth: Any
    first: Any
    second: Any


def draw(metric: str, n: int, edge: float, rng: np.random.Generator) -> Rows:
    """Rows of two models; the second is better by `edge`."""
    shared, own, other = rng.normal(size=(3, n))
    if metric in ("rmse", "r2"):
        truth = rng.normal(size=n)
        return Rows(truth, truth + 0.7 * (shared + own), truth + 0.7 * (1 - edge) * (shared + other))
    truth = rng.integers(0, 2, n)
    margins = [2 * truth - 1 + 0.8 * (shared + noise) * scale for noise, scale in ((own, 1.0), (other, 1 - edge))]
    return Rows(truth, *(1 / (1 + np.exp(-margin)) for margin in margins))


def differences(metric: str, n: int, edge: float, trials: int, seed: int, resamples: int) -> Iterator[tm.Difference]:
    """The difference that each of many data sets shows."""
    rng = np.random.default_rng(seed)
    for trial in range(trials):
        rows = draw(metric, n, edge, rng)
        models = {"first": rows.first, "second": rows.second}
        yield next(iter(tm.compare(rows.truth, models, [metric], resamples=resamples, seed=trial)))


def truth_of(metric: str, edge: float) -> float:
    """The difference in a population so large that its own error does not matter."""
    rows = draw(metric, POPULATION, edge, np.random.default_rng(99))
    value = tm.metric(metric)
    return value(rows.truth, rows.second) - value(rows.truth, rows.first)


def false_findings(metric: str, n: int, trials: int, *, seed: int = 1, resamples: int = 499) -> float:
    """The share of data sets without a true difference in which one is found."""
    return float(np.mean([d.p <= 0.05 for d in differences(metric, n, 0.0, trials, seed, resamples)]))


def coverage(metric: str, n: int, trials: int, *, edge: float = 0.3, seed: int = 2, resamples: int = 499) -> float:
    """The share of data sets whose interval holds the true difference."""
    true = truth_of(metric, edge)
    return float(np.mean([d.lo <= true <= d.hi for d in differences(metric, n, edge, trials, seed, resamples)]))


def main() -> None:
    trials = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    print(f"{trials} data sets each; their own error is {100 * (0.05 * 0.95 / trials) ** 0.5:.1f} points")
    print(f"{'metric':10}{'n':>6}{'false findings':>17}{'coverage':>11}")
    for metric in METRICS:
        for n in SIZES:
            false, held = false_findings(metric, n, trials), coverage(metric, n, trials)
            print(f"{metric:10}{n:>6}{100 * false:>15.1f} %{100 * held:>9.1f} %", flush=True)


if __name__ == "__main__":
    main()
