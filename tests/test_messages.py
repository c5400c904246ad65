"""The wording of every error: the argument, what it must be, what it was, where, and what to do.

The messages are kept in messages.txt, so that a change of wording shows in the diff. To accept one: write the file anew
with ``python -m tests.test_messages``.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import tallymark as tm
from tallymark.batch import Batch
from tallymark.metrics import registry
from tallymark.states import Scores, ScoresOf, Sums, SumsOf, Term

FILE = Path(__file__).with_name("messages.txt")
Y, P = [1.0, 2.0, 3.0], [1.0, 2.0, 4.0]
NAN, INF = float("nan"), float("inf")

CASES = {
    # lengths, shapes and types
    "lengths differ": lambda: tm.rmse(Y, [1.0]),
    "no rows": lambda: tm.rmse([], []),
    "no rows in evaluate": lambda: tm.evaluate([], [], ["rmse"]),
    "all rows dropped": lambda: tm.rmse([NAN], [1.0], missing="drop"),
    "a single number": lambda: tm.rmse(1.0, 2.0),
    "three dimensions": lambda: tm.rmse(np.ones((2, 2, 2)), np.ones((2, 2, 2))),
    "no columns": lambda: tm.rmse(np.ones((3, 0)), np.ones((3, 0))),
    "ragged": lambda: tm.rmse([[1.0], [1.0, 2.0]], Y[:2]),
    "columns differ": lambda: tm.rmse(np.ones((3, 2)), np.ones((3, 3))),
    "None": lambda: tm.rmse(None, Y),
    "a string": lambda: tm.rmse("123", Y),
    "a dict": lambda: tm.rmse({"a": 1.0}, Y),
    "an iterator": lambda: tm.rmse(iter(Y), Y),
    "strings": lambda: tm.rmse(["a", "b", "c"], Y),
    "byte strings": lambda: tm.rmse([b"a", b"b", b"c"], Y),
    "a string among numbers": lambda: tm.rmse(np.array([1.0, "x", 2.0], dtype=object), Y),
    "a string in a table": lambda: tm.rmse(np.array([[1.0, 2.0], [1.0, "x"]], dtype=object), np.ones((2, 2))),
    "complex": lambda: tm.rmse(np.array([1j, 2, 3]), Y),
    "dates": lambda: tm.rmse(np.array(["2020-01-01"] * 3, dtype="M8[D]"), Y),
    "durations": lambda: tm.rmse(np.array([1, 2, 3], dtype="m8[s]"), Y),
    "records": lambda: tm.rmse(np.zeros(3, dtype=[("a", "f8")]), Y),
    # missing values and weights
    "NaN": lambda: tm.rmse([1.0, NAN, NAN], Y),
    "infinite prediction": lambda: tm.rmse(Y, [1.0, 2.0, -INF]),
    "NaN in a table": lambda: tm.rmse(np.ones((2, 2)), np.array([[1.0, 2.0], [1.0, NAN]])),
    "NaN for a metric that keeps rows": lambda: tm.spearman([1.0, NAN, 2.0], Y),
    "negative weight": lambda: tm.rmse(Y, P, weights=[1.0, -1.0, -2.0]),
    "NaN weight": lambda: tm.rmse(Y, P, weights=[1.0, NAN, 1.0]),
    "NaN weight with drop": lambda: tm.rmse([NAN, 1.0, 2.0], P, weights=[1.0, NAN, 1.0], missing="drop"),
    "negative weight for a metric that keeps rows": lambda: tm.spearman(Y, P, weights=[1.0, -1.0, 1.0]),
    "too few weights": lambda: tm.rmse(Y, P, weights=[1.0]),
    "a table of weights": lambda: tm.rmse(Y, P, weights=np.ones((3, 2))),
    "an unknown way with missing values": lambda: tm.rmse(Y, P, missing="ignore"),
    # what a metric has no meaning for
    "msle below -1": lambda: tm.msle([0.0, -1.5, 2.0], P),
    "negative counts": lambda: tm.poisson_deviance([0.0, -1.0], [1.0, 1.0]),
    "gamma of zero": lambda: tm.gamma_deviance([[1.0, 1.0], [1.0, 0.0]], np.ones((2, 2))),
    "gamma prediction": lambda: tm.gamma_deviance([1.0, 1.0], [1.0, 0.0]),
    "negative counts in a tally": lambda: tm.Tally(["poisson"]).update([-1.0], [1.0]).report()["poisson"],
    "d2 of zero": lambda: tm.d2_tweedie([0.0, 1.0], [1.0, 1.0], power=2),
    "bounds the wrong way round in a tally": lambda: (
        tm.Tally(["coverage"]).update([1.0], [[3.0, 1.0]]).report()["coverage"]
    ),
    "whole bounds the wrong way round": lambda: tm.coverage([1, 0], np.array([[3, 5], [5, 3]], dtype=np.uint8)),
    "bounds the wrong way round": lambda: tm.interval_score([1.0, 2.0], [[0.0, 1.0], [3.0, 1.0]]),
    "quantiles without columns": lambda: tm.pinball(Y, P, alphas=(0.1, 0.9)),
    "quantiles of two truths": lambda: tm.pinball(np.ones((3, 2)), np.ones((3, 2)), alphas=(0.1, 0.9)),
    "interval of one column": lambda: tm.coverage(Y, P),
    # parameters
    "delta of zero": lambda: tm.huber(Y, P, delta=0),
    "delta of words": lambda: tm.huber(Y, P, delta="big"),
    "delta of NaN": lambda: tm.huber(Y, P, delta=NAN),
    "level of one": lambda: tm.coverage(Y, P, level=1),
    "alphas outside": lambda: tm.pinball(Y, P, alphas=(0.5, 1.0)),
    "alphas falling": lambda: tm.pinball(Y, P, alphas=(0.9, 0.1)),
    "no alphas": lambda: tm.pinball(Y, P, alphas=()),
    "power of a half": lambda: tm.tweedie_deviance(Y, P, power=0.5),
    "no scale": lambda: tm.mase(Y, P),
    "outputs": lambda: tm.rmse(Y, P, outputs="median"),
    "outputs of negative weight": lambda: tm.rmse(Y, P, outputs=(1, -1)),
    "too many outputs": lambda: tm.rmse(Y, P, outputs=(1, 2)),
    "undefined": lambda: tm.rmse(Y, P, undefined="ignore"),
    "weights by another name": lambda: tm.rmse(Y, P, sample_weight=[1.0, 1.0, 1.0]),
    "an unknown parameter": lambda: tm.rmse(Y, P, beta=2),
    "kind": lambda: tm.rmse(Y, P, kind="guess"),
    "a kind that a metric cannot read": lambda: tm.rmse(Y, P, kind="label"),
    "threads": lambda: tm.set_threads(0),
    # names
    "a misspelt name": lambda: tm.metric("rsme"),
    "a name in capitals": lambda: tm.metric("MAE"),
    "a name like no other": lambda: tm.metric("qqqq"),
    "positional parameters": lambda: tm.metric("huber(2)"),
    "code in a string": lambda: tm.metric("huber(delta=__import__('os').getpid())"),
    "star parameters": lambda: tm.metric("huber(**x)"),
    "not a call": lambda: tm.metric("rmse + mae"),
    "unbalanced": lambda: tm.metric("huber(delta=1"),
    "a very long string": lambda: tm.metric("huber(delta=" + "(" * 20_000),
    "a function": lambda: tm.metric(print),
    "a number": lambda: tm.metric(3),
    "nothing": lambda: tm.evaluate(Y, P, [None]),
    "a parameter twice": lambda: tm.metric("huber(delta=1, delta=2)"),
    "a mapping without a name": lambda: tm.metric({"delta": 2}),
    "family": lambda: tm.list_metrics(family="cooking"),
    # evaluate, report and tally
    "no metrics": lambda: tm.evaluate(Y, P, []),
    "metrics of the wrong type": lambda: tm.evaluate(Y, P, 3),
    "a metric name that is no name": lambda: tm.evaluate(Y, P, {1: "rmse"}),
    "whole numbers and floats without metrics": lambda: tm.evaluate([1, 2], [0.1, 0.2]),
    "labels and floats without a positive class": lambda: tm.evaluate(["a", "b"], [0.1, 0.2], errors="raise"),
    "errors": lambda: tm.evaluate(Y, P, ["rmse"], errors="ignore"),
    "errors raised": lambda: tm.evaluate(Y, P, ["pinball(alphas=(0.1, 0.9))"], errors="raise"),
    "a key that is not there": lambda: tm.evaluate(Y, P, ["rmse"])["mae"],
    "a key that is no metric": lambda: tm.evaluate(Y, P, ["rmse"])["nothing"],
    "undefined raised": lambda: tm.r2([1.0, 1.0], [1.0, 2.0], undefined="raise"),
    "a tally with an unknown way": lambda: tm.Tally(["rmse"], missing="ignore"),
    "a tally without metrics": lambda: tm.Tally(None),
    "other columns": lambda: tm.Tally(["rmse"]).update(Y, P).update(np.ones((2, 2)), np.ones((2, 2))),
    "tallies of other metrics": lambda: tm.Tally(["rmse"]) + tm.Tally(["mae"]),
    "tallies of other widths": lambda: (
        tm.Tally(["rmse"]).update(Y, P) + tm.Tally(["rmse"]).update(np.ones((2, 2)), np.ones((2, 2)))
    ),
    # labels
    "numbers against strings": lambda: tm.accuracy([1, 2], ["a", "b"]),
    "numbers among strings": lambda: tm.accuracy(["a", 1], ["a", "b"]),
    "None among strings": lambda: tm.accuracy(["a", None, None], ["a", "b", "a"]),
    "NaN among labels": lambda: tm.accuracy(np.array([0.0, NAN]), [0, 1]),
    "a fraction among labels": lambda: tm.accuracy([0, 0.5, 2], [0, 1, 2], kind="label"),
    "dates as labels": lambda: tm.accuracy(np.array(["2020-01-01"], dtype="M8[D]"), [1]),
    "objects as labels": lambda: tm.accuracy([object], [1]),
    "a list of lists": lambda: tm.accuracy([["a"], ["b", "c"]], ["a", "b"]),
    "byte strings that are not UTF-8": lambda: tm.accuracy([b"\xff"], [b"a"]),
    "fixed byte strings that are not UTF-8": lambda: tm.accuracy(np.array([b"\xff"]), np.array([b"a"])),
    "an average that is needed": lambda: tm.precision([0, 1, 2], [0, 1, 2]),
    "an average that is unknown": lambda: tm.precision([0, 1], [0, 1], average="mean"),
    "binary with three classes": lambda: tm.recall([0, 1, 2], [0, 1, 2], average="binary"),
    "a positive class that is needed": lambda: tm.precision(["ham", "spam"], ["ham", "spam"]),
    "a positive class of two numbers": lambda: tm.recall([2, 3], [2, 3]),
    "a positive class that is not there": lambda: tm.recall(["a", "b"], ["a", "b"], positive="c"),
    "a positive class of another type": lambda: tm.recall(["a", "b"], ["a", "b"], positive=1),
    "a positive class that is no label": lambda: tm.recall([0, 1], [0, 1], positive=0.5),
    "probabilities of labels without 1": lambda: tm.accuracy(["a", "b"], [0.2, 0.7]),
    "probabilities above 1": lambda: tm.accuracy([0, 1, 1], [0.2, 2.0, 3.0]),
    "probabilities of three classes in one column": lambda: tm.accuracy([0, 1, 2], [0.2, 0.7, 0.1]),
    "NaN among probabilities": lambda: tm.accuracy([0, 1], [0.2, NAN]),
    "rows that do not sum to 1": lambda: tm.accuracy([0, 1], [[0.2, 0.8], [0.2, 0.7]]),
    "more columns than classes": lambda: tm.accuracy([0, 1], [[0.2, 0.2, 0.6], [0.2, 0.2, 0.6]]),
    "fewer columns than classes": lambda: tm.accuracy([0, 1], [[0.2, 0.8], [0.2, 0.8]], classes=[0, 1, 2]),
    "columns of whole numbers": lambda: tm.accuracy([0, 1], [[0, 1], [1, 0]]),
    "columns in pieces": lambda: tm.Tally(["accuracy"]).update([0, 1], [[0.2, 0.8], [0.2, 0.8]]),
    "a threshold for three classes": lambda: tm.accuracy([0, 1, 2], np.eye(3), threshold=0.3),
    "a threshold of 2": lambda: tm.accuracy([0, 1], [0, 1], threshold=2),
    "a label that is no class": lambda: tm.accuracy(["a", "x"], ["a", "b"], classes=["a", "b"]),
    "classes of two types": lambda: tm.accuracy([0, 1], [0, 1], classes=[0, "a"]),
    "classes that repeat": lambda: tm.accuracy([0, 1], [0, 1], classes=[0, 1, 1]),
    "classes as a string": lambda: tm.accuracy(["a"], ["b"], classes="ab"),
    "one class": lambda: tm.accuracy([0, 0], [0, 0], classes=[0]),
    "normalize": lambda: tm.accuracy([0, 1], [0, 1], normalize="yes"),
    "beta of zero": lambda: tm.fscore([0, 1], [0, 1], beta=0),
    "beta of words": lambda: tm.fscore([0, 1], [0, 1], beta="two"),
    "absent of words": lambda: tm.fscore([0, 1], [0, 1], absent="drop"),
    "labels read as values": lambda: tm.accuracy([0, 1], [0, 1], kind="value"),
    "margins read as labels": lambda: tm.margin_accuracy([0, 1], [0, 1], kind="label"),
    "several labels without average": lambda: tm.precision([[0, 1], [1, 1]], [[0, 1], [1, 1]]),
    "several labels that are not 0 and 1": lambda: tm.precision([[0, 2], [1, 1]], [[0, 1], [1, 1]]),
    "several labels, other columns": lambda: tm.precision([[0, 1], [1, 1]], [[0, 1, 1], [1, 1, 1]]),
    "several labels for mcc": lambda: tm.mcc([[0, 1], [1, 1]], [[0, 1], [1, 1]]),
    "several labels in a confusion matrix": lambda: tm.confusion_matrix([[0, 1], [1, 1]], [[0, 1], [1, 1]]),
    "one column for the first k": lambda: tm.top_k_accuracy([0, 1], [0.1, 0.2]),
    "k of zero": lambda: tm.top_k_accuracy([0, 1], np.eye(2), k=0),
    "a class that is not there": lambda: tm.confusion_matrix([0, 1], [0, 1])[2, 0],
    "a class that has no line": lambda: tm.classification_report([0, 1], [0, 1])["samples"],
    "a query for a metric that reads none": lambda: tm.auc([0, 1], [0.1, 0.2], query=[1, 1]),
    "shares of something else": lambda: tm.confusion_matrix([0, 1], [0, 1]).normalized("rows"),
    "a cell of one class": lambda: tm.confusion_matrix([0, 1], [0, 1])[1],
    "classes of another type than the truth": lambda: tm.accuracy([0, 1], [[0.2, 0.8]] * 2, classes=["a", "b"]),
    "columns in another order": lambda: tm.accuracy(["a", "b"], pd.DataFrame({"b": [0.1, 0.9], "a": [0.9, 0.1]})),
    "columns in another order than classes": lambda: tm.accuracy(
        ["a", "b"], pd.DataFrame({"a": [0.1, 0.9], "b": [0.9, 0.1]}), classes=["b", "a"]
    ),
    "several labels in another order": lambda: tm.hamming_loss(
        pd.DataFrame({"x": [1], "y": [0]}), pd.DataFrame({"y": [1], "x": [0]})
    ),
    "normalize with labels": lambda: tm.confusion_matrix([0, 1], [0, 1], normalize=True),
    "normalize with one column": lambda: tm.accuracy([0, 1], [0.1, 0.9], normalize=True),
    "normalize with several labels": lambda: tm.accuracy([[0, 1]], [[0.1, 0.9]], normalize=True),
    "a threshold without a positive class": lambda: tm.accuracy(["a", "b"], [[0.6, 0.4], [0.1, 0.9]], threshold=0.3),
    "a positive class that no column has": lambda: tm.accuracy(["a", "b"], [[0.6, 0.4], [0.1, 0.9]], positive="c"),
    "probabilities in two columns above 1": lambda: tm.accuracy([0, 1], [[0.4, 1.6], [0.5, 0.5]]),
    "probabilities of several labels above 1": lambda: tm.recall([[0, 1]] * 2, [[0.5, 2.0], [3.0, 0.5]], average=None),
    "NaN in a table of labels": lambda: tm.recall([[0, NAN], [1, 1]], [[0, 1], [1, 1]], average=None),
    "the first k of no probabilities": lambda: tm.top_k_accuracy([0, 1], [[7.0, 7.0]] * 2, kind="probability"),
    "a tally that could never report": lambda: tm.Tally(["f1"]).update(["ham", "spam"], [0.1, 0.9]),
    "labels after probabilities": lambda: tm.Tally(["accuracy"]).update([0, 1], [0.1, 0.9]).update([0, 1], [0, 1]),
    "tallies of other targets": lambda: tm.Tally(["f1"]) + tm.Tally(["f1"], positive="spam"),
    "undefined classes raised": lambda: tm.precision([0, 1], [0, 0], average=None, undefined="raise"),
    "kappa's weights": lambda: tm.cohen_kappa([0, 1], [0, 1], weights="quadratic"),
    "binary of several classes": lambda: tm.precision([0, 1, 2], [0, 1, 2], positive=2),
    "pos_label": lambda: tm.precision([0, 1], [0, 1], pos_label=1),
    "zero_division": lambda: tm.precision([0, 1], [0, 1], zero_division=0),
    "a parameter with a slip": lambda: tm.precision([0, 1], [0, 1], treshold=0.3),
    "a fact of the data as a parameter": lambda: tm.Precision(positive="spam"),
    "a call without data": lambda: tm.precision(average="macro"),
    "numbers against strings in a function": lambda: tm.custom(lambda y, p, w: 0.0, name="zero", kind="label")(
        [1, 0], ["1", "0"]
    ),
    # scores
    "scores of labels without 1": lambda: tm.auc(["ham", "spam"], [0.1, 0.9]),
    "scores of two numbers without 1": lambda: tm.average_precision([2, 3], [0.1, 0.9]),
    "scores of three classes in one column": lambda: tm.auc([0, 1, 2], [0.1, 0.9, 0.5]),
    "scores of more columns than classes": lambda: tm.auc([0, 1], np.eye(3)[:2]),
    "scores of fewer columns than classes": lambda: tm.auc([0, 1], np.eye(2), classes=[0, 1, 2]),
    "scores in pieces": lambda: tm.Tally(["auc"]).update([0, 1, 2], np.eye(3)),
    "scores read as labels": lambda: tm.auc([0, 1], [0, 1], kind="label"),
    "scores that are probabilities above 1": lambda: tm.auc([0, 1], [0.1, 2.0], kind="probability"),
    "scores that do not sum to 1": lambda: tm.auc([0, 1], [[0.1, 0.9], [0.1, 0.8]], kind="probability"),
    "scores of nothing": lambda: tm.auc([0, 1], [[0.0, 0.0], [0.1, 0.9]], normalize=True),
    "NaN among scores of classes": lambda: tm.auc([0, 1], [0.1, NAN]),
    "NaN in the column that is not read": lambda: tm.auc([0, 1], [[NAN, 0.2], [0.3, 0.4]]),
    "scores beyond 2**53": lambda: tm.auc([0, 1], np.array([0, -(2**60)])),
    "scores that are strings": lambda: tm.auc([0, 1], ["low", "high"]),
    "scores and a table of truth": lambda: tm.auc([[0, 1], [1, 1]], [[0.1, 0.2], [0.3, 0.4]]),
    "scores of one class": lambda: tm.auc([1, 1], [0.1, 0.2], undefined="raise"),
    "scores without a positive": lambda: tm.average_precision([0, 0], [0.1, 0.2], undefined="raise"),
    "scores of an absent class": lambda: tm.auc([0, 1], np.eye(3)[:2], classes=[0, 1, 2], undefined="raise"),
    "the partial area of three classes": lambda: tm.auc([0, 1, 2], np.eye(3), max_fpr=0.5),
    "the partial area in bins": lambda: tm.auc([0, 1], [0.1, 0.2], max_fpr=0.5, bounded=8),
    "the partial area up to nothing": lambda: tm.auc([0, 1], [0.1, 0.2], max_fpr=0),
    "one bin": lambda: tm.auc([0, 1], [0.1, 0.2], bounded=1),
    "an unknown multiclass": lambda: tm.auc([0, 1], [0.1, 0.2], multiclass="ovx"),
    "an unknown average of scores": lambda: tm.auc([0, 1], [0.1, 0.2], average="micro"),
    "normalize with one score": lambda: tm.auc([0, 1], [0.1, 0.9], normalize=True),
    "states of other classes of columns": lambda: _scores([0, 1, 2]) + _scores([0, 1, 5]),
    "states of scores of numbers and strings": lambda: _scores([0, 1, 2]) + _scores(["a", "b", "c"]),
    # curves and thresholds
    "a curve of several classes": lambda: tm.roc_curve(["a", "b", "c"], np.eye(3)),
    "a curve of labels": lambda: tm.pr_curve([0, 1], [0, 1], kind="label"),
    "a curve that drops some": lambda: tm.roc_curve([0, 1], [0.1, 0.9], drop="some"),
    "a curve of one class": lambda: tm.det_curve([1, 1], [0.1, 0.9], undefined="raise"),
    "a column that a curve does not have": lambda: tm.roc_curve([0, 1], [0.1, 0.9])["precision"],
    "columns of two lengths": lambda: tm.Curve("curve", {"x": [1.0], "y": [1.0, 2.0]}),
    "a threshold table of numbers": lambda: tm.ThresholdTable(metrics=["recall", "rmse"]),
    "a threshold table of nothing": lambda: tm.ThresholdTable(metrics=3),
    "a threshold in a threshold table": lambda: _table()["accuracy(threshold=0.3)"],
    "a metric with several values": lambda: _table().values("recall(average=None)"),
    "an unknown metric in a table": lambda: _table()["xyzzy"],
    "the best of two things": lambda: _table().best("recall", cost={"fp": 1}),
    "a cost of something else": lambda: _table().best(cost={"fp": 1, "misses": 5}),
    "a cost that is no number": lambda: _table().best(cost={"fp": "much"}),
    "a best threshold by two things": lambda: tm.BestThreshold(metric="recall", fp=2),
    "a best threshold of a curve": lambda: tm.best_threshold([0, 1], [0.1, 0.9], metric="roc_curve"),
    "no best threshold": lambda: tm.threshold_table([0, 0], [0.1, 0.9]).best("recall"),
    # probabilities
    "log loss of labels": lambda: tm.logloss([0, 1], [0, 1]),
    "log loss of strings": lambda: tm.logloss(["a", "b"], ["a", "b"]),
    "log loss of kind label": lambda: tm.logloss([0, 1], [0.1, 0.9], kind="label"),
    "log loss of scores": lambda: tm.logloss([0, 1], [0.1, 0.9], kind="score"),
    "log loss of values": lambda: tm.brier([0, 1], [0.1, 0.9], kind="value"),
    "log loss of columns of whole numbers": lambda: tm.logloss([0, 1], [[0, 1], [1, 0]]),
    "log loss above 1": lambda: tm.logloss([0, 1, 1], [0.2, 2.0, 3.0]),
    "log loss of NaN": lambda: tm.logloss([0, 1], [0.2, NAN]),
    "log loss of an infinite margin": lambda: tm.ece([0, 1], [0.2, INF], kind="margin"),
    "log loss of NaN in columns": lambda: tm.logloss([0, 1], [[0.2, 0.8], [NAN, 1.0]]),
    "log loss of columns above 1": lambda: tm.logloss([0, 1], [[0.4, 1.6], [0.5, 0.5]]),
    "log loss of rows that do not sum to 1": lambda: tm.logloss(
        [0, 1, 2], [[0.2, 0.8, 0.0], [0.2, 0.7, 0.0], [1, 0, 0]]
    ),
    "log loss of a row that is zero": lambda: tm.logloss([0, 1], [[0.2, 0.8], [0.0, 0.0]], normalize=True),
    "log loss of three classes in one column": lambda: tm.logloss([0, 1, 2], [0.2, 0.7, 0.1]),
    "log loss without a positive class": lambda: tm.logloss(["a", "b"], [0.2, 0.7]),
    "log loss of columns in pieces": lambda: tm.Tally(["logloss"]).update([0, 1], [[0.2, 0.8], [0.2, 0.8]]),
    "log loss of a table of truth": lambda: tm.logloss([[0, 1], [1, 0]], [[0.2, 0.8], [0.2, 0.8]]),
    "log loss of fractions above 1": lambda: tm.logloss([0.5, 1.5], [0.2, 0.7]),
    "a fraction as a truth": lambda: tm.brier([0.0, 0.5], [0.2, 0.7]),
    "a fraction as a truth in a tally": lambda: tm.Tally(["brier"]).update([0.0, 0.5], [0.2, 0.7]).report()["brier"],
    "normalize of one column of probabilities": lambda: tm.brier([0, 1], [0.2, 0.7], normalize=True),
    "clip of a half": lambda: tm.logloss([0, 1], [0.2, 0.7], clip=0.5),
    "no bins": lambda: tm.ece([0, 1], [0.2, 0.7], bins=0),
    "a million bins": lambda: tm.ece([0, 1], [0.2, 0.7], bins=10**6),
    "bins by another strategy": lambda: tm.ece([0, 1], [0.2, 0.7], strategy="quantile"),
    # clusters
    "fractional weights that add up": lambda: tm.adjusted_rand([0, 0, 1, 1], [0, 0, 1, 0], weights=[0.5, 0.5, 1, 1]),
    "fractional weights of pairs": lambda: tm.adjusted_rand([0, 1], [0, 1], weights=[0.5, 1]),
    "fractional weights of points": lambda: tm.silhouette([[0], [1], [2]], [0, 0, 1], weights=[0.5, 1, 1]),
    "clusters with two columns": lambda: tm.adjusted_rand([[0, 1], [1, 1]], [0, 1]),
    "clusters as probabilities": lambda: tm.rand_index([0, 1], [0.5, 0.2], kind="probability"),
    "points with NaN": lambda: tm.silhouette([[0.0], [NAN], [2.0]], [0, 0, 1]),
    "points that are strings": lambda: tm.silhouette(["a", "b", "c"], [0, 0, 1]),
    "an unknown norm": lambda: tm.normalized_mutual_information([0, 1], [0, 1], norm="mean"),
    # rankings
    "a ranking without queries": lambda: tm.ndcg([1, 0], [0.2, 0.1]),
    "queries with tables": lambda: tm.ndcg([[1, 0]], [[0.2, 0.1]], query=[1]),
    "too few queries": lambda: tm.ndcg([1, 0], [0.2, 0.1], query=[1]),
    "queries of two columns": lambda: tm.ndcg([1, 0], [0.2, 0.1], query=[[1, 2], [1, 3]]),
    "a single query": lambda: tm.ndcg([1, 0], [0.2, 0.1], query="a"),
    "a missing query": lambda: tm.ndcg([1, 0], [0.2, 0.1], query=["a", None]),
    "objects as queries": lambda: tm.ndcg([1, 0], [0.2, 0.1], query=[object, object]),
    "queries that are not UTF-8": lambda: tm.ndcg([1, 0], [0.2, 0.1], query=np.array([b"\xff", b"a"])),
    "queries by another name": lambda: tm.ndcg([1, 0], [0.2, 0.1], qid=[1, 1]),
    "queries as a parameter": lambda: tm.Ndcg(query=[1, 1]),
    "a negative relevance": lambda: tm.map([1, 0, -2], [0.3, 0.2, 0.1], query=[1, 1, 1]),
    "a negative relevance in a table": lambda: tm.map([[1, 0], [1, -1]], [[0.3, 0.2]] * 2),
    "relevances as strings": lambda: tm.map(["a", "b"], [0.3, 0.2], query=[1, 1]),
    "a relevance that is too high for 2^r": lambda: tm.ndcg([1, 2e3], [0.3, 0.2], query=[1, 1], gain="exp"),
    "a relevance that is too high in a tally": lambda: (
        tm.Tally(["ndcg(gain=exp)"]).update([1, 2e3], [0.3, 0.2], query=[1, 1]).report()["ndcg(gain=exp)"]
    ),
    "NaN among scores": lambda: tm.mrr([1, 0], [0.3, NAN], query=[1, 1]),
    "scores beyond float64": lambda: tm.mrr([1, 0], [2**60, 2**60 + 1], query=[1, 1]),
    "scores as labels": lambda: tm.mrr([1, 0], [1, 0], query=[1, 1], kind="label"),
    "weights that differ within a query": lambda: tm.mrr([1, 0], [1, 0], query=["a", "a"], weights=[1, 2]),
    "tables of other widths": lambda: tm.recall_at([[1, 0]], [[1, 0, 2]]),
    "first rows of zero": lambda: tm.recall_at([1, 0], [1, 0], query=[1, 1], k=0),
    "half a row": lambda: tm.ndcg([1, 0], [1, 0], query=[1, 1], k=1.5),
    "an unknown gain": lambda: tm.ndcg([1, 0], [1, 0], query=[1, 1], gain="log"),
    "ties of another kind": lambda: tm.mrr([1, 0], [1, 0], query=[1, 1], ties="first"),
    "absent queries": lambda: tm.mrr([1, 0], [1, 0], query=[1, 1], absent="zero"),
    "rankings in row order, in pieces": lambda: (
        tm.Tally(["mrr(ties=stable)"]).update([1], [1], query=[1]).update([1], [1], query=[1])
    ),
    "no relevant row, raised": lambda: tm.mrr([0, 0], [1, 0], query=[1, 1], undefined="raise"),
    # comparing models
    "models in a list": lambda: tm.compare(Y, [P, P], ["rmse"]),
    "a single model": lambda: tm.compare(Y, {"a": P}, ["rmse"]),
    "a model without a name": lambda: tm.compare(Y, {"a": P, 2: P}, ["rmse"]),
    "a baseline that is no model": lambda: tm.compare(Y, {"a": P, "b": Y}, ["rmse"], baseline="c"),
    "an unknown correction": lambda: tm.compare(Y, {"a": P, "b": Y}, ["rmse"], correction="sidak"),
    "a level of a comparison": lambda: tm.compare(Y, {"a": P, "b": Y}, ["rmse"], ci=None),
    "too few resamples of a comparison": lambda: tm.compare(Y, {"a": P, "b": Y}, ["rmse"], resamples=10),
    "a model of another length": lambda: tm.compare(Y, {"a": P, "b": P[:2]}, ["rmse"]),
    "NaN in a model": lambda: tm.compare(Y, {"a": P, "b": [1.0, NAN, 2.0]}, ["rmse"]),
    "NaN in the truth of models": lambda: tm.compare([1.0, NAN, 2.0], {"a": P, "b": Y}, ["rmse"]),
    "no rows to compare": lambda: tm.compare([], {"a": [], "b": []}, ["rmse"]),
    "all rows of models dropped": lambda: tm.compare([1.0, 2.0], {"a": [NAN, 1.0], "b": [1.0, NAN]}, missing="drop"),
    "clusters of another length": lambda: tm.compare(Y, {"a": P, "b": Y}, ["rmse"], cluster=[1]),
    "a comparison of tables": lambda: tm.compare([0, 1], {"a": [0, 1], "b": [1, 1]}, ["confusion_matrix"]),
    "a comparison of all classes": lambda: tm.compare([0, 1], {"a": [0, 1], "b": [1, 1]}, ["recall(average=none)"]),
    "a comparison of all outputs": lambda: tm.compare(
        np.ones((3, 2)), {"a": np.ones((3, 2)), "b": np.zeros((3, 2))}, ["rmse(outputs=each)"]
    ),
    "a comparison of groups": lambda: tm.compare([0, 1], {"a": [0, 1], "b": [1, 1]}, ["demographic_parity"]),
    "groups of models and a baseline": lambda: tm.compare(Y, {"a": P, "b": Y}, ["rmse"], baseline="a").groups("rmse"),
    # conditions
    "a condition that ends too soon": lambda: tm.accept({"r2": 0.5}, "r2 > 0.8 and"),
    "a condition without a comparison": lambda: tm.accept({"r2": 0.5}, "r2"),
    "a sign of another language": lambda: tm.accept({"r2": 0.5}, "r2 ≥ 0.8"),
    "arithmetic in a condition": lambda: tm.accept({"r2": 0.5}, "r2 - 0.1 > 0.8"),
    "a limit that is not finite": lambda: tm.accept({"r2": 0.5}, "r2 < inf"),
    "a limit beyond float64": lambda: tm.accept({"r2": 0.5}, "r2 < 1e400"),
    "two numbers compared": lambda: tm.accept({"r2": 0.5}, "0.5 > 0.2"),
    "a metric compared with itself": lambda: tm.accept({"r2": 0.5}, "r2 >= r2"),
    "a suffix that no metric has": lambda: tm.accept({"r2": 0.5}, "r2.low > 0.8"),
    "too deep a condition": lambda: tm.accept({"r2": 0.5}, "(" * 60),
    "too long a condition": lambda: tm.accept({"r2": 0.5}, "(" * 100_000),
    "a blank condition": lambda: tm.accept({"r2": 0.5}, " "),
    "no conditions": lambda: tm.accept({"r2": 0.5}, []),
    "a condition that is no text": lambda: tm.accept({"r2": 0.5}, 0.8),
    "a condition among others that is no text": lambda: tm.accept({"r2": 0.5}, ["r2 > 0", None]),
    "acceptance of a tally": lambda: tm.accept(tm.Tally(["r2"]), "r2 > 0.8"),
    "a condition on a misspelt metric": lambda: tm.accept(tm.evaluate(Y, P, ["rmse", "mae"]), "rsme < 5"),
    "a condition on a metric that is not there": lambda: tm.accept(tm.evaluate(Y, P, ["rmse"]), "huber(delta=2) < 5"),
    "a condition with a wrong parameter": lambda: tm.accept(tm.evaluate(Y, P, ["mae"]), "huber(beta=2) < 5"),
    "a condition on a table": lambda: tm.accept(tm.evaluate([0], [0], ["confusion_matrix"]), "confusion_matrix > 1"),
    "a condition on all classes": lambda: tm.accept({"recall": {"cat": 0.5, "dog": 0.6}}, "recall > 0.5"),
    "a condition on an unknown class": lambda: tm.accept({"recall": {"cat": 0.5, "dog": 0.6}}, "recall[cow] > 0.5"),
    "a condition on a class of one number": lambda: tm.accept({"recall": 0.5}, "recall[cow] > 0.5"),
    "a condition on an interval of a mapping": lambda: tm.accept({"r2": 0.5}, "r2.lo > 0.8"),
    "a condition on intervals that are not there": lambda: tm.accept(tm.evaluate(Y, P, ["r2"]), "r2.lo > 0.8"),
    "a condition on slices that are not there": lambda: tm.accept(tm.evaluate(Y, P, ["r2"]), "r2.worst > 0.8"),
    "a condition on the slices of a comparison of groups": lambda: tm.accept(
        tm.evaluate([1, 0], [1, 0], ["gap(recall)"], by=["a", "b"]), "gap(recall).worst > 0.8"
    ),
    "a condition on a text": lambda: tm.accept({"r2": "0.5"}, "r2 > 0.8"),
    "a percentage of another unit": lambda: tm.accept(tm.evaluate(Y, P, ["rmse"]), "rmse < 5%"),
    "not accepted": lambda: tm.accept({"r2": 0.5, "mae": NAN}, "r2 > 0.8 and mae < 5").require(),
    # custom metrics
    "a custom name": lambda: tm.custom(lambda y, p, w: 0.0),
    "a custom name that is taken": lambda: tm.custom(lambda y, p, w: 0.0, name="rmse"),
    "a custom direction": lambda: tm.custom(lambda y, p, w: 0.0, name="zero", better="big"),
    "a custom kind": lambda: tm.custom(lambda y, p, w: 0.0, name="zero", kind="big"),
    "no function": lambda: tm.custom(3, name="three"),
    "a custom value": lambda: tm.custom(lambda y, p, w: "high", name="wordy")(Y, P),
    "a custom parameter": lambda: tm.custom(lambda y, p, w: 0.0, name="zero")(Y, P, beta=2),
    # states and bytes
    "states of other terms": lambda: SumsOf(Term("squared_error")).zero() + SumsOf(Term("absolute_error")).zero(),
    "a term without its parameter": lambda: SumsOf(Term("huber")),
    "a term with too many": lambda: SumsOf(Term("squared_error", (1.0,))),
    "an unknown term": lambda: SumsOf(Term("cubed_error")),
    "bytes of something else": lambda: tm.State.from_bytes(b"hello world" * 10),
    "damaged bytes": lambda: tm.State.from_bytes(_damaged()),
    "bytes of a newer release": lambda: tm.State.from_bytes(b"TMST\x63\x00" + bytes(80)),
    "text where bytes are wanted": lambda: tm.State.from_bytes("TMST"),
    "a state where a tally is wanted": lambda: tm.Tally.from_bytes(SumsOf().zero().to_bytes()),
    # groups
    # intervals
    "a level in percent": lambda: tm.evaluate(Y, P, ["rmse"], ci=95),
    "a level of 1": lambda: tm.evaluate(Y, P, ["rmse"], ci=1.0),
    "a level that is True": lambda: tm.evaluate(Y, P, ["rmse"], ci=True),
    "an unknown method of intervals": lambda: tm.evaluate(Y, P, ["rmse"], ci=0.95, ci_method="bca"),
    "too few resamples": lambda: tm.evaluate(Y, P, ["rmse"], ci=0.95, resamples=10),
    "half a resample": lambda: tm.evaluate(Y, P, ["rmse"], ci=0.95, resamples=99.5),
    "a negative seed": lambda: tm.evaluate(Y, P, ["rmse"], ci=0.95, seed=-1),
    "a seed that is no number": lambda: tm.evaluate(Y, P, ["rmse"], ci=0.95, seed=None),
    "keys without intervals": lambda: tm.evaluate(Y, P, ["rmse"], keys=[1, 2, 3]),
    "keys in a tally without intervals": lambda: tm.Tally(["rmse"]).update(Y, P, keys=[1, 2, 3]),
    "keys twice": lambda: tm.evaluate(Y, P, ["r2"], ci=0.95, keys=["a", "b", "a"]),
    "too few keys": lambda: tm.evaluate(Y, P, ["r2"], ci=0.95, keys=[1, 2]),
    "keys for some rows": lambda: tm.Tally(["r2"], ci=0.95).update(Y, P).update(Y, P, keys=[1, 2, 3]),
    "clusters for some rows": lambda: tm.Tally(["r2"], ci=0.95).update(Y, P, keys=Y).update(Y, P, cluster=Y),
    "tallies with other intervals": lambda: tm.Tally(["r2"], ci=0.95) + tm.Tally(["r2"], ci=0.9),
    "too many resamples in a tally": lambda: tm.Tally(["r2"], ci=0.95, resamples=20_000),
    "clusters without intervals": lambda: tm.evaluate(Y, P, ["rmse"], cluster=[1, 1, 2]),
    "too few clusters": lambda: tm.evaluate(Y, P, ["rmse"], ci=0.95, cluster=[1, 1]),
    "a cluster that is missing": lambda: tm.evaluate(Y, P, ["rmse"], ci=0.95, cluster=[1.0, NAN, 2.0]),
    "clusters of fractions": lambda: tm.evaluate(Y, P, ["r2"], ci=0.95, cluster=[1.5, 1.5, 2.0]),
    "two columns of clusters": lambda: tm.evaluate(Y, P, ["r2"], ci=0.95, cluster=np.ones((3, 2))),
    "clusters that cut queries": lambda: tm.evaluate(
        [1, 0, 1], P, ["ndcg"], query=[1, 1, 2], ci=0.95, cluster=[1, 2, 2]
    ),
    "by a name": lambda: tm.evaluate(Y, P, ["rmse"], by="sex"),
    "by nothing": lambda: tm.evaluate(Y, P, ["rmse"], by={}),
    "by a table without names": lambda: tm.evaluate(Y, P, ["rmse"], by=np.ones((3, 2))),
    "by too few rows": lambda: tm.evaluate(Y, P, ["rmse"], by=["a"]),
    "by fractions": lambda: tm.evaluate(Y, P, ["rmse"], by=[0.5, 1.0, 1.5]),
    "by a column with a hole": lambda: tm.evaluate(Y, P, ["rmse"], by={"a": [1, 2, 1], "b": ["x", None, "y"]}),
    "by columns without names": lambda: tm.evaluate(Y, P, ["rmse"], by={None: [1, 2, 1]}),
    "too small a smallest group": lambda: tm.evaluate(Y, P, ["rmse"], by=[1, 2, 1], min_rows=0),
    "a gap without groups": lambda: tm.evaluate(Y, P, ["gap(rmse)"])["gap(rmse)"],
    "a gap called without groups": lambda: tm.gap("rmse")(Y, P),
    "a gap of nothing": lambda: tm.gap(),
    "a gap of a gap": lambda: tm.gap(tm.gap("rmse")),
    "a gap of a table": lambda: tm.gap("confusion_matrix")([0, 1], [0, 1], by=[1, 2]),
    "a gap of classes": lambda: tm.gap("recall(average=None)")([0, 1], [0, 1], by=[1, 2]),
    "the worst of what has no worst": lambda: tm.worst("selection_rate")([0, 1], [0, 1], by=[1, 2]),
    "the worst of two": lambda: tm.worst("recall", "precision")([0, 1, 1], [1, 1, 1], by=[1, 2, 1]),
    "a gap in a tally": lambda: tm.Tally(["gap(rmse)"]),
    "a group that is not there": lambda: tm.evaluate(Y, P, ["rmse"], by=[1, 2, 1]).slices[3],
    "no group is large enough": lambda: tm.evaluate(Y, P, ["rmse"], by=[1, 2, 1], min_rows=9).slices.gap("rmse"),
    # guidance
    "explaining an unknown metric": lambda: tm.explain("rsme"),
    "explaining a parameter that is not there": lambda: tm.explain("rmse", beta=2),
    "explaining a function": lambda: tm.explain(len),
    "placing a value outside the range": lambda: tm.explain("auc").place(1.5),
    "placing a word": lambda: tm.explain("auc").place("high"),
    "an unknown task": lambda: tm.choose("regresion"),
    "a task that is no word": lambda: tm.choose(["regression"]),
    "answers without a task": lambda: tm.choose(outliers=True),
    "a question that is misspelt": lambda: tm.choose("regression", outlier=True),
    "a question of another task": lambda: tm.choose("regression", imbalanced=True),
    "a question that nobody asks": lambda: tm.choose("clustering", colour="red"),
    "an answer that is neither yes nor no": lambda: tm.choose("regression", outliers="maybe"),
    "an answer that is none of the words": lambda: tm.choose("classification", costs=True),
}


def _table() -> tm.Thresholds:
    return tm.threshold_table([0, 1], [0.1, 0.9])


def _damaged() -> bytes:
    data = bytearray(Sums(SumsOf(), None, 0, 0, 0, ()).to_bytes())
    data[30] ^= 1
    return bytes(data)


def _scores(y: list[object]) -> Scores:
    return ScoresOf().fold(Batch(y, np.eye(3)))


def _messages() -> str:
    lines = []
    registry.functions.clear()  # what other tests wrapped would show in a message
    for name, call in CASES.items():
        try:
            result = call()
            lines.append(f"{name}\n    no error: {result!r}\n")
        except Exception as error:
            lines.append(f"{name}\n    {type(error).__name__}: {error}\n")
    registry.functions.clear()
    return "\n".join(lines)


def test_every_message_reads_as_agreed():
    """Compared with the reviewed wording."""
    assert _messages() == FILE.read_text()


def test_every_error_is_one_of_ours():
    """One base class catches them all, and it is a ValueError; a missing key of a mapping is a KeyError."""
    for call in CASES.values():
        with pytest.raises((tm.TallymarkError, KeyError)):
            call()


if __name__ == "__main__":
    FILE.write_text(_messages())
