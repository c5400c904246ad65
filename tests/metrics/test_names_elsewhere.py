"""Names of metrics in any spelling, and their names in other libraries."""

from __future__ import annotations

import inspect
import subprocess
import sys

import pytest
import sklearn.metrics as sk

import tallymark as tm
from tallymark.metrics import registry
from tallymark.metrics.names_elsewhere import names_elsewhere
from tallymark.metrics.naming import _folded_names, fold, known_metric

ROWS = list(names_elsewhere())
NAMED = pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.library}:{row.name}")


@pytest.mark.parametrize(
    ("name", "ours"),
    [
        ("RMSE", "rmse"),
        ("RSquared", "r2"),
        ("R²", "r2"),
        ("F1", "fscore"),
        ("f1_macro", "fscore(average=macro)"),
        ("f1_macro_pr", "fscore(average=macro_pr)"),
        ("MacroPRF1", "fscore(average=macro_pr)"),
        ("macro_pr_auc", "pr_auc"),
        ("Macro F1", "fscore(average=macro)"),
        ("F1-Weighted", "fscore(average=weighted)"),
        ("recall_micro", "recall(average=micro)"),
        ("specificity_macro", "specificity(average=macro)"),
        ("AUC", "auc"),
        ("MatthewsCorrelation", "mcc"),
        ("AdjustedRandIndex", "adjusted_rand"),
        ("PinballLoss", "pinball"),
        ("MultiLogLoss", "logloss"),
        ("HuberMetric", "huber"),
        ("QuantileMetric", "pinball"),
        ("crossentropy", "logloss"),
        ("log-loss", "logloss"),
        ("f0.5", "fscore(beta=0.5)"),
        ("F.5", "fscore(beta=0.5)"),
        ("F3", "fscore(beta=3)"),
        ("f0.5(average=macro)", "fscore(beta=0.5, average=macro)"),
        ("f1_macro(beta=2)", "fscore(beta=2, average=macro)"),
        ("f2_micro", "fscore(beta=2, average=micro)"),
        ("ndcg@5", "ndcg(k=5)"),
        ("NDCG@5(gain=exp)", "ndcg(k=5, gain=exp)"),
        ("precision@5", "precision_at(k=5)"),
        ("recall_at_5", "recall_at(k=5)"),
        ("map@5", "map(k=5)"),
        ("pre@5", "precision_at(k=5)"),
        ("hits@1", "hit_rate(k=1)"),
        ("top_3_accuracy", "top_k_accuracy(k=3)"),
        ("accuracy@3", "top_k_accuracy(k=3)"),
        ("error@0.7", "error_rate(threshold=0.7)"),
        ("Gap(F1)", "gap(fscore)"),
        ("Equalized Odds", "equalized_odds"),
        ("Cohen's kappa", "cohen_kappa"),
        ("top-1", "top_k_accuracy(k=1)"),
    ],
)
def test_a_name_may_be_spelled_in_any_way(name, ours):
    """Without case, underscores, hyphens and CamelCase; with an average, a beta or a k in it."""
    assert tm.metric(name) == known_metric(name) == tm.metric(ours)
    assert tm.metric(str(tm.metric(name))) == tm.metric(name)


def test_names_in_print_are_known():
    """What a table calls a metric is a name of it."""
    for item in [cls() for cls in registry.classes.values()]:
        assert known_metric(item.display_name) == item


@pytest.mark.parametrize("name", ["f0", "f05", "rmse@5", "accuracy_macro", "f@5", "auc_micro_macro", "metric", "macro"])
def test_forms_that_mean_nothing_are_unknown(name):
    """A k or an average of a metric that has none, for one."""
    assert known_metric(name) is None
    with pytest.raises(tm.ParameterError):
        tm.metric(name)


def test_losses_of_other_libraries_that_are_no_deviances_are_refused():
    """Their values differ; `poisson` alone is a name here."""
    for name in ("poisson-nloglik", "gamma-nloglik", "tweedie-nloglik", "gamma", "tweedie"):
        with pytest.raises(tm.UnknownMetricError, match="Negative log-likelihood there, which is not a deviance"):
            tm.metric(name)
    assert tm.metric("poisson") == tm.poisson_deviance


