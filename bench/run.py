"""Measures everything and writes bench/RESULTS.md and the picture of the README: python bench/run.py."""

from __future__ import annotations

import warnings

import app
import boosting
import clusters
import engines
import files
import intervals
import labels
import probability
import ranking
import regression
import scores
import sklearn_functions
import slices
import submissions
import training
from chart import write_chart
from measure import ROOT, machine

import tallymark as tm

PEERS = ("numpy", "scikit-learn", "torchmetrics", "ranx")


def main() -> None:
    warnings.simplefilter("ignore")
    measured = [labels, scores, probability, ranking, clusters, regression, slices, training, boosting, intervals]
    measured += [sklearn_functions, submissions, files, engines, app]
    parts = [part for module in measured for part in module.sections()]
    head = [
        "# How fast it is",
        "",
        f"Measured by `make bench` on: {machine(*PEERS)}; "
        f"tallymark on {tm.get_threads()} threads unless said otherwise.",
        "Every time is the best of many calls, in bursts that take turns with the peers'.",
        "",
    ]
    (ROOT / "bench" / "RESULTS.md").write_text("\n".join([*head, *parts]))
    write_chart(
        ROOT / "docs" / "images" / "speed.svg",
        "Times faster than scikit-learn",
        {
            "rmse, mae, mape, r2 in one call": regression.bars(),
            "area under the ROC curve": scores.bars(),
            "accuracy, macro precision, recall and F, mcc, confusion matrix in one call": labels.bars(),
        },
    )
    print("\n".join(parts))


if __name__ == "__main__":
    main()
