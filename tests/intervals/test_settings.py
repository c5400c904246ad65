"""Intervals: how intervals are asked for, with a level alone or with all that there is to say."""

from __future__ import annotations

import copy
import pickle
from fractions import Fraction

import numpy as np
import pytest

import tallymark as tm

Y, P = np.arange(40.0), np.arange(40.0) + np.cos(np.arange(40.0))
MODELS = {"a": P, "b": P[::-1]}


def test_equal_settings_are_equal_and_hash_alike():
    """By level, method, resamples and seed."""
    one, same = tm.Intervals(0.9, seed=3), tm.Intervals(level=0.9, method="auto", resamples=None, seed=np.int64(3))
    others = [tm.Intervals(0.8, seed=3), tm.Intervals(0.9), tm.Intervals(0.9, "bootstrap", seed=3)]
    others.append(tm.Intervals(0.9, resamples=99, seed=3))
    assert one == same
    assert hash(one) == hash(same)
    assert len({one, same, *others}) == 5
    assert one != (0.9, "auto", None, 3)
    assert tm.Intervals() == tm.Intervals(0.95)
    assert tm.Intervals(Fraction(9, 10)).level == 0.9


@pytest.mark.parametrize(
    "settings", [tm.Intervals(), tm.Intervals(0.9, "analytic", 10, 7), tm.Intervals(1e-9), tm.Intervals(1 - 1e-12)]
)
def test_settings_survive_copies_pickles_and_their_repr(settings):
    """What is printed makes the same again."""
    assert pickle.loads(pickle.dumps(settings)) == copy.deepcopy(settings) == settings
    assert eval(repr(settings), {"Intervals": tm.Intervals}) == settings


def test_the_repr_shows_what_is_not_the_default():
    """After the level."""
    assert repr(tm.Intervals()) == "Intervals(0.95)"
    assert repr(tm.Intervals(0.9, "bootstrap", 99, 3)) == "Intervals(0.9, method='bootstrap', resamples=99, seed=3)"


def test_interval_settings_are_frozen_and_hashable():
    """They may be a default, or a key."""
    settings = tm.Intervals()
    with pytest.raises(AttributeError, match="frozen"):
        settings.level = 0.9
    with pytest.raises(AttributeError, match="frozen"):
        del settings.level
    with pytest.raises(AttributeError):
        settings.other = 1


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"level": 95}, r"`level` must be a level between 0 and 1, such as 0.95; got 95. Did you mean 0.95?"),
        ({"level": None}, r"`level` must be a level"),
        ({"method": "bca"}, r"`method` must be one of auto, analytic, bootstrap; got 'bca'"),
        ({"resamples": 10}, r"`resamples` must be an integer from 39 to 1,048,576 for level=0.95; got 10"),
        ({"resamples": 0, "method": "analytic"}, r"`resamples` must be an integer from 1 to"),
        ({"seed": -1}, r"`seed` must be an integer from 0 to"),
        ({"seed": True}, r"`seed` must be an integer from 0 to"),
    ],
)
def test_wrong_settings_are_refused_by_name(given, message):
    """As soon as they are made."""
    with pytest.raises(tm.ParameterError) as caught:
        tm.Intervals(**given)
    assert str(caught.value).startswith(message.replace("\\", ""))


def test_a_level_is_the_settings_with_that_level():
    """In every call that takes either."""
    level, settings = 0.9, tm.Intervals(0.9)
    for call in (
        lambda ci: tm.evaluate(Y, P, ["mae", "wape"], ci=ci).to_dict(),
        lambda ci: tm.evaluate_table({"y": Y, "p": P}, truth="y", prediction="p", metrics=["wape"], ci=ci).to_dict(),
        lambda ci: tm.Tally(["wape"], ci=ci).update(Y, P).to_bytes(),
        lambda ci: tm.compare(Y, MODELS, ["mae"], ci=ci).to_dict(),
    ):
        assert call(level) == call(settings)


@pytest.mark.parametrize("wrong", ["0.95", True, (0.95, "auto"), {"level": 0.95}])
def test_anything_else_is_refused(wrong):
    """With what to pass instead."""
    expected = r"`ci` must be a level such as 0.95, or tm.Intervals\(...\)"
    for call in (
        lambda: tm.evaluate(Y, P, ["mae"], ci=wrong),
        lambda: tm.Tally(["mae"], ci=wrong),
        lambda: tm.compare(Y, MODELS, ["mae"], ci=wrong),
        lambda: tm.training.GainStopping(ci=wrong),
        lambda: tm.model_selection.cross_validate(None, Y, P, ci=wrong),
    ):
        with pytest.raises(tm.ParameterError, match=expected):
            call()


def test_the_settings_of_a_report_give_the_same_intervals_again():
    """They name the number of resamples that were made."""
    report = tm.evaluate(Y, P, ["wape"], ci=tm.Intervals(0.99, seed=5))
    assert report.interval == tm.Intervals(0.99, resamples=1000, seed=5)
    assert tm.evaluate(Y, P, ["wape"], ci=report.interval).to_json() == report.to_json()


def test_a_comparison_has_a_method_of_its_own():
    """By the metric and the rows, so none can be chosen."""
    with pytest.raises(tm.ParameterError, match='`ci` must have method="auto"'):
        tm.compare(Y, MODELS, ["mae"], ci=tm.Intervals(method="bootstrap"))


def test_means_over_folds_have_a_level():
    """And nothing else to choose."""

    def mean_of(X, y):  # noqa: N803
        return lambda rows: np.full(len(rows), np.mean(y))

    found, expected = (
        tm.model_selection.cross_validate(mean_of, Y[:, None], P, metrics=["mae"], ci=ci)
        for ci in (tm.Intervals(0.9), 0.9)
    )
    assert (found["mae"].lo, found["mae"].hi) == (expected["mae"].lo, expected["mae"].hi)
    with pytest.raises(tm.ParameterError, match="`ci` must say no more than a level"):
        tm.model_selection.cross_validate(mean_of, Y[:, None], P, ci=tm.Intervals(seed=3))


@pytest.mark.slow
def test_a_tally_of_a_high_level_is_read_back():
    """It keeps fewer resamples than such a level needs."""
    tally = tm.Tally(["wape", "mae"], ci=0.9999).update(Y, P)
    assert tally.interval.resamples == 10_000
    assert tm.Tally.from_bytes(tally.to_bytes()).interval == tally.interval
