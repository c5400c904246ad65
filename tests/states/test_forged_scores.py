"""Forged bytes of states of scores are clear errors."""

from __future__ import annotations

import numpy as np
import pytest
from tests.states.round_trip import refuse_odd_fields
from tests.states.score_states import INFINITY, NAN, STATES
from tests.typed_arrays import reals, wholes

import tallymark as tm
from tallymark.states.base import State
from tallymark.states.scores.scores import Scores
from tallymark.states.serialization import pack

ONE = 1 << 1074
A, B = [reals(0.1), None, None], [reals(0.2, 0.3), None, None]
RUNS = [
    [reals(0.3, 0.2), None, None],
    [reals(0.2, 0.2), None, None],
    [reals(-0.0, 0.3), None, None],
    [reals(0.2, NAN), None, None],
    [reals(0.2, INFINITY), None, None],
    [reals(0.2, 0.3), reals(1.0, 1.0), None],
    [reals(0.2, 0.3), reals(1.0, -1.0), None],
    [reals(0.2, 0.3), reals(2.0, 0.0), None],
    [reals(0.2, 0.3), reals(2.0, NAN), None],
    [reals(0.2, 0.3), reals(2.0, INFINITY), None],
    [reals(0.2, 0.3), reals(2.0), None],
    [reals(0.2, 0.2), reals(2.0, 1.0), None],
    [reals(0.2, 0.2), reals(2.0, 2.0), None],
    [reals(0.2, 0.3), None, wholes(1, 1)],
    [reals(0.2, 0.3), None, wholes(2, 0)],
    [reals(0.2, 0.3), None, wholes(3, -1)],
    [reals(0.2, 0.3), None, wholes(2)],
    [reals(0.2, 0.3), None, reals(2, 1)],
    [reals(0.2, 0.3), wholes(2, 1), None],
    [reals(0.2, 0.3), None, wholes(2**62, 2**62)],
    [reals(0.2, 0.3), None, wholes(2, 3)],
    [reals(0.2, 0.3), reals(0.5, 2.0), None],
    [wholes(1, 2), None, None],
    [reals(0.2, 0.3).astype(np.float32), None, None],
    [reals(0.2, 0.3)[:, None], None, None],
    [reals(), None, None],
    [[0.2, 0.3], None, None],
    [reals(0.2, 0.3), None],
    [None, None, None],
    None,
]


@pytest.mark.parametrize("runs", RUNS)
def test_forged_runs_are_refused(runs):
    """Scores out of order, twice, or with a sign of zero; weights and counts that no rows have."""
    good = STATES["plain"].fields()
    assert State.from_bytes(pack("Scores", {**good, "scores": [[A, B]]})) == STATES["plain"]
    with pytest.raises(tm.StateError):
        State.from_bytes(pack("Scores", {**good, "scores": [[A, runs]]}))


FACTS = {"kind": None, "classes": None, "positive": None, "normalize": False}
FORGED = {
    "plain": [
        {"n": 0},
        {"n": 2},
        {"n": -1},
        {"n": INFINITY},
        {"n": None},
        {"weight": 0},
        {"weight": 2 * ONE},
        {"weight": -3 * ONE},
        {"weight": None},
        {"columns": None},
        {"columns": [1, 0]},
        {"columns": [1, -1]},
        {"columns": [2, 1]},
        {"columns": [1, 3]},
        {"columns": [1, 10**12]},
        {"columns": [1]},
        {"labels": wholes(1, 0)},
        {"labels": wholes(0)},
        {"labels": wholes(0, 1, 2)},
        {"labels": [0, "a"]},
        {"labels": [0, 0.5]},
        {"labels": [0, NAN]},
        {"labels": [0, None]},
        {"scores": []},
        {"scores": [[A]]},
        {"scores": [[A, B], [A, B]]},
        {"scores": [[A, B, [reals(), None, None]]], "labels": wholes(0, 1, 2)},
        {"scores": [[A, B, A]], "labels": wholes(0, 1, 2), "n": 4, "weight": 4 * ONE},
        {"target": {**FACTS, "classes": [0, 1, 2]}},
        {"target": {**FACTS, "classes": [1, 2]}},
        {"target": {**FACTS, "classes": ["a", "b"]}},
        {"target": {**FACTS, "kind": "guess"}},
    ],
    "none": [{"n": 1}, {"weight": ONE}, {"columns": [1, 1]}, {"labels": wholes(0)}, {"scores": [[A]]}],
    "two columns": [{"target": FACTS, "labels": wholes(0)}, {"target": {**FACTS, "classes": [0, 1, 2]}}],
    "a table": [
        {"target": {**FACTS, "classes": [0, 1]}},
        {"target": {**FACTS, "classes": [0, 1, 2, 3]}},
        {"columns": [1, 2]},
        {"columns": [1, 4]},
    ],
    "bins": [
        {"most": 1},
        {"most": 3},
        {"most": -1},
        {"most": None},
        {"n": 0},
        {"n": -1},
        {"weight": ONE},
        {"weight": 0},
        {"columns": None},
        {"columns": [1, 0]},
        {"columns": [2, 1]},
        {"columns": [1, 3]},
        {"binned": []},
        {"target": {**FACTS, "classes": [1, 2]}},
        {"target": {**FACTS, "classes": [0, 1, 2]}},
    ],
    "no bins": [{"n": 1}, {"weight": 1}, {"columns": [1, 1]}, {"most": 1}],
}


