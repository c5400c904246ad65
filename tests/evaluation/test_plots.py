"""The plots of a report: they show what the metrics say, and say why where they cannot."""

from __future__ import annotations

import copy
import importlib
import itertools
import pickle
import re

import numpy as np
import pytest
from tests.evaluation.plot_rows import GUESSES, NUMBERS, RNG, ROWS, SCORE, TRUTH, texts

import tallymark as tm
from tallymark.rendering.plots.canvas import show_short
from tallymark.rendering.plots.plot import Plot
from tallymark.rendering.plots.theme import LIGHT

CLASSES = np.array(["ant", "bee", "cow"])
MANY = RNG.integers(0, 3, ROWS)
TABLE = RNG.dirichlet([1, 1, 1], ROWS) + 0.4 * np.eye(3)[MANY]
TABLE /= TABLE.sum(axis=1, keepdims=True)
RANKED = ("roc", "precision_recall", "score_histogram", "lift", "thresholds")
DECIDED = ("confusion", "class_balance")
GROUPS = np.array(["north", "south", "east"])[RNG.integers(0, 3, ROWS)]


def binary(**facts):
    return tm.evaluate(TRUTH, SCORE, ["auc", "logloss", "accuracy"], kind="probability", **facts)


def vertices(plot, colour, *, axes=0):
    """The points of the lines of a colour."""
    figure = plot.figure()
    from matplotlib.colors import to_hex

    found = [p.get_path().vertices for p in figure.axes[axes].patches if to_hex(p.get_edgecolor()) == colour]
    return found[0] if len(found) == 1 else found


@pytest.mark.parametrize(
    ("make", "names"),
    [
        (binary, (*RANKED, "reliability", *DECIDED)),
        (lambda: binary(by=GROUPS), (*RANKED, "reliability", *DECIDED, "slices")),
        (lambda: tm.evaluate(TRUTH, SCORE, ["auc"]), RANKED),
        (lambda: tm.evaluate(TRUTH, SCORE * 9, kind="score"), RANKED),
        (
            lambda: tm.evaluate(CLASSES[MANY], TABLE),
            ("roc", "precision_recall", "score_histogram", "lift", "reliability", *DECIDED),
        ),
        (lambda: tm.evaluate(NUMBERS, GUESSES), ("residuals", "predictions")),
        (lambda: tm.evaluate(CLASSES[MANY], CLASSES[MANY]), DECIDED),
        (lambda: tm.evaluate(TRUTH, SCORE, ["ndcg"], query=GROUPS), ()),
        (lambda: tm.evaluate(TRUTH, TRUTH, ["adjusted_rand"]), ()),
        (
            lambda: tm.evaluate(TRUTH, np.log(SCORE / (1 - SCORE)), kind="margin"),
            (*RANKED, "reliability", *DECIDED),
        ),
    ],
)
def test_what_is_available_goes_with_the_predictions(make, names):
    """And all of it can be drawn."""
    report = make()
    assert report.plot.available() == names
    for name in names:
        plot = getattr(report.plot, name)()
        assert isinstance(plot, Plot)
        assert plot.svg("auto").startswith("<svg")
        assert plot.table.rows


def test_roc_is_the_curve_of_the_metric():
    """Every point that is drawn is one of it, from end to end, and the area is auc with its interval."""
    report = tm.evaluate(TRUTH, SCORE, ["auc"], ci=0.9)
    curve, plot = tm.roc_curve(TRUTH, SCORE), report.plot.roc()
    drawn = vertices(plot, LIGHT.series[0])
    assert {tuple(p) for p in drawn.tolist()} <= set(zip(curve.fpr.tolist(), curve.tpr.tolist(), strict=True))
    assert drawn[0].tolist() == [0, 0]
    assert drawn[-1].tolist() == [1, 1]
    cell = report.cell("auc")
    shown = f"{cell.value:.3f} (90 %: {cell.lo:.3f} to {cell.hi:.3f})"
    assert plot.description == f"ROC curve: the area under the curve is {shown}; chance has 0.5."
    assert f"area {shown}" in texts(plot)


