"""Agreement of two clusterings, counted over pairs of rows."""

from __future__ import annotations

import math

from tallymark.metrics.clustering.base import ClusterMetric, is_identical, pairs_of_rows
from tallymark.states.base import divide
from tallymark.states.labels.pairs import Pairs

__all__ = ["AdjustedRand", "FowlkesMallows", "RandIndex", "adjusted_rand", "fowlkes_mallows", "rand_index"]


def pair_totals(pairs: Pairs) -> tuple[int, int, int, int]:
    """Pairs of rows that are together on both sides, in the truth, in the predictions; and all pairs."""
    cells = pairs.values if pairs.unit is None else pairs.whole() or []
    shift = pairs.unit or 0
    truth, predicted = ([size << shift for size in side] if shift else side for side in pairs.sizes())
    total = sum(truth)
    return pairs_of_rows(cells), pairs_of_rows(truth), pairs_of_rows(predicted), total * (total - 1) // 2


class RandIndex(ClusterMetric):
    """The share of pairs of rows on which both clusterings agree: together in both, or apart in both.

    >>> rand_index([0, 0, 1, 1], [0, 1, 0, 1])
    0.3333333333333333
    """

    display = "Rand index"
    aliases = {"rand": {}, "ri": {}, "rand_score": {}}
    whole_weights = True
    formula = "(2T − P − Q + C) / C: pairs together in both, in the truth, in the predictions; all pairs"
    reading = "1: equal clusterings."
    landmarks = ((0.0, "no pair agrees"),)
    pitfalls = ("With many clusters most pairs are apart on both sides, so chance scores near 1: see adjusted_rand.",)

    def formula_value(self, pairs: Pairs) -> float:
        both, truth, predicted, everything = pair_totals(pairs)
        return divide(2 * both - truth - predicted + everything, everything) if everything else 1.0


class AdjustedRand(ClusterMetric):
    """The Rand index beyond chance: 0 for clusterings that have nothing to do with each other.

    >>> adjusted_rand([0, 0, 1, 1, 2, 2], [0, 0, 1, 2, 2, 2])
    0.4444444444444444
    """

    display = "adjusted Rand index"
    aliases = {"ari": {}, "adjusted_rand_index": {}, "adjusted_rand_score": {}}
    range = (-0.5, 1.0)
    whole_weights = True
    formula = "(T − PQ/C) / ((P + Q)/2 − PQ/C)"
    reading = "1: equal clusterings; 0: chance agreement; below 0: less than chance."
    landmarks = ((0.0, "random guessing"),)
    related = ("adjusted_mutual_information",)
    pitfalls = ("Large clusters decide it: a small one that is wrong hardly shows.",)

    def formula_value(self, pairs: Pairs) -> float:
        both, truth, predicted, everything = pair_totals(pairs)
        below = (truth + predicted) * everything - 2 * truth * predicted
        return divide(2 * (both * everything - truth * predicted), below) if below else 1.0


class FowlkesMallows(ClusterMetric):
    """The geometric mean of pairwise precision and recall.

    >>> fowlkes_mallows([0, 0, 1, 1], [0, 0, 1, 2])
    0.7071067811865476
    """

    display = "Fowlkes–Mallows index"
    aliases = {"fmi": {}, "fowlkes_mallows_score": {}}
    whole_weights = True
    formula = "T / √(P Q)"
    reading = "1: equal clusterings; 0: no shared pair."
    landmarks = ((0.0, "no pair is together on both sides"),)
    pitfalls = ("It is not corrected for chance: few large clusters score well.",)

    def formula_value(self, pairs: Pairs) -> float:
        if is_identical(pairs):
            return 1.0
        both, truth, predicted, _ = pair_totals(pairs)
        return min(math.sqrt(divide(both * both, truth * predicted)), 1.0) if both else 0.0


rand_index = RandIndex()
adjusted_rand = AdjustedRand()
fowlkes_mallows = FowlkesMallows()
