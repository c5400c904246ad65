"""What compare reads from the rows: which test a metric has, and how rows are resampled."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from tests.comparison_rows import ALL, MODELS, RESAMPLES, Y, scores

import tallymark as tm
from tallymark._core import poisson_counts
from tallymark.comparison.paired_tests import bootstrap
from tallymark.metrics import registry


@pytest.fixture(scope="module")
def found():
    return tm.compare(Y, MODELS, ALL, ci=tm.Intervals(resamples=RESAMPLES), correction="holm")


def test_shares_use_mcnemar_areas_delong_and_the_rest_a_bootstrap(found):
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


TWO = {name: MODELS[name] for name in "ab"}
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
    d = tm.compare(Y, TWO, [metric], ci=tm.Intervals(resamples=RESAMPLES))[("a", "b"), metric]
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
        assert same._replace(name=one.name) == one  # which names the positive class


def test_an_area_over_several_classes_is_bootstrapped():
    """Accuracy of the largest column and top-k are shares of rows; an area over classes is resampled."""
    rng = np.random.default_rng(3)
    y = rng.integers(0, 4, 200)
    models = {name: rng.dirichlet(np.ones(4), 200) * 0.6 + 0.4 * (y[:, None] == np.arange(4)) for name in "ab"}
    found = tm.compare(y, models, ["accuracy", "top_k_accuracy(k=2)", "auc"], ci=tm.Intervals(resamples=RESAMPLES))
    assert [d.method.partition(",")[0] for d in found] == ["McNemar", "McNemar", "paired bootstrap"]
    right = [p.argmax(axis=1) == y for p in models.values()]
    assert found[("a", "b"), "accuracy"].value == pytest.approx(right[1].mean() - right[0].mean())


def test_tables_of_labels_are_resampled():
    """Rows that have several labels."""
    rng = np.random.default_rng(4)
    y = rng.integers(0, 2, (80, 3))
    models = {name: np.where(rng.random((80, 3)) < 0.2, 1 - y, y) for name in "ab"}
    assert (
        next(iter(tm.compare(y, models, ["accuracy"], ci=tm.Intervals(resamples=RESAMPLES)))).method
        == "paired bootstrap"
    )


def test_the_bootstrap_is_paired_by_row():
    """Both models see the same counts of rows, those of the seed."""
    rng = np.random.default_rng(5)
    y = rng.normal(size=60)
    a, b = (y + rng.normal(size=60) for _ in range(2))
    d = tm.compare(y, {"a": a, "b": b}, ["rmse"], ci=tm.Intervals(0.9, resamples=99, seed=7))[("a", "b"), "rmse"]
    keys = np.arange(60, dtype=np.uint64)
    drawn = [poisson_counts(7, k, keys).astype(float) for k in range(99)]
    values = [tm.rmse(y, b, weights=w) - tm.rmse(y, a, weights=w) for w in drawn]
    twin = bootstrap(np.array(values), 0.9, "paired bootstrap", 60)
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
    d = next(iter(tm.compare(relevance, models, ["ndcg"], query=query, ci=tm.Intervals(resamples=RESAMPLES))))
    assert d.method == "paired bootstrap of queries"
    assert d.lo < d.value < d.hi
    with pytest.raises(tm.ParameterError, match="same in all rows of a query"):
        tm.compare(relevance, models, ["ndcg"], query=query, cluster=np.arange(120))


def test_weighted_rows_are_bootstrapped():
    """Are resampled; weights of 1 are none; rows of weight 0 are not there."""
    plain = tm.compare(Y, MODELS, ["accuracy", "auc", "brier"], ci=tm.Intervals(resamples=RESAMPLES))
    assert list(
        tm.compare(Y, MODELS, ["accuracy", "auc", "brier"], weights=np.ones(300), ci=tm.Intervals(resamples=RESAMPLES))
    ) == list(plain)
    heavy = tm.compare(
        Y, MODELS, ["accuracy", "auc"], weights=np.linspace(1, 3, 300), ci=tm.Intervals(resamples=RESAMPLES)
    )
    assert {d.method for d in heavy} == {"paired bootstrap"}
    some = (np.arange(300) % 3 > 0).astype(float)
    kept = {name: p[some > 0] for name, p in MODELS.items()}
    expected = tm.compare(Y[some > 0], kept, ["accuracy", "auc"])
    assert list(tm.compare(Y, MODELS, ["accuracy", "auc"], weights=some)) == list(expected)
    kept = Y[some == 1], {name: p[some == 1] for name, p in MODELS.items()}
    found = tm.compare(Y, MODELS, ["brier"], weights=some, ci=tm.Intervals(resamples=RESAMPLES))
    assert list(found) == list(tm.compare(*kept, ["brier"], ci=tm.Intervals(resamples=RESAMPLES)))


def test_missing_rows_are_dropped_for_all():
    """A row that one model lacks is no row of the others either."""
    a, b = MODELS["a"].copy(), MODELS["b"].copy()
    a[[3, 5]], b[[5, 9]] = math.nan, math.nan
    truth = Y.astype(float)
    truth[20] = math.nan
    found = tm.compare(truth, {"a": a, "b": b}, ["auc", "brier"], missing="drop", ci=tm.Intervals(resamples=RESAMPLES))
    keep = np.setdiff1d(np.arange(300), [3, 5, 9, 20])
    expected = tm.compare(Y[keep], {"a": a[keep], "b": b[keep]}, ["auc", "brier"], ci=tm.Intervals(resamples=RESAMPLES))
    assert list(found) == list(expected)
    assert {report.dropped for report in found.reports.values()} == {4}
    assert "296 rows · 4 dropped for missing values" in str(found)
    with pytest.raises(tm.MissingValueError, match=r"`y_pred` must be finite; got nan \(model 'a', row 3"):
        tm.compare(Y, {"a": a, "b": b}, ["auc"])


def test_the_order_of_the_rows_does_not_matter_to_tests_of_rows():
    """To the last bit."""
    order = np.random.default_rng(8).permutation(len(Y))
    turned = tm.compare(Y[order], {name: p[order] for name, p in TWO.items()}, ["accuracy", "auc"])
    assert list(turned) == list(tm.compare(Y, TWO, ["accuracy", "auc"]))


def test_a_metric_of_ones_own_is_resampled():
    """Even one that is derived from a share of rows, if its formula is another."""

    class Squared(tm.Accuracy):
        """The square of accuracy."""

        name = "squared_accuracy"
        aliases = {}

        def from_ratio(self, quotient):
            return quotient**2

    try:
        d = next(iter(tm.compare(Y, MODELS, [Squared()], ci=tm.Intervals(resamples=RESAMPLES))))
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
        d = next(iter(tm.compare(Y, models, [CalledHalf()], ci=tm.Intervals(resamples=RESAMPLES))))
    finally:
        del registry.classes["called_half"]
    few, most = (abs(held.mean() - 0.5) for held in models.values())
    assert d.method == "paired bootstrap"
    assert d.value == pytest.approx(most - few, abs=1e-12)
    assert d.winner == "most"