def test_weights_count():
    """In curves and in the share of positives."""
    weights = RNG.integers(0, 4, ROWS)
    plot = tm.evaluate(TRUTH, SCORE, ["average_precision"], weights=weights).plot.precision_recall()
    value = tm.average_precision(TRUTH, SCORE, weights=weights)
    share = float(np.average(TRUTH, weights=weights))
    assert f"the average precision is {value:.3f}; the share of positives is {share:.3f}." in plot.description


def test_every_class_against_the_rest():
    """The best first; of many classes the best and the worst four."""
    plot = tm.evaluate(CLASSES[MANY], TABLE, ["auc"]).plot.roc()
    values = {c: tm.auc(CLASSES[MANY] == c, TABLE[:, k]) for k, c in enumerate(CLASSES)}
    assert plot.table.rows == [
        (name, pytest.approx(value, rel=1e-12)) for name, value in sorted(values.items(), key=lambda item: -item[1])
    ]
    assert set(CLASSES) <= set(texts(plot))
    truth = np.arange(ROWS) % 12
    table = RNG.dirichlet(np.ones(12), ROWS)
    many = tm.evaluate(truth, table, ["auc"]).plot.precision_recall()
    assert len(many.table.rows) == 12
    assert "by average precision · 8 of 12, the highest and lowest" in texts(many)
    shown = [name for name, _ in [*many.table.rows[:4], *many.table.rows[-4:]]]
    assert [text for text in texts(many) if text in {str(k) for k in range(12)} - {"0", "1"}] == [
        name for name in shown if name not in ("0", "1")
    ]


def test_thresholds_are_those_of_the_table():
    """Levels of the metrics, and the best F marked."""
    plot = binary().plot.thresholds()
    table = tm.threshold_table(TRUTH, SCORE)
    best = table.best("fscore")
    assert f"F1 is best at {best.threshold:g}, where it is {best.value:.3f}." in plot.description
    recall = vertices(plot, LIGHT.series[1])
    assert set(recall[:, 1].tolist()) <= set(table["recall"].tolist())
    for (left, level), (right, next_level) in itertools.pairwise(recall.tolist()):
        if level == next_level and right > left:
            assert level == TRUTH[(left + right) / 2 <= SCORE].sum() / TRUTH.sum()
    assert recall[0].tolist() == [-0.015, 1.0]
    assert recall[-1].tolist() == [1.015, 0.0]
    assert plot.table.headings[:2] == ["threshold", "tp"]


def test_thresholds_of_scores_go_from_the_lowest_to_the_highest():
    """They are no probabilities; equal scores have a place too."""
    axes = tm.evaluate(TRUTH, SCORE * 40 - 7, kind="score").plot.thresholds().figure().axes[0]
    low, high = SCORE.min() * 40 - 7, SCORE.max() * 40 - 7
    assert axes.get_xlim() == pytest.approx((low - 0.015 * (high - low), high + 0.015 * (high - low)))
    assert tm.evaluate([0, 1], [2.0, 2.0], kind="score").plot.thresholds().png()


def test_the_best_threshold_of_very_many_is_the_best():
    """Thinning keeps it, to the last bit."""
    truth = RNG.integers(0, 2, 70_000)
    score = truth + RNG.normal(size=70_000)
    report = tm.evaluate(truth, score, ["auc"], kind="score")
    best = tm.threshold_table(truth, score).best("fscore")
    assert re.search(
        r"F1 is best at (\S+), where it is (\S+)\.", report.plot.thresholds().description
    ).groups() == (
        show_short(best.threshold),
        show_short(best.value),
    )
    assert report.plot.thresholds().table.title == "threshold table · 70,001 thresholds"
    assert "of 70,001 thresholds" in report.plot.thresholds().table.notes[0]


