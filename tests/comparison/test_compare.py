"""compare: several models on the same rows, pair by pair in every metric."""

from __future__ import annotations

import json
import math

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.metrics import recall_score, roc_auc_score
from tests.comparison_rows import ALL, MODELS, RESAMPLES, Y, scores

import tallymark as tm
from tallymark.comparison.difference import largest_difference


@pytest.fixture(scope="module")
def found():
    return tm.compare(Y, MODELS, ALL, ci=tm.Intervals(resamples=RESAMPLES))


def test_values_are_those_of_evaluate(found):
    """Each model has the report that evaluate gives, and differences are between them."""
    for name, p in MODELS.items():
        report = tm.evaluate(Y, p, ALL)
        assert dict(found.reports[name]) == dict(report)
    for d in found:
        assert d.value == found.reports[d.second][d.metric] - found.reports[d.first][d.metric]


def test_every_pair_is_compared_once_in_every_metric(found):
    """In the order of the models, each once; a lookup takes them either way round and any name of the metric."""
    assert [(d.first, d.second) for d in found][:3] == [("a", "b"), ("a", "c"), ("b", "c")]
    assert len(found) == 3 * len(ALL)
    there, back = found[("a", "b"), "auc"], found[("b", "a"), "roc_auc"]
    assert (there.value, there.lo, there.hi) == (-back.value, -back.hi, -back.lo)
    assert (there.p, there.winner) == (back.p, back.winner)
    assert found[("a", "b"), "f1"].metric == "fscore"
    for wrong in ((("a", "z"), "auc"), (("a", "b"), "rmse"), "auc", (("a", "b", "c"), "auc")):
        with pytest.raises(KeyError):
            found[wrong]


@pytest.mark.parametrize("table", [pd.DataFrame, pl.DataFrame, pa.table])
def test_the_columns_of_a_table_are_the_models(table):
    """Its columns are the models."""
    assert list(tm.compare(Y, table(MODELS), ["auc"])) == list(tm.compare(Y, MODELS, ["auc"]))


def test_a_model_does_not_differ_from_itself():
    """No difference, p = 1 and the reason; no interval of zero width."""
    found = tm.compare(Y, {"a": MODELS["a"], "again": MODELS["a"].copy()}, ALL, ci=tm.Intervals(resamples=RESAMPLES))
    for d in found:
        assert (d.value, d.p, d.p_corrected, d.winner) == (0.0, 1.0, 1.0, None)
        assert math.isnan(d.lo)
        assert d.reason == "the models predict the same in every row"
        assert str(d) == f"{d.name}: no difference between again and a: the models predict the same in every row"
    assert found.groups("auc") == {"a": "a", "again": "a"}


def test_models_that_differ_only_in_scale():
    """Have the same order and so the same area, and other probabilities."""
    found = tm.compare(
        Y, {"a": MODELS["a"], "half": MODELS["a"] / 2}, ["auc", "logloss"], ci=tm.Intervals(resamples=RESAMPLES)
    )
    d = found[("a", "half"), "auc"]
    assert (d.value, d.p) == (0.0, 1.0)
    assert d.reason == "both models rank the rows alike"
    assert found[("a", "half"), "logloss"].winner == "a"


def test_the_order_of_the_models_only_turns_signs():
    """compare(a, b) is −compare(b, a), to the last bit."""
    there = tm.compare(Y, {"a": MODELS["a"], "b": MODELS["b"]}, ALL, ci=tm.Intervals(resamples=RESAMPLES))
    back = tm.compare(Y, {"b": MODELS["b"], "a": MODELS["a"]}, ALL, ci=tm.Intervals(resamples=RESAMPLES))
    for one, other in zip(there, back, strict=True):
        assert one == other.flipped()


def test_another_model_changes_no_test_of_a_pair():
    """Only what is corrected for the number of pairs."""
    two = tm.compare(Y, {"a": MODELS["a"], "b": MODELS["b"]}, ALL, ci=tm.Intervals(resamples=RESAMPLES))
    three = tm.compare(Y, MODELS, ALL, ci=tm.Intervals(resamples=RESAMPLES), correction="holm")
    for d in two:
        more = three[("a", "b"), d.metric]
        assert more._replace(p_corrected=d.p_corrected, detectable=d.detectable, correction=None) == d
        assert more.detectable > d.detectable or math.isnan(d.detectable)
        assert more.p_corrected >= d.p_corrected == d.p


