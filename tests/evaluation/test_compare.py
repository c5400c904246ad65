"""compare: several models on the same rows, and which differences between them the data show."""

from __future__ import annotations

import json
import math
from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import stats
from sklearn.metrics import recall_score, roc_auc_score

import tallymark as tm
from tallymark._core import poisson_counts
from tallymark.batch import Batch
from tallymark.evaluation.corrections import correct
from tallymark.evaluation.paired_tests import bootstrap, delong, group_freedom
from tallymark.metrics import registry
from tallymark.states import read_placements
from tallymark.target import Target

RESAMPLES = 199


def scores(n=300, seed=0, noise=(1.0, 1.3, 1.0)):
    """Two classes, and probabilities of several models whose errors are partly shared."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    shared = rng.normal(size=n)
    names = "abcdefgh"
    return y, {
        names[k]: 1 / (1 + np.exp(-(2 * y - 1 + 0.8 * (shared + rng.normal(size=n)) * sd)))
        for k, sd in enumerate(noise)
    }


Y, MODELS = scores()
ALL = ["accuracy", "recall", "auc", "logloss", "fscore", "brier"]


@pytest.fixture(scope="module")
def found():
    return tm.compare(Y, MODELS, ALL, resamples=RESAMPLES)


def test_values_are_those_of_evaluate(found):
    """Each model has the report that evaluate gives, and differences are between them."""
    for name, p in MODELS.items():
        report = tm.evaluate(Y, p, ALL)
        assert dict(found.reports[name]) == dict(report)
    for d in found:
        assert d.value == found.reports[d.second][d.metric] - found.reports[d.first][d.metric]


def test_every_pair_in_every_metric(found):
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


def test_methods(found):
    """Shares of rows by McNemar, areas by DeLong, all else by the paired bootstrap."""
    methods = {d.metric: d.method.partition(",")[0] for d in found}
    assert methods == {
        "accuracy": "McNemar",
        "recall": "McNemar",
        "auc": "DeLong",
        "logloss": "paired bootstrap",
        "fscore": "paired bootstrap",
        "brier": "paired bootstrap",
    }


PROPORTIONS = [
    "accuracy",
    "error_rate",
    "error",
    "hamming_loss",
    "recall",
    "fnr",
    "specificity",
    "fallout",
    "sensitivity",
]


@pytest.mark.parametrize("metric", PROPORTIONS)
def test_shares_of_rows_count_the_rows_that_changed(metric):
    """Gains less losses make up the difference; positive and negative rows are counted apart."""
    d = tm.compare(Y, MODELS, [metric], resamples=RESAMPLES)[("a", "b"), metric]
    right = [(p >= 0.5) == (Y == 1) for p in (MODELS["a"], MODELS["b"])]
    among = {"recall": Y == 1, "sensitivity": Y == 1, "fnr": Y == 1, "specificity": Y == 0, "fallout": Y == 0}
    rows = among.get(metric, np.ones(len(Y), bool))
    gains, losses = (int(np.sum(one & ~other & rows)) for one, other in (right[::-1], right))
    n = 1 if metric == "error" else rows.sum()
    sign = 1 if tm.metric(metric).better == "higher" else -1
    assert d.method.startswith("McNemar")
    assert d.value == pytest.approx(sign * (gains - losses) / n, abs=1e-12)
    assert d.lo < d.value < d.hi


@pytest.mark.parametrize("form", ["labels", "words", "categories", "two columns", "margins", "flags"])
def test_rows_are_right_in_every_form_of_prediction(form):
    """Labels of any type, probabilities of one or two columns and margins are tested alike."""
    facts, y = {}, Y
    said = {name: p >= 0.5 for name, p in MODELS.items()}
    models = {name: held.astype(int) for name, held in said.items()}
    if form in ("words", "categories"):
        facts, y = {"positive": "yes"}, np.where(Y == 1, "yes", "no")
        models = {name: np.where(held, "yes", "no") for name, held in said.items()}
        if form == "categories":
            models = {name: pd.Series(held, dtype="category") for name, held in models.items()}
    elif form == "two columns":
        models = {name: np.column_stack([1 - p, p]) for name, p in MODELS.items()}
    elif form == "margins":
        facts, models = {"kind": "margin"}, {name: np.log(p / (1 - p)) for name, p in MODELS.items()}
    elif form == "flags":
        models = said
    plain = tm.compare(Y, MODELS, ["accuracy", "recall"])
    other = tm.compare(y, models, ["accuracy", "recall"], **facts)
    for one, same in zip(plain, other, strict=True):
        assert same == one


@pytest.mark.parametrize("table", [pd.DataFrame, pl.DataFrame, pa.table])
def test_a_table_of_models(table):
    """Its columns are the models."""
    assert list(tm.compare(Y, table(MODELS), ["auc"])) == list(tm.compare(Y, MODELS, ["auc"]))


def test_a_metric_in_which_nothing_is_better():
    """Has differences and no winner."""
    models = {"few": (MODELS["a"] > 0.8).astype(int), "many": (MODELS["a"] > 0.2).astype(int)}
    d = next(iter(tm.compare(Y, models, ["selection_rate"])))
    assert d.method == "McNemar, mid-p"
    assert (d.winner, d.significant, d.verdict) == (None, True, "they differ")
    assert str(d).startswith("selection_rate: many and few differ: many − few = 0.")


@pytest.mark.parametrize(
    ("ends", "shown"),
    [
        ((0.00512, 0.02034), "0.013 [0.005, 0.020]"),
        ((-3.0, 57.2), "27 [-3, 57]"),
        ((0.00004, 0.02), "0.01002 [0.00004, 0.02000]"),
        ((-0.11, 0.109), "0.00 [-0.11, 0.11]"),
        ((1e-9, 3e-9), "2e-09 [1e-09, 3e-09]"),
        ((-1234.5, 98765.4), "48,765 [-1,234, 98,765]"),
    ],
)
def test_decimals_are_as_many_as_the_interval_bears(ends, shown):
    """Two digits of its width, and more where an end would read as 0."""
    d = next(iter(tm.compare(Y, MODELS, ["auc"])))._replace(value=sum(ends) / 2, lo=ends[0], hi=ends[1])
    assert d.amount() == shown


def test_several_classes():
    """Accuracy of the largest column and top-k are shares of rows; an area over classes is resampled."""
    rng = np.random.default_rng(3)
    y = rng.integers(0, 4, 200)
    models = {name: rng.dirichlet(np.ones(4), 200) * 0.6 + 0.4 * (y[:, None] == np.arange(4)) for name in "ab"}
    found = tm.compare(y, models, ["accuracy", "top_k_accuracy(k=2)", "auc"], resamples=RESAMPLES)
    assert [d.method.partition(",")[0] for d in found] == ["McNemar", "McNemar", "paired bootstrap"]
    right = [p.argmax(axis=1) == y for p in models.values()]
    assert found[("a", "b"), "accuracy"].value == pytest.approx(right[1].mean() - right[0].mean())


def test_tables_of_labels_are_resampled():
    """Rows that have several labels."""
    rng = np.random.default_rng(4)
    y = rng.integers(0, 2, (80, 3))
    models = {name: np.where(rng.random((80, 3)) < 0.2, 1 - y, y) for name in "ab"}
    assert next(iter(tm.compare(y, models, ["accuracy"], resamples=RESAMPLES))).method == "paired bootstrap"


def test_the_bootstrap_is_paired_by_row():
    """Both models see the same counts of rows, those of the seed."""
    rng = np.random.default_rng(5)
    y = rng.normal(size=60)
    a, b = (y + rng.normal(size=60) for _ in range(2))
    d = tm.compare(y, {"a": a, "b": b}, ["rmse"], resamples=99, seed=7, ci=0.9)[("a", "b"), "rmse"]
    keys = np.arange(60, dtype=np.uint64)
    drawn = [poisson_counts(7, k, keys).astype(float) for k in range(99)]
    values = [tm.rmse(y, b, weights=w) - tm.rmse(y, a, weights=w) for w in drawn]
    kept = [np.arange(60) != k for k in range(60)]
    without = np.array([tm.rmse(y[k], b[k]) - tm.rmse(y[k], a[k]) for k in kept])
    twin = bootstrap(np.array(values), 0.9, "paired bootstrap", 60, group_freedom(without))
    assert (d.lo, d.hi) == (twin.lo, twin.hi)
    assert d.p == pytest.approx(twin.p, rel=1e-9)
    reach = stats.t.ppf(0.95, twin.freedom) + stats.t.ppf(0.8, twin.freedom)
    assert d.detectable == pytest.approx(reach * math.sqrt(60 / 59) * np.std(values, ddof=1), rel=1e-6)


def test_rows_of_a_cluster_are_drawn_together():
    """Rows that say the same ten times over are no more evidence than once."""
    y, models = scores(40, seed=1)
    tens = {name: np.repeat(p, 10) for name, p in models.items()}
    names = np.repeat([f"patient {k}" for k in range(40)], 10)
    once = tm.compare(y, models, ["logloss"], weights=np.full(40, 2.0))[("a", "b"), "logloss"]
    rows = tm.compare(np.repeat(y, 10), tens, ["logloss"])[("a", "b"), "logloss"]
    found = tm.compare(np.repeat(y, 10), tens, ["logloss", "accuracy"], cluster=names)
    clustered = found[("a", "b"), "logloss"]
    assert {d.method for d in found} == {"paired bootstrap of clusters"}
    assert rows.hi - rows.lo < 0.5 * (clustered.hi - clustered.lo)
    assert clustered.hi - clustered.lo == pytest.approx(once.hi - once.lo, rel=0.3)


def test_queries_are_drawn_as_a_whole():
    """Metrics on rankings; clusters must not part the rows of a query."""
    rng = np.random.default_rng(6)
    relevance, query = rng.integers(0, 3, 120), np.arange(120) // 6
    models = {name: relevance + rng.normal(size=120) * sd for name, sd in (("a", 1.0), ("b", 2.0))}
    d = next(iter(tm.compare(relevance, models, ["ndcg"], query=query, resamples=RESAMPLES)))
    assert d.method == "paired bootstrap of queries"
    assert d.lo < d.value < d.hi
    with pytest.raises(tm.ParameterError, match="same in all rows of a query"):
        tm.compare(relevance, models, ["ndcg"], query=query, cluster=np.arange(120))


def test_weights():
    """Are resampled; weights of 1 are none; rows of weight 0 are not there."""
    plain = tm.compare(Y, MODELS, ["accuracy", "auc", "brier"], resamples=RESAMPLES)
    assert list(tm.compare(Y, MODELS, ["accuracy", "auc", "brier"], weights=np.ones(300), resamples=RESAMPLES)) == list(
        plain
    )
    heavy = tm.compare(Y, MODELS, ["accuracy", "auc"], weights=np.linspace(1, 3, 300), resamples=RESAMPLES)
    assert {d.method for d in heavy} == {"paired bootstrap"}
    some = (np.arange(300) % 3 > 0).astype(float)
    kept = {name: p[some > 0] for name, p in MODELS.items()}
    expected = tm.compare(Y[some > 0], kept, ["accuracy", "auc"])
    assert list(tm.compare(Y, MODELS, ["accuracy", "auc"], weights=some)) == list(expected)
    kept = Y[some == 1], {name: p[some == 1] for name, p in MODELS.items()}
    found = tm.compare(Y, MODELS, ["brier"], weights=some, resamples=RESAMPLES)
    assert list(found) == list(tm.compare(*kept, ["brier"], resamples=RESAMPLES))


def test_missing_rows_are_dropped_for_all():
    """A row that one model lacks is no row of the others either."""
    a, b = MODELS["a"].copy(), MODELS["b"].copy()
    a[[3, 5]], b[[5, 9]] = math.nan, math.nan
    truth = Y.astype(float)
    truth[20] = math.nan
    found = tm.compare(truth, {"a": a, "b": b}, ["auc", "brier"], missing="drop", resamples=RESAMPLES)
    keep = np.setdiff1d(np.arange(300), [3, 5, 9, 20])
    expected = tm.compare(Y[keep], {"a": a[keep], "b": b[keep]}, ["auc", "brier"], resamples=RESAMPLES)
    assert list(found) == list(expected)
    assert {report.dropped for report in found.reports.values()} == {4}
    assert "296 rows · 4 dropped for missing values" in str(found)
    with pytest.raises(tm.MissingValueError, match="model 'a': `y_pred` must be finite"):
        tm.compare(Y, {"a": a, "b": b}, ["auc"])


def test_a_model_against_itself():
    """No difference, p = 1 and the reason; no interval of zero width."""
    found = tm.compare(Y, {"a": MODELS["a"], "again": MODELS["a"].copy()}, ALL, resamples=RESAMPLES)
    for d in found:
        assert (d.value, d.p, d.p_corrected, d.winner) == (0.0, 1.0, 1.0, None)
        assert math.isnan(d.lo)
        assert d.reason == "the models predict the same in every row"
        assert str(d) == f"{d.metric}: no difference between again and a: the models predict the same in every row"
    assert found.groups("auc") == {"a": "a", "again": "a"}


def test_models_that_differ_only_in_scale():
    """Have the same order and so the same area, and other probabilities."""
    found = tm.compare(Y, {"a": MODELS["a"], "half": MODELS["a"] / 2}, ["auc", "logloss"], resamples=RESAMPLES)
    d = found[("a", "half"), "auc"]
    assert (d.value, d.p) == (0.0, 1.0)
    assert d.reason == "every row stands at the same place in the order of both models"
    assert found[("a", "half"), "logloss"].winner == "a"


def test_the_order_of_the_models_only_turns_signs():
    """compare(a, b) is −compare(b, a), to the last bit."""
    there = tm.compare(Y, {"a": MODELS["a"], "b": MODELS["b"]}, ALL, resamples=RESAMPLES)
    back = tm.compare(Y, {"b": MODELS["b"], "a": MODELS["a"]}, ALL, resamples=RESAMPLES)
    for one, other in zip(there, back, strict=True):
        assert one == other.flipped()


def test_another_model_changes_no_difference(found):
    """Only what is corrected for the number of pairs."""
    two = tm.compare(Y, {"a": MODELS["a"], "b": MODELS["b"]}, ALL, resamples=RESAMPLES)
    for d in two:
        more = found[("a", "b"), d.metric]
        assert more._replace(p_corrected=d.p_corrected, detectable=d.detectable) == d
        assert more.detectable > d.detectable or math.isnan(d.detectable)
        assert more.p_corrected >= d.p_corrected == d.p


def test_the_order_of_the_rows_does_not_matter_to_tests_of_rows():
    """To the last bit."""
    order = np.random.default_rng(8).permutation(len(Y))
    turned = tm.compare(Y[order], {name: p[order] for name, p in MODELS.items()}, ["accuracy", "auc"])
    assert list(turned) == list(tm.compare(Y, MODELS, ["accuracy", "auc"]))


def test_the_same_on_any_number_of_threads():
    """And with the same seed; another seed draws other resamples."""
    before = tm.get_threads()
    y, models = scores(20_000, seed=9)
    try:
        runs = []
        for threads in (1, 2):
            tm.set_threads(threads)
            runs.append(list(tm.compare(y, models, ["accuracy", "auc", "brier"], resamples=49)))
    finally:
        tm.set_threads(before)
    assert runs[0] == runs[1]
    other = list(tm.compare(y, models, ["accuracy", "auc", "brier"], resamples=49, seed=1))
    assert [d for d in other if d.metric != "brier"] == [d for d in runs[0] if d.metric != "brier"]
    assert [d for d in other if d.metric == "brier"] != [d for d in runs[0] if d.metric == "brier"]


def test_pairs_are_corrected_metric_by_metric(found):
    """For the number of pairs, by the way asked for."""
    for how in ("holm", "bonferroni", "fdr", "none"):
        other = tm.compare(Y, MODELS, ["auc", "accuracy"], correction=how)
        for key in other.metrics:
            pairs = [d for d in other if d.metric == key]
            assert [d.p_corrected for d in pairs] == correct([d.p for d in pairs], how)


def test_a_baseline():
    """Each model is compared with it and with nothing else; letters would need every pair."""
    found = tm.compare(Y, MODELS, ["auc"], baseline="b")
    assert [(d.first, d.second) for d in found] == [("b", "a"), ("b", "c")]
    assert "group" not in str(found)
    assert found.to_dict()["groups"] is None
    with pytest.raises(tm.ParameterError, match="leave out `baseline`"):
        found.groups("auc")


def test_groups_share_letters_where_the_data_cannot_tell():
    """The best first; a model that is told apart from all others has a letter of its own."""
    y, models = scores(2000, seed=2, noise=(3.0, 1.0, 1.02, 3.0))
    found = tm.compare(y, models, ["auc"])
    groups = found.groups("auc")
    values = [found.reports[name]["auc"] for name in groups]
    assert all(one >= other for one, other in pairwise(values))
    assert groups["b"] == groups["c"] == "a"
    assert groups["a"] == groups["d"] == "b"
    assert list(found.ranking("auc")) == list(groups)


def test_lower_is_better_and_closer_is_better():
    """The winner follows the metric; where that is best at a value, distances from it are compared."""
    rng = np.random.default_rng(9)
    y = rng.normal(size=400)
    models = {"low": y - 0.5 + rng.normal(size=400) * 0.1, "high": y + 0.2 + rng.normal(size=400) * 0.1}
    found = tm.compare(y, models, ["rmse", "mean_bias"], resamples=RESAMPLES)
    rmse, bias = found[("low", "high"), "rmse"], found[("low", "high"), "mean_bias"]
    assert rmse.value < 0
    assert rmse.winner == bias.winner == "high"
    assert bias.value == pytest.approx(-0.3, abs=0.03)
    assert list(found.ranking("mean_bias")) == ["high", "low"]
    assert str(bias).startswith("mean_bias: high beats low by 0.3")


def test_undefined_values():
    """Say why, rank last, have no letter and do not count as tests."""
    y = [1, 1, 0, 0] * 5
    never, some = [0] * 20, [1, 0, 0, 1] * 5
    models = {"never": never, "some": some, "other": [1, 1, 0, 1] * 5}
    found = tm.compare(y, models, ["precision"], resamples=RESAMPLES)
    d = found[("never", "some"), "precision"]
    assert math.isnan(d.p)
    assert d.reason == "never: nothing was predicted positive"
    assert list(found.ranking("precision"))[-1] == "never"
    assert found.groups("precision")["never"] == ""
    assert found[("some", "other"), "precision"].p_corrected == found[("some", "other"), "precision"].p
    assert str(d) == "precision: some and never cannot be compared: never: nothing was predicted positive"
    assert "undefined" in str(found)
    json.loads(found.to_json())


def test_a_metric_of_ones_own_is_resampled():
    """Even one that is derived from a share of rows, if its formula is another."""

    class Squared(tm.Accuracy):
        """The square of accuracy."""

        name = "squared_accuracy"
        aliases = {}

        def of_ratio(self, quotient):
            return quotient**2

    try:
        d = next(iter(tm.compare(Y, MODELS, [Squared()], resamples=RESAMPLES)))
    finally:
        del registry.classes["squared_accuracy"]
    assert d.method == "paired bootstrap"


def test_a_share_of_rows_that_is_best_at_some_value_is_resampled():
    """Since its distance from that value is no share of rows."""

    class CalledHalf(tm.SelectionRate):
        """The share of rows that was called positive, which should be a half."""

        name = "called_half"
        aliases = {}
        better = 0.5

    models = {"few": (MODELS["a"] > 0.9).astype(int), "most": (MODELS["a"] > 0.3).astype(int)}
    try:
        d = next(iter(tm.compare(Y, models, [CalledHalf()], resamples=RESAMPLES)))
    finally:
        del registry.classes["called_half"]
    few, most = (abs(held.mean() - 0.5) for held in models.values())
    assert d.method == "paired bootstrap"
    assert d.value == pytest.approx(most - few, abs=1e-12)
    assert d.winner == "most"


def test_what_could_have_been_shown():
    """A difference of the detectable size is found in about eight of ten data sets."""
    found = tm.compare(Y, MODELS, ["auc"], correction="none")
    d = found[("a", "b"), "auc"]
    tested = delong(*(read_placements(Batch(Y, MODELS[name]), Target(), 1.0) for name in "ab"), 0.95)
    reach = stats.t.ppf(0.975, tested.freedom) + stats.t.ppf(0.8, tested.freedom)
    assert found.detectable("auc")["a", "b"] == d.detectable == pytest.approx(reach * tested.error, rel=1e-9)
    several = tm.compare(Y, MODELS, ["auc"], correction="holm")[("a", "b"), "auc"].detectable
    wider = stats.t.ppf(1 - 0.025 / 3, tested.freedom) + stats.t.ppf(0.8, tested.freedom)
    assert several == pytest.approx(wider * tested.error, rel=1e-9)


def test_print_and_export(found):
    """Two tables as text and HTML; plain data, JSON and frames hold the same."""
    text = str(found)
    assert repr(found) == text
    assert "models that share a letter cannot be told apart by these rows" in text
    assert "corrected (Holm) for the 3 pairs of each metric" in text
    assert found._repr_html_().count("<table>") == 2
    data = json.loads(found.to_json())
    assert data["n"] == 300
    assert data["differences"][0]["p"] == next(iter(found)).p
    assert data["models"]["a"]["auc"]["value"] == found.reports["a"]["auc"]
    frames = (found.to_pandas(), found.to_polars().to_pandas(), found.to_arrow().to_pandas())
    for frame in frames:
        assert frame["value"].tolist() == [d.value for d in found]
        assert frame["winner"].fillna("").tolist() == [d.winner or "" for d in found]
    assert "corrected" not in str(tm.compare(Y, {"a": MODELS["a"], "b": MODELS["b"]}, ["auc"]))


def test_sentences():
    """Say who is better by how much, or that the data cannot tell."""
    y, models = scores(2000, seed=2, noise=(3.0, 1.0, 1.02))
    found = tm.compare(y, models, ["auc", "logloss"], resamples=RESAMPLES)
    assert str(found[("a", "b"), "auc"]).startswith("auc: b beats a by 0.")
    assert str(found[("a", "b"), "auc"]).endswith("], p < 0.001 (DeLong)")
    assert str(found[("b", "c"), "auc"]).startswith("auc: c and b cannot be told apart: c − b = ")
    assert "logloss: b beats a by 0." in str(found[("b", "a"), "logloss"])


def test_against_peers():
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
