"""Shares of the first k rows of each query: hit rate, precision and recall."""

from __future__ import annotations

from tallymark.metrics.parameters import count
from tallymark.metrics.ranking.base import CONSTANT_SCORES, HIT_RATE, PRECISION_AT, RECALL_AT, RankingMetric

__all__ = ["HitRate", "PrecisionAt", "RecallAt", "hit_rate", "precision_at", "recall_at"]


class HitRate(RankingMetric):
    """The share of queries with a relevant row among the first k.

    >>> hit_rate([0, 1, 1, 0], [4, 3, 2, 1], query=["a", "a", "b", "b"], k=1)
    0.5
    """

    display = "hit rate"
    aliases = {"hits": {}, "success": {}}
    formula = "mean over queries of [a relevant row has rank ≤ k]"
    reading = "1: every query has a relevant row among the first k."
    landmarks = ((0.0, "nothing relevant among the first k, in any query"),)
    pitfalls = (CONSTANT_SCORES, "A query of k rows or fewer cannot miss.")
    samples = ({}, {"k": 2}, {"k": 1, "ties": "worst"})
    measure = HIT_RATE

    k: int = count(10)
    """How many of the first rows count."""


class PrecisionAt(RankingMetric):
    """The share of relevant rows among the first k of a query, averaged over the queries.

    >>> precision_at([1, 0, 1, 0], [4, 3, 2, 1], query=["a", "a", "a", "a"], k=2)
    0.5
    """

    display = "precision"
    aliases = {"p_at": {}, "precision_at_k": {}}
    formula = "mean over queries of relevant rows of rank ≤ k / k"
    reading = "Share of the first k rows that are relevant."
    landmarks = ((0.0, "nothing relevant among the first k, in any query"),)
    related = ("lift_curve",)
    pitfalls = (CONSTANT_SCORES, "A query of fewer than k relevant rows stays below 1, even in the best order.")
    samples = ({}, {"k": 2}, {"k": 1, "ties": "worst"})
    measure = PRECISION_AT

    k: int = count(10)
    """How many of the first rows count."""

    @property
    def reaches_one(self) -> bool:
        return False


class RecallAt(RankingMetric):
    """The share of a query's relevant rows that are among the first k, averaged over the queries.

    >>> recall_at([1, 0, 1, 0], [4, 3, 2, 1], query=["a", "a", "a", "a"], k=1)
    0.5
    """

    display = "recall"
    aliases = {"r_at": {}, "recall_at_k": {}}
    formula = "mean over queries of relevant rows of rank ≤ k / number of relevant rows"
    reading = "1: all relevant rows are among the first k."
    landmarks = ((0.0, "nothing relevant among the first k, in any query"),)
    pitfalls = (CONSTANT_SCORES, "A query of more than k relevant rows stays below 1, even in the best order.")
    samples = ({}, {"k": 2}, {"k": 1, "ties": "worst"})
    measure = RECALL_AT

    k: int = count(10)
    """How many of the first rows count."""

    @property
    def reaches_one(self) -> bool:
        return False


hit_rate = HitRate()
precision_at = PrecisionAt()
recall_at = RecallAt()
