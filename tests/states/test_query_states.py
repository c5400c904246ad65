"""The queries state: rows of one query meet when states add, and forged bytes are refused."""

from __future__ import annotations

import numpy as np
import pytest

import tallymark as tm
from tallymark.data.batch import Batch
from tallymark.states.rankings import Queries, QueriesOf
from tallymark.states.serialization import pack

ANY, ROWS = QueriesOf(), QueriesOf(stable=True)


def fold(y, p, query=None, weights=None, reads=ANY):
    return reads.fold(Batch(y, p, weights, whole=False, query=query))


def test_rows_of_one_query_meet():
    """Whichever state brings them, with or without weights."""
    left, right = fold([1, 0], [1, 3], ["a", "b"]), fold([0, 1], [2, 1], ["a", "b"], [1, 1])
    both = left + right
    assert (both.n, both.columns, both.weight) == (4, (1, 1), fold([1] * 4, [1] * 4, [1] * 4).weight)
    assert tm.mrr.answer(both).value == 0.5
    assert both.ranked() is both.ranked()
    assert both.ranked()[1:4] == (2, 0, 0)
    assert tm.extend.State.from_bytes(both.to_bytes()) == both


def test_states_of_other_layouts_do_not_add():
    """Other layouts, other kinds of labels, rows in their order, other states."""
    named, table, ordered = fold([1], [1], ["a"]), fold([[1, 0]], [[1, 2]]), fold([1], [1], ["a"], reads=ROWS)
    for left, right in ((named, table), (named, ordered), (ordered, ordered), (named, fold([1], [1], [1]))):
        with pytest.raises(tm.StateError):
            left + right
    with pytest.raises(TypeError):
        named + 1
    assert (ordered + ROWS.zero()).n == (ROWS.zero() + ordered).n == 1


def test_equal_declarations_are_equal_and_join():
    """Equal declarations are equal, hash alike, print, and join into one."""
    assert QueriesOf() == ANY != ROWS
    assert hash(QueriesOf()) == hash(ANY)
    assert repr(ROWS) == "QueriesOf(True)"
    assert ANY.join(QueriesOf()) == ANY
    assert ANY.zero().columns is None


def test_metrics_share_one_state():
    """However many there are, the rows are kept and sorted once."""
    tally = tm.Tally(["ndcg", "ndcg(k=2)", "map", "mrr(ties=worst)", "hit_rate", "precision_at", "recall_at"])
    tally.update([1, 0], [1, 2], query=[1, 1])
    assert [type(state) for state in tally._contents.whole.values] == [Queries]


def test_forged_fields_are_refused():
    """Never a crash, and nothing that reading rows could not have made."""
    codes, one = [np.array([1, 2]), np.array([0, 1, 1])], np.ones(3)
    good = [codes, one, one, None]
    assert tm.extend.State.from_bytes(pack("Queries", {"stable": False, "chunks": [good, good]})).n == 6
    table = [None, np.ones((3, 2)), np.ones((3, 2)), None]
    bad = np.array([1.0, np.nan, 1.0])
    for chunks in (
        [[codes, one, np.ones(2), None]],
        [[codes, np.ones(2), np.ones(2), None]],
        [[codes, bad, one, None]],
        [[codes, one, bad, None]],
        [[codes, -one, one, None]],
        [[codes, one, one, -one]],
        [[codes, one, one, np.ones(2)]],
        [[codes, one.astype(int), one, None]],
        [[codes, np.ones((3, 1)), np.ones((3, 1)), None]],
        [[codes, np.ones(0), np.ones(0), None]],
        [[[np.array([1, 2]), np.array([0, 1, 2])], one, one, None]],
        [[[np.array([1, 2]), np.array([0, -1, 1])], one, one, None]],
        [[[np.array([2, 1]), np.array([0, 1, 1])], one, one, None]],
        [[None, one, one, None]],
        [[None, np.ones((3, 1)), np.ones((3, 1)), None]],
        [[None, np.ones((3, 2)), np.ones((2, 3)), None]],
        [table, good],
        [table, [None, np.ones((3, 3)), np.ones((3, 3)), None]],
        [good, [[["a"], np.zeros(3, int)], one, one, None]],
        [[codes, [1.0, 1.0, 1.0], one, None]],
        [[codes, one, one]],
        [7],
    ):
        with pytest.raises(tm.StateError):
            tm.extend.State.from_bytes(pack("Queries", {"stable": False, "chunks": chunks}))
    for fields in ({"stable": True, "chunks": [good, good]}, {"stable": 0, "chunks": [good]}, {"chunks": []}, {}):
        with pytest.raises(tm.StateError):
            tm.extend.State.from_bytes(pack("Queries", fields))


def test_forged_weights_are_found_when_they_are_read():
    """Weights that differ within a query may come from states that were added."""
    codes, one = [np.array([1, 2]), np.array([0, 1, 1])], np.ones(3)
    state = tm.extend.State.from_bytes(
        pack("Queries", {"stable": False, "chunks": [[codes, one, one, np.array([1.0, 2.0, 3.0])]]})
    )
    with pytest.raises(tm.WeightError, match=r"got 2\.0 and 3.0 .query 2"):
        tm.ndcg.answer(state)