@NAMED
def test_every_row_of_the_table_leads_to_its_metric(row):
    """Or says what to use instead; a name that means another thing here has a note."""
    if not row.here:
        assert row.note
        with pytest.raises(tm.UnknownMetricError, match="there is no metric"):
            tm.metric(row.name)
        assert not hasattr(tm, row.name)
    elif tm.metric(row.name) != tm.metric(row.here):
        assert row.note
        assert row.name in registry.classes or row.name in registry.aliases
    assert all(known_metric(named) for named in row.here.split(" or ") if named)


def test_no_two_names_differ_in_their_spelling_alone():
    """Unless they mean one metric, or the name has a meaning here."""
    known = _folded_names()
    for key, other in known.items():
        assert len(other.words) < 2 or len({tm.metric(word) for word in other.words}) == 1, key
    for row in ROWS:
        if row.here and known[fold(row.name)].words != (row.here,) and not row.note:
            assert tm.metric(row.name) == tm.metric(row.here), row.name


def test_a_name_of_your_own_is_found_as_it_is_written_first():
    """In another spelling, if no other metric has that; else the error has both names."""

    def half_error(y_true, y_pred):
        return 0.5

    try:
        mine = tm.custom(half_error)
        assert tm.metric("HalfError") == tm.metric("half_error") == mine
        other = tm.custom(half_error, name="RMSE")
        assert tm.metric("RMSE") == other
        assert tm.metric("rmse") == tm.rmse
        with pytest.raises(tm.UnknownMetricError, match="'Rmse' can be 'RMSE' or 'rmse'"):
            tm.metric("Rmse")
        other = tm.custom(half_error, name="f1macro")
        assert tm.metric("f1macro") == other
        with pytest.raises(tm.UnknownMetricError, match=r"'f1_macro' can be 'f1macro' or 'fscore\(average=macro\)'"):
            tm.metric("f1_macro")
        coverage = tm.custom(half_error, name="coverage_error")
        assert tm.metric("CoverageError") == coverage
    finally:
        registry.functions.clear()
        registry._changed()
    assert tm.metric("Rmse") == tm.rmse


def test_attributes_are_exact_names_and_listed_ones():
    """Always the metric, ready to call; capitals are those of abbreviations."""
    assert tm.f1 is tm.F1 is tm.f1_score is tm.fscore
    assert tm.AUC is tm.roc_auc is tm.AUROC is tm.auc
    assert tm.RMSE is tm.root_mean_squared_error is tm.rmse
    assert tm.f1_macro == tm.FScore(average="macro")
    assert tm.f2 == tm.FScore(beta=2)
    for absent in ("nothing", "Rmses", "rMSE", "f1macro", "F0", "coverage_error", "_rmse"):
        with pytest.raises(AttributeError):
            getattr(tm, absent)
    assert "f1" not in dir(tm)


def test_a_class_that_is_called_with_arrays_says_what_to_call():
    """The metric in lower case; parameters are keywords."""
    with pytest.raises(tm.ParameterError, match=r"call tm\.r2\(y_true, y_pred\)"):
        tm.R2([1.0], [1.0])
    with pytest.raises(tm.ParameterError, match=r"call tm\.auc\(y_true, y_pred\)"):
        tm.Auc([1, 0], [0.5, 0.6])
    with pytest.raises(tm.ParameterError, match=r"huber\(y_true, y_pred\)"):
        tm.Huber(2.0)


def test_other_names_cost_nothing_until_one_is_used():
    """The table is not loaded by names that are known here."""
    code = (
        "import sys, tallymark as tm; tm.evaluate([1, 2], [1, 3], ['rmse', 'mad']); tm.metric('f1');"
        "loaded = 'tallymark.metrics.names_elsewhere' in sys.modules; tm.metric('RMSE');"
        "print(loaded, 'tallymark.metrics.names_elsewhere' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True"]


def test_every_function_and_scorer_of_scikit_learn_is_in_the_table():
    """But for those that are not metrics."""
    here = {row.name for row in ROWS if row.library == "scikit-learn"}
    functions = {name for name in sk.__all__ if inspect.isfunction(getattr(sk, name))}
    no_metrics = {
        *("check_scoring", "consensus_score", "get_scorer", "get_scorer_names", "make_scorer"),
        *(name for name in functions if "pairwise" in name or "distances" in name),
    }
    assert functions - no_metrics <= here
    scorers = set(sk.get_scorer_names())
    assert {name for name in scorers if known_metric(name) is None} <= {row.name for row in ROWS if not row.here}
