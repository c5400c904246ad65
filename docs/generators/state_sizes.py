"""docs/concepts/scale.md: the bytes of every state, measured and put between the marks in the page."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import tallymark as tm
from tallymark.states.base import Reads
from tallymark.states.labels.label_rows import LabelRowsOf
from tallymark.states.resampling.replicates import ResampledOf
from tallymark.states.resampling.units import UnitsOf
from tallymark.states.sums import SizeOf

PAGE = "concepts/scale.md"
BEGIN, END = "<!-- bytes of states -->\n", "<!-- end of bytes -->"
FEW, MANY = 1_000, 100_000
STEPS = (0.7548776662466927, 0.5698402909980532, 0.6180339887498949)


class Case(NamedTuple):
    """Who asks for a state, of which rows, and what it reads of them."""

    asked: str
    rows: str
    reads: Callable[[], Reads]
    batch: Callable[[int], tm.extend.Batch]


def pages() -> Iterator[tuple[str, str]]:
    """The one page, by its path below docs/."""
    text = (Path(__file__).parents[1] / PAGE).read_text()
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    yield PAGE, f"{before}{BEGIN}\n{table()}\n{END}{after}"


def table() -> str:
    """The bytes of every state, of few rows and of many, and what it grows with."""
    lines = [
        f"| state | asked for by | rows | bytes of {FEW:,} rows | of {MANY:,} rows | grows with | bytes of each |",
        "|---|---|---|---:|---:|---|---:|",
    ]
    for case in CASES:
        batches = [case.batch(n) for n in (FEW, MANY)]
        states = [case.reads().fold(batch) for batch in batches]
        few, many = (len(state.to_bytes()) for state in states)
        size = type(states[0]).size
        less, more = (count(size, batch) for batch in batches)
        each = f"{(many - few) / (more - less):.0f}" if more > less else ""
        cells = (f"`{type(states[0]).__name__}`", case.asked, case.rows, f"{few:,}", f"{many:,}", GROWS[size], each)
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


GROWS = {"fixed": "", "bounded": "", "rows": "rows", "distinct scores": "scores", "distinct pairs": "pairs of labels"}


def count(size: str, batch: tm.extend.Batch) -> int:
    """How many of what a state grows with there are."""
    if size == "rows":
        return batch.n
    columns = {"distinct scores": [batch.prediction], "distinct pairs": [batch.truth, batch.prediction]}.get(size, [])
    return len(np.unique(np.column_stack(columns), axis=0)) if columns else 0


def spread(n: int, which: int = 0) -> Any:
    """Numbers between 0 and 1 without a pattern, which are the same with every release of NumPy."""
    return (np.arange(1, n + 1) * STEPS[which]) % 1


def label(n: int, classes: int, which: int = 1) -> Any:
    return (spread(n, which) * classes).astype(np.int64)


def shares(n: int) -> Any:
    found = np.column_stack([spread(n, which) for which in range(3)])
    return found / found.sum(axis=1, keepdims=True)


def values(n: int) -> tm.extend.Batch:
    return tm.extend.Batch(spread(n), spread(n, 1))


def scored(n: int) -> tm.extend.Batch:
    return tm.extend.Batch(label(n, 2), spread(n))


def labelled(classes: int) -> Callable[[int], tm.extend.Batch]:
    return lambda n: tm.extend.Batch(label(n, classes), label(n, classes, 2))


def asks(metric: str, kind: str | None = None, **facts: Any) -> Callable[[], Reads]:
    """What a metric reads."""
    return lambda: tm.metric(metric).needs(tm.Target(kind, **facts))


def several(n: int, which: int) -> Any:
    """A table of 0 and 1 for five labels."""
    return np.column_stack([label(n + k, 2, which)[k:] for k in range(5)])


def queried(n: int) -> tm.extend.Batch:
    return tm.extend.Batch(label(n, 3), spread(n), query=np.arange(n) // 10)


def clustered(n: int) -> tm.extend.Batch:
    return tm.extend.Batch(spread(n), spread(n, 1), cluster=np.arange(n) // 10)


def keyed(n: int) -> tm.extend.Batch:
    return tm.extend.Batch(spread(n), spread(n, 1), keys=np.arange(n))


THREE = {"classes": [0, 1, 2]}
CASES = (
    Case("`rmse`", "one output", asks("rmse"), values),
    Case("`r2`", "one output", asks("r2"), values),
    Case(
        "`r2`",
        "ten outputs",
        asks("r2"),
        lambda n: tm.extend.Batch(*[np.tile(spread(n, k)[:, None], 10) for k in (0, 1)]),
    ),
    Case("`logloss`", "two classes", asks("logloss", "probability"), scored),
    Case("`logloss`", "three classes", asks("logloss", **THREE), lambda n: tm.extend.Batch(label(n, 3), shares(n))),
    Case("`d2_brier`", "two classes", asks("d2_brier", "probability"), scored),
    Case("`ece`", "15 bins", asks("ece", "probability"), scored),
    Case("`ece(strategy=count)`", "probabilities that all differ", asks("ece(strategy=count)", "probability"), scored),
    Case("`accuracy`", "two classes", asks("accuracy", "label"), labelled(2)),
    Case("`accuracy`", "100 classes", asks("accuracy", "label"), labelled(100)),
    Case("`fscore`", "five labels a row", asks("fscore"), lambda n: tm.extend.Batch(*[several(n, k) for k in (0, 1)])),
    Case(
        "`top_k_accuracy`",
        "three classes",
        asks("top_k_accuracy", **THREE),
        lambda n: tm.extend.Batch(label(n, 3), shares(n)),
    ),
    Case("`auc`", "scores that all differ", asks("auc"), scored),
    Case("`auc`", "scores of two digits", asks("auc"), lambda n: tm.extend.Batch(label(n, 2), spread(n).round(2))),
    Case("`auc`", "with weights", asks("auc"), lambda n: tm.extend.Batch(label(n, 2), spread(n), spread(n, 2))),
    Case("`auc(bounded=4096)`", "scores that all differ", asks("auc(bounded=4096)"), scored),
    Case("`ndcg`", "ten rows a query", asks("ndcg"), queried),
    Case("`median_absolute_error`", "one output", asks("median_absolute_error"), values),
    Case("`silhouette`", "three coordinates", asks("silhouette"), lambda n: tm.extend.Batch(shares(n), label(n, 3))),
    Case("functions of your own on labels", "two classes", LabelRowsOf, labelled(2)),
    Case("intervals", "rows", UnitsOf, values),
    Case("intervals", "a cluster to ten rows", UnitsOf, clustered),
    Case("intervals of `wape`", "1,000 resamples", lambda: ResampledOf(asks("wape")(), 0, 1000, always=True), keyed),
    Case("a tally of nothing else", "rows", SizeOf, values),
)