def test_the_same_on_any_number_of_threads():
    """And with the same seed; another seed draws other resamples."""
    before = tm.get_threads()
    y, models = scores(20_000, seed=9)
    try:
        runs, joint, metrics = [], [], ["accuracy", "auc", "brier"]
        for threads in (1, 2):
            tm.set_threads(threads)
            runs.append(list(tm.compare(y, models, metrics, ci=tm.Intervals(resamples=119), correction="holm")))
            joint.append(list(tm.compare(y, models, metrics, ci=tm.Intervals(resamples=119))))
    finally:
        tm.set_threads(before)
    assert runs[0] == runs[1]
    assert joint[0] == joint[1]
    other = list(tm.compare(y, models, metrics, ci=tm.Intervals(resamples=119, seed=1), correction="holm"))
    assert [d for d in other if d.metric != "brier"] == [d for d in runs[0] if d.metric != "brier"]
    assert [d for d in other if d.metric == "brier"] != [d for d in runs[0] if d.metric == "brier"]


def test_undefined_values_say_why_and_rank_last():
    """Say why, rank last, have no letter, and count as tests that find nothing."""
    y = [1, 1, 0, 0] * 5
    never, some = [0] * 20, [1, 0, 0, 1] * 5
    models = {"never": never, "some": some, "other": [1, 1, 0, 1] * 5}
    found = tm.compare(y, models, ["precision"], ci=tm.Intervals(resamples=RESAMPLES), correction="holm")
    d = found[("never", "some"), "precision"]
    assert math.isnan(d.p)
    assert d.reason == "never: no row was predicted positive"
    assert list(found.ranking("precision"))[-1] == "never"
    assert found.groups("precision")["never"] == ""
    assert found[("some", "other"), "precision"].p_corrected == 3 * found[("some", "other"), "precision"].p
    assert str(d) == (
        "precision: the difference between some and never is undefined: never: no row was predicted positive"
    )
    assert "undefined" in str(found)
    json.loads(found.to_json())


def test_differences_are_those_of_scikit_learn():
    """Differences are those of scikit-learn's values."""
    found = tm.compare(Y, MODELS, ["auc", "recall"])
    expected = roc_auc_score(Y, MODELS["b"]) - roc_auc_score(Y, MODELS["a"])
    assert found[("a", "b"), "auc"].value == pytest.approx(expected, abs=1e-12)
    said = [recall_score(Y, MODELS[name] >= 0.5) for name in "ab"]
    assert found[("a", "b"), "recall"].value == pytest.approx(said[1] - said[0], abs=1e-12)


def test_metrics_that_are_no_number_are_refused():
    """A table, a curve or a value per class cannot be compared as one."""
    for metric in ("confusion_matrix", "recall(average=None)", "roc_curve"):
        with pytest.raises(tm.ParameterError, match="one number each"):
            tm.compare(Y, MODELS, [metric])


