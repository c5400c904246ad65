"""Limits of conditions: those that no value can reach are refused, since they would decide before there was a model."""

from __future__ import annotations

import math

import pytest

import tallymark as tm


@pytest.mark.parametrize("metric", [item for item in tm.list_metrics() if item.better is not None], ids=str)
def test_a_limit_lies_in_the_range_of_the_metric(metric):
    """Both ends of the range may be limits; what lies beyond them is refused under every sign, even under `or`."""
    low, high = metric.range
    report = tm.evaluate([0, 1, 1, 0], [0.1, 0.8, 0.4, 0.3], {"m": metric, "x": "accuracy"}, errors="report")
    for end, beyond in ((low, math.nextafter(low, -math.inf)), (high, math.nextafter(high, math.inf))):
        if math.isinf(end):
            continue
        for sign in ("<", "<=", ">", ">=", "==", "!="):
            assert isinstance(tm.accept(report, f"m {sign} {end!r}"), tm.acceptance.Acceptance)
            for text in (f"m {sign} {beyond!r}", f"{beyond!r} {sign} m"):
                with pytest.raises(tm.ParameterError, match=f"lies in .* and never reaches {beyond!r}"):
                    tm.accept(report, f"x == 0.75 or not {text}")


def test_a_limit_of_what_is_asked_of_a_metric_lies_in_its_range():
    """Ends of intervals and the worst group have that of the metric, a gap its width, a ratio [0, 1], rows no less than
    none; and a percentage is read before."""
    rows = [1, 1, 0, 1, 0, 0], [1, 0, 0, 1, 1, 0]
    metrics = ["recall", "mcc", "smape", "mean_bias", "equal_opportunity"]
    report = tm.evaluate(*rows, metrics, by=list("aaabbb"), ci=0.9)
    inside = "recall.lo > 0 and recall.hi < 1 and recall.worst < 100% and mcc.gap < 2 and mcc.ratio < 1 and mcc.n >= 0"
    inside += " and mcc.worst > -1 and smape < 200 and smape.gap < 200% and mean_bias.gap < 1e9 and mean_bias > -1e9"
    assert len(tm.accept(report, inside).conditions) == 11
    outside = ["recall.lo > 1.5", "recall.hi < -1", "recall.worst > 60", "recall < 101%", "mcc.gap < 2.1", "mcc.n > -1"]
    outside += ["mcc.ratio < 80", "mcc.worst > -1.1", "smape < 201%", "mean_bias.gap > -0.1", "equal_opportunity < 10"]
    for text in outside:
        with pytest.raises(tm.ParameterError, match=r"`condition` says .*, but .* lies in"):
            tm.accept(report, text)


def test_a_percentage_without_its_sign_is_named():
    """Where it can have been one: of a share, up to 100."""
    report = tm.evaluate([1, 0, 1], [1, 1, 1], ["error_rate", "mcc"])
    for text, named in {
        "error_rate < 20": "error_rate lies in [0, 1] and never reaches 20. For a percentage write 20%",
        "100 > error_rate": "error_rate lies in [0, 1] and never reaches 100. For a percentage write 100%",
        "error_rate < 101": "error_rate lies in [0, 1] and never reaches 101",
        "error_rate > -20": "error_rate lies in [0, 1] and never reaches -20",
        "error_rate < 120%": "error_rate lies in [0, 1] and never reaches 120%",
        "mcc < 20": "mcc lies in [-1, 1] and never reaches 20",
    }.items():
        with pytest.raises(tm.ParameterError) as caught:
            tm.accept(report, text)
        assert str(caught.value).endswith(f", but {named}")


def test_numbers_on_a_scale_of_their_own_have_any_limit():
    """What stands for a value may lie outside the range of the metric, and what has only its name too."""
    report = tm.evaluate([0, 0], [0, 1], ["recall(undefined=-1)", "recall(average=macro, absent=5)"])
    assert tm.accept(report, "recall(undefined=-1) < -0.5")
    assert tm.accept(report, "recall(average=macro, absent=5) > 2")
    assert tm.accept({"accuracy": 95.0, "error_rate": 0.9}, "accuracy > 90 and error_rate < 2")
    report = tm.evaluate([1, 1, 0, 0], [1, 1, 0, 1], ["gap(recall(undefined=-1))"], by=list("aabb"))
    assert not tm.accept(report, "gap(recall(undefined=-1)) < 1.5")


def test_the_worst_of_what_is_best_near_a_number_is_asked_of_all_groups():
    """The metric of that name is the group that is furthest off, and tells nothing of those on the other side."""
    report = tm.evaluate([0.0] * 4, [-5.0, -5.0, 4.0, 4.0], ["mean_bias", "worst(mean_bias)"], by=list("aabb"))
    assert not tm.accept(report, "-10 < mean_bias.worst < 1")
    assert tm.accept(report, "worst(mean_bias) == -5")
    with pytest.raises(tm.ParameterError, match=r"off to the other side; mean_bias\.worst looks at every group"):
        tm.accept(report, "-10 < worst(mean_bias) < 1")
