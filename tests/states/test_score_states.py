"""States of scores: what they add up to, forged bytes of them, and calls of the core that are out to break it."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from tests.states.forged import refuse_odd_fields

import tallymark as tm
from tallymark import _core
from tallymark.batch import Batch
from tallymark.labels import normal_label
from tallymark.states import State
from tallymark.states.bounded import BoundedScoresOf
from tallymark.states.format import pack
from tallymark.states.scores import Scores, ScoresOf
from tallymark.target import Target

INFINITY, NAN = float("inf"), float("nan")
TABLE = np.array([[0.5, 0.3, 0.2], [0.2, 0.6, 0.2], [0.1, 0.2, 0.7], [0.2, 0.6, 0.2]])


def scores(y, p, weights=None, **target):
    return ScoresOf(Target(**target)).fold(Batch(y, p, weights, whole="classes" not in target))


def bounded(y, p, weights=None, most=4, **target):
    return BoundedScoresOf(Target(**target), most).fold(Batch(y, p, weights, whole="classes" not in target))


STATES = {
    "plain": scores([0, 1, 1], [0.1, 0.2, 0.3]),
    "ties": scores([0, 1, 1, 0], [0.1, 0.2, 0.2, 0.1]),
    "weighted": scores([0, 1, 1, 0], [0.1, 0.2, 0.2, 0.1], [1.0, 2.0, 3.0, 0.5]),
    "weighted ties": scores([0, 1, 1, 0], [0.1, 0.2, 0.2, 0.1], [1.0, 2.0, 2.0, 0.5]),
    "one class": scores([1, 1], [0.1, 0.2]),
    "all of weight zero": scores([0, 1], [0.1, 0.2], [0.0, 0.0]),
    "texts": scores(["a", "b", "b"], [0.1, 0.2, 0.3], positive="b"),
    "two columns": scores([0, 1, 1], [[0.9, 0.1], [0.8, 0.2], [0.7, 0.3]], classes=[1, 0]),
    "a table": scores([0, 1, 2, 1], TABLE, [1.0, 2.0, 0.1, 1.0], classes=[0, 2, 1]),
    "an absent class": scores([0, 1], TABLE[:2], classes=[0, 2, 1]),
    "none": ScoresOf().zero(),
    "bins": bounded([0, 1, 1, 0, 1, 0], [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]),
    "exact bins": bounded([0, 1, 1], [0.1, 0.2, 0.3]),
    "weighted bins": bounded([0, 1, 1], [0.1, 0.2, 0.3], [0.1, 1e300, 1e-300]),
    "bins of weight zero": bounded([0, 1], [0.1, 0.2], [0.0, 0.0]),
    "bins of texts": bounded(["a", "b", "b"], [0.1, 0.2, 0.3], positive="b"),
    "bins of a table": bounded([0, 1, 2, 1], TABLE, classes=[0, 2, 1]),
    "no bins": BoundedScoresOf().zero(),
}


@pytest.mark.parametrize("name", STATES)
def test_states_of_scores_survive_their_bytes(name):
    """The state, its bytes and what it adds up to."""
    state = STATES[name]
    back = State.from_bytes(state.to_bytes())
    assert type(back) is type(state)
    assert back == state
    assert (back.n, back.weight, back.columns, back.reads) == (state.n, state.weight, state.columns, state.reads)
    assert (back + state).to_bytes() == (state + state).to_bytes()
    assert state + state.reads.zero() == state == state.reads.zero() + state


def test_bytes_do_not_depend_on_how_rows_came():
    """Nor on the sizes of the pieces, their order, or which were stored on the way."""
    rng = np.random.default_rng(1)
    y, p = rng.integers(0, 2, 300), np.round(rng.normal(0, 1, 300), 1)
    for w in (None, rng.choice([0.0, 0.1, 1.0, 1e300], 300)):
        whole = scores(y, p, w)
        for _ in range(5):
            order, cuts = rng.permutation(300), [0, *sorted(rng.integers(0, 300, 9)), 300]
            pieces = [ScoresOf().zero()]
            for a, b in itertools.pairwise(cuts):
                rows = order[a:b]
                pieces.append(scores(y[rows], p[rows], None if w is None else w[rows]))
            while len(pieces) > 1:
                left = pieces.pop(int(rng.integers(len(pieces))))
                k = int(rng.integers(len(pieces)))
                pieces[k] = left + pieces[k]
                if rng.random() < 0.3:
                    pieces[k] = State.from_bytes(pieces[k].to_bytes())
            assert pieces[0].to_bytes() == whole.to_bytes()


def reals(*items):
    return np.array(items, np.float64)


def wholes(*items):
    return np.array(items, np.int64)


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


@pytest.mark.parametrize("make", [scores, bounded])
def test_what_does_not_add(make):
    """Numbers and strings, other targets, widths or classes of columns."""
    one = make([0, 1], [0.1, 0.2])
    with pytest.raises(tm.StateError, match="numbers and strings"):
        make([0, 1], TABLE[:2, :2]) + make(["a", "b"], TABLE[:2, :2])
    with pytest.raises(tm.StateError, match="same target"):
        one + make([0, 1], [0.1, 0.2], positive=0)
    with pytest.raises(tm.StateError, match="same width"):
        one + make([0, 1], [[0.1, 0.9], [0.2, 0.8]])
    with pytest.raises(tm.StateError, match="same classes"):
        make([0, 1, 2], TABLE[:3]) + make([0, 1, 5], TABLE[:3])
    for other in (1, None, "x", STATES["none"] if make is bounded else STATES["no bins"]):
        with pytest.raises(TypeError):
            one + other
    with pytest.raises(tm.StateError):
        bounded([0, 1], [0.1, 0.2], most=4) + bounded([0, 1], [0.1, 0.2], most=5)


REFUSALS = (TypeError, ValueError, RuntimeError, AttributeError)
RUN = (reals(0.1, 0.2), None, None)
BAD_RUNS = [
    None,
    5,
    "abc",
    (),
    (reals(0.1),),
    [reals(0.1), None, None],
    (None, None, None),
    ([0.1], None, None),
    (wholes(1, 2), None, None),
    (reals(1, 2).astype(np.float32), None, None),
    (reals(1, 2, 3)[::2], None, None),
    (reals(1, 2).astype(">f8"), None, None),
    (np.ones((2, 2)), None, None),
    (np.float64(3.0), None, None),
    (reals(1, 2), reals(1), None),
    (reals(1, 2), wholes(1, 2), None),
    (reals(1, 2), None, wholes(1)),
    (reals(1, 2), None, reals(1, 1)),
    (reals(1, 2), None, wholes(1, 1).astype(np.int32)),
    (reals(1, 2), 5, None),
]
ODD_RUNS = [
    (reals(2, 1), None, None),
    (reals(NAN), None, None),
    (reals(0.1, NAN, 0.2), None, None),
    (reals(-INFINITY, 1), None, None),
    (reals(1, INFINITY), None, None),
    (reals(1, 2), None, wholes(-1, 2)),
    (reals(1, 2), None, wholes(0, 1)),
    (reals(1, 2), None, wholes(2**63 - 1, 2**63 - 1)),
    (reals(1, 2), None, wholes(-(2**63), 1)),
    (reals(1, 2), reals(NAN, 1), None),
    (reals(1, 2), reals(-1, 1), None),
    (reals(1, 2), reals(INFINITY, 1), None),
    (reals(1, 2), reals(0, 1), None),
]


@pytest.mark.parametrize("place", range(len(BAD_RUNS) + len(ODD_RUNS)))
def test_walks_refuse_what_are_no_runs(place):
    """Other types, lengths, orders and numbers raise; nothing hangs or crashes, on either side."""
    bad = (*BAD_RUNS, *ODD_RUNS)[place]
    for sides in ((bad, RUN), (RUN, bad), (bad, bad)):
        with pytest.raises(REFUSALS):
            _core.rank_sums(*sides, True, True, True)
        with pytest.raises(REFUSALS):
            _core.score_steps(*sides)
        with pytest.raises(REFUSALS):
            _core.curve_points("lift", *sides, False)
        if place < len(BAD_RUNS):
            with pytest.raises(REFUSALS):
                _core.merge_runs(*sides)
        else:  # merging only has to end
            assert len(_core.merge_runs(*sides)[0]) <= 6


def test_walks_over_nothing():
    """No rows of a class, or of either."""
    empty = (reals(), None, None)
    assert _core.rank_sums(empty, empty, True, True, True)[:4] == (0, 0, 0, 0)
    assert [len(part) for part in _core.score_steps(empty, empty)[:3]] == [0, 0, 0]
    for curve in ("roc", "precision_recall", "det", "lift"):
        assert _core.curve_points(curve, empty, empty, True)[0].tolist() == [INFINITY]
        assert _core.curve_points(curve, empty, RUN, False)[0].tolist() == [INFINITY, 0.2, 0.1]
    with pytest.raises(ValueError, match="no such curve"):
        _core.curve_points("bend", RUN, RUN, False)
    with pytest.raises(ValueError, match="no weights"):
        _core.curve_points("roc", RUN, (reals(1), reals(0.5), None), False)
    assert _core.rank_sums(empty, RUN, True, True, True)[:3] == (2, 0, 0)
    assert _core.merge_runs(empty, RUN)[0].tolist() == [0.1, 0.2]


@pytest.mark.parametrize(
    "args",
    [
        (np.array([0, 1]), reals(0.1), None),
        (np.array([0, 1]), np.ones((2, 2)), None),
        (np.array([0, 1]), reals(0.1, 0.2), reals(1.0)),
        (np.array([0, 1]), reals(0.1, 0.2), np.ones((2, 2))),
        (np.array([0, 1]), None, None),
        (np.array([0, 1]), np.array(["a", "b"]), None),
        (np.array([0, 1]), reals(0.1, 0.2), "ab"),
        (None, reals(0.1, 0.2), None),
        (5, reals(0.1, 0.2), None),
        (np.array([0, 1], "M8[s]"), reals(0.1, 0.2), None),
    ],
)
def test_sorting_refuses_what_are_no_rows(args):
    """Lengths that differ, tables, and things that are no arrays."""
    with pytest.raises(REFUSALS):
        _core.sort_scores(*args, normal_label)


@pytest.mark.parametrize(
    "args",
    [
        (wholes(0, 1), 1, np.ones((2, 3)), None),
        (wholes(0, -1), 2, np.ones((2, 3)), None),
        (wholes(0, 2**40), 2, np.ones((2, 3)), None),
        (wholes(0, 1), 2, np.ones((3, 3)), None),
        (wholes(0, 1), -1, np.ones((2, 3)), None),
        (wholes(0, 1), 2, np.ones((2, 3)), reals(1)),
        (reals(0, 1), 2, np.ones((2, 3)), None),
        (None, 2, np.ones((2, 3)), None),
        (wholes(0, 1), 2, None, None),
    ],
)
def test_sorting_columns_refuses_what_is_no_table(args):
    """Places that are no classes, and lengths that differ."""
    with pytest.raises(REFUSALS):
        _core.sort_columns(*args)


def test_sorting_tells_of_rows_that_must_be_refused():
    """By None, and Python finds out which they are."""
    for odd in (NAN, INFINITY, -INFINITY):
        assert _core.sort_scores(np.array([0, 1]), reals(0.1, odd), None, normal_label) is None
        assert _core.sort_scores(np.array([0, 1]), reals(0.1, 0.2), reals(1, odd), normal_label) is None
        assert _core.sort_columns(wholes(0, 1), 2, np.array([[0.1], [odd]]), None) is None
        assert _core.sort_columns(wholes(0, 1), 2, np.ones((2, 1)), reals(odd, 1)) is None
    assert _core.sort_scores(np.array([0, 1]), reals(0.1, 0.2), reals(1, -1), normal_label) is None
    labels, runs, _, rows = _core.sort_scores(np.arange(1000), np.arange(1000.0), None, normal_label)
    assert (len(labels) > 2, runs, rows) == (True, None, 1000)
