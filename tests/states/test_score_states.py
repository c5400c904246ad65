"""States of scores: what they add up to, and their bytes."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from tests.states.round_trip import survive_bytes
from tests.states.score_states import STATES, TABLE, bounded, scores

import tallymark as tm
from tallymark.states.base import State
from tallymark.states.scores.scores import ScoresOf


@pytest.mark.parametrize("name", STATES)
def test_states_of_scores_survive_their_bytes(name):
    """The state, its bytes and what it adds up to."""
    survive_bytes(STATES[name])


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


@pytest.mark.parametrize("make", [scores, bounded])
def test_states_of_other_layouts_do_not_add(make):
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
