"""Rankings by query: how early the relevant rows of each query come when its rows are ordered by score."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from tallymark.batch import Batch
from tallymark.errors import DomainError, KindError, ShapeError, Text
from tallymark.metrics.answer import LIGHT, Undefined
from tallymark.metrics.base import LEAST_WEIGHT, Metric
from tallymark.metrics.parameters import absent_choice, choice, count, show
from tallymark.states import Queries, QueriesOf, divide
from tallymark.target import Target

__all__ = [
    "HitRate",
    "Map",
    "Mrr",
    "Ndcg",
    "PrecisionAt",
    "RankingMetric",
    "RecallAt",
    "hit_rate",
    "map",
    "mrr",
    "ndcg",
    "precision_at",
    "recall_at",
]

_ANY_ORDER, _ROW_ORDER = QueriesOf(), QueriesOf(stable=True)
_NDCG, _MAP, _MRR, _HIT, _PRECISION, _RECALL = range(6)  # as the core has them
_MOST_EXPONENTIAL = 1000.0
_GUESS = "Equal scores count as the mean over all their orders, so a constant score earns what a random order does."


class RankingMetric(Metric, abstract=True):
    """A metric of rankings: its value is the mean over the queries, each of which has a measure between 0 and 1.

    Rows with a relevance above 0 are relevant.
    """

    arguments = ("y_true", "y_pred", "query=query")
    family: ClassVar[str] = "ranking"
    outliers: ClassVar[str] = (
        "none: only the order of the scores within a query counts, and no query for more than its weight."
    )
    kind: ClassVar[str] = "score"
    by_query: ClassVar[bool] = True
    better = "higher"
    when_undefined = "No query has a relevant row."
    measure: ClassVar[int]

    k: int | None = count(None)
    """How many of the first rows count; all by default."""
    ties: str = choice("average", "worst", "stable")
    """How rows of equal scores are ranked: the mean over all orders, the relevant ones last, or in row order."""
    absent: float | str = absent_choice("skip", "queries")
    """What a query without a relevant row earns: a number, or "skip" to leave it out."""

    @property
    def range(self) -> tuple[float, float]:
        other = 0.0 if isinstance(self.absent, str) else self.absent
        return (min(0.0, other), max(1.0, other))

    @property
    def at_perfect(self) -> float | None:  # type: ignore[override]
        return 1.0 if self.absent in ("skip", 1.0) and self.reaches_one else None

    @property
    def reaches_one(self) -> bool:
        """Whether a perfect order of any query has the value 1."""
        return True

    @property
    def reads(self) -> QueriesOf:
        return _ROW_ORDER if self.ties == "stable" else _ANY_ORDER

    def needs(self, target: Target) -> QueriesOf:
        if target.kind == "label":
            raise KindError(Text('{} ranks rows by scores; got {kind="label"}', self))
        return self.reads

    def check_columns(self, truth_columns: int, prediction_columns: int) -> None:
        if truth_columns != prediction_columns:
            raise ShapeError(
                Text(
                    "{y_true} and {y_pred} must be one relevance and one score per row for {}, or "
                    "tables of the same width, one query per row; got {} and {} columns",
                    self,
                    truth_columns,
                    prediction_columns,
                ),
                argument="y_true",
            )

    def formula_value(self, state: Queries) -> float | Undefined:
        ranked = state.ranked()
        heavy, light = ranked.present_weight, ranked.absent_weight
        if not ranked.present and isinstance(self.absent, str):
            return Undefined("no query has a relevant row")
        if ranked.present and heavy < LEAST_WEIGHT:
            return LIGHT
        strict = self.ties != "average"
        total = ranked.total(self.measure, self.k, exponential=self.is_exponential, strict=strict)
        if isinstance(self.absent, str):
            return divide(total, heavy)
        part, whole = self.absent.as_integer_ratio()
        return divide(whole * total + part * light, whole * (heavy + light))

    @property
    def is_exponential(self) -> bool:
        """Whether a relevance of r earns 2^r − 1."""
        return False

    def notes(self, state: Queries) -> tuple[str, ...]:
        ranked = state.ranked()
        notes = []
        if ranked.absent:
            queries = "1 query" if ranked.absent == 1 else f"{ranked.absent:,} queries"
            fate = "left out" if isinstance(self.absent, str) else f"counted as {show(self.absent)}"
            notes.append(f"{queries} without a relevant row {fate}")
        if ranked.single:
            what = "query has" if ranked.single == 1 else "queries have"
            notes.append(f"{ranked.single:,} {what} one row only, which cannot be ranked wrongly")
        return tuple(notes)


class Ndcg(RankingMetric):
    """The gain of the relevant rows, discounted by rank, relative to that of the best order, by query.

    >>> ndcg([3, 0, 1, 0], [4, 3, 2, 1], query=["a", "a", "b", "b"])
    1.0
    """

    aliases = {"ndcg_score": {}, "normalized_discounted_cumulative_gain": {}}
    formula = "mean over queries of DCG@k / best DCG@k; DCG@k = Σ_{rank ≤ k} gain / log₂(1 + rank)"
    reading = "1: every query is in the best order. A random order is well above 0: compare with a constant score."
    outliers = (
        'low: scores count by their order; a row of very high relevance decides its query, above all with gain="exp".'
    )
    landmarks = ((0.0, "nothing relevant among the rows that count"),)
    pitfalls = (_GUESS, 'Peers differ in the gain: gain="linear" is r, gain="exp" is 2^r − 1.')
    samples = ({}, {"k": 3}, {"gain": "exp", "k": 2}, {"ties": "worst"}, {"absent": 0.0})
    measure = _NDCG

    gain: str = choice("linear", "exp")
    """What a row of relevance r earns: r, or 2^r − 1."""

    @property
    def is_exponential(self) -> bool:
        return self.gain == "exp"

    def check_values(self, state: Queries, batch: Batch | None) -> None:
        if self.gain == "exp" and state.ranked().rankings.highest > _MOST_EXPONENTIAL:
            where = ""
            if batch is not None:
                row = int(np.asarray(batch.truth).reshape(batch.n, -1).max(axis=1).argmax())
                where = f" in {batch.places.row(row)}"
            raise DomainError(
                Text(
                    '{y_true} must be at most {} for gain="exp", since 2^r overflows; the highest is {}{}',
                    f"{_MOST_EXPONENTIAL:g}",
                    f"{state.ranked().rankings.highest:g}",
                    where,
                ),
                argument="y_true",
                hint='Use gain="linear"',
            )


class Map(RankingMetric):
    """The mean over queries of average precision: of the share of relevant rows down to each relevant row.

    >>> map([1, 0, 1, 0], [4, 3, 2, 1], query=["a", "a", "a", "a"])
    0.8333333333333333
    """

    aliases = {"mean_average_precision": {}}
    formula = "mean over queries of Σ_{rank ≤ k, relevant} precision at rank / number of relevant rows"
    reading = "1: all relevant rows come first in every query. It rewards finding all of them early."
    landmarks = ((0.0, "nothing relevant among the rows that count"),)
    related = ("average_precision",)
    pitfalls = (_GUESS, "Rows are relevant or not. With k, a query of more than k relevant rows stays below 1.")
    samples = ({}, {"k": 2}, {"ties": "worst"}, {"absent": 0.0})
    measure = _MAP

    @property
    def reaches_one(self) -> bool:
        return self.k is None


class Mrr(RankingMetric):
    """The mean over queries of one over the rank of the first relevant row.

    >>> mrr([0, 1, 1, 0], [4, 3, 2, 1], query=["a", "a", "b", "b"])
    0.75
    """

    aliases = {"mean_reciprocal_rank": {}, "reciprocal_rank": {}}
    formula = "mean over queries of 1 / rank of the first relevant row; 0 where that rank is above k"
    reading = "1: the first row of every query is relevant. 0.5 is what second places earn."
    landmarks = ((0.0, "nothing relevant among the rows that count"),)
    pitfalls = (_GUESS, "Only the first relevant row counts.")
    samples = ({}, {"k": 2}, {"ties": "worst"})
    measure = _MRR


class HitRate(RankingMetric):
    """The share of queries with a relevant row among the first k.

    >>> hit_rate([0, 1, 1, 0], [4, 3, 2, 1], query=["a", "a", "b", "b"], k=1)
    0.5
    """

    aliases = {"hits": {}, "success": {}}
    formula = "mean over queries of [a relevant row has rank ≤ k]"
    reading = "1: every query has something relevant among the first k."
    landmarks = ((0.0, "nothing relevant among the first k, in any query"),)
    pitfalls = (_GUESS, "A query of k rows or fewer cannot miss.")
    samples = ({}, {"k": 2}, {"k": 1, "ties": "worst"})
    measure = _HIT

    k: int = count(10)
    """How many of the first rows count."""


class PrecisionAt(RankingMetric):
    """The share of relevant rows among the first k of a query, averaged over the queries.

    >>> precision_at([1, 0, 1, 0], [4, 3, 2, 1], query=["a", "a", "a", "a"], k=2)
    0.5
    """

    aliases = {"p_at": {}, "precision_at_k": {}}
    formula = "mean over queries of relevant rows of rank ≤ k / k"
    reading = "The share of what is shown that is relevant, if k rows are shown."
    landmarks = ((0.0, "nothing relevant among the first k, in any query"),)
    related = ("lift_curve",)
    pitfalls = (_GUESS, "A query of fewer than k relevant rows stays below 1, even in the best order.")
    samples = ({}, {"k": 2}, {"k": 1, "ties": "worst"})
    measure = _PRECISION

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

    aliases = {"r_at": {}, "recall_at_k": {}}
    formula = "mean over queries of relevant rows of rank ≤ k / number of relevant rows"
    reading = "1: nothing relevant stands below rank k."
    landmarks = ((0.0, "nothing relevant among the first k, in any query"),)
    pitfalls = (_GUESS, "A query of more than k relevant rows stays below 1, even in the best order.")
    samples = ({}, {"k": 2}, {"k": 1, "ties": "worst"})
    measure = _RECALL

    k: int = count(10)
    """How many of the first rows count."""

    @property
    def reaches_one(self) -> bool:
        return False


ndcg = Ndcg()
map = Map()
mrr = Mrr()
hit_rate = HitRate()
precision_at = PrecisionAt()
recall_at = RecallAt()
