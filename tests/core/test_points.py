"""Silhouettes and the spread of clusters, against NumPy twins and scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import metrics

from tallymark import _core


@pytest.fixture(autouse=True)
def threads():
    """Put the number of threads back after each test."""
    before = _core.get_threads()
    yield
    _core.set_threads(before)


def blobs(seed, n, d, k, spread=1.0):
    random = np.random.default_rng(seed)
    codes = np.concatenate([np.arange(k), random.integers(0, k, n - k)])
    random.shuffle(codes)
    return random.normal(size=(k, d))[codes] * spread + random.normal(size=(n, d)), codes


def silhouette_twin(points, codes):
    """Over the whole matrix of distances."""
    distance = np.sqrt(((points[:, None] - points[None]) ** 2).sum(-1))
    totals = np.stack([distance[:, codes == c].sum(1) for c in range(codes.max() + 1)], 1)
    counts = np.bincount(codes)
    own = np.arange(codes.max() + 1) == codes[:, None]
    a = totals[own] / np.maximum(counts[codes] - 1, 1)
    b = np.where(own, np.inf, totals / counts).min(1)
    return np.where(counts[codes] > 1, (b - a) / np.maximum(np.maximum(a, b), 1e-300), 0.0)


def spread_twin(points, codes, weights):
    clusters = range(codes.max() + 1)
    centroids = np.stack([np.average(points[codes == c], axis=0, weights=weights[codes == c]) for c in clusters])
    distance = np.sqrt(((points - centroids[codes]) ** 2).sum(1))
    totals = [np.bincount(codes, w) for w in (weights, weights * distance, weights * distance**2)]
    return centroids, np.average(points, axis=0, weights=weights), *totals


def spread(points, codes, weights=None):
    """The spread of clusters in the unit of the points."""
    centroids, rests, centre, rest, *totals, exponent = _core.centroid_spread(
        points, codes, weights, int(codes.max()) + 1
    )
    assert (centroids + rests == centroids).all()
    assert (centre + rest == centre).all()
    numbers = (centroids, centre, *totals)
    powers = (exponent, exponent, 0, exponent, 2 * exponent)
    return [np.ldexp(x, power) for x, power in zip(numbers, powers, strict=True)]


def silhouette(points, codes, weights=None):
    return _core.silhouette(points, codes, weights, int(codes.max()) + 1)


@pytest.mark.parametrize(("n", "d", "k"), [(2, 1, 2), (3, 2, 2), (17, 3, 5), (64, 1, 2), (65, 7, 3), (300, 33, 40)])
def test_silhouettes_agree_with_numpy_and_scikit_learn(n, d, k):
    """Every length, width and number of clusters agrees with NumPy and with scikit-learn."""
    points, codes = blobs(n, n, d, k)
    found = silhouette(points, codes)
    np.testing.assert_allclose(found, silhouette_twin(points, codes), rtol=1e-12, atol=1e-14)
    if k < n:
        np.testing.assert_allclose(found, metrics.silhouette_samples(points, codes), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("threads", [1, 2, 3, 8])
def test_the_number_of_threads_changes_no_bit(threads):
    """The bits of every value are those of one thread."""
    points, codes = blobs(3, 3001, 5, 7)
    weights = np.random.default_rng(3).integers(1, 5, codes.size).astype(float)
    _core.set_threads(1)
    alone = silhouette(points, codes, weights)
    one = _core.centroid_spread(points, codes, weights, 7)
    large, large_codes = blobs(4, 40_000, 6, 3)
    large_one = _core.centroid_spread(large, large_codes, None, 3)
    _core.set_threads(threads)
    assert silhouette(points, codes, weights).tobytes() == alone.tobytes()
    for before, after in zip(one, _core.centroid_spread(points, codes, weights, 7), strict=True):
        assert np.asarray(before).tobytes() == np.asarray(after).tobytes()
    for before, after in zip(large_one, _core.centroid_spread(large, large_codes, None, 3), strict=True):
        assert np.asarray(before).tobytes() == np.asarray(after).tobytes()


def test_numbers_of_clusters_never_show():
    """Other numbers for the same clusters leave every bit of the silhouettes."""
    points, codes = blobs(5, 500, 4, 9)
    other = np.random.default_rng(5).permutation(9)
    assert silhouette(points, other[codes]).tobytes() == silhouette(points, codes).tobytes()
    assert _core.silhouette(points, codes * 3, None, 27).tobytes() == silhouette(points, codes).tobytes()


def test_the_order_of_rows_changes_no_bit_of_the_spread():
    """A permutation permutes silhouettes up to rounding, and changes no bit of the spread."""
    points, codes = blobs(6, 2500, 3, 4)
    weights = np.random.default_rng(6).integers(1, 9, codes.size).astype(float)
    order = np.random.default_rng(7).permutation(codes.size)
    shuffled = silhouette(points[order], codes[order], weights[order])
    np.testing.assert_allclose(shuffled, silhouette(points, codes, weights)[order], rtol=0, atol=1e-13)
    for w in (None, weights):
        after = _core.centroid_spread(points[order], codes[order], None if w is None else w[order], 4)
        for x, y in zip(_core.centroid_spread(points, codes, w, 4), after, strict=True):
            assert np.asarray(x).tobytes() == np.asarray(y).tobytes()


def test_a_weight_of_three_is_the_row_three_times():
    """A row of weight 3 is that row three times."""
    points, codes = blobs(8, 200, 3, 4)
    codes[codes == 3] = 2
    codes[0] = 3  # one row, which is not alone if its weight is above 1
    weights = np.random.default_rng(8).integers(2, 5, codes.size)
    repeated = np.repeat(points, weights, axis=0), np.repeat(codes, weights)
    weighted = silhouette(points, codes, weights.astype(float))
    np.testing.assert_allclose(np.repeat(weighted, weights), silhouette(*repeated), rtol=1e-12, atol=1e-14)
    for x, y in zip(spread(points, codes, weights.astype(float)), spread(*repeated), strict=True):
        assert x.tobytes() == y.tobytes()


def test_a_lone_point_counts_0_and_copies_in_one_place_count_1():
    """A lone point counts 0, and so does a point at no distance from anything; copies in one place count 1."""
    points = np.array([[0.0], [0.0], [3.0]])
    assert silhouette(points, np.array([0, 0, 1])).tolist() == [1.0, 1.0, 0.0]
    assert silhouette(np.ones((4, 2)), np.array([0, 0, 1, 1])).tolist() == [0.0] * 4
    assert silhouette(points, np.array([0, 0, 1]), np.array([1.0, 1.0, 2.0])).tolist() == [1.0, 1.0, 1.0]
    assert np.isnan(silhouette(points, np.array([0, 0, 0]))).all()
    assert _core.silhouette(np.empty((0, 3)), np.array([], dtype=np.int64), None, 0).shape == (0,)
    assert silhouette(np.empty((3, 0)), np.array([0, 0, 1])).tolist() == [0.0] * 3


@pytest.mark.parametrize("power", [-1060, -700, -300, 300, 700, 1015])
def test_powers_of_two_as_scale_change_nothing(power):
    """Coordinates times a power of two have the same silhouettes and the same spread, near both ends of the range."""
    points, codes = blobs(9, 150, 4, 3)
    points = np.round(points * 64) / 8  # few bits, so that the smallest numbers hold them
    scaled = np.ldexp(points, power)
    assert silhouette(scaled, codes).tobytes() == silhouette(points, codes).tobytes()
    plain, moved = _core.centroid_spread(points, codes, None, 3), _core.centroid_spread(scaled, codes, None, 3)
    assert moved[-1] == plain[-1] + power
    assert all(x.tobytes() == y.tobytes() for x, y in zip(plain[:-1], moved[:-1], strict=True))


def test_distances_beyond_the_range_of_double_do_not_overflow():
    """Spans beyond the range of double, tiny clusters beside huge distances, and offsets do no harm."""
    codes = np.array([0, 0, 1, 1])
    ends = np.array([[-1.7e308], [-1.7e308], [1.7e308], [1.6e308]])
    assert silhouette(ends, codes) == pytest.approx([1.0, 1.0, 1 - 1 / 34, 1 - 1 / 33], rel=1e-12)
    nested = np.array([[0.0], [1e-100], [1e150], [1e-100 * 4]])
    expected = silhouette_twin(nested[[0, 1, 3]] * 1e100, np.array([0, 0, 1]))
    found = silhouette(nested, np.array([0, 0, 2, 1]))
    assert found[[0, 1, 3]] == pytest.approx(expected, rel=1e-12)
    points, codes = blobs(10, 60, 2, 3)
    constant = np.column_stack([np.full(60, 1e308), points])
    assert silhouette(constant * [1, 1e-200, 1e-200], codes) == pytest.approx(silhouette(points, codes), rel=1e-12)
    exact = np.round(points * 2**10)
    assert silhouette(exact + 2.0**40, codes).tobytes() == silhouette(exact, codes).tobytes()


@pytest.mark.parametrize(("n", "d", "k"), [(1, 1, 1), (9, 2, 3), (3000, 4, 2), (500, 20, 100)])
def test_the_spread_of_centroids_agrees_with_numpy(n, d, k):
    """Centroids, weights and totals agree with NumPy, weighted and not."""
    points, codes = blobs(n + 1, n, d, k)
    points += np.arange(n)[:, None] % 2  # no coordinate in which all agree, but for n = 1
    for weights in (None, np.random.default_rng(n).integers(1, 6, n).astype(float)):
        found = spread(points, codes, weights)
        wanted = spread_twin(points if n > 1 else points * 0, codes, np.ones(n) if weights is None else weights)
        for x, y in zip(found, wanted, strict=True):
            np.testing.assert_allclose(x, y, rtol=1e-12, atol=1e-13)


def test_spread_gives_the_known_indices():
    """Davies–Bouldin and Calinski–Harabasz follow from it."""
    points, codes = blobs(11, 800, 6, 5)
    centroids, _, centre, _, weights, distances, squares, _ = _core.centroid_spread(points, codes, None, 5)
    radius = distances / weights
    apart = np.sqrt(((centroids[:, None] - centroids) ** 2).sum(-1))
    np.fill_diagonal(apart, np.inf)
    bouldin = ((radius[:, None] + radius) / apart).max(1).mean()
    assert bouldin == pytest.approx(metrics.davies_bouldin_score(points, codes), rel=1e-12)
    between = (weights * ((centroids - centre) ** 2).sum(1)).sum()
    calinski = between / squares.sum() * (800 - 5) / (5 - 1)
    assert calinski == pytest.approx(metrics.calinski_harabasz_score(points, codes), rel=1e-12)


def test_copies_have_no_spread():
    """Equal points are exactly at their centroid, and a cluster without rows has zeros."""
    points = np.array([[0.1, 0.7]] * 7 + [[0.3, 1e-9]] * 11)
    codes = np.array([0] * 7 + [2] * 11)
    centroids, _, weights, distances, squares = spread(points, codes)
    assert centroids.tolist() == [[0.1, 0.7], [0.0, 0.0], [0.3, 1e-9]]
    assert weights.tolist() == [7.0, 0.0, 11.0]
    assert distances.tolist() == squares.tolist() == [0.0] * 3


@pytest.mark.parametrize("function", [_core.silhouette, _core.centroid_spread])
def test_bad_arguments_are_refused(function):
    """Whatever would read beyond an array, or has no meaning, raises ValueError."""
    points, codes, weights = np.arange(8.0).reshape(4, 2), np.array([0, 1, 0, 1]), np.ones(4)
    function(points, codes, weights, 2)
    function(points, codes, None, 4)
    nan, infinite = points.copy(), points.copy()
    nan[1, 1], infinite[3, 0] = np.nan, -np.inf
    bad = [
        (points[:, 0].copy(), codes, None, 2),
        (np.asfortranarray(points), codes, None, 2),
        (points[:, ::2], codes, None, 2),
        (points.astype(np.float32), codes, None, 2),
        (points[:3], codes, None, 2),
        (nan, codes, None, 2),
        (infinite, codes, None, 2),
        (points, codes.astype(np.int32), None, 2),
        (points, codes.reshape(2, 2), None, 2),
        (points, codes, None, 1),
        (points, codes, None, 0),
        (points, codes, None, -1),
        (points, codes, None, 2**62),
        (points, codes - 1, None, 2),
        (points, codes, weights[:3], 2),
        (points, codes, weights * 0, 2),
        (points, codes, weights * 1.5, 2),
        (points, codes, weights * np.nan, 2),
        (points, codes, weights.astype(np.int64), 2),
    ]
    for arguments in bad:
        with pytest.raises(ValueError, match=r"must|differ"):
            function(*arguments)
