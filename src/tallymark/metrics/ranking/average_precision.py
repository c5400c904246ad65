"""Mean average precision of queries."""

from __future__ import annotations

from tallymark.metrics.ranking.base import CONSTANT_SCORES, MAP, RankingMetric

__all__ = ["Map", "map"]


class Map(RankingMetric):
    """The mean over queries of average precision: of the share of relevant rows down to each relevant row.

    >>> map([1, 0, 1, 0], [4, 3, 2, 1], query=["a", "a", "a", "a"])
    0.8333333333333333
    """

    display = "MAP"
    aliases = {"mean_average_precision": {}}
    formula = "mean over queries of Σ_{rank ≤ k, relevant} precision at rank / number of relevant rows"
    reading = "1: all relevant rows come first in every query. It rewards finding all of them early."
    landmarks = ((0.0, "nothing relevant among the rows that count"),)
    related = ("ndcg", "mrr", "average_precision")
    pitfalls = (
        CONSTANT_SCORES,
        "Rows are relevant or not. With k, a query of more than k relevant rows stays below 1.",
    )
    samples = ({}, {"k": 2}, {"ties": "worst"}, {"absent": 0.0})
    measure = MAP

    @property
    def reaches_one(self) -> bool:
        return self.k is None


map = Map()
