"""tm.explain: every metric in words, and nothing in them that is not true."""

from __future__ import annotations

import contextlib
import io
import json
import math
import pickle
import re
from pathlib import Path

import numpy as np
import pytest

import tallymark as tm
from tallymark.guidance.explain import related_metrics
from tallymark.metrics import registry
from tallymark.rendering.fact_sheet import FactSheet, fact_sheet_to_html, fact_sheet_to_text

METRICS = [cls() for cls in registry.classes.values() if cls.__module__.startswith("tallymark.")]
GROUPED = [tm.gap("precision"), tm.ratio("precision"), tm.worst("auc"), *registry.compositions]
by_metric = pytest.mark.parametrize("metric", [*METRICS, *GROUPED], ids=str)


@by_metric
def test_every_explanation_is_complete(metric):
    """Sentence, formula, reading, outliers, pitfalls, parameters in words, neighbours and an example."""
    told = tm.explain(metric)
    sheet = told.sheet()
    assert sheet.title == f"{metric} · {metric.family}"
    assert sheet.sentence.endswith(".")
    shown = dict(sheet.facts)
    wanted = {"formula", "reads", "how to read", "outliers", "undefined", "pitfalls", "parameters", "see also"}
    assert wanted <= set(shown)
    assert all(lines and all(lines) for lines in shown.values())
    assert (metric.better is None) == ("better" not in shown)
    assert {item.name for item in told.parameters} == set(metric.parameters())
    assert all(item.meaning for item in told.parameters)
    assert told.example.startswith(">>> ")
    text, page = repr(told), told._repr_html_()
    for part in (*shown, metric.name):
        assert part in text
        assert part in page


@pytest.mark.parametrize("metric", registry.compositions, ids=str)
def test_a_composition_with_a_name_shows_its_own_example(metric):
    """By that name, with parameters of its own too."""
    assert str(metric) in tm.explain(metric).example
    assert tm.explain(metric.replace(undefined=0.0)).example == tm.explain(metric).example


@by_metric
def test_every_example_runs_as_shown(metric):
    """From outside, with nothing but `import tallymark as tm`."""
    names = {"tm": tm}
    blocks = re.split(r"^>>> ", tm.explain(metric).example, flags=re.MULTILINE)[1:]
    assert blocks
    for block in blocks:
        source, _, output = block.partition("\n")
        found = io.StringIO()
        with contextlib.redirect_stdout(found):
            exec(compile(source, "example", "single"), names)
        assert found.getvalue().rstrip("\n") == output.rstrip("\n")
    assert not hasattr(tm, "table")


@by_metric
def test_related_metrics_exist_and_differ_from_the_metric(metric):
    """Each once, and never the metric itself."""
    related = related_metrics(metric)
    assert related
    assert len(set(related)) == len(related)
    assert set(related) <= set(registry.classes) - {metric.name}
    if metric in GROUPED:
        return
    assert not set(metric.related) & {
        name for name, cls in registry.classes.items() if cls.__module__ == type(metric).__module__
    }, "those of its own file are related anyway"


