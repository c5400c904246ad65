"""Baselines: what predictions without features score on the same rows, against scikit-learn's dummy models."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier, DummyRegressor

import tallymark as tm
from tallymark.evaluation.baselines import WORDS
from tallymark.metrics import registry

RNG = np.random.default_rng(5)
WEIGHTS = RNG.integers(1, 4, 200).astype(float)
NOTHING = np.zeros((200, 1))


def baselines(report, key):
    return {each.words: each.value for each in report.baselines(key)}


@pytest.mark.parametrize("weights", [None, WEIGHTS])
def test_the_baseline_predicts_mean_or_median(weights):
    """The mean for squared errors, the median for absolute ones."""
    y, p = RNG.gamma(2.0, size=200), RNG.gamma(2.0, size=200)
    report = tm.evaluate(y, p, ["rmse", "mae", "r2", "poisson_deviance", "pinball(alphas=0.9)"], weights=weights)
    for key, name, metric in (("rmse", "mean", tm.rmse), ("mae", "median", tm.mae), ("poisson_deviance", "mean", None)):
        dummy = DummyRegressor(strategy=name).fit(NOTHING, y, sample_weight=weights).predict(NOTHING)
        expected = (metric or tm.poisson_deviance)(y, dummy, weights=weights)
        assert baselines(report, key)[WORDS[name]] == pytest.approx(expected, rel=1e-2 if name == "median" else 1e-12)
    assert baselines(report, "r2") == {WORDS["mean"]: pytest.approx(0, abs=1e-12)}
    assert baselines(report, "pinball(alphas=(0.9,))")[WORDS["quantiles"]] <= report["pinball(alphas=(0.9,))"]


@pytest.mark.parametrize("names", [[0, 1], ["ok", "fraud"], [0, 1, 2], ["a", "b", "c", "d"]])
@pytest.mark.parametrize("form", ["labels", "probabilities"])
def test_the_baseline_predicts_the_majority_class_or_class_shares(names, form):
    """The majority class for labels, the shares of the classes for probabilities."""
    codes = RNG.choice(len(names), 200, p=np.arange(1, len(names) + 1) / np.arange(1, len(names) + 1).sum())
    y = np.array(names)[codes]
    positive = sorted(names)[-1] if len(names) == 2 else None
    shares = RNG.dirichlet(np.ones(len(names)), 200)
    predicted = RNG.permutation(y) if form == "labels" else shares if len(names) > 2 else shares[:, 1]
    metrics = ["accuracy", "fscore(average=macro)"] + (["logloss", "brier"] if form == "probabilities" else [])
    report = tm.evaluate(y, predicted, metrics, positive=positive, kind="probability" if form != "labels" else None)
    majority = DummyClassifier(strategy="most_frequent").fit(NOTHING, y)
    assert baselines(report, "accuracy") == {WORDS["majority"]: majority.score(NOTHING, y)}
    expected = tm.fscore(y, majority.predict(NOTHING), average="macro", classes=sorted(names))
    assert baselines(report, "fscore(average=macro)") == {WORDS["majority"]: pytest.approx(expected)}
    if form == "probabilities":
        constant = DummyClassifier(strategy="prior").fit(NOTHING, y).predict_proba(NOTHING)
        for key, metric in (("logloss", tm.logloss), ("brier", tm.brier)):
            expected = metric(y, constant, classes=sorted(names), positive=positive)
            assert baselines(report, key)[WORDS["shares"]] == pytest.approx(expected)
        assert baselines(report, "logloss")[WORDS["uniform"]] == pytest.approx(np.log(len(names)))


def test_the_baseline_of_scores_is_random_order():
    """Half of the pairs are in order, and the average precision is the prevalence."""
    y = np.arange(200) < 30
    report = tm.evaluate(y, RNG.random(200), ["auc", "average_precision", "ks"], kind="score")
    assert [list(baselines(report, key).values()) for key in report] == [[0.5], [0.15], [0.0]]


def test_all_positive_is_the_baseline_of_f1():
    """2π / (1 + π) at a prevalence of π."""
    y = np.arange(200) < 50
    report = tm.evaluate(y, RNG.random(200), ["f1", "precision", "recall"])
    assert baselines(report, "f1") == {WORDS["positive"]: pytest.approx(0.5 / 1.25)}
    assert baselines(report, "precision") == {WORDS["positive"]: 0.25}
    assert baselines(report, "recall") == {}


def test_a_value_worse_than_its_baseline_says_so_first():
    """In print the first note, on a page the first line of its card."""
    y, p = np.arange(200) < 10, np.full(200, 0.4)
    p[0] = 0.9
    p[20:24] = 0.8
    report = tm.evaluate(y, p, ["accuracy", "auc"])
    assert "\n\n· accuracy: worse than always predicting the majority class (0.95)" in str(report)
    assert (
        '<p class="verdict" dir="auto">Worse than always predicting the majority class (0.95)</p>' in report.to_html()
    )
    assert "ROC AUC: " not in str(report)


def test_tables_of_documents_show_the_baselines():
    """With the verdict first, in Markdown too; the worst possible value says what it means."""
    y, p = np.arange(200) < 10, np.full(200, 0.4)
    report = tm.evaluate(y, p, ["accuracy", "recall", "logloss"], kind="probability")
    cells = {line.split(" | ")[0]: line.split(" | ")[2] for line in report.to_markdown().splitlines() if " | " in line}
    assert cells["| metric"] == "baselines"
    assert cells["| accuracy"] == "no better than always predicting the majority class (0.95)"
    assert cells["| recall"] == "no positive row was found"
    assert cells["| log loss"].endswith("always predicting the class shares (0.1985); uniform guessing: 0.6931")
    assert "· recall: no positive row was found" in str(report)


def test_what_has_no_baseline_has_none():
    """Rows that are gone, several labels for each row, and outputs."""
    tally = tm.Tally(["accuracy", "auc"], kind="probability").update([True, False], [0.4, 0.6]).report()
    assert tally.baselines("accuracy") == []
    assert [each.value for each in tally.baselines("auc")] == [0.5]
    assert tm.evaluate([[1.0, 2.0]], [[1.0, 3.0]], ["rmse"]).baselines("rmse") == []


def test_every_metric_names_baselines_that_there_are():
    """A misspelt name would be left out in silence."""
    for cls in registry.classes.values():
        names = cls().baselines if cls.family != "fairness" else ()
        assert set(names) <= set(WORDS), cls


def test_a_baseline_is_rounded_as_the_value_beside_it():
    """In the print, on the page and after JSON; an equal value never looks better or worse than its baseline."""
    truth = np.repeat([0, 1], [3779, 221])
    report = tm.evaluate(truth, np.zeros(4000, int), ["accuracy"], ci=0.95)
    words = "no better than always predicting the majority class (0.945)"
    assert words in str(report)
    assert words in report.to_html()
    assert words in str(tm.Report.from_json(report.to_json()))
    assert "(0.9447)" in str(tm.evaluate(truth, np.zeros(4000, int), ["accuracy"]))


def test_rows_of_the_negative_class_alone_have_baselines():
    """The share of positives is 0, and uniform guessing is still that of two classes."""
    report = tm.evaluate([0, 0], [0.1, 0.2])
    assert "accuracy: no better than always predicting the majority class (1)" in str(report)
    values = {each.words: each.value for each in report.baselines("brier")}
    assert values == {"always predicting the class shares": 0.0, "uniform guessing": 0.25}
    assert "log loss" in report.to_html()


def test_a_value_whose_interval_contains_its_baseline_is_not_clearly_better():
    """Without an interval nothing is said of a value that is better."""
    rng = np.random.default_rng(4)
    y, p = rng.random(300) < 0.3, rng.random(300)
    p = p if tm.auc(y, p) > 0.5 else 1 - p
    report = tm.evaluate(y, p, ["auc"], ci=0.95)
    assert report.cell("auc").lo < 0.5 < report["auc"]
    assert "ROC AUC: not clearly better than random guessing (0.5)" in str(report)
    assert "better than" not in str(tm.evaluate(y, p / 2 + y / 2, ["auc"], ci=0.95))
    assert "not clearly better" not in str(tm.evaluate(y, p, ["auc"]))
