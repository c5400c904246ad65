"""The area under the ROC curve: how well scores put positives before negatives."""

from __future__ import annotations

import math
from itertools import combinations
from typing import Any, ClassVar

import numpy as np

from tallymark.data.arrays import Array
from tallymark.data.batch import Batch
from tallymark.data.target import Target
from tallymark.errors import ParameterError, Text
from tallymark.intervals.analytic import (
    DELONG,
    TOO_LARGE,
    Interval,
    NoInterval,
    delong_variance,
    few_rows_note,
    logit_ends,
    single_interval,
)
from tallymark.metrics.answer import Answer, Undefined
from tallymark.metrics.parameters import bin_count, choice, share_or_none
from tallymark.metrics.scores.base import ONE_CLASS, Bounds, RankMetric, average_bounds, average_classes, no_row
from tallymark.states.base import Reads, divide
from tallymark.states.resampling.draws import Draws
from tallymark.states.resampling.paired_rows import Placements, read_placements
from tallymark.states.scores.binned import BoundedScores
from tallymark.states.scores.runs import RankSums, Steps
from tallymark.states.scores.scores import Scores, ScoresOf

__all__ = ["Auc", "Gini", "auc", "gini"]


class Auc(RankMetric):
    """The chance that a random positive row has a higher score than a random negative one; ties count half.

    >>> auc([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    0.75
    """

    display = "ROC AUC"
    aliases = {"roc_auc": {}, "roc_auc_score": {}, "auroc": {}}
    symmetric_columns = True
    rounding_scale = 1.0
    formula = "Σ w₊ w₋ ([s₊ > s₋] + ½ [s₊ = s₋]) / Σ w₊ w₋"
    baselines = ("constant",)
    reading = "1: every positive ranks above every negative; 0.5: random; 0: reversed."
    landmarks = ((0.5, "random guessing"), (0.0, "every pair in the wrong order"))
    related = ("average_precision", "roc_curve")
    when_undefined = "All rows are of one class."
    pitfalls = (
        "It says nothing about whether the probabilities are right, only about their order.",
        "With few positives a high value can go with low precision: look at average_precision too.",
    )
    samples: ClassVar[tuple[dict[str, Any], ...]] = (
        {},
        {"average": "weighted"},
        {"multiclass": "ovo"},
        {"multiclass": "ovo", "average": "weighted"},
        {"max_fpr": 0.3},
        {"bounded": 16},
        {"bounded": 4, "multiclass": "ovo"},
    )

    multiclass: str = choice("ovr", "ovo")
    """How three or more classes are set against each other: each against the rest ("ovr"), or in pairs ("ovo").
    A class of `classes` that no row has leaves the mean undefined, unless it is "ovr" and weighted."""
    max_fpr: float | None = share_or_none()
    """The area up to this rate of false positives only, scaled so that chance is 0.5 and perfect is 1."""
    bounded: int | None = bin_count()

    @property
    def formula_text(self) -> str:
        if self.max_fpr in (None, 1):
            weighted = self.average == "weighted"
            if self.multiclass == "ovr" and not weighted:
                return self.formula
            over = "the classes against the rest" if self.multiclass == "ovr" else "the pairs of classes"
            by = ", weighted by their rows" if weighted else ""
            return f"{self.formula}; of three classes or more, the mean over {over}{by}"
        area = f"where A is the area under the ROC curve up to a false positive rate of a = {self.max_fpr:g}"
        return f"½ (1 + (A − a²/2) / (a − a²/2)), {area}"

    def _display_parts(self) -> tuple[str, tuple[str, ...]]:
        partial = "" if self.max_fpr in (None, 1) else f"partial (false positive rate ≤ {self.max_fpr:g}) "
        pairs = " (one-vs-one)" if self.multiclass == "ovo" else ""
        return f"{partial}{self.display}{pairs}", ("max_fpr", "multiclass")

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        if self.bounded is not None and self.max_fpr not in (None, 1):
            raise ParameterError(Text("{max_fpr} needs the exact scores; leave {bounded} out"), argument="max_fpr")

    @property
    def supports_ranges(self) -> bool:
        return self.max_fpr in (None, 1)

    def from_rank_sums(self, sums: RankSums) -> float | Undefined:
        return ONE_CLASS if sums.area is None else sums.area

    def from_bins(self, negative: list[int], positive: list[int], *, exact: bool) -> Bounds | Undefined:
        return area_of_bins(negative, positive, exact=exact)

    def read(self, state: Any) -> Answer:
        if self.max_fpr is None or self.max_fpr == 1:
            return super().read(state)
        if state.several:
            raise ParameterError(
                Text("{max_fpr} needs two classes; there are more"),
                hint="Pass one class against the rest",
                argument="max_fpr",
            )
        return self.to_answer(partial_area(state.steps(symmetric=True), self.max_fpr))

    def replicate_values(self, reads: Reads, batch: Batch, draws: Draws) -> Array | None:
        plain = batch.prediction_columns < 3 or (self.multiclass, self.average) == ("ovr", "macro")
        return resample_mean_area(reads, batch, draws) if plain and self.max_fpr in (None, 1) else None

    def analytic_interval(self, state: Any, level: float) -> Interval | NoInterval | None:
        return area_interval(state, level) if self.bounded is None and self.max_fpr in (None, 1) else None

    def paired_rows(self, batch: Batch, target: Target) -> Placements | None:
        if self.max_fpr not in (None, 1) or self.bounded is not None or batch.prediction_columns > 2:
            return None
        return read_placements(batch, target, 1.0)

    def from_classes(self, state: Scores) -> float | Undefined:
        classes, weights = state.classes, state.class_weights()
        for label, weight in zip(classes, weights, strict=True):
            if not weight and (self.average == "macro" or self.multiclass == "ovo"):
                return no_row(label)

        areas = [state.areas(k) for k in range(len(classes))]
        if self.multiclass == "ovo":
            pairs = list(combinations(range(len(classes)), 2))
            values = [(areas[i][j] + areas[j][i]) / 2 for i, j in pairs]
            both = [weights[i] + weights[j] for i, j in pairs] if self.average == "weighted" else None
            return average_classes(values, both)
        # Against the rest is against each of the others, by their weight.
        values = []
        total = sum(weights)
        for k, own in enumerate(weights):
            others = [(areas[k][c], weights[c]) for c in range(len(classes)) if c != k and own and weights[c]]
            if not others and own:
                return ONE_CLASS
            values.append(math.fsum(found * divide(weight, total - own) for found, weight in others))
        return average_classes(values, weights if self.average == "weighted" else None)

    def from_binned_scores(self, state: BoundedScores) -> Bounds | Undefined:
        if self.multiclass == "ovr" or not state.several:
            return super().from_binned_scores(state)
        classes, weights = state.classes, state.class_weights()
        pairs = list(combinations(range(len(classes)), 2))
        found: list[Bounds] = []
        for pair in pairs:
            for positive, negative in (pair, pair[::-1]):
                one = area_of_bins(
                    state.of_class(classes[negative], positive),
                    state.of_class(classes[positive], positive),
                    exact=state.binned[positive].exact,
                )
                if isinstance(one, Undefined):
                    label = next(label for label, weight in zip(classes, weights, strict=True) if not weight)
                    return no_row(label)
                found.append(one)
        both = [weights[i] + weights[j] for i, j in pairs for _ in range(2)] if self.average == "weighted" else None
        return average_bounds(found, both)


