"""Calls of the core on scores that are out to break it: they are refused, and nothing hangs or crashes."""

from __future__ import annotations

import numpy as np
import pytest
from tests.typed_arrays import reals, wholes

from tallymark import _core
from tallymark.data.labels import normal_label

INFINITY, NAN = float("inf"), float("nan")
REFUSALS = (TypeError, ValueError, RuntimeError, AttributeError)
RUN = (reals(0.1, 0.2), None, None)
BAD_RUNS = [
    None,
    5,
    "abc",
    (),
    (reals(0.1),),
    [reals(0.1), None, None],
    (None, None, None),
    ([0.1], None, None),
    (wholes(1, 2), None, None),
    (reals(1, 2).astype(np.float32), None, None),
    (reals(1, 2, 3)[::2], None, None),
    (reals(1, 2).astype(">f8"), None, None),
    (np.ones((2, 2)), None, None),
    (np.float64(3.0), None, None),
    (reals(1, 2), reals(1), None),
    (reals(1, 2), wholes(1, 2), None),
    (reals(1, 2), None, wholes(1)),
    (reals(1, 2), None, reals(1, 1)),
    (reals(1, 2), None, wholes(1, 1).astype(np.int32)),
    (reals(1, 2), 5, None),
]
ODD_RUNS = [
    (reals(2, 1), None, None),
    (reals(NAN), None, None),
    (reals(0.1, NAN, 0.2), None, None),
    (reals(-INFINITY, 1), None, None),
    (reals(1, INFINITY), None, None),
    (reals(1, 2), None, wholes(-1, 2)),
    (reals(1, 2), None, wholes(0, 1)),
    (reals(1, 2), None, wholes(2**63 - 1, 2**63 - 1)),
    (reals(1, 2), None, wholes(-(2**63), 1)),
    (reals(1, 2), reals(NAN, 1), None),
    (reals(1, 2), reals(-1, 1), None),
    (reals(1, 2), reals(INFINITY, 1), None),
    (reals(1, 2), reals(0, 1), None),
]


@pytest.mark.parametrize("place", range(len(BAD_RUNS) + len(ODD_RUNS)))
def test_walks_refuse_what_are_no_runs(place):
    """Other types, lengths, orders and numbers raise; nothing hangs or crashes, on either side."""
    bad = (*BAD_RUNS, *ODD_RUNS)[place]
    for sides in ((bad, RUN), (RUN, bad), (bad, bad)):
        with pytest.raises(REFUSALS):
            _core.rank_sums(*sides, True, True, True)
        with pytest.raises(REFUSALS):
            _core.stretch_sums(*sides, (2**62, 2**62), (0, 0), True, True, True)
        with pytest.raises(REFUSALS):
            _core.placement_sums(*sides, (2**62, 2**62), (0, 0))
        with pytest.raises(REFUSALS):
            _core.score_steps(*sides)
        with pytest.raises(REFUSALS):
            _core.curve_points("lift", *sides, False)
        if place < len(BAD_RUNS):
            with pytest.raises(REFUSALS):
                _core.merge_runs(*sides)
        else:  # merging only has to end
            assert len(_core.merge_runs(*sides)[0]) <= 6


def test_empty_classes_give_empty_walks():
    """No rows of a class, or of either."""
    empty = (reals(), None, None)
    assert _core.rank_sums(empty, empty, True, True, True)[:4] == (0, 0, 0, 0)
    assert [len(part) for part in _core.score_steps(empty, empty)[:3]] == [0, 0, 0]
    for curve in ("roc", "precision_recall", "det", "lift"):
        assert _core.curve_points(curve, empty, empty, True)[0].tolist() == [INFINITY]
        assert _core.curve_points(curve, empty, RUN, False)[0].tolist() == [INFINITY, 0.2, 0.1]
    with pytest.raises(ValueError, match="no such curve"):
        _core.curve_points("bend", RUN, RUN, False)
    with pytest.raises(ValueError, match="no weights"):
        _core.curve_points("roc", RUN, (reals(1), reals(0.5), None), False)
    assert _core.rank_sums(empty, RUN, True, True, True)[:3] == (2, 0, 0)
    assert _core.merge_runs(empty, RUN)[0].tolist() == [0.1, 0.2]


@pytest.mark.parametrize(
    "args",
    [
        (np.array([0, 1]), reals(0.1), None),
        (np.array([0, 1]), np.ones((2, 2)), None),
        (np.array([0, 1]), reals(0.1, 0.2), reals(1.0)),
        (np.array([0, 1]), reals(0.1, 0.2), np.ones((2, 2))),
        (np.array([0, 1]), None, None),
        (np.array([0, 1]), np.array(["a", "b"]), None),
        (np.array([0, 1]), reals(0.1, 0.2), "ab"),
        (None, reals(0.1, 0.2), None),
        (5, reals(0.1, 0.2), None),
        (np.array([0, 1], "M8[s]"), reals(0.1, 0.2), None),
    ],
)
def test_sorting_refuses_what_are_no_rows(args):
    """Lengths that differ, tables, and things that are no arrays."""
    with pytest.raises(REFUSALS):
        _core.sort_scores(*args, normal_label)


@pytest.mark.parametrize(
    "args",
    [
        (wholes(0, 1), 1, np.ones((2, 3)), None),
        (wholes(0, -1), 2, np.ones((2, 3)), None),
        (wholes(0, 2**40), 2, np.ones((2, 3)), None),
        (wholes(0, 1), 2, np.ones((3, 3)), None),
        (wholes(0, 1), -1, np.ones((2, 3)), None),
        (wholes(0, 1), 2, np.ones((2, 3)), reals(1)),
        (reals(0, 1), 2, np.ones((2, 3)), None),
        (None, 2, np.ones((2, 3)), None),
        (wholes(0, 1), 2, None, None),
    ],
)
def test_sorting_columns_refuses_what_is_no_table(args):
    """Places that are no classes, and lengths that differ."""
    with pytest.raises(REFUSALS):
        _core.sort_columns(*args)


def test_sorting_tells_of_rows_that_must_be_refused():
    """By None, and Python finds out which they are."""
    for odd in (NAN, INFINITY, -INFINITY):
        assert _core.sort_scores(np.array([0, 1]), reals(0.1, odd), None, normal_label) is None
        assert _core.sort_scores(np.array([0, 1]), reals(0.1, 0.2), reals(1, odd), normal_label) is None
        assert _core.sort_columns(wholes(0, 1), 2, np.array([[0.1], [odd]]), None) is None
        assert _core.sort_columns(wholes(0, 1), 2, np.ones((2, 1)), reals(odd, 1)) is None
    assert _core.sort_scores(np.array([0, 1]), reals(0.1, 0.2), reals(1, -1), normal_label) is None
    labels, runs, _, rows = _core.sort_scores(np.arange(1000), np.arange(1000.0), None, normal_label)
    assert (len(labels) > 2, runs, rows) == (True, None, 1000)
