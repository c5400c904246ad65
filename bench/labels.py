"""Metrics on labels against scikit-learn and torchmetrics, in one run on one machine."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import torch
from measure import best_of, memory_of, show_time, table
from peers import ONE_LINER_HEADINGS, SIZE_HEADINGS, beside_sklearn, beside_torch, by_size, compare, one_liners, per_row
from sklearn import metrics as sk
from torchmetrics import functional as tf

import tallymark as tm

SIX = [
    "accuracy",
    "precision(average=macro)",
    "recall(average=macro)",
    "fscore(average=macro)",
    "mcc",
    "confusion_matrix",
]
CLASSES = 10
SIZES = (100, 10_000, 1_000_000, 10_000_000)
RATIOS: dict[int, float] = {}


def rows(n: int, classes: int = CLASSES):
    rng = np.random.default_rng(1)
    y = rng.integers(0, classes, n)
    return y, np.where(rng.random(n) < 0.7, y, rng.integers(0, classes, n))


def four_calls(y, p) -> None:
    """What scikit-learn's users write for the same numbers."""
    y, p = np.asarray(y), np.asarray(p)
    sk.accuracy_score(y, p)
    sk.precision_recall_fscore_support(y, p, average="macro", zero_division=0)
    sk.matthews_corrcoef(y, p)
    sk.confusion_matrix(y, p)


def torch_calls(y, p) -> None:
    """The same in torchmetrics, whose functions take one tensor each."""
    given = {"task": "multiclass", "num_classes": CLASSES}
    tf.accuracy(p, y, **given, average="micro")
    for call in (tf.precision, tf.recall, tf.f1_score):
        call(p, y, **given, average="macro")
    tf.matthews_corrcoef(p, y, **given)
    tf.confusion_matrix(p, y, **given)


def sizes() -> list[list[str]]:
    """Whole numbers as labels, by the number of rows; torchmetrics on tensors of the same numbers."""
    out = []
    for n in SIZES:
        print(f"labels, {n:,} rows ...", flush=True)
        y, p = rows(n)
        ty, tp = torch.from_numpy(y), torch.from_numpy(p)
        calls = {
            "ours": lambda y=y, p=p: tm.evaluate(y, p, SIX),
            "sklearn": lambda y=y, p=p: four_calls(y, p),
            "torch": lambda ty=ty, tp=tp: torch_calls(ty, tp),
        }
        best = best_of(calls, seconds=6 if n >= 1_000_000 else 2, least=3)
        RATIOS[n] = best["sklearn"] / best["ours"]
        out.append(by_size(n, best))
    return out


def containers() -> list[list[str]]:
    """A million rows of the same classes, as people hold them."""
    y, p = rows(1_000_000)
    names = np.array([f"class_{k}" for k in range(CLASSES)])
    shared = names.astype(object)
    texts = names[y], names[p]
    objects = texts[0].astype(object), texts[1].astype(object)
    cases = {
        "int64": (y, p),
        "int8": (y.astype(np.int8), p.astype(np.int8)),
        'float64, `kind="label"`': (y.astype(float), p.astype(float)),
        "ids of twelve digits": (y * 10**11 + 7, p * 10**11 + 7),
        "list of ints": (y.tolist(), p.tolist()),
        "object array, every string an object of its own": objects,
        "object array, equal strings shared": (shared[y], shared[p]),
        "list of strings": (objects[0].tolist(), objects[1].tolist()),
        "NumPy U": texts,
        "pandas str": (pd.Series(objects[0], dtype="str"), pd.Series(objects[1], dtype="str")),
        "pandas category": (pd.Series(objects[0], dtype="category"), pd.Series(objects[1], dtype="category")),
        "Polars String": (pl.Series(objects[0].tolist()), pl.Series(objects[1].tolist())),
        "Polars Categorical": tuple(pl.Series(o.tolist(), dtype=pl.Categorical) for o in objects),
        "Arrow string": (pa.array(objects[0]), pa.array(objects[1])),
        "Arrow dictionary": (pa.array(objects[0]).dictionary_encode(), pa.array(objects[1]).dictionary_encode()),
    }
    out = []
    for name, (a, b) in cases.items():
        print(f"labels as {name} ...", flush=True)
        kind = "label" if name.startswith("float") else None
        best = best_of(
            {
                "ours": lambda a=a, b=b, kind=kind: tm.evaluate(a, b, SIX, kind=kind),
                "sklearn": lambda a=a, b=b: four_calls(a, b),
            },
            seconds=4,
            least=2,
        )
        shown, ours, *peer = beside_sklearn(name, best)
        out.append([shown, ours, per_row(best, len(y)), *peer])
    return out