def area_of_bins(negative: list[int], positive: list[int], *, exact: bool) -> Bounds | Undefined:
    """The area and its bounds: within a bin, rows of the two classes may stand in any order."""
    all_pairs = sum(negative) * sum(positive)
    if not all_pairs:
        return ONE_CLASS
    twice = unsure = below = 0
    for dn, dp in zip(negative, positive, strict=True):
        twice += dp * (2 * below + dn)
        unsure += dp * dn
        below += dn
    if exact:
        unsure = 0
    value, lo, hi = (divide(twice + shift, 2 * all_pairs) for shift in (0, -unsure, unsure))
    return Bounds(value, lo, hi)


def area_interval(state: Scores, level: float) -> Interval | NoInterval | None:
    """The interval of the area of two classes; of more, columns of scores go together in a way that is not kept."""
    if state.several:
        return None
    places = state.placements()
    if places is None:
        return None
    fewest = min(places.negatives, places.positives)
    if fewest < 2:
        return NoInterval("the variance cannot be estimated from one row of a class")
    area = state.sums(symmetric=True).area
    spread = delong_variance(places)
    found = logit_ends(area, math.sqrt(spread.variance), level, (0.0, 1.0), spread.freedom)  # type: ignore[arg-type]
    return single_interval(found, DELONG, few_rows_note(fewest, " of one class"))