@pytest.mark.slow
def test_resamples_are_as_many_as_the_pairs_need():
    """With eight models there are 28 pairs: the smallest p-value that resamples can have must outlast the correction.
    So few that no difference could ever be shown are refused."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 90)
    models = {f"m{k}": np.where(rng.random(90) < 0.1 + 0.12 * k, y, rng.integers(0, 3, 90)) for k in range(8)}
    found = tm.compare(y, models, ["fscore(average=macro)"], correction="holm")
    assert found.settings.resamples == 2238
    assert found[("m0", "m7"), "fscore(average=macro)"].significant
    with pytest.raises(tm.ParameterError, match=r"from 1,119 to .* for level=0.95 and 28 pairs of models; got 1000"):
        tm.compare(y, models, ["fscore(average=macro)"], ci=tm.Intervals(resamples=1000), correction="holm")
    for fewer in ({"baseline": "m0", "correction": "holm"}, {"correction": "none"}, {"correction": "max-t"}):
        assert tm.compare(y, models, ["accuracy"], **fewer).settings.resamples == 1000
    assert "resamples=" not in found.to_markdown()
    assert "resamples=1500" in tm.compare(y, models, ["accuracy"], ci=tm.Intervals(resamples=1500)).to_markdown()


def test_a_high_level_needs_no_more_than_it_is_told():
    """What has a formula is not resampled, and what has none is resampled as often as the level needs."""
    y, p = np.arange(60) % 2, np.arange(60) % 3 % 2
    assert tm.evaluate(y, p, ["accuracy"], ci=0.999).interval.resamples == 3998
    assert tm.evaluate(y, p, ["accuracy"], ci=0.99).interval.resamples == 1000
    with pytest.raises(tm.ParameterError, match="from 1,999"):
        tm.evaluate(y, p, ["accuracy"], ci=tm.Intervals(0.999, resamples=1000))


def test_what_is_resampled_needs_the_order_of_rows():
    """And a report says so, of intervals and of comparisons; a formula needs none."""
    y, p, other = np.arange(60) % 7, np.arange(60) % 5, np.arange(60) % 4
    said = "Bootstrap intervals also need the same order"
    drawn, formula = (tm.evaluate(y, p, [name], ci=0.95).to_markdown() for name in ("r2", "rmse"))
    assert f"{said}, unless" in drawn
    assert said not in formula
    assert f"{said}." in tm.compare(y, {"a": p, "b": other}, ["r2"]).to_markdown()
    assert said not in tm.compare(y % 2, {"a": p % 2, "b": other % 2}, ["accuracy"]).to_markdown()


def test_no_difference_is_larger_than_the_metric_allows():
    """Few rows reach far; shares are at most 1 apart, correlations 2, distances from a coverage of 0.9 as much."""
    rng = np.random.default_rng(5)
    reached = set()
    for n in (6, 8, 12):
        for _ in range(12):
            y = rng.permutation([0, 1, 0, 1, *rng.integers(0, 2, n - 4).tolist()])
            models = {"a": y ^ (rng.random(n) < 0.2), "b": y ^ (rng.random(n) < 0.8)}
            found = tm.compare(
                y, models, ["fscore", "mcc"], ci=tm.Intervals(0.99, resamples=199), weights=rng.random(n)
            )
            for d in (each for each in found if not math.isnan(each.lo)):
                most = {"fscore": 1.0, "mcc": 2.0}[d.metric]
                assert -most <= d.lo <= d.value <= d.hi <= most
                reached |= {d.metric} if most in (-d.lo, d.hi) else set()
    assert "fscore" in reached
    far = [largest_difference(tm.metric(name)) for name in ("coverage", "mean_bias", "mcc", "rmse", "accuracy")]
    assert far == [0.9, math.inf, 2.0, math.inf, 1.0]


def test_rankings_in_tables_are_compared_as_those_in_rows():
    """Each row of a table is a query of its own, and is resampled as one; for intervals of one model too."""
    rng = np.random.default_rng(3)
    y, a = rng.integers(0, 3, (30, 4)), rng.random((30, 4))
    models, metrics = {"a": a, "b": a + 0.2 * y}, ["ndcg", "mrr", "map"]
    query = np.repeat(np.arange(30), 4)
    table = tm.compare(y, models, metrics, ci=tm.Intervals(resamples=RESAMPLES))
    rows = tm.compare(
        y.ravel(), {k: p.ravel() for k, p in models.items()}, metrics, query=query, ci=tm.Intervals(resamples=RESAMPLES)
    )
    assert list(table) == list(rows)
    table = tm.evaluate(y, a, metrics, ci=tm.Intervals(resamples=199))
    rows = tm.evaluate(y.ravel(), a.ravel(), metrics, ci=tm.Intervals(resamples=199), query=query)
    for key in metrics:
        assert (table.cell(key).lo, table.cell(key).hi) == (rows.cell(key).lo, rows.cell(key).hi)
        assert table.cell(key).lo < table[key] < table.cell(key).hi
    assert tm.evaluate(y, a, "ndcg", ci=tm.Intervals(resamples=199), cluster=np.arange(30) // 2).cell("ndcg").lo < 1


def test_default_metrics_are_noted_and_the_same_for_all_models():
    """Models that look different ask for `kind=`."""
    truth = [0, 1, 1, 0, 1]
    good, bad = [0.1, 0.8, 0.7, 0.3, 0.9], [0.4, 0.5, 0.6, 0.5, 0.4]
    found = tm.compare(truth, {"good": good, "bad": bad})
    assert "predictions read as probabilities" in str(found)
    assert list(next(iter(found.reports.values()))) == ["auc", "logloss", "brier", "accuracy"]
    with pytest.raises(tm.ParameterError, match="models look different: 'good' like kind='probability', 'labels'"):
        tm.compare(truth, {"good": good, "labels": [0, 1, 1, 0, 0]})
    with pytest.raises(tm.ParameterError, match="outside"):
        tm.compare(truth, {"good": good, "margins": [-2.0, 3.0, 1.0, -1.0, 2.0]})


def test_parameters_are_shared_by_all_metrics():
    """As in `evaluate`, named or not."""
    y, models = [0, 1, 2, 1], {"a": [0, 1, 1, 1], "b": [0, 1, 2, 2]}
    assert list(tm.compare(y, models, ["f1", "accuracy"], average="macro").metrics) == [
        "fscore(average=macro)",
        "accuracy",
    ]
    probabilities = {"a": [0.2, 0.4, 0.9, 0.6], "b": [0.4, 0.6, 0.8, 0.1]}
    assert "accuracy(threshold=0.3)" in tm.compare([0, 1, 1, 1], probabilities, threshold=0.3).metrics
    with pytest.raises(tm.ParameterError, match="not a parameter of accuracy"):
        tm.compare(y, models, ["accuracy"], average="macro")
    with pytest.raises(tm.ParameterError, match=r"no argument `by`\. Compare the models on the rows of each group"):
        tm.compare(y, models, by=["x", "x", "z", "z"])
