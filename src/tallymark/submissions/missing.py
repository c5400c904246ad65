"""What a missing row of a challenge costs: it is wrong in every score that counts it, or the file is rejected."""

from __future__ import annotations

from collections.abc import Iterable

from tallymark.metrics import Metric

COUNTED = frozenset(
    {
        "accuracy",
        "balanced_accuracy",
        "cohen_kappa",
        "error",
        "error_rate",
        "fdr",
        "fnr",
        "fscore",
        "hamming_loss",
        "jaccard",
        "mcc",
        "precision",
        "recall",
        "sensitivity",
    }
)
"""Metrics in which no prediction is never better than the right one, and costs what it should: it is wrong among all
rows, not found among those of its class, and no claim of any class. To others, such as specificity, it would be a row
rightly left alone, and to those of clusters a cluster of its own."""


def must_be_whole(task: str, missing: str, metrics: Iterable[Metric]) -> bool:
    """Whether a submission to a challenge needs a row for each answer."""
    return missing == "reject" or task != "labels" or any(each.name not in COUNTED for each in metrics)