def partial_area(steps: Steps, most: float) -> float | Undefined:
    """The area up to a rate of false positives, between chance at 0.5 and perfect at 1 (McClish 1989)."""
    if not steps.positives or not steps.negatives:
        return ONE_CLASS
    if not steps.finite:
        return Undefined(TOO_LARGE)
    fp = np.concatenate(([0.0], steps.fp)) / steps.negatives
    tp = np.concatenate(([0.0], steps.tp)) / steps.positives
    inside = int(np.searchsorted(fp, most, side="right"))
    x, y = fp[:inside], tp[:inside]
    if inside < len(fp):  # the curve goes straight from point to point
        across = (most - fp[inside - 1]) / (fp[inside] - fp[inside - 1])
        x, y = np.append(x, most), np.append(y, tp[inside - 1] + across * (tp[inside] - tp[inside - 1]))
    found = math.fsum((np.diff(x) * (y[1:] + y[:-1]) / 2).tolist())
    least = most * most / 2
    return min(0.5 * (1 + (found - least) / (most - least)), 1.0)


def resample_mean_area(reads: Reads, batch: Batch, draws: Draws) -> Array | None:
    """The area of two classes, or the mean over classes against the rest, in every replicate; None where each is to be
    read by itself."""
    found = reads.areas(batch, draws) if isinstance(reads, ScoresOf) else [None]
    areas = [held for held in found if held is not None]
    return np.mean(areas, axis=0) if len(areas) == len(found) else None


class Gini(RankMetric):
    """The area under the ROC curve on a scale where chance is 0: twice the area, less 1.

    >>> gini([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    0.5
    """

    display = "Gini coefficient"
    aliases = {"somers_d": {}}
    range = (-1.0, 1.0)
    symmetric_columns = True
    formula = "2 auc − 1"
    baselines = ("constant",)
    reading = "1 is perfect, 0 is random, −1 is reversed."
    landmarks = ((0.0, "random guessing"), (-1.0, "every pair in the wrong order"))
    related = ("ks",)
    when_undefined = "All rows are of one class."
    pitfalls = ("It is not the Gini impurity of a tree, nor the coefficient of inequality.",)
    samples = (*RankMetric.samples, {"bounded": 16})

    bounded: int | None = bin_count()

    def from_rank_sums(self, sums: RankSums) -> float | Undefined:
        return ONE_CLASS if sums.area is None else 2.0 * sums.area - 1.0

    def replicate_values(self, reads: Reads, batch: Batch, draws: Draws) -> Array | None:
        plain = self.average == "macro" or batch.prediction_columns < 3
        areas = resample_mean_area(reads, batch, draws) if plain else None
        return None if areas is None else 2.0 * areas - 1.0

    def paired_rows(self, batch: Batch, target: Target) -> Placements | None:
        return None if self.bounded is not None or batch.prediction_columns > 2 else read_placements(batch, target, 2.0)

    def analytic_interval(self, state: Any, level: float) -> Interval | NoInterval | None:
        found = area_interval(state, level) if self.bounded is None else None
        if not isinstance(found, Interval):
            return found
        return found._replace(lo=2.0 * found.lo - 1.0, hi=2.0 * found.hi - 1.0)

    def from_bins(self, negative: list[int], positive: list[int], *, exact: bool) -> Bounds | Undefined:
        found = area_of_bins(negative, positive, exact=exact)
        return found if isinstance(found, Undefined) else Bounds(*(2.0 * area - 1.0 for area in found))


auc = Auc()
gini = Gini()
