"""Agreement with rational arithmetic where floating point peers lose their digits."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import numpy as np
import pytest

import tallymark as tm
from tests.references.exact_twin import TWINS


def exactly(values):
    return [Fraction(float(v)) for v in values]


# Mean and deviation of the truth, size of the errors.
CASES = [(0, 1, 1), (1e8, 1e-5, 1e-5), (1e8, 1, 1e-3), (-1e12, 1e-2, 1e-3), (1e-8, 1e-12, 1e-12), (1e5, 10, 1e5)]


def draw(rng, centre, spread, size):
    """Truth and predictions."""
    y = rng.normal(centre, spread, int(rng.integers(3, 40)))
    return y, y + rng.normal(0, size, len(y))


def exact_value(name, y, p, w):
    """What is computed of (y, p) is computed of y and the rounded error: the twin reads those."""
    said = exactly(p) if name == "pearson" else [a + b for a, b in zip(exactly(y), exactly(p - y), strict=True)]
    return float(TWINS[name](exactly(y), said, exactly(np.ones(len(y)) if w is None else w)))


@pytest.mark.parametrize("name", list(TWINS))
@pytest.mark.parametrize("case", CASES, ids=[f"{m:g}±{s:g}" for m, s, _ in CASES])
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_agrees_with_rational_arithmetic(name, case, weighted):
    """To 1e-12 where the errors themselves round, which only their difference does; R² and its kin nearly exactly."""
    rng = np.random.default_rng(11)
    for _ in range(20):
        y, p = draw(rng, *case)
        w = rng.uniform(0.1, 3, len(y)) if weighted else None
        expected = exact_value(name, y, p, w)
        ours = tm.metric(name)(y, p, weights=w)
        limit = 1e-12 * max(abs(expected), 1e-300)
        assert abs(ours - expected) <= limit, (ours, expected)


def test_a_tiny_variance_under_a_large_mean_keeps_all_its_digits():
    """Mean 1e8, deviation 1e-5: double precision formulas have not one digit left."""
    rng = np.random.default_rng(5)
    y = 1e8 + rng.normal(0, 1e-5, 10_000)
    p = y + rng.normal(0, 1e-6, 10_000)
    residual = sum((Fraction(float(b - a)) ** 2 for a, b in zip(y, p, strict=True)), Fraction(0))
    exact = exactly(y)
    total = sum((v * v for v in exact), Fraction(0)) - sum(exact, Fraction(0)) ** 2 / len(exact)
    assert tm.r2(y, p) == pytest.approx(float(1 - residual / total), rel=1e-15)


def test_a_constant_truth_has_no_variance_at_all():
    """Not even a rounding error of one."""
    report = tm.evaluate([0.1] * 1000, np.linspace(0, 1, 1000), ["r2", "explained_variance", "pearson", "spearman"])
    assert set(report.reasons.values()) == {"the truth is constant"}


# Distance from the origin, and unit of the coordinates.
PLACES = [(0.0, 1.0), (1e8, 2.0**-20), (1e15, 1.0), (1e16, 2.0), (-3e15, 1.0), (1e300, 2.0**950)]


def shapes(points, clusters, weights):
    """Calinski–Harabasz, Davies–Bouldin and the exact squares behind them, in fractions but for roots."""
    rows = [[Fraction(x) for x in row] for row in points.tolist()]
    names = sorted(set(clusters.tolist()))

    def centre(chosen):
        total = sum(weights[i] for i in chosen)
        return [sum(weights[i] * rows[i][k] for i in chosen) / total for k in range(len(rows[0]))]

    def square(a, b):
        return sum((x - y) ** 2 for x, y in zip(a, b, strict=True))

    def root(x):
        with mpmath.workdps(60):
            found = mpmath.sqrt(mpmath.mpf(x.numerator) / x.denominator)
            return Fraction(int(found.man)) * Fraction(2) ** int(found.exp)

    held = {c: [i for i in range(len(rows)) if clusters[i] == c] for c in names}
    centres = {c: centre(held[c]) for c in names}
    middle = centre(range(len(rows)))
    sizes = {c: sum(weights[i] for i in held[c]) for c in names}
    within = sum(weights[i] * square(rows[i], centres[c]) for c in names for i in held[c])
    between = sum(sizes[c] * square(centres[c], middle) for c in names)
    calinski = between * (sum(sizes.values()) - len(names)) / (within * (len(names) - 1))
    wide = {c: sum(weights[i] * root(square(rows[i], centres[c])) for i in held[c]) / sizes[c] for c in names}
    worst = [max((wide[c] + wide[d]) / root(square(centres[c], centres[d])) for d in names if d != c) for c in names]
    return float(calinski), float(sum(worst) / len(names))


@pytest.mark.parametrize(("offset", "unit"), PLACES)
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_clusters_far_from_the_origin_keep_their_shape(offset, unit, weighted):
    """Centres are not rounded before distances are taken: coordinates of a few units, wherever they lie."""
    rng = np.random.default_rng(7)
    for _ in range(15):
        n, d, k = int(rng.integers(6, 30)), int(rng.integers(1, 4)), int(rng.integers(2, 4))
        clusters = np.concatenate([np.arange(k), np.arange(k), rng.integers(0, k, n - 2 * k)])
        near = (rng.integers(-9, 10, (n, d)) + 7 * clusters[:, None]).astype(float)
        points = offset + near * unit
        assert ((points - offset) / unit == near).all()
        weights = rng.integers(1, 5, n).tolist() if weighted else [1] * n
        calinski, davies = shapes(points, clusters, weights)
        given = weights if weighted else None
        assert tm.calinski_harabasz(points, clusters, weights=given) == pytest.approx(calinski, rel=1e-12)
        assert tm.davies_bouldin(points, clusters, weights=given) == pytest.approx(davies, rel=1e-12)
        assert tm.silhouette(points, clusters, weights=given) == pytest.approx(
            tm.silhouette(near, clusters, weights=given), rel=1e-12, abs=1e-14
        )


def test_centres_that_agree_are_the_same_wherever_they_lie():
    """Also where they are no float64 and the clusters differ in size; others are not, however close."""
    rng = np.random.default_rng(8)
    for offset in (0.0, 0.1, 1e16):
        points = np.array([offset, offset, offset + 4] * 2 + [offset, offset + 4, offset] * 3)
        order = rng.permutation(len(points))
        clusters = np.array([0] * 6 + [1] * 9)
        report = tm.evaluate(points[order, None], clusters[order], ["davies_bouldin"])
        assert report.reasons == {"davies_bouldin": "two clusters have the same centre"}
    close = [[1e16], [1e16 + 2], [1e16], [1e16], [1e16 + 2]]
    assert tm.davies_bouldin(close, [0, 0, 1, 1, 1]) == pytest.approx((1 + 8 / 9) * 3, rel=1e-12)


@pytest.mark.parametrize("power", [0, 1, 1.5, 2, 3, -1])
@pytest.mark.parametrize(("offset", "unit"), [(0.0, 1.0), (1.7e9, 2.0**-20), (1e15, 0.125), (1e16, 2.0)])
def test_the_mean_of_d2_tweedie_is_not_rounded(power, offset, unit):
    """Against 60 digits: a mean between two floats is that mean."""
    rng = np.random.default_rng(9)
    for weighted in (False, True):
        for _ in range(5):
            n = int(rng.integers(2, 20))
            y, p = offset + np.arange(2, n + 2) * unit, offset + rng.integers(1, 40, n) * unit
            w = rng.integers(1, 4, n) if weighted else np.ones(n, int)
            with mpmath.workdps(60):
                truth, said = [[mpmath.mpf(x) for x in side.tolist()] for side in (y, p)]
                mean = mpmath.fsum(int(k) * x for k, x in zip(w, truth, strict=True)) / int(w.sum())
                losses = [
                    mpmath.fsum(
                        k * deviance(*row, mpmath.mpf(power)) for k, *row in zip(w.tolist(), truth, side, strict=True)
                    )
                    for side in (said, [mean] * n)
                ]
                expected = float(1 - losses[0] / losses[1])
            found = tm.d2_tweedie(y, p, power=power, weights=w if weighted else None)
            assert found == pytest.approx(expected, rel=1e-11)


def deviance(y, mu, power):
    """Twice the integral from mu to y of (y - t) t^-power."""
    if power == 1:
        return 2 * (y * mpmath.log(y / mu) - (y - mu))
    if power == 2:
        return 2 * (mpmath.log(mu / y) + y / mu - 1)
    a, b = 1 - power, 2 - power
    return 2 * (y**b / (a * b) - y * mu**a / a + mu**b / b)
