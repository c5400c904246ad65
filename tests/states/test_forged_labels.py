"""Forged bytes of states of labels are clear errors."""

from __future__ import annotations

import hashlib
import json

import numpy as np
import pytest
from tests.states.label_states import STATES
from tests.states.round_trip import refuse_odd_fields
from tests.typed_arrays import wholes

import tallymark as tm
from tallymark.data.batch import Batch
from tallymark.data.target import Target
from tallymark.states.base import State
from tallymark.states.labels.indicators import Indicators
from tallymark.states.labels.pairs import Pairs, PairsOf
from tallymark.states.serialization import pack

INFINITY, NAN = float("inf"), float("nan")
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
    for shape in ([10**30], [-1, 10**30], [2**62, 4], [10**18], [-5], "x", [1.5]):
        fields = {"chunks": [[{"~array": 0, "dtype": "<f8", "shape": shape}] * 4]}
        text = json.dumps({"type": "Points", "fields": fields, "buffers": [16]}).encode()
        body = b"TMST\x01\x00\x00\x00" + len(text).to_bytes(8, "little") + text + bytes(16)
        with pytest.raises(tm.StateError):
            State.from_bytes(body + hashlib.sha256(body).digest())


def test_what_stands_for_no_prediction_must_be_a_text():
    """Forged bytes are refused."""
    state = PairsOf(Target("label", unanswered="-")).fold(Batch(["A", "B"], ["A", "-"]))
    fields = state.fields()
    with pytest.raises(tm.StateError):
        State.from_bytes(pack("Pairs", {**fields, "target": {**fields["target"], "unanswered": 5}}))
