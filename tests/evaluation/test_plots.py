"""The plots of a report: they show what the metrics say, and say why where they cannot."""

from __future__ import annotations

import copy
import importlib
import itertools
import pickle
import re

import numpy as np
import pytest
from scipy import stats
from tests.evaluation.plot_rows import GUESSES, NUMBERS, RNG, ROWS, SCORE, TRUTH, texts

import tallymark as tm
from tallymark.rendering.plots.canvas import show_value
from tallymark.rendering.plots.plot import Plot
from tallymark.rendering.plots.theme import LIGHT

CLASSES = np.array(["ant", "bee", "cow"])
MANY = RNG.integers(0, 3, ROWS)
TABLE = RNG.dirichlet([1, 1, 1], ROWS) + 0.4 * np.eye(3)[MANY]
TABLE /= TABLE.sum(axis=1, keepdims=True)
RANKED = ("roc", "precision_recall", "score_histogram", "lift", "thresholds")
DECIDED = ("confusion", "class_balance")
NUMERIC = ("residuals", "predictions", "qq")
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
        (lambda: tm.evaluate(NUMBERS, GUESSES), NUMERIC),
        (lambda: tm.evaluate(NUMBERS, GUESSES, by=GROUPS), (*NUMERIC, "residuals_by_group", "slices")),
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
    assert plot.description.startswith(f"ROC curve: the area under the curve is {shown}; chance has 0.5. The shaded")
    assert f"area {shown}" in texts(plot)


def test_weights_count_in_curves_and_in_the_share_of_positives():
    """In curves and in the share of positives."""
    weights = RNG.integers(0, 4, ROWS)
    plot = tm.evaluate(TRUTH, SCORE, ["average_precision"], weights=weights).plot.precision_recall()
    value = tm.average_precision(TRUTH, SCORE, weights=weights)
    share = float(np.average(TRUTH, weights=weights))
    assert f"the average precision is {value:.4g}; the share of positives is {share:.4g}." in plot.description


