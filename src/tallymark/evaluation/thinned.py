"""Curves of very many points, of which those are taken that can be seen."""

from __future__ import annotations

from typing import Any

import numpy as np

from tallymark.arrays import Array
from tallymark.errors import UndefinedError
from tallymark.metrics.answer import TOO_LARGE
from tallymark.metrics.curve import Curve
from tallymark.metrics.scores import ONE_CLASS
from tallymark.metrics.threshold_table import Thresholds, table_of
from tallymark.metrics.threshold_values import label_metric, values_at
from tallymark.report import Table
from tallymark.report.plots import BLOCK, spaced
from tallymark.states import Scores, Steps, walk_steps


def some(curve: Curve, kept: Array) -> Table:
    """The table of a curve, made from these of its points; it says how many there are in all."""
    return _of_all(Curve(curve.title, {name: held[kept] for name, held in curve.columns.items()}), curve.summary())


def thin_thresholds(state: Scores) -> tuple[Thresholds, Table]:
    """The thresholds that can be told apart in a plot of precision, recall and F, the best one of F among them, and the
    table of all, made from these."""
    steps = walk_steps(*state.binary())
    if not steps.positives or not steps.negatives:
        raise UndefinedError(f"threshold_table is undefined: {ONE_CLASS.reason}")
    if not steps.finite:
        raise UndefinedError(f"threshold_table is undefined: {TOO_LARGE}")
    item, values = label_metric("fscore"), np.empty(len(steps.tp))
    for start in range(0, len(values), BLOCK):
        block = slice(start, start + BLOCK)
        values[block] = values_at(item, (steps.tp[block], steps.fp[block], steps.fn[block], steps.tn[block]))
    span = float(steps.thresholds[0] - steps.thresholds[-1]) or 1.0
    precision = steps.tp / (steps.tp + steps.fp)
    kept = spaced(steps.thresholds, precision, steps.tp, values, spans=(span, 1.0, steps.positives, 1.0))
    kept = np.union1d(kept, [int(np.argmax(values))])
    table = table_of(Steps(*(part[kept] for part in steps)))
    shown = table.with_metrics(("precision", "recall", "fscore"))
    return table, _of_all(shown, f"{len(steps.tp) + 1:,} thresholds")


def _of_all(some_points: Any, summary: str) -> Table:
    table: Table = some_points.table()
    notes = [f"{len(table.rows)} of {summary}; the curve itself has them all"] if table.notes else []
    return table._replace(title=f"{some_points.title} · {summary}", notes=notes)
