"""States that are written and read back, as they are and with fields that are gone or of another type."""

from __future__ import annotations

import numpy as np
import pytest

import tallymark as tm
from tallymark.states.base import State
from tallymark.states.serialization import pack

ODD = (None, "x", [[[]]], {}, np.inf, np.nan, -1, 2**5000, np.zeros((0, 3)), np.arange(5), [None], {"a": 1})


def survive_bytes(state):
    """What comes back is the same, and adds up to the same."""
    back = State.from_bytes(state.to_bytes())
    assert type(back) is type(state)
    assert back == state
    assert (back.n, back.weight, back.columns, back.reads) == (state.n, state.weight, state.columns, state.reads)
    assert (back + state).to_bytes() == (state + state).to_bytes()
    assert state + state.reads.zero() == state == state.reads.zero() + state


def refuse_odd_fields(state, read):
    """Each field in turn: nothing but our own error, and no state that cannot be read."""
    for key in state.fields():
        kept = {k: v for k, v in state.fields().items() if k != key}
        with pytest.raises(tm.StateError):
            State.from_bytes(pack(type(state).__name__, kept))
        for odd in ODD:
            try:
                back = State.from_bytes(pack(type(state).__name__, {**kept, key: odd}))
            except tm.StateError:
                continue
            read(back)
