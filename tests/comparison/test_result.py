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
    assert (d.winner, d.significant, d.verdict) == (None, True, "different")
    assert str(d).startswith("selection rate: significant difference between many and few: many − few = 0.")


@pytest.mark.parametrize(
    ("ends", "shown"),
    [
        ((0.00512, 0.02034), "0.013 [0.005, 0.020]"),
        ((-3.0, 57.2), "27 [-3, 57]"),
        ((0.00004, 0.02), "0.010 [0.00004, 0.020]"),
        ((-0.11, 0.109), "-0.001 [-0.11, 0.11]"),
        ((1e-9, 3e-9), "2e-09 [1e-09, 3e-09]"),
        ((-1234.5, 98765.4), "48,765 [-1,234, 98,765]"),
    ],
)
def test_decimals_are_as_many_as_the_interval_bears(ends, shown):
    """Two digits of its width, and more for a number that would read as 0."""
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
    assert str(bias).startswith("mean bias: high beats low by 0.3")


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
    assert "models that share a letter do not differ significantly" in text
    assert "p and intervals are corrected for the 3 pairs of each metric (max-T)" in text
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
    assert str(found[("a", "b"), "auc"]).startswith("ROC AUC: b beats a by 0.")
    assert str(found[("a", "b"), "auc"]).endswith("], p ≤ 0.005 (paired bootstrap, max-T)")
    assert str(found[("b", "c"), "auc"]).startswith("ROC AUC: no significant difference between c and b: c − b = ")
    assert "log loss: b beats a by 0." in str(found[("b", "a"), "logloss"])


def test_distances_from_the_best_value_are_named_as_such():
    """Two biases below 0: the larger one is further off, and the difference is above 0."""
    found = tm.compare([1.0, 2.0, 3.0] * 4, {"a": [0.5, 2.0, 3.0] * 4, "b": [0.0, 1.5, 2.0] * 4}, ["mean_bias", "mae"])
    assert found[("a", "b"), "mean_bias"].value > 0
    assert str(found).count("distances from 0 are compared") == 1


def summaries(**options):
    y, models = scores(400, seed=2, noise=(2.0, 1.0, 1.02, 2.1))
    return tm.compare(y, models, ["auc"], **options)


def test_a_summary_names_the_best_model_the_p_value_and_the_correction():
    """The models that do not differ significantly from the best are named."""
    found = summaries()
    p = found[("b", "c"), "auc"].shown_p()
    assert found.summary("auc") == f"ROC AUC: c scores best; the difference from b is not significant ({p}, max-T)"
    assert found.summary("auc") in str(found)
    assert summaries(correction="holm").summary("auc").endswith(", Holm)")
    assert summaries(correction="none").summary("auc").endswith(", uncorrected)")
    baseline = summaries(baseline="a").summary("auc")
    assert baseline == "ROC AUC: c scores best; the difference from a is significant (p ≤ 0.001, max-T)"


def test_a_summary_of_several_differences():
    """A bound of their p-values; many models are counted."""
    rng = np.random.default_rng(4)
    y = rng.normal(size=200)
    models = {name: y + rng.normal(size=200) for name in "abcdefg"}
    text = tm.compare(y, models, ["rmse"]).summary("rmse")
    assert " scores best; the differences from 6 models are not significant (p ≥ 0." in text
    ahead = tm.compare(y, {"x": y + 0.1 * rng.normal(size=200), **models}, ["rmse"]).summary("rmse")
    assert ahead == "RMSE: x scores best; the differences from 7 models are significant (p ≤ 0.001, max-T)"


def test_a_summary_of_two_models():
    """The sentence of the pair where the difference is significant; else the test instead of a correction."""
    y, models = scores(400, seed=2, noise=(2.0, 1.0, 1.02))
    ahead = tm.compare(y, {"a": models["a"], "b": models["b"]}, ["auc"])
    assert ahead.summary("auc") == str(next(iter(ahead))).replace("auc", "ROC AUC")
    close = tm.compare(y, {"b": models["b"], "c": models["c"]}, ["auc"])
    p = next(iter(close)).shown_p()
    assert close.summary("auc") == f"ROC AUC: c scores best; the difference from b is not significant ({p}, DeLong)"


