"""Groups of rows against fairlearn, in one run on one machine."""

from __future__ import annotations

import numpy as np
from fairlearn.metrics import MetricFrame
from measure import best_of, show_time, table
from sklearn.metrics import accuracy_score, precision_score, recall_score

import tallymark as tm

METRICS = {"accuracy": accuracy_score, "precision": precision_score, "recall": recall_score}


def compare(n: int, groups: int, seconds: float) -> list[str]:
    """Three metrics for every group and overall."""
    print(f"groups, {n:,} rows in {groups:,} ...", flush=True)
    rng = np.random.default_rng(3)
    y, p, by = rng.integers(0, 2, n), rng.integers(0, 2, n), rng.integers(0, groups, n)
    best = best_of(
        {
            "ours": lambda: tm.evaluate(y, p, list(METRICS), by=by),
            "fairlearn": lambda: MetricFrame(metrics=METRICS, y_true=y, y_pred=p, sensitive_features=by).by_group,
        },
        seconds=seconds,
    )
    ratio = f"**{best['fairlearn'] / best['ours']:.0f}×**"
    return [f"{n:,} in {groups:,}", show_time(best["ours"]), show_time(best["fairlearn"]), ratio]


def sections() -> list[str]:
    rows = [compare(100_000, 5, 2.0), compare(100_000, 1_000, 12.0), compare(1_000_000, 100, 6.0)]
    headings = ["rows, groups", "tallymark", "fairlearn", "ratio"]
    return [
        "## Groups",
        "",
        "Accuracy, precision and recall for every group and overall.",
        "",
        table(headings, rows),
        "",
    ]
