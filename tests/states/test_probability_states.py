"""The states of probabilities: pieces add, and bytes that no state could have written are refused."""

from __future__ import annotations

import numpy as np
import pytest

import tallymark as tm
from tallymark.data.batch import Batch
from tallymark.states.base import State
from tallymark.states.probabilities.bins import BinsOf
from tallymark.states.probabilities.class_shares import CostAndSharesOf
from tallymark.states.probabilities.costs import Cost, ProbabilitiesOf
from tallymark.states.probabilities.ordered import OrderedProbabilitiesOf
from tallymark.states.serialization import pack, unpack

TARGET = tm.Target(classes=["a", "b", "c"])
READS = {
    "costs": ProbabilitiesOf(tm.Target(), Cost("log_loss", 1e-15), Cost("brier")),
    "bins": BinsOf(tm.Target(), 3),
    "order": OrderedProbabilitiesOf(tm.Target()),
}
SHARES = CostAndSharesOf(tm.Target(), Cost("brier"))
SEVERAL = {
    "costs": ProbabilitiesOf(TARGET, Cost("rps")),
    "bins": BinsOf(TARGET, 3),
    "order": OrderedProbabilitiesOf(TARGET),
}
COLUMNS = ([0, 1, 1], [0.25, 0.5, 0.75], [1.0, 2.0, 0.5])
ONE = Batch(*COLUMNS)
TABLE = Batch(["a", "b", "b"], [[0.5, 0.25, 0.25], [0.2, 0.3, 0.5], [0.0, 1.0, 0.0]], whole=False)


def altered(state, changes):
    """The bytes of a state with other fields."""
    kind, fields = unpack(state.to_bytes())
    return pack(kind, {**fields, **changes})


@pytest.mark.parametrize("name", READS)
@pytest.mark.parametrize(
    "changes",
    [
        {"n": -1},
        {"n": 0},
        {"n": "many"},
        {"columns": None},
        {"columns": [1, 0]},
        {"columns": [2, 1]},
        {"columns": [1]},
        {"labels": [1, 0]},
        {"labels": [0, 0]},
        {"labels": [0, "1"]},
        {"labels": [0.5]},
        {"labels": [0, 1, 2, 3]},
        {"labels": None},
        {"target": {"kind": "label", "classes": None, "positive": None, "normalize": False}},
        {"target": {"kind": None, "classes": [5, 6], "positive": None, "normalize": False}},
        {"target": {}},
        {"target": None},
    ],
    ids=str,
)
def test_forged_shapes_are_refused(name, changes):
    """Rows, columns, labels and target must fit together."""
    with pytest.raises(tm.StateError):
        State.from_bytes(altered(READS[name].fold(ONE), changes))


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("costs", {"costs": [["log_loss", 1e-15], ["brier", 0.0]]}),
        ("costs", {"costs": [["brier", 0.0], ["brier", 0.0]]}),
        ("costs", {"costs": [["brier", 0.0]]}),
        ("costs", {"costs": [["brier", 0.0], ["surprise", 0.0]]}),
        ("costs", {"costs": [["brier", 0.0], ["log_loss", 0.5]]}),
        ("costs", {"costs": [["brier", 0.0], ["log_loss", float("nan")]]}),
        ("costs", {"costs": [["brier", 0.0], [["log_loss"], 0.0]]}),
        ("costs", {"soft": -1}),
        ("costs", {"soft": 4}),
        ("costs", {"weight": -1}),
        ("costs", {"spent": [[1, 0], [1, -1]]}),
        ("costs", {"spent": [[-1, 0], [1, 0]]}),
        ("costs", {"spent": [[1, 0], [1, 4]]}),
        ("costs", {"spent": [[1, 0]]}),
        ("bins", {"bins": []}),
        ("bins", {"bins": [[0, 0, 0]] * 20_000}),
        ("bins", {"bins": [[1, 2, 0]] * 3}),
        ("bins", {"bins": [[1, 0, 2]] * 3}),
        ("bins", {"bins": [[1, -1, 0]] * 3}),
        ("bins", {"bins": [[1, 0]] * 3}),
        ("order", {"scores": {}}),
        ("order", {"scores": None}),
        ("order", {"n": 5}),
    ],
    ids=lambda given: str(given)[:60],
)
def test_forged_contents_are_refused(name, changes):
    """Totals are not negative, and what happened or was promised is no more than the weight."""
    with pytest.raises(tm.StateError):
        State.from_bytes(altered(READS[name].fold(ONE), changes))


@pytest.mark.parametrize("name", READS)
def test_empty_states_hold_nothing(name):
    """A state of no rows with totals is none."""
    whole, zero = READS[name].fold(ONE), READS[name].zero()
    assert State.from_bytes(zero.to_bytes()) == zero
    _, fields = unpack(whole.to_bytes())
    key = {"costs": "spent", "bins": "bins", "order": "scores"}[name]
    with pytest.raises(tm.StateError):
        State.from_bytes(altered(zero, {key: fields[key]}))


