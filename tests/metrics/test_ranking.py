"""Rankings by query: values by hand, ties against all their orders, weights, notes, and rows in pieces."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from tests.laws.cases import same_bits

import tallymark as tm

METRICS = [tm.ndcg, tm.map, tm.mrr, tm.hit_rate, tm.precision_at, tm.recall_at]
by_metric = pytest.mark.parametrize("metric", METRICS, ids=str)


def measure(name, rel, k, gain="linear"):
    """The measure of relevances in the order of their ranks, by its definition."""
    k = len(rel) if k is None else k
    if name == "ndcg":
        gains = [2.0**r - 1 if gain == "exp" else r for r in rel]
        dcg = [sum(g / math.log2(i + 2) for i, g in enumerate(order[:k])) for order in (gains, sorted(gains)[::-1])]
        return dcg[0] / dcg[1]
    hits = [r > 0 for r in rel]
    if name == "map":
        return sum(sum(hits[: i + 1]) / (i + 1) for i in range(min(k, len(rel))) if hits[i]) / sum(hits)
    if name == "mrr":
        return 1 / (hits.index(True) + 1) if hits.index(True) < k else 0.0
    found = sum(hits[:k])
    return {"hit_rate": float(found > 0), "precision_at": found / k, "recall_at": found / sum(hits)}[name]


def orders(rel, score, ties):
    """All orders of the rows by falling score, or the one that `ties` says."""
    if ties == "stable":
        return [[rel[i] for i in sorted(range(len(rel)), key=lambda i: -score[i])]]
    if ties == "worst":
        return [[r for _, r in sorted(zip([-s for s in score], rel, strict=True))]]
    groups = [[r for r, s in zip(rel, score, strict=True) if s == level] for level in sorted(set(score), reverse=True)]
    return [[*itertools.chain(*parts)] for parts in itertools.product(*map(itertools.permutations, groups))]


def brute_force(name, rel, score, k, ties, gain):
    found = [measure(name, order, k, gain) for order in orders(rel, score, ties)]
    return math.fsum(found) / len(found)


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        # ranks: relevance 3 at 1, 0 at 2, 2 at 3, 0 at 4, 1 at 5
        ("ndcg", (3 + 2 / 2 + 1 / math.log2(6)) / (3 + 2 / math.log2(3) + 1 / 2)),
        ("ndcg(k=2)", 3 / (3 + 2 / math.log2(3))),
        ("ndcg(gain=exp)", (7 + 3 / 2 + 1 / math.log2(6)) / (7 + 3 / math.log2(3) + 1 / 2)),
        ("map", (1 + 2 / 3 + 3 / 5) / 3),
        ("map(k=3)", (1 + 2 / 3) / 3),
        ("mrr", 1.0),
        ("hit_rate(k=1)", 1.0),
        ("precision_at(k=2)", 0.5),
        ("precision_at", 0.3),
        ("recall_at(k=3)", 2 / 3),
    ],
)
def test_ranking_metrics_have_the_values_computed_by_hand(metric, expected):
    """One query of five rows."""
    found = tm.metric(metric)([2, 0, 3, 0, 1], [0.5, 0.7, 0.9, 0.4, 0.1], query=["q"] * 5)
    assert found == pytest.approx(expected, rel=1e-14)


def test_the_value_is_the_mean_over_queries():
    """However many rows each has, and wherever they stand."""
    y, p = [0, 1, 1, 0, 0], [5, 4, 3, 2, 1]
    assert tm.mrr(y, p, query=["a", "a", "b", "a", "a"]) == (1 / 2 + 1) / 2
    assert tm.mrr(y, p, query=["a", "a", "b", "a", "a"], weights=[3, 3, 1, 3, 3]) == (3 / 2 + 1) / 4


@by_metric
@pytest.mark.parametrize("ties", ["average", "worst", "stable"])
def test_tied_scores_agree_with_the_mean_over_all_orders(metric, ties):
    """Small queries with every k: the mean over all orders of equal scores, the worst one, or that of the rows."""
    rng = np.random.default_rng(5)
    for _ in range(60):
        n = int(rng.integers(1, 7))
        rel = rng.choice([0.0, 0.0, 1.0, 2.0, 0.5], n).tolist()
        score = rng.integers(0, 3, n).tolist()
        if not any(rel):
            continue
        gain = "exp" if rng.random() < 0.5 else "linear"
        extra = {"gain": gain} if metric.name == "ndcg" else {}
        for k in [*range(1, n + 2)] + ([None] if metric.k is None else []):
            found = metric(rel, score, query=[7] * n, k=k, ties=ties, **extra)
            expected = brute_force(metric.name, rel, score, k, ties, gain)
            assert found == pytest.approx(expected, rel=1e-12, abs=1e-15), (rel, score, k)


@by_metric
def test_a_constant_score_earns_what_a_random_order_does(metric):
    """Over all orders of the rows, whatever order they are given in."""
    rel = [0, 0, 1, 0, 2, 0]
    expected = brute_force(metric.name, rel, [1] * 6, 2, "average", "linear")
    for order in itertools.permutations(rel):
        assert metric(list(order), [3.5] * 6, query=[0] * 6, k=2) == pytest.approx(expected, rel=1e-13)


def test_tied_scores_agree_with_exact_fractions():
    """Groups that begin anywhere and are cut anywhere, by binomials of whole numbers."""
    rng = np.random.default_rng(6)
    for _ in range(40):
        above, n = int(rng.integers(0, 50)), int(rng.integers(2, 400))
        r, k = int(rng.integers(1, n + 1)), int(rng.integers(1, above + n + 10))
        y = np.concatenate([np.zeros(above + n - r), np.ones(r)])
        p = np.concatenate([np.ones(above), np.zeros(n)])
        first = [Fraction(math.comb(n - x, r - 1), math.comb(n, r)) for x in range(1, n - r + 2)]
        mrr = sum(part / (above + x) for x, part in enumerate(first, 1) if above + x <= k)
        slots = min(max(k - above, 0), n)
        hit = 1 - Fraction(math.comb(n - r, slots), math.comb(n, slots))
        query = np.zeros(above + n, int)
        assert tm.mrr(y, p, query=query, k=k) == pytest.approx(float(mrr), rel=1e-13)
        assert tm.hit_rate(y, p, query=query, k=k) == pytest.approx(float(hit), rel=1e-13)
        assert tm.recall_at(y, p, query=query, k=k) == pytest.approx(slots / n, rel=1e-13)


def exact_harmonic(n):
    return math.fsum(1 / i for i in range(1, n + 1))


@pytest.mark.slow
def test_a_constant_score_over_a_million_rows():
    """Exact to 1e-12, in time that grows with the rows."""
    n = 1_000_000
    one, half = np.zeros(n), np.zeros(n)
    one[123] = half[: n // 2] = 1
    query, score = np.zeros(n, int), np.ones(n)
    close = {"rel": 1e-12}
    harmonic = exact_harmonic(n)
    assert tm.mrr(one, score, query=query) == pytest.approx(harmonic / n, **close)
    assert tm.map(one, score, query=query) == pytest.approx(harmonic / n, **close)
    assert tm.hit_rate(one, score, query=query) == pytest.approx(10 / n, **close)
    assert tm.hit_rate(one, score, query=query, k=n // 2) == pytest.approx(0.5, **close)
    assert tm.precision_at(half, score, query=query, k=7) == pytest.approx(0.5, **close)
    assert tm.recall_at(half, score, query=query, k=7) == pytest.approx(7 / n, **close)
    discounts = 1 / np.log2(np.arange(2, n + 2))
    assert tm.ndcg(one, score, query=query) == pytest.approx(math.fsum(discounts) / n, **close)
    best = math.fsum(discounts[: n // 2])
    assert tm.ndcg(half, score, query=query) == pytest.approx(math.fsum(discounts) / 2 / best, **close)
    r, step = n // 2, (n // 2 - 1) / (n - 1)
    expected = r / n * math.fsum((1 + (i - 1) * step) / i for i in range(1, n + 1)) / r
    assert tm.map(half, score, query=query) == pytest.approx(expected, **close)


@pytest.mark.slow
def test_a_million_queries_of_one_row():
    """Each is right or left out, and the notes say so."""
    n = 1_000_000
    y = np.arange(n) % 2
    report = tm.evaluate(y, np.zeros(n), ["ndcg", "map(absent=0)"], query=np.arange(n))
    assert dict(report) == {"ndcg": 1.0, "map(absent=0)": 0.5}
    assert report.cell("ndcg").notes == (
        "500,000 queries without a relevant row left out",
        "500,000 queries have one row only, which cannot be ranked wrongly",
    )
    assert report.cell("map(absent=0)").notes[0] == "500,000 queries without a relevant row counted as 0"


@by_metric
def test_queries_without_a_relevant_row_are_left_out_or_count_as_absent(metric):
    """Are left out, or earn what `absent` says; if there are no others, the value is undefined."""
    y, p, query = [1, 0, 0, 0], [2, 1, 2, 1], ["a", "a", "b", "b"]
    alone = metric(y[:2], p[:2], query=query[:2])
    assert metric(y, p, query=query) == alone
    for absent in (0.0, 0.25, 1.0, -3.0):
        assert metric(y, p, query=query, absent=absent) == pytest.approx((alone + absent) / 2, rel=1e-15)
        assert metric([0, 0], [2, 1], query=[1, 1], absent=absent) == absent
    report = tm.evaluate([0, 0], [2, 1], [metric], query=[1, 1])
    assert report.reasons == {str(metric): "no query has a relevant row"}
    assert tm.evaluate(y, p, [metric], query=query).cell(metric).notes == ("1 query without a relevant row left out",)


def test_weights_belong_to_queries():
    """They are the same in all rows of a query; weight 0 leaves the query out, whatever it holds."""
    y, p, query = [1, 0, 0, 1], [2, 1, 2, 1], ["a", "a", "b", "b"]
    assert tm.mrr(y, p, query=query, weights=[1, 1, 3, 3]) == (1 + 3 / 2) / 4
    assert tm.mrr(y, p, query=query, weights=[1, 1, 0, 0]) == 1.0
    assert tm.evaluate(y, p, ["mrr"], query=query, weights=[0, 0, 5, 5]).cell("mrr").notes == ()
    for weights in ([1, 2, 3, 3], [1, 1, 0, 3]):
        with pytest.raises(tm.WeightError, match=r"the same in all rows of a query; got .*query '[ab]'"):
            tm.evaluate(y, p, ["mrr"], query=query, weights=weights)
    tally = tm.Tally(["mrr"]).update([1], [2], query=["a"], weights=[1]).update([0], [1], query=["a"], weights=[2])
    with pytest.raises(tm.WeightError, match=r"got 1.0 and 2.0 .query 'a'"):
        tally.report()["mrr"]


def test_huge_and_tiny_weights_stay_in_range():
    """Products and totals stay in range; where they cannot, the value is undefined."""
    y, p, query = [1, 0, 0, 1], [2, 1, 2, 1], [0, 0, 1, 1]
    for scale in (1e308, 1e-80):
        assert tm.mrr(y, p, query=query, weights=np.array([1, 1, 1, 1]) * scale) == 0.75
    report = tm.evaluate([1, 0, 0, 0], p, ["mrr"], query=query, weights=[5e-324, 5e-324, 1, 1])
    assert "weights are too small" in report.reasons["mrr"]


@by_metric
def test_rows_in_pieces_in_any_order_give_the_same_bits(metric):
    """Rows of one query may be scattered over updates and tallies."""
    rng = np.random.default_rng(8)
    n = 2_000
    y, p, query = rng.integers(0, 3, n), rng.integers(0, 20, n) / 7, rng.integers(0, 60, n)
    weights = rng.uniform(0.1, 2, 60)[query]
    for w in (None, weights):
        expected = metric(y, p, query=query, weights=w)
        for seed in range(3):
            order = np.random.default_rng(seed).permutation(n)
            left, right = tm.Tally([metric]), tm.Tally([metric])
            for k, piece in enumerate(np.array_split(order, 9)):
                rows = {"query": query[piece], "weights": None if w is None else w[piece]}
                (left if k % 2 else right).update(y[piece], p[piece], **rows)
            assert same_bits((left + right).report()[metric], expected)
            assert same_bits((right + tm.Tally.from_bytes(left.to_bytes())).report()[metric], expected)


@by_metric
def test_every_thread_count_gives_the_same_bits(metric):
    """Enough rows for three threads, in queries of all sizes."""
    rng = np.random.default_rng(9)
    n = 250_000
    y, p = rng.integers(0, 3, n), rng.normal(0, 1, n).round(2)
    query = np.sort(rng.geometric(0.001, n)) % 5_000
    weights = rng.uniform(0.1, 2, 5_000)[query]
    before = tm.get_threads()
    found = []
    try:
        for threads in (1, 2, 3):
            tm.set_threads(threads)
            found.append(metric(y, p, query=query, weights=weights))
    finally:
        tm.set_threads(before)
    assert found[0] == found[1] == found[2]


def test_stable_follows_the_rows_and_does_not_add():
    """Pieces have no common order: the first update is all."""
    query = [1, 1, 1]
    assert tm.mrr([1, 0, 0], [5, 5, 5], query=query, ties="stable") == 1.0
    assert tm.mrr([0, 0, 1], [5, 5, 5], query=query, ties="stable") == 1 / 3
    tally = tm.Tally(["mrr(ties=stable)"]).update([0, 0, 1], [5, 5, 5], query=query)
    for call in (lambda: tally.update([1], [2], query=[2]), lambda: tally + tally):
        with pytest.raises(tm.StateError, match="cannot be added"):
            call()
    assert tally.report()["mrr(ties=stable)"] == 1 / 3
    assert (tally + tm.Tally(["mrr(ties=stable)"])).report()["mrr(ties=stable)"] == 1 / 3
    assert tm.Tally.from_bytes(tally.to_bytes()).report()["mrr(ties=stable)"] == 1 / 3


@by_metric
def test_tables_hold_one_query_per_row(metric):
    """And are worth as much as the same rows with queries; weights are one per row."""
    rng = np.random.default_rng(10)
    y, p, w = rng.integers(0, 3, (40, 6)), rng.integers(0, 5, (40, 6)), rng.uniform(0, 2, 40)
    flat = {"query": np.repeat(np.arange(40), 6)}
    assert same_bits(metric(y, p), metric(y.ravel(), p.ravel(), **flat))
    assert same_bits(metric(y, p, weights=w), metric(y.ravel(), p.ravel(), weights=np.repeat(w, 6), **flat))
    assert same_bits(metric(pd.DataFrame(y), np.asfortranarray(p)), metric(y, p))
    tally = tm.Tally([metric]).update(y[20:], p[20:], weights=w[20:]).update(y[:20], p[:20], weights=w[:20])
    assert same_bits(tally.report()[metric], metric(y, p, weights=w))


@pytest.mark.parametrize(
    "form",
    [
        np.asarray,
        lambda q: [f"query {name}" for name in q],
        lambda q: np.array([f"q{name}" for name in q]),
        lambda q: np.array([f"q{name}".encode() for name in q]),
        lambda q: [name / 7 for name in q],
        lambda q: [name * 10**25 for name in q],
        lambda q: pd.Series([f"q{name}" for name in q]),
        lambda q: pd.Categorical([f"q{name}" for name in q]),
        lambda q: pl.Series([f"q{name}" for name in q]),
        lambda q: pa.array([f"q{name}" for name in q]).dictionary_encode(),
        lambda q: pd.DataFrame({"query": q}),
    ],
)
def test_query_ids_may_be_of_any_type(form):
    """Their names do not matter."""
    y, p, query = [1, 0, 0, 1, 1, 0], [2, 1, 2, 1, 2, 3], [3, 3, 1, 1, 2, 2]
    assert tm.mrr(y, p, query=form(query)) == (1 + 1 / 2 + 1 / 2) / 3


def test_other_metrics_ignore_queries():
    """Families mix in one call, and a ranking without queries can be a failed cell."""
    y, p = [1.0, 0.0, 1.0], [0.9, 0.4, 0.3]
    report = tm.evaluate(y, p, ["rmse", "mrr"], query=["a", "a", "a"])
    assert (report["rmse"], report["mrr"]) == (tm.rmse(y, p), 1.0)
    report = tm.evaluate(y, p, ["rmse", "mrr"], errors="report")
    assert "`query` must be given" in str(report.failures["mrr"])
    assert report["rmse"] == tm.rmse(y, p)


def test_missing_queries_are_refused_or_dropped():
    """Are an error that names the row, or their rows are dropped."""
    y, p = [1, 0, 1], [0.9, 0.4, 0.3]
    for query in (["a", None, "a"], [1.0, math.nan, 1.0], pd.Series(["a", None, "a"])):
        with pytest.raises(tm.MissingValueError, match=r"`query` .*row 1"):
            tm.mrr(y, p, query=query)
        report = tm.evaluate(y, p, ["map", "rmse"], query=query, missing="drop")
        assert (report.n, report.dropped, report["map"]) == (2, 1, 1.0)
    assert tm.mrr([1, 0, math.nan], p, query=[1, 1, 2], missing="drop") == 1.0


def test_zeros_tie_and_scores_of_any_kind_are_taken_as_they_are():
    """Both zeros are one score; margins and probabilities keep their order."""
    assert tm.mrr([1, 0], [0.0, -0.0], query=[1, 1]) == tm.mrr([1, 0], [-0.0, 0.0], query=[1, 1]) == 0.75
    for kind in (None, "score", "margin", "probability", "value"):
        assert tm.mrr([1, 0, 0], [40.0, 50.0, -3.0], query=[1] * 3, kind=kind) == 0.5
    with pytest.raises(tm.KindError):
        tm.mrr([1, 0], [1, 0], query=[1, 1], kind="label")


def test_large_integers_do_not_tie_silently():
    """Scores that float64 cannot tell apart are refused; those that it can are not."""
    for scores in (
        np.array([2**53, 2**53 + 1]),
        np.array([2**64 - 1, 0], np.uint64),
        [-(2**60), 0],
        [2**70, 2**70 + 1],
    ):
        with pytest.raises(tm.DomainError, match=r"2\*\*53"):
            tm.mrr([1, 0], scores, query=[1, 1])
    with pytest.raises(tm.DomainError, match=r"got 9007199254740993 .row 0, column 1"):
        tm.mrr([[1, 0]], np.array([[0, 2**53 + 1]]))
    assert tm.mrr([1, 0], [2**53 - 2, 2**53 - 1], query=[1, 1]) == 0.5
    assert tm.mrr([1, 0], [1e300, 1e200], query=[1, 1]) == 1.0


def test_only_the_ratio_of_relevances_matters_to_a_linear_gain():
    """Only their ratio matters to a linear gain; an exponential one says where it ends."""
    query = [1] * 3
    expected = tm.ndcg([1, 0, 3], [3, 2, 1], query=query)
    for scale in (1e308 / 3, 1e-320, 2.0**-1000, 2.0**1000):
        found = tm.ndcg(np.array([1, 0, 3]) * scale, [3, 2, 1], query=query)
        assert found == pytest.approx(expected, rel=1e-3 if scale == 1e-320 else 1e-14)
    assert tm.ndcg([1000, 999, 0], [1, 2, 0], query=query, gain="exp") == pytest.approx(
        (0.5 + 1 / math.log2(3)) / (1 + 0.5 / math.log2(3)), rel=1e-14
    )
    with pytest.raises(tm.DomainError, match=r"at most 1000 .* 1001 \(row 1\)"):
        tm.ndcg([1, 1001, 0], [1, 2, 0], query=query, gain="exp")
    tiny = tm.ndcg([1e-3, 2e-3, 0], [3, 2, 1], query=query, gain="exp")
    gains = [math.expm1(r * math.log(2)) for r in (1e-3, 2e-3)]
    assert tiny == pytest.approx((gains[0] + gains[1] / math.log2(3)) / (gains[1] + gains[0] / math.log2(3)), rel=1e-13)
    least = np.array([1, 2, 3, 0]) * 5e-324  # 2^r - 1 of such an r has no digits left
    few = tm.ndcg([1, 2, 3, 0], [1, 2, 3, 4], query=[1] * 4)
    assert tm.ndcg(least, [1, 2, 3, 4], query=[1] * 4, gain="exp") == pytest.approx(few, rel=1e-14)
