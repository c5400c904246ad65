"""Evaluation in every round of a training against calls of scikit-learn, in one run on one machine."""

from __future__ import annotations

from itertools import count

import numpy as np
from measure import best_of, show_time, table
from scipy.special import expit
from sklearn import metrics as sk

import tallymark as tm

ROWS = 100_000
SETS = ("train", "valid")
TWO_CLASSES = ["auc", "logloss", "brier", "accuracy", "fscore"]
NUMBERS = ["rmse", "mae", "r2", "mape", "max_error"]


def classes_by_sklearn(y, p) -> None:
    """The five metrics of two classes as scikit-learn's users write them."""
    said = p >= 0.5
    sk.roc_auc_score(y, p)
    sk.log_loss(y, p)
    sk.brier_score_loss(y, p)
    sk.accuracy_score(y, said)
    sk.f1_score(y, said)


def numbers_by_sklearn(y, p) -> None:
    sk.root_mean_squared_error(y, p)
    sk.mean_absolute_error(y, p)
    sk.r2_score(y, p)
    sk.mean_absolute_percentage_error(y, p)
    sk.max_error(y, p)


def two_classes(n: int):
    rng = np.random.default_rng(1)
    y = {name: rng.integers(0, 2, n) for name in SETS}
    return y, {name: rng.normal(size=n) + 2 * y[name] - 1 for name in SETS}


def numbers(n: int):
    rng = np.random.default_rng(2)
    y = {name: rng.normal(size=n) for name in SETS}
    return y, {name: y[name] + rng.normal(size=n) for name in SETS}


def stepping(metrics: list[str], y, predictions, kind: str | None):
    """One more round, each time it is called."""
    rule = tm.training.EarlyStopping(10**9, monitor=("valid", metrics[0]))
    sets = [tm.training.EvalSet(name, truth, kind=kind) for name, truth in y.items()]
    evaluator, rounds = tm.training.Evaluator(metrics, sets, early_stopping=rule), count()
    return lambda: evaluator.step(next(rounds), predictions)


def round_of(name: str, ours, peer) -> list[str]:
    print(f"training, {name} ...", flush=True)
    best = best_of({"ours": ours, "sklearn": peer}, seconds=3)
    return [name, show_time(best["ours"]), show_time(best["sklearn"]), f"**{best['sklearn'] / best['ours']:.0f}×**"]


def sections() -> list[str]:
    rows = []
    for n in (ROWS, 1_000):
        y, margins = two_classes(n)
        p = {name: expit(held) for name, held in margins.items()}
        truth, said = numbers(n)
        rows += [
            round_of(
                f"{n:,}, two classes, probabilities",
                stepping(TWO_CLASSES, y, p, "probability"),
                lambda y=y, p=p: [classes_by_sklearn(y[name], p[name]) for name in SETS],
            ),
            round_of(
                f"{n:,}, two classes, margins",
                stepping(TWO_CLASSES, y, margins, "margin"),
                lambda y=y, m=margins: [classes_by_sklearn(y[name], expit(m[name])) for name in SETS],
            ),
            round_of(
                f"{n:,}, numbers",
                stepping(NUMBERS, truth, said, "value"),
                lambda y=truth, p=said: [numbers_by_sklearn(y[name], p[name]) for name in SETS],
            ),
        ]
    return [
        "## A round of training",
        "",
        f"Two eval sets and five metrics each: {', '.join(TWO_CLASSES)}; of numbers {', '.join(NUMBERS)}. Our time is",
        "all that `Evaluator.step` does, with early stopping and history.",
        "",
        table(["rows of a set", "tallymark", "scikit-learn", "ratio"], rows),
        "",
    ]


if __name__ == "__main__":
    print("\n".join(sections()))
