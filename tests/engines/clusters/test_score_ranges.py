"""Metrics on scores by ranges: every engine gives the bits of evaluate, however the scores are spread."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import tallymark as tm
from tests.engines.clusters.test_engine_laws import dask_frame, files, pieces_of, ray_dataset, spark_frame

__all__ = ["dask_frame", "files", "ray_dataset", "spark_frame"]

ENGINES = ["files", "dask_frame", "spark_frame", "ray_dataset"]
METRICS = ["auc", "gini", "average_precision", "pr_auc", "ks", "brier", "auc(bounded=8)"]
ASKED = {"truth": "y", "prediction": "p", "metrics": METRICS, "kind": "probability", "score_ranges": 5}


def table_of(n, digits=None, seed=1):
    """Rows of two classes, whose scores may tie."""
    rng = np.random.default_rng(seed)
    p = rng.random(n)
    y = (rng.random(n) < p).astype(int)
    return pa.table({"y": y, "p": p if digits is None else p.round(digits)})


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("digits", [None, 1])
def test_the_same_bits_everywhere(engine, digits, request):
    """With ties and without, an empty partition, more ranges than some partitions have rows."""
    table = table_of(400, digits)
    source = request.getfixturevalue(engine)(pieces_of(table, 3))
    told = []
    found = tm.evaluate_table(source, **ASKED, ci=0.9, progress=lambda *done: told.append(done))
    expected = tm.evaluate(table["y"].to_numpy(), table["p"].to_numpy(), METRICS, kind="probability")
    assert dict(found) == dict(expected)
    of_areas = tm.evaluate(table["y"].to_numpy(), table["p"].to_numpy(), METRICS[:2], ci=0.9)
    for name in METRICS[:2]:
        assert (found.cell(name).lo, found.cell(name).hi) == (of_areas.cell(name).lo, of_areas.cell(name).hi)
    assert found.n == 400
    assert told[-1][0] == told[-1][1]
    assert sorted(told) == told
