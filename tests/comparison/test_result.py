"""What a comparison shows: corrected p-values, groups, a baseline, what could have been shown, tables and sentences."""

from __future__ import annotations

import json
from itertools import pairwise

import numpy as np
import pytest
from scipy import stats
from tests.comparison_rows import ALL, MODELS, RESAMPLES, Y, scores

import tallymark as tm
from tallymark.comparison.corrections import correct_p_values
from tallymark.comparison.paired_tests import delong
from tallymark.data.batch import Batch
from tallymark.data.target import Target
from tallymark.states.resampling.paired_rows import read_placements


@pytest.fixture(scope="module")
def found():
    return tm.compare(Y, MODELS, ALL, ci=tm.Intervals(resamples=RESAMPLES))


def test_a_metric_in_which_nothing_is_better():
    """Has differences and no winner."""
    models = {"few": (MODELS["a"] > 0.8).astype(int), "many": (MODELS["a"] > 0.2).astype(int)}
    d = next(iter(tm.compare(Y, models, ["selection_rate"])))
    assert d.method == "McNemar"
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


def test_pairs_are_corrected_metric_by_metric(found):
    """For the number of pairs, by the way asked for."""
    for how in ("holm", "bonferroni", "fdr", "none"):
        other = tm.compare(Y, MODELS, ["auc", "accuracy"], correction=how)
        for key in other.metrics:
            pairs = [d for d in other if d.metric == key]
            assert [d.p_corrected for d in pairs] == correct_p_values([d.p for d in pairs], how)


def test_models_are_compared_with_the_baseline_only():
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
    found = tm.compare(y, models, ["rmse", "mean_bias"], ci=tm.Intervals(resamples=RESAMPLES))
    rmse, bias = found[("low", "high"), "rmse"], found[("low", "high"), "mean_bias"]
    assert rmse.value < 0
    assert rmse.winner == bias.winner == "high"
    assert bias.value == pytest.approx(-0.3, abs=0.03)
    assert list(found.ranking("mean_bias")) == ["high", "low"]
    assert str(bias).startswith("mean_bias: high beats low by 0.3")


def test_the_minimum_detectable_difference_is_found_eight_times_in_ten():
    """A difference of the detectable size is found in about eight of ten data sets."""
    found = tm.compare(Y, MODELS, ["auc"], correction="none")
    d = found[("a", "b"), "auc"]
    tested = delong(*(read_placements(Batch(Y, MODELS[name]), Target(), 1.0) for name in "ab"), 0.95)
    reach = stats.t.ppf(0.975, tested.freedom) + stats.t.ppf(0.8, tested.freedom)
    assert found.detectable("auc")["a", "b"] == d.detectable == pytest.approx(reach * tested.error, rel=1e-9)
    several = tm.compare(Y, MODELS, ["auc"], correction="holm")[("a", "b"), "auc"].detectable
    wider = stats.t.ppf(1 - 0.025 / 3, tested.freedom) + stats.t.ppf(0.8, tested.freedom)
    assert several == pytest.approx(wider * tested.error, rel=1e-9)


def test_text_html_json_and_frames_hold_the_same(found):
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


def test_sentences_say_who_is_better_by_how_much():
    """Say who is better by how much, or that the data cannot tell."""
    y, models = scores(2000, seed=2, noise=(3.0, 1.0, 1.02))
    found = tm.compare(y, models, ["auc", "logloss"], ci=tm.Intervals(resamples=RESAMPLES))
    assert str(found[("a", "b"), "auc"]).startswith("auc: b beats a by 0.")
    assert str(found[("a", "b"), "auc"]).endswith("], p < 0.001 (DeLong)")
    assert str(found[("b", "c"), "auc"]).startswith("auc: c and b cannot be told apart: c − b = ")
    assert "logloss: b beats a by 0." in str(found[("b", "a"), "logloss"])


def test_distances_from_the_best_value_are_named_as_such():
    """Two biases below 0: the larger one is further off, and the difference is above 0."""
    found = tm.compare([1.0, 2.0, 3.0] * 4, {"a": [0.5, 2.0, 3.0] * 4, "b": [0.0, 1.5, 2.0] * 4}, ["mean_bias", "mae"])
    assert found[("a", "b"), "mean_bias"].value > 0
    assert str(found).count("what is compared is how far it is from 0") == 1
