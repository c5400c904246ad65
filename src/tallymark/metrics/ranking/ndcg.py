"""Discounted cumulative gain, and its share of that of the best order."""

from __future__ import annotations

import math

import numpy as np

from tallymark.data.batch import Batch
from tallymark.errors import DomainError, Text
from tallymark.metrics.parameters import absent_choice, choice
from tallymark.metrics.ranking.base import CONSTANT_SCORES, NDCG, RankingMetric
from tallymark.states.rankings import Queries

__all__ = ["Dcg", "Ndcg", "dcg", "ndcg"]

_MOST_EXPONENTIAL = 1000.0


class Ndcg(RankingMetric):
    """The gain of the relevant rows, discounted by rank, relative to that of the best order, by query.

    >>> ndcg([3, 0, 1, 0], [4, 3, 2, 1], query=["a", "a", "b", "b"])
    1.0
    """

    display = "NDCG"
    aliases = {"ndcg_score": {}, "normalized_discounted_cumulative_gain": {}}
    formula = "mean over queries of DCG@k / best DCG@k; DCG@k = Σ_{rank ≤ k} gain / log₂(1 + rank)"
    reading = "1: every query is in the best order. A random order is well above 0: compare with a constant score."
    outliers = (
        'low: scores count by their order; a row of very high relevance decides its query, above all with gain="exp".'
    )
    related = ("map", "mrr")
    landmarks = ((0.0, "nothing relevant among the rows that count"),)
    pitfalls = (CONSTANT_SCORES, 'Peers differ in the gain: gain="linear" is r, gain="exp" is 2^r − 1.')
    samples = ({}, {"k": 3}, {"gain": "exp", "k": 2}, {"ties": "worst"}, {"absent": 0.0})
    measure = NDCG

    gain: str = choice("linear", "exp")
    """What a row of relevance r earns: r, or 2^r − 1."""

    @property
    def formula_text(self) -> str:
        return super().formula_text.replace("gain", "(2^r − 1)" if self.is_exponential else "r")

    @property
    def is_exponential(self) -> bool:
        return self.gain == "exp"

    def check_values(self, state: Queries, batch: Batch | None) -> None:
        if self.gain == "exp" and state.ranked().rankings.highest > _MOST_EXPONENTIAL:
            place = None
            if batch is not None:
                row = int(np.asarray(batch.truth).reshape(batch.n, -1).max(axis=1).argmax())
                place = batch.places.row(row)
            raise DomainError(
                Text(
                    '{y_true} must be at most {} for gain="exp", since 2^r overflows; the highest is {}',
                    f"{_MOST_EXPONENTIAL:g}",
                    f"{state.ranked().rankings.highest:g}",
                ),
                argument="y_true",
                place=place,
                hint='Use gain="linear"',
            )


class Dcg(Ndcg):
    """The gain of the relevant rows, discounted by rank, by query.

    >>> dcg([3, 0, 1, 0], [4, 3, 2, 1], query=["a", "a", "b", "b"])
    2.0
    """

    display = "DCG"
    aliases = {"dcg_score": {}, "discounted_cumulative_gain": {}}
    formula = "mean over queries of Σ_{rank ≤ k} gain / log₂(1 + rank)"
    reading = "It grows with the number of relevant rows and their relevances: compare on the same queries only."
    outliers = "high: queries of many relevant rows, or of very high relevance, decide the mean."
    related = ("map", "mrr")
    when_undefined = 'No query has a relevant row, with absent="skip".'
    pitfalls = (CONSTANT_SCORES, "It is not comparable between queries: ndcg divides it by that of the best order.")
    samples = ({}, {"k": 3}, {"gain": "exp", "k": 2}, {"ties": "worst"}, {"absent": "skip"})

    absent: float | str = absent_choice(0.0, "queries")
    """What a query without a relevant row earns: a number, or "skip" to leave it out."""

    @property
    def range(self) -> tuple[float, float]:
        return (super().range[0], math.inf)

    @property
    def reaches_one(self) -> bool:
        return False

    def total(self, state: Queries) -> int | None:
        return state.total_gain(self.k, exponential=self.is_exponential, average=self.ties == "average")


ndcg = Ndcg()
dcg = Dcg()
