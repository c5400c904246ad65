"""What single rows say, for a test of two models on the same rows: which ones are right, and where scores stand."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tallymark.data.arrays import Array
from tallymark.data.batch import Batch
from tallymark.data.labels import Label
from tallymark.data.target import Target
from tallymark.errors import InputError
from tallymark.states.labels.counts import POSITIVE, find_positive, name_decisions
from tallymark.states.labels.encoding import CountedPairs, Labels, count_label_pairs, encode_labels
from tallymark.states.labels.pairs import PairsOf
from tallymark.states.scores.scores import positive_column, read_scores


class PairedOutcomes(NamedTuple):
    """Whether each row counts, where a value is `scale` times the share of rows that do."""

    counts: Array
    scale: float = 1.0


class RowCells(NamedTuple):
    """The labels of truth and prediction, the pairs of their places that occur, how many rows each has, and which of
    the pairs every row is."""

    labels: Labels
    cells: tuple[Array, Array]
    counts: Array
    rows: Array


class Placements(NamedTuple):
    """For each positive row, twice the number of negative ones below it, and for each negative row, twice that of
    positive ones above it; ties are half below and half above. A value is `scale` times the area that they make."""

    positive: Array
    negative: Array
    scale: float = 1.0


def read_cells(reads: PairsOf, batch: Batch) -> RowCells:
    """Which true label met which predicted one in each row."""
    labels, truth = encode_labels(batch, 0)
    names, predicted = _read_predicted(reads, batch, labels)
    found, rows, counts = np.unique(truth * len(names) + predicted, return_inverse=True, return_counts=True)
    return RowCells((labels, names), (found // len(names), found % len(names)), counts, rows)


def read_paired_outcomes(reads: PairsOf, batch: Batch, among: str, what: str) -> PairedOutcomes:
    """Of "all", "positive" or "negative" rows, whether each is "right", "wrong" or "called" positive."""
    if what == "called":
        return PairedOutcomes(_read_sides(reads, batch)[1])
    if among == "all":
        right = _read_right(reads, batch)
    else:
        truth, predicted = _read_sides(reads, batch)
        right = (truth == predicted)[truth if among == "positive" else ~truth]
    return PairedOutcomes(right if what == "right" else ~right)


def _read_right(reads: PairsOf, batch: Batch) -> Array:
    """Whether the label of each row is right."""
    labels, truth = encode_labels(batch, 0)
    names, predicted = _read_predicted(reads, batch, labels)
    index = {label: k for k, label in enumerate(labels)}
    return np.asarray(np.array([index.get(name, -1) for name in names], np.int64)[predicted] == truth)


def _read_sides(reads: PairsOf, batch: Batch) -> tuple[Array, Array]:
    """Whether each row is positive, and whether it was called so."""
    labels, truth = encode_labels(batch, 0)
    names, predicted = _read_predicted(reads, batch, labels)
    classes = reads.target.classes or sorted({*labels, *names})
    place = find_positive(classes, reads.target)
    positive = None if place is None else classes[place]
    sides = [np.array([name == positive for name in held], bool) for held in (labels, names)]
    return sides[0][truth], sides[1][predicted]


def _read_predicted(reads: PairsOf, batch: Batch, labels: list[Label]) -> tuple[list[Label], Array]:
    """The labels that were given to rows, and the place of each row's among them; `labels` are those of the truth."""
    form, classes, decision = reads.label_rule(batch)
    if decision is None:
        return encode_labels(batch, 1)
    # Counted against the numbers of the rows, the pairs are the rows, and decisions are those of every other count.
    found = count_label_pairs(np.arange(batch.n), batch.prediction, None, False, decision)
    if not isinstance(found, CountedPairs) or found.rows != batch.n:
        raise InputError("the input changed while it was being read")
    names = found.labels[1]
    if classes is not None:
        names = [classes[int(place)] for place in names]
    if form == POSITIVE:
        decisions = name_decisions(labels, reads.target)
        names = [decisions[int(place)] for place in names]
    return names, found.cells[1]


def read_placements(batch: Batch, target: Target, scale: float) -> Placements:
    """Where the scores of two classes stand among each other."""
    labels, truth = encode_labels(batch, 0)
    classes = target.classes or labels
    two = batch.prediction_columns == 2 and len(classes) == 2
    place = positive_column(classes, target) if two else find_positive(classes, target)
    positive = np.array([place is not None and label == classes[place] for label in labels], bool)[truth]
    scores = np.asarray(read_scores(batch, target), np.float64)
    above, below = scores[positive], scores[~positive]
    return Placements(_count_below(above, below), 2 * len(above) - _count_below(below, above), scale)


def _count_below(scores: Array, others: Array) -> Array:
    """Twice how many of the others lie below each score; those that tie count once."""
    others = np.sort(others)
    return np.searchsorted(others, scores, "left") + np.searchsorted(others, scores, "right")
