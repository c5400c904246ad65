"""How often compare() finds a difference that does not exist, and how often its intervals contain the true one.

    python bench/comparison_coverage.py [trials] [resamples] [metric ...]
    python bench/comparison_coverage.py family [trials] [correction ...]

Two models score the same rows with errors that are partly shared. Without a true difference, at most 5 % of data sets
should have p < 0.05; with one, 95 % of the 95 % intervals should contain it. All metrics of a population read the same
data sets. `family` compares four equal models: at most 5 % of data sets should show any difference.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

import tallymark as tm

SIZES = (50, 200, 1000, 5000)
OF_ROWS = {  # the metrics that are tried on the rows of a population
    "half": ("accuracy", "recall", "auc", "average_precision", "logloss", "fscore"),
    "rare": ("accuracy", "recall", "auc", "average_precision", "logloss", "fscore", "balanced_accuracy"),
    "normal": ("rmse", "r2"),
    "heavy": ("rmse", "mae"),
}
SHARES = {"half": 0.5, "rare": 0.1}  # of positive rows
POPULATION = 2_000_000
EDGE = 0.3


FAMILY = {"half": "accuracy", "normal": "rmse"}  # what several equal models are compared in
MODELS, FAMILY_SIZES = 4, (30, 200)


class Rows(NamedTuple):
    truth: Any
    first: Any
    second: Any


def draw(population: str, n: int, edge: float, rng: np.random.Generator) -> Rows:
    """Rows of two models; the second has errors that are smaller by `edge`."""
    shared, own, other = rng.standard_t(5, (3, n)) if population == "heavy" else rng.normal(size=(3, n))
    if population in ("normal", "heavy"):
        truth = rng.normal(size=n)
        return Rows(truth, truth + 0.7 * (shared + own), truth + 0.7 * (1 - edge) * (shared + other))
    share = SHARES[population]
    truth = (rng.random(n) < share).astype(int)
    middle = 2 * truth - 1 + (0.0 if share == 0.5 else -1.0)  # a rare class has a lower chance from the start
    margins = [middle + 0.8 * (shared + noise) * scale for noise, scale in ((own, 1.0), (other, 1 - edge))]
    return Rows(truth, *(1 / (1 + np.exp(-margin)) for margin in margins))


def differences(
    population: str, metrics: tuple[str, ...], n: int, edge: float, trials: int, *, seed: int, resamples: int = 499
) -> Iterator[tm.comparison.Difference]:
    """The differences that each of many data sets shows."""
    rng = np.random.default_rng(seed)
    for trial in range(trials):
        rows = draw(population, n, edge, rng)
        models = {"first": rows.first, "second": rows.second}
        yield from tm.compare(rows.truth, models, metrics, ci=tm.Intervals(resamples=resamples, seed=trial))


def equal_models(population: str, n: int, rng: np.random.Generator) -> tuple[Any, dict[str, Any]]:
    """Rows of several models that are equally good; their errors are partly shared."""
    shared, *own = rng.normal(size=(1 + MODELS, n))
    if population == "normal":
        truth = rng.normal(size=n)
        return truth, {f"model {k}": truth + 0.7 * (shared + noise) for k, noise in enumerate(own)}
    truth = rng.integers(0, 2, n)
    return truth, {f"model {k}": (2 * truth - 1 + 0.8 * (shared + noise) > 0) * 1 for k, noise in enumerate(own)}


def family_wise_errors(population: str, n: int, trials: int, *, seed: int, **options: Any) -> float:
    """The share of data sets in which any two of several equal models differ significantly."""
    rng, found = np.random.default_rng(seed), 0
    for trial in range(trials):
        truth, models = equal_models(population, n, rng)
        ci = tm.Intervals(seed=trial)
        found += any(d.significant for d in tm.compare(truth, models, [FAMILY[population]], ci=ci, **options))
    return found / trials


def truth_of(population: str, metric: str, edge: float) -> float:
    """The difference in a population so large that its own error does not matter."""
    rows = draw(population, POPULATION, edge, np.random.default_rng(99))
    value = tm.metric(metric)
    return float(value(rows.truth, rows.second) - value(rows.truth, rows.first))


def false_findings(found: list[tm.comparison.Difference]) -> float:
    """The share of data sets without a true difference in which one is found."""
    return float(np.mean([d.p < 0.05 for d in found]))


def coverage(found: list[tm.comparison.Difference], true: float) -> float:
    """The share of intervals that contain the true difference; data sets without an interval are left out."""
    return float(np.mean([d.lo <= true <= d.hi for d in found if d.lo <= d.hi]))


def print_family_wise_errors(trials: int, corrections: list[str]) -> None:
    """A line for each population, number of rows and correction."""
    print(f"{trials} data sets each; their own error is {100 * (0.05 * 0.95 / trials) ** 0.5:.1f} points")
    for population, metric in FAMILY.items():
        for n in FAMILY_SIZES:
            for correction in corrections:
                error = family_wise_errors(population, n, trials, seed=1, correction=correction)
                print(f"{population:8}{metric:10}{n:>6}  {correction:12}{100 * error:>6.1f} %", flush=True)


def main() -> None:
    if sys.argv[1:2] == ["family"]:
        trials = int(sys.argv[2]) if len(sys.argv) > 2 else 300
        print_family_wise_errors(trials, sys.argv[3:] or ["max-t", "holm", "none"])
        return
    trials = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    resamples = int(sys.argv[2]) if len(sys.argv) > 2 else 499
    wanted = sys.argv[3:]
    print(f"{trials} data sets each; their own error is {100 * (0.05 * 0.95 / trials) ** 0.5:.1f} points")
    print(f"{'rows':8}{'metric':18}{'n':>6}{'false findings':>16}{'coverage':>11}")
    for population, every in OF_ROWS.items():
        metrics = tuple(metric for metric in every if not wanted or metric in wanted)
        for n in SIZES if metrics else ():
            alike, better = (
                list(differences(population, metrics, n, edge, trials, seed=1, resamples=resamples))
                for edge in (0.0, EDGE)
            )
            for metric in metrics:
                false = false_findings([d for d in alike if d.metric == metric])
                held = coverage([d for d in better if d.metric == metric], truth_of(population, metric, EDGE))
                print(f"{population:8}{metric:18}{n:>6}{100 * false:>14.1f} %{100 * held:>9.1f} %", flush=True)


if __name__ == "__main__":
    main()
