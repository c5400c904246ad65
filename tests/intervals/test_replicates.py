"""Values in replicates: those of the rows as often as they count, whatever the order and the threads."""

from __future__ import annotations

import numpy as np
import pytest

import tallymark as tm
from tallymark import _core
from tallymark.data.batch import Batch
from tallymark.data.target import Target
from tallymark.intervals.replicates import leave_out_values, resample_values
from tallymark.states.resampling.keys import row_keys

METRICS = ["auc", "gini", "recall", "mcc", "logloss", "average_precision"]


def binary(n=150, seed=0):
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.4).astype(int)
    return y, np.round(np.clip(0.2 * y + 0.8 * rng.random(n), 0, 1), 2), rng.uniform(0.1, 3, n).round(2)


def resample(metrics, batch, *, keys=None, seed=3, resamples=40, **facts):
    target = Target(**facts)
    reads = {item: item.needs(target) for item in map(tm.metric, metrics)}
    return {str(item): values for item, values in resample_values(reads, batch, seed, resamples, keys).items()}


@pytest.mark.parametrize("weighted", [False, True])
def test_replicates_are_the_rows_as_often_as_they_count(weighted):
    """Every metric has in a replicate the value of the rows written as often as they count, with their weights."""
    y, p, w = binary()
    w = w if weighted else None
    found = resample(METRICS, Batch(y, p, w), kind="probability")
    for replicate in range(40):
        times = _core.poisson_counts_of_places(3, replicate, 0, len(y))
        index = np.repeat(np.arange(len(y)), times)
        for name in METRICS:
            expected = tm.metric(name)(y[index], p[index], weights=w if w is None else w[index], kind="probability")
            assert found[name][replicate] == pytest.approx(expected, rel=1e-12)


def test_labels_of_any_type_are_counted():
    """Texts and several classes are resampled in one walk, with one line per class where there is no average."""
    rng = np.random.default_rng(4)
    y, p = (np.array(["a", "b", "c"])[rng.integers(0, 3, 80)] for _ in range(2))
    each = tm.Recall(average=None)
    found = resample(["accuracy", each, "v_measure"], Batch(y, p))
    assert found[str(each)].shape == (3, 40)
    for replicate in range(40):
        index = np.repeat(np.arange(80), _core.poisson_counts_of_places(3, replicate, 0, 80))
        assert found["accuracy"][replicate] == tm.accuracy(y[index], p[index])
        assert found["v_measure"][replicate] == pytest.approx(tm.v_measure(y[index], p[index]), rel=1e-12)
        assert found[str(each)][:, replicate].tolist() == list(each(y[index], p[index], classes=list("abc")).values())


def test_a_class_that_is_missing_from_a_replicate_is_still_a_class():
    """Columns keep their classes where a replicate lacks one; what is undefined without it is NaN."""
    rng = np.random.default_rng(0)
    y = np.array([0] * 20 + [1] * 20 + [2])
    p = rng.dirichlet([1, 1, 1], 41)
    found = resample(["logloss", "auc", "top_k_accuracy(k=2)"], Batch(y, p), resamples=200)
    assert np.isfinite(found["logloss"]).all()
    assert np.isfinite(found["top_k_accuracy(k=2)"]).all()
    lost = [_core.poisson_counts_of_places(3, replicate, 0, 41)[40] == 0 for replicate in range(200)]
    assert (np.isnan(found["auc"]) == lost).all()


def test_many_classes_are_read_like_each_replicate():
    """The mean over classes against the rest is that of the rows as often as they count; other averages too."""
    rng = np.random.default_rng(6)
    y, p = rng.integers(0, 3, 90), rng.dirichlet([1, 1, 1], 90).round(2)
    names = ["auc", "auc(average=weighted)", "auc(multiclass=ovo)", "gini", "gini(average=weighted)"]
    for w in (None, rng.uniform(0.5, 2, 90)):
        found = resample(names, Batch(y, p, w), kind="score")
        for replicate in range(40):
            times = _core.poisson_counts_of_places(3, replicate, 0, 90) * (1.0 if w is None else w)
            for name in names:
                expected = tm.metric(name)(y, p, weights=times, kind="score", classes=[0, 1, 2])
                assert found[name][replicate] == pytest.approx(expected, rel=1e-12, abs=1e-12)


def test_replicates_of_many_rows_are_folded_on_several_threads():
    """Rows enough for a thread each give the same replicates, in order, as one thread."""
    rng = np.random.default_rng(7)
    y, p = rng.normal(size=5000), rng.normal(size=5000)
    before, found = _core.get_threads(), []
    try:
        for threads in (1, 3):
            tm.set_threads(threads)
            found.append(resample(["rmse", "spearman"], Batch(y, p)))
    finally:
        tm.set_threads(before)
    assert all(found[0][name].tobytes() == found[1][name].tobytes() for name in found[0])


