"""Metrics on probabilities: worked values, twins in a few lines of NumPy, and what each kind of input means."""

from __future__ import annotations

import math

import numpy as np
import pytest

import tallymark as tm

Y, P = [0, 0, 1, 1, 0], [0.1, 0.4, 0.35, 0.8, 0.1]
NAMES = [
    "logloss",
    "brier",
    "rps",
    "d2_logloss",
    "d2_brier",
    "ece",
    "mce",
    "ece(strategy=count)",
    "mce(strategy=count)",
]


@pytest.mark.parametrize(
    ("name", "y", "p", "expected"),
    [
        ("logloss", Y, P, 0.3989024661789062),
        ("logloss", [1], [0.9], -math.log(0.9)),
        ("logloss", [[1][0]] * 2, [0.5, 0.5], math.log(2)),
        ("logloss", [0], [1e-20], 1e-15),
        ("logloss(clip=0)", [0], [1e-20], 1e-20),
        ("logloss(clip=0)", [1], [5e-324], 1074 * math.log(2)),
        ("logloss", [1], [0.0], -math.log(1e-15)),
        ("logloss", [0], [1.0], -math.log(1 - (1 - 1e-15))),
        ("logloss(clip=0.1)", [1, 0], [0.0, 1.0], -math.log(0.1)),
        ("logloss", [0.25], [0.5], math.log(2)),
        ("logloss", [0.25], [0.25], -0.25 * math.log(0.25) - 0.75 * math.log(0.75)),
        ("logloss(clip=0)", [0.0, 1.0], [0.0, 1.0], 0.0),
        ("logloss", ["a", "c"], [[0.5, 0.25, 0.25], [0.2, 0.3, 0.5]], math.log(2)),
        ("brier", [0, 1, 1], [0.5, 0.5, 1.0], 1 / 6),
        ("brier", [0, 1, 2], [[0, 0, 1.0], [0, 1, 0], [1, 0, 0]], 4 / 3),
        ("d2_brier", [0, 1, 1, 1], [0.5, 0.5, 1.0, 1.0], 1 - (0.5 / 4) / (3 / 16)),
        ("d2_brier", [0, 1, 2], [[1.0, 0, 0], [0, 1, 0], [1, 0, 0]], 1 - (2 / 3) / (2 / 3)),
        ("d2_logloss", [0, 1], [0.25, 0.75], 1 + math.log(0.75) / math.log(2)),
        ("d2_logloss", [0, 1, 2], np.full((3, 3), 1 / 3), 0.0),
        ("hinge_loss", [0, 1, 1], [-3.0, -3.0, 0.5], (0 + 4 + 0.5) / 3),
        ("hinge_loss", [0, 1], [[1.0, 0.5], [0.5, 3.0]], 0.25),
        ("rps", [0, 1, 2], [[0, 0, 1.0], [0, 1, 0], [0, 1, 0]], (1 + 0 + 0.5) / 3),
        ("rps", [0, 1, 1], [0.5, 0.5, 1.0], 1 / 6),
        ("ece", [0, 1, 1, 1], [0.25, 0.25, 0.75, 0.75], 0.25),
        ("mce", [0, 1, 1, 1, 1], [0.25, 0.25, 0.6, 0.6, 0.6], 0.4),
        ("ece(bins=1)", [0, 1], [0.25, 0.75], 0.0),
        ("ece(bins=2)", [0, 1], [0.25, 1.0], 0.125),
        ("ece(bins=2, strategy=count)", [0, 0, 1, 1], [0.1, 0.2, 0.3, 0.4], (0.3 + 1.3) / 4),
        ("ece(bins=4, strategy=count)", [0, 1, 0, 1], [0.5, 0.5, 0.5, 0.5], 0.0),
        ("mce(bins=2, strategy=count)", [0, 0, 1, 1], [0.1, 0.2, 0.3, 0.4], 0.65),
    ],
)
def test_the_value_is_that_computed_by_hand(name, y, p, expected):
    """To 1e-12 relative, zeros to 1e-15."""
    if name.startswith("logloss") and isinstance(y[0], str):
        assert tm.metric(name)(y, p, classes=["a", "b", "c"]) == pytest.approx(expected, rel=1e-12)
        return
    assert tm.metric(name)(y, p) == pytest.approx(expected, rel=1e-12, abs=1e-15)


def test_log_loss_that_is_infinite_says_why():
    """Only without a clip; `undefined` does not touch it, for it is a value."""
    cell = tm.evaluate([0, 1], [0.5, 0.0], ["logloss(clip=0)"], kind="probability").cell("logloss(clip=0)")
    assert cell.value == math.inf
    assert cell.reason == "a class that happened had probability 0"
    assert tm.logloss([0, 1], [0.5, 0.0], clip=0, undefined=9.0) == math.inf
    assert tm.logloss([0, 1, 2], np.eye(3)[[0, 1, 1]], clip=0) == math.inf