def test_a_summary_of_what_has_no_best_value_or_no_test():
    """Differences are counted; pairs without a test are named."""
    models = {str(k): (MODELS["a"] > k / 10).astype(int) for k in (2, 5, 8)}
    shares = tm.compare(Y, models, ["selection_rate"])
    assert shares.summary("selection_rate") == "selection rate: 3 of 3 differences are significant"
    y = [0, 1] * 30
    found = tm.compare(y, {"right": y, "guess": [0.3, 0.6, 0.5, 0.4] * 15, "never": [0.0] * 60}, ["auc"], kind="score")
    assert found.summary("auc").endswith("; the difference from never is not testable")
    assert found[("right", "never"), "auc"].verdict == "not testable"
    tied = tm.compare(y, {"right": y, "twin": y, "guess": [0.3, 0.6, 0.5, 0.4] * 15}, ["auc"], kind="score")
    assert tied.summary("auc").startswith("ROC AUC: right and twin score best; the difference from guess is ")


def test_intervals_say_whether_they_are_corrected():
    """In the tables, sentences, JSON and plots; those of a single pair need no word."""
    metrics = ["auc", "brier"]
    two = {name: MODELS[name] for name in "ab"}
    for found, word in (
        (tm.compare(Y, MODELS, metrics), "simultaneous"),
        (tm.compare(Y, MODELS, metrics, correction="fdr"), "uncorrected"),
        (tm.compare(Y, MODELS, metrics, correction="none", baseline="a"), "uncorrected"),
        (tm.compare(Y, two, metrics, correction="holm"), None),
    ):
        assert found.intervals == found.to_dict()["intervals"] == word
        heading = "95 % interval" if word is None else f"95 % interval ({word})"
        assert heading in str(found)
        assert heading in found._repr_html_()
        assert found.plot.differences().description
        sentences = [str(d) for d in found]
        assert all(("(uncorrected)" in text) == (word == "uncorrected") for text in sentences)
        assert ("corrected p" in str(found)) == (found.settings.correction == "fdr" and word is not None)


def test_p_values_at_the_floor_are_bounds():
    """Printed with their own floor, in sentences and tables."""
    y, models = scores(400, seed=2, noise=(4.0, 1.0, 1.02))
    two = {name: models[name] for name in "ab"}
    d = next(iter(tm.compare(y, two, ["logloss"])))
    assert str(d).endswith(", p ≤ 0.002 (paired bootstrap)")
    assert " ≤ 0.002 " in str(tm.compare(y, two, ["logloss"]))
    assert "p ≤ 0.01 " in str(next(iter(tm.compare(y, two, ["logloss"], ci=tm.Intervals(resamples=199)))))
    holm = tm.compare(y, models, ["logloss"], correction="holm")[("a", "b"), "logloss"]
    assert "p ≤ 0.006 (paired bootstrap, Holm)" in str(holm)
    joint = tm.compare(y, models, ["logloss"])[("a", "b"), "logloss"]
    assert "p ≤ 0.001 (paired bootstrap, max-T)" in str(joint)
    assert "p < 0.001 (McNemar)" in str(next(iter(tm.compare(y, two, ["accuracy"]))))


def test_the_detectable_difference_of_max_t_uses_its_critical_value():
    """The half width of the simultaneous interval, and the quantile of the power."""
    found = tm.compare(Y, MODELS, ["brier"])
    for d in found:
        error = (d.hi - d.lo) / 2
        values = tm.compare(Y, {d.first: MODELS[d.first], d.second: MODELS[d.second]}, ["brier"])
        alone = next(iter(values)).detectable
        assert alone < d.detectable
        power = alone / (stats.t.ppf(0.975, 299) + stats.t.ppf(0.8, 299)) * stats.t.ppf(0.8, 299)
        assert d.detectable == pytest.approx(error + power, rel=1e-6)


def test_the_page_counts_the_models_that_the_best_one_beats():
    """On the card of each metric; of two models it says whether the difference is significant."""
    found = tm.compare(Y, MODELS, ["auc"])
    best = next(iter(found.ranking("auc")))
    beaten = sum(d.winner == best for d in found)
    others = len(MODELS) - 1
    assert f"{best} scores best; significantly better than {beaten} of {others} other models" in found.to_html()


def test_an_index_that_is_not_a_pair_and_a_metric_is_explained():
    """With the index that is needed."""
    with pytest.raises(KeyError, match=r"index a comparison by \[\('first', 'second'\), 'metric'\]; got 'auc'"):
        tm.compare(Y, MODELS, ["auc"])["auc"]
