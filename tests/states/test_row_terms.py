"""Terms and costs of single rows, which their totals are made of."""

from __future__ import annotations

import numpy as np
import pytest

import tallymark as tm
from tallymark.data.batch import Batch
from tallymark.data.target import Target
from tallymark.metrics.naming import metric
from tallymark.states.row_terms import row_costs, row_terms
from tallymark.states.sums import Term

RNG = np.random.default_rng(5)
Y, P = RNG.normal(size=2500), RNG.normal(size=2500)  # more rows than one table takes

TWINS = {
    "squared_error": ((), lambda y, p: (p - y) ** 2),
    "absolute_error": ((), lambda y, p: np.abs(p - y)),
    "huber": ((1.0,), lambda y, p: np.where(abs(p - y) <= 1, (p - y) ** 2 / 2, abs(p - y) - 0.5)),
    "pinball": ((0.9,), lambda y, p: np.maximum(0.9 * (y - p), 0.1 * (p - y))),
}


@pytest.mark.parametrize("name", TWINS)
def test_a_term_is_found_in_every_row(name):
    """As NumPy has it, in the order of the rows."""
    parameters, twin = TWINS[name]
    assert row_terms(Term(name, parameters), Y, P) == pytest.approx(twin(Y, P), rel=1e-12, abs=1e-15)


def test_a_term_that_float64_cannot_hold_is_infinite():
    """In its own row alone."""
    assert row_terms(Term("squared_error"), np.zeros(2), np.array([1e200, 2.0])).tolist() == [np.inf, 4.0]


@pytest.mark.parametrize("name", ["logloss", "brier", "rps"])
@pytest.mark.parametrize("classes", [1, 2, 4])
def test_the_mean_cost_of_the_rows_is_the_value(name, classes):
    """Of one column of probabilities, of two and of many."""
    item = metric(name)
    truth = RNG.integers(0, max(classes, 2), 300)
    p = RNG.random(300) if classes == 1 else RNG.dirichlet(np.ones(classes), 300)
    costs = row_costs(item.cost, Batch(truth, p), Target("probability"))
    assert costs.mean() == pytest.approx(item(truth, p), rel=1e-12)
    for row in (0, 17, 299):
        alone = tm.evaluate(
            truth[row : row + 1], p[row : row + 1], [name], kind="probability", classes=range(max(classes, 2))
        )
        assert costs[row] == pytest.approx(alone[name], rel=1e-12, abs=1e-15)


@pytest.mark.parametrize("classes", [1, 2, 4])
def test_the_mean_hinge_loss_of_the_rows_is_the_value(classes):
    """Of one column of margins, of two and of many."""
    truth = RNG.integers(0, max(classes, 2), 300)
    margins = RNG.normal(size=300 if classes == 1 else (300, classes))
    losses = row_costs(metric("hinge_loss").cost, Batch(truth, margins), Target())
    assert losses.mean() == pytest.approx(tm.hinge_loss(truth, margins), rel=1e-12)
