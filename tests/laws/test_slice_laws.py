"""The laws of slices: a slice is filter-then-evaluate with the same target, and the groups add up to the whole."""

from __future__ import annotations

from functools import reduce

import numpy as np
import pytest

import tallymark as tm
from tallymark.data.batch import Batch
from tallymark.metrics.classification.base import LabelMetric
from tallymark.metrics.clustering.base import ClusterMetric
from tallymark.states.base import Plan
from tallymark.states.groups import slice_states
from tests.laws.cases import METRICS, random_rows, same_bits

by_metric = pytest.mark.parametrize("metric", METRICS, ids=str)


def cells_agree(found, expected):
    """Two cells hold the same bits, or fail alike."""
    if found.error is not None or expected.error is not None:
        assert str(found.error) == str(expected.error)
        return
    assert found.reason == expected.reason
    assert found.is_table == expected.is_table
    if found.is_table:
        assert str(found.value.to_dict()) == str(expected.value.to_dict())
    elif isinstance(expected.value, (dict, list)):
        assert repr(found.value) == repr(expected.value)
    else:
        assert same_bits(found.value, expected.value)


def resolved(metric, rows):
    """The facts of the rows with the classes that all of them show, where classes are what the metric reads."""
    if not isinstance(metric, LabelMetric) or isinstance(metric, ClusterMetric) or "classes" in rows.facts:
        return rows.facts
    kept = rows.w > 0
    seen = {*rows.y[kept].tolist()} | (set() if metric.kind == "margin" else {*rows.p[kept].tolist()})
    return rows.facts if len(seen) < 2 else {**rows.facts, "classes": sorted(seen)}


@by_metric
@pytest.mark.parametrize("seed", range(3))
def test_a_slice_is_filter_then_evaluate(metric, seed):
    """Every cell of every group has the bits that the rows of the group alone give, with the classes of all rows."""
    rng = np.random.default_rng([seed, 7])
    rows = random_rows(metric, 60, seed)
    groups = rng.choice(["a", "b", "c", "rare"], 60, p=[0.5, 0.3, 0.19, 0.01])
    if rows.q is not None:  # a query lies in one group
        groups = groups[np.unique(rows.q, return_inverse=True)[1]]
    whole = tm.evaluate(rows.y, rows.p, [metric], weights=rows.w, query=rows.q, by=groups, **rows.facts)
    cells_agree(
        whole.cell(metric),
        tm.evaluate(rows.y, rows.p, [metric], weights=rows.w, query=rows.q, **rows.facts).cell(metric),
    )
    if whole.failures:
        return
    facts = resolved(metric, rows)
    assert list(whole.slices) == sorted(set(groups))
    for group, report in whole.slices.items():
        part = rows.take(np.flatnonzero(groups == group))
        alone = tm.evaluate(part.y, part.p, [metric], weights=part.w, query=part.q, **facts)
        assert (report.n, report.total_weight) == (alone.n, alone.total_weight)
        cells_agree(report.cell(metric), alone.cell(metric))


@by_metric
def test_the_groups_add_up_to_the_whole(metric):
    """The states of all groups, added, are the state of all rows with the classes that those have."""
    rng = np.random.default_rng(5)
    rows = random_rows(metric, 60)
    groups = rng.integers(0, 4, 60) if rows.q is None else np.unique(rows.q, return_inverse=True)[1] % 2
    batch = Batch(rows.y, rows.p, rows.w, query=rows.q, by={"group": groups})
    plan = Plan([metric.needs(tm.Target(**rows.facts))])
    whole = plan.fold(batch)
    slices = slice_states(batch, whole)
    added = reduce(lambda a, b: a + b, [each.states[0] for each in slices])
    expected = added.reads.fold(batch)
    assert sum(each.rows.n for each in slices) == 60 == added.n
    answers = [metric.answer(state).value for state in (added, expected)]
    if isinstance(answers[0], float):
        assert same_bits(*answers)
    if metric.size != "rows":
        assert added.to_bytes() == expected.to_bytes()
