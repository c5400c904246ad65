"""What is said of residuals agrees with SciPy and NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from tallymark.evaluation.residuals import normality, quantiles_by_group

RNG = np.random.default_rng(5)


@pytest.mark.parametrize("rows", [20, 100, 3_000])
@pytest.mark.parametrize("draw", [RNG.normal, RNG.exponential, RNG.uniform, lambda size: RNG.standard_t(3, size)])
def test_the_test_of_normality_is_that_of_scipy(draw, rows):
    """Both scores, and the p-value of both together; at any scale."""
    values = draw(size=rows)
    for scale in (1e-200, 1.0, 1e200):
        found = normality(values * scale)
        assert found.skewness == pytest.approx(stats.skew(values), abs=1e-9)
        assert found.kurtosis == pytest.approx(stats.kurtosis(values), abs=1e-9)
        assert found.skewness_score == pytest.approx(stats.skewtest(values).statistic, abs=1e-9)
        assert found.kurtosis_score == pytest.approx(stats.kurtosistest(values).statistic, abs=1e-9)
        assert found.p == pytest.approx(stats.normaltest(values).pvalue, rel=1e-6, abs=1e-300)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (np.linspace(-2, 2, 200) ** 5, "their tails are heavier than normal (excess kurtosis 2.76); D'A"),
        (-np.geomspace(1, 90, 99), "the residuals are skewed to the left (skewness −1.41); D'Ago"),
        (
            np.linspace(0, 1, 200),
            "their tails are lighter than normal (excess kurtosis −1.20); D'Agostino and Pearson's",
        ),
        (stats.norm.ppf((np.arange(200) + 0.5) / 200), "no significant departure from a normal distribution (D'Agos"),
    ],
)
def test_a_departure_is_named_only_where_there_is_one(values, words):
    """With its direction and its size."""
    assert normality(values).sentence().startswith(words)


def test_few_rows_are_not_tested():
    """The approximations are for 20 rows or more."""
    assert normality(np.arange(19.0)) is None


def test_quantiles_of_groups_are_those_of_numpy():
    """Weights count as repeated rows; a code without values has none."""
    values, codes = RNG.normal(size=300), RNG.integers(0, 4, 300)
    codes[codes == 2] = 5
    shares = (0.0, 0.05, 0.5, 1.0)
    for code, found in enumerate(quantiles_by_group(values, None, codes, shares)):
        rows = values[codes == code]
        assert found == pytest.approx(np.quantile(rows, shares) if len(rows) else [np.nan] * 4, nan_ok=True)
    weights = RNG.integers(1, 5, 300).astype(float)
    for code, found in enumerate(quantiles_by_group(values, weights, codes, shares[1:3])):
        rows = np.repeat(values, weights.astype(int) * (codes == code))
        expected = [np.quantile(rows, q, method="inverted_cdf") if len(rows) else np.nan for q in shares[1:3]]
        assert found == pytest.approx(expected, nan_ok=True)
