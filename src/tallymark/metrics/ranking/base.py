"""Rankings by query: how early the relevant rows of each query come when its rows are ordered by score."""

from __future__ import annotations

import math
import re
from typing import ClassVar

from tallymark.data.target import Target
from tallymark.errors import KindError, ShapeError, Text
from tallymark.metrics.answer import LIGHT, Undefined
from tallymark.metrics.base import LEAST_WEIGHT, Metric
from tallymark.metrics.parameters import absent_choice, choice, count, show
from tallymark.states.base import divide
from tallymark.states.rankings import Queries, QueriesOf

__all__ = ["RankingMetric"]


_ANY_ORDER, _ROW_ORDER = QueriesOf(), QueriesOf(stable=True)
NDCG, MAP, MRR, HIT_RATE, PRECISION_AT, RECALL_AT = range(6)  # as the core has them
CONSTANT_SCORES = (
    "Equal scores count as the mean over all their orders, so a constant score earns what a random order does."
)


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
    baselines: ClassVar[tuple[str, ...]] = ("order",)
    measure: ClassVar[int]

    k: int | None = count(None)
    """How many of the first rows count; all by default."""
    ties: str = choice("average", "worst", "stable")
    """How rows of equal scores are ranked: the mean over all orders, the relevant ones last, or in row order."""
    absent: float | str = absent_choice("skip", "queries")
    """What a query without a relevant row earns: a number, or "skip" to leave it out."""

    def _display_parts(self) -> tuple[str, tuple[str, ...]]:
        name, expressed = super()._display_parts()
        return (name if self.k is None else f"{name}@{self.k}"), (*expressed, "k")

    @property
    def formula_text(self) -> str:
        if self.k is None:
            return re.sub(r"@k|_\{rank ≤ k\}|rank ≤ k, |; 0 where that rank is above k", "", self.formula)
        return re.sub(r"\bk\b", str(self.k), self.formula)

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
        total = self.total(state)
        if total is None:
            return math.inf
        if isinstance(self.absent, str):
            return divide(total, heavy)
        part, whole = self.absent.as_integer_ratio()
        return divide(whole * total + part * light, whole * (heavy + light))

    def total(self, state: Queries) -> int | None:
        """The exact total of weight times measure over the queries with a relevant row; None if it is too large."""
        strict = self.ties != "average"
        return state.ranked().total(self.measure, self.k, exponential=self.is_exponential, strict=strict)

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
