"""How pure clusters are."""

from __future__ import annotations

from tallymark.metrics.clustering.base import ClusterMetric
from tallymark.states.base import divide
from tallymark.states.labels.pairs import Pairs

__all__ = ["Purity", "purity"]


class Purity(ClusterMetric):
    """The share of rows that belong to the most frequent true cluster of their predicted one.

    >>> purity(["a", "a", "b", "b"], [0, 0, 0, 1])
    0.75
    """

    symmetric = False
    formula = "Σ_j max_i n_ij / n"
    reading = "1: every predicted cluster contains a single true cluster."
    related = ("homogeneity", "adjusted_rand")
    pitfalls = ("One cluster per row scores 1.",)

    def formula_value(self, pairs: Pairs) -> float:
        best = [0] * len(pairs.labels[1])
        for column, value in zip(pairs.cells[1].tolist(), pairs.values, strict=True):
            best[column] = max(best[column], int(value))
        return divide(sum(best), sum(pairs.sizes()[0]))


purity = Purity()
