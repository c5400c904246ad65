"""Curves: what they hold, how they print and export, and the points that they leave out."""

from __future__ import annotations

import copy
import json
import math
import pickle

import numpy as np
import pytest
import sklearn.metrics as sk

import tallymark as tm
from tallymark.metrics.scores.curves import corners
from tallymark.states.scores.runs import Steps

Y, S = [0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]
CURVES = [tm.roc_curve, tm.pr_curve, tm.det_curve, tm.lift_curve]
by_curve = pytest.mark.parametrize("curve", CURVES, ids=str)


def random_rows(seed, n=200, digits=1):
    """Rows with ties, and weights of which some are zero."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    return y, np.round(y + rng.normal(0, 1, n), digits), rng.choice([0.0, 0.3, 1.0, 2.5], n)


def rates(y, s, w, t):
    """True and false positive rates and the share taken, as three plain sums."""
    said = s >= t
    return (
        w[said & (y == 1)].sum() / w[y == 1].sum(),
        w[said & (y == 0)].sum() / w[y == 0].sum(),
        w[said].sum() / w.sum(),
    )


@pytest.mark.parametrize("seed", range(5))
def test_every_point_is_what_its_threshold_does(seed):
    """Compared with sums over the rows."""
    y, s, w = random_rows(seed)
    roc, pr = (metric(y, s, weights=w, drop=False) for metric in (tm.roc_curve, tm.pr_curve))
    det, lift = (metric(y, s, weights=w) for metric in (tm.det_curve, tm.lift_curve))
    expected = [math.inf, *sorted(set(s[w > 0].tolist()), reverse=True)]
    for curve in (roc, pr, det, lift):
        assert curve.threshold.tolist() == expected
    for k, t in enumerate(expected):
        tpr, fpr, share = rates(y, s, w, t)
        found = (roc.tpr[k], roc.fpr[k], pr.recall[k], det.fpr[k], det.fnr[k], lift.share[k], lift.gain[k])
        assert found == pytest.approx((tpr, fpr, tpr, fpr, 1 - tpr, share, tpr), abs=1e-12)
        if k:
            precision = tm.precision(y, s >= t, weights=w)
            assert pr.precision[k] == pytest.approx(precision, abs=1e-12)
            assert lift.lift[k] == pytest.approx(precision * w.sum() / w[y == 1].sum(), rel=1e-12)
    assert (roc.tpr[-1], roc.fpr[-1], det.fnr[-1], lift.lift[-1]) == (1.0, 1.0, 0.0, 1.0)
    assert pr.precision[0] == pr.precision[1]
    assert np.trapezoid(pr.precision, pr.recall) == pytest.approx(tm.pr_auc(y, s, weights=w), abs=1e-12)
    assert math.isnan(lift.lift[0])


@pytest.mark.parametrize("seed", range(5))
def test_dropped_points_lie_on_the_curve(seed):
    """What is left has the same area, and no point of it lies straight between its neighbours."""
    y, s, _ = random_rows(seed, 400, 2)
    full, few = tm.roc_curve(y, s, drop=False), tm.roc_curve(y, s)
    assert len(few) < len(full)
    assert set(few.threshold.tolist()) <= set(full.threshold.tolist())
    assert (few.threshold[0], few.threshold[-1]) == (math.inf, s.min())
    assert np.trapezoid(few.tpr, few.fpr) == pytest.approx(tm.auc(y, s), abs=1e-12)
    x, z = few.fpr * (y == 0).sum(), few.tpr * (y == 1).sum()
    turns = np.diff(x)[:-1] * np.diff(z)[1:] - np.diff(x)[1:] * np.diff(z)[:-1]
    assert (abs(turns.round(6)) > 0).all()
    recall = tm.pr_curve(y, s).recall
    assert not ((recall[1:-1] == recall[:-2]) & (recall[1:-1] == recall[2:])).any()
    assert np.array_equal(np.unique(recall), np.unique(tm.pr_curve(y, s, drop=False).recall))


def plain_steps(y, s):
    """What every threshold does, found by bisection."""
    thresholds = np.unique(s + 0.0)[::-1]  # zero has no sign
    fp, tp = (np.sum(y == k) - np.searchsorted(np.sort(s[y == k]), thresholds).astype(float) for k in (0, 1))
    return Steps(thresholds, tp, fp, tp[-1] - tp, fp[-1] - fp)


def same_bits(found, expected):
    """Whether two curves are the same to the last bit."""
    return found == expected and all(found[k].tobytes() == held.tobytes() for k, held in expected.columns.items())


EVERY_POINT = [tm.roc_curve.replace(drop=False), tm.pr_curve.replace(drop=False)]
by_sample = pytest.mark.parametrize("curve", [*CURVES, *EVERY_POINT], ids=str)


@by_sample
def test_the_core_writes_what_the_formula_says(curve):
    """With and without ties, within a class and between them, and of classes of any share."""
    rng = np.random.default_rng(1)
    for n in [*range(2, 12), *rng.integers(12, 200, 150).tolist()]:
        y = (rng.random(n) < rng.choice([0.05, 0.5, 0.95])).astype(int)
        y[:2] = 0, 1
        s = np.round(rng.choice([-3, 0, 3]) * y + rng.normal(0, 1, n), rng.integers(0, 4))
        assert same_bits(curve(y, s), curve.from_steps(plain_steps(y, s)))


@by_sample
@pytest.mark.parametrize("digits", [2, 5, 17])
def test_threads_write_the_same_curve(curve, digits):
    """One thread walks down; of several, some walk up, and their points meet in the middle."""
    rng = np.random.default_rng(digits)
    y = rng.integers(0, 2, 300_000)
    s = np.round(y + rng.normal(0, 1, len(y)), digits)
    expected = curve.from_steps(plain_steps(y, s))
    before = tm.get_threads()
    try:
        for threads in (1, 2, 3, 4):
            tm.set_threads(threads)
            assert same_bits(curve(y, s), expected)
    finally:
        tm.set_threads(before)


def test_corners_are_kept_where_a_line_turns():
    """Long straight lines of unequal steps, points that fall together, and sizes whose product overflows."""
    assert corners(np.array([0.0, 1, 3, 3, 3, 4]), np.array([0.0, 2, 6, 7, 9, 9])).tolist() == [0, 2, 4, 5]
    assert corners(np.array([0.0, 0, 1, 1, 1]), np.array([0.0, 2, 2, 2, 2])).tolist() == [0, 1, 4]
    big = np.array([0.0, 1e300, 1e300]), np.array([0.0, 0.0, 1e300])
    assert corners(*big).tolist() == [0, 1, 2]
    tiny = np.array([0.0, 5e-324, 5e-324]), np.array([0.0, 0.0, 5e-324])
    assert corners(*tiny).tolist() == [0, 1, 2]


@by_curve
def test_one_class_is_undefined(curve):
    """With its reason; a curve of rates that do not exist would mislead."""
    one_class = curve in (tm.roc_curve, tm.det_curve)
    for label in (0, 1) if one_class else (0,):
        report = tm.evaluate([label] * 3, [0.1, 0.2, 0.3], [curve])
        assert math.isnan(report[curve])
        assert report.reasons[str(curve)] == ("all rows are of one class" if one_class else "no row is positive")


@pytest.mark.parametrize("curve", [tm.pr_curve, tm.lift_curve], ids=str)
def test_positives_alone_have_a_curve_of_recall(curve):
    """Precision and lift are then 1 throughout."""
    found = curve([1, 1], [0.2, 0.7])
    assert found[{"pr_curve": "precision", "lift_curve": "lift"}[curve.name]][1:].tolist() == [1.0, 1.0]


@by_curve
def test_a_stream_gives_the_same_curve(curve):
    """To the last bit, merged from pieces in another order."""
    y, s, w = random_rows(7, 500, 3)
    whole = curve(y, s, weights=w)
    tallies = [tm.Tally([curve]).update(y[a : a + 90], s[a : a + 90], weights=w[a : a + 90]) for a in range(0, 500, 90)]
    merged = tallies[-1]
    for tally in tallies[:-1]:
        merged = tally + merged
    found = merged.report()[curve]
    assert found == whole
    assert all(found.columns[name].tobytes() == held.tobytes() for name, held in whole.columns.items())


@by_curve
def test_curves_read_margins_and_two_columns_as_declared(curve):
    """Margins stay margins; two columns are read as the positive one; a positive class is named or refused."""
    y, s, _ = random_rows(3)
    assert curve(y, s, kind="margin") == curve(y, s) == curve(y, s, kind="score")
    p = 1 / (1 + np.exp(-s))
    assert curve(y, np.column_stack([1 - p, p])) == curve(y, p, kind="probability")
    names = np.array(["ham", "spam"])[y]
    assert curve(names, s, positive="spam") == curve(y, s)
    assert curve(names, -s, positive="ham") == curve(1 - y, -s)
    with pytest.raises(tm.ParameterError, match="`positive`"):
        curve(names, np.column_stack([1 - p, p]))
    with pytest.raises(tm.ShapeError, match=r"y_true == 0, y_pred\[:, 0\]"):
        curve([0, 1, 2], np.eye(3))
    with pytest.raises(tm.KindError):
        curve(y, s, kind="label")


HOSTILE = {
    "no rows": ([], [], None),
    "lengths": ([0, 1], [0.1], None),
    "NaN": ([0, 1], [0.1, math.nan], None),
    "infinity": ([0, 1], [0.1, -math.inf], None),
    "a negative weight": ([0, 1], [0.1, 0.2], [1, -1]),
    "several labels": ([[0, 1], [1, 0]], [0.1, 0.2], None),
    "three classes": ([0, 1, 2], [0.1, 0.2, 0.3], None),
    "three dimensions": ([0, 1], np.zeros((2, 2, 2)), None),
    "strings as scores": ([0, 1], ["a", "b"], None),
}


@pytest.mark.parametrize("metric", [*CURVES, tm.threshold_table, tm.best_threshold], ids=str)
@pytest.mark.parametrize("rows", HOSTILE.values(), ids=HOSTILE)
def test_rows_that_cannot_be_read(metric, rows):
    """An error of ours, never a crash or a warning."""
    y, s, w = rows
    with pytest.raises(tm.TallymarkError):
        metric(y, s, weights=w)


def test_weights_whose_sum_is_too_large():
    """Undefined and said so, without a warning; large ones that fit have their curve."""
    report = tm.evaluate(Y, S, ["roc_curve", "threshold_table"], weights=[1e308] * 4)
    assert report.reasons == dict.fromkeys(report, "the terms are too large or too small for float64")
    for size in (4e307, 1e-310):
        assert np.array_equal(tm.roc_curve(Y, S, weights=[size] * 4).tpr, tm.roc_curve(Y, S).tpr)


def test_a_curve_is_a_value():
    """It is equal to its copy and its pickle, has a hash, and cannot be written to."""
    curve = tm.lift_curve(Y, S)
    back = pickle.loads(pickle.dumps(curve))
    assert back == curve
    assert copy.deepcopy(curve) == curve
    assert hash(back) == hash(curve)
    assert curve != tm.lift_curve(Y, [0.1, 0.4, 0.3, 0.8])
    assert curve != tm.roc_curve(Y, S)
    with pytest.raises(TypeError, match="item assignment"):
        curve.columns["lift"] = curve.gain
    with pytest.raises(ValueError, match="read-only"):
        curve.lift[0] = 1.0
    held = np.array([1.0, 2.0])
    made = tm.metrics.Curve("two points", {"x": held})
    held[0] = 5.0
    assert made.x.tolist() == [1.0, 2.0]


def test_columns_of_a_curve_are_read_by_name():
    """As attributes, as items, in dir(); a wrong name lists the right ones."""
    curve = tm.roc_curve(Y, S)
    assert curve.fpr is curve["fpr"] is curve.columns["fpr"]
    assert {"threshold", "fpr", "tpr"} <= set(dir(curve))
    assert len(curve) == 5
    with pytest.raises(AttributeError, match="it has threshold, fpr, tpr"):
        _ = curve.precision
    with pytest.raises(KeyError, match="the columns are threshold, fpr, tpr"):
        _ = curve["precision"]
    with pytest.raises(TypeError):
        iter(tm.lift_curve(Y, S))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_curves_unpack_as_those_of_scikit_learn(seed, weighted):
    """In its order, with its lengths and values; but for the precision where nothing is called positive."""
    rng = np.random.default_rng(seed)
    y, s = rng.integers(0, 2, 40), rng.integers(0, [3, 10, 60, 1000, 2][seed], 40) / 10
    w = rng.random(40) if weighted else None
    fpr, tpr, thresholds = tm.roc_curve(y, s, weights=w, drop=False)
    for ours, theirs in zip(
        (fpr, tpr, thresholds), sk.roc_curve(y, s, sample_weight=w, drop_intermediate=False), strict=True
    ):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-15)
    precision, recall, thresholds = tm.pr_curve(y, s, weights=w, drop=False)
    found = sk.precision_recall_curve(y, s, sample_weight=w)
    for ours, theirs in zip((precision[:-1], recall, thresholds), (found[0][:-1], *found[1:]), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-15)
    assert len(precision) == len(found[0])
    for ours, theirs in zip(tm.det_curve(y, s, weights=w), sk.det_curve(y, s, sample_weight=w), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-15)


def test_a_perfect_det_curve_unpacks_to_one_point():
    """As in scikit-learn: where there is neither a miss nor a false alarm."""
    fpr, fnr, thresholds = tm.det_curve([0, 0, 1, 1], [0.1, 0.2, 0.8, 0.9])
    assert (fpr.tolist(), fnr.tolist(), thresholds.tolist()) == ([0.0], [0.0], [0.8])
    assert isinstance(pickle.loads(pickle.dumps(tm.det_curve(Y, S))), type(tm.det_curve(Y, S)))


def test_every_export_of_a_curve_has_all_points():
    """All points, in every form; JSON has null where there is no number."""
    curve = tm.lift_curve(Y, S)
    names = list(curve.columns)
    assert curve.to_numpy().shape == (5, 4)
    assert np.asarray(curve, np.float32).dtype == np.float32
    assert curve.to_numpy()[:, 2].tolist() == curve.gain.tolist()
    for frame in (curve.to_pandas(), curve.to_polars()):
        assert list(frame.columns) == names
        assert frame["gain"].to_list() == curve.gain.tolist()
    assert curve.to_arrow().column_names == names
    assert curve.to_arrow()["gain"].to_pylist() == curve.gain.tolist()
    data = json.loads(curve.to_json())
    assert data["threshold"] == [None, 0.8, 0.4, 0.35, 0.1]
    assert data["lift"][0] is None
    assert data["gain"] == curve.to_dict()["gain"] == [0, 0.5, 0.5, 1, 1]


def test_many_points_print_few():
    """Evenly chosen, with both ends, and it says so; a report shows the curve below its values."""
    rng = np.random.default_rng(0)
    y, s = rng.integers(0, 2, 5000), rng.random(5000)
    curve = tm.det_curve(y, s)
    rows = curve.table().rows
    assert len(rows) == 20
    assert rows[0] == (math.inf, 0.0, 1.0)
    assert rows[-1] == (s.min(), 1.0, 0.0)
    assert "20 of 5,001 points; to_dict() and the frames have them all" in repr(curve)
    report = tm.evaluate(y, s, ["auc", "det_curve"])
    assert "5,001 points" in str(report)
    assert "detection error tradeoff" in str(report)
    assert "<caption>detection error tradeoff" in report._repr_html_()
    assert tm.metrics.Curve("one", {"x": [1.0]}).summary() == "1 point"


@pytest.mark.parametrize(
    "columns",
    [{}, {"x": [1.0], "y": [1.0, 2.0]}, {"x": [[1.0]]}, {"x": 1.0}],
    ids=["none", "lengths", "table", "number"],
)
def test_columns_that_do_not_fit(columns):
    """A curve has columns of one length."""
    with pytest.raises(tm.ShapeError, match="`columns` must be arrays of one length"):
        tm.metrics.Curve("curve", columns)


@pytest.mark.parametrize("other", ["auc", "average_precision", "ks", "pr_auc", "gini"])
@pytest.mark.parametrize("first", [True, False])
def test_a_walk_that_draws_takes_the_sums_with_it(other, first):
    """The ROC curve and another metric have the same values together, in any order, as each alone."""
    rng = np.random.default_rng(5)
    for n, digits in ((50, 1), (500, 9)):
        y, s = rng.integers(0, 2, n), rng.random(n).round(digits)
        for facts in ({}, {"weights": rng.random(n) + 0.5}):
            together = tm.evaluate(y, s, [other, "roc_curve"] if first else ["roc_curve", other], kind="score", **facts)
            assert together[other] == tm.metric(other)(y, s, kind="score", **facts)
            alone = tm.roc_curve(y, s, **facts)
            assert together["roc_curve"].to_dict() == alone.to_dict()
