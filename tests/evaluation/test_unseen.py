"""Bootstrap intervals of labels allow for outcomes that no row has: a class of which all rows are right."""

from __future__ import annotations

import numpy as np
import pytest

import tallymark as tm
from tallymark.batch import Batch
from tallymark.evaluation.percentiles import SAME, Ends
from tallymark.evaluation.unseen import allow_for
from tallymark.states import Pairs, PairsOf, with_unseen
from tallymark.target import Target

N = 200
Y = (np.arange(N) < 20).astype(int)
P = Y.copy()
P[100:105] = 1  # five negatives are wrong, and no positive is
ALLOWED = "an end allows for outcomes that none of these rows has"


def cell_of(name, y=Y, p=P, **asked):
    return tm.evaluate(y, p, [name], ci=0.95, ci_method="bootstrap", **asked).cell(name)


def noted(cell, text):
    return any(text in note for note in cell.notes)


@pytest.mark.parametrize("level", [0.8, 0.95])
@pytest.mark.parametrize("right", [0, 1])
def test_a_share_of_0_or_1_has_the_interval_of_wilson(level, right):
    """No resample differs from the rows, so all that is known is how many there were."""
    said = np.where(Y == 1, right, P)
    drawn, formula = (
        tm.evaluate(Y, said, ["recall"], ci=level, ci_method=method).cell("recall")
        for method in ("bootstrap", "analytic")
    )
    assert (drawn.lo, drawn.hi) == pytest.approx((formula.lo, formula.hi), abs=1e-12)
    assert drawn.method == "bootstrap"
    assert noted(drawn, ALLOWED)


def test_a_mean_allows_for_the_class_that_is_always_right():
    """Balanced accuracy is as unsure as a recall of 20 of 20 is, which resamples do not know."""
    drawn = cell_of("balanced_accuracy")
    assert noted(drawn, ALLOWED)
    formula = tm.evaluate(Y, P, ["balanced_accuracy"], ci=0.95).cell("balanced_accuracy")
    assert drawn.lo == pytest.approx(formula.lo, abs=0.01)
    assert drawn.value - drawn.lo > 3 * (drawn.hi - drawn.value)
    for name in ("accuracy", "specificity", "precision", "fscore"):
        assert not noted(cell_of(name), ALLOWED), name  # in which no row could count for more than those that are wrong


@pytest.mark.parametrize("name", ["balanced_accuracy", "fscore(beta=2)", "mcc", "recall(average=None)"])
def test_pieces_allow_for_as_much(name):
    """A tally has the ends of the rows, to the last bit."""
    whole = cell_of(name)
    asked = {"ci": 0.95, "ci_method": "bootstrap"}
    tally = tm.Tally([name], **asked)
    for part in np.array_split(np.arange(N), 3):
        tally.update(Y[part], P[part], keys=part)
    found = tally.report().cell(name)
    assert (found.lo, found.hi, found.notes) == (whole.lo, whole.hi, whole.notes)


def test_slices_allow_for_their_own():
    """Of the ten positives of a slice none is wrong; the classes are those of all rows."""
    by = np.where(np.arange(N) % 2, "odd", "even")
    asked = {"ci": 0.95, "ci_method": "bootstrap"}
    part = tm.evaluate(Y, P, ["balanced_accuracy"], by=by, **asked).slices["odd"].cell("balanced_accuracy")
    assert noted(part, ALLOWED)
    assert part.lo < cell_of("balanced_accuracy").lo


def test_thresholds_and_names_allow_for_as_much():
    """Probabilities that become labels do as labels, and so does any type of label."""
    plain = cell_of("balanced_accuracy")
    chances = np.where(P == 1, 0.9, 0.2)
    for y, p, facts in (
        (Y, chances, {}),
        (np.where(Y == 1, "yes", "no"), chances, {"positive": "yes"}),
        (np.where(Y == 1, "yes", "no"), np.where(P == 1, "yes", "no"), {}),
    ):
        found = cell_of("balanced_accuracy", y, p, **facts)
        assert (found.lo, found.hi) == (plain.lo, plain.hi)


