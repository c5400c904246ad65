"""Agreement of rankings with trec_eval and scikit-learn, on thousands of small cases."""

from __future__ import annotations

import numpy as np
import pytest
import pytrec_eval
from sklearn.metrics import dcg_score, ndcg_score

import tallymark as tm

pytestmark = pytest.mark.slow

TREC = {
    "ndcg": "ndcg",
    "ndcg(k=5)": "ndcg_cut_5",
    "ndcg(k=10)": "ndcg_cut_10",
    "map": "map",
    "map(k=5)": "map_cut_5",
    "mrr": "recip_rank",
    "hit_rate(k=1)": "success_1",
    "hit_rate(k=5)": "success_5",
    "precision_at(k=5)": "P_5",
    "precision_at(k=10)": "P_10",
    "recall_at(k=5)": "recall_5",
    "recall_at(k=10)": "recall_10",
}


FAMILIES = {name.rstrip("_0123456789") for name in TREC.values()}


def draw(rng):
    """Queries of graded relevances without ties, and what trec_eval says of each."""
    n, names = int(rng.integers(1, 120)), [f"q{k}" for k in range(rng.integers(1, 8))]
    query = rng.choice(names, n)
    y = rng.choice([0, 0, 0, 1, 2, 3], n)
    p = rng.permutation(n) / 7
    qrels = {q: {str(i): int(y[i]) for i in np.flatnonzero(query == q)} for q in set(query)}
    run = {q: {str(i): float(p[i]) for i in np.flatnonzero(query == q)} for q in set(query)}
    return y, p, query, pytrec_eval.RelevanceEvaluator(qrels, FAMILIES).evaluate(run)


def test_rankings_agree_with_trec_eval():
    """Queries of graded relevances without ties; those without a relevant row count as 0 there."""
    rng = np.random.default_rng(1)
    for _ in range(300):
        y, p, query, scores = draw(rng)
        report = tm.evaluate(y, p, [tm.metric(name, absent=0) for name in TREC], query=query)
        for name, theirs in TREC.items():
            expected = np.mean([scores[q][theirs] for q in set(query)])
            assert report[tm.metric(name, absent=0)] == pytest.approx(expected, rel=1e-12, abs=1e-12), name


@pytest.mark.parametrize("k", [None, 1, 3, 10])
def test_ndcg_agrees_with_scikit_learn(k):
    """Tables of queries with ties and weights; ties are averaged there too."""
    rng = np.random.default_rng(2)
    for _ in range(500):
        shape = (int(rng.integers(1, 6)), int(rng.integers(2, 12)))
        y = rng.choice([0.0, 1.0, 2.0, 0.3], shape)
        y[:, 0] = 1  # a query without a relevant row counts as 0 there
        p = rng.integers(0, 5, shape) / 3 if rng.random() < 0.5 else rng.normal(size=shape)
        w = rng.uniform(0.1, 2, shape[0])
        assert tm.ndcg(y, p, k=k) == pytest.approx(ndcg_score(y, p, k=k), rel=1e-12)
        assert tm.ndcg(y, p, k=k, weights=w) == pytest.approx(ndcg_score(y, p, k=k, sample_weight=w), rel=1e-12)
        gains = 2**y - 1
        assert tm.ndcg(y, p, k=k, gain="exp") == pytest.approx(ndcg_score(gains, p, k=k), rel=1e-12)


@pytest.mark.parametrize("k", [None, 1, 3, 10])
def test_dcg_agrees_with_scikit_learn(k):
    """Tables of queries with ties and weights, and the same rows by query; no relevant row is a gain of 0."""
    rng = np.random.default_rng(3)
    for _ in range(300):
        shape = (int(rng.integers(1, 6)), int(rng.integers(2, 12)))
        y = rng.choice([0.0, 0.0, 1.0, 2.0, 0.3], shape)
        p = rng.integers(0, 5, shape) / 3 if rng.random() < 0.5 else rng.normal(size=shape)
        w = rng.uniform(0.1, 2, shape[0])
        assert tm.dcg(y, p, k=k) == pytest.approx(dcg_score(y, p, k=k), rel=1e-12)
        expected = dcg_score(y, p, k=k, sample_weight=w)
        assert tm.dcg(y, p, k=k, weights=w) == pytest.approx(expected, rel=1e-12)
        order, query = rng.permutation(y.size), np.repeat(np.arange(shape[0]), shape[1])
        relevance, score, query = y.ravel()[order], p.ravel()[order], query[order]
        assert tm.dcg(relevance, score, query=query, k=k, weights=w[query]) == pytest.approx(expected, rel=1e-12)
        assert tm.dcg(y, p, k=k, gain="exp") == pytest.approx(dcg_score(2**y - 1, p, k=k), rel=1e-12)
