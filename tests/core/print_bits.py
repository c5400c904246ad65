"""Prints what metrics of every family give for fixed rows, to the last bit: to be compared between processors."""

from __future__ import annotations

import hashlib

import numpy as np

import tallymark as tm


def main() -> None:
    rng = np.random.default_rng(0)
    n = 20_011
    y, weights = rng.normal(size=n) * 10.0 ** rng.integers(-3, 4, n), rng.random(n)
    p = y + rng.normal(size=n)
    labels, scores = rng.integers(0, 2, n), rng.random(n)
    classes = rng.integers(0, 5, n)
    columns = rng.dirichlet(np.ones(5), n)
    reports = {
        "regression": tm.evaluate(y, p, weights=weights, ci=None),
        "positive": tm.evaluate(np.exp(rng.normal(size=n)), np.exp(rng.normal(size=n)), ["poisson_deviance", "msle"]),
        "scores": tm.evaluate(labels, scores, ["auc", "average_precision", "log_loss", "brier", "ece", "recall"]),
        "columns": tm.evaluate(classes, columns, ["accuracy", "log_loss", "brier"], classes=range(5)),
        "bootstrap": tm.evaluate(y[:500], p[:500], ["mae", "r2"], ci=0.95),
        "clusters": {"rand": tm.adjusted_rand(classes, rng.integers(0, 4, n))},
    }
    for name, report in reports.items():
        text = report.to_json() if hasattr(report, "to_json") else repr(report)
        print(name, hashlib.sha256(text.encode()).hexdigest()[:16], text[:60].replace("\n", " "))


if __name__ == "__main__":
    main()
