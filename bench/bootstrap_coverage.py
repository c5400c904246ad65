"""How often bootstrap intervals hold the value of the population.

    python -m bench.bootstrap_coverage [trials] [units ...]

The populations of `interval_coverage.py` where a formula could be had too, and others for what is only resampled:
ratios of sums, areas under precision and recall, maxima, calibration, several outputs, weights, clusters and queries. A
unit is a row, a cluster of five rows or a query of eight.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from bench.interval_coverage import (
    LEVEL,
    POPULATIONS,
    Draw,
    Population,
    asked,
    chances,
    errors,
    reported,
    scores,
    study,
    two_classes,
)

import tallymark as tm

RESAMPLES = 400  # fewer than a report makes, to be done in an hour


def lognormal_amounts(rng: np.random.Generator, n: int) -> tuple[Any, ...]:
    y = rng.lognormal(0, 0.8, n)
    return y, y * rng.lognormal(0, 0.3, n)


def overconfident(rng: np.random.Generator, n: int) -> tuple[Any, ...]:
    y, p = chances(rng, n)
    odds = (p / (1 - p)) ** 2
    return y, odds / (1 + odds)


def three_outputs(rng: np.random.Generator, n: int) -> tuple[Any, ...]:
    y, shared = rng.normal(0, 2, (n, 3)), rng.normal(0, 1, (n, 1))
    return y, y + (shared + rng.normal(0, 1, (n, 3))) / [1, 2, 3]


def correlated_tails(rng: np.random.Generator, n: int) -> tuple[Any, ...]:
    x, e = rng.normal(0, 1, (2, n)) * np.sqrt(5 / rng.chisquare(5, n))
    return x, 0.6 * x + 0.8 * e


def weighted(draw: Draw, spread: float | None = None) -> Draw:
    def with_weights(rng: np.random.Generator, n: int) -> tuple[Any, ...]:
        y, p = draw(rng, n)
        return y, p, {"weights": rng.gamma(2, 0.5, n) if spread is None else rng.lognormal(0, spread, n)}

    return with_weights


def clusters(rng: np.random.Generator, n: int) -> tuple[Any, ...]:
    which = np.repeat(np.arange(n), 5)
    y, e = rng.normal(0, 1, (2, n))[:, which] + rng.normal(0, 1, (2, 5 * n))
    return y, y + 0.6 * e, {"cluster": which}


def queries(rng: np.random.Generator, n: int) -> tuple[Any, ...]:
    relevance = rng.choice(4, (n, 8), p=[0.7, 0.15, 0.1, 0.05])
    scores = relevance + rng.normal(0, 1, (n, 1)) ** 2 * rng.normal(0, 1, (n, 8))
    return relevance.ravel(), scores.ravel(), {"query": np.repeat(np.arange(n), 8)}


def again(title: str, *metrics: str) -> Population:
    """A population of the analytic study with other metrics."""
    return POPULATIONS[title]._replace(metrics=metrics)


BOOTSTRAPPED = {
    "two classes, 30 %": again("two classes, 30 %", "accuracy", "recall", "fscore", "mcc"),
    "two classes, 10 %": again("two classes, 10 %", "recall", "mcc", "balanced_accuracy", "f2"),
    "two classes, 10 %, few wrong": Population(
        two_classes(0.1, 0.9, 0.02), ("recall", "mcc", "balanced_accuracy", "f2", "precision")
    ),
    "four classes": again("four classes", "fscore(average=macro)", "mcc"),
    "scores, AUC 0.76": again("scores, AUC 0.76", "auc", "average_precision", "pr_auc"),
    "scores, AUC 0.98": again("scores, AUC 0.98", "auc", "average_precision"),
    "scores, 10 %": again("scores, 10 %", "auc", "average_precision"),
    "scores, 10 %, AUC 0.64": Population(scores(0.1, 0.5), ("auc", "average_precision")),
    "scores, 10 %, AUC 0.98": Population(scores(0.1, 3.0), ("auc", "average_precision")),
    "scores with ties": again("scores with ties", "auc", "average_precision"),
    "probabilities": again("probabilities", "logloss", "brier"),
    "overconfident": Population(overconfident, ("logloss",)),
    "normal errors": again("normal errors", "mae", "rmse", "r2"),
    "Laplace errors": again("Laplace errors", "mae", "rmse", "r2"),
    "errors of t, 5 degrees": again("errors of t, 5 degrees", "mae", "rmse", "r2"),
    "errors of t, 4 degrees": Population(errors(lambda rng, n: rng.standard_t(4, n)), ("rmse",)),
    "lognormal amounts": Population(lognormal_amounts, ("mae", "rmse", "r2", "wape", "pearson")),
    "correlation 0.3": again("correlation 0.3", "pearson"),
    "correlation 0.9": again("correlation 0.9", "pearson", "spearman"),
    "correlation 0.6 of t, 5 degrees": Population(correlated_tails, ("pearson",)),
    "three outputs": Population(three_outputs, ("rmse", "r2")),
    "weighted errors": Population(weighted(POPULATIONS["normal errors"].draw), ("mae", "rmse", "r2")),
    "weighted labels": Population(
        weighted(POPULATIONS["two classes, 30 %"].draw, spread=1.0), ("accuracy", "recall", "mcc", "balanced_accuracy")
    ),
    "weighted scores": Population(weighted(POPULATIONS["scores, AUC 0.76"].draw), ("auc", "average_precision")),
    "clusters": Population(clusters, ("mae", "rmse", "r2")),
    "queries": Population(queries, ("ndcg", "mrr")),
}


bootstrapped = partial(reported, ci=tm.Intervals(LEVEL, "bootstrap", RESAMPLES))


if __name__ == "__main__":
    study(BOOTSTRAPPED, bootstrapped, *asked())