def test_every_class_is_drawn_against_the_rest_best_first():
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
    assert f"F1 is best at {best.threshold:g}, where it is {best.value:.4g}." in plot.description
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
    assert re.search(r"F1 is best at (\S+), where it is (\S+)\.", report.plot.thresholds().description).groups() == (
        show_value(best.threshold),
        show_value(best.value),
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
        assert f"{show_value(ordered[(len(ordered) - 1) // 2])} for {label}" in plot.description
    assert plot.table.headings[2:] == ("weight of class 0", "weight of class 1")
    shares = vertices(plot, LIGHT.series[1])[:, 1]
    assert shares.max() == pytest.approx(counts.max() / counts.sum())
    named = tm.evaluate(np.array(["no", "yes"])[TRUTH], SCORE, ["auc"], positive="yes").plot.score_histogram()
    assert named.table.headings[2:] == ("rows of class no", "rows of class yes")


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
    worst = min(areas, key=areas.get)
    shown, asked = draw(), draw(label=worst)
    assert shown.png() == asked.png()
    assert shown.title.endswith(f" · {worst} against the rest")
    other = f"for another: report.plot.{name}(label=…)."
    assert shown.description.endswith(f"Shown is {worst}, the one with the lowest ROC AUC, of 3 classes; {other}")
    assert asked.description.endswith(f"Shown is {worst}, of 3 classes; {other}")
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
    assert "The shaded 95 % Wilson intervals of the bins are pointwise." in with_intervals.description
    assert len(vertices(with_intervals, LIGHT.series[0])) == 1 + 5 + 5
    hits = np.round(curve.accuracy * curve.weight)
    assert [row[-2:] for row in with_intervals.table.rows] == [
        pytest.approx(stats.binomtest(int(k), int(n)).proportion_ci(0.95, "wilson"), rel=1e-12)
        for k, n in zip(hits, curve.weight, strict=True)
    ]
    weighted = binary(ci=tm.Intervals(resamples=50), weights=np.full(ROWS, 2.0)).plot.reliability(bins=5)
    assert weighted.description.endswith("There are no intervals: the rows have weights.")
    clustered = binary(ci=tm.Intervals(resamples=50), cluster=GROUPS).plot.reliability(bins=5)
    assert clustered.description.endswith("There are no intervals: the rows are clustered.")


def band_of(plot):
    """The corners of the band, and whether it contains a point."""
    from matplotlib.path import Path

    shaded = [patch.get_path().vertices for patch in plot.figure().axes[0].patches if patch.get_facecolor()[3] == 0.2]
    return shaded[0], Path(shaded[0]).contains_points


def test_the_band_of_a_roc_curve_has_a_box_around_every_threshold():
    """As far to each side as the bands of both distribution functions at the root of the level; no farther."""
    plot = tm.evaluate(TRUTH, SCORE, ["auc"], ci=0.9).plot.roc()
    reach = [np.sqrt(np.log(2 / (1 - np.sqrt(0.9))) / (2 * (side == TRUTH).sum())) for side in (0, 1)]
    corners, contains = band_of(plot)
    assert "confidence band is simultaneous (Campbell)" in plot.description
    assert f"false positives ± {reach[0]:.3f}, true positives ± {reach[1]:.3f}." in plot.description
    assert "90 % confidence band, simultaneous" in texts(plot)
    at = tm.roc_curve(TRUTH, SCORE, drop=False)
    points = np.column_stack((at.fpr, at.tpr))
    for across in (-1, 1):
        for up in (-1, 1):
            box = points + 0.999 * np.array([across * reach[0], up * reach[1]])
            inside = ((box > 0.001) & (box < 0.999)).all(axis=1)
            assert inside.any()
            assert contains(box[inside]).all()
    for sides in (corners[:, 0], corners[:, 1]):
        assert (sides.min(), sides.max()) == (0, 1)
    grid = np.random.default_rng(3).random((2_000, 2))
    within = np.linspace(0, 1, 21)[:, None, None]
    line = (points[:-1] + within * np.diff(points, axis=0)).reshape(-1, 2)  # ties make it slope
    near = (np.abs(grid[:, None] - line) <= 1.002 * np.array(reach)).all(axis=2).any(axis=1)
    assert not contains(grid[~near]).any()


@pytest.mark.slow
def test_a_simultaneous_band_contains_the_whole_curve_as_often_as_it_says():
    """Or more often: of 200 samples from a known curve, at least 180 at a level of 90 %."""
    rng, hits = np.random.default_rng(8), 0
    at = np.linspace(-4, 6, 60)
    curve = np.column_stack([[1 - stats.norm.cdf(x - mean) for x in at] for mean in (0, 1)])
    curve = curve[((curve > 0.01) & (curve < 0.99)).all(axis=1)]
    for _ in range(200):
        truth = rng.integers(0, 2, 80)
        band = tm.evaluate(truth, truth + rng.normal(size=80), ["auc"], ci=0.9, kind="score").plot.roc()
        hits += bool(band_of(band)[1](curve).all())
    assert hits >= 180


def test_the_band_of_precision_is_the_wilson_interval_at_every_threshold():
    """Of the share of positives among the rows that reach it."""
    plot = tm.evaluate(TRUTH, SCORE, ["average_precision"], ci=0.9).plot.precision_recall()
    assert "confidence band is pointwise (Wilson)" in plot.description
    assert "90 % confidence band, pointwise" in texts(plot)
    for threshold, precision, _, lo, hi in plot.table.rows[1:]:
        reached = threshold <= SCORE
        found = stats.binomtest(int(TRUTH[reached].sum()), int(reached.sum())).proportion_ci(0.9, "wilson")
        assert TRUTH[reached].mean() == pytest.approx(precision)
        assert (lo, hi) == pytest.approx(found, rel=1e-12)
    contains, curve = band_of(plot)[1], tm.pr_curve(TRUTH, SCORE, drop=False)
    for before, recall, threshold in zip(curve.recall[1:-1], curve.recall[2:], curve.threshold[2:], strict=True):
        reached = threshold <= SCORE
        if before < recall:
            ends = stats.binomtest(int(TRUTH[reached].sum()), int(reached.sum())).proportion_ci(0.9, "wilson")
            places = [ends[0] - 1e-4, ends[0] + 1e-4, ends[1] - 1e-4, ends[1] + 1e-4]
            assert contains([((before + recall) / 2, y) for y in places]).tolist() == [False, True, True, False]


@pytest.mark.parametrize("name", ["roc", "precision_recall"])
def test_rows_that_no_formula_fits_have_no_band(name):
    """The sentence says why; without intervals, and of several classes, nobody asked for one."""
    facts = {"kind": "score", "ci": tm.Intervals(resamples=50)}
    weights = 1 + np.arange(ROWS) % 2
    for rows, why in (({"weights": weights}, "the rows have weights"), ({"cluster": GROUPS}, "the rows are clustered")):
        found = tm.evaluate(TRUTH, SCORE, ["auc"], **rows, **facts)
        tally = tm.Tally(["auc"], **facts).update(TRUTH, SCORE, **rows).report()
        for report in (found, tally):
            plot = getattr(report.plot, name)()
            assert plot.description.endswith(f". There is no confidence band: {why}.")
            assert not any("band" in text for text in texts(plot))
    for report in (binary(), tm.evaluate(CLASSES[MANY], TABLE, ["auc"], ci=tm.Intervals(resamples=50))):
        assert "band" not in getattr(report.plot, name)().description


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
    assert f"mean is {show_value(tm.mean_bias(NUMBERS, GUESSES, weights=weights))}" in plot.description
    assert sum(row[2] for row in plot.table.rows) == weights.sum()
    other = report.plot.predictions()
    assert f"R² is {tm.r2(NUMBERS, GUESSES, weights=weights):.4g}" in other.description


def test_residuals_by_group_are_the_quantiles_of_each():
    """Those of NumPy, the lowest median first; rows of no weight are left out."""
    plot = tm.evaluate(NUMBERS, GUESSES, by={"region": GROUPS}).plot.residuals_by_group()
    expected = [
        (name, rows.sum(), *np.quantile((GUESSES - NUMBERS)[rows], (0.05, 0.25, 0.5, 0.75, 0.95)))
        for name in np.unique(GROUPS)
        if (rows := name == GROUPS).any()
    ]
    expected.sort(key=lambda row: row[4])
    assert plot.table.rows == [(name, *map(pytest.approx, numbers)) for name, *numbers in expected]
    assert plot.title == "Residuals by region"
    words = [f"{show_value(row[4])} for {row[0]}" for row in (expected[0], expected[-1])]
    assert (
        plot.description
        == f"Residuals by region: the median goes from {words[0]} to {words[1]}; higher boxes have more rows."
    )
    weights = (GROUPS != "north") * (1 + np.arange(ROWS) % 3)
    weighted = tm.evaluate(NUMBERS, GUESSES, by=GROUPS, weights=weights).plot.residuals_by_group()
    for name, rows, *quantiles in weighted.table.rows:
        repeated = np.repeat(GUESSES - NUMBERS, weights * (name == GROUPS))
        assert rows == ((weights > 0) & (name == GROUPS)).sum()
        assert quantiles == [np.quantile(repeated, q, method="inverted_cdf") for q in (0.05, 0.25, 0.5, 0.75, 0.95)]
    assert {row[0] for row in weighted.table.rows} == {"south", "east"}


def test_residuals_of_many_groups_and_of_one_column():
    """The lowest and the highest medians; the groups of one column on a page."""
    groups = np.arange(ROWS) % 60
    plot = tm.evaluate(NUMBERS, GUESSES, by=groups).plot.residuals_by_group()
    assert len(plot.table.rows) == 60
    assert "10 lowest and highest of 60" in " ".join(texts(plot))
    both = tm.evaluate(NUMBERS, GUESSES, by={"region": GROUPS, "half": groups < 30})
    assert len(both.plot.residuals_by_group().table.rows) == 6
    assert len(both.sliced_by(both.slices.by("half")).plot.residuals_by_group().table.rows) == 2
    tally = tm.Tally(["mae", "median_absolute_error"], by=["group"]).update(NUMBERS, GUESSES, by=GROUPS).report()
    assert "and with them their groups" in tally.plot.reasons()["residuals_by_group"]


def test_a_qq_plot_has_the_ordered_residuals_and_normal_quantiles():
    """Of all rows where they are few; the line has their mean and standard deviation."""
    residual = GUESSES - NUMBERS
    plot = tm.evaluate(NUMBERS, GUESSES).plot.qq()
    drawn = vertices(plot, LIGHT.series[0])[::2]
    assert drawn[:, 1].tolist() == np.sort(residual).tolist()
    assert drawn[:, 0] == pytest.approx(stats.norm.ppf((np.arange(ROWS) + 0.5) / ROWS), abs=1e-9)
    line = vertices(plot, LIGHT.ink)
    assert line[:, 1] == pytest.approx(residual.mean() + residual.std() * line[:, 0])
    shares, quantiles, normal = zip(*plot.table.rows, strict=True)
    assert list(quantiles) == np.quantile(residual, shares).tolist()
    assert normal == pytest.approx(stats.norm.ppf(shares, residual.mean(), residual.std()))
    p = stats.normaltest(residual).pvalue
    assert p > 0.05
    assert plot.description.endswith(f"a normal distribution (D'Agostino and Pearson, p = {p:.3f}).")


def test_a_qq_plot_of_many_rows_has_both_ends():
    """And the same shape; weights count as repeated rows do."""
    rng = np.random.default_rng(4)
    truth, guess = rng.normal(size=20_000), rng.standard_t(3, size=20_000)
    plot = tm.evaluate(truth, guess).plot.qq()
    drawn = vertices(plot, LIGHT.series[0])[::2]
    ordered = np.sort(guess - truth)
    assert len(drawn) < 500
    assert drawn[:30, 1].tolist() == ordered[:30].tolist()
    assert drawn[-30:, 1].tolist() == ordered[-30:].tolist()
    places = np.searchsorted(ordered, drawn[:, 1])
    assert drawn[:, 0] == pytest.approx(stats.norm.ppf((places + 0.5) / 20_000), abs=1e-9)
    assert "their tails are heavier than normal" in plot.description
    weighted = tm.evaluate(NUMBERS, GUESSES, weights=np.arange(ROWS) % 3).plot.qq()
    assert "D'Agostino" not in weighted.description
    repeated = np.repeat(GUESSES - NUMBERS, np.arange(ROWS) % 3)
    assert weighted.table.rows[3][2] == pytest.approx(repeated.mean())


def test_the_first_or_the_chosen_output_is_drawn():
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
    assert f"all rows have {report['auc']:.3f}; larger marks have more rows." in plot.description
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
    assert "worst 20 of 60 groups" in " ".join(texts(plot))
    assert plot.description.startswith(f"{plot.title} (worst 20 of 60 groups): from ")
    rates = tm.evaluate(truth, SCORE, ["selection_rate"], by=groups).plot.slices()  # neither high nor low is better
    assert "first 20 of 60 groups" in " ".join(texts(rates))
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
    with pytest.raises(tm.UndefinedError, match="thresholds need two classes; there are more"):
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
        with pytest.raises(tm.ParameterError, match="neither rows nor states: it belongs to a group"):
            stored.plot.roc()
    with pytest.raises(tm.ParameterError, match="neither rows nor states: it belongs to a group"):
        report.slices["east"].plot.roc()


def test_the_same_plot_is_made_once():
    """As long as the report lives."""
    report = binary()
    assert report.plot.roc() is report.plot.roc()
    assert report.plot.reliability(bins=4) is not report.plot.reliability(bins=5)


@pytest.mark.slow
@pytest.mark.parametrize("form", ["list", "pandas", "polars", "arrow"])
def test_the_type_of_the_rows_changes_no_byte_of_a_plot(form):
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
