"""Metrics on scores against scikit-learn and torchmetrics, in one run on one machine."""

from __future__ import annotations

import numpy as np
import torch
from measure import best_of, run_python, show_time, table
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
        per_row = f"{best['ours'] / n * 1e9:.2f}" if n >= 10_000 else ""
        times = [show_time(best[key]) for key in ("ours", "sklearn", "torch")]
        ratios = [f"{best[key] / best['ours']:.0f}×" for key in ("sklearn", "torch")]
        out.append([f"{n:,}", times[0], per_row, times[1], f"**{ratios[0]}**", times[2], ratios[1]])
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
    out = []
    for name, (ours, peer) in cases.items():
        print(f"{name} ...", flush=True)
        best = best_of({"ours": ours, "sklearn": peer}, seconds=3, least=2)
        ratio = f"**{best['sklearn'] / best['ours']:.0f}×**"
        out.append([name, show_time(best["ours"]), show_time(best["sklearn"]), ratio])
    return out


def beside() -> list[list[str]]:
    """What more metrics cost beside the area under the ROC curve, which needs the same state."""
    y, p = rows(1_000_000)
    wishes = {
        "auc": ["auc"],
        "and average_precision": ["auc", "average_precision"],
        "and ks": ["auc", "average_precision", "ks"],
        "and gini, pr_auc": ["auc", "average_precision", "ks", "gini", "pr_auc"],
        "and roc_curve": ["auc", "average_precision", "ks", "gini", "pr_auc", "roc_curve"],
    }
    best = best_of({key: lambda wish=wish: tm.evaluate(y, p, wish) for key, wish in wishes.items()}, seconds=6)
    return [[key, show_time(time), f"{time / best['auc'] - 1:+.0%}"] for key, time in best.items()]


ONE_LINERS = {
    "auc": (sk.roc_auc_score, tf.auroc),
    "average_precision": (sk.average_precision_score, tf.average_precision),
    "roc_curve": (sk.roc_curve, tf.roc),
    "pr_curve": (sk.precision_recall_curve, tf.precision_recall_curve),
    "det_curve": (sk.det_curve, None),
    "ks": (lambda y, p: np.abs(np.subtract(*sk.roc_curve(y, p)[:2])).max(), None),
}


def one_liners() -> list[list[str]]:
    """A hundred rows: what a call costs."""
    print("scores, one-liners ...", flush=True)
    y, p = rows(100)
    ty, tp = torch.from_numpy(y), torch.from_numpy(p)
    out = []
    for name, (peer, other) in ONE_LINERS.items():
        ours = tm.metric(name)
        calls = {"ours": lambda ours=ours: ours(y, p), "sklearn": lambda peer=peer: peer(y, p)}
        if other is not None:
            calls["torch"] = lambda other=other: other(tp, ty, task="binary")
        best = best_of(calls, seconds=0.7)
        torch_time = [show_time(best["torch"]), f"{best['torch'] / best['ours']:.0f}×"] if other else ["", ""]
        ratio = f"**{best['sklearn'] / best['ours']:.0f}×**"
        out.append([f"`tm.{name}`", show_time(best["ours"]), show_time(best["sklearn"]), ratio, *torch_time])
    return out


MEMORY = """
import numpy as np, tallymark as tm
rng = np.random.default_rng(1)
y = rng.integers(0, 2, 10_000_000); p = rng.random(10_000_000)
tm.auc(y[:1000], p[:1000])
def memory(key):
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith(key))
open("/proc/self/clear_refs", "w").write("5")  # forget the peak so far
before = memory("VmRSS")
{call}
print((memory("VmHWM") - before) * 1024 / p.nbytes)
"""


def sections() -> list[str]:
    """The parts of the result page on scores."""
    by_size = sizes()
    exact = float(run_python(MEMORY.format(call="tm.auc(y, p)")))
    bounded = float(run_python(MEMORY.format(call="tm.auc(y, p, bounded=4096)")))
    y, p = rows(10_000_000)
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
        table(["rows", "tallymark", "ns/row", "scikit-learn", "ratio", "torchmetrics", "ratio"], by_size),
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
        table(["call", "tallymark", "scikit-learn", "ratio", "torchmetrics", "ratio"], one_liners()),
        "",
    ]


def bars() -> list[tuple[str, float]]:
    """What the picture shows, once `sections` has measured it."""
    return [(f"{n:,} rows", RATIOS[n]) for n in SIZES]
