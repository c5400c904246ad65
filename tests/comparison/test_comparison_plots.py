"""The plots of a comparison: they show its differences, and its models side by side."""

from __future__ import annotations

import numpy as np
import pytest
from tests.evaluation.plot_rows import GUESSES, NUMBERS, SCORE, TRUTH, texts

import tallymark as tm
from tallymark.rendering.plots.forest import MOST_PAIRS

MODELS = {"old": SCORE, "new": np.clip(SCORE + 0.2 * (TRUTH - 0.5), 0, 1), "same": SCORE}


def test_differences_are_those_of_the_comparison():
    """By pair, with intervals, verdicts and letters."""
    found = tm.compare(TRUTH, MODELS, ["auc", "logloss"], kind="probability", ci=tm.Intervals(resamples=200))
    assert found.plot.available() == ("differences", "roc", "precision_recall")
    plot = found.plot.differences()
    pairs = [d for d in found if d.metric == "auc"]
    assert [row[:2] for row in plot.table.rows] == [(f"{d.second} − {d.first}", d.value) for d in pairs]
    shown = texts(plot)
    for d in pairs:
        assert f"{d.second} − {d.first}" in shown
    assert {"a", "b"} <= set(shown)
    assert "Models that share a letter do not differ significantly: new" in plot.description
    assert "(a), " in plot.description
    assert found.plot.differences("logloss").title == "Differences in log loss"
    with pytest.raises(KeyError, match="not in the report"):
        found.plot.differences("mae")


def test_differences_from_a_baseline_have_no_letters():
    """They need every pair."""
    plot = tm.compare(TRUTH, MODELS, ["auc"], kind="probability", baseline="old").plot.differences()
    assert len(plot.table.rows) == 2
    assert "share a letter" not in plot.description


def test_models_are_drawn_side_by_side_best_first():
    """One line each, the best first, with the areas of the metric."""
    found = tm.compare(TRUTH, MODELS, ["auc"], kind="probability")
    plot = found.plot.roc()
    assert plot.table.rows == list(found.ranking("auc").items())
    assert set(MODELS) <= set(texts(plot))
    assert found.plot.precision_recall().table.rows[0] == ("new", tm.average_precision(TRUTH, MODELS["new"]))
    numbers = tm.compare(NUMBERS, {"a": GUESSES, "b": GUESSES + 1}, ["rmse"], ci=tm.Intervals(resamples=100))
    assert numbers.plot.available() == ("differences",)
    assert numbers.plot.differences().svg()


def test_of_many_models_the_best_and_the_worst():
    """All stand in the table; so do the differences, of which the largest are drawn."""
    models = {f"model {k}": np.clip(SCORE + 0.02 * k * (TRUTH - 0.5), 0, 1) for k in range(11)}
    found = tm.compare(TRUTH, models, ["auc"], kind="probability")
    plot = found.plot.roc()
    assert len(plot.table.rows) == 11
    assert "by area · 8 of 11, the highest and lowest" in texts(plot)
    assert "model 10" in texts(plot)
    assert "model 5" not in texts(plot)
    differences = found.plot.differences()
    assert len(differences.table.rows) == 55
    assert sum(" − " in text for text in texts(differences)) == MOST_PAIRS
    assert "the 28 largest of 55 (filled marker: significant)" in texts(differences)


def test_a_difference_without_an_interval_has_its_number():
    """A perfect model and a constant one, and two that are the same."""
    y = [0, 1] * 30
    shown = tm.compare(y, {"right": y, "twin": y, "never": [0.0] * 60}, ["auc"], kind="score")
    told = shown.plot.differences().description
    assert "never − right = -0.5" in told
    assert "twin − right = 0;" in told
    assert "undefined" not in told