HALF = np.tile([0, 1], 8), np.repeat([0, 1], 8)  # two sides that have nothing to do with each other
Y, Q = [1.0, 2.0, 3.0, 6.0], {"query": ["a", "a", "b", "b"]}
TURNED = [[1, 0, 1, 0], [0, 1, 0, 1]]
NOTHING = [[0, 1, 0, 1], [4, 3, 2, 1]]
SQUARE = [[0, 0], [0, 2], [2, 0], [2, 2]]
POINTS = [[0.0], [0.0], [9.0], [9.0]]
LANDMARKS = {
    "mase": [(1.0, [0, 0], [2, -2], {"scale": 2})],
    "smape": [(200.0, [1, 0], [-1, 5], {})],
    "r2": [(0.0, Y, [3.0] * 4, {})],
    "explained_variance": [(0.0, Y, [7.0] * 4, {})],
    "d2_absolute": [(0.0, Y, [2.0] * 4, {})],
    "d2_pinball": [(0.0, Y, [2.0] * 4, {})],
    "d2_tweedie": [(0.0, Y, [3.0] * 4, {})],
    "coverage": [
        (0.9, range(10), [[-1, 8.5]] * 10, {}),
        (1.0, range(10), [[-9, 99]] * 10, {}),
    ],
    "mean_bias": [(0.0, [1, 1], [0, 2], {})],
    "pearson": [(0.0, [1, 2, 3], [1, 0, 1], {}), (-1.0, [1, 2, 3], [3, 2, 1], {})],
    "spearman": [(0.0, [1, 2, 3], [1, 0, 1], {}), (-1.0, [1, 2, 3], [9, 2, 1], {})],
    "accuracy": [(0.0, *TURNED, {})],
    "margin_accuracy": [(0.0, [1, 0], [-1.0, 1.0], {})],
    "error_rate": [(1.0, *TURNED, {})],
    "hamming_loss": [(1.0, *TURNED, {})],
    "fdr": [(1.0, *TURNED, {})],
    "fallout": [(1.0, [1, 0], [1, 1], {})],
    "specificity": [(0.0, [1, 0], [1, 1], {})],
    "fnr": [(1.0, *TURNED, {})],
    "informedness": [(0.0, *HALF, {}), (-1.0, *TURNED, {})],
    "likelihood_ratio_positive": [(1.0, *HALF, {})],
    "likelihood_ratio_negative": [(1.0, *HALF, {})],
    "markedness": [(0.0, *HALF, {}), (-1.0, *TURNED, {})],
    "precision": [(0.0, *TURNED, {})],
    "recall": [(0.0, *TURNED, {})],
    "sensitivity": [(0.0, *TURNED, {})],
    "fscore": [(0.0, *TURNED, {})],
    "jaccard": [(0.0, *TURNED, {})],
    "mcc": [(0.0, *HALF, {}), (-1.0, *TURNED, {})],
    "cohen_kappa": [(0.0, *HALF, {})],
    "top_k_accuracy": [(0.0, ["c", "c", "a", "b"], [[3, 2, 1], [3, 2, 1], [1, 3, 2], [2, 1, 3]], {"k": 1})],
    "auc": [(0.5, [0, 1], [3, 3], {}), (0.0, *TURNED, {})],
    "gini": [(0.0, [0, 1], [3, 3], {}), (-1.0, *TURNED, {})],
    "ks": [(0.0, [0, 1], [3, 3], {})],
    "logloss": [(math.log(2), [0, 1], [0.5, 0.5], {})],
    "brier": [(0.25, [0, 1], [0.5, 0.5], {})],
    "d2_brier": [(0.0, [0, 1, 1, 1], [0.75] * 4, {})],
    "d2_logloss": [(0.0, [0, 1, 1, 1], [0.75] * 4, {})],
    "hinge_loss": [(1.0, [0, 1], [0.0, 0.0], {})],
    "rps": [(1.0, [0, 2, 0], [[0.0, 0, 1], [1, 0, 0], [0, 0, 1]], {"classes": [0, 1, 2]})],
    "ece": [(1.0, [0, 1], [1.0, 0.0], {})],
    "mce": [(1.0, [0, 1, 1], [1.0, 0.5, 0.5], {})],
    "dcg": [(0.0, *NOTHING, {**Q, "k": 1})],
    "ndcg": [(0.0, *NOTHING, {**Q, "k": 1})],
    "map": [(0.0, *NOTHING, {**Q, "k": 1})],
    "mrr": [(0.0, *NOTHING, {**Q, "k": 1})],
    "hit_rate": [(0.0, *NOTHING, {**Q, "k": 1})],
    "precision_at": [(0.0, *NOTHING, {**Q, "k": 1})],
    "recall_at": [(0.0, *NOTHING, {**Q, "k": 1})],
    "rand_index": [(0.0, [0, 0], [0, 1], {})],
    "adjusted_rand": [(0.0, [0, 0, 1, 1], [0, 0, 0, 0], {})],
    "fowlkes_mallows": [(0.0, [0, 0, 1, 1], [0, 1, 0, 1], {})],
    "mutual_information": [(0.0, *HALF, {})],
    "normalized_mutual_information": [(0.0, *HALF, {})],
    "adjusted_mutual_information": [(0.0, [0, 0, 1, 1], [0, 0, 0, 0], {})],
    "homogeneity": [(0.0, *HALF, {})],
    "completeness": [(0.0, *HALF, {})],
    "v_measure": [(0.0, *HALF, {})],
    "silhouette": [
        (1.0, POINTS, [0, 0, 1, 1], {}),
        (0.0, [[0.0], [0.0], [0.0], [0.0]], [0, 0, 1, 1], {}),
    ],
    "davies_bouldin": [(0.0, POINTS, [0, 0, 1, 1], {}), (1.0, SQUARE, [0, 0, 1, 1], {})],
    "calinski_harabasz": [(0.0, SQUARE, [0, 1, 1, 0], {})],
}