def test_forged_scores_of_other_kinds_are_refused():
    """Probabilities in order are scores of two classes between 0 and 1."""
    state = READS["order"].fold(ONE)
    _, fields = unpack(state.to_bytes())
    for scores in (
        tm.auc.reads.fold(Batch([0, 1, 1], [0.25, 0.5, 0.75])).fields(),
        {**fields["scores"], "scores": [[[np.array([-1.0]), None, None], [np.array([0.5, 3.0]), None, None]]]},
    ):
        with pytest.raises(tm.StateError):
            State.from_bytes(altered(state, {"scores": scores}))


@pytest.mark.parametrize("name", SEVERAL)
def test_columns_add_only_with_the_same_classes(name):
    """Of one target; and labels of columns that are not those of the target are refused."""
    state = SEVERAL[name].fold(TABLE)
    assert (state + state).n == 6
    for changes in ({"labels": ["a", "b"]}, {"labels": ["a", "c", "b"]}, {"columns": [1, 2]}, {"labels": []}):
        with pytest.raises(tm.StateError):
            State.from_bytes(altered(state, changes))
    found = type(SEVERAL[name])
    arguments = {"costs": (Cost("rps"),), "bins": (3,), "order": ()}[name]
    open_target = found(tm.Target(), *arguments)
    rows = np.eye(3)
    left, right = (open_target.fold(Batch(labels, rows)) for labels in (["a", "b", "c"], ["a", "b", "d"]))
    with pytest.raises(tm.StateError, match="same classes"):
        left + right
    one = open_target.fold(Batch([0, 1], [0.5, 0.5]))
    with pytest.raises(tm.StateError, match="same width"):
        left + one


@pytest.mark.parametrize("name", READS)
def test_numbers_and_strings_do_not_add(name):
    """Pieces of one target must contain labels of one type."""
    target = tm.Target(positive="b")
    arguments = {"costs": (Cost("brier"),), "bins": (3,), "order": ()}[name]
    reads = type(READS[name])(target, *arguments)
    state = reads.fold(Batch(["a", "b"], [0.5, 0.5]))
    other = State.from_bytes(altered(state, {"labels": [0, 1]}))
    with pytest.raises(tm.StateError, match="numbers and strings"):
        state + other


def test_weights_of_one_give_the_bytes_of_no_weights():
    """No weights equal weights of one in the bytes too."""
    plain = READS["order"].fold(Batch([0, 1, 1], [0.25, 0.5, 0.5]))
    weighed = READS["order"].fold(Batch([0, 1, 1], [0.25, 0.5, 0.5], [1.0, 1.0, 1.0]))
    assert plain.to_bytes() == weighed.to_bytes()


def test_a_truth_that_lies_anywhere_in_memory():
    """Numbers of classes that begin at an odd byte, as those from a network may, are read like others."""
    held = np.frombuffer(b"x" + np.array([0, 1, 2, 1], np.int64).tobytes(), np.int64, offset=1)
    p = np.array([[0.5, 0.25, 0.25], [0.125, 0.75, 0.125], [0.25, 0.25, 0.5], [0.5, 0.25, 0.25]])
    assert not held.flags.aligned
    assert tm.logloss(held, p) == tm.logloss(held.copy(), p)


def altered_shares(part, **changes):
    """The bytes of a state of costs and shares whose cost or truth has other fields."""
    _, fields = unpack(SHARES.fold(ONE).to_bytes())
    return pack("CostAndShares", {**fields, part: {**fields[part], **changes}})


@pytest.mark.parametrize(
    ("part", "changes"),
    [
        ("costs", {"costs": []}),
        ("costs", {"soft": 1}),
        ("costs", {"weight": 5}),
        ("costs", {"labels": [1]}),
        ("truth", {"columns": [1, 2]}),
        ("truth", {"clusters": True}),
        ("truth", {"n": 4}),
        ("truth", {"labels": [[0, 1], [0, 2]]}),
        ("truth", {"labels": [[0, 2], [0, 2]]}),
        ("truth", {"values": [1, 2]}),
    ],
    ids=str,
)
def test_forged_shares_are_refused(part, changes):
    """The weights of the classes are those of the rows whose cost there is."""
    with pytest.raises(tm.StateError):
        State.from_bytes(altered_shares(part, **changes))


def test_states_of_shares_add_and_are_restored():
    """Also where a piece has one class, or no rows."""
    whole, pieces = SHARES.fold(ONE), [SHARES.fold(Batch([y], [p], [w])) for y, p, w in zip(*COLUMNS, strict=True)]
    assert SHARES.zero() + pieces[0] + (pieces[1] + pieces[2]) == whole == State.from_bytes(whole.to_bytes())
    assert State.from_bytes(SHARES.zero().to_bytes()) == SHARES.zero()


def test_costs_of_margins_are_a_state_of_their_own():
    """Beside costs of probabilities, and of margins alone."""
    names = ["hinge_loss", "logloss"]
    report = tm.evaluate([0, 1, 1], [-0.5, 2.0, 0.25], names, kind="margin")
    assert [report[name] for name in names] == [
        tm.metric(name)([0, 1, 1], [-0.5, 2.0, 0.25], kind="margin") for name in names
    ]
    state = tm.hinge_loss.reads.fold(ONE)
    for changes in (
        {"target": tm.Target().keywords()},
        {"costs": [["brier", 0.0], ["hinge", 0.0]], "spent": [[0, 0], [0, 0]]},
    ):
        with pytest.raises(tm.StateError, match="margins"):
            State.from_bytes(altered(state, changes))
