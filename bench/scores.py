"""Metrics on scores against scikit-learn and torchmetrics, in one run on one machine."""

from __future__ import annotations

import numpy as np
import torch
from measure import best_of, memory_of, show_time, table
from peers import ONE_LINER_HEADINGS, SIZE_HEADINGS, by_size, compare, one_liners
from sklearn import metrics as sk
from torchmetrics import functional as tf

import tallymark as tm

SIZES = (100, 10_000, 1_000_000, 10_000_000)
RATIOS: dict[int, float] = {}


def rows(n: int):
    """Scores of a middling classifier, nearly all distinct."""
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, n)
    return y, 1 / (1 + np.exp(-rng.normal(0, 1, n) - y))


def sizes() -> list[list[str]]:
    """The area under the ROC curve by the number of rows."""
    out = []
    for n in SIZES:
        print(f"auc, {n:,} rows ...", flush=True)
        y, p = rows(n)
        ty, tp = torch.from_numpy(y), torch.from_numpy(p)
        calls = {
            "ours": lambda y=y, p=p: tm.auc(y, p),
            "sklearn": lambda y=y, p=p: sk.roc_auc_score(y, p),
            "torch": lambda ty=ty, tp=tp: tf.auroc(tp, ty, task="binary"),
        }
        best = best_of(calls, seconds=8 if n >= 1_000_000 else 2, least=2 if n > 1_000_000 else 3)
        RATIOS[n] = best["sklearn"] / best["ours"]
        out.append(by_size(n, best))
    return out


def variants() -> list[list[str]]:
    """A million rows, other metrics and other shapes."""
    y, p = rows(1_000_000)
    rng = np.random.default_rng(2)
    w = rng.uniform(0.5, 2, len(y))
    rounded = np.round(p, 3)
    classes = rng.integers(0, 10, len(y))
    shares = rng.dirichlet(np.ones(10), len(y))
    names = np.array(["no", "yes"])[y]
    cases = {
        "average_precision": (lambda: tm.average_precision(y, p), lambda: sk.average_precision_score(y, p)),
        "pr_auc": (lambda: tm.pr_auc(y, p), lambda: sk.auc(*sk.precision_recall_curve(y, p)[1::-1])),
        "ks": (lambda: tm.ks(y, p), lambda: np.abs(np.subtract(*sk.roc_curve(y, p)[:2])).max()),
        "roc_curve": (lambda: tm.roc_curve(y, p), lambda: sk.roc_curve(y, p)),
        "pr_curve": (lambda: tm.pr_curve(y, p), lambda: sk.precision_recall_curve(y, p)),
        "auc, max_fpr=0.1": (lambda: tm.auc(y, p, max_fpr=0.1), lambda: sk.roc_auc_score(y, p, max_fpr=0.1)),
        "auc, weighted": (lambda: tm.auc(y, p, weights=w), lambda: sk.roc_auc_score(y, p, sample_weight=w)),
        "auc, scores of three digits": (lambda: tm.auc(y, rounded), lambda: sk.roc_auc_score(y, rounded)),
        "auc, float32": (
            lambda: tm.auc(y, p.astype(np.float32)),
            lambda: sk.roc_auc_score(y, p.astype(np.float32)),
        ),
        "auc, strings as labels": (
            lambda: tm.auc(names, p, positive="yes"),
            lambda: sk.roc_auc_score(names, p),
        ),
        "auc, bounded=4096": (lambda: tm.auc(y, p, bounded=4096), lambda: sk.roc_auc_score(y, p)),
        "ten-class auc, each against the rest": (
            lambda: tm.auc(classes, shares),
            lambda: sk.roc_auc_score(classes, shares, multi_class="ovr"),
        ),
        "ten-class auc, in pairs, 100,000 rows": (
            lambda: tm.auc(classes[:100_000], shares[:100_000], multiclass="ovo"),
            lambda: sk.roc_auc_score(classes[:100_000], shares[:100_000], multi_class="ovo"),
        ),
    }
    return compare(cases, seconds=3, least=5)


def beside() -> list[list[str]]:
    """What more metrics cost beside the area under the ROC curve, which needs the same state."""
    y, p = rows(1_000_000)
    wishes = {
        "auc": ["auc"],
        "auc, average_precision": ["auc", "average_precision"],
        "auc, ks": ["auc", "ks"],
        "auc, roc_curve": ["auc", "roc_curve"],
        "auc, average_precision, ks, roc_curve": ["auc", "average_precision", "ks", "roc_curve"],
        "auc, gini, average_precision, pr_auc, ks": ["auc", "gini", "average_precision", "pr_auc", "ks"],
    }
    best = best_of({key: lambda wish=wish: tm.evaluate(y, p, wish) for key, wish in wishes.items()}, seconds=12)
    return [[key, show_time(time), f"{time / best['auc'] - 1:+.0%}"] for key, time in best.items()]


ONE_LINERS = {
    "auc": (sk.roc_auc_score, tf.auroc),
    "average_precision": (sk.average_precision_score, tf.average_precision),
    "roc_curve": (sk.roc_curve, tf.roc),
    "pr_curve": (sk.precision_recall_curve, tf.precision_recall_curve),
    "det_curve": (sk.det_curve, None),
    "ks": (lambda y, p: np.abs(np.subtract(*sk.roc_curve(y, p)[:2])).max(), None),
}


ROWS = """
y = rng.integers(0, 2, 10_000_000); p = rng.random(10_000_000)
tm.auc(y[:1000], p[:1000])
"""


def sections() -> list[str]:
    """The parts of the result page on scores."""
    all_sizes = sizes()
    y, p = rows(10_000_000)
    exact = memory_of("tm.auc(y, p)", ROWS) / p.nbytes
    bounded = memory_of("tm.auc(y, p, bounded=4096)", ROWS) / p.nbytes
    before = tm.get_threads()
    tm.set_threads(1)
    single = best_of({"x": lambda: tm.auc(y, p)}, seconds=2, least=2)["x"]
    tm.set_threads(before)
    both = best_of({"x": lambda: tm.auc(y, p)}, seconds=2, least=2)["x"]
    copy = best_of({"x": lambda: p.copy()})["x"]
    return [
        "## Scores: the area under the ROC curve",
        "",
        "Two classes, float64 scores, nearly all distinct. scikit-learn is `roc_auc_score`, torchmetrics `auroc`, on",
        "CPU tensors.",
        "",
        table(SIZE_HEADINGS, all_sizes),
        "",
        f"At ten million rows: {show_time(single)} on one thread, {show_time(both)} on two. Copying the scores once "
        f"(`p.copy()`) takes {show_time(copy)}; a sort by leading bits moves them four or five times.",
        "",
        f"Memory at ten million rows, beyond the inputs, in units of the bytes of the scores: {exact:.2f} exact, "
        f"{bounded:.2f} with `bounded=4096`.",
        "",
        "## What more metrics cost beside it, a million rows",
        "",
        table(["one `evaluate` of", "time", "more"], beside()),
        "",
        "## Scores, a million rows, other metrics and shapes",
        "",
        table(["metric", "tallymark", "scikit-learn", "ratio"], variants()),
        "",
        "## Scores, one-liners on a hundred rows",
        "",
        table(ONE_LINER_HEADINGS, one_liners(ONE_LINERS, *rows(100))),
        "",
    ]


def bars() -> list[tuple[str, float]]:
    """What the picture shows, once `sections` has measured it."""
    return [(f"{n:,} rows", RATIOS[n]) for n in SIZES]
