"""Laws of tallies with groups, for every metric: the slices of evaluate, to the last bit, with their intervals."""

from __future__ import annotations

import numpy as np
import pytest

import tallymark as tm
from tallymark.intervals.maker import GROWS, NO_FORMULA
from tests.laws.cases import METRICS, random_rows
from tests.laws.test_slice_laws import cells_agree

N = 60
CASES = [{}, {"ci": tm.Intervals(0.9, resamples=19)}, {"ci": tm.Intervals(0.9, method="bootstrap", resamples=19)}]


def columns_of(metric, *, weighted, keys, seed=3):
    """Rows, and what else there is of each."""
    rng = np.random.default_rng(seed)
    rows = random_rows(metric, N, seed)
    groups = rng.choice(["a", "b", "c", "rare"], N, p=[0.5, 0.3, 0.18, 0.02])
    if rows.q is not None:  # a query lies in one group
        groups = groups[np.unique(rows.q, return_inverse=True)[1]]
    given = {"by": groups}
    given |= {"weights": rows.w} if weighted else {}
    given |= {"query": rows.q} if rows.q is not None else {}
    given |= {"keys": rng.permutation(N)} if keys else {}
    return rows, given


def add_in_pieces(metrics, rows, given, cut, **asked):
    """The rows in some order, cut somewhere, some pieces through bytes, added in some grouping."""
    rng = np.random.default_rng(cut)
    held = []
    for index in np.split(rng.permutation(N), np.sort(rng.choice(np.arange(1, N), 3, replace=False))):
        piece = {name: column[index] for name, column in given.items()}
        held.append(tm.Tally(metrics, by="group", **asked, **rows.facts).update(rows.y[index], rows.p[index], **piece))
    held[0] = tm.Tally.from_bytes(held[0].to_bytes())
    while len(held) > 1:
        held.append(held.pop(rng.integers(len(held))) + held.pop(rng.integers(len(held))))
    return held[0]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("asked", "weighted"),
    [(CASES[1], False), (CASES[1], True), (CASES[2], False)],
    ids=["auto", "weighted", "bootstrap"],
)
@pytest.mark.parametrize("metric", METRICS, ids=str)
def test_groups_of_pieces_are_those_of_all_rows(metric, asked, weighted):
    """Whatever the pieces, their order and grouping: the cells of evaluate for all rows and for every group."""
    rows, given = columns_of(metric, weighted=weighted, keys=bool(asked))
    whole = tm.evaluate(rows.y, rows.p, [metric], **given, **asked, **rows.facts)
    found = add_in_pieces([metric], rows, given, 1, **asked).report()
    assert list(found.slices) == list(whole.slices)
    for mine, theirs in [(found, whole), *zip(found.slices.values(), whole.slices.values(), strict=True)]:
        assert (mine.n, mine.total_weight) == (theirs.n, theirs.total_weight)
        one, other = mine.cell(metric), theirs.cell(metric)
        cells_agree(one, other)
        if {f"no interval: {why}" for why in (GROWS.format(metric.name), NO_FORMULA)} & {*one.notes}:
            assert one.lo is None
            continue
        assert (one.lo, one.hi, one.method, one.notes) == (other.lo, other.hi, other.method, other.notes)


@pytest.mark.parametrize("asked", CASES, ids=["values", "auto", "bootstrap"])
@pytest.mark.parametrize("item", ["gap(mae)", "worst(mae)", "ratio(rmse)", "gap(r2)"])
def test_metrics_of_groups_add_up(item, asked):
    """What compares the groups is read from the tally as from the rows, with its interval."""
    rows, given = columns_of(tm.mae, weighted=False, keys=bool(asked))
    if asked:
        asked = {"ci": tm.Intervals(0.9, asked["ci"].method, resamples=99)}
    whole = tm.evaluate(rows.y, rows.p, [item], min_rows=2, **given, **asked)
    tally = add_in_pieces([item], rows, given, 2, **asked)
    one, other = tally.report(min_rows=2).cell(item), whole.cell(item)
    cells_agree(one, other)
    assert (one.lo, one.hi, one.method, one.notes) == (other.lo, other.hi, other.method, other.notes)