def test_undefined_replicates_are_nan_or_what_stands_for_them():
    """A replicate without a value is NaN, or the number that was asked for; "raise" does not stop the others."""
    y, p = np.array([0, 0, 0, 1]), np.array([0.1, 0.4, 0.3, 0.2])
    for name in ("auc", "recall"):
        plain, half, strict = (tm.metric(name).replace(undefined=choice) for choice in (None, 0.5, "raise"))
        found = [resample([item], Batch(y, p), kind="probability")[str(item)] for item in (plain, half, strict)]
        assert 0 < np.isnan(found[0]).sum() < 40
        assert np.array_equal(np.nan_to_num(found[0], nan=0.5), found[1])
        assert np.array_equal(found[0], found[2], equal_nan=True)


@pytest.mark.parametrize("weighted", [False, True])
def test_order_and_threads_do_not_show(weighted):
    """Rows in another order, with their keys, have the same replicates to the last bit, on any number of threads."""
    y, p, w = binary(3000)
    w = w if weighted else None
    first = resample(METRICS, Batch(y, p, w), resamples=64, kind="probability")
    order = np.random.default_rng(1).permutation(3000)
    moved = Batch(y[order], p[order], None if w is None else w[order])
    before = _core.get_threads()
    try:
        for threads in (1, 2):
            tm.set_threads(threads)
            keys = order.astype(np.uint64)
            for found in (
                resample(METRICS, Batch(y, p, w), resamples=64, kind="probability"),
                resample(METRICS, moved, keys=keys, resamples=64, kind="probability"),
            ):
                assert all(found[name].tobytes() == first[name].tobytes() for name in METRICS)
    finally:
        tm.set_threads(before)


def test_clusters_count_as_one():
    """All rows of a cluster count alike; clusters of one row each, named by their place, are the rows themselves."""
    y, p, _ = binary()
    batch = Batch(y, p, cluster=[f"patient {k // 5}" for k in range(150)])
    keys = row_keys(batch)
    assert len(np.unique(keys)) == 30
    found = resample(METRICS, batch, keys=keys, kind="probability")
    for replicate in range(40):
        times = _core.poisson_counts(3, replicate, keys)
        assert (times.reshape(30, 5) == times.reshape(30, 5)[:, :1]).all()
        index = np.repeat(np.arange(150), times)
        for name in METRICS:
            expected = tm.metric(name)(y[index], p[index], kind="probability")
            assert found[name][replicate] == pytest.approx(expected, rel=1e-12)
    by_place = row_keys(Batch(y, p), np.arange(150))
    rows, places = (resample(METRICS, batch, keys=given, kind="probability") for given in (None, by_place))
    assert all(rows[name].tobytes() == places[name].tobytes() for name in METRICS)


def test_queries_are_resampled_as_a_whole():
    """Metrics of rankings resample queries: a query that counts twice is two queries."""
    rng = np.random.default_rng(8)
    query = np.repeat(np.arange(20), 5)
    y, p = rng.integers(0, 3, 100), rng.random(100)
    found = resample(["ndcg", "mrr"], Batch(y, p, query=query))
    for replicate in range(40):
        times = _core.poisson_counts(3, replicate, np.arange(20, dtype=np.uint64))
        for name in ("ndcg", "mrr"):
            value = tm.metric(name)(y, p, query=query, weights=times[query].astype(float))
            assert found[name][replicate] == pytest.approx(value, rel=1e-12)


def test_leaving_out_takes_every_row_once():
    """Few rows are left out one by one; a mean without each of them tells which."""
    y = np.arange(7.0)
    found = leave_out_values({tm.mae: tm.mae.reads}, Batch(y, np.zeros(7)), None)
    assert sorted(found[tm.mae]) == pytest.approx(sorted((21 - y) / 6))
    many = leave_out_values({tm.mae: tm.mae.reads}, Batch(np.ones(20_000), np.zeros(20_000)), None)
    assert many is None


def test_pairs_are_resampled_alike_for_two_models():
    """With one seed, two models are resampled alike: the same model has the same values."""
    y, p, _ = binary()
    one, other = (resample(["auc"], Batch(y, p), seed=5, kind="score")["auc"] for _ in range(2))
    assert one.tobytes() == other.tobytes()
    assert one.tobytes() != resample(["auc"], Batch(y, p), seed=6, kind="score")["auc"].tobytes()