def test_values_with_a_meaning_are_what_they_are_said_to_be():
    """Each is reached by rows that are as its words say."""
    for metric in METRICS:
        cases = LANDMARKS.get(metric.name, [])
        assert sorted(mark for mark, _ in metric.landmarks) == sorted(mark for mark, *_ in cases), metric
        for mark, y, p, facts in cases:
            assert tm.metric(metric)(y, p, **facts) == pytest.approx(mark, abs=1e-12), (metric, mark)


def test_names_of_all_forms():
    """A name, another name, parameters in the string or beside it, the metric, its class."""
    one = tm.explain("fscore(beta=2)")
    assert one.metric == tm.FScore(beta=2)
    for same in ("f2", "fscore(beta=2.0)", tm.FScore(beta=2), {"name": "fscore", "beta": 2}):
        assert tm.explain(same) == one
        assert hash(tm.explain(same)) == hash(one)
    assert tm.explain("fscore", beta=2) == one != tm.explain("fscore")
    assert "beta=2 (by default 1): How many times" in repr(one)
    assert tm.explain(tm.Rmse).metric == tm.rmse
    with pytest.raises(tm.UnknownMetricError, match="Did you mean rmse"):
        tm.explain("rsme")


def test_facts_follow_the_parameters():
    """The level of an interval is a value with a meaning."""
    assert tm.explain("coverage(level=0.5)").landmarks[0] == (0.5, "as many as the intervals promise")
    assert "near 0.5" in repr(tm.explain("coverage(level=0.5)"))


def test_a_value_is_placed_among_the_landmarks():
    """At, between, above or below the values with a meaning; or what the reading says where there are none."""
    r2 = tm.explain("r2")
    assert r2.place(0) == "at 0: as good as always predicting the mean of y"
    assert r2.place(1.0) == "at 1: perfect predictions"
    assert r2.place(-3) == "below 0 (as good as always predicting the mean of y)"
    assert r2.place(0.5).startswith("between 0 (as good as")
    assert r2.place(0.5).endswith("perfect predictions)")
    assert r2.place(math.nan).startswith("undefined: The truth is constant")
    assert tm.explain("rmse").place(3).startswith("above 0 (perfect")
    assert tm.explain("logloss(clip=0)").place(np.float32(0.5)).startswith("between 0 (perfect")
    assert tm.explain("average_precision(undefined=0)").place("0.5").startswith("below 1")
    assert tm.explain("best_threshold").place(0.5).startswith("0.5: Call positive")
    with pytest.raises(tm.ParameterError, match=r"range of r2, \(−∞, 1\]; got 1.5"):
        r2.place(1.5)


def test_an_explanation_is_plain_data_and_json():
    """As a dict, and as JSON that every reader accepts; the explanation survives pickling of its metric."""
    told = tm.explain("huber(delta=2)")
    data = told.to_dict()
    assert data["metric"] == "huber(delta=2)"
    assert data["parameters"][0]["value"] == 2.0
    assert data["parameters"][0]["default"] == 1.0
    assert data["related"] == ["mae", "mse", "log_cosh"]
    read = json.loads(told.to_json())
    assert read["range"] == [0.0, None]
    assert tm.explain(pickle.loads(pickle.dumps(told.metric))) == told


def test_metrics_of_groups_name_what_they_combine():
    """They name what they combine, which stands beside them, and say as much of outliers as that does."""
    told = tm.explain("equalized_odds")
    assert told.related == ("recall", "fallout")
    assert told.reads == "labels, with `by`"
    assert told.metric.outliers == tm.recall.outliers
    assert tm.explain("gap(rmse, recall)").metric.outliers == f"{tm.rmse.outliers} {tm.recall.outliers}"
    assert json.loads(told.to_json())["parameters"][0]["value"] == ["recall", "fallout"]
    assert " of recall, fallout: The metrics" in repr(told)
    assert told.place(0) == "at 0: all groups get the same"
    assert tm.explain("ndcg").reads == "scores, with `query`"