def test_scores_by_class_are_histograms_of_each():
    """In bins from 0 to 1 for probabilities, by weight; the sentence has the medians."""
    weights = RNG.integers(0, 4, ROWS)
    plot = tm.evaluate(TRUTH, SCORE, ["auc"], kind="probability", weights=weights).plot.score_histogram(bins=10)
    for column, label in ((2, 0), (3, 1)):
        rows = label == TRUTH
        counts = np.histogram(SCORE[rows], np.linspace(0, 1, 11), weights=weights[rows])[0]
        assert [row[column] for row in plot.table.rows] == counts.tolist()
        ordered = np.sort(np.repeat(SCORE[rows], weights[rows]))
        assert f"{show_short(ordered[(len(ordered) - 1) // 2])} for {label}" in plot.description
    shares = vertices(plot, LIGHT.series[1])[:, 1]
    assert shares.max() == pytest.approx(counts.max() / counts.sum())
    named = tm.evaluate(np.array(["no", "yes"])[TRUTH], SCORE, ["auc"], positive="yes").plot.score_histogram()
    assert named.table.headings[2:] == ("rows of no", "rows of yes")


def test_scores_of_any_size_are_shown_from_the_lowest_to_the_highest():
    """But for a few that lie far outside, which are counted."""
    scores = SCORE * 40 - 7
    table = tm.evaluate(TRUTH, scores, kind="score").plot.score_histogram().table
    assert (table.rows[0][0], table.rows[-1][1]) == (scores.min(), scores.max())
    assert sum(row[2] + row[3] for row in table.rows) == ROWS
    scores[7] = 1e6
    assert "share of the rows of each class · 1 row outside" in texts(
        tm.evaluate(TRUTH, scores, kind="score").plot.score_histogram()
    )
    level = tm.evaluate([1, 0], [2.0, 2.0], kind="score").plot.score_histogram()
    assert level.table.rows[0][2:] == (1.0, 1.0)


@pytest.mark.parametrize("name", ["score_histogram", "lift"])
def test_of_several_classes_one_is_drawn(name):
    """The one with the lowest ROC AUC against the rest, or the one that is asked for."""
    report = tm.evaluate(CLASSES[MANY], TABLE, ["auc"])
    areas = {c: tm.auc(CLASSES[MANY] == c, TABLE[:, k]) for k, c in enumerate(CLASSES)}
    draw = getattr(report.plot, name)
    assert draw().svg() == draw(label=min(areas, key=areas.get)).svg()
    assert draw(label="ant").svg() != draw(label="bee").svg()
    with pytest.raises(tm.ParameterError, match="`label` must be one of 'ant', 'bee', 'cow'; got 'dog'"):
        draw(label="dog")
    with pytest.raises(tm.ParameterError, match="`label` must be left out, since there are two classes"):
        getattr(binary().plot, name)(label=1)