def test_a_skill_that_is_infinite_says_why():
    """As the log loss does."""
    cell = tm.evaluate([0, 1], [0.5, 0.0], "d2_logloss(clip=0)").cell("d2_logloss(clip=0)")
    assert cell.value == -math.inf
    assert cell.reason == "a class that happened had probability 0"


@pytest.mark.parametrize("name", ["d2_logloss", "d2_brier"])
def test_skill_is_undefined_for_one_class(name):
    """Also where weights leave one; the class shares say it all."""
    for weights in (None, [1.0, 1.0, 0.0]):
        cell = tm.evaluate([1, 1, 1 if weights is None else 0], [0.2, 0.9, 0.5], name, weights=weights).cell(name)
        assert math.isnan(cell.value)
        assert cell.reason == "the truth has one class only"


def test_hinge_losses_near_the_end_of_the_floats():
    """No margin overflows, nor do their differences."""
    assert tm.hinge_loss([0, 1], [[1e308, -1e308], [-1e308, 1e308]]) == 0.0
    assert tm.hinge_loss([1, 0], [[1e308, -1e308], [-1e308, 1e308]]) == np.finfo(float).max
    assert tm.hinge_loss([1], [-1e308]) == 1e308


def cases(seed, classes):
    """Random rows: labels, probabilities by class, weights with zeros; ties and certainties among them."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 200))
    y = rng.integers(0, classes, n)
    p = rng.dirichlet(np.full(classes, rng.choice([0.02, 0.5, 5.0])), n)
    if rng.random() < 0.3:
        p = np.eye(classes)[rng.integers(0, classes, n)] * 0.5 + 0.5 / classes
    return y, p, rng.choice([0.0, 0.5, 1.0, 3.0], n) + (np.arange(n) == 0)


def bin_twin(y, p, w, bins):
    """Weight, mean probability and share of what happened, by bin."""
    place = np.minimum(np.floor(p * bins), bins - 1)
    for k in np.unique(place[w > 0]):
        m = (place == k) & (w > 0)
        yield w[m].sum(), np.average(p[m], weights=w[m]), np.average(y[m], weights=w[m])


@pytest.mark.parametrize("seed", range(60))
@pytest.mark.parametrize("classes", [2, 3, 7])
def test_calibration_metrics_agree_with_their_definitions(seed, classes):
    """RPS, Brier, ECE and MCE as their definitions say, weighted, to 1e-12."""
    y, p, w = cases([seed, classes], classes)
    happened = np.eye(classes)[y]
    steps = np.cumsum(p - happened, axis=1)[:, :-1]
    given = {"weights": w, "classes": list(range(classes))}
    assert tm.rps(y, p, **given) == pytest.approx(np.average((steps**2).mean(axis=1), weights=w), rel=1e-12)
    brier = ((p - happened) ** 2).sum(axis=1) / (2 if classes == 2 else 1)
    assert tm.brier(y, p, **given) == pytest.approx(np.average(brier, weights=w), rel=1e-12)
    top = p[:, 1] if classes == 2 else p.max(axis=1)
    right = y == 1 if classes == 2 else y == p.argmax(axis=1)
    for bins in (1, 10, 15):
        found = list(bin_twin(right, top, w, bins))
        gaps = [abs(mean - share) for _, mean, share in found]
        ece = sum(weight * gap for (weight, _, _), gap in zip(found, gaps, strict=True)) / w.sum()
        assert tm.ece(y, p, bins=bins, **given) == pytest.approx(ece, rel=1e-11, abs=1e-14)
        assert tm.mce(y, p, bins=bins, **given) == pytest.approx(max(gaps), rel=1e-11, abs=1e-14)


@pytest.mark.parametrize("seed", range(60))
def test_soft_labels_give_the_cross_entropy(seed):
    """−(y log p + (1 − y) log(1 − p)), where 0 · ∞ = 0; hard rows among them cost what they cost alone."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 50))
    y = rng.choice([0.0, 1.0, 0.5, 0.1], n) if seed % 2 else rng.random(n)
    p, w = rng.uniform(0.001, 0.999, n), rng.uniform(0.1, 2, n)
    expected = np.average(-(y * np.log(p) + (1 - y) * np.log1p(-p)), weights=w)
    assert tm.logloss(y, p, weights=w) == pytest.approx(expected, rel=1e-12)
    hard = rng.integers(0, 2, n)
    alone = tm.LogLoss().needs(tm.Target()).fold
    from tallymark.data.batch import Batch

    both = alone(Batch(np.append(hard.astype(float), 0.5), np.append(p, 0.5)))
    apart = alone(Batch(hard, p)) + alone(Batch([0.5], [0.5]))
    assert both.to_bytes() == apart.to_bytes()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("seed", range(20))
