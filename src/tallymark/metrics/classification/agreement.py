"""Agreement of truth and prediction beyond chance."""

from __future__ import annotations

from itertools import accumulate
from typing import Any

import numpy as np

from tallymark.data.target import show_labels
from tallymark.metrics.answer import Answer, Undefined
from tallymark.metrics.classification.base import LabelMetric, quotients, require_single
from tallymark.metrics.parameters import choice
from tallymark.states.base import divide
from tallymark.states.labels.counts import Counts, DrawnCounts
from tallymark.states.labels.pairs import Pairs

__all__ = ["CohenKappa", "Mcc", "cohen_kappa", "mcc"]


class Mcc(LabelMetric):
    """The correlation of truth and prediction, for two classes or more.

    >>> mcc([1, 0, 1, 0, 1, 0, 1, 0], [1, 0, 1, 0, 0, 1, 1, 0])
    0.5
    """

    display = "MCC"
    aliases = {"matthews": {}, "matthews_corrcoef": {}}
    better = "higher"
    range = (-1.0, 1.0)
    at_perfect = 1.0
    symmetric = True
    formula = "(c s − Σ t_k p_k) / √((s² − Σ p_k²)(s² − Σ t_k²)): c right, s in all, t_k true, p_k predicted"
    reading = "1 is perfect, 0 is random guessing, below 0 is worse than that."
    landmarks = ((0.0, "random guessing"), (-1.0, "two classes, with every row wrong"))
    related = ("balanced_accuracy", "informedness", "fscore")
    when_undefined = "The truth or the predictions are constant."
    pitfalls = ("With more than two classes its lowest value lies above −1.",)

    def formula_value(self, c: Counts) -> float | Undefined:
        require_single(c, self)
        for side, why in ((c.truth, "the truth is constant"), (c.predicted, "the predictions are constant")):
            if sum(map(bool, side)) < 2:
                return Undefined(why)
        return super().formula_value(c)

    def ratio(self, c: Counts) -> tuple[Any, Any]:
        above = c.beyond_chance()
        return above * abs(above), c.spread(c.truth) * c.spread(c.predicted)

    def from_ratio(self, quotient: Any) -> Any:
        return np.copysign(np.minimum(np.sqrt(np.abs(quotient)), 1.0), quotient)


class CohenKappa(LabelMetric):
    """Agreement beyond what chance would give, as two raters see it; near misses can count less.

    >>> cohen_kappa(["a", "a", "b", "b"], ["a", "b", "b", "b"])
    0.5
    """

    display = "Cohen's kappa"
    aliases = {"kappa": {}, "cohen_kappa_score": {}, "quadratic_weighted_kappa": {"weighting": "quadratic"}}
    better = "higher"
    range = (-1.0, 1.0)
    at_perfect = 1.0
    symmetric = True
    formula = "1 − Σ d_ij o_ij / Σ d_ij e_ij: d = [i ≠ j], |i − j| or (i − j)², o observed, e expected by chance"
    reading = "1 is perfect, 0 is chance agreement; above 0.6 is often called substantial."
    outliers = (
        'none: a label is right or wrong; weighting="linear" or "quadratic" makes misses by many places count more.'
    )
    landmarks = ((0.0, "random guessing"),)
    related = ("accuracy", "rps")
    when_undefined = "All rows have the same class, in truth and predictions."
    pitfalls = (
        "It falls with the share of the rarest class, even where the model is as good.",
        "Linear and quadratic weighting go by the place of a class among the sorted ones, or as `classes` has them.",
    )
    why = "truth and predictions are one and the same class"
    samples = ({}, {"weighting": "linear"}, {"weighting": "quadratic"})

    weighting: str | None = choice(None, "linear", "quadratic")
    """How much a miss by several places counts: None for all alike, "linear" or "quadratic"."""

    @property
    def formula_text(self) -> str:
        distance = {"linear": "|i − j|", "quadratic": "(i − j)²"}.get(str(self.weighting), "[i ≠ j]")
        return f"1 − Σ d_ij o_ij / Σ d_ij e_ij, where d_ij = {distance}, o is observed, and e expected by chance"

    def read(self, state: Any) -> Answer:
        counts = state.counts()
        require_single(counts, self)
        value = self.formula_value(counts) if self.weighting is None else self._by_distance(counts, state)
        return self.to_answer(value, self._order_note(counts))

    def ratio(self, c: Counts) -> tuple[Any, Any] | None:
        # Two classes are one step apart, whatever a step counts.
        return (c.beyond_chance(), c.wrong_by_chance()) if self.weighting is None or len(c.classes) == 2 else None

    def values_of_draws(self, c: DrawnCounts) -> Any:
        if self.weighting is None:
            return super().values_of_draws(c)
        places = np.arange(len(c.classes))
        distance = np.abs(np.subtract.outer(places, places)) ** (1.0 if self.weighting == "linear" else 2.0)
        observed = np.tensordot(c.tables, distance, 2) * c.total
        return 1.0 - quotients(observed, (np.asarray(c.truth) * (distance @ c.predicted)).sum(axis=0))

    def _order_note(self, c: Counts) -> tuple[str, ...]:
        """In which order the classes stand, where that matters and nobody said it."""
        if self.weighting is None or c.target.classes is not None or not isinstance(next(iter(c.classes)), str):
            return ()
        return (f"the classes are in the order of the alphabet: {show_labels(c.classes)}; classes= gives another",)

    def _by_distance(self, c: Counts, state: Pairs) -> float | Undefined:
        linear = self.weighting == "linear"
        expected = _linear(c) if linear else _quadratic(c)
        _, of_truth, of_prediction = state.classes()
        cells = zip(state.cells[0].tolist(), state.cells[1].tolist(), state.values, strict=True)
        steps = ((abs(of_truth[i] - of_prediction[j]), int(value)) for i, j, value in cells)
        observed = c.total * sum((step if linear else step * step) * value for step, value in steps)
        return divide(expected - observed, expected) if expected else Undefined(self.why)


def _linear(c: Counts) -> int:
    """Σ |i − j| t_i p_j: between each two neighbours, the weight that one side has before and the other after."""
    truth, predicted = list(accumulate(c.truth)), list(accumulate(c.predicted))
    return sum(t * (c.total - p) + p * (c.total - t) for t, p in zip(truth, predicted, strict=True))


def _quadratic(c: Counts) -> int:
    """Σ (i − j)² t_i p_j, by moments."""
    first = [sum(k * weight for k, weight in enumerate(side)) for side in (c.truth, c.predicted)]
    second = sum(k * k * (t + p) for k, (t, p) in enumerate(zip(c.truth, c.predicted, strict=True)))
    return c.total * second - 2 * first[0] * first[1]


mcc = Mcc()
cohen_kappa = CohenKappa()
