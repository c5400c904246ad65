"""Agreement of the metrics on clusters with scikit-learn and with exact arithmetic, on thousands of small cases."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache
from math import comb

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn import metrics as sk

import tallymark as tm

pytestmark = pytest.mark.slow

NORMS = {"max": "max", "min": "min", "sum": "arithmetic", "sqrt": "geometric"}
FORMS = [  # the names of clusters do not matter, and need not be of one type on both sides
    lambda codes: codes,
    lambda codes: codes.tolist(),
    lambda codes: codes * 10**12 - 5,
    lambda codes: codes / 7,
    lambda codes: codes % 2 == 1 if codes.max() < 2 else -codes,
    lambda codes: [f"cluster {code}" for code in codes],
    lambda codes: np.array([f"c{code}" for code in codes]),
    lambda codes: np.array([f"c{code}" for code in codes], object),
    lambda codes: pd.Categorical([f"c{code}" for code in codes]),
    lambda codes: pl.Series([f"c{code}" for code in codes]),
    lambda codes: pa.array([f"c{code}" for code in codes]).dictionary_encode(),
]


def same_partition(y, p):
    """Whether both sides put the same rows together."""
    return len(set(zip(y.tolist(), p.tolist(), strict=True))) == len(set(y.tolist())) == len(set(p.tolist()))


def side(rng, n):
    """Clusters of n rows: at random, all together, or all apart."""
    style = rng.random()
    if style < 0.08:
        return np.zeros(n, int)
    if style < 0.16:
        return rng.permutation(n)
    return rng.integers(0, int(rng.integers(1, 9)), n)


def draw(rng, most=40):
    """Two clusterings of the same rows; often they resemble each other, sometimes they are the same."""
    n = int(rng.integers(1, most))
    y, p = side(rng, n), side(rng, n)
    if rng.random() < 0.1:
        return y, (y * 5 + 2) % 1009
    return y, np.where(rng.random(n) < rng.random(), y, p) if rng.random() < 0.5 else p


def dress(rng, codes):
    """The same clusters under other names, in some container."""
    return FORMS[int(rng.integers(len(FORMS)))](codes)


def agree(ours, theirs, *context):
    """Absolute to 1e-12, and relative for values above 1."""
    assert abs(ours - theirs) <= 1e-12 * max(1.0, abs(theirs)), (ours, theirs, *context)


PEERS = [
    ("rand_index", sk.rand_score),
    ("adjusted_rand", sk.adjusted_rand_score),
    ("mutual_information", sk.mutual_info_score),
    ("homogeneity", sk.homogeneity_score),
    ("completeness", sk.completeness_score),
    ("v_measure", sk.v_measure_score),
    ("v_measure(beta=0.3)", lambda y, p: sk.v_measure_score(y, p, beta=0.3)),
    ("v_measure(beta=2)", lambda y, p: sk.v_measure_score(y, p, beta=2.0)),
    *(
        (
            f"normalized_mutual_information(norm={norm})",
            lambda y, p, m=m: sk.normalized_mutual_info_score(y, p, average_method=m),
        )
        for norm, m in NORMS.items()
    ),
]


@pytest.mark.parametrize(("name", "function"), PEERS, ids=[name for name, _ in PEERS])
def test_agrees_with_scikit_learn(name, function):
    """Two hundred and fifty cases each, every fourth with whole weights against rows that stand there as often."""
    rng = np.random.default_rng([1, *name.encode()])
    metric = tm.metric(name)
    for case in range(250):
        y, p = draw(rng)
        ours, again = dress(rng, y), dress(rng, p)
        times = rng.integers(1, 5, len(y)) if case % 4 == 0 else None
        rows = (y, p) if times is None else (np.repeat(y, times), np.repeat(p, times))
        agree(metric(ours, again, weights=times), function(*rows), y, p, times)


def test_fowlkes_mallows_agrees_with_scikit_learn():
    """Five hundred cases: identical clusterings without any pair of rows are a perfect match here, and 0 there."""
    rng = np.random.default_rng(2)
    apart = 0
    for case in range(500):
        y, p = draw(rng)
        times = rng.integers(1, 5, len(y)) if case % 4 == 0 else None
        rows = (y, p) if times is None else (np.repeat(y, times), np.repeat(p, times))
        ours, theirs = tm.fowlkes_mallows(dress(rng, y), dress(rng, p), weights=times), sk.fowlkes_mallows_score(*rows)
        if same_partition(*rows) and len(set(rows[0].tolist())) == len(rows[0]):
            assert (ours, theirs) == (1.0, 0.0)
            apart += 1
        else:
            agree(ours, theirs, y, p)
    assert apart > 5


@cache
def log(n):
    """The natural logarithm with fifty digits."""
    with localcontext() as context:
        context.prec = 50
        return Decimal(n).ln()


def weigh(fraction, logarithm):
    return Decimal(fraction.numerator) / Decimal(fraction.denominator) * logarithm


def exact_information(y, p):
    """Entropies of both sides, mutual information and its expectation, from exact shares and exact logarithms."""
    n = len(y)
    a, b = (np.unique(labels, return_counts=True)[1].tolist() for labels in (y, p))
    together = {}
    for pair in zip(y.tolist(), p.tolist(), strict=True):
        together[pair] = together.get(pair, 0) + 1
    sizes = [
        dict(zip(*(part.tolist() for part in np.unique(labels, return_counts=True)), strict=True)) for labels in (y, p)
    ]
    mutual = sum(
        weigh(Fraction(count, n), log(n) + log(count) - log(sizes[0][i]) - log(sizes[1][j]))
        for (i, j), count in together.items()
    )
    expected = Decimal(0)
    for size, other in {(i, j) for i in a for j in b}:
        times = a.count(size) * b.count(other)
        for count in range(max(1, size + other - n), min(size, other) + 1):
            chance = Fraction(comb(size, count) * comb(n - size, other - count), comb(n, other))
            gain = log(n) + log(count) - log(size) - log(other)
            expected += weigh(times * chance * Fraction(count, n), gain)
    entropies = [sum(weigh(Fraction(size, n), log(n) - log(size)) for size in side) for side in (a, b)]
    return entropies[0], entropies[1], mutual, expected


def exact_norm(norm, one, two):
    """What a perfect value would be."""
    return {"max": max(one, two), "min": min(one, two), "sum": (one + two) / 2, "sqrt": (one * two).sqrt()}[norm]


def says_nothing(y):
    """Whether all rows are together, or all apart: then every arrangement tells as much."""
    return len(set(y.tolist())) in (1, len(y))


@pytest.mark.parametrize("norm", list(NORMS))
def test_adjusted_mutual_information_agrees_with_scikit_learn(norm):
    """Two hundred cases each, to 1e-12 of the exact value and of that of scikit-learn."""
    rng = np.random.default_rng([3, *norm.encode()])
    alike = 0
    for case in range(200):
        y, p = draw(rng, 26)
        times = rng.integers(1, 4, len(y)) if case % 4 == 0 else None
        ours = tm.adjusted_mutual_information(dress(rng, y), dress(rng, p), norm=norm, weights=times)
        if times is not None:
            y, p = np.repeat(y, times), np.repeat(p, times)
        theirs = sk.adjusted_mutual_info_score(y, p, average_method=NORMS[norm])
        if same_partition(y, p):
            assert ours == 1.0
            assert theirs == pytest.approx(1.0, abs=1e-12)
            alike += 1
        elif says_nothing(y) or says_nothing(p):
            assert ours == 0.0  # scikit-learn divides what rounding left by what rounding left
            alike += 1
        else:
            with localcontext() as context:
                context.prec = 50
                one, two, mutual, expected = exact_information(y, p)
                exact = float((mutual - expected) / (exact_norm(norm, one, two) - expected))
            agree(ours, exact, y, p)
            assert abs(ours - theirs) <= 1e-12 * max(1.0, abs(theirs)), (ours, theirs, exact, y, p)
    assert 20 < alike < 120


def test_information_agrees_with_exact_arithmetic():
    """Two hundred and fifty cases of mutual information and its shares of entropies, with fifty digits."""
    rng = np.random.default_rng(4)
    for _ in range(250):
        y, p = draw(rng)
        with localcontext() as context:
            context.prec = 50
            one, two, mutual, _ = exact_information(y, p)
            agree(tm.mutual_information(y, p), float(mutual))
            agree(tm.homogeneity(y, p), float(mutual / one) if one else 1.0)
            agree(tm.completeness(y, p), float(mutual / two) if two else 1.0)
            for norm in NORMS:
                whole = exact_norm(norm, one, two)
                trivial = 1.0 if same_partition(y, p) else 0.0
                expected = trivial if 0 in (one, two) else float(mutual / whole)
                agree(tm.normalized_mutual_information(y, p, norm=norm), expected)


def twin_information(y, p, w):
    """Entropies of both sides and of the pairs, by NumPy."""
    table = np.zeros((y.max() + 1, p.max() + 1))
    np.add.at(table, (y, p), w / w.sum())
    sides = (table.sum(axis=1), table.sum(axis=0), table.ravel())
    return tuple(-sum(share * math.log(share) for share in side if share > 0) for side in sides)


def test_joint_entropy_as_norm():
    """Three hundred cases, half of them with weights that are no whole numbers."""
    rng = np.random.default_rng(5)
    for case in range(300):
        y, p = draw(rng)
        w = rng.uniform(0.1, 5, len(y)) if case % 2 else np.ones(len(y))
        one, two, joint = twin_information(y, p, w)
        expected = 1.0 if same_partition(y, p) else 0.0 if min(one, two) < 1e-12 else (one + two - joint) / joint
        ours = tm.normalized_mutual_information(dress(rng, y), dress(rng, p), norm="joint", weights=w)
        agree(ours, expected, y, p, w)


def test_weights_of_any_size_give_the_same_information():
    """Three hundred cases of four metrics: only shares matter, so weights may be of any size."""
    rng = np.random.default_rng(6)
    for _ in range(300):
        y, p = draw(rng)
        w = rng.uniform(0.1, 5, len(y))
        one, two, joint = twin_information(y, p, w)
        mutual = one + two - joint
        rows = {"y_true": dress(rng, y), "y_pred": dress(rng, p), "weights": w * 10.0 ** rng.integers(-9, 9)}
        agree(tm.mutual_information(**rows), mutual, y, p, w)
        several = [len(set(labels.tolist())) > 1 for labels in (y, p)]
        h, c = mutual / one if several[0] else 1.0, mutual / two if several[1] else 1.0
        agree(tm.homogeneity(**rows), h, y, p, w)
        agree(tm.completeness(**rows), c, y, p, w)
        agree(tm.v_measure(**rows), 2 * h * c / (h + c) if h + c else 0.0, y, p, w)


def test_purity_agrees_with_its_definition():
    """Three hundred cases against its definition."""
    rng = np.random.default_rng(7)
    for case in range(300):
        y, p = draw(rng)
        w = rng.uniform(0.1, 5, len(y)) if case % 2 else np.ones(len(y))
        best = 0.0
        for cluster in np.unique(p):
            inside = p == cluster
            best += np.bincount(y[inside], w[inside]).max()
        agree(tm.purity(dress(rng, y), dress(rng, p), weights=w), best / w.sum(), y, p, w)


def blobs(rng):
    """Points around a few centres, and clusters that mostly follow them; every cluster has a point."""
    n, k, columns = int(rng.integers(4, 40)), int(rng.integers(2, 5)), int(rng.integers(1, 5))
    k = min(k, n - 1)
    clusters = rng.permutation(np.concatenate((np.arange(k), rng.integers(0, k, n - k))))
    points = rng.normal(0, 3, (k, columns))[clusters] + rng.normal(0, rng.uniform(0.1, 3), (n, columns))
    if rng.random() < 0.3:
        points = np.round(points) + rng.normal(0, 1e-3, (n, columns))
    return points, clusters


SHAPES = [
    ("silhouette", sk.silhouette_score),
    ("davies_bouldin", sk.davies_bouldin_score),
    ("calinski_harabasz", sk.calinski_harabasz_score),
]


def spread(points):
    """All distances, from differences."""
    return np.sqrt(((points[:, None] - points[None]) ** 2).sum(axis=2))


def twin_davies_bouldin(points, clusters):
    """The definition, with distances from differences."""
    groups = [points[clusters == k] for k in np.unique(clusters)]
    centres = np.array([group.mean(axis=0) for group in groups])
    wide = np.array([np.sqrt(((group - c) ** 2).sum(axis=1)).mean() for group, c in zip(groups, centres, strict=True)])
    apart = spread(centres) + np.diag(np.full(len(groups), np.inf))
    return ((wide[:, None] + wide) / apart).max(axis=1).mean()


@pytest.mark.parametrize(("name", "function"), SHAPES, ids=[name for name, _ in SHAPES])
def test_indices_of_points_agree_with_scikit_learn(name, function):
    """Two hundred and fifty cases each, every third with whole weights against repeated points.

    Scikit-learn takes distances from products, where points that coincide lie 1e-8 apart: it is given better ones
    where it can be, and else held to 1e-6 beside a twin that is held to 1e-12.
    """
    rng = np.random.default_rng([8, *name.encode()])
    metric = tm.metric(name)
    for case in range(250):
        points, clusters = blobs(rng)
        times = rng.integers(1, 4, len(points)) if case % 3 == 0 else None
        rows = (points, clusters)
        if times is not None:
            rows = (np.repeat(points, times, axis=0), np.repeat(clusters, times))
        theirs = function(*rows)
        ours = metric(points, dress(rng, clusters), weights=times)
        assert ours == pytest.approx(theirs, rel=1e-6)
        if name == "silhouette":
            theirs = function(spread(rows[0]), rows[1], metric="precomputed")
        elif name == "davies_bouldin":
            theirs = twin_davies_bouldin(*rows)
        agree(ours, theirs, points, clusters, times)
        agree(ours, metric(*rows), points, clusters, times)


def test_davies_bouldin_agrees_where_no_points_coincide():
    """A hundred cases of clusters of several points, away from their centres, where products keep their digits."""
    rng = np.random.default_rng(9)
    for _ in range(100):
        clusters = np.repeat(np.arange(3), rng.integers(3, 9, 3))
        points = rng.normal(0, 1, (3, 2))[clusters] + rng.normal(0, 1, (len(clusters), 2))
        agree(tm.davies_bouldin(points, clusters), sk.davies_bouldin_score(points, clusters), points, clusters)


@pytest.mark.parametrize(("name", "function"), SHAPES, ids=[name for name, _ in SHAPES])
def test_one_cluster_or_all_singletons_is_undefined(name, function):
    """One cluster, or every point its own, is undefined here and an error there."""
    points = [[0.0, 1.0], [2.0, 3.0], [5.0, 5.0]]
    for clusters, reason in (
        ([1, 1, 1], "there is one cluster only"),
        ([0, 1, 2], "every row is a cluster of its own"),
    ):
        report = tm.evaluate(points, clusters, [name])
        assert math.isnan(report[name])
        assert report.reasons[name] == reason
        with pytest.raises(ValueError, match="Number of labels"):
            function(points, clusters)


def test_indices_of_coinciding_points_are_undefined():
    """Where points coincide, a spread is a division by zero: undefined here, a stand-in there."""
    points, clusters = [[0.0], [0.0], [4.0], [4.0]], [0, 0, 1, 1]
    assert math.isnan(tm.calinski_harabasz(points, clusters))
    assert sk.calinski_harabasz_score(points, clusters) == 1.0
    assert tm.davies_bouldin(points, clusters) == sk.davies_bouldin_score(points, clusters) == 0.0
    assert tm.silhouette(points, clusters) == sk.silhouette_score(points, clusters) == 1.0
    crossed, halves = [[-1.0], [1.0], [-2.0], [2.0]], [0, 0, 1, 1]
    assert math.isnan(tm.davies_bouldin(crossed, halves))
    assert sk.davies_bouldin_score(crossed, halves) == 0.0


def test_davies_bouldin_has_no_scale():
    """Points a billion times smaller have the same value here; there they count as one point."""
    points, clusters = np.array([[0.0, 0.0], [0.0, 2.0], [8.0, 0.0], [8.0, 2.0]]), [0, 0, 1, 1]
    assert tm.davies_bouldin(points, clusters) == sk.davies_bouldin_score(points, clusters) == 0.25
    assert tm.davies_bouldin(points * 1e-9, clusters) == pytest.approx(0.25, rel=1e-12)
    assert sk.davies_bouldin_score(points * 1e-9, clusters) == 0.0
