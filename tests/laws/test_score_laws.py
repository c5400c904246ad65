"""The laws of scores: names and places of classes do not matter, only the order of scores does; chance is chance."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tallymark as tm
from tallymark.metrics.scores.base import RankMetric
from tests.laws.cases import METRICS, labels_for, same_bits

RANKS = [metric for metric in METRICS if isinstance(metric, RankMetric)]
TWO = [metric for metric in RANKS if getattr(metric, "multiclass", "ovr") == "ovr" and metric.average == "macro"]
seeds = st.integers(0, 2**32)


def binary_rows(metric, rng):
    """Rows of two classes with one score each."""
    while True:
        rows = labels_for(metric, rng, int(rng.integers(1, 40)))
        if rows.p.ndim == 1:
            return rows


def of(metric, rows):
    answer = metric.answer(rows.fold(metric))
    return [answer.value, answer.lo, answer.hi] if answer.lo is not None else answer.value


@pytest.mark.parametrize("metric", RANKS, ids=str)
@given(seed=seeds)
def test_classes_may_be_called_anything(metric, seed):
    """New names for all classes, in any order and of any type, give the same bits."""
    rng = np.random.default_rng(seed)
    rows = labels_for(metric, rng, int(rng.integers(1, 40)))
    old = rows.facts.get("classes") or sorted({*rows.y.tolist(), rows.facts.get("positive", 1)})
    new = rng.permutation(10 * len(old))[: len(old)].tolist()
    if rng.random() < 0.5:
        new = [f"class {k:03d}" for k in new]
    names = dict(zip(old, new, strict=True))
    renamed = np.array([names[label] for label in rows.y.tolist()], dtype=object)
    facts = {"classes": new} if rows.p.ndim == 2 else {"positive": names[rows.facts.get("positive", 1)]}
    assert same_bits(of(metric, rows._replace(y=renamed, facts=facts)), of(metric, rows))


@pytest.mark.parametrize("metric", [m for m in RANKS if getattr(m, "max_fpr", None) is None], ids=str)
@given(seed=seeds, columns=st.integers(2, 6))
def test_columns_may_change_places(metric, seed, columns):
    """Together with their classes; as scores, margins and shares of a sum."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 40))
    y, w = rng.integers(0, columns, n), rng.choice([0.0, 1.0, 0.3, 7.0], n)
    table = rng.integers(1, 9, (n, columns)) / 7
    order = rng.permutation(columns)
    for facts in ({"kind": "score"}, {"kind": "margin"}, {"normalize": True}):
        before = tm.evaluate(y, table, [metric], weights=w, classes=range(columns), **facts)
        after = tm.evaluate(y, table[:, order], [metric], weights=w, classes=order.tolist(), **facts)
        assert same_bits(before[str(metric)], after[str(metric)])


@pytest.mark.parametrize("metric", [m for m in TWO if getattr(m, "bounded", None) is None], ids=str)
@given(seed=seeds)
def test_only_the_order_of_scores_matters(metric, seed):
    """Ranks instead of scores give the same bits."""
    rng = np.random.default_rng(seed)
    rows = binary_rows(metric, rng)
    ranks = np.unique(rows.p + 0.0, return_inverse=True)[1]
    for p in (ranks, ranks.astype(np.int8) - 3, 2.0 ** (8.0 * ranks)):
        assert same_bits(of(metric, rows._replace(p=p)), of(metric, rows))


@pytest.mark.parametrize("metric", TWO, ids=str)
@given(seed=seeds, power=st.integers(-60, 60))
def test_the_unit_of_weights_does_not_matter(metric, seed, power):
    """All weights times a power of two."""
    rng = np.random.default_rng(seed)
    rows = binary_rows(metric, rng)
    before, after = (np.array(of(metric, r), float) for r in (rows, rows._replace(w=np.ldexp(rows.w, power))))
    assert np.allclose(before, after, rtol=0, atol=4e-16, equal_nan=True)


@pytest.mark.parametrize("metric", TWO, ids=str)
@given(seed=seeds, score=st.sampled_from([0.0, -3.0, 1e300, 5e-324]))
def test_a_constant_score_is_chance(metric, seed, score):
    """However the rows lie."""
    rng = np.random.default_rng(seed)
    rows = binary_rows(metric, rng)
    rows = rows._replace(p=np.full(len(rows.y), score))
    found = np.atleast_1d(of(metric, rows))[0]
    positive = rows.y == rows.facts.get("positive", 1)
    if math.isnan(found):
        assert not rows.w[positive].sum() or not rows.w[~positive].sum()
        return
    share = math.fsum(rows.w[positive]) / math.fsum(rows.w)
    expected = {"auc": 0.5, "gini": 0.0, "ks": 0.0}.get(metric.name, share)
    assert found == pytest.approx(expected, rel=1e-14, abs=0)


@given(seed=seeds)
def test_the_metrics_fit_together(seed):
    """Gini is twice the area less one, ks is at least half of it, and turning the scores round turns the area round."""
    rng = np.random.default_rng(seed)
    rows = binary_rows(tm.auc, rng)
    names = ["auc", "gini", "ks", "average_precision", "pr_auc"]
    found = tm.evaluate(rows.y, rows.p, names, weights=rows.w, **rows.facts)
    if math.isnan(found["auc"]):
        return
    assert same_bits(found["gini"], 2 * found["auc"] - 1)
    assert abs(found["gini"]) <= 2 * found["ks"] + 1e-15
    assert all(0 <= found[name] <= 1 for name in ("auc", "ks", "average_precision", "pr_auc"))
    back = tm.evaluate(rows.y, -rows.p, names, weights=rows.w, **rows.facts)
    assert abs(found["auc"] + back["auc"] - 1) <= 4e-16
    assert abs(found["ks"] - back["ks"]) <= 4e-16
