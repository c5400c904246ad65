"""What one clustering tells about another, in nats and as a share.

The expectation in adjusted mutual information walks the hypergeometric distribution from its mode by ratios, once per
pair of distinct cluster sizes, and sums n·ln(n/m) − (n − m), whose terms are never negative: no log-gamma, no
cancellation.
"""

from __future__ import annotations

import math

import numpy as np

from tallymark._core import expected_mutual_information
from tallymark.errors import Text, WeightError
from tallymark.metrics.clustering.base import (
    ClusterMetric,
    Information,
    is_identical,
    is_trivial,
    normalizer,
    ratio_of_entropies,
)
from tallymark.metrics.parameters import choice, positive_beta
from tallymark.states.base import MOST_ROWS
from tallymark.states.labels.pairs import Pairs

__all__ = [
    "AdjustedMutualInformation",
    "Completeness",
    "Homogeneity",
    "MutualInformation",
    "NormalizedMutualInformation",
    "VMeasure",
    "adjusted_mutual_information",
    "completeness",
    "homogeneity",
    "mutual_information",
    "normalized_mutual_information",
    "v_measure",
]

_NORMS = {
    "max": "max(H(y), H(ŷ))",
    "min": "min(H(y), H(ŷ))",
    "sum": "½ (H(y) + H(ŷ))",
    "sqrt": "√(H(y) H(ŷ))",
    "joint": "H(y, ŷ)",
}


class MutualInformation(ClusterMetric):
    """How much one clustering tells about the other, in nats.

    >>> mutual_information([0, 0, 1, 1], [0, 1, 0, 1])
    0.0
    """

    aliases = {"mi": {}, "mutual_info_score": {}}
    unit = "nats"
    range = (0.0, math.inf)
    at_perfect = None
    formula = "Σ n_ij/n · ln(n n_ij / (a_i b_j))"
    reading = "0: independent. At most the entropy of either side, which equal clusterings reach."
    landmarks = ((0.0, "the two sides are independent"),)
    pitfalls = ("Its largest value depends on the clusters: compare shares, such as normalized_mutual_information.",)

    def formula_value(self, pairs: Pairs) -> float:
        return max(Information(pairs).mutual, 0.0)


class NormalizedMutualInformation(ClusterMetric):
    """Mutual information as a share of the entropies.

    >>> round(normalized_mutual_information([0, 0, 1, 1, 2, 2], [0, 0, 1, 2, 2, 2], norm="sum"), 6)
    0.739667
    """

    aliases = {"nmi": {}, "normalized_mutual_info_score": {"norm": "sum"}}
    formula = "I / norm"
    reading = "1: equal clusterings; 0: independent ones."
    landmarks = ((0.0, "the two sides are independent"),)
    pitfalls = ("It is not corrected for chance: many small clusters score well. See adjusted_mutual_information.",)
    samples = ({}, {"norm": "min"}, {"norm": "sum"}, {"norm": "sqrt"}, {"norm": "joint"})

    norm: str = choice("max", "min", "sum", "sqrt", "joint")
    """What to divide by: "max", "min", mean ("sum") or geometric mean ("sqrt") of the entropies, or the "joint" one."""

    @property
    def formula_text(self) -> str:
        return self.formula.replace("norm", _NORMS[self.norm])

    def formula_value(self, pairs: Pairs) -> float:
        if is_identical(pairs) or is_trivial(pairs):
            return 1.0 if is_identical(pairs) else 0.0
        info = Information(pairs)
        return ratio_of_entropies(info.mutual, normalizer(info, self.norm))


