"""The standard metrics of a classifier and of a regression."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

import tallymark as tm

TRUTH, SAID = [1, 1, 1, 1, 1, 0, 0, 0, 0, 0], [1, 1, 1, 0, 0, 1, 0, 0, 0, 0]
SURE = [0.9, 0.8, 0.7, 0.4, 0.3, 0.6, 0.2, 0.1, 0.3, 0.2]


def test_regression_metrics_have_times_only_if_given():
    """Five metrics and the size; times only where they are given."""
    y, p = [3, -0.5, 2, 7], [2.5, 0, 2, 8]
    found = tm.model_selection.regression_metrics(y, p)
    assert dict(found) == {"size": 4, **{key: tm.metric(key)(y, p) for key in ("rss", "mse", "rmse", "mae", "r2")}}
    timed = tm.model_selection.regression_metrics(y, p, fit_time=1.5, score_time=0.25)
    assert list(timed)[:3] == ["fit_time", "score_time", "size"]
    assert (timed["fit_time"], timed["score_time"]) == (1.5, 0.25)
    assert tm.model_selection.regression_metrics(y, p, weights=[1, 2, 0, 0])["mae"] == 0.5


def test_a_bundle_knows_other_names_of_its_metrics():
    """In any spelling, also of those that were left out."""
    found = tm.model_selection.classification_metrics(["a", "b", "c", "a"], ["a", "b", "a", "c"])
    assert found["F1 macro"] == found["f1_macro"] == found["fscore(average=macro)"]
    assert "MatthewsCorrelation" in found
    assert "RMSE" in tm.model_selection.regression_metrics([1.0, 2.0], [1.0, 3.0])
    with pytest.raises(KeyError, match="R² does not apply: the truth is constant"):
        tm.model_selection.regression_metrics([1.0, 1.0], [1.0, 3.0])["R²"]


def test_what_does_not_apply_is_absent():
    """R² of a constant truth is not there, and asking for it says why."""
    found = tm.model_selection.regression_metrics([1.0, 1.0], [1.0, 2.0])
    assert "r2" not in found
    assert found.left_out == {"r2": "the truth is constant"}
    with pytest.raises(KeyError, match="does not apply: the truth is constant"):
        found["r2"]
    with pytest.raises(KeyError, match="is not in the bundle"):
        found["auc"]


def test_probabilities_add_three_metrics():
    """The values of the ten rows that are known by heart; probabilities add three."""
    found = tm.model_selection.classification_metrics(TRUTH, SAID)
    assert {key: round(value, 6) for key, value in found.items()} == {
        "size": 10,
        "error": 3.0,
        "accuracy": 0.7,
        "precision": 0.75,
        "recall": 0.6,
        "specificity": 0.8,
        "fscore": 0.666667,
        "mcc": 0.408248,
    }
    sure = tm.model_selection.classification_metrics(TRUTH, SAID, probabilities=SURE)
    for key in ("auc", "logloss", "brier"):
        assert sure[key] == tm.metric(key)(TRUTH, SURE)


def test_several_classes_get_macro_averages():
    """Macro averages; classes and positive as elsewhere."""
    y, p = ["a", "b", "c", "a"], ["a", "b", "b", "a"]
    found = tm.model_selection.classification_metrics(y, p)
    assert found["fscore(average=macro)"] == tm.fscore(y, p, average="macro")
    assert found["precision"] == found["macro precision"] == found["precision(average=macro)"]
    assert found["f1"] == found["fscore"] == found["macro F1"]
    assert "f2" not in found
    table = np.full((4, 3), 1 / 3)
    assert tm.model_selection.classification_metrics(y, p, probabilities=table)["logloss"] == pytest.approx(math.log(3))
    two = tm.model_selection.classification_metrics(["y", "n"], ["y", "y"], positive="y", probabilities=[0.9, 0.6])
    assert (two["recall"], two["auc"]) == (1.0, 1.0)
    one = tm.model_selection.classification_metrics([1, 1], [1, 1], probabilities=[0.5, 0.6])
    assert "auc" not in one
    assert "mcc" not in one
    assert one["accuracy"] == 1.0


def test_text_html_and_json_say_what_is_left_out():
    """Text with the reasons below, HTML, plain data and JSON."""
    found = tm.model_selection.regression_metrics([1.0, 1.0], [1.0, 2.0], fit_time=0.5)
    assert "· r2: the truth is constant" in str(found)
    assert "<table>" in found._repr_html_()
    assert json.loads(found.to_json()) == found.to_dict()
    assert found.to_dict()["left_out"] == found.left_out


@pytest.mark.parametrize("bad", [-1.0, math.nan, math.inf, "1 s", True])
def test_invalid_timings_are_refused(bad):
    """Are refused."""
    for name in ("fit_time", "score_time"):
        with pytest.raises(tm.ParameterError, match=name):
            tm.model_selection.regression_metrics([1.0], [1.0], **{name: bad})
