"""Mutual information, its expectation and entropy of partitions, against slow exact references."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from tallymark import _core


@pytest.fixture(autouse=True)
def threads():
    """Put the number of threads back after each test."""
    before = _core.get_threads()
    yield
    _core.set_threads(before)


def sizes_of(codes):
    return np.unique(codes, return_counts=True)[1].astype(np.int64)


def table(x, y, weights=None):
    """The arguments of mutual_information for two lists of labels."""
    (_, row), (_, column) = (np.unique(v, return_inverse=True) for v in (x, y))
    dense = np.zeros((row.max() + 1, column.max() + 1))
    np.add.at(dense, (row, column), 1.0 if weights is None else weights)
    rows, columns = map(np.ascontiguousarray, np.nonzero(dense))
    return rows, columns, dense[rows, columns], dense.sum(1), dense.sum(0), float(dense.sum())


def information(x, y, weights=None):
    return _core.mutual_information(*table(x, y, weights))


def exact_information(x, y):
    rows, columns, n, a, b, total = table(x, y)
    with mpmath.workdps(50):
        cells = [(mpmath.mpf(k), mpmath.mpf(a[i]) * b[j]) for i, j, k in zip(rows, columns, n, strict=True)]
        terms = [k * mpmath.log(k * total / apart) for k, apart in cells]
        return float(mpmath.fsum(terms) / total)


def expected(truth, prediction):
    a, b = np.asarray(truth, dtype=np.int64), np.asarray(prediction, dtype=np.int64)
    return _core.expected_mutual_information(a, b, int(a.sum()))


def expected_by_fractions(truth, prediction):
    """Every probability as an exact fraction."""
    total = sum(truth)
    terms = []
    for a in truth:
        for b in prediction:
            ways = math.comb(total, b)
            for n in range(max(1, a + b - total), min(a, b) + 1):
                share = Fraction(math.comb(a, n) * math.comb(total - a, b - n) * n, ways * total)
                terms.append(float(share) * math.log(Fraction(n * total, a * b)))
    return math.fsum(terms)


def expected_by_mpmath(truth, prediction):
    """Factorials of 60 digits at every count that has a probability above 1e-40."""
    total = sum(truth)
    with mpmath.workdps(60):
        log_factorial = lambda n: mpmath.loggamma(n + 1)  # noqa: E731
        out = mpmath.mpf(0)
        for a in truth:
            for b in prediction:
                fixed = sum(map(log_factorial, (a, b, total - a, total - b))) - log_factorial(total)
                mean = a * b / total
                reach = 15 * math.sqrt(mean) + 60
                low, high = max(1, a + b - total, int(mean - reach)), min(a, b, int(mean + reach))
                for n in range(low, high + 1):
                    parts = (n, a - n, b - n, total - a - b + n)
                    chance = mpmath.exp(fixed - sum(map(log_factorial, parts)))
                    out += chance * n * mpmath.log(mpmath.mpf(n) * total / (mpmath.mpf(a) * b))
        return float(out / total)


@pytest.mark.parametrize("seed", range(120))
def test_the_expected_information_of_small_partitions_is_exact_to_1e_13(seed):
    """Small partitions agree with exact probabilities to 1e-13."""
    random = np.random.default_rng(seed)
    n = int(random.integers(2, 90))
    x, y = (random.integers(0, random.integers(1, n + 1), n) for _ in range(2))
    truth, prediction = sizes_of(x), sizes_of(y)
    wanted = expected_by_fractions(truth.tolist(), prediction.tolist())
    assert expected(truth, prediction) == pytest.approx(wanted, rel=1e-13, abs=1e-16)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("truth", "prediction"),
    [
        ([50_000, 50_000], [99_999, 1]),
        ([60_000, 39_000, 999, 1], [50_000, 49_990, 10]),
        ([5_000, 95_000], [2, 3, 99_995]),
        ([20_000] * 5, [33_333, 33_333, 33_334]),
        ([1, 999_999_999_999], [1, 3, 999_999_999_996]),
        ([10, 10**12 - 10], [10**6, 10**12 - 10**6]),
    ],
)
def test_the_expected_information_of_large_partitions_is_exact_to_1e_13(truth, prediction):
    """Large partitions agree with factorials of 60 digits to 1e-13, rare cells and common ones alike."""
    assert expected(truth, prediction) == pytest.approx(expected_by_mpmath(truth, prediction), rel=1e-13)


@pytest.mark.slow
@pytest.mark.parametrize("half", [67_000_000, 67_200_000])
def test_the_exact_sum_and_the_series_agree_where_they_meet(half):
    """On both sides of the size where moments replace the walk, the value follows ratios of 30 digits."""
    with mpmath.workdps(30):
        mean = mpmath.mpf(half) / 2
        chance = mpmath.mpf(1)
        weights, value = chance, mpmath.mpf(0)
        for k in range(half // 2, half // 2 + 50_000):  # the distribution is symmetric about its mean
            chance *= mpmath.mpf(half - k) ** 2 / mpmath.mpf(k + 1) ** 2
            up, down = k + 1, half - k - 1
            weights += 2 * chance
            value += chance * (up * mpmath.log(up / mean) + down * mpmath.log(down / mean))
        wanted = float(4 * value / weights / (2 * half))
    assert expected([half, half], [half, half]) == pytest.approx(wanted, rel=1e-13)


def test_expectation_is_symmetric_and_free_of_order_and_threads():
    """Neither the sides, nor the order of clusters, nor the number of threads changes a bit."""
    random = np.random.default_rng(1)
    truth = np.arange(1, 400, dtype=np.int64)
    prediction = sizes_of(random.geometric(0.003, truth.sum()))
    _core.set_threads(1)
    value = expected(truth, prediction)
    for threads in (1, 2, 3, 7):
        _core.set_threads(threads)
        assert expected(prediction, truth) == value
        assert expected(random.permutation(truth), random.permutation(prediction)) == value


def test_one_cluster_shares_nothing_and_single_rows_share_everything():
    """One cluster shares nothing, single rows share everything, and totals reach 2**53."""
    none = np.array([], dtype=np.int64)
    assert _core.expected_mutual_information(none, none, 0) == 0.0
    assert expected([1], [1]) == 0.0
    assert expected([1000], [1, 2, 997]) == 0.0
    assert expected([1] * 1000, [1] * 1000) == pytest.approx(math.log(1000), rel=1e-14)
    single = [1] * 100
    sizes = [10, 20, 70]
    assert expected(single, sizes) == pytest.approx(_core.entropy(np.array(sizes, dtype=float), 100.0), rel=1e-14)
    total = 2**53
    for sizes in (
        [total // 2, total // 2],
        [1, total - 1],
        [2**20, total - 2**20],
        [2**40] * 2**13,
        [3 * 2**51, 2**51],
    ):
        for others in ([total], [2**52, 2**51, 2**51], [5, total - 5], [2**39, total - 2**39]):
            assert 0.0 <= expected(sizes, others) < 1.0
    # For large counts the expectation tends to (k - 1)(l - 1) / 2N.
    assert expected([2**52, 2**52], [2**52, 2**51, 2**51]) == pytest.approx(1 / total, rel=1e-12)


@pytest.mark.parametrize("seed", range(20))
def test_mutual_information_agrees_with_fifty_digits(seed):
    """Random tables agree with logarithms of 50 digits, also where the partitions are all but independent."""
    random = np.random.default_rng(seed)
    n = int(random.integers(2, 3000))
    x, y = (random.integers(0, random.integers(1, 12), n) for _ in range(2))
    assert information(x, y) == pytest.approx(exact_information(x, y), rel=1e-14, abs=0)


def test_information_obeys_its_laws():
    """Symmetric, free of order and threads, and equal to entropy for a partition and itself, to the last bit."""
    random = np.random.default_rng(2)
    x, y = random.integers(0, 300, 40_000), random.zipf(1.5, 40_000) % 500
    for weights in (None, random.random(x.size)):
        rows, columns, counts, truth, prediction, total = table(x, y, weights)
        _core.set_threads(1)
        value = _core.mutual_information(rows, columns, counts, truth, prediction, total)
        for threads in (1, 2, 5):
            _core.set_threads(threads)
            assert _core.mutual_information(columns, rows, counts, prediction, truth, total) == value
            order = random.permutation(rows.size)
            shuffled = [np.ascontiguousarray(v[order]) for v in (rows, columns, counts)]
            assert _core.mutual_information(*shuffled, truth, prediction, total) == value
        assert information(x, x, weights) == _core.entropy(table(x, x, weights)[3], table(x, x, weights)[5])
        assert _core.entropy(truth, total) == _core.entropy(random.permutation(truth), total)


def test_independent_partitions_share_nothing():
    """Where every cell holds what chance expects, the information is exactly 0."""
    a, b = np.array([3.0, 7.0, 11.0]), np.array([5.0, 13.0, 1e6])
    rows, columns = (v.ravel().copy() for v in np.indices((3, 3)))
    counts = np.outer(a, b).ravel()
    assert _core.mutual_information(rows, columns, counts, a * b.sum(), b * a.sum(), a.sum() * b.sum()) == 0.0
    assert information([0] * 9, [1, 2, 3] * 3) == 0.0


def test_information_near_zero_keeps_full_precision():
    """One row in 4e12 that leaves its place keeps full precision."""
    n = 1e12
    rows, columns = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
    counts = np.array([n + 1, n - 1, n - 1, n + 1])
    sums = np.array([2 * n, 2 * n])
    value = _core.mutual_information(rows, columns, counts, sums, sums, 4 * n)
    assert value == pytest.approx(0.5 / n**2, rel=1e-14, abs=0)


@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1.0, 1e160, 1e290])
def test_entropy_does_not_depend_on_the_unit_of_the_weights(scale):
    """Entropy does not depend on the unit of the weights, however large or small."""
    sizes = np.array([1.0, 2.0, 5.0, 1e-200 if scale == 1.0 else 4.0]) * scale
    share = sizes / sizes.sum()
    wanted = -math.fsum(p * math.log(p) for p in share)
    assert _core.entropy(sizes, float(sizes.sum())) == pytest.approx(wanted, rel=1e-14)


def test_the_entropy_of_equal_clusters_is_the_logarithm_of_their_number():
    """Equal clusters have the logarithm of their number, and one cluster has exactly none."""
    for k in (2, 3, 7, 64):
        assert _core.entropy(np.full(k, 10.0), 10.0 * k) == pytest.approx(math.log(k), rel=3e-16)
    assert _core.entropy(np.array([17.0]), 17.0) == 0.0
    assert _core.entropy(np.array([]), 0.0) == 0.0


def test_bad_arguments_are_refused():
    """Whatever would read beyond an array raises ValueError."""
    index, real = np.array([0, 1]), np.array([1.0, 1.0])
    good = [index, index, real, real, real, 2.0]
    assert _core.mutual_information(*good) == pytest.approx(math.log(2))
    bad = [
        (0, np.array([0, 2])),
        (1, np.array([-1, 0])),
        (0, np.array([0])),
        (1, np.array([[0, 1]])),
        (2, np.array([1.0, 1.0, 1.0])),
        (2, np.array([1, 1])),
        (2, np.ones(4)[::2]),
        (3, np.ones(1)),
        (0, np.array([0, 1], dtype=np.int32)),
        (4, np.frombuffer(bytes(17), dtype=np.float64, offset=1)),
    ]
    for place, value in bad:
        with pytest.raises(ValueError, match=r"must|differ"):
            _core.mutual_information(*good[:place], value, *good[place + 1 :])
    for truth, total in (
        ([1, 2], 4),
        ([0, 3], 3),
        ([-1, 4], 3),
        ([5], 3),
        ([2**62, 2**62], 3),
        ([2**53 + 1], 2**53 + 1),
    ):
        with pytest.raises(ValueError, match="must"):
            _core.expected_mutual_information(np.array(truth), np.array([total]), total)
    with pytest.raises(ValueError, match="must"):
        _core.entropy(np.array([1, 2]), 3.0)
    with pytest.raises(TypeError):
        _core.entropy([1.0, 2.0], 3.0)
