"""The queries state: relevance and score of every row, and the query that it belongs to. It grows with the rows.

Rows are kept sorted within each query (`core/ranking.hpp`), so that any number of measures reads one sort.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, NamedTuple, Self

import numpy as np

from tallymark._core import Rankings, read_table
from tallymark.data.arrays import Array
from tallymark.data.batch import QUERY, Batch
from tallymark.errors import Argument, DomainError, InputError, ParameterError, StateError, Text, WeightError
from tallymark.states.base import ONE, KeyedReads, check_addable, exact_total
from tallymark.states.labels.encoding import encode_labels
from tallymark.states.labels.label_rows import Encoded
from tallymark.states.rows import ChunkedState, check_weights, copy_weights
from tallymark.states.sums import exact_sum

_EXACT = 2.0**53  # from here on, float64 makes different integers equal


class QueriesOf(KeyedReads):
    """Asks for the rows by query; `stable` where rows of equal scores are ranked in the order in which they came."""

    __slots__ = ("stable",)

    def __init__(self, *, stable: bool = False) -> None:
        self.stable = stable

    @property
    def key(self) -> tuple[Hashable, ...]:
        return (self.stable,)

    def zero(self) -> Queries:
        return Queries(self, ())

    def fold(self, batch: Batch) -> Queries:
        if batch.n == 0:
            return self.zero()
        queries = _read_queries(batch)
        relevance, score = _read_relevance(batch), _read_score(batch)
        batch.require_weights()
        weights = copy_weights(batch)
        if weights is not None:
            weights_by_query(
                queries, weights, batch.places.part
            )  # what must be refused is refused while its rows are known
        return Queries(self, (QueryChunk(queries, relevance, score, weights),))


def weights_by_query(queries: Encoded | None, weights: Array, part: str = "") -> Array:
    """The weight of each query, or an error where its rows differ."""
    if queries is None:
        return weights
    labels, codes = queries
    each = np.empty(len(labels))
    each[codes[::-1]] = weights[::-1]  # the first row of a query decides
    differs = each[codes] != weights
    if differs.any():
        row = int(differs.argmax())
        raise WeightError(
            argument="weights",
            expected="be the same in all rows of a query",
            got=f"{float(each[codes[row]])} and {float(weights[row])}",
            place=f"query {labels[codes[row]]!r}{f' of {part}' if part else ''}",
        )
    return each


class QueryChunk(NamedTuple):
    """The rows of one batch; without queries, each row of the tables is one."""

    queries: Encoded | None
    relevance: Array
    score: Array
    weights: Array | None

    @property
    def rows(self) -> int:
        return len(self.score)


class Ranked(NamedTuple):
    """Rows by query, sorted by score; queries of positive weight with and without a relevant row, and exact weights."""

    rankings: Rankings
    present: int
    absent: int
    single: int
    present_weight: int
    absent_weight: int

    def total(self, measure: int, k: int | None, *, exponential: bool = False, strict: bool = False) -> int:
        """The exact total of weight times measure over the queries with a relevant row."""
        return exact_total(*self.rankings.total(measure, float("inf") if k is None else float(k), exponential, strict))


class Queries(ChunkedState[QueriesOf, QueryChunk]):
    """Relevance and score of every row as float64, the query of each, and weights or None."""

    __slots__ = ("_ranked",)

    def __init__(self, reads: QueriesOf, chunks: tuple[QueryChunk, ...]) -> None:
        super().__init__(reads, chunks)
        self._ranked: Ranked | None = None

    @property
    def columns(self) -> tuple[int, int] | None:
        if not self._chunks:
            return None
        width = 1 if self._chunks[0].queries is not None else self._chunks[0].score.shape[1]
        return (width, width)

    def ranked(self) -> Ranked:
        """The rows of every query together and sorted, once for all metrics that read them."""
        if self._ranked is None:
            self._ranked = _rank(self._joined(), stable=self._reads.stable)
        return self._ranked

    def total_gain(self, k: int | None, *, exponential: bool, average: bool) -> int | None:
        """The exact total of weight times discounted cumulative gain over the queries; None if it is too large. The
        gains of equal scores are the mean over all their orders, or those of the order in which they are ranked."""
        chunk = self._joined()
        with np.errstate(over="ignore"):
            gains = _discounted_gains(chunk, k, exponential=exponential, average=average, stable=self._reads.stable)
            if chunk.weights is not None:
                gains *= weights_by_query(chunk.queries, chunk.weights)
        return exact_sum(gains) if np.isfinite(gains).all() else None

    def _joined(self) -> QueryChunk:
        if len(self._chunks) == 1:
            return self._chunks[0]
        named = [chunk.queries for chunk in self._chunks if chunk.queries is not None]
        return QueryChunk(
            Encoded.join(named) if named else None,
            np.concatenate([chunk.relevance for chunk in self._chunks]),
            np.concatenate([chunk.score for chunk in self._chunks]),
            self.weights(),
        )

    def __add__(self, other: Any) -> Self:
        if isinstance(other, Queries) and self._chunks and other._chunks and self._reads.stable:
            check_addable(self, other)
            raise StateError(
                'rankings with ties="stable" cannot be added: they depend on the order of all rows',
                hint='Pass all rows at once, or use ties="average" or ties="worst"',
            )
        return super().__add__(other)

    @classmethod
    def check_chunks(cls, chunks: tuple[QueryChunk, ...]) -> None:
        Encoded.check_same_type([chunk.queries for chunk in chunks if chunk.queries is not None])

    def fields(self) -> dict[str, Any]:
        return {
            "stable": self._reads.stable,
            "chunks": [
                [None if queries is None else queries.fields(), relevance, score, weights]
                for queries, relevance, score, weights in self._chunks
            ],
        }

    @classmethod
    def from_fields(cls, fields: dict[str, Any]) -> Queries:
        chunks = tuple([_read_chunk(*content) for content in fields["chunks"]])
        cls.check_chunks(chunks)
        if len({(chunk.queries is None, chunk.score.shape[1:]) for chunk in chunks}) > 1:
            raise StateError("chunks differ in width")
        if type(fields["stable"]) is not bool or (fields["stable"] and len(chunks) > 1):
            raise StateError("rows in their order must be one chunk")
        return cls(QueriesOf(stable=fields["stable"]), chunks)


def _read_chunk(packed: Any, relevance: Array, score: Array, weights: Array | None) -> QueryChunk:
    queries = None if packed is None else Encoded.from_fields(packed)
    for array in (relevance, score):
        if array.dtype != np.float64 or array.size == 0 or not np.isfinite(array).all():
            raise StateError("relevances and scores must be finite numbers")
    if relevance.shape != score.shape or relevance.ndim != (2 if queries is None else 1):
        raise StateError("relevances and scores differ in shape")
    if (queries is not None and len(queries.codes) != len(score)) or (queries is None and score.shape[1] < 2):
        raise StateError("queries and scores do not fit")
    if (relevance < 0).any():
        raise StateError("relevances must not be negative")
    check_weights(weights, len(score))
    return QueryChunk(queries, relevance, score, weights)


def _rank(chunk: QueryChunk, *, stable: bool) -> Ranked:
    queries, relevance, score, weights = chunk
    each = None if weights is None else weights_by_query(queries, weights)
    if queries is None:
        codes, count = None, len(score)
        relevance, score = relevance.ravel(), score.ravel()
    else:
        codes, count = queries.codes, len(queries.labels)
    rankings = Rankings(relevance, score, codes, count, each, stable)
    present, absent, single = rankings.counts
    if each is None:
        return Ranked(rankings, present, absent, single, present * ONE, absent * ONE)
    heavy, light = rankings.weights
    return Ranked(rankings, present, absent, single, exact_total(*heavy), exact_total(*light))


def _discounted_gains(chunk: QueryChunk, k: int | None, *, exponential: bool, average: bool, stable: bool) -> Array:
    """The discounted cumulative gain of every query."""
    queries, relevance, score, _ = chunk
    codes = np.repeat(np.arange(len(score)), score.shape[1]) if queries is None else queries.codes
    relevance, score = relevance.ravel(), score.ravel()
    order = np.lexsort((-score, codes) if stable else (relevance, -score, codes))
    relevance, score, codes = relevance[order], score[order], codes[order]
    starts = np.flatnonzero(np.diff(codes, prepend=-1))
    ranks = np.arange(1, len(codes) + 1) - np.repeat(starts, np.diff(starts, append=len(codes)))
    discounts = 1 / np.log2(1 + ranks)
    if k is not None:
        discounts[ranks > k] = 0
    if average:
        ties = np.flatnonzero((np.diff(codes, prepend=-1) != 0) | (np.diff(score, prepend=np.inf) != 0))
        sizes = np.diff(ties, append=len(codes))
        discounts = np.repeat(np.add.reduceat(discounts, ties) / sizes, sizes)
    gains = np.exp2(relevance) - 1 if exponential else relevance
    return np.asarray(np.add.reduceat(gains * discounts, starts))


def _read_queries(batch: Batch) -> Encoded | None:
    """The query of each row; None for tables, each row of which is one."""
    if batch.truth_columns > 1:
        if batch.has_query:
            raise ParameterError(argument="query", expected="not be given with tables: each of their rows is one query")
        return None
    if not batch.has_query:
        raise ParameterError(
            argument="query",
            expected="be given: the label of the query that each row belongs to",
            hint=Text("Where each query is a row of a table, pass {y_true} and {y_pred} as tables of the same width"),
        )
    return Encoded(*encode_labels(batch, QUERY, fractions=True))


def _read_relevance(batch: Batch) -> Array:
    """The truth as relevances."""
    relevance, low, _ = _read_side(batch, 0)
    if low < 0:
        place = np.argwhere(relevance < 0)[0].tolist()
        value = float(relevance[tuple(place)])
        where = batch.places.row(*place)
        raise DomainError(argument="y_true", expected="contain relevances of at least 0", got=str(value), place=where)
    return relevance


def _read_score(batch: Batch) -> Array:
    """The predictions as scores."""
    score, low, high = _read_side(batch, 1)
    if max(-low, high) >= _EXACT:
        place = np.argwhere(np.abs(score) >= _EXACT)[0].tolist()
        item: Any = batch.item(1, place[0])
        item = item[place[1]] if len(place) == 2 and isinstance(item, list) else item
        if isinstance(item, int):  # floats are what they are
            raise DomainError(
                argument="y_pred",
                expected="contain scores that float64 can distinguish: integers below 2**53",
                got=str(item),
                place=batch.places.row(*place),
                hint="Subtract a constant, or pass their ranks",
            )
    return score


def _read_side(batch: Batch, side: int) -> tuple[Array, float, float]:
    array = batch.truth if side == 0 else batch.prediction
    found = read_table(array)
    if found is None:
        batch.require_finite_side(side)
        raise InputError(Text("{} changed while it was being read", Argument(batch.names[side])))
    raw, low, high = found
    numbers = np.frombuffer(raw, np.float64)
    return numbers if array.ndim == 1 else numbers.reshape(array.shape), low, high
