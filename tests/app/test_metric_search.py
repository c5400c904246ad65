"""Metrics are found by any name that people use, for the task, and take parameters from fields."""

from __future__ import annotations

import pytest

from tallymark.app.domain.metric_search import parameter_fields, search_metrics, with_parameters
from tallymark.errors import TallymarkError
from tallymark.metrics.naming import metric
from tallymark.submissions.settings import TASKS

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("query", "task", "first"),
    [
        ("f1", "labels", "fscore"),
        ("F1Score", "labels", "fscore"),
        ("f0.5", "labels", "fscore(beta=0.5)"),
        ("fscore(beta=2)", "labels", "fscore(beta=2)"),
        ("matthews_corrcoef", "labels", "mcc"),
        ("recall_macro", "labels", "recall(average=macro)"),
        ("Mean squared", "numbers", "mse"),
        ("neg_root_mean_squared_error", "numbers", "rmse"),
        ("roc_auc_score", "probabilities", "auc"),
        ("ndcg@10", "ranking", "ndcg(k=10)"),
    ],
)
def test_a_metric_is_found_by_any_of_its_names(query, task, first):
    """The best match comes first, with the parameters that the name stands for."""
    assert str(search_metrics(query, task)[0]) == first


@pytest.mark.parametrize("task", TASKS)
def test_every_metric_of_a_task_is_listed_for_an_empty_query(task):
    """Each with a sentence and a direction; metrics of other tasks and curves are not among them."""
    found = [str(each) for each in search_metrics("", task)]
    assert len(found) == len(set(found))
    expected = {"labels": "accuracy", "numbers": "rmse", "probabilities": "logloss", "ranking": "ndcg"}
    assert {name for name in expected.values() if name in found} - {"accuracy"} <= {expected[task]}
    assert expected[task] in found
    assert not {"roc_curve", "confusion_matrix"} & set(found)
    ours = [each for each in map(metric, found) if type(each).__module__.startswith("tallymark.")]
    assert all(each.description for each in ours)  # other tests define metrics without a sentence


@pytest.mark.parametrize("query", ["no such metric", "x" * 5000, "(", "fscore(beta=", "\N{PILE OF POO}"])
def test_a_query_that_names_nothing_finds_nothing(query):
    """However long or odd it is."""
    assert search_metrics(query, "labels") == []
    assert search_metrics("rmse", "labels") == []


def test_parameters_come_from_fields_of_their_type():
    """A choice has its options, an empty field is the default, and what is unchanged changes nothing."""
    fields = {field.key: field for field in parameter_fields(metric("fscore"))}
    assert {"binary", "macro", "micro"} <= set(fields["average"].options)
    assert fields["beta"] == ("beta", "1", [])
    assert "undefined" not in fields
    assert with_parameters("fscore", {"beta": "2", "average": "macro"}) == "fscore(beta=2, average=macro)"
    assert with_parameters("fscore(beta=2)", {"beta": ""}) == "fscore"
    assert with_parameters("f1_score", {}) == "f1_score"
    assert with_parameters("accuracy", dict.fromkeys(("threshold", "nonsense"), "")) == "accuracy"


@pytest.mark.parametrize("value", ["abc", "-1", ")", "__import__('os')", "1e999", "1" * 20_000])
def test_a_wrong_parameter_is_an_error(value):
    """Nothing that is typed is evaluated."""
    with pytest.raises(TallymarkError):
        with_parameters("fscore", {"beta": value})