class AdjustedMutualInformation(ClusterMetric):
    """Mutual information beyond chance, as a share: 0 for clusterings that have nothing to do with each other.

    >>> round(adjusted_mutual_information([0, 0, 1, 1, 2, 2], [0, 0, 1, 2, 2, 2], norm="sum"), 6)
    0.502361
    """

    aliases = {"ami": {}, "adjusted_mutual_info_score": {"norm": "sum"}}
    range = (-math.inf, 1.0)
    whole_weights = True
    formula = "(I − E[I]) / (norm − E[I]), E over all clusterings with the same sizes"
    reading = "1: equal clusterings; 0: chance agreement; below 0: less than chance."
    landmarks = ((0.0, "random guessing"),)
    related = ("adjusted_rand",)
    pitfalls = ('With norm="min" a clustering of many tiny clusters is judged by the other side alone.',)
    samples = ({}, {"norm": "min"}, {"norm": "sum"}, {"norm": "sqrt"})

    norm: str = choice("max", "min", "sum", "sqrt")
    """What a perfect value is: the "max", "min", mean ("sum") or geometric mean ("sqrt") of the entropies."""

    @property
    def formula_text(self) -> str:
        return self.formula.replace("norm", _NORMS[self.norm])

    def formula_value(self, pairs: Pairs) -> float:
        if is_identical(pairs):
            return 1.0
        shift = pairs.unit or 0
        truth, predicted = ([size << shift for size in side] for side in pairs.sizes())
        total = sum(truth)
        if is_trivial(pairs) or total in (len(truth), len(predicted)):
            return 0.0  # one side puts all rows together, or all apart: every arrangement tells as much
        if total > MOST_ROWS:
            raise WeightError(
                Text("{weights} must add up to at most 2**53 for {}; they added up to {}", self, total),
                argument="weights",
            )
        info = Information(pairs)
        expected = expected_mutual_information(np.array(truth), np.array(predicted), total)
        return min((info.mutual - expected) / (normalizer(info, self.norm) - expected), 1.0)


class Homogeneity(ClusterMetric):
    """How far every predicted cluster holds rows of one true cluster only.

    >>> homogeneity([0, 0, 1, 1], [0, 1, 2, 3])
    1.0
    """

    aliases = {"homogeneity_score": {}}
    symmetric = False
    formula = "I / H(truth); 1 if H(truth) = 0"
    reading = "1: no cluster mixes true groups."
    landmarks = ((0.0, "every cluster mixes the true groups like the whole"),)
    related = ("purity",)
    pitfalls = ("One cluster per row scores 1: read it beside completeness.",)

    def formula_value(self, pairs: Pairs) -> float:
        info = Information(pairs)
        return ratio_of_entropies(info.mutual, info.truth)


class Completeness(ClusterMetric):
    """How far the rows of every true cluster are kept together.

    >>> completeness([0, 0, 1, 1], [0, 0, 0, 0])
    1.0
    """

    aliases = {"completeness_score": {}}
    symmetric = False
    formula = "I / H(prediction); 1 if H(prediction) = 0"
    reading = "1: no true group is split."
    landmarks = ((0.0, "every true group is spread over the clusters like the whole"),)
    pitfalls = ("One cluster for all rows scores 1: read it beside homogeneity.",)

    def formula_value(self, pairs: Pairs) -> float:
        info = Information(pairs)
        return ratio_of_entropies(info.mutual, info.prediction)


class VMeasure(ClusterMetric):
    """Homogeneity and completeness in one number; beta above 1 favours completeness.

    >>> round(v_measure([0, 0, 1, 1, 2, 2], [0, 0, 1, 2, 2, 2]), 6)
    0.739667
    """

    display = "V-measure"
    name = "v_measure"
    aliases = {"v_measure_score": {}}
    formula = "(1 + beta) h c / (beta h + c)"
    reading = "1: equal clusterings; with beta = 1 it is the normalized mutual information (norm=sum)."
    landmarks = ((0.0, "the two sides are independent"),)
    pitfalls = ("It is not corrected for chance: many small clusters score well.",)
    samples = ({}, {"beta": 2.0})

    beta: float = positive_beta(1.0)
    """How many times as much completeness counts."""

    @property
    def symmetric(self) -> bool:  # type: ignore[override]
        """Only where both count alike."""
        return self.beta == 1.0

    @property
    def formula_text(self) -> str:
        means = "where h is the homogeneity and c the completeness"
        return f"2 h c / (h + c), {means}" if self.beta == 1 else f"{self.formula}, beta = {self.beta:g}, {means}"

    def formula_value(self, pairs: Pairs) -> float:
        info = Information(pairs)
        mutual = info.mutual
        h, c = ratio_of_entropies(mutual, info.truth), ratio_of_entropies(mutual, info.prediction)
        below = self.beta * h + c
        return min((1 + self.beta) * h * c / below, 1.0) if below else 0.0


mutual_information = MutualInformation()
normalized_mutual_information = NormalizedMutualInformation()
adjusted_mutual_information = AdjustedMutualInformation()
homogeneity = Homogeneity()
completeness = Completeness()
v_measure = VMeasure()
