"""Metrics on probabilities against scikit-learn and torchmetrics, in one run on one machine."""

from __future__ import annotations

import numpy as np
import torch
import torchmetrics.functional.classification as tf
from measure import best_of, show_time, table
from sklearn import metrics as sk

import tallymark as tm


def rows(n: int, classes: int):
    rng = np.random.default_rng(7)
    y = rng.integers(0, classes, n)
    return y, rng.random(n) if classes == 2 else rng.dirichlet(np.ones(classes), n)


def cases(n: int) -> dict[str, dict]:
    """Our call and those of the peers, by name."""
    y, p = rows(n, 2)
    many, several = rows(n, 10)
    labels, chance = torch.from_numpy(y), torch.from_numpy(p)
    weights = np.random.default_rng(8).random(n)
    classes, chances = torch.from_numpy(many), torch.from_numpy(several)
    return {
        "log loss": {
            "ours": lambda: tm.logloss(y, p),
            "sklearn": lambda: sk.log_loss(y, p),
            "torch": lambda: torch.nn.functional.binary_cross_entropy(chance, labels.double()),
        },
        "log loss, weighted": {
            "ours": lambda: tm.logloss(y, p, weights=weights),
            "sklearn": lambda: sk.log_loss(y, p, sample_weight=weights),
        },
        "log loss, ten classes": {
            "ours": lambda: tm.logloss(many, several),
            "sklearn": lambda: sk.log_loss(many, several),
            "torch": lambda: torch.nn.functional.nll_loss(torch.log(chances), classes),
        },
        "Brier score": {"ours": lambda: tm.brier(y, p), "sklearn": lambda: sk.brier_score_loss(y, p)},
        "Brier score, ten classes": {
            "ours": lambda: tm.brier(many, several),
            "sklearn": lambda: sk.brier_score_loss(many, several),
        },
        "calibration error": {
            "ours": lambda: tm.ece(y, p),
            "torchmetrics": lambda: tf.binary_calibration_error(chance, labels, validate_args=False),
        },
    }


def compare(n: int, seconds: float) -> list[list[str]]:
    print(f"probabilities, {n:,} rows ...", flush=True)
    out = []
    for name, calls in cases(n).items():
        best = best_of(calls, seconds=seconds, least=3)
        peers = {peer: best[peer] for peer in best if peer != "ours"}
        told = ", ".join(f"{peer} {show_time(taken)}" for peer, taken in peers.items())
        ratios = ", ".join(f"{taken / best['ours']:.1f}×" for taken in peers.values())
        out.append([name, show_time(best["ours"]), told, f"**{ratios}**"])
    return out


def sections() -> list[str]:
    """The parts of the result page on probabilities."""
    heads = ["metric", "tallymark", "peers", "ratio"]
    return [
        "## Probabilities, a million rows",
        "",
        table(heads, compare(1_000_000, 2)),
        "",
        "## Probabilities, one-liners on a hundred rows",
        "",
        table(heads, compare(100, 0.7)),
        "",
    ]
