"""Agreement with rational arithmetic where floating point peers lose their digits."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import tallymark as tm
from tests.references.exact_twin import TWINS


def exactly(values):
    return [Fraction(float(v)) for v in values]


# Mean and deviation of the truth, size of the errors.
CASES = [(0, 1, 1), (1e8, 1e-5, 1e-5), (1e8, 1, 1e-3), (-1e12, 1e-2, 1e-3), (1e-8, 1e-12, 1e-12), (1e5, 10, 1e5)]


@pytest.mark.parametrize("name", list(TWINS))
@pytest.mark.parametrize("case", CASES, ids=[f"{m:g}±{s:g}" for m, s, _ in CASES])
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_agrees_with_rational_arithmetic(name, case, weighted):
    """To 1e-12 where the errors themselves round, which only their difference does; R² and its kin nearly exactly."""
    centre, spread, size = case
    rng = np.random.default_rng(11)
    for _ in range(20):
        n = int(rng.integers(3, 40))
        y = centre + rng.normal(0, spread, n)
        p = y + rng.normal(0, size, n)
        w = rng.uniform(0.1, 3, n) if weighted else np.ones(n)
        # What is computed of (y, p) is computed of y and the rounded error: compare on those.
        rounded = p - y
        twin_p = [a + b for a, b in zip(exactly(y), exactly(rounded), strict=True)]
        if name == "pearson":
            twin_p = exactly(p)
        expected = float(TWINS[name](exactly(y), twin_p, exactly(w)))
        ours = tm.metric(name)(y, p, weights=w if weighted else None)
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
