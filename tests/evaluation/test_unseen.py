"""Bootstrap intervals of labels allow for outcomes that no row has: a class of which all rows are right."""

from __future__ import annotations

import numpy as np
import pytest

import tallymark as tm
from tallymark.batch import Batch
from tallymark.evaluation.percentiles import SAME, Ends
from tallymark.evaluation.unseen import Moves, allow_in_resamples, unseen_moves
from tallymark.metrics.labels import AveragedMetric
from tallymark.states import Grid, Pairs, PairsOf
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


@pytest.mark.parametrize("columns", [{"weights": 1.0 + np.arange(N) % 3}, {"cluster": np.arange(N) // 2}])
def test_perfect_predictions_with_weights_or_clusters_have_no_interval(columns):
    """All resamples are alike, and no end is moved: there is a reason instead of a warning."""
    for cell in map(tm.evaluate(Y, Y, ["recall", "mcc"], ci=0.95, **columns).cell, ("recall", "mcc")):
        assert (cell.lo, cell.notes) == (None, ("no interval: it has the same value in every resample",))


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


def test_higher_levels_are_wider():
    """Whether a row counts for more than those that were seen is no matter of the level."""
    for rows, wrong in ((15, 3), (80, 4), (200, 5)):
        y = (np.arange(rows) < rows // 4).astype(int)
        p = np.where(np.arange(rows) >= rows - wrong, 1, y)
        for name, method in (("mcc", "bootstrap"), ("cohen_kappa", "bootstrap"), ("cohen_kappa", "analytic")):
            levels = (0.8, 0.805, 0.81, 0.82, 0.9, 0.95, 0.99)
            found = [tm.evaluate(y, p, [name], ci=level, ci_method=method).cell(name) for level in levels]
            assert sorted(cell.lo for cell in found) == [cell.lo for cell in found][::-1]
            assert sorted(cell.hi for cell in found) == [cell.hi for cell in found]


def test_formulas_allow_for_as_much():
    """F2, mcc and kappa of a class that is always right; of rows that are all right, the interval is that of the
    outcomes which could yet be."""
    for name in ("fscore(beta=2)", "mcc", "cohen_kappa"):
        found = tm.evaluate(Y, P, [name], ci=0.95, ci_method="analytic").cell(name)
        assert found.method == "delta"
        assert noted(found, ALLOWED) or name == "cohen_kappa"
        assert found.lo == pytest.approx(cell_of(name).lo, abs=0.03)
        if name.startswith("fscore"):  # which has no slope there, and is resampled
            continue
        perfect = tm.evaluate(Y, Y, [name], ci=0.95, ci_method="analytic").cell(name)
        assert perfect.lo < perfect.hi == 1.0
        assert perfect.lo == pytest.approx(cell_of(name, Y, Y).lo, abs=1e-9)
    assert not noted(tm.evaluate(Y, 1 - P, ["accuracy"], ci=0.95).cell("accuracy"), ALLOWED)


@pytest.mark.parametrize("n", [10_000, 10_001])
def test_both_ends_of_many_rows(n):
    """A metric and its complement are each other's mirror, whether or not rows are few enough to be left out."""
    y = (np.arange(n) < 20).astype(int)
    p = np.where((np.arange(n) >= 100) & (np.arange(n) < 600), 1, y)
    found, lost = (cell_of(f"{name}(average=macro)", y, p, resamples=99) for name in ("recall", "fnr"))
    assert noted(found, ALLOWED)
    assert (lost.lo, lost.hi) == pytest.approx((1 - found.hi, 1 - found.lo))
    for name in ("accuracy", "error_rate"):
        assert not noted(cell_of(name, y, p, resamples=99), ALLOWED)


def test_no_rows_for_what_has_no_value():
    """Neither a class that is only called, nor a value that stands in for none, nor rows without weight."""
    y, p = np.arange(N) % 2, np.arange(N) % 2
    p[:20], p[50:53] = 1 - y[:20], 2
    for name in ("recall(average=macro)", "fscore(average=macro)", "balanced_accuracy"):
        assert not noted(cell_of(name, y, p), ALLOWED), name
    assert cell_of("precision(undefined=0.0)", Y, np.zeros(N, int)).lo is None
    weights, by = (np.arange(N) < 100) * 1.0, np.where(np.arange(N) < 100, "a", "b")
    name = "recall(undefined=0.0)"
    tally = tm.Tally([name], by="g", ci=0.95, ci_method="bootstrap")
    report = tally.update(Y, P, weights=weights, by=by, keys=np.arange(N)).report()
    assert report.slices["b"].cell(name).lo is None


@pytest.mark.parametrize("scale", [1e-300, 1.0, 1e290])
def test_rows_weigh_as_much_as_others_do(scale):
    """Rows without weight change nothing, and neither does the unit of weights."""
    more = np.zeros(5000, int)
    weights = (1.0 + np.arange(N) % 3) * 1.1 * scale
    y, p, all_weights = np.append(Y, more), np.append(P, more), np.append(weights, more)
    units = 150.0
    few, many = (
        unseen_moves(tm.metric("balanced_accuracy"), PairsOf().fold(Batch(*rows)), units, 0.95)
        for rows in ((Y, P, weights), (y, p, all_weights))
    )
    assert few == many
    assert few[0].down == pytest.approx(-0.5 * 3.8415 * N / (3.8415 * N + 20 * units), rel=0.1)
    assert few[0].up == 0.0


def test_formulas_that_count_rows_are_let_be():
    """Rows that are added are no whole numbers: a formula that is no ratio would take them for something else."""

    class Odd(AveragedMetric, abstract=True):
        def fraction(self, c):
            return c.tp + 1, c.tp + c.fn + 2

    assert unseen_moves(Odd(), PairsOf().fold(Batch(Y, P)), N, 0.95) == []


def test_ends_stay_in_the_range():
    """However far a row could move the value, and however large it is."""
    replicates, item = np.linspace(-1, 0, 99), tm.metric("mcc")
    ends = allow_in_resamples(Moves(-0.4), Ends(-0.8, 0.2), -0.5, replicates, 0.95, item, N, counts=True)
    assert ends.lo == -1.0
    assert ends.hi == 0.2
    far, near, wide = Moves(0.0, 1e300), Ends(0.0, 1e299), tm.metric("mae")
    large = allow_in_resamples(far, near, 1e298, replicates * 1e299, 0.95, wide, N, counts=True)
    assert 1e300 < large.hi < 1.2e300


def grid_of(y, p, weights=None, **facts) -> Grid:
    return Grid(PairsOf(Target(**facts)).fold(Batch(y, p, weights)), len(y))


def total_of(state: Pairs) -> float:
    return state.counts().to_float(state.counts().total)


def test_rows_are_added_to_an_outcome():
    """Of two classes, the wrong rows of one are the wrong calls of the other: one outcome. Others are as they were."""
    grid = grid_of(Y, P)
    assert (grid.unseen, len(grid.held)) == ([((1, 0),)], 3)
    grown = grid.plus(grid.unseen[0], 4.0)
    counts = grown.counts()
    assert total_of(grown) == N + 4
    assert [counts.to_float(count) for count in counts.truth] == [180, 24]
    assert [counts.to_float(count) for count in counts.hits] == [175, 20]
    assert total_of(grid.thrice()) == 3 * N
    assert len(grid_of(Y, Y).unseen) == len(grid_of(Y, 1 - Y).unseen) == 2
    three = grid_of([0, 1, 2, 2], [0, 1, 2, 0])
    assert [total_of(three.plus(outcome, 4.0)) for outcome in three.unseen] == pytest.approx([8] * len(three.unseen))
    heavy = grid_of(Y, P, np.full(N, 2.5))
    assert total_of(heavy.plus(heavy.unseen[0], 4.0)) == 2.5 * (N + 4)


def test_no_outcome_is_added_where_it_makes_no_sense():
    """Not to one class, to clusters, to very many classes, to rows of a class that is not there."""
    many = np.arange(101)
    for empty in (
        grid_of([1, 1], [1, 1]),
        grid_of(many, many),
        Grid(PairsOf(clusters=True).fold(Batch(Y, P)), N),
        Grid(PairsOf().zero(), 0.0),
    ):
        assert not empty.unseen
    absent = grid_of([0, 1, 0, 1], [0, 1, 0, 1], classes=[0, 1, 2])
    assert all(2 not in cell for outcome in absent.unseen for cell in outcome)
    called = grid_of([0, 1, 0, 1], [0, 1, 2, 1])
    assert all(cell[0] != 2 for outcome in called.unseen for cell in outcome)
    same = cell_of("accuracy", np.ones(6, int), np.ones(6, int))
    assert same.lo is None
    assert noted(same, SAME)
    few = cell_of("recall", np.arange(6) % 2, np.arange(6) % 2)
    assert noted(few, "fewer than 10 rows")
