"""How often analytic intervals hold the value of the population: python bench/interval_coverage.py [trials] [rows ...]

Every metric that has one is drawn from a population whose value is known, by a formula or from two million rows. The
share of trials whose interval contains it should be the level, within what so many trials can tell.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

import tallymark as tm
from tallymark.intervals.analytic import Interval
from tallymark.metrics.base import Metric

LEVEL = 0.95
MANY = 2_000_000
Draw = Callable[[np.random.Generator, int], tuple[Any, ...]]  # truth, prediction and, as a dict, columns beside them
Intervals = Callable[..., dict[str, Any]]  # of metrics by name on such rows, of which some facts are known


class Population(NamedTuple):
    """What rows are drawn from, what they are, and which metrics are tried on them."""

    draw: Draw
    metrics: tuple[str, ...]
    facts: dict[str, Any] = {}


def two_classes(share: float, found: float, false: float) -> Draw:
    def draw(rng: np.random.Generator, n: int) -> tuple[Any, Any]:
        y = rng.random(n) < share
        return y.astype(int), np.where(y, rng.random(n) < found, rng.random(n) < false).astype(int)

    return draw


def four_classes(rng: np.random.Generator, n: int) -> tuple[Any, Any]:
    y = rng.choice(4, n, p=[0.1, 0.2, 0.3, 0.4])
    return y, np.where(rng.random(n) < np.array([0.6, 0.7, 0.8, 0.9])[y], y, rng.choice(4, n, p=[0.1, 0.2, 0.3, 0.4]))


def ten_classes(rng: np.random.Generator, n: int) -> tuple[Any, Any]:
    y = rng.choice(10, n, p=np.arange(1, 11) / 55)
    return y, np.where(rng.random(n) < 0.8, y, rng.integers(0, 10, n))


def ranked(n: int, rng: np.random.Generator) -> Any:
    return np.argsort(np.argsort(rng.random((n, 6)), axis=1), axis=1).astype(float)


def six_columns(rng: np.random.Generator, n: int) -> tuple[Any, Any]:
    y = rng.integers(0, 6, n)
    scores = ranked(n, rng)
    scores[np.arange(n), y] += 1.5
    return y, scores


def scores(share: float, apart: float, steps: float | None = None) -> Draw:
    def draw(rng: np.random.Generator, n: int) -> tuple[Any, Any]:
        y = (rng.random(n) < share).astype(int)
        s = rng.normal(0, 1, n) + apart * y
        return y, s if steps is None else np.round(s / steps) * steps

    return draw


def chances(rng: np.random.Generator, n: int) -> tuple[Any, Any]:
    p = rng.beta(1.5, 3, n)
    return (rng.random(n) < p).astype(int), np.clip(p * 0.9 + 0.05, 0, 1)


def many_chances(rng: np.random.Generator, n: int) -> tuple[Any, Any]:
    p = rng.dirichlet([1, 2, 3], n)
    return (rng.random(n)[:, None] > p.cumsum(axis=1)[:, :2]).sum(axis=1), 0.8 * p + 0.2 / 3


def errors(noise: Callable[[np.random.Generator, int], Any]) -> Draw:
    def draw(rng: np.random.Generator, n: int) -> tuple[Any, Any]:
        y = rng.gamma(4, 2, n)
        return y, y + 0.2 + noise(rng, n)

    return draw


def amounts(rng: np.random.Generator, n: int) -> tuple[Any, Any]:
    mean = rng.lognormal(2, 0.5, n)
    return mean * rng.gamma(3, 1 / 3, n), mean * 1.1


def numbers(rng: np.random.Generator, n: int) -> tuple[Any, Any]:
    mean = rng.gamma(3, 1, n)
    return rng.poisson(mean).astype(float), mean + 0.1


def bounds(rng: np.random.Generator, n: int) -> tuple[Any, Any]:
    y, wide = rng.normal(0, 1, n), rng.uniform(1.2, 2.0, n)
    return y, np.column_stack((-wide, wide))


def together(strength: float) -> Draw:
    def draw(rng: np.random.Generator, n: int) -> tuple[Any, Any]:
        x, e = rng.normal(0, 1, (2, n))
        return x, strength * x + np.sqrt(1 - strength**2) * e

    return draw


SHARES = ("accuracy", "error_rate", "precision", "recall", "specificity", "fallout", "npv", "fdr", "fnr", "jaccard")
BINARY = (
    *SHARES,
    "fscore",
    "f2",
    "fscore(beta=0.5)",
    "informedness",
    "markedness",
    "balanced_accuracy",
    "mcc",
    "kappa",
)
AVERAGED = ("precision", "recall", "fscore", "jaccard", "specificity", "informedness")
SEVERAL = tuple(f"{name}(average={how})" for name in AVERAGED for how in ("macro", "micro", "weighted"))
MEANS = (
    *("mae", "mse", "rmse", "mean_bias", "median_absolute_error", "huber", "log_cosh"),
    *("pinball(alphas=0.9)", "crps_quantile(alphas=0.5)"),
)
RELATIVE = ("msle", "rmsle", "mape", "smape", "gamma_deviance", "tweedie_deviance")

POPULATIONS = {
    "two classes, 30 %": Population(two_classes(0.3, 0.8, 0.1), BINARY),
    "two classes, 10 %": Population(two_classes(0.1, 0.7, 0.05), BINARY),
    "two classes, 10 %, few wrong": Population(two_classes(0.1, 0.9, 0.02), BINARY),
    "four classes": Population(
        four_classes, ("accuracy", "balanced_accuracy", *SEVERAL, "fscore(average=macro_pr)", "mcc", "kappa")
    ),
    "ten classes": Population(
        ten_classes, ("fscore(average=macro)", "precision(average=macro)", "balanced_accuracy", "mcc")
    ),
    "six columns": Population(six_columns, ("top_k_accuracy(k=2)",), {"classes": list(range(6))}),
    "scores, AUC 0.76": Population(scores(0.3, 1.0), ("auc", "gini")),
    "scores, AUC 0.92": Population(scores(0.3, 2.0), ("auc",)),
    "scores, AUC 0.98": Population(scores(0.5, 3.0), ("auc",)),
    "scores with ties": Population(scores(0.3, 1.0, 1.0), ("auc",)),
    "scores, 10 %": Population(scores(0.1, 1.5), ("auc",)),
    "probabilities": Population(chances, ("logloss", "brier", "rps")),
    "three probabilities": Population(many_chances, ("logloss", "brier", "rps"), {"classes": [0, 1, 2]}),
    "normal errors": Population(errors(lambda rng, n: rng.normal(0, 1, n)), MEANS),
    "Laplace errors": Population(errors(lambda rng, n: rng.laplace(0, 1, n)), MEANS),
    "errors of t, 5 degrees": Population(errors(lambda rng, n: rng.standard_t(5, n)), ("mae", "mse", "rmse")),
    "gamma amounts": Population(amounts, RELATIVE),
    "Poisson counts": Population(numbers, ("poisson_deviance",)),
    "predicted intervals": Population(bounds, ("coverage", "interval_score")),
    "correlation 0.3": Population(together(0.3), ("pearson", "spearman")),
    "correlation 0.9": Population(together(0.9), ("pearson", "spearman")),
}


class Coverage(NamedTuple):
    """How often the interval of a metric held the value: overall, and how often it lay above or below it."""

    method: str
    held: float
    above: float
    below: float
    trials: int


def reported(
    metrics: dict[str, Metric],
    y: Any,
    p: Any,
    columns: dict[str, Any] | None = None,
    *,
    facts: dict[str, Any],
    ci: tm.Intervals,
) -> dict[str, Any]:
    """The intervals of metrics, as a report has them; None where there is none."""
    report = tm.evaluate(y, p, list(metrics.values()), ci=ci, **facts, **(columns or {}))
    cells = {name: report.cell(metric) for name, metric in metrics.items()}
    return {name: None if each.lo is None else Interval(each.lo, each.hi, each.method) for name, each in cells.items()}


analytic = partial(reported, ci=tm.Intervals(LEVEL, "analytic"))


def values_of(population: Population, metrics: dict[str, Metric]) -> dict[str, float]:
    """The values in the whole population."""
    y, p, *beside = population.draw(np.random.default_rng(12345), MANY)
    columns = {key: column for each in beside for key, column in each.items() if key != "cluster"}
    found = {}
    for name, metric in metrics.items():
        own = {key: column for key, column in columns.items() if key != "query" or metric.by_query}
        found[name] = metric(y, p, **population.facts, **own)
    return found


def measure(
    population: Population, rows: int, trials: int, seed: int = 0, intervals: Intervals = analytic
) -> dict[str, Coverage]:
    """The coverage of every metric of a population. A trial without an interval does not count."""
    metrics = {name: tm.metric(name) for name in population.metrics}
    truth = values_of(population, metrics)
    rng = np.random.default_rng(seed)
    counts = {name: [0, 0, 0] for name in metrics}
    methods = dict.fromkeys(metrics, "")
    for _ in range(trials):
        for name, found in intervals(metrics, *population.draw(rng, rows), facts=population.facts).items():
            if isinstance(found, Interval):
                methods[name] = found.method
                counts[name][0 if found.lo > truth[name] else 2 if found.hi < truth[name] else 1] += 1
    out = {}
    for name, (above, held, below) in counts.items():
        n = max(above + held + below, 1)
        out[name] = Coverage(methods[name], held / n, above / n, below / n, above + held + below)
    return out


def study(populations: dict[str, Population], intervals: Intervals, sizes: list[int], trials: int) -> None:
    """Print the coverage of every metric of all populations, for samples of every size."""
    print(f"Nominal {LEVEL:.0%}, {trials} trials; the value lies below and above the interval as often as said.\n")
    print("| population | metric | method | rows | held | below | above | trials |\n|---|---|---|--:|--:|--:|--:|--:|")
    for title, population in populations.items():
        for rows in sizes:
            for name, found in measure(population, rows, trials, intervals=intervals).items():
                flag = " **" if abs(found.held - LEVEL) > 0.015 else ""
                print(
                    f"| {title} | {name} | {found.method} | {rows} | {found.held:.1%}{flag} | {found.above:.1%} | "
                    f"{found.below:.1%} | {found.trials} |",
                    flush=True,
                )


def asked() -> tuple[list[int], int]:
    """The sizes of samples and the number of trials that the command line asks for."""
    return [int(size) for size in sys.argv[2:]] or [200, 1000, 5000], int(sys.argv[1]) if len(sys.argv) > 1 else 2000


if __name__ == "__main__":
    study(POPULATIONS, analytic, *asked())