def variants() -> list[list[str]]:
    """A million rows, one metric at a time, weights, probabilities, many classes, several labels."""
    y, p = rows(1_000_000)
    many = rows(1_000_000, 1000)
    rng = np.random.default_rng(2)
    w = rng.uniform(0.5, 2, len(y))
    binary, scores = rng.integers(0, 2, len(y)), rng.random(len(y))
    table_of = rng.dirichlet(np.ones(CLASSES), len(y))
    several = rng.integers(0, 2, (100_000, 8)), rng.integers(0, 2, (100_000, 8))
    cases = {
        "accuracy": (lambda: tm.accuracy(y, p), lambda: sk.accuracy_score(y, p)),
        "macro F": (lambda: tm.fscore(y, p, average="macro"), lambda: sk.f1_score(y, p, average="macro")),
        "mcc": (lambda: tm.mcc(y, p), lambda: sk.matthews_corrcoef(y, p)),
        "quadratic kappa": (
            lambda: tm.cohen_kappa(y, p, weighting="quadratic"),
            lambda: sk.cohen_kappa_score(y, p, weights="quadratic"),
        ),
        "classification report": (lambda: tm.classification_report(y, p), lambda: sk.classification_report(y, p)),
        "the six, weighted": (lambda: tm.evaluate(y, p, SIX, weights=w), lambda: weighted_calls(y, p, w)),
        "the six, 1,000 classes": (lambda: tm.evaluate(*many, SIX), lambda: four_calls(*many)),
        "accuracy of probabilities": (
            lambda: tm.accuracy(binary, scores),
            lambda: sk.accuracy_score(binary, (scores >= 0.5).astype(int)),
        ),
        "accuracy of 10 columns of probabilities": (
            lambda: tm.accuracy(y, table_of),
            lambda: sk.accuracy_score(y, table_of.argmax(axis=1)),
        ),
        "top 3 of 10 columns": (
            lambda: tm.top_k_accuracy(y, table_of, k=3),
            lambda: sk.top_k_accuracy_score(y, table_of, k=3),
        ),
        "macro F of 8 labels per row, 100,000 rows": (
            lambda: tm.fscore(*several, average="macro"),
            lambda: sk.f1_score(*several, average="macro"),
        ),
    }
    return compare(cases, seconds=2, least=3)


def weighted_calls(y, p, w) -> None:
    sk.accuracy_score(y, p, sample_weight=w)
    sk.precision_recall_fscore_support(y, p, average="macro", zero_division=0, sample_weight=w)
    sk.matthews_corrcoef(y, p, sample_weight=w)
    sk.confusion_matrix(y, p, sample_weight=w)


ONE_LINERS = {
    "accuracy": (sk.accuracy_score, tf.accuracy),
    "precision": (sk.precision_score, tf.precision),
    "recall": (sk.recall_score, tf.recall),
    "fscore": (sk.f1_score, tf.f1_score),
    "jaccard": (sk.jaccard_score, tf.jaccard_index),
    "balanced_accuracy": (sk.balanced_accuracy_score, None),
    "mcc": (sk.matthews_corrcoef, tf.matthews_corrcoef),
    "cohen_kappa": (sk.cohen_kappa_score, tf.cohen_kappa),
    "hamming_loss": (sk.hamming_loss, tf.hamming_distance),
    "error_rate": (sk.zero_one_loss, None),
    "confusion_matrix": (sk.confusion_matrix, tf.confusion_matrix),
    "classification_report": (sk.classification_report, None),
}


def top_k() -> list[str]:
    """The call of a hundred rows that takes a column per class."""
    scores = np.random.default_rng(3).normal(size=(100, CLASSES))
    y = rows(100)[0]
    calls = {
        "ours": lambda: tm.top_k_accuracy(y, scores, k=3),
        "sklearn": lambda: sk.top_k_accuracy_score(y, scores, k=3),
    }
    best = best_of(calls, seconds=0.7)
    return [*beside_sklearn("`tm.top_k_accuracy`", best), *beside_torch(best)]


ROWS = """
y = rng.integers(0, {classes}, 10_000_000); p = rng.integers(0, {classes}, 10_000_000)
tm.evaluate(y[:1000], p[:1000], ["mcc"])
"""


def sections() -> list[str]:
    """The parts of the result page on labels."""
    all_sizes = sizes()
    memory = {k: memory_of('tm.evaluate(y, p, ["mcc"])', ROWS.format(classes=k)) / 2**20 for k in (10, 1000)}
    y, p = rows(10_000_000)
    read = best_of({"x": lambda: (y.sum(), p.sum())})["x"]
    before = tm.get_threads()
    tm.set_threads(1)
    single = best_of({"x": lambda: tm.evaluate(y, p, SIX)})["x"]
    tm.set_threads(before)
    both = best_of({"x": lambda: tm.evaluate(y, p, SIX)})["x"]
    return [
        "## Labels: accuracy, macro precision, recall and F, mcc and the confusion matrix in one `evaluate`",
        "",
        "Ten classes, int64. scikit-learn is `accuracy_score`, `precision_recall_fscore_support`, `matthews_corrcoef`",
        "and `confusion_matrix`; torchmetrics the same through its functions, on CPU tensors.",
        "",
        table(SIZE_HEADINGS, all_sizes),
        "",
        f"At ten million rows: {show_time(single)} on one thread, {show_time(both)} on two. Reading both columns once",
        f"(`y.sum(), p.sum()`, one thread) takes {show_time(read)}: 16 bytes a row, which are read twice, for their",
        "range and for the count.",
        "",
        "## The same six on a million rows, as people hold their labels",
        "",
        "For scikit-learn the columns are made NumPy arrays once, inside the measured call.",
        "",
        table(["labels", "tallymark", "ns/row", "scikit-learn", "ratio"], containers()),
        "",
        "## Labels, a million rows, other shapes",
        "",
        table(["metric", "tallymark", "scikit-learn", "ratio"], variants()),
        "",
        "## Labels, one-liners on a hundred rows of two classes",
        "",
        table(ONE_LINER_HEADINGS, [*one_liners(ONE_LINERS, *rows(100, 2)), top_k()]),
        "",
        f"Memory beyond the inputs at ten million rows: {memory[10]:.1f} MB with 10 classes a side (100 distinct "
        f"pairs), {memory[1000]:.1f} MB with 1,000 (a million distinct pairs).",
        "",
    ]


def bars() -> list[tuple[str, float]]:
    """What the picture shows, once `sections` has measured it."""
    return [(f"{n:,} rows", RATIOS[n]) for n in SIZES]
