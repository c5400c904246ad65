"""States of labels: they survive their bytes, and unite their labels when they add."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest
from tests.states.label_states import STATES, pairs
from tests.states.round_trip import survive_bytes

import tallymark as tm
from tallymark.data.batch import Batch
from tallymark.data.target import Target
from tallymark.states.base import State
from tallymark.states.labels.indicators import Indicators
from tallymark.states.labels.pairs import Pairs, PairsOf
from tallymark.states.points import PointsOf
from tallymark.states.sums import SizeOf


@pytest.mark.parametrize("name", STATES)
def test_states_of_labels_survive_their_bytes(name):
    """The state, its bytes and what it adds up to."""
    survive_bytes(STATES[name])


def test_adding_unites_the_labels():
    """Of either side, in order, whichever came first."""
    left, right = pairs(["b", "d"], ["x", "d"]), pairs(["a", "d"], ["d", "y"])
    whole = pairs(["b", "d", "a", "d"], ["x", "d", "d", "y"])
    assert (left + right) == whole == (right + left)
    assert whole.labels == (["a", "b", "d"], ["d", "x", "y"])
    assert tm.Accuracy().answer(left + right).value == 0.25


def test_old_and_new_labels_unite_within_the_classes():
    """A class that no row has is still one; a label that is none of them is refused in any piece."""
    tally = tm.Tally(["recall(average='macro', absent=0.0)", "confusion_matrix"], classes=["c", "b", "a"])
    tally.update(["a"], ["a"]).update(["b", "a"], ["a", "b"])
    assert tally.report()["confusion_matrix"].classes == ["c", "b", "a"]
    assert tally.report()["recall(average='macro', absent=0.0)"] == 0.5 / 3
    with pytest.raises(tm.DomainError, match="'z'"):
        tally.update(["z"], ["a"])
    assert tally.n == 3
    assert tm.Tally.from_bytes(tally.to_bytes()).report()["confusion_matrix"].classes == ["c", "b", "a"]


def test_numbers_and_texts_do_not_add():
    """Nor on one side of clusters; but each side of clusters has its own type."""
    with pytest.raises(tm.StateError, match="numbers and strings"):
        pairs([1], [1]) + pairs(["a"], ["a"])
    clusters = pairs([1], ["a"], clusters=True) + pairs([0.5], ["b"], clusters=True)
    assert clusters.labels == ([0.5, 1], ["a", "b"])
    with pytest.raises(tm.StateError, match="numbers and strings"):
        clusters + pairs(["a"], ["a"], clusters=True)
    with pytest.raises(tm.StateError, match="numbers and strings"):
        STATES["points"] + PointsOf().fold(Batch([[1.0, 2.0]], [1]))
    with pytest.raises(tm.StateError, match="numbers and strings"):
        tm.Tally(["silhouette"]).update([[1.0]], [1]).update([[1.0]], ["a"])


def test_labels_and_probabilities_do_not_add():
    """Nor states of other targets, tables or widths."""
    with pytest.raises(tm.StateError, match="some are labels, others probabilities"):
        pairs([0, 1], [0, 1]) + pairs([0, 1], [0.5, 0.5])
    with pytest.raises(tm.StateError, match="same target"):
        pairs([0, 1], [0, 1]) + pairs([0, 1], [0, 1], positive=0)
    with pytest.raises(tm.StateError):
        STATES["indicators"] + pairs([0, 1], [0, 1])
    with pytest.raises(tm.StateError):
        pairs([0, 1], [0, 1]) + STATES["indicators"]
    for other in (1, None, "x"):
        with pytest.raises(TypeError):
            STATES["texts"] + other


def test_bytes_do_not_depend_on_the_order_of_merging():
    """Nor on how the rows were cut, which pieces are empty, or which are weighted."""
    rng = np.random.default_rng(5)
    y, p = rng.choice(["a", "bb", "ccc", "dddd"], 60), rng.choice(["a", "bb", "ccc", "e"], 60)
    for weights in (None, 10.0 ** rng.uniform(-300, 300, 60), rng.integers(0, 3, 60).astype(float)):
        whole = pairs(y, p, weights)
        for seed in range(6):
            order = rng.permutation(60)
            cuts = [0, *sorted(rng.integers(0, 60, 4)), 60]
            pieces = [PairsOf().zero()]
            for a, b in itertools.pairwise(cuts):
                rows = order[a:b]
                pieces.append(pairs(y[rows], p[rows], None if weights is None else weights[rows]))
            random.Random(seed).shuffle(pieces)
            while len(pieces) > 1:
                left = pieces.pop(seed % len(pieces))
                pieces[-1] = State.from_bytes((left + pieces[-1]).to_bytes())
            assert pieces[0].to_bytes() == whole.to_bytes()


def test_weighted_and_unweighted_states_add():
    """A row without a weight weighs 1."""
    mixed = pairs(["a", "b"], ["a", "a"]) + pairs(["a", "b"], ["b", "b"], [0.5, 3.0])
    whole = pairs(["a", "b", "a", "b"], ["a", "a", "b", "b"], [1.0, 1.0, 0.5, 3.0])
    assert mixed == whole
    assert mixed == pairs(["a", "b"], ["b", "b"], [0.5, 3.0]) + pairs(["a", "b"], ["a", "a"])
    assert tm.Accuracy().answer(mixed).value == 4 / 5.5
    assert pairs([1], [1]) + pairs([1], [1], [2.0**1000]) == pairs([1, 1], [1, 1], [1.0, 2.0**1000])
    nothing = pairs([5], [6], [0.0])
    assert (nothing + pairs([1], [1])).labels == ([1], [1])
    assert (nothing + nothing).n == 2


def test_empty_pieces_change_nothing():
    """A tally that saw none, and one that dropped all of its rows."""
    tally = tm.Tally(["accuracy"], missing="drop").update(["a", "b"], ["a", "a"])
    before = tally.to_bytes()
    tally.update([], [])
    assert tally.to_bytes() == before
    empty = tm.Tally(["accuracy"], missing="drop").update([None], ["a"])
    assert empty.dropped == 1
    assert (empty + tally).report()["accuracy"] == (tally + empty).report()["accuracy"] == 0.5
    for state in STATES.values():
        if isinstance(state, (Pairs, Indicators)):
            zero = state.reads.zero()
            assert zero + state == state == state + zero


def test_the_size_of_rows_that_nothing_reads():
    """Where every metric fails, the report still counts rows and weight; the state adds and travels as bytes."""
    report = tm.evaluate(["a", "b"], ["a", "b"], ["rmse"], weights=[1, 0.5], errors="report")
    assert (report.n, report.total_weight) == (2, 1.5)
    reads = SizeOf()
    state = reads.fold(Batch(["a", "b"], ["a", "b"], [1, 0.5]))
    both = state + reads.zero() + state
    assert both.n == 4
    assert both.columns == (1, 1)
    assert tm.extend.State.from_bytes(both.to_bytes()) == both
    assert reads.join(reads) == reads
    assert reads.zero().columns is None
    with pytest.raises(tm.StateError):
        tm.extend.State.restore("Size", {"columns": None, "n": 3, "weight": 0})


@pytest.mark.parametrize("classes", [None, ["A", "B", "C"]], ids=str)
def test_rows_without_a_prediction_count_for_their_true_class_and_are_no_class(classes):
    """In one piece and in several, and after a way through bytes."""
    reads = PairsOf(Target("label", classes=classes, unanswered="-"))
    rows = [("A", "A"), ("A", "B"), ("A", "-"), ("B", "B"), ("B", "-"), ("B", "-")]
    whole = reads.fold(Batch(*map(list, zip(*rows, strict=True))))
    pieces = [reads.fold(Batch([truth], [said])) for truth, said in rows]
    added = sum(pieces, reads.zero())
    assert added == whole
    survive_bytes(whole)
    counts = whole.counts()
    assert list(counts.classes) == (classes or ["A", "B"])
    assert [counts.truth[:2], counts.predicted[:2], counts.hits[:2]] == [[3, 3], [1, 2], [1, 1]]
    assert (counts.total, counts.right) == (6, 2)
    assert tm.extend.State.from_bytes(whole.to_bytes()).counts().predicted == counts.predicted
