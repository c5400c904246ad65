"""Errors of plots, for the messages that are kept."""

from __future__ import annotations

import tallymark as tm

_LABELS = ([1, 0, 1], [0.2, 0.4, 0.9])
_TABLE = [[0.5, 0.3, 0.2], [0.2, 0.5, 0.3], [0.1, 0.1, 0.8]]


def _report(*metrics, **facts):
    return tm.evaluate(*_LABELS, metrics or ["auc"], **facts)


CASES = {
    "a plot of one class": lambda: tm.evaluate([1, 1], [0.2, 0.9], ["auc"]).plot.roc(),
    "thresholds of one class": lambda: tm.evaluate([1, 1], [0.2, 0.9], ["auc"]).plot.thresholds(),
    "thresholds of three classes": lambda: tm.evaluate(["a", "b", "c"], _TABLE, ["auc"]).plot.thresholds(),
    "a plot of one class of three": lambda: tm.evaluate(
        ["a", "a", "a"], _TABLE, ["logloss"], classes=["a", "b", "c"]
    ).plot.roc(),
    "a histogram of no bins": lambda: _report().plot.score_histogram(bins=0),
    "a histogram of a class that is not there": lambda: tm.evaluate(
        ["a", "b", "c"], _TABLE, ["auc"]
    ).plot.score_histogram(label="d"),
    "a histogram of one of two classes": lambda: _report().plot.score_histogram(label=1),
    "lift of one class": lambda: tm.evaluate([1, 1], [0.2, 0.9], ["auc"]).plot.lift(),
    "lift of an empty tally": lambda: tm.Tally(["auc"]).report().plot.lift(),
    "a plot of another kind": lambda: tm.evaluate([1.0, 2.0], [1.0, 3.0], kind="value").plot.roc(),
    "residuals of labels": lambda: _report("accuracy", kind="probability").plot.residuals(),
    "residuals of quantiles": lambda: tm.evaluate([1.0], [[0.5, 1.5]], ["coverage"]).plot.residuals(),
    "residuals of no such output": lambda: tm.evaluate([1.0], [1.5], ["rmse"]).plot.residuals(output=1),
    "residuals of all weights zero": lambda: tm.evaluate([1.0], [1.5], ["rmse"], weights=[0]).plot.residuals(),
    "residuals of no groups": lambda: tm.evaluate([1.0, 2.0], [1.0, 3.0]).plot.residuals_by_group(),
    "residuals by group of a tally": lambda: (
        tm.Tally(["median_absolute_error"], by=["group"])
        .update([1.0], [1.5], by={"group": ["x"]})
        .report()
        .plot.residuals_by_group()
    ),
    "a QQ plot of residuals that are all the same": lambda: tm.evaluate([1.0, 2.0], [1.5, 2.5]).plot.qq(),
    "a QQ plot of huge residuals": lambda: tm.evaluate([1.0, 2.0], [1e308, 1.0], ["mae"]).plot.qq(),
    "learning curves of no rounds": lambda: tm.training.History().plot(),
    "the worst rows of a tally": lambda: tm.Tally(["rmse"]).update([1.0], [1.5]).report().worst_rows(),
    "the worst rows of a group": lambda: _report(by=["x", "x", "y"]).slices["x"].worst_rows(),
    "no worst rows": lambda: _report().worst_rows(0),
    "the worst rows with too few ids": lambda: _report().worst_rows(ids=["a"]),
    "the worst rows of one class": lambda: tm.evaluate([1, 1], [0.2, 0.9], ["auc"]).worst_rows(),
    "the worst rows of scores of several classes": lambda: tm.evaluate(["a", "b", "c"], _TABLE, ["auc"]).worst_rows(),
    "the worst rows of clusters": lambda: tm.evaluate([1, 2], [1, 1], ["adjusted_rand"]).worst_rows(),
    "the worst rows of several labels": lambda: tm.evaluate([[1, 0]], [[1, 1]], ["hamming_loss"]).worst_rows(),
    "the worst rows of an output of labels": lambda: _report("accuracy").worst_rows(output=1),
    "a plot of values too far apart": lambda: tm.evaluate([0.0, 0.0], [-1e308, 1e308], ["mae"]).plot.residuals(),
    "a plot without groups": lambda: _report().plot.slices(),
    "a plot of groups of many numbers": lambda: _report("confusion_matrix", by=["x", "x", "y"]).plot.slices(),
    "a plot of one group of many numbers": lambda: _report("auc", "confusion_matrix", by=["x", "x", "y"]).plot.slices(
        "confusion_matrix"
    ),
    "a plot of a group": lambda: _report(by=["x", "x", "y"]).slices["x"].plot.roc(),
    "a plot of a tally": lambda: tm.Tally(["accuracy"]).update([1, 0], [1, 1]).report().plot.roc(),
    "residuals of a tally": lambda: tm.Tally(["rmse"]).update([1.0], [1.5]).report().plot.residuals(),
    "a plot of an empty tally": lambda: tm.Tally(["auc"]).report().plot.roc(),
    "a plot to a file of another form": lambda: _report().plot.roc().save("roc.gif"),
    "a plot in no theme": lambda: _report().plot.roc().svg("blue"),
    "a plot of no size": lambda: _report().plot.roc().figure(width=0),
}
