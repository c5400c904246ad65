"""States of labels: they unite their labels when they add, and forged bytes of them are clear errors."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest
from tests.states.round_trip import refuse_odd_fields, survive_bytes
from tests.typed_arrays import wholes

import tallymark as tm
from tallymark.batch import Batch
from tallymark.states import SizeOf, State
from tallymark.states.format import pack
from tallymark.states.indicators import Indicators
from tallymark.states.pairs import Pairs, PairsOf
from tallymark.states.points import PointsOf
from tallymark.states.ranks import RanksOf
from tallymark.target import Target

INFINITY, NAN = float("inf"), float("nan")


def pairs(y, p, weights=None, *, clusters=False, **target):
    return PairsOf(Target(**target), clusters=clusters).fold(Batch(y, p, weights, whole=False))


TABLE = np.array([[1, 0], [1, 1], [0, 1]])
STATES = {
    "texts": pairs(["a", "b", "b"], ["a", "c", "b"]),
    "numbers": pairs([1, 2, 2], [1, 2**70, -3]),
    "weighted": pairs([1, 2, 2], [1, 3, 2], [0.1, 1e300, 1e-300]),
    "all of weight zero": pairs([1, 2], [1, 2], [0, 0]),
    "probabilities": pairs([0, 1, 1], [0.5, 0.2, 0.9]),
    "classes": pairs(["a", "b"], ["b", "b"], classes=["b", "a", "z"]),
    "clusters": pairs([0.5, 0.5, 3], ["x", "y", "x"], clusters=True),
    "none": PairsOf().zero(),
    "indicators": pairs(TABLE, TABLE[::-1].copy()),
    "weighted indicators": pairs(TABLE, TABLE[::-1].copy(), [0.5, 1e-300, 3.0]),
    "ranks": RanksOf(Target(classes=["a", "b", "c"])).fold(Batch(["a", "c"], np.array([[0.2, 0.3, 0.5]] * 2))),
    "no ranks": RanksOf().zero(),
    "points": PointsOf().fold(Batch([[1.0, 2.0], [3.0, 4.0]], ["a", "b"])),
    "weighted points": PointsOf().fold(Batch([[1.0], [3.0]], [0.5, 7], [0.0, 2.0])),
}


@pytest.mark.parametrize("name", STATES)
def test_states_of_labels_survive_their_bytes(name):
    """The state, its bytes and what it adds up to."""
    survive_bytes(STATES[name])


FORGED = {
    "texts": [
        {"n": -1},
        {"n": 0},
        {"n": 4},
        {"n": 10**400},
        {"n": INFINITY},
        {"n": NAN},
        {"n": "3"[:0]},
        {"n": None},
        {"form": "guess"},
        {"form": None},
        {"form": "positive"},
        {"columns": None},
        {"columns": [0, 1]},
        {"columns": [2, 1]},
        {"columns": [1, -1]},
        {"columns": [INFINITY, 1]},
        {"columns": [1]},
        {"labels": [["a"], ["a", "b", "c"]]},
        {"labels": [["a", "b"], ["a", "b", "c", "d"]]},
        {"labels": [["b", "a"], ["a", "b", "c"]]},
        {"labels": [["a", "a"], ["a", "b", "c"]]},
        {"labels": [[1, "a"], ["a", "b", "c"]]},
        {"labels": [[1, 2], ["a", "b", "c"]]},
        {"labels": [[1, 2], [1, 2.5, 3]]},
        {"labels": [[True, 2], [1, 2, 3]]},
        {"labels": [[None, None], ["a", "b", "c"]]},
        {"labels": [["a", "b"]]},
        {"labels": []},
        {"labels": None},
        {"cells": [wholes(0, 1), wholes(0, 1, 2)]},
        {"cells": [wholes(0, 1, 2), wholes(0, 1, 2)]},
        {"cells": [wholes(-1, 1, 1), wholes(0, 1, 2)]},
        {"cells": [wholes(0, 1, 1), wholes(0, 2, 1)]},
        {"cells": [wholes(0, 0, 1), wholes(0, 0, 1)]},
        {"cells": [wholes(1, 0, 1), wholes(0, 1, 2)]},
        {"cells": [wholes(0, 2**62, 1), wholes(0, 1, 2)]},
        {"cells": [np.array([0.0, 1.0, 1.0]), wholes(0, 1, 2)]},
        {"cells": [wholes(0, 1, 1)[:, None], wholes(0, 1, 2)]},
        {"cells": [wholes(0, 1, 1)]},
        {"cells": None},
        {"values": wholes(1, 1)},
        {"values": wholes(3, 1, -1)},
        {"values": wholes(3, 0, 0)},
        {"values": wholes(2**63 - 1, 2**63 - 1, 5), "n": 3},
        {"values": wholes(2**62, 2**62, 2**63 - 1), "n": -1},
        {"values": np.array([1.0, 1.0, 1.0])},
        {"values": np.ones((3, 1), np.uint8)},
        {"values": None},
        {"unit": 0},
        {"unit": "x"},
        {"threshold": "x"},
        {"threshold": None},
        {"target": None},
        {"target": {}},
        {"target": {"kind": "guess", "classes": None, "positive": None, "normalize": False}},
        {"target": {"kind": None, "classes": ["a", "b"], "positive": None, "normalize": False}},
        {"target": {"kind": None, "classes": ["a", "b", "b", "c"], "positive": None, "normalize": False}},
        {"target": {"kind": None, "classes": None, "positive": None, "normalize": 3}},
    ],
    "weighted": [
        {"unit": 10**12},
        {"unit": -(10**12)},
        {"unit": -1075},
        {"unit": INFINITY},
        {"unit": None},
        {"n": 2},
        {"n": -3},
        {"values": np.zeros((3, 0), np.uint8)},
        {"values": np.zeros((3, 4), np.uint8)},
        {"values": np.full((3, 4), 2, np.uint8)},
        {"values": np.ones((2, 4), np.uint8)},
        {"values": np.ones(3, np.uint8)},
        {"values": wholes(1, 1, 1)},
    ],
    "probabilities": [
        {"labels": [wholes(0, 1), wholes(0, 2)]},
        {"labels": [wholes(0, 1), ["a", "b"]]},
        {"labels": [wholes(0, 1), [0.5, 1]]},
    ],
    "clusters": [
        {"labels": [[NAN, 3], ["x", "y"]]},
        {"labels": [[0.5, INFINITY], ["x", "y"]]},
        {"labels": [[0.5, 3.0], ["x", "y"]]},
        {"labels": [[0.5, 0.5], ["x", "y"]]},
        {"labels": [["x", 3], ["x", "y"]]},
        {"clusters": False},
    ],
    "none": [{"n": 1}, {"columns": [1, 1]}, {"labels": [["a"], []]}, {"values": wholes(1)}],
    "indicators": [
        {"n": 0},
        {"n": -5},
        {"n": INFINITY},
        {"columns": [2, 3]},
        {"columns": [3, 3]},
        {"columns": None},
        {"labels": []},
        {"labels": [[0, 0, 0]]},
        {"labels": [[0, 0], [0, 0]]},
        {"labels": [[-1, 0, 0], [0, 0, 0]]},
        {"labels": [[1, 0, 0], [0, 0, 0]]},
        {"labels": [[0, 2**2000, 0], [0, 0, 0]]},
        {"labels": [[0, NAN, 0], [0, 0, 0]]},
        {"right": -1},
        {"right": 2**2000},
        {"total": 0},
        {"total": -1},
        {"total": None},
        {"target": {"kind": None, "classes": ["a", "b", "c"], "positive": None, "normalize": False}},
    ],
    "ranks": [
        {"n": 0},
        {"n": -1},
        {"n": INFINITY},
        {"columns": [1, 2]},
        {"columns": [1, 10**12]},
        {"columns": [2, 3]},
        {"columns": None},
        {"weights": []},
        {"weights": [1, 1]},
        {"weights": [1, -1, 1]},
        {"weights": [1, INFINITY, 1]},
        {"weights": [1, None, 1]},
        {"weights": 5},
        {"weights": [1], "columns": [1, 1]},
        {"weights": [1, 1], "columns": [1, 2]},
    ],
}


@pytest.mark.parametrize(("name", "change"), [(name, change) for name, all_ in FORGED.items() for change in all_])
def test_forged_states_are_refused(name, change):
    """Counts that are negative or do not add up, places out of range, labels out of order, lengths and sizes."""
    state = STATES[name]
    with pytest.raises(tm.StateError):
        State.from_bytes(pack(type(state).__name__, {**state.fields(), **change}))


@pytest.mark.parametrize("name", STATES)
def test_a_field_that_is_gone_or_of_another_type_is_refused(name):
    """Each in turn; nothing but our own error, and no state that cannot be read."""
    refuse_odd_fields(STATES[name], read)


def read(state):
    """Whatever a metric reads; only errors of ours may come of it."""
    assert State.from_bytes(state.to_bytes()) == state
    assert state.weight >= 0
    assert (state + state).n == 2 * state.n
    try:
        if isinstance(state, (Pairs, Indicators)) and not state.reads.clusters:
            state.counts()
    except tm.TallymarkError:
        pass


A, B = np.array([[1.0], [2.0]]), wholes(0, 1)


@pytest.mark.parametrize(
    "chunk",
    [
        [A, ["a", "b"], wholes(0, 2), None],
        [A, ["a", "b"], wholes(0, -1), None],
        [A, ["a", "b"], wholes(0, 0), None],
        [A, ["a", "b"], wholes(0), None],
        [A, ["a", "b"], B.astype(float), None],
        [A, ["a", "b"], B[:, None], None],
        [A, ["b", "a"], B, None],
        [A, ["a", 1], B, None],
        [A, [0.5, NAN], B, None],
        [A, [1.0, 2.5], B, None],
        [A, 5, B, None],
        [A[:, 0], ["a", "b"], B, None],
        [A.astype(np.int64), ["a", "b"], B, None],
        [A * NAN, ["a", "b"], B, None],
        [A[:, :0], ["a", "b"], B, None],
        [A[:0], [], B[:0], None],
        [np.array(1.0), ["a", "b"], B, None],
        [A, ["a", "b"], B, np.array([1.0])],
        [A, ["a", "b"], B, np.array([1.0, -1.0])],
        [A, ["a", "b"], B, np.array([1.0, NAN])],
        [A, ["a", "b"], B, np.array([[1.0], [1.0]])],
        [A, ["a", "b"], B, wholes(1, 1)],
        [A, ["a", "b"], B, [1.0, 1.0]],
        [A, ["a", "b"], B],
        None,
    ],
)
def test_forged_points_are_refused(chunk):
    """Alone, and after a chunk that is right."""
    good = [A, ["a", "b"], B, None]
    for chunks in ([chunk], [good, chunk]):
        with pytest.raises(tm.StateError):
            State.from_bytes(pack("Points", {"chunks": chunks}))
    for other in ([np.ones((2, 2)), ["a", "b"], B, None], [A, wholes(1, 2), B, None]):
        with pytest.raises(tm.StateError):
            State.from_bytes(pack("Points", {"chunks": [good, other]}))


def test_shapes_and_lengths_beyond_all_memory_are_refused():
    """They are found out before anything is made of that size."""
    import hashlib
    import json

    for shape in ([10**30], [-1, 10**30], [2**62, 4], [10**18], [-5], "x", [1.5]):
        fields = {"chunks": [[{"~array": 0, "dtype": "<f8", "shape": shape}] * 4]}
        text = json.dumps({"type": "Points", "fields": fields, "buffers": [16]}).encode()
        body = b"TMST\x01\x00\x00\x00" + len(text).to_bytes(8, "little") + text + bytes(16)
        with pytest.raises(tm.StateError):
            State.from_bytes(body + hashlib.sha256(body).digest())


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
    with pytest.raises(tm.StateError, match="some held labels, others probabilities"):
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
    report = tm.evaluate(["a", "b"], ["a", "b"], ["rmse"], weights=[1, 0.5])
    assert (report.n, report.total_weight) == (2, 1.5)
    reads = SizeOf()
    state = reads.fold(Batch(["a", "b"], ["a", "b"], [1, 0.5]))
    both = state + reads.zero() + state
    assert both.n == 4
    assert both.columns == (1, 1)
    assert tm.State.from_bytes(both.to_bytes()) == both
    assert reads.join(reads) == reads
    assert reads.zero().columns is None
    with pytest.raises(tm.StateError):
        tm.State.restore("Size", {"columns": None, "n": 3, "weight": 0})


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
    assert tm.State.from_bytes(whole.to_bytes()).counts().predicted == counts.predicted


def test_what_stands_for_no_prediction_must_be_a_text():
    """Forged bytes are refused."""
    state = PairsOf(Target("label", unanswered="-")).fold(Batch(["A", "B"], ["A", "-"]))
    fields = state.fields()
    with pytest.raises(tm.StateError):
        State.from_bytes(pack("Pairs", {**fields, "target": {**fields["target"], "unanswered": 5}}))
