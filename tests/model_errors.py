"""Comparisons, conditions, functions, bytes, intervals and questions that are refused, by name."""

from __future__ import annotations

import numpy as np

import tallymark as tm
from tallymark.states.sums import Sums, SumsOf, Term

Y, P = [1.0, 2.0, 3.0], [1.0, 2.0, 4.0]
NAN, INF = float("nan"), float("inf")


class _Fitted:
    def predict(self, rows):
        return P


CASES = {
    # comparing models
    "models in a list": lambda: tm.compare(Y, [P, P], ["rmse"]),
    "fitted models": lambda: tm.compare(Y, {"a": _Fitted(), "b": P}, ["rmse"]),
    "reports as models": lambda: tm.compare(Y, tm.evaluate(Y, P, ["rmse"]), ["rmse"]),
    "a column name as models": lambda: tm.compare({"y": Y, "p": P}, "y", ["p"]),
    "a single model": lambda: tm.compare(Y, {"a": P}, ["rmse"]),
    "a model without a name": lambda: tm.compare(Y, {"a": P, 2: P}, ["rmse"]),
    "a baseline that is no model": lambda: tm.compare(Y, {"a": P, "b": Y}, ["rmse"], baseline="c"),
    "an unknown correction": lambda: tm.compare(Y, {"a": P, "b": Y}, ["rmse"], correction="sidak"),
    "a level of a comparison": lambda: tm.compare(Y, {"a": P, "b": Y}, ["rmse"], ci=None),
    "too few resamples of a comparison": lambda: tm.compare(
        Y, {"a": P, "b": Y}, ["rmse"], ci=tm.Intervals(resamples=10)
    ),
    "a model as truth": lambda: tm.evaluate(_Model(), Y, P),
    "a name as a model": lambda: tm.evaluate_model("model", Y, P),
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
    # files
    "a report in a file of no known kind": lambda: tm.evaluate(Y, P, ["rmse"]).save("report.txt"),
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
    "a condition on a group in brackets": lambda: tm.accept(
        tm.evaluate([1, 0, 1], [1, 1, 1], ["recall"], by=["f", "f", "m"]), "recall[f] > 0.5"
    ),
    "the interval of the worst group": lambda: tm.accept({"auc": 0.5}, "auc.lo.worst > 0.8"),
    "a percentage without its sign": lambda: tm.accept(tm.evaluate([1, 0], [1, 1], ["error_rate"]), "error_rate < 20"),
    "a limit that no value reaches": lambda: tm.accept(tm.evaluate(Y, P, ["r2", "rmse"]), "not 1.5 > r2"),
    "a limit of rows that nothing reaches": lambda: tm.accept(tm.evaluate(Y, P, ["r2"]), "r2.n > -1"),
    "refused": lambda: tm.accept({"r2": 0.5, "mae": NAN}, "r2 > 0.8 and mae < 5").require(),
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
    "bytes of something else": lambda: tm.extend.State.from_bytes(b"hello world" * 10),
    "damaged bytes": lambda: tm.extend.State.from_bytes(_damaged()),
    "bytes of a newer release": lambda: tm.extend.State.from_bytes(b"TMST\x63\x00" + bytes(80)),
    "text where bytes are wanted": lambda: tm.extend.State.from_bytes("TMST"),
    "a state where a tally is wanted": lambda: tm.Tally.from_bytes(SumsOf().zero().to_bytes()),
    # groups
    # intervals
    "a level in percent": lambda: tm.evaluate(Y, P, ["rmse"], ci=95),
    "a level of 1": lambda: tm.evaluate(Y, P, ["rmse"], ci=1.0),
    "a level that is True": lambda: tm.evaluate(Y, P, ["rmse"], ci=True),
    "an unknown method of intervals": lambda: tm.evaluate(Y, P, ["rmse"], ci=tm.Intervals(method="bca")),
    "too few resamples": lambda: tm.evaluate(Y, P, ["rmse"], ci=tm.Intervals(resamples=10)),
    "half a resample": lambda: tm.evaluate(Y, P, ["rmse"], ci=tm.Intervals(resamples=99.5)),
    "a negative seed": lambda: tm.evaluate(Y, P, ["rmse"], ci=tm.Intervals(seed=-1)),
    "a seed that is no number": lambda: tm.evaluate(Y, P, ["rmse"], ci=tm.Intervals(seed=None)),
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
    "by a list of columns": lambda: tm.evaluate(Y, P, ["rmse"], by=[["f", "m", "f"], ["north", "south", "north"]]),
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
    "a choice in the place of its metrics": lambda: tm.evaluate(Y, P, tm.choose("regression")),
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
    "keys without intervals": lambda: tm.evaluate(Y, P, ["rmse"], keys=[1, 2, 3]),
    "keys in a tally without intervals": lambda: tm.Tally(["rmse"]).update(Y, P, keys=[1, 2, 3]),
    "keys twice": lambda: tm.evaluate(Y, P, ["r2"], ci=0.95, keys=["a", "b", "a"]),
    "too few keys": lambda: tm.evaluate(Y, P, ["r2"], ci=0.95, keys=[1, 2]),
    "keys for some rows": lambda: tm.Tally(["r2"], ci=0.95).update(Y, P).update(Y, P, keys=[1, 2, 3]),
    "clusters for some rows": lambda: tm.Tally(["r2"], ci=0.95).update(Y, P, keys=Y).update(Y, P, cluster=Y),
    "tallies with other intervals": lambda: tm.Tally(["r2"], ci=0.95) + tm.Tally(["r2"], ci=0.9),
    "too many resamples in a tally": lambda: tm.Tally(["r2"], ci=tm.Intervals(resamples=20_000)),
}


def _damaged() -> bytes:
    data = bytearray(Sums(SumsOf(), None, 0, 0, 0, ()).to_bytes())
    data[30] ^= 1
    return bytes(data)


class _Model:
    def __repr__(self) -> str:
        return "Model()"

    def predict(self, X: object) -> list[float]:  # noqa: N803 - as theirs
        return P