def test_gain_is_the_share_of_positives_in_the_first_rows():
    """As counted in the rows themselves, and as in the metric."""
    scores = RNG.permutation(ROWS).astype(float) + 30 * TRUTH
    plot = tm.evaluate(TRUTH, scores, kind="score").plot.lift()
    first = TRUTH[np.argsort(-scores)][: ROWS // 10]
    gain = first.sum() / TRUTH.sum()
    assert f"hold {100 * gain:.0f} % of the positives, {10 * gain:.2g} times as many" in plot.description
    drawn = vertices(plot, LIGHT.series[0])
    curve = tm.lift_curve(TRUTH, scores, kind="score")
    assert {tuple(p) for p in drawn.tolist()} <= set(zip(curve.share.tolist(), curve.gain.tolist(), strict=True))
    lift = vertices(plot, LIGHT.series[0], axes=1)
    for share, value in lift[::40]:
        assert value == pytest.approx(np.interp(share, drawn[:, 0], drawn[:, 1]) / share)
    assert plot.table.headings == ["threshold", "share", "gain", "lift"]


def test_class_balance_counts_truth_and_predictions():
    """By weight, at any threshold; of very many classes those that differ the most."""
    weights = RNG.integers(0, 4, ROWS)
    report = tm.evaluate(TRUTH, SCORE, ["accuracy"], kind="probability", weights=weights)
    total = weights.sum()
    for threshold in (0.5, 0.8):
        plot = report.plot.class_balance(threshold=threshold)
        for row, label in zip(plot.table.rows, (0, 1), strict=True):
            truth, predicted = weights[label == TRUTH].sum(), weights[(threshold <= SCORE) == label].sum()
            assert row == (str(label), truth, predicted, truth / total, predicted / total)
    truth = np.arange(ROWS) % 50
    said = np.where(truth == 7, 9, truth)
    many = tm.evaluate(truth, said, ["accuracy"]).plot.class_balance()
    assert "the 24 of 50 that differ most" in " ".join(texts(many))
    assert many.description.startswith("Class balance: 7 is the truth of 2.0 % of the rows and the prediction of 0.0 %")


def test_reliability_is_the_curve_of_the_metric():
    """In as many bins as are asked for; with intervals where the report has them, and rows of no weights."""
    report = binary()
    curve = tm.reliability_curve(TRUTH, SCORE, bins=5)
    plot = report.plot.reliability(bins=5)
    drawn = vertices(plot, LIGHT.series[0])
    assert drawn[0][:, 0].tolist() == curve.confidence.tolist()
    assert drawn[0][:, 1].tolist() == curve.accuracy.tolist()
    assert f"{tm.ece(TRUTH, SCORE, bins=5):.3f} on average" in plot.description
    with_intervals = binary(ci=0.95).plot.reliability(bins=5)
    assert "95 % interval" in with_intervals.description
    assert len(vertices(with_intervals, LIGHT.series[0])) == 2 + 5
    weighted = binary(ci=tm.Intervals(resamples=50), weights=np.full(ROWS, 2.0)).plot.reliability(bins=5)
    assert "interval" not in weighted.description


def test_confusion_is_that_of_the_metric():
    """With names; of very many classes, the most frequent mistakes."""
    said = np.where(RNG.random(ROWS) < 0.8, CLASSES[MANY], "cow")
    plot = tm.evaluate(CLASSES[MANY], said, ["accuracy"]).plot.confusion()
    matrix = tm.confusion_matrix(CLASSES[MANY], said)
    assert plot.table == matrix.table()
    assert {str(n) for n in matrix.to_numpy().ravel().tolist()} <= set(texts(plot))
    threshold = binary().plot.confusion(threshold=0.8)
    assert threshold.table == tm.confusion_matrix(TRUTH, SCORE, threshold=0.8, kind="probability").table()
    many = np.arange(ROWS) % 50
    wrong = np.where(many == 7, 9, many)
    found = tm.evaluate(many, wrong, ["accuracy"]).plot.confusion()
    assert found.title == "Most frequent mistakes"
    assert "7 taken for 9" in found.description
    assert "8 · 100 %" in texts(found)


def test_residuals_are_predictions_less_truth():
    """Every row is a dot where there are few; the numbers are those of the metrics; rows of no weight are left out."""
    weights = np.arange(ROWS) % 3
    report = tm.evaluate(NUMBERS, GUESSES, ["rmse"], weights=weights)
    plot = report.plot.residuals()
    drawn = vertices(plot, LIGHT.series[0])[::2]
    there = weights > 0
    assert drawn[:, 0].tolist() == GUESSES[there].tolist()
    assert drawn[:, 1].tolist() == (GUESSES - NUMBERS)[there].tolist()
    assert f"their root mean square {report['rmse']:.3f}" in plot.description
    assert f"mean is {show_short(tm.mean_bias(NUMBERS, GUESSES, weights=weights))}" in plot.description
    assert sum(row[2] for row in plot.table.rows) == weights.sum()
    other = report.plot.predictions()
    assert f"r2 is {tm.r2(NUMBERS, GUESSES, weights=weights):.3f}" in other.description


def test_one_of_several_outputs():
    """The first, or the one that is asked for."""
    truth, guess = np.column_stack((NUMBERS, -NUMBERS)), np.column_stack((GUESSES, GUESSES))
    report = tm.evaluate(truth, guess, ["rmse"])
    assert report.plot.residuals().title == "Residuals · output 0"
    second = report.plot.residuals(output=1)
    assert second.title == "Residuals · output 1"
    assert f"{tm.rmse(-NUMBERS, GUESSES):.3f}" in second.description
    with pytest.raises(tm.ParameterError, match="`output` must be from 0 to 1; got 2"):
        report.plot.residuals(output=2)
    quantiles = tm.evaluate(NUMBERS, guess, [tm.Pinball(alphas=(0.1, 0.9))])
    assert quantiles.plot.available() == ()
    assert "one column for each of `y_true`" in quantiles.plot.reasons()["residuals"]


def test_slices_are_the_values_of_the_groups():
    """With sizes and intervals, the worst first; any metric with one number; the first where none is named."""
    report = binary(by={"region": GROUPS}, ci=0.95)
    plot = report.plot.slices()
    assert plot.title == "ROC AUC by region"
    rows = [
        (group, each.n, each["auc"], each.cell("auc").lo, each.cell("auc").hi) for group, each in report.slices.items()
    ]
    assert plot.table.rows == sorted(rows, key=lambda row: row[2])
    assert str(report.slices["east"].n) in texts(plot)
    assert f"all rows have {report['auc']:.3f}." in plot.description
    assert report.plot.slices("logloss").title == "log loss by region"
    with pytest.raises(KeyError, match="not in the report"):
        report.plot.slices("mae")
    with pytest.raises(tm.ParameterError, match="pass `by` to evaluate"):
        binary().plot.slices()
    with pytest.raises(
        tm.ParameterError, match="`metric` must have one number per group to be drawn; confusion_matrix"
    ):
        tm.evaluate(TRUTH, TRUTH, ["accuracy", "confusion_matrix"], by=GROUPS).plot.slices("confusion_matrix")


def test_of_many_groups_the_worst_are_drawn():
    """As many as can be read; the table has them all, those without a value too."""
    groups = np.arange(ROWS) % 60
    truth = np.where(groups == 3, 1, TRUTH)
    report = tm.evaluate(truth, SCORE, ["auc"], by=groups)
    plot = report.plot.slices()
    assert len(plot.table.rows) == 60
    assert "20 of 60 groups, the worst first" in " ".join(texts(plot))
    worst = min(each["auc"] for each in report.slices.values())
    assert plot.table.rows[0][2] == worst
    assert [row[0] for row in plot.table.rows[:20]] == [row[0] for row in report.group_tables()[0].rows[1:]]


def test_of_very_many_groups_the_table_has_those_that_are_drawn():
    """So that a page of them stays small; it says how many there are."""
    groups = np.arange(501)
    table = tm.evaluate(groups, groups + 0.5, ["mae"], kind="value", by=groups).plot.slices().table
    assert (len(table.rows), table.notes) == (20, ["20 of 501 groups: see .slices.to_pandas()"])


@pytest.mark.parametrize("name", ["roc", "thresholds"])
def test_one_class_only_says_why(name):
    """Nothing is drawn; the reasons of all stand in one place."""
    report = tm.evaluate(np.ones(9, int), SCORE[:9], ["auc", "logloss"], kind="probability")
    with pytest.raises(tm.UndefinedError, match="is undefined: all rows are of one class"):
        getattr(report.plot, name)()
    assert report.plot.reasons()[name].endswith("all rows are of one class")
    assert report.plot.available() == ("precision_recall", "score_histogram", "reliability", *DECIDED)


def test_a_class_without_rows_says_which():
    """The others are drawn; where none can be, the plot says why."""
    report = tm.evaluate(["ant", "bee"] * 5, TABLE[:10], ["logloss"], classes=CLASSES)
    plot = report.plot.roc()
    assert [name for name, _ in plot.table.rows][2:] == ["cow"]
    assert plot.table.notes == ["cow: all rows are of one class"]
    assert "cow" not in plot.description
    with pytest.raises(tm.UndefinedError, match="roc_curve is undefined for every class: all rows are of one class"):
        tm.evaluate(["ant"] * 5, TABLE[:5], ["logloss"], classes=CLASSES).plot.roc()


def test_a_plot_of_another_kind_says_what_it_reads():
    """Numbers have no ROC curve, labels have no residuals."""
    with pytest.raises(tm.KindError, match='roc_curve reads scores, probabilities or margins; got kind="value"'):
        tm.evaluate(NUMBERS, GUESSES, kind="value").plot.roc()
    with pytest.raises(tm.KindError, match='rmse reads predictions of kind "value"; got kind="label"'):
        tm.evaluate(TRUTH, TRUTH, kind="label").plot.residuals()
    with pytest.raises(tm.TallymarkError):
        tm.evaluate(CLASSES[MANY], CLASSES[MANY]).plot.residuals()
    with pytest.raises(tm.UndefinedError, match="thresholds are of two classes, and there are more"):
        tm.evaluate(CLASSES[MANY], TABLE).plot.thresholds()


def test_a_tally_draws_from_its_states():
    """What it has no state for, it asks for kindly."""
    tally = tm.Tally(["auc", "logloss"], kind="probability")
    for piece in np.array_split(np.arange(ROWS), 3):
        tally.update(TRUTH[piece], SCORE[piece])
    report = tally.report()
    assert report.plot.available() == RANKED
    assert report.plot.roc().svg() == tm.evaluate(TRUTH, SCORE, ["auc"]).plot.roc().svg()
    with pytest.raises(tm.ParameterError, match="Add 'confusion_matrix' to the metrics of the Tally"):
        report.plot.confusion()
    with pytest.raises(tm.UndefinedError, match="no rows"):
        tm.Tally(["auc"]).report().plot.roc()
    numbers = tm.Tally(["rmse"]).update(NUMBERS, GUESSES).report()
    assert "add 'median_absolute_error', which keeps them," in numbers.plot.reasons()["residuals"]
    kept = tm.Tally(["rmse", "median_absolute_error"]).update(NUMBERS, GUESSES).report()
    assert kept.plot.residuals().svg() == tm.evaluate(NUMBERS, GUESSES, ["rmse"]).plot.residuals().svg()


def test_rows_are_kept_and_not_copied():
    """A plot reads what was evaluated; a report that is stored leaves the rows behind."""
    report = binary(by=GROUPS)
    assert np.shares_memory(report._source.rows()[1], SCORE)
    for stored in (pickle.loads(pickle.dumps(report)), copy.copy(report)):
        assert dict(stored) == dict(report)
        assert stored.plot.available() == ("slices",)
        with pytest.raises(tm.ParameterError, match="neither rows nor states to draw from"):
            stored.plot.roc()
    with pytest.raises(tm.ParameterError, match="neither rows nor states to draw from"):
        report.slices["east"].plot.roc()


def test_the_same_plot_is_made_once():
    """As long as the report lives."""
    report = binary()
    assert report.plot.roc() is report.plot.roc()
    assert report.plot.reliability(bins=4) is not report.plot.reliability(bins=5)


@pytest.mark.parametrize("form", ["list", "pandas", "polars", "arrow"])
def test_rows_of_any_type(form):
    """The same plots, to the byte."""
    frame = {
        "list": lambda held: held.tolist(),
        "pandas": lambda held: importlib.import_module("pandas").Series(held),
        "polars": lambda held: importlib.import_module("polars").Series(held),
        "arrow": lambda held: importlib.import_module("pyarrow").array(held),
    }[form]
    for sides, facts in (((TRUTH, SCORE), {"kind": "probability"}), ((NUMBERS, GUESSES), {"kind": "value"})):
        expected, found = (tm.evaluate(*map(how, sides), **facts).plot for how in (np.asarray, frame))
        assert found.available() == expected.available()
        for name in expected.available():
            assert getattr(found, name)().svg() == getattr(expected, name)().svg()


def test_two_columns_and_names_of_classes():
    """Of two classes, one column is as good as two, and the positive one can have any name."""
    names = np.array(["no", "yes"])[TRUTH]
    plain = tm.evaluate(TRUTH, SCORE, ["auc"], kind="probability").plot
    named = tm.evaluate(names, SCORE, ["auc"], kind="probability", positive="yes").plot
    both = tm.evaluate(TRUTH, np.column_stack((1 - SCORE, SCORE)), ["auc"], kind="probability").plot
    assert plain.roc().svg() == named.roc().svg() == both.roc().svg()
    assert plain.reliability().svg() == named.reliability().svg() == both.reliability().svg()
    assert plain.reliability(bins=4, strategy="count").table.title == "reliability curve · 4 points"