def test_two_columns_are_one_to_the_last_bit(name, seed):
    """Whatever the labels are called, whichever column is the positive class's, weighted or not."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 60))
    y, p, w = rng.integers(0, 2, n), np.round(rng.random(n), int(rng.integers(1, 17))), rng.uniform(0, 2, n)
    y[:2] = 0, 1
    metric, two = tm.metric(name), np.column_stack([1 - p, p])
    expected = metric(y, p, weights=w)
    assert metric(y, two, weights=w) == expected
    names = np.array(["no", "yes"])[y]
    assert metric(names, two, weights=w) == expected
    assert metric(names, p, weights=w, positive="yes") == expected
    assert metric(names, two[:, ::-1], weights=w, classes=["yes", "no"], positive="yes") == expected
    assert metric(y * 2 - 1, p, weights=w) == expected
    assert metric(y.astype(bool), p, weights=w) == metric(y.astype(float), p, weights=w) == expected
    assert metric(list(map(int, y)), list(map(float, p)), weights=w) == expected


@pytest.mark.parametrize("name", NAMES)
def test_a_truth_beside_the_prediction_is_turned_around(name):
    """`positive=0` makes the prediction the probability of 0."""
    y, p = np.array([0, 1, 1, 0, 1]), np.array([0.25, 0.5, 0.75, 0.125, 1.0])
    assert tm.metric(name)(y, p, positive=0) == tm.metric(name)(1 - y, p)


def test_margins_become_probabilities_without_overflow():
    """Through the sigmoid, of m₁ − m₀, or through softmax; no size of theirs overflows."""
    rng = np.random.default_rng(0)
    y, m = rng.integers(0, 2, 300), rng.normal(0, 3, 300)
    p = 1 / (1 + np.exp(-m))
    for name in NAMES:
        metric = tm.metric(name)
        assert metric(y, m, kind="margin") == pytest.approx(metric(y, p), rel=1e-12)
        two = np.column_stack([m / 2, m + m / 2])
        assert metric(y, two, kind="margin") == pytest.approx(metric(y, p), rel=1e-12)
    y, m = rng.integers(0, 5, 300), rng.normal(0, 3, (300, 5))
    p = np.exp(m) / np.exp(m).sum(axis=1, keepdims=True)
    for name in NAMES:
        assert tm.metric(name)(y, m, kind="margin") == pytest.approx(tm.metric(name)(y, p), rel=1e-12)
        assert tm.metric(name)(y, p * 3.0, normalize=True) == pytest.approx(tm.metric(name)(y, p), rel=1e-12)


@pytest.mark.parametrize("size", [1e308, 5e-324, 750.0])
def test_the_largest_margins_give_finite_losses(size):
    """The surest and the least sure there are."""
    sure = 0.5 if size < 1 else 1.0
    assert tm.brier([1, 0], [size, -size], kind="margin") == pytest.approx((1 - sure) ** 2)
    assert tm.brier([1, 0], [[-size, size], [size, -size]], kind="margin", classes=[0, 1]) <= (1 - sure) ** 2 + 1e-300
    worst = tm.logloss([0, 1], [size, -size], kind="margin")
    assert worst == pytest.approx(-math.log(1 - sure) if sure < 1 else -math.log(1e-15), rel=1e-2)
    table = np.array([[size, -size, -size], [-size, size, -size]])
    third = tm.brier([0, 1], table, kind="margin", classes=[0, 1, 2])
    assert third == pytest.approx(0.0 if sure > 0.6 else 2 / 3)


def test_one_class_is_enough():
    """A mean over rows does not need both; neither does a tally of pieces that each saw one."""
    assert tm.logloss([0, 0], [0.5, 0.5]) == math.log(2)
    assert tm.brier([1, 1], [0.5, 1.0]) == 0.125
    tally = tm.Tally(["logloss", "brier"]).update([0], [0.1]).update([1], [0.7])
    assert tally.report()["logloss"] == tm.logloss([0, 1], [0.1, 0.7])


def test_rows_of_weight_zero_are_no_classes():
    """They are dropped before the classes are looked for."""
    assert tm.logloss([0, 1, 2], [0.1, 0.9, 0.5], weights=[1, 1, 0]) == tm.logloss([0, 1], [0.1, 0.9])
    assert tm.brier([0, 1, 7], np.array([[0.1, 0.9]] * 3), weights=[1, 1, 0]) == tm.brier([0, 1], [0.9, 0.9])
    assert tm.brier([0, 1, 0.5], [0.1, 0.9, 0.5], weights=[1, 1, 0]) == tm.brier([0, 1], [0.1, 0.9])


def test_pieces_that_do_not_fit_together():
    """Three classes in one column are refused as soon as all are seen."""
    tally = tm.Tally(["logloss"]).update([0, 1], [0.1, 0.9]).update([2], [0.9])
    with pytest.raises(tm.ShapeError, match="one column per class"):
        tally.report()["logloss"]
    tally = tm.Tally(["logloss"]).update([-1, 1], [0.1, 0.9]).update([0.5], [0.1])
    with pytest.raises(tm.ParameterError, match="0 and 1 in all rows"):
        tally.report()["logloss"]
    tally = tm.Tally(["logloss", "brier"]).update([0.5, 1.0], [0.1, 0.9])
    assert tally.report(errors="report")["logloss"] > 0
    with pytest.raises(tm.DomainError, match="a fraction in 1 row"):
        tally.report()


def test_a_soft_truth_stops_only_what_cannot_read_it():
    """Log loss has a value, the others are failed cells."""
    report = tm.evaluate([0.5, 1.0], [0.5, 0.9], ["logloss", "brier", "ece"], errors="report")
    assert report["logloss"] == pytest.approx((math.log(2) - math.log(0.9)) / 2)
    for name in ("brier", "ece"):
        assert "must contain labels" in str(report.cell(name).error)


def test_the_default_metrics_recognise_probabilities():
    """Labels with floats, or one column of truth with several of predictions, are probabilities."""
    wanted = ["auc", "logloss", "brier", "accuracy"]
    assert list(tm.evaluate([True, False, True], [0.9, 0.2, 0.4])) == wanted
    assert list(tm.evaluate(["a", "b"], [0.9, 0.2], positive="b")) == wanted
    assert list(tm.evaluate([0, 1, 2], np.eye(3))) == wanted
    assert list(tm.evaluate([0, 1], [2.0, -1.0], kind="margin")) == wanted
    assert list(tm.evaluate([0, 1], [0.2, 0.9], kind="probability")) == wanted
    assert list(tm.evaluate([0, 1], [2.0, -1.0], kind="score")) == ["auc", "average_precision"]


def test_one_pass_serves_all():
    """Metrics of one call share what they read, and each has the value that it has alone."""
    rng = np.random.default_rng(2)
    y, p = rng.integers(0, 3, 500), rng.dirichlet(np.ones(3), 500)
    names = ["logloss", "logloss(clip=0.01)", "brier", "rps", "ece", "mce", "ece(bins=4)"]
    report = tm.evaluate(y, p, names)
    assert [report[name] for name in names] == [tm.metric(name)(y, p) for name in names]


@pytest.mark.parametrize("name", ["ece(strategy=count)", "mce(strategy=count)", "ece", "mce"])
def test_weights_near_the_largest_float(name):
    """Their sum is no float64; the value is that of the same weights in another unit."""
    y, p, w = [0, 1, 1, 0, 1, 0], [0.1, 0.1, 0.1, 0.4, 0.4, 0.9], np.array([1.0, 3.0, 1.0, 2.0, 2.0, 1.0])
    for bins in (1, 2, 4):
        expected = tm.metric(name)(y, p, weights=w, bins=bins)
        assert tm.metric(name)(y, p, weights=w * 2.0**1021, bins=bins) == pytest.approx(expected, rel=1e-15)
    curve = tm.reliability_curve(y, p, weights=w * 2.0**1020, bins=3, strategy="count")
    assert (
        curve.confidence.tolist() == tm.reliability_curve(y, p, weights=w, bins=3, strategy="count").confidence.tolist()
    )


@pytest.mark.parametrize("margin", [1.0, 20.0, 30.0, 33.0, -0.5, -20.0, -30.0])
def test_margins_cost_the_same_on_either_side(margin):
    """To the last digit: 1 − sigmoid(m) would have none left where m is large."""
    exact = math.log1p(math.exp(margin))
    for found in (
        tm.logloss([0], [margin], kind="margin"),
        tm.logloss([1], [-margin], kind="margin"),
        tm.logloss([0], [[-margin / 2, margin / 2]], kind="margin", classes=[0, 1]),
        tm.logloss([0, 0], [margin, 5.0], kind="margin", weights=[2, 0]),
        tm.logloss([0.0, 0.5], [margin, 5.0], kind="margin", weights=[2, 0]),
    ):
        assert found == pytest.approx(exact, rel=1e-15)
    assert tm.logloss([0], [700.0], kind="margin", clip=0) == 700.0


def test_weights_that_overflow_are_not_blamed_on_the_model():
    """What is clipped costs a finite amount, so an infinite total is that of the weights."""
    report = tm.evaluate([0, 1], [0.5, 0.2], ["logloss", "logloss(clip=0)"], weights=[1.7e308] * 2)
    assert report.cell("logloss").reason == "the terms are too large or too small for float64"
    assert tm.evaluate([1], [0.0], ["logloss(clip=0)"]).reasons == {
        "logloss(clip=0)": "a class that happened had probability 0"
    }
