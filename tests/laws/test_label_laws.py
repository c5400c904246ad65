"""The laws of labels and clusters: names do not matter, sides can change places, and the rates fit together."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tallymark as tm
from tallymark.metrics.classification.base import LabelMetric
from tallymark.metrics.clustering.base import ClusterMetric
from tallymark.metrics.clustering.separation import ShapeMetric
from tests.laws.cases import METRICS, close, is_binary, labels_for, numbers, same_bits

LABELS = [metric for metric in METRICS if isinstance(metric, LabelMetric) and metric.kind == "label"]
CLUSTERS = [metric for metric in METRICS if isinstance(metric, ClusterMetric)]
SHAPES = [metric for metric in METRICS if isinstance(metric, ShapeMetric)]
TABLES = ("confusion_matrix", "classification_report")
seeds = st.integers(0, 2**32)


def sorted_numbers(value):
    """The numbers of a value in an order that does not depend on the names of the classes."""
    return sorted(numbers(value), key=lambda x: (math.isnan(x), x))


def renamed(labels, names):
    return np.array([names[label] for label in labels.tolist()], dtype=object)


@pytest.mark.parametrize("metric", LABELS, ids=str)
@given(seed=seeds)
def test_renaming_the_labels_changes_no_bit(metric, seed):
    """Any new names, numbers or strings, in any order, give the same numbers to the last bit."""
    rng = np.random.default_rng(seed)
    rows = labels_for(metric, rng, int(rng.integers(1, 40)))
    old = sorted({*rows.y.tolist(), *rows.p.tolist()})
    new = rng.permutation(10 * len(old))[: len(old)].tolist()
    if getattr(metric, "weighting", None) is not None:
        new.sort()  # near misses go by the order of the classes
    if rng.random() < 0.5:
        new = [f"class {k:03d}" for k in new]
    names = dict(zip(old, new, strict=True))
    facts = {}
    if is_binary(metric):
        positive = rows.facts.get("positive", 1)
        facts = {"positive": names.get(positive, "nobody" if isinstance(new[0], str) else -7)}
        if facts["positive"] not in new and len(old) > 1:
            return
    before = metric.answer(rows.fold(metric)).value
    after = rows._replace(y=renamed(rows.y, names), p=renamed(rows.p, names), facts=facts)
    found = metric.answer(after.fold(metric)).value
    assert [same_bits(a, b) for a, b in zip(sorted_numbers(before), sorted_numbers(found), strict=True)].count(
        False
    ) == 0
    if isinstance(before, dict):
        assert all(same_bits(value, found[names[label]]) for label, value in before.items())


@pytest.mark.parametrize("metric", CLUSTERS, ids=str)
@given(seed=seeds)
def test_clusters_may_be_called_anything(metric, seed):
    """On either side, in any type, and the value is the same to the last bit."""
    rng = np.random.default_rng(seed)
    rows = labels_for(metric, rng, int(rng.integers(1, 40)))
    before = metric.answer(rows.fold(metric)).value
    sides = []
    for side in (rows.y, rows.p):
        old = sorted(set(side.tolist()))
        style = rng.integers(3)
        new = rng.permutation(10 * len(old))[: len(old)].tolist()
        new = [f"c{k}" for k in new] if style == 1 else [k + 0.5 for k in new] if style == 2 else new
        sides.append(renamed(side, dict(zip(old, new, strict=True))))
    assert same_bits(metric.answer(rows._replace(y=sides[0], p=sides[1]).fold(metric)).value, before)


@pytest.mark.parametrize("metric", SHAPES, ids=str)
@given(seed=seeds)
def test_clusters_of_points_may_be_called_anything(metric, seed):
    """And the points may come in any order."""
    rng = np.random.default_rng(seed)
    rows = labels_for(metric, rng, int(rng.integers(2, 40)))
    before = metric.answer(rows.fold(metric)).value
    names = {label: f"c{k}" for k, label in enumerate(rng.permutation(sorted(set(rows.p.tolist()))).tolist())}
    other = rows._replace(p=renamed(rows.p, names)).take(rng.permutation(len(rows.y)))
    assert same_bits(metric.answer(other.fold(metric)).value, before)


@pytest.mark.parametrize("metric", [m for m in (*LABELS, *CLUSTERS) if m.symmetric], ids=str)
@given(seed=seeds)
def test_truth_and_prediction_can_change_places(metric, seed):
    """To the last bit, where the definition says so."""
    rng = np.random.default_rng(seed)
    rows = labels_for(metric, rng, int(rng.integers(1, 40)))
    other = rows._replace(y=rows.p, p=rows.y)
    assert same_bits(metric.answer(rows.fold(metric)).value, metric.answer(other.fold(metric)).value)


@pytest.mark.parametrize("metric", [m for m in CLUSTERS if not m.symmetric], ids=str)
def test_sides_that_cannot_change_places_do_not(metric):
    """A fact that is stated is a fact."""
    y, p = [0, 0, 0, 1, 1, 2, 2, 2], [0, 0, 1, 1, 1, 1, 1, 1]
    assert metric(y, p) != metric(p, y)


@given(seed=seeds)
def test_the_rates_fit_together(seed):
    """accuracy + error_rate = 1, FDR = 1 − P, specificity = 1 − fallout, FNR = 1 − R, micro P = micro R = accuracy."""
    rng = np.random.default_rng(seed)
    rows = labels_for(tm.precision, rng, int(rng.integers(1, 60)))
    names = ["accuracy", "error_rate", "error", "precision", "recall", "sensitivity", "fdr", "fallout", "specificity"]
    names += ["fnr", "npv", "informedness", "markedness", "fscore", "jaccard", "mcc", "balanced_accuracy"]
    names += ["precision(average=micro)", "recall(average=micro)", "fscore(average=micro)", "hamming_loss"]
    r = tm.evaluate(rows.y, rows.p, names, weights=rows.w, **rows.facts)
    if r.total_weight == 0:
        return

    def fits(a, b):
        return (math.isnan(a) and math.isnan(b)) or abs(a - b) <= 1e-12

    assert fits(r["accuracy"] + r["error_rate"], 1.0)
    assert fits(r["error"] / r.total_weight, r["error_rate"])
    assert fits(r["fdr"], 1 - r["precision"])
    assert fits(r["specificity"], 1 - r["fallout"])
    assert fits(r["fnr"], 1 - r["recall"])
    assert same_bits(r["sensitivity"], r["recall"])
    assert same_bits(r["hamming_loss"], r["error_rate"])
    for average in ("precision(average=micro)", "recall(average=micro)", "fscore(average=micro)"):
        assert same_bits(r[average], r["accuracy"])
    assert fits(r["informedness"], r["recall"] + r["specificity"] - 1)
    assert fits(r["markedness"], r["precision"] + r["npv"] - 1)
    if not math.isnan(r["precision"]) and not math.isnan(r["recall"]):
        assert min(r["precision"], r["recall"]) <= r["fscore"] <= max(r["precision"], r["recall"])
        assert fits(r["jaccard"], r["fscore"] / (2 - r["fscore"]))
    if not math.isnan(r["mcc"]):
        product = r["informedness"] * r["markedness"]
        assert abs(r["mcc"] ** 2 - product) <= 1e-12


@given(seed=seeds)
def test_rates_and_their_complements_add_up_to_one_in_every_average(seed):
    """FDR = 1 − P, fallout = 1 − specificity and FNR = 1 − R, also where classes are never true or never predicted."""
    rng = np.random.default_rng(seed)
    n, classes = int(rng.integers(1, 12)), np.arange(int(rng.integers(1, 6)))
    facts = {"classes": [*range(6)]} if rng.random() < 0.3 else {}
    y, p = rng.choice(classes, n), rng.choice(classes, n)
    if rng.random() < 0.3:
        y, p, facts = rng.integers(0, 2, (n, 3)), rng.integers(0, 2, (n, 3)), {}
    weights = rng.integers(1, 4, n) if rng.random() < 0.5 else None
    for rate, complement in (("fdr", "precision"), ("fallout", "specificity"), ("fnr", "recall")):
        for options in ("average=macro", "average=weighted", "average=micro", "average=macro, absent=skip"):
            a, b = f"{rate}({options})", f"{complement}({options})"
            r = tm.evaluate(
                y, p, [a, b], weights=weights, ci=None if y.ndim > 1 or weights is not None else 0.95, **facts
            )
            mirrored = [r.cell(b).value, r.cell(b).hi, r.cell(b).lo]
            for found, other in zip([r.cell(a).value, r.cell(a).lo, r.cell(a).hi], mirrored, strict=True):
                assert (found is None) == (other is None), (a, r)
                if found is not None:
                    assert abs(found - (1 - other)) <= 1e-9 or (math.isnan(found) and math.isnan(other)), (a, r)
            assert r.cell(a).reason == r.cell(b).reason


@given(seed=seeds, beta=st.sampled_from([0.3, 0.5, 1.0, 2.0, 7.0]))
def test_f_lies_between_precision_and_recall(seed, beta):
    """For every beta, every class, every average over counts, and for macro_pr."""
    rng = np.random.default_rng(seed)
    rows = labels_for(tm.accuracy, rng, int(rng.integers(1, 60)))
    for average in ("micro", None):
        p, r, f = (
            numbers(rows.call(metric, average=average))
            for metric in (tm.precision, tm.recall, tm.fscore.replace(beta=beta))
        )
        for a, b, c in zip(p, r, f, strict=True):
            assert math.isnan(a) or math.isnan(b) or min(a, b) <= c <= max(a, b)
    p, r = (rows.call(metric, average="macro") for metric in (tm.precision, tm.recall))
    f = rows.call(tm.fscore.replace(beta=beta), average="macro_pr")
    assert math.isnan(f) or min(p, r) - 1e-15 <= f <= max(p, r) + 1e-15


@given(seed=seeds)
def test_probabilities_are_the_labels_that_they_decide(seed):
    """One column, two columns, n × K columns and margins give what the decided labels give, to the last bit."""
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(2, 50)), int(rng.integers(3, 6))
    y, p, w = rng.integers(0, 2, n), rng.choice([0.0, 0.2, 0.5, 0.7, 1.0], n), rng.uniform(0, 2, n)
    threshold = float(rng.choice([0.0, 0.2, 0.5, 0.9, 1.0]))
    said = (p >= threshold).astype(int)
    for name in ("accuracy", "recall", "mcc", "fscore(average=macro)"):
        metric = tm.metric(name, threshold=threshold)
        expected = metric(y, said, weights=w, classes=[0, 1])
        assert same_bits(metric(y, p, weights=w, classes=[0, 1]), expected)
        assert same_bits(metric(y, np.column_stack([1 - p, p]), weights=w, classes=[0, 1]), expected)
        assert same_bits(metric(y, np.column_stack([p, 1 - p]), weights=w, classes=[1, 0]), expected)
    margin = rng.normal(0, 3, n)
    assert same_bits(tm.margin_accuracy(y, margin), tm.accuracy(y, (margin >= 0).astype(int)))
    assert same_bits(
        tm.accuracy(y, np.column_stack([-margin, margin]) / 2, kind="margin", classes=[0, 1]),
        tm.accuracy(y, margin, kind="margin"),
    )
    table = rng.integers(0, 4, (n, k)) + 0.0
    classes = [f"c{j}" for j in range(k)]
    truth = rng.choice(classes, n)
    largest = np.array(classes)[table.argmax(axis=1)]
    expected = tm.fscore(truth, largest, average="macro", classes=classes)
    assert same_bits(tm.fscore(truth, table, average="macro", classes=classes, kind="margin"), expected)
    table[:, 0] += 1e-9  # a row of zeros has no shares
    largest = np.array(classes)[table.argmax(axis=1)]
    assert same_bits(tm.accuracy(truth, table, classes=classes, normalize=True), tm.accuracy(truth, largest))


@given(seed=seeds)
def test_several_labels_are_so_many_binary_tables(seed):
    """Each column alone gives the value of its label; micro is that of all columns in a row."""
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(1, 30)), int(rng.integers(2, 5))
    y, p, w = rng.integers(0, 2, (n, k)), rng.integers(0, 2, (n, k)), rng.uniform(0, 2, n)
    for metric in (tm.precision, tm.recall, tm.fscore, tm.jaccard, tm.specificity):
        each = metric(y, p, weights=w, average=None)
        alone = [metric(y[:, j], p[:, j], weights=w) for j in range(k)]
        assert same_bits(list(each.values()), alone)
        micro = metric(y.ravel(), p.ravel(), weights=np.repeat(w, k))
        assert close(metric(y, p, weights=w, average="micro"), micro)
    assert close(tm.accuracy(y, p, weights=w), np.average((y == p).all(axis=1), weights=w), 1e-12, scale=1.0)
    assert close(tm.hamming_loss(y, p, weights=w), np.average((y != p).mean(axis=1), weights=w), 1e-12, scale=1.0)
    tally = tm.Tally(["fscore(average=macro)", "accuracy", "hamming_loss"])
    for piece in np.array_split(rng.permutation(n), 3):
        tally.update(y[piece], p[piece], weights=w[piece])
    whole = tm.evaluate(y, p, ["fscore(average=macro)", "accuracy", "hamming_loss"], weights=w)
    assert all(same_bits(tally.report()[key], whole[key]) for key in whole)
    back = tm.Tally.from_bytes(tally.to_bytes())
    assert all(same_bits(back.report()[key], whole[key]) for key in whole)


@given(seed=seeds)
def test_mutual_information_obeys_its_inequalities(seed):
    """0 ≤ I ≤ both entropies, I(x, x) = H(x), V is NMI by the mean, and chance is near 0 after adjustment."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 60))
    a, b = rng.integers(0, 5, n), rng.integers(0, 4, n)
    own = tm.mutual_information(a, a)
    sizes = np.bincount(a) / n
    entropy = -sum(s * math.log(s) for s in sizes if s)
    assert abs(own - entropy) <= 1e-12
    mutual = tm.mutual_information(a, b)
    assert 0 <= mutual <= min(own, tm.mutual_information(b, b)) + 1e-12
    h, c = tm.homogeneity(a, b), tm.completeness(a, b)
    assert same_bits(h, tm.completeness(b, a))
    if len(set(a.tolist())) > 1 and len(set(b.tolist())) > 1:
        assert close(tm.v_measure(a, b), tm.normalized_mutual_information(a, b, norm="sum"), 1e-12, scale=1.0)
        order = [tm.normalized_mutual_information(a, b, norm=norm) for norm in ("joint", "max", "sum", "sqrt", "min")]
        assert all(x <= y + 1e-12 for x, y in pairwise(order))
    assert c >= 0
    assert tm.purity(a, b) >= tm.purity(a, np.zeros(n, int))


def test_random_clusterings_average_to_an_adjusted_score_of_0():
    """A thousand random clusterings average to an adjusted score of 0, and a constant one gets exactly 0."""
    rng = np.random.default_rng(5)
    a = rng.integers(0, 4, 60)
    for metric in (tm.adjusted_rand, tm.adjusted_mutual_information):
        found = [metric(a, rng.permutation(a)) for _ in range(1000)]
        assert abs(np.mean(found)) < 4 * np.std(found) / math.sqrt(1000)
        assert metric(a, np.zeros(60)) == 0.0
        assert metric(a, np.arange(60)) == 0.0
