"""Learning curves: the values of the history, and the best round."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.text import Text

import tallymark as tm
from tallymark.rendering.plots.theme import LIGHT
from tallymark.training import EvalResult, EvalSet, Evaluator, History, Round

VALUES = {"valid": [5.0, 3.0, 2.0, 2.5, 4.0], "train": [4.0, 2.0, 1.0, 0.5, 0.25]}


def history(values=VALUES, metrics=("rmse", "mine"), best=2):
    rounds = []
    for k in range(len(next(iter(values.values())))):
        results = [
            EvalResult(s, m, each[k] * (1 + j), "lower") for s, each in values.items() for j, m in enumerate(metrics)
        ]
        rounds.append(Round(10 * k, tuple(results), "improved", best is not None and k <= best))
    return History(rounds)


def lines(plot, colour, panel=0):
    """The points of the lines of a colour, without dots."""
    patches = [p for p in plot.figure().axes[panel].patches if to_hex(p.get_edgecolor()) == colour]
    return [p.get_path().vertices.tolist() for p in patches if p.get_linewidth() == 1.8]


def test_every_metric_has_a_panel_with_a_line_for_each_set():
    """And the best round is marked in all; the sentence has the first metric there."""
    plot = history().plot()
    for panel in (0, 1):
        for values, colour in zip(VALUES.values(), LIGHT.series, strict=False):
            assert lines(plot, colour, panel) == [[[10.0 * k, v * (1 + panel)] for k, v in enumerate(values)]]
        (mark,) = [p for p in plot.figure().axes[panel].patches if to_hex(p.get_edgecolor()) == LIGHT.rule]
        assert mark.get_path().vertices[:, 0].tolist() == [20, 20]
    assert plot.description == "Learning curves: the best round is 20; there RMSE is 2 for valid, 1 for train."
    assert [row[0] for row in plot.table.rows] == [0, 10, 20, 30, 40]
    shown = [text.get_text() for text in plot.figure().findobj(Text)]
    assert {"RMSE", "mine", "valid", "train", "dashed: best round, 20"} <= set(shown)


def test_metrics_can_be_chosen():
    """By any of their names; one that is not there is an error."""
    plot = history().plot(["mine"])
    assert len(plot.figure().axes) == 1
    assert history().plot(tm.rmse).description == history().plot("rmse").description == history().plot().description
    with pytest.raises(KeyError, match="the history has no auc; it has rmse, mine"):
        history().plot(["auc"])


def test_what_is_not_finite_is_a_gap():
    """Where nothing is finite there is no panel, and without any panel no plot."""
    gap = history({"valid": [3.0, 2.0, np.nan, np.inf, 1.0, 0.5]}, best=None).plot()
    assert lines(gap, LIGHT.series[0]) == [[[0, 3], [10, 2]], [[40, 1], [50, 0.5]]]
    assert gap.description == "Learning curves: the last round is 50; there RMSE is 0.5 for valid."
    for empty in (History(), history({"valid": [np.nan]})):
        with pytest.raises(tm.UndefinedError, match="there are no learning curves: the history has no finite value"):
            empty.plot()
    with pytest.raises(tm.UndefinedError, match="too far apart to be drawn"):
        history({"valid": [-1e308, 1e308]}).plot()
    assert history({"valid": [1.0]}).plot().png()


@pytest.mark.slow
def test_very_long_histories_stay_small():
    """In the drawing and in the table, which keeps the best and the last round."""
    rng = np.random.default_rng(2)
    plot = history(
        {"valid": list(np.exp(-np.arange(5_000) / 900) + rng.random(5_000) / 9)}, ["rmse"], best=4_321
    ).plot()
    assert len(plot.svg("auto")) < 150_000
    assert len(plot.table.rows) <= 102
    assert {0, 43_210, 49_990} <= {row[0] for row in plot.table.rows}
    assert plot.table.notes == ["102 of 5,000 evaluations: see .to_pandas()"]


def test_the_best_round_is_that_of_the_evaluator():
    """As training found it."""
    evaluator = Evaluator(["mae", "rmse"], [EvalSet("valid", [1.0, 2.0])])
    for number, last in enumerate((4.0, 3.0, 2.5, 3.0)):
        evaluator.step(number, [1.0, last])
    assert (
        f"the best round is {evaluator.best_round}; there MAE is 0.25 for valid" in evaluator.history.plot().description
    )
