"""The laws of comparing two models, in every metric of one number. A new metric is enrolled by being defined."""

from __future__ import annotations

import math

import numpy as np
import pytest

import tallymark as tm
from tallymark.comparison.compare import value_from_rows
from tallymark.data.batch import Batch
from tallymark.data.target import Target
from tallymark.metrics.fairness.base import GroupMetric
from tests.laws.cases import METRICS, random_rows

METRICS = [metric for metric in METRICS if not isinstance(metric, GroupMetric) and metric.better is not None]
by_metric = pytest.mark.parametrize("metric", METRICS, ids=str)


def two_models(metric, n=60, seed=1):
    """Rows, and the predictions of two models: the second has those of half the rows in another order."""
    rows = random_rows(metric, n, seed)
    order = np.arange(n)
    order[::2] = np.random.default_rng(seed).permutation(order[::2])
    return rows, {"a": rows.p, "b": rows.p[order]}


@by_metric
def test_single_rows_make_up_the_difference(metric):
    """Where a metric says what single rows add, that is what two models differ by."""
    for seed in range(3):
        rows, models = two_models(metric, seed=seed)
        target = Target(**rows.facts)
        values, implied = [], []
        for p in models.values():
            batch = Batch(rows.y, p, query=rows.q)
            found = metric.paired_rows(batch, target)
            if found is None:
                return
            values.append(metric(rows.y, p, query=rows.q, **rows.facts))
            implied.append(value_from_rows(found))
        if all(map(math.isfinite, values)):
            assert values[1] - values[0] == pytest.approx(implied[1] - implied[0], abs=1e-12 * found.scale)


@by_metric
@pytest.mark.parametrize("weighted", [False, True])
def test_swapping_two_models_changes_the_sign_of_the_difference(metric, weighted):
    """The difference is that of the values, has a p-value and an interval or a reason, and turns its sign."""
    rows, models = two_models(metric)
    facts = {
        **rows.facts,
        "query": rows.q,
        "weights": rows.w if weighted else None,
        "ci": tm.Intervals(0.9, resamples=19),
    }
    if not isinstance(rows.call(metric, weights=facts["weights"]), float):
        with pytest.raises(tm.ParameterError, match="one number each"):
            tm.compare(rows.y, models, [metric], **facts)
        return
    (there,) = tm.compare(rows.y, models, [metric], **facts)
    (back,) = tm.compare(rows.y, dict(reversed(models.items())), [metric], **facts)
    assert repr(there) == repr(back.flipped())  # in which not-a-number is like itself
    if math.isnan(there.lo):
        assert there.reason
    else:
        assert there.lo < there.hi
        assert 0 < there.p <= there.p_corrected <= 1
        assert there.detectable > 0 or math.isnan(there.detectable)