def test_metrics_of_the_users_own():
    """A class shows what it says, a function its sentence; what is not said is left out."""

    def within_two(y_true, y_pred, weights):
        """The share of predictions within two units of the truth."""
        return float(np.mean(np.abs(y_pred - y_true) <= 2))

    try:
        told = tm.explain(tm.custom(within_two, better="higher"))
        assert told.sheet().sentence == "The share of predictions within two units of the truth."
        assert {"better", "range", "reads", "undefined", "parameters"} == {name for name, _ in told.sheet().facts}
        assert told.related == ()
        assert told.place(0.5) == "0.5"
        assert "within_two · custom" in repr(told)
        assert tm.explain(tm.custom(lambda y, p, w: 0.0, name="nothing")).sheet().sentence == "A metric of your own."

        names = {"tm": tm}
        exec(  # as typed at a prompt: there is no source to read
            "class Shown(tm.extend.SumMetric):\n"
            "    '''Half of it.\n\n    >>> tm.rmse([1], [1])\n    0.0\n    >>> shown([1], [1])\n    0.0\n    '''\n"
            "    terms = (tm.extend.Term('absolute_error'),)\n",
            names,
        )
        told = tm.explain("shown")
        assert told.example == ">>> tm.rmse([1], [1])\n0.0\n>>> shown([1], [1])\n0.0"
        assert told.related == ()
        assert told.parameters[0].meaning.startswith("How several outputs")
    finally:
        registry.functions.clear()
        registry.classes.pop("shown", None)


def test_sheets_cannot_break_out():
    """Control characters and HTML in a name or a sentence stay text; long lines are wrapped under their start."""
    sheet = FactSheet("<b>\x1b[2J", "a & b", [("fact", ["word " * 30, "<i>"]), ("x", ["y"])], "<u>\x07")
    text, page = fact_sheet_to_text(sheet), fact_sheet_to_html(sheet)
    assert "\x1b" not in text
    assert "\x07" not in text
    assert max(map(len, text.splitlines())) <= 96
    assert "\n      word" in text
    assert "<b>" not in page
    assert "<i>" not in page
    assert "<u>" not in page
    assert "a &amp; b" in page


def wild_rows(rng):
    """A thousand rows with errors of about 1, and the same with one row that is far off: truth, prediction, or a 0."""
    y = rng.normal(10.0, 1.0, 1000)
    p = y + rng.normal(0.5, 1.0, 1000)
    yield y, p
    for truth, prediction in ((100.0, 10.0), (10.0, 100.0), (1e-6, 10.0)):
        yield np.append(y[1:], truth), np.append(p[1:], prediction)


PAIRED = [m for m in METRICS if m.family == "regression" and m.layout == "paired" and m.name != "crps_quantile"]


@pytest.mark.parametrize("metric", PAIRED, ids=str)
def test_outliers_do_what_is_said(metric):
    """How much further from perfect one wild row in a thousand takes the value: hardly, a bit, or by half and more."""
    parameters = {"scale": 2.0} if metric.name == "mase" else {}
    values = [metric(y, p, **parameters) for y, p in wild_rows(np.random.default_rng(11))]
    base, *wild = (abs(value - metric.at_perfect) for value in values)
    moved = max(abs(value / base - 1) for value in wild)
    level = metric.outliers.split(":")[0]
    assert level == ("none" if moved < 0.02 else "low" if moved < 0.4 else "high" if moved > 0.5 else "unclear"), moved


def test_the_page_on_choosing_shows_what_explain_prints():
    """Its first lines, to the letter."""
    page = (Path(__file__).parents[2] / "docs" / "concepts" / "choosing.md").read_text()
    shown = re.search(r"```text\n(.*?)```", page, re.DOTALL)[1]
    assert repr(tm.explain("mae")).startswith(shown)


def test_metrics_of_groups_are_shown_as_they_are_written():
    """What they compare has no default, and stands there without quotes; as data it is a tuple of texts."""
    told = tm.explain("gap(fscore(beta=2))")
    assert " of fscore(beta=2): The metrics whose values are combined." in repr(told)
    assert told.parameters[0].value == ("fscore(beta=2)",)