@pytest.mark.parametrize(("name", "change"), [(name, change) for name, all_ in FORGED.items() for change in all_])
def test_forged_states_are_refused(name, change):
    """Rows, weights, labels, columns and classes that do not fit each other."""
    state = STATES[name]
    with pytest.raises(tm.StateError):
        State.from_bytes(pack(type(state).__name__, {**state.fields(), **change}))


def test_columns_of_a_table_hold_the_same_rows():
    """A row has a score in every column, so the weight of a class is the same in all."""
    fields = STATES["a table"].fields()
    moved = [list(column) for column in fields["scores"]]
    moved[1] = [moved[1][1], moved[1][0], moved[1][2]]
    with pytest.raises(tm.StateError, match="do not add up"):
        State.from_bytes(pack("Scores", {**fields, "scores": moved}))
    fields = STATES["bins of a table"].fields()
    first = list(fields["binned"][0])
    first[3] = [first[3][1], first[3][0], first[3][2]]
    with pytest.raises(tm.StateError, match="different classes"):
        State.from_bytes(pack("BoundedScores", {**fields, "binned": [first, *fields["binned"][1:]]}))


def raw(*rows):
    return np.array(rows, np.uint8).reshape(len(rows), -1)


GOOD = [64, wholes(1, 2), wholes(0, 1), [raw([1], [2]), raw([0], [1])], 0]
BINS = [
    (0, 65),
    (0, 0),
    (0, -1),
    (0, 2.0),
    (0, 1),
    (1, wholes(2, 1)),
    (1, wholes(1, 1)),
    (1, wholes(1, 2, 3)),
    (1, wholes(1)),
    (1, wholes()),
    (1, reals(1, 2)),
    (1, wholes(1, 2)[:, None]),
    (1, [1, 2]),
    (2, wholes(1, 0)),
    (2, wholes(0)),
    (2, wholes()),
    (2, [0, "a"]),
    (2, [0, 0.5]),
    (2, wholes(0, 1, 2)),
    (3, [raw([1], [2])]),
    (3, [raw([1], [2]), raw([0], [0])]),
    (3, [raw([1], [0]), raw([1], [0])]),
    (3, [raw([2], [2]), raw([0], [4])]),
    (3, [raw([1], [2]), raw([1])]),
    (3, [wholes(1, 2), wholes(0, 1)]),
    (3, []),
    (3, None),
    (4, 1),
    (4, -1075),
    (4, 10**9),
    (4, 0.5),
    (4, None),
]


@pytest.mark.parametrize(("place", "odd"), BINS)
def test_forged_bins_are_refused(place, odd):
    """Out of order, of more bits than they have, without weight, or in other units than the largest."""
    fields = {**STATES["bins"].fields(), "n": 4, "weight": 4 * ONE}
    state = State.from_bytes(pack("BoundedScores", {**fields, "binned": [GOOD]}))
    assert tm.Auc(bounded=4).answer(state).value == pytest.approx(2 / 3)
    forged = [odd if k == place else part for k, part in enumerate(GOOD)]
    with pytest.raises(tm.StateError):
        State.from_bytes(pack("BoundedScores", {**fields, "binned": [forged]}))


def test_bins_without_labels_are_refused():
    """Nor is there a label without bins."""
    fields = {**STATES["bins of weight zero"].fields()}
    for bins, labels, weights in ((wholes(1), wholes(), []), (wholes(), wholes(0), [np.zeros((0, 1), np.uint8)])):
        with pytest.raises(tm.StateError):
            State.from_bytes(pack("BoundedScores", {**fields, "binned": [[64, bins, labels, weights, 0]]}))


@pytest.mark.parametrize("name", STATES)
def test_a_field_that_is_gone_or_of_another_type_is_refused(name):
    """Each in turn; nothing but our own error, and no state that cannot be read."""
    refuse_odd_fields(STATES[name], read)


def read(state):
    """Whatever a metric reads; only errors of ours may come of it."""
    assert State.from_bytes(state.to_bytes()) == state
    assert (state + state).n == 2 * state.n
    names = ["auc", "average_precision", "ks"] + ["auc(max_fpr=0.5)", "pr_auc"] * isinstance(state, Scores)
    for name in names:
        metric = tm.metric(name) if isinstance(state, Scores) else tm.metric(name, bounded=state.reads.most)
        try:
            metric.answer(state)
        except tm.TallymarkError:
            continue


@pytest.mark.parametrize("name", ["weighted", "a table", "weighted bins", "bins of a table"])
def test_damaged_bytes_are_refused(name):
    """One bit anywhere, or an end that is missing."""
    data = STATES[name].to_bytes()
    for place in range(0, len(data), 7):
        damaged = bytearray(data)
        damaged[place] ^= 1 << place % 8
        with pytest.raises(tm.StateError):
            State.from_bytes(bytes(damaged))
        with pytest.raises(tm.StateError):
            State.from_bytes(data[:place])
