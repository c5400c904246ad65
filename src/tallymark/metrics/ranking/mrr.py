"""Mean reciprocal rank."""

from __future__ import annotations

from tallymark.metrics.ranking.base import CONSTANT_SCORES, MRR, RankingMetric

__all__ = ["Mrr", "mrr"]


class Mrr(RankingMetric):
    """The mean over queries of one over the rank of the first relevant row.

    >>> mrr([0, 1, 1, 0], [4, 3, 2, 1], query=["a", "a", "b", "b"])
    0.75
    """

    display = "MRR"
    aliases = {"mean_reciprocal_rank": {}, "reciprocal_rank": {}}
    formula = "mean over queries of 1 / rank of the first relevant row; 0 where that rank is above k"
    reading = "1: the first row of every query is relevant; 0.5: the second row is the first relevant one."
    related = ("map", "ndcg")
    landmarks = ((0.0, "nothing relevant among the rows that count"),)
    pitfalls = (CONSTANT_SCORES, "Only the first relevant row counts.")
    samples = ({}, {"k": 2}, {"ties": "worst"})
    measure = MRR


mrr = Mrr()
