"""Many replicates in one walk: areas and counts of cells, against NumPy twins, and called past validation."""

from __future__ import annotations

import numpy as np
import pytest

import tallymark as tm
from tallymark import _core
from tallymark.states.resampling.one_pass import precision_order, rank_order


def area_twin(truth, scores, weights):
    """The share of pairs in order, ties by half."""
    positive, negative = truth == 1, truth == 0
    wins = np.sign(scores[positive][:, None] - scores[negative][None, :]) / 2 + 0.5
    pairs = weights[positive][:, None] * weights[negative][None, :]
    with np.errstate(invalid="ignore"):
        return (wins * pairs).sum() / pairs.sum()


@pytest.mark.parametrize("levels", [1, 2, 5, 40, 10**6])
@pytest.mark.parametrize("weighted", [False, True])
def test_areas_are_those_of_the_twin(levels, weighted):
    """With any ties and weights, every replicate has the area of its rows as often as they count."""
    rng = np.random.default_rng(levels)
    for n in (1, 2, 3, 10, 60):
        truth, scores = rng.integers(0, 2, n), rng.integers(0, levels, n) / 7
        keys = rng.integers(0, 2**64, n, dtype=np.uint64)
        weights = rng.integers(1, 9, n) / 4 if weighted else None
        order, steps = rank_order(scores, truth == 1, keys, weights)
        found = _core.resampled_areas(keys[order], steps, None if weights is None else weights[order], 9, 2, 37)
        for k in range(37):
            counts = _core.poisson_counts(9, 2 + k, keys) * (1.0 if weights is None else weights)
            expected = area_twin(truth, scores, counts)
            assert found[k] == pytest.approx(expected, rel=1e-12, nan_ok=True)


def precision_twin(truth, scores, weights):
    """The mean precision over positives, each at its own score as the threshold."""
    reached = scores[None, :] >= scores[:, None]
    with np.errstate(invalid="ignore", divide="ignore"):
        precision = (reached @ (weights * truth)) / (reached @ weights)
        return (np.where(weights * truth > 0, precision, 0) * weights * truth).sum() / (weights * truth).sum()


@pytest.mark.parametrize("levels", [1, 2, 5, 40, 10**6])
@pytest.mark.parametrize("weighted", [False, True])
def test_precision_is_that_of_the_twin(levels, weighted):
    """With any ties and weights, every replicate has the mean precision of its rows as often as they count."""
    rng = np.random.default_rng(levels + 1)
    for n in (1, 2, 3, 10, 60):
        truth, scores = rng.integers(0, 2, n), rng.integers(0, levels, n) / 7
        keys = rng.integers(0, 2**64, n, dtype=np.uint64)
        weights = rng.integers(1, 9, n) / 4 if weighted else None
        order, steps = precision_order(scores, truth == 1, keys, weights)
        found = _core.resampled_precision(keys[order], steps, None if weights is None else weights[order], 9, 2, 37)
        for k in range(37):
            counts = _core.poisson_counts(9, 2 + k, keys) * (1.0 if weights is None else weights)
            assert found[k] == pytest.approx(precision_twin(truth, scores, counts), rel=1e-12, nan_ok=True)


@pytest.mark.parametrize("resamples", [0, 1, 31, 32, 33, 70])
def test_cells_are_those_of_the_twin(resamples):
    """Every replicate has the counts of its rows by cell, by key or by place."""
    rng = np.random.default_rng(resamples)
    cells = rng.integers(0, 6, 500)
    keys = rng.integers(0, 2**64, 500, dtype=np.uint64)
    by_key = _core.resampled_cells(cells, 7, keys, 3, 10, resamples)
    by_place = _core.resampled_cells(cells, 7, None, 3, 10, resamples)
    assert by_key.shape == (resamples, 7)
    for k in range(resamples):
        assert (by_key[k] == np.bincount(cells, _core.poisson_counts(3, 10 + k, keys), 7)).all()
        assert (by_place[k] == np.bincount(cells, _core.poisson_counts_of_places(3, 10 + k, 0, 500), 7)).all()


def test_threads_do_not_show():
    """Replicates are the same on any number of threads, and whichever is first."""
    rng = np.random.default_rng(5)
    truth, scores, weights = rng.integers(0, 2, 3000), rng.normal(size=3000).round(2), rng.random(3000)
    keys = np.arange(3000, dtype=np.uint64)
    order, steps = rank_order(scores, truth == 1, keys, weights)
    rows = (keys[order], steps, weights[order])
    before, found = _core.get_threads(), []
    try:
        for threads in (1, 2, 3):
            tm.set_threads(threads)
            found.append((_core.resampled_areas(*rows, 1, 0, 200), _core.resampled_cells(truth, 2, None, 1, 0, 200)))
    finally:
        tm.set_threads(before)
    for areas, cells in found[1:]:
        assert areas.tobytes() == found[0][0].tobytes()
        assert cells.tobytes() == found[0][1].tobytes()
    assert _core.resampled_areas(*rows, 1, 130, 70).tobytes() == found[0][0][130:].tobytes()


def test_bad_input_is_refused():
    """What does not fit together is refused, and codes out of range are never written to."""
    keys, steps, cells = np.zeros(3, np.uint64), np.zeros(3, np.uint8), np.array([0, 1, 2])
    for bad in (
        lambda: _core.resampled_areas(keys, steps[:2], None, 0, 0, 5),
        lambda: _core.resampled_areas(keys, steps, np.ones(2), 0, 0, 5),
        lambda: _core.resampled_areas(keys, steps, None, 0, 0, 2**40),
        lambda: _core.resampled_areas(keys, steps.astype(np.int8), None, 0, 0, 5),
        lambda: _core.resampled_precision(keys, steps[:2], None, 0, 0, 5),
        lambda: _core.resampled_cells(cells, 2, None, 0, 0, 5),
        lambda: _core.resampled_cells(-cells, 3, None, 0, 0, 5),
        lambda: _core.resampled_cells(cells, 3, keys[:2], 0, 0, 5),
        lambda: _core.resampled_cells(cells, 2**40, None, 0, 0, 5),
    ):
        with pytest.raises(ValueError, match=r"differ|too many|no such|must be"):
            bad()
    odd = np.array([0, 7, 255], np.uint8)
    assert len(_core.resampled_areas(keys, odd, None, 0, 0, 5)) == 5
