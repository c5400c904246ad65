"""The spread of areas under ROC curves, by the placements of each class among the other (DeLong et al. 1988)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from tallymark.states.base import divide
from tallymark.states.scores.runs import PlacementSums


class Spread(NamedTuple):
    """The variance of an area, or of a difference of two, and the degrees of freedom that it is known with."""

    variance: float
    freedom: float


def area_spread(places: PlacementSums) -> Spread:
    """The spread of the area of two classes with two rows or more each."""
    negatives, positives, wins, of_negatives, of_positives = places
    return join_spreads(
        [
            (_variance(positives, negatives, wins, of_positives), positives),
            (_variance(negatives, positives, wins, of_negatives), negatives),
        ]
    )


def _variance(rows: int, others: int, total: int, squares: int) -> float:
    """The variance over the rows of a class of the share of the others on one side of them, from the total of twice
    those rows and their squares: a fraction of whole numbers."""
    return divide(rows * squares - total * total, rows * (rows - 1) * (2 * others) ** 2)


def join_spreads(classes: Sequence[tuple[float, int]]) -> Spread:
    """The spread of a sum of means, given by the variance and the number of rows of each. The degrees of freedom are
    those of Welch, as Brunner and Munzel (2000) have them for ranks: few rows of one class do not know their variance
    well."""
    parts = [variance / rows for variance, rows in classes]
    unsure = sum(part * part / (rows - 1) for part, (_, rows) in zip(parts, classes, strict=True))
    return Spread(sum(parts), sum(parts) ** 2 / unsure if unsure else 1.0)
