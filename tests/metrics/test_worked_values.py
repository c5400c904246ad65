"""Values worked out by hand."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext

import numpy as np
import pytest

import tallymark as tm

Y, P = [3, -0.5, 2, 7], [2.5, 0, 2, 8]


@pytest.mark.parametrize(
    ("name", "y", "p", "expected"),
    [
        ("r2", Y, P, 0.9486081370449679),
        ("mse", Y, P, 0.375),
        ("rss", Y, P, 1.5),
        ("rmse", Y, P, 0.6123724356957945),
        ("mae", Y, P, 0.5),
        ("mean_bias", Y, P, 0.25),
        ("max_error", Y, P, 1.0),
        ("r2", [10, 20, 30, 40, 50], [15, 25, 35, 45, 55], 0.875),
        ("explained_variance", [10, 20, 30, 40, 50], [15, 25, 35, 45, 55], 1.0),
        ("r2", Y, [2.875] * 4, 0.0),
        ("r2", Y, [3.625] * 4, -0.0770877944325482),
        ("mape", [100, 200], [110, 180], 10.0),
        ("smape", [0, 100], [0, 300], 50.0),
        ("wape", [100, 300], [110, 270], 10.0),
        ("huber", [0, 0], [0.5, 3], (0.125 + 2.5) / 2),
        ("log_cosh", [0.0], [1.0], math.log(math.cosh(1))),
        ("log_cosh", [0.0], [1e-9], 5e-19),
        ("log_cosh", [0.0], [800.0], 800 - math.log(2)),
        ("poisson_deviance", [0, 2], [1.5, 2], 1.5),
        ("poisson_deviance", [1], [0], 2 * (math.log(1e9) - (1 - 1e-9))),
        ("gamma_deviance", [2], [1], 2 * (1 - math.log(2))),
        ("tweedie_deviance(power=3)", [2], [1], 2 * (1 / 4 + 1 - 1)),
        ("tweedie_deviance(power=-1)", [-1], [2], 2 * (2 + 8 / 3)),
        ("pinball(alphas=0.9)", [1, 2, 3], [2, 2, 2], (0.1 + 0.9) / 3),
        ("pinball(alphas=(0.1, 0.9))", [1.0], [[0.0, 2.0]], (0.1 + 0.1) / 2),
        ("interval_score(level=0.5)", [1, 5], [[0, 2], [0, 4]], 5.0),
        ("coverage", [1, 5, 4], [[0, 2], [0, 4], [0, 4]], 2 / 3),
        ("crps_quantile(alphas=0.5)", Y, P, 0.5),
        ("crps_quantile(alphas=(0.25, 0.75))", [1, 2, 3], [[1, 3]] * 3, 0.5),
        ("msle", [0, 1], [0, 3], math.log(2) ** 2 / 2),
        ("mase(scale=2)", Y, P, 0.25),
        ("median_absolute_error", [0, 0, 0, 0], [1, 2, 4, 9], 3.0),
        ("pearson", [1, 2, 3], [-2, -4, -6], -1.0),
        ("spearman", [1, 2, 3, 4], [10, 100, 1000, 900], 0.8),
        ("d2_absolute", [1, 2, 6], [1, 3, 5], 0.6),
    ],
)
def test_the_value_is_that_computed_by_hand(name, y, p, expected):
    """To 1e-12 relative, zeros to 1e-15."""
    assert tm.metric(name)(y, p) == pytest.approx(expected, rel=1e-12, abs=1e-15)


def test_textbook_identities_hold():
    """RMSE² = MSE, RMSE ≥ MAE, MSE·n = RSS, the mean predictor has R² 0, MAE is symmetric."""
    y, p = [3.1, -0.5, 2.25, 7.9, 1.0], [2.5, 0.3, 2.0, 8.4, -3.0]
    assert tm.rmse(y, p) ** 2 == pytest.approx(tm.mse(y, p), rel=1e-12)
    assert tm.rmse(y, p) >= tm.mae(y, p)
    assert tm.mse(y, p) * 5 == pytest.approx(tm.rss(y, p), rel=1e-12)
    assert tm.r2(y, [sum(y) / 5] * 5) == pytest.approx(0, abs=1e-15)
    assert tm.mae(y, p) == tm.mae(p, y)
    assert tm.tweedie_deviance(y, p, power=0) == tm.mse(y, p)
    assert tm.d2_tweedie(y, p, power=0) == pytest.approx(tm.r2(y, p), rel=1e-12)
    assert tm.crps_quantile(y, p, alphas=0.5) == tm.mae(y, p)
    assert tm.pinball(y, p) == pytest.approx(tm.mae(y, p) / 2, rel=1e-15)
    assert tm.huber(y, p, delta=100) == pytest.approx(tm.mse(y, p) / 2, rel=1e-12)


@pytest.mark.parametrize("gap", [1e-3, 1e-6, 1e-9])
def test_deviances_keep_their_digits_near_the_truth(gap):
    """All of the family tend to (y - mu)² / mu^power; textbook formulas have no digit left at 1e-9."""
    y, mu = 3.0, 3.0 * (1 + gap)
    for power in (1, 1.5, 2, 3, -1):
        limit = (y - mu) ** 2 / mu**power
        assert tm.tweedie_deviance([y], [mu], power=power) == pytest.approx(limit, rel=3 * gap + 1e-12)


@pytest.mark.parametrize("power", [-3, -1.5, 1.0001, 1.5, 1.9999, 2.0001, 2.5, 3, 5])
def test_tweedie_deviances_agree_with_sixty_digits_at_every_scale(power):
    """Against sixty digits of decimal arithmetic, from 1e-100 to 1e100, near the truth and far from it."""
    rng = np.random.default_rng(12)
    with localcontext() as context:
        context.prec = 80
        p = Decimal(repr(power))
        for _ in range(150):
            y = float(10 ** rng.uniform(-100, 100))
            mu = (
                y * math.exp(rng.normal() * 10 ** rng.uniform(-6, 1))
                if rng.random() < 0.5
                else 10 ** rng.uniform(-100, 100)
            )
            a, b, yd, md = 1 - p, 2 - p, Decimal(y), Decimal(mu)
            expected = float(2 * (yd**b / (a * b) - yd * md**a / a + md**b / b))
            if 1e-290 < expected < 1e290:
                assert tm.tweedie_deviance([y], [mu], power=power) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    "name", ["poisson_deviance", "gamma_deviance", "tweedie_deviance", "d2_tweedie", "d2_tweedie(power=1)"]
)
def test_predictions_that_are_logs_of_means(name):
    """With link="log" in the call, the string and the object, the value is that of exp of the predictions, in any
    pieces; without it, what cannot be a mean says so."""
    rng = np.random.default_rng(4)
    y, logs, metric = rng.gamma(2.0, size=300), rng.normal(0.5, 0.4, 300), tm.metric(name)
    linked = metric.replace(link="log")
    expected = metric(y, np.exp(logs))
    assert linked(y, logs) == metric(y, logs, link="log") == tm.metric(str(linked))(y, logs)
    assert linked(y, logs) == pytest.approx(expected, rel=1e-12)
    pieces = sum((tm.Tally([linked]).update(y[k::3], logs[k::3]) for k in (1, 2)), tm.Tally([linked]))
    assert pieces.update(y[::3], logs[::3]).report()[linked] == linked(y, logs)
    report, plain = tm.evaluate(y, logs, [linked]), tm.evaluate(y, np.exp(logs), [metric])
    assert [each.value for each in report.baselines(linked)] == pytest.approx(
        [each.value for each in plain.baselines(metric)], abs=1e-12
    )
    with pytest.raises(tm.DomainError, match="`y_true` must be"):
        linked(-y, logs)
    if name in ("gamma_deviance", "d2_tweedie"):
        with pytest.raises(tm.DomainError, match='If the predictions are logs, pass link="log"'):
            metric(y, logs)


def test_poisson_says_what_it_does_with_impossible_means():
    """A note names the lowest prediction."""
    report = tm.evaluate([0.0, 2.0], [-1.0, 3.0], ["poisson", "tweedie_deviance(power=1)"])
    assert "the lowest prediction is -1" in report.cell("poisson").notes[0]
    assert 'pass link="log" if they are logs' in report.cell("poisson").notes[0]
    assert "the lowest prediction is -1" in report.cell("tweedie_deviance(power=1)").notes[0]
    assert tm.evaluate([1.0], [1.0], ["poisson"]).cell("poisson").notes == ()
    assert tm.gamma_deviance([1e-300], [1e300]) == pytest.approx(2 * (600 * math.log(10) - 1), rel=1e-12)


def test_margins_are_read_through_the_log_link():
    """kind="margin" is the prediction before exp."""
    y, margin = [1.0, 2.0, 0.5], [0.1, 0.7, -0.4]
    means = [math.exp(m) for m in margin]
    for metric in (tm.poisson_deviance, tm.gamma_deviance, tm.tweedie_deviance):
        assert metric(y, margin, kind="margin") == pytest.approx(metric(y, means), rel=1e-12)
    with pytest.raises(tm.DomainError, match=r"got -800\.0 \(row 1"):
        tm.gamma_deviance([1.0, 2.0], [-5.0, -800.0], kind="margin")
    with pytest.raises(tm.KindError, match='rmse reads predictions of kind "value"'):
        tm.rmse(y, margin, kind="margin")


def test_mape_counts_the_rows_that_swamp_it():
    """A note says how many rows have a truth of almost zero."""
    report = tm.evaluate([0.0, 1.0, 2.0], [1.0, 1.0, 2.0], ["mape"])
    assert report.cell("mape").notes == ("1 row has a truth closer to 0 than 1e-15",)
    assert "1 row has a truth closer to 0" in str(report)
    assert tm.evaluate([1.0, 2.0], [1.0, 1.0], ["mape"]).cell("mape").notes == ()


def test_undefined_values_say_why():
    """NaN with a reason, a number instead, or an error."""
    report = tm.evaluate([5.0, 5.0], [5.0, 6.0], ["r2", "wape", "pearson"])
    assert math.isnan(report["r2"])
    assert report.reasons["r2"] == "the truth is constant"
    assert tm.evaluate([0.0, 0.0], [1.0, 1.0], ["wape"]).reasons["wape"] == "the truth is zero in every row"
    assert tm.r2([5.0, 5.0], [5.0, 6.0], undefined=0) == 0
    with pytest.raises(tm.UndefinedError, match=r"^r2 is undefined: the truth is constant"):
        tm.r2([5.0, 5.0], [5.0, 6.0], undefined="raise")
    reasons = tm.evaluate([1.0, 2.0], [3.0, 3.0], ["pearson", "spearman"]).reasons
    assert set(reasons.values()) == {"the predictions are constant, or vary too little for float64"}
    assert "varies too little" in tm.evaluate([0, 1e-200], [1.0, 2.0], ["r2"]).reasons["r2"]
    assert "too large" in tm.evaluate([0, 1e200], [1.0, 2.0], ["r2", "pearson"]).reasons["r2"]
    assert "too large" in tm.evaluate([0.0, 1.0], [1e200, -1e200], ["pearson"]).reasons["pearson"]
    assert tm.evaluate([0.0, 1.0], [1e200, -1e200], ["explained_variance"])["explained_variance"] == -math.inf


def test_an_undefined_output_is_named():
    """The mean of outputs is undefined if one of them is."""
    y, p = [[1.0, 5.0], [2.0, 5.0]], [[1.0, 5.0], [3.0, 6.0]]
    report = tm.evaluate(y, p, ["r2", "r2(outputs=each)"])
    assert math.isnan(report["r2"])
    assert report.reasons["r2"] == "output 1: the truth is constant"
    assert report["r2(outputs=each)"][0] == -1.0
    assert tm.r2(y, p, undefined=0.5) == (-1.0 + 0.5) / 2
    assert tm.r2(y, p, outputs=(1, 0)) == -1.0


def test_a_weight_of_two_is_the_value_twice_in_a_median():
    """A weight of two is the value twice; an even split takes the middle."""
    assert tm.median_absolute_error([0, 0, 0], [1, 2, 4], weights=[1, 1, 2]) == 3.0
    assert tm.median_absolute_error([0, 0, 0], [1, 2, 4], weights=[1, 1, 3]) == 4.0
    tenths = [0.1] * 10  # ten times 0.1 is not 1 in float64, and an even split all the same
    assert tm.median_absolute_error([0] * 10, range(1, 11), weights=tenths) == 5.5


def test_d2_says_why_it_is_undefined():
    """Where the baseline has no loss, too much, or no meaning."""
    for power, why in ((-2000, "varies too little"), (2000, "too large"), (3001, "too large")):
        name = f"d2_tweedie(power={power})"
        assert why in tm.evaluate([0.1, 0.3, 0.41], [0.2, 0.3, 0.4], [name]).reasons[name]
    negative = tm.evaluate([-3.0, 1.0], [1.0, 1.0], ["d2_tweedie(power=-1)"])
    assert negative.reasons["d2_tweedie(power=-1)"] == "the mean of the truth is not positive"
    assert tm.d2_tweedie([0.0, 1.0], [1e200, 1.0], power=0) == -math.inf


def test_quantile_losses_beyond_float64():
    """Infinite, with the reason."""
    report = tm.evaluate([-1e308], [[1e308, 1e308]], ["crps_quantile(alphas=(0.1, 0.9))"])
    assert report["crps_quantile(alphas=(0.1, 0.9))"] == math.inf
    assert "too large" in report.reasons["crps_quantile(alphas=(0.1, 0.9))"]


def test_parameters_that_are_not_numbers_are_refused():
    """None where it must be given later, and things that are no numbers."""
    assert tm.Mase(scale=None) == tm.mase
    for bad in (object(), 1 + 2j, 10**400, [1.0]):
        with pytest.raises(tm.ParameterError, match="`delta` must be a finite number"):
            tm.Huber(delta=bad)


TINY = ([1e-170, 2e-170, 4e-170], [2e-170, 2.5e-170, 3e-170])


@pytest.mark.parametrize(
    "name", ["mse", "rmse", "rss", "huber", "log_cosh", "msle", "rmsle", "tweedie_deviance(power=-1)"]
)
@pytest.mark.parametrize("weights", [None, [1, 2, 3]])
def test_losses_that_sink_below_float64_are_undefined(name, weights):
    """Zero would call the predictions perfect, as only equal ones are."""
    report = tm.evaluate(*TINY, [name], weights=weights)
    assert math.isnan(report[name])
    assert report.cell(name).reason == "the terms are too large or too small for float64"
    perfect = tm.evaluate(TINY[0], TINY[0], [name], weights=weights)
    assert (perfect[name], perfect.cell(name).reason) == (0.0, None)


def test_losses_that_float64_holds_are_not():
    """However small, and zero where a prediction below the least mean of a Poisson distribution is the truth."""
    assert tm.huber([0.0] * 3, [1e-150] * 3) == pytest.approx(5e-301, rel=1e-14)
    assert tm.huber([0.0], [1.0], delta=1e-300) == pytest.approx(1e-300, rel=1e-15)
    assert tm.log_cosh([0.0], [1e-150]) == pytest.approx(5e-301, rel=1e-14)
    assert tm.msle([0.0], [1e-150]) == pytest.approx(1e-300, rel=1e-14)
    assert tm.tweedie_deviance([1e-9], [0.0], power=1) == tm.poisson_deviance([1e-9], [0.0]) == 0.0


@pytest.mark.parametrize("scale", [2.0**-1070, 2.0**-500, 1.0, 2.0**500, 2.0**1000])
@pytest.mark.parametrize(
    "name", ["d2_absolute", "d2_pinball", "d2_tweedie(power=0)", "d2_tweedie", "d2_tweedie(power=3)"]
)
@pytest.mark.parametrize("weights", [None, [0.25, 0.5, 0.25]])
def test_a_share_of_losses_has_no_unit(name, scale, weights):
    """From the smallest floats to the largest."""
    y, p = np.array([1.0, 3.0, 6.0]), np.array([2.0, 3.0, 5.0])
    metric = tm.metric(name)
    expected = pytest.approx(metric(y, p, weights=weights), rel=1e-14)
    assert metric(y * scale, p * scale, weights=weights) == expected


def test_rates_far_below_the_floor_of_poisson_means():
    """The floor of predictions lies below the mean, whatever that is."""
    y, p = np.array([1e-10, 3e-10, 5e-10]), np.array([1e-10, 2e-10, 5e-10])
    expected = 0.8513273989603868  # as scikit-learn has it
    assert tm.d2_tweedie(y, p, power=1) == pytest.approx(expected, rel=1e-12)
    assert tm.d2_tweedie(y * 1e10, p * 1e10, power=1) == pytest.approx(expected, rel=1e-12)
    assert tm.d2_tweedie([1e-300, 2e-300], [1e-300, 1e300], power=1) == -math.inf
    assert tm.d2_tweedie([1e-300, 1e100], [1e-300, 1e100], power=1) == pytest.approx(1.0, rel=1e-15)


def test_a_prediction_of_zero_is_a_poisson_mean_of_the_least_size():
    """At power 1 only, and the reference says so."""
    assert tm.tweedie_deviance([0.0], [0.0], power=1) == tm.poisson_deviance([0.0], [0.0]) == 2e-9
    with pytest.raises(tm.DomainError, match="`y_pred` must be greater than 0"):
        tm.tweedie_deviance([0.0], [0.0])


@pytest.mark.parametrize("weights", [[0.25, 0.25, 0.5], [0.5, 0.5, 0.5], [0.1, 0.2, 0.3]])
def test_a_truth_that_weights_take_below_float64_is_not_zero(weights):
    """The weighted truth of a wape is lost; that of zeros is zero."""
    y = [5e-324, 1e-323, 5e-324]
    report = tm.evaluate(y, [5e-324, 5e-324, 1e-323], ["wape"], weights=weights)
    assert report.cell("wape").reason == "the truth is too small for float64"
    assert tm.evaluate([0.0] * 3, y, ["wape"], weights=weights).cell("wape").reason == "the truth is zero in every row"
    assert tm.wape(y, [5e-324, 5e-324, 1e-323]) == 50.0