@pytest.mark.parametrize("columns", [{"weights": 1.0 + np.arange(N) % 3}, {"cluster": np.arange(N)}])
def test_weights_and_clusters_are_warned_of(columns):
    """How far the end would be depends on weights and clusters that were not seen either."""
    found = cell_of("balanced_accuracy", **columns)
    assert noted(found, "in no row, and so in no resample")
    assert found.lo > cell_of("balanced_accuracy").lo
    perfect = cell_of("recall", **columns)
    assert perfect.lo is None
    assert noted(perfect, SAME)


def test_four_classes():
    """The rarest class is always right: its recall and precision are unsure, those of others told."""
    rng = np.random.default_rng(0)
    y = rng.choice(4, N, p=[0.1, 0.2, 0.3, 0.4])
    p = np.where((rng.random(N) < 0.15) & (y > 0), rng.integers(1, 4, N), y)
    for name in ("recall(average=macro)", "precision(average=macro)", "fscore(average=macro)"):
        assert noted(cell_of(name, y, p), ALLOWED), name
    assert not noted(cell_of("accuracy", y, p), ALLOWED)
    each = cell_of("recall(average=None)", y, p)
    assert each.hi[0] == 1.0 > each.lo[0]


def test_ends_stay_in_the_range():
    """However far a row could move the value."""
    replicates, without = np.linspace(-1, 0, 99), np.array([])
    ends = allow_for([-0.9], Ends(-0.8, 0.2), -0.5, replicates, without, 0.95, (-1.0, 1.0), counts=True)
    assert ends.lo == -1.0
    assert ends.hi == 0.2


def state_of(y, p, **facts) -> Pairs:
    return PairsOf(Target(**facts)).fold(Batch(y, p))


def total_of(state: Pairs) -> float:
    return state.counts().to_float(state.counts().total)


def test_rows_are_added_to_outcomes_that_are_not_there():
    """Of two classes, the wrong rows of one are the wrong calls of the other: one outcome. Others are as they were."""
    (grown,) = with_unseen(state_of(Y, P), 4.0)
    assert total_of(grown) == N + 4
    assert [grown.counts().to_float(count) for count in grown.counts().truth] == [180, 24]
    assert [grown.counts().to_float(count) for count in grown.counts().hits] == [175, 20]
    assert len(list(with_unseen(state_of(Y, Y), 4.0))) == 2
    assert len(list(with_unseen(state_of(Y, 1 - Y), 4.0))) == 2
    three = state_of([0, 1, 2, 2], [0, 1, 2, 0])
    assert [total_of(grown) for grown in with_unseen(three, 4.0)] == pytest.approx([8] * 4)
    heavy = PairsOf().fold(Batch(Y, P, np.full(N, 2.5)))
    assert [total_of(grown) for grown in with_unseen(heavy, 4.0)] == [2.5 * (N + 4)]


def test_no_outcome_is_added_where_it_makes_no_sense():
    """Not to one class, to clusters, to many classes, to rows of a class that is not there."""
    assert not list(with_unseen(state_of([1, 1], [1, 1]), 4.0))
    many = np.arange(21)
    assert not list(with_unseen(state_of(many, many), 4.0))
    assert not list(with_unseen(PairsOf(clusters=True).fold(Batch(Y, P)), 4.0))
    absent = list(with_unseen(state_of([0, 1, 0, 1], [0, 1, 0, 1], classes=[0, 1, 2]), 4.0))
    assert all(grown.counts().truth[2] == grown.counts().predicted[2] == 0 for grown in absent)
    same = cell_of("accuracy", np.ones(6, int), np.ones(6, int))
    assert same.lo is None
    assert noted(same, SAME)
