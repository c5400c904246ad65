"""The kernel of rankings, against NumPy twins, and called past the validation."""

from __future__ import annotations

import numpy as np
import pytest

from tallymark import _core

NDCG, MAP, MRR, HIT, PRECISION, RECALL = range(6)
INF = float("inf")


def ranked(relevance, score, codes, weights=None, stable=False):
    count = int(codes.max()) + 1
    return _core.Rankings(relevance, score, codes, count, weights, stable)


def total(rankings, measure, k=INF, exponential=False, strict=True):
    raw, shift = rankings.total(measure, k, exponential, strict)
    return (int.from_bytes(raw, "little", signed=True) << shift) / (1 << 1074)


def twin(measure, relevance, k):
    """Of relevances in the order of their ranks."""
    cut = relevance[: int(min(k, len(relevance)))]
    discounts = 1 / np.log2(np.arange(2, len(relevance) + 2))
    ranks = np.flatnonzero(cut > 0) + 1
    relevant = np.count_nonzero(relevance)
    return {
        NDCG: (cut * discounts[: len(cut)]).sum() / (np.sort(relevance)[::-1] * discounts)[: len(cut)].sum(),
        MAP: (np.arange(1, len(ranks) + 1) / ranks).sum() / relevant,
        MRR: 1 / ranks[0] if len(ranks) else 0.0,
        HIT: float(len(ranks) > 0),
        PRECISION: len(ranks) / k,
        RECALL: len(ranks) / relevant,
    }[measure]


@pytest.mark.parametrize("size", [1, 2, 7, 16, 33, 100, 129, 400])
@pytest.mark.parametrize("scattered", [False, True])
def test_every_ranking_measure_agrees_with_numpy(size, scattered):
    """Queries of every size, rows grouped or scattered, scores of both signs and all sizes."""
    rng = np.random.default_rng(size)
    n = 20 * size
    codes = np.repeat(np.arange(20), size)
    codes = rng.permutation(codes) if scattered else codes
    score = rng.permutation(n) - n / 2
    score = np.sign(score) * np.abs(score) ** 20
    relevance = rng.choice([0.0, 0.0, 1.0, 2.5], n)
    weights = rng.uniform(0, 2, 20)
    rankings = ranked(relevance, score, codes, weights)
    orders = [relevance[codes == q][np.argsort(-score[codes == q])] for q in range(20)]
    held = [order for order in orders if order.any()]
    assert rankings.counts == (len(held), 20 - len(held), len(held) if size == 1 else 0)
    for measure in range(6):
        for k in (1, 3, 10, 1000.0):
            expected = sum(w * twin(measure, o, k) for w, o in zip(weights, orders, strict=True) if o.any())
            for strict in (False, True):
                assert total(rankings, measure, k, strict=strict) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("size", [2, 5, 40, 130, 300])
def test_ties_are_averaged_worst_or_in_row_order(size):
    """Strict orders are the worst, or that of the rows; else the rows of a group share what they earn."""
    rng = np.random.default_rng(size)
    codes, score = np.zeros(size, int), rng.integers(0, 3, size).astype(float)
    relevance = rng.integers(0, 3, size).astype(float)
    relevance[0] = 1
    worst = relevance[np.lexsort((relevance, -score))]
    stable = relevance[np.argsort(-score, kind="stable")]
    means = np.array([relevance[score == s].mean() for s in np.sort(score)[::-1]])
    best = np.sort(relevance)[::-1]
    discounts = 1 / np.log2(np.arange(2, size + 2))
    for measure in range(6):
        assert total(ranked(relevance, score, codes), measure, 3) == pytest.approx(twin(measure, worst, 3), rel=1e-12)
        found = total(ranked(relevance, score, codes, stable=True), measure, 3)
        assert found == pytest.approx(twin(measure, stable, 3), rel=1e-12)
    found = total(ranked(relevance, score, codes), NDCG, strict=False)
    assert found == pytest.approx((means * discounts).sum() / (best * discounts).sum(), rel=1e-12)


def test_numbers_of_every_type_are_read():
    """Row by row as float64, with the lowest and the highest; None if one is not finite."""
    table = np.arange(6, dtype=np.int16).reshape(2, 3)
    for given in (table, np.asfortranarray(table), table[::-1][::-1], table.astype(np.float16)):
        raw, low, high = _core.read_table(given)
        assert np.frombuffer(raw).tolist() == [0, 1, 2, 3, 4, 5]
        assert (low, high) == (0, 5)
    for bad in (np.nan, np.inf, -np.inf):
        assert _core.read_table(np.array([1.0, bad])) is None
    long = np.random.default_rng(1).normal(size=5_000)
    assert np.array_equal(np.frombuffer(_core.read_table(long[::-1])[0]), long[::-1])
    assert _core.read_table(np.empty((0, 2)))[0] == b""
    with pytest.raises(ValueError, match="not numeric"):
        _core.read_table(np.array(["a"]))


def test_the_core_refuses_what_would_read_beyond_its_input():
    """Even when it is called past the validation."""
    one, codes = np.ones(4), np.array([0, 0, 1, 1])
    for arguments in (
        (one, np.ones(3), codes, 2, None, False),
        (one, one, codes[:3], 2, None, False),
        (one, one, codes, 1, None, False),
        (one, one, -codes, 2, None, False),
        (one, one, codes, 5, None, False),
        (one, one, None, 3, None, False),
        (one, one, None, 0, None, False),
        (one, one, codes, 2, np.ones(3), False),
        (one, one, codes, 2, -np.ones(2), False),
        (one, one, codes, 2, np.full(2, np.nan), False),
        (-one, one, codes, 2, None, False),
        (one * np.nan, one, codes, 2, None, False),
        (one, one * np.inf, codes, 2, None, False),
        (one[::2], one[::2], codes[::2], 2, None, False),
        (one.astype(np.float32), one, codes, 2, None, False),
    ):
        with pytest.raises(ValueError, match=r"must|differ"):
            _core.Rankings(*arguments)
    with pytest.raises(TypeError):
        _core.Rankings([1.0], one, codes, 2, None, False)
    with pytest.raises(TypeError):
        _core.Rankings(one, one, codes, -1, None, False)
    rankings = _core.Rankings(one * 2000, one, codes, 2, None, False)
    assert rankings.highest == 2000
    for arguments in ((6, 1.0, False, False), (-1, 1.0, False, False), (0, 0.5, False, False), (0, 1.0, True, False)):
        with pytest.raises(ValueError, match=r"no such measure|at least 1|at most 1000"):
            rankings.total(*arguments)
    with pytest.raises(ValueError, match="at least 1"):
        rankings.total(0, float("nan"), False, False)
    empty = _core.Rankings(np.ones(0), np.ones(0), np.ones(0, int), 0, None, False)
    assert (empty.counts, empty.total(0, INF, False, False)[0]) == ((0, 0, 0), b"")


def test_a_view_of_more_rows_than_memory_holds():
    """A view of one byte can claim so many rows that the bytes they would take, counted modulo 2^64, are few."""
    for shape in ((2**61 + 1,), (2**60, 2)):
        with pytest.raises(MemoryError):
            _core.read_table(np.broadcast_to(np.int8(1), shape))
