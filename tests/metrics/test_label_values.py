"""Values of the metrics on labels and clusters, worked out by hand, and what they say where there is none."""

from __future__ import annotations

import math

import numpy as np
import pytest

import tallymark as tm

TEN = ([1, 1, 1, 1, 1, 0, 0, 0, 0, 0], [1, 1, 1, 0, 0, 1, 0, 0, 0, 0])  # 3 true positives, 1 false, 2 missed
EIGHT = ([1, 0, 1, 0, 1, 0, 1, 0], [1, 0, 1, 0, 0, 1, 1, 0])
HUNDRED = (["A"] * 50 + ["B"] * 50, ["A"] * 40 + ["B"] * 10 + ["A"] * 15 + ["B"] * 35)
ALL_A = (["A", "A", "B", "B"], ["A", "A", "A", "A"])
SIX = ([0, 0, 1, 1, 2, 2], [0, 1, 1, 1, 2, 2])
SWAPPED = ([0, 0, 1, 1, 2, 2], [1, 1, 0, 0, 2, 2])
CROSSED = ([0, 0, 1, 1], [0, 1, 0, 1])
ALTERNATING = ([0, 0, 0, 1, 1, 1], [0, 1, 0, 1, 0, 1])
SPLIT = ([0, 0, 1, 1, 2, 2], [0, 0, 1, 2, 2, 2])


@pytest.mark.parametrize(
    ("name", "rows", "expected"),
    [
        ("accuracy", TEN, 0.7),
        ("error_rate", TEN, 0.3),
        ("error", TEN, 3.0),
        ("hamming_loss", TEN, 0.3),
        ("balanced_accuracy", TEN, 0.7),
        ("precision", TEN, 0.75),
        ("recall", TEN, 0.6),
        ("sensitivity", TEN, 0.6),
        ("fscore", TEN, 2 / 3),
        ("fscore(beta=2)", TEN, 15 / 24),
        ("jaccard", TEN, 0.5),
        ("fdr", TEN, 0.25),
        ("specificity", TEN, 0.8),
        ("fallout", TEN, 0.2),
        ("fnr", TEN, 0.4),
        ("npv", TEN, 2 / 3),
        ("informedness", TEN, 0.4),
        ("markedness", TEN, 5 / 12),
        ("mcc", TEN, 0.408248290463863),
        ("cohen_kappa", TEN, 0.4),
        ("mcc", EIGHT, 0.5),
        ("precision(average=macro)", HUNDRED, 0.7525252525252526),
        ("recall(average=macro)", HUNDRED, 0.75),
        ("fscore(average=macro_pr)", HUNDRED, 0.7512605042016807),
        ("fscore(average=macro)", HUNDRED, 0.7493734335839599),
        ("fscore(average=micro)", HUNDRED, 0.75),
        ("cohen_kappa", HUNDRED, 0.5),
        ("accuracy", ALL_A, 0.5),
        ("precision(average=macro)", ALL_A, 0.25),
        ("precision(average=macro, absent=skip)", ALL_A, 0.5),
        ("precision(average=macro, absent=1)", ALL_A, 0.75),
        ("recall(average=macro)", ALL_A, 0.5),
        ("fscore(average=macro_pr)", ALL_A, 1 / 3),
        ("fscore(average=macro)", ALL_A, 1 / 3),
        ("cohen_kappa", ALL_A, 0.0),
        ("fscore(average=macro)", SIX, 0.8222222222222223),
        ("fscore(average=macro, beta=2)", SIX, 0.8215488215488215),
        ("fscore(average=macro, beta=0.5)", SIX, 0.8492063492063492),
        ("cohen_kappa(weighting=linear)", SIX, 1 - (1 / 6) / (5 / 6)),
        ("cohen_kappa(weighting=quadratic)", SIX, 1 - (1 / 6) / (7 / 6)),
        ("adjusted_rand", SWAPPED, 1.0),
        ("rand_index", SWAPPED, 1.0),
        ("mutual_information", SWAPPED, math.log(3)),
        ("normalized_mutual_information", SWAPPED, 1.0),
        ("adjusted_mutual_information", SWAPPED, 1.0),
        ("purity", SWAPPED, 1.0),
        ("mutual_information", CROSSED, 0.0),
        ("normalized_mutual_information", CROSSED, 0.0),
        ("homogeneity", CROSSED, 0.0),
        ("v_measure", CROSSED, 0.0),
        ("rand_index", CROSSED, 1 / 3),
        ("adjusted_rand", CROSSED, -0.5),
        ("fowlkes_mallows", CROSSED, 0.0),
        ("purity", CROSSED, 0.5),
        ("mutual_information", ALTERNATING, 0.0566330122651324),
        ("adjusted_rand", ALTERNATING, -1 / 9),
        ("purity", ALTERNATING, 2 / 3),
        ("adjusted_rand", SPLIT, 4 / 9),
        ("mutual_information", SPLIT, 0.7803552045207032),
        ("normalized_mutual_information(norm=sum)", SPLIT, 0.7396673768007592),
        ("v_measure", SPLIT, 0.7396673768007592),
        ("homogeneity", SPLIT, 0.7803552045207032 / math.log(3)),
        ("normalized_mutual_information", SPLIT, 0.7803552045207032 / math.log(3)),
        ("fowlkes_mallows", SPLIT, 2 / math.sqrt(3 * 4)),
        ("purity", SPLIT, 5 / 6),
        ("silhouette", ([[0], [1], [5], [6]], [0, 0, 1, 1]), (9 / 11 + 7 / 9) / 2),
        ("davies_bouldin", ([[0], [2], [8], [10]], [0, 0, 1, 1]), 0.25),
        ("calinski_harabasz", ([[0], [2], [8], [10]], [0, 0, 1, 1]), 32.0),
    ],
)
def test_the_value_is_that_computed_by_hand(name, rows, expected):
    """To 1e-12 relative, zeros to 1e-15."""
    assert tm.metric(name)(*rows) == pytest.approx(expected, rel=1e-12, abs=1e-15)


def test_the_confusion_matrix_and_report_have_the_worked_values():
    """The confusion matrix and the report of a table of 40, 10, 15 and 35."""
    matrix = tm.confusion_matrix(*HUNDRED)
    assert np.asarray(matrix).tolist() == [[40, 10], [15, 35]]
    assert matrix["A", "B"] == 10
    assert matrix.mistakes() == [("B", "A", 15), ("A", "B", 10)]
    assert np.asarray(matrix.normalized("truth")).tolist() == [[0.8, 0.2], [0.3, 0.7]]
    report = tm.classification_report(*HUNDRED)
    assert report["A"] == pytest.approx((40 / 55, 0.8, 80 / 105, 50, 40, 15, 10), rel=1e-12)
    assert report["B"] == pytest.approx((35 / 45, 0.7, 70 / 95, 50, 35, 10, 15), rel=1e-12)
    macro = report.averages["macro"]
    assert macro[:4] == pytest.approx((0.7525252525252526, 0.75, 0.7493734335839599, 100), rel=1e-12)
    assert macro[4:] == (None, None, None)
    assert report.accuracy == 0.75


def test_top_k_accuracy_counts_the_rows_whose_class_is_among_the_first_k():
    """The true class comes first in one row, second in one, third in one."""
    y, scores = [0, 1, 2], [[0.6, 0.3, 0.1], [0.6, 0.3, 0.1], [0.6, 0.3, 0.1]]
    assert [tm.top_k_accuracy(y, scores, k=k) for k in (1, 2, 3, 5)] == pytest.approx([1 / 3, 2 / 3, 1, 1], rel=1e-12)
    assert tm.top_k_accuracy(y, scores, k=1, classes=y, weights=[3, 1, 0]) == 0.75


def test_a_weight_of_two_is_the_row_twice():
    """A weight of two is the row twice; a fraction counts as such."""
    y, p, w = [1, 1, 0, 0], [1, 0, 1, 0], [2, 0.5, 1, 4.5]
    assert tm.accuracy(y, p, weights=w) == 6.5 / 8
    assert tm.error(y, p, weights=w) == 1.5
    assert tm.precision(y, p, weights=w) == pytest.approx(2 / 3, rel=1e-12)
    assert tm.recall(y, p, weights=w) == 0.8
    assert tm.recall(y, p, weights=w, average="weighted") == pytest.approx((2.5 * 0.8 + 4.5) / 8, rel=1e-12)


def test_subset_accuracy_and_hamming_loss_of_several_labels_have_the_worked_values():
    """Two of three rows are right in all labels, and one label of nine is wrong."""
    y, p = [[1, 0, 1], [0, 1, 0], [1, 1, 0]], [[1, 0, 1], [0, 1, 0], [1, 0, 0]]
    assert tm.accuracy(y, p) == pytest.approx(2 / 3, rel=1e-12)
    assert tm.hamming_loss(y, p) == pytest.approx(1 / 9, rel=1e-12)
    assert tm.recall(y, p, average=None) == {0: 1.0, 1: 0.5, 2: 1.0}
    assert tm.recall(y, p, average="macro") == pytest.approx(5 / 6, rel=1e-12)
    assert tm.recall(y, p, average="micro") == 0.8
    assert tm.recall(y, p, average="weighted") == 0.8


COMPARISONS = [
    "rand_index",
    "adjusted_rand",
    "fowlkes_mallows",
    "normalized_mutual_information",
    "normalized_mutual_information(norm=min)",
    "normalized_mutual_information(norm=sum)",
    "normalized_mutual_information(norm=sqrt)",
    "normalized_mutual_information(norm=joint)",
    "adjusted_mutual_information",
    "adjusted_mutual_information(norm=min)",
    "adjusted_mutual_information(norm=sum)",
    "adjusted_mutual_information(norm=sqrt)",
    "homogeneity",
    "completeness",
    "v_measure",
    "v_measure(beta=3)",
    "purity",
]


@pytest.mark.parametrize("name", COMPARISONS)
@pytest.mark.parametrize(
    ("y", "p"),
    [
        ([7], ["a"]),
        ([0, 0, 0], ["x", "x", "x"]),
        ([0, 1, 2], ["c", "a", "b"]),
        ([3, 3, 5], [1, 1, 0]),
        ([0, 1], [1, 0]),
    ],
    ids=["one row", "one cluster", "all apart", "plain", "two rows"],
)
def test_identical_clusterings_are_a_perfect_match(name, y, p):
    """Exactly 1.0, even where there is nothing to tell apart; weights change nothing."""
    assert tm.metric(name)(y, p) == 1.0
    assert tm.metric(name)(y, p, weights=[2] * len(y)) == 1.0


def test_information_of_identical_clusterings_is_their_entropy():
    """Nothing can be told by one cluster; three rows apart tell log 3."""
    assert tm.mutual_information([0, 0, 0], ["x", "x", "x"]) == 0.0
    assert tm.mutual_information([7], ["a"]) == 0.0
    assert tm.mutual_information([0, 1, 2], ["c", "a", "b"]) == pytest.approx(math.log(3), rel=1e-12)


@pytest.mark.parametrize("other", [[0, 0, 1, 1], [0, 1, 2, 3], [0, 0, 0, 1]])
def test_one_cluster_against_several(other):
    """Where exactly one side says nothing, shares of information are 0; h and c are 1 where their entropy is 0."""
    one = [5, 5, 5, 5]
    for y, p in ((one, other), (other, one)):
        for norm in ("max", "min", "sum", "sqrt"):
            assert tm.normalized_mutual_information(y, p, norm=norm) == 0.0
            assert tm.adjusted_mutual_information(y, p, norm=norm) == 0.0
        assert tm.normalized_mutual_information(y, p, norm="joint") == 0.0
        assert tm.mutual_information(y, p) == 0.0
        assert tm.adjusted_rand(y, p) == 0.0
        assert tm.v_measure(y, p) == 0.0
    assert (tm.homogeneity(one, other), tm.completeness(one, other)) == (1.0, 0.0)
    assert (tm.homogeneity(other, one), tm.completeness(other, one)) == (0.0, 1.0)


def test_all_apart_is_no_better_than_chance():
    """Singletons tell everything whatever the truth is: adjusted for chance that is 0."""
    y, p = [0, 0, 1, 1, 1], [0, 1, 2, 3, 4]
    for norm in ("max", "min", "sum", "sqrt"):
        assert tm.adjusted_mutual_information(y, p, norm=norm) == 0.0
    assert tm.adjusted_rand(y, p) == 0.0
    assert tm.normalized_mutual_information(y, p, norm="min") == 1.0
    assert tm.homogeneity(y, p) == 1.0


def test_f_is_0_without_true_positives_and_undefined_without_positives():
    """F is 0 where precision and recall are 0 or one of them is missing, and undefined only if nothing is positive."""
    for beta in (0.5, 1, 2):
        assert tm.fscore([1, 0], [0, 1], beta=beta) == 0.0
        assert tm.fscore([1, 0], [0, 0], beta=beta) == 0.0
        assert tm.fscore([0, 0], [1, 0], beta=beta) == 0.0
        assert math.isnan(tm.fscore([0, 0], [0, 0], beta=beta))
    assert tm.fscore(["a", "b"], ["b", "a"], average="macro_pr") == 0.0
    assert tm.fscore(["a", "a"], ["b", "b"], average="macro_pr", absent=0) == 0.0
    assert tm.fscore(["a", "b"], ["b", "a"], average="micro") == 0.0


NO, YES = [0, 0, 0], [1, 1, 1]
UNDEFINED = [
    ("precision", YES, NO, "no row was predicted positive"),
    ("recall", NO, YES, "no row is truly positive"),
    ("sensitivity", NO, YES, "no row is truly positive"),
    ("fscore", NO, NO, "no row is truly positive or was predicted positive"),
    ("fscore(beta=2)", NO, NO, "no row is truly positive or was predicted positive"),
    ("jaccard", NO, NO, "no row is truly positive or was predicted positive"),
    ("fdr", YES, NO, "no row was predicted positive"),
    ("fallout", YES, NO, "no row is truly negative"),
    ("specificity", YES, NO, "no row is truly negative"),
    ("npv", NO, YES, "no row was predicted negative"),
    ("fnr", NO, YES, "no row is truly positive"),
    ("informedness", NO, [0, 1, 0], "the truth is constant"),
    ("informedness", YES, [0, 1, 0], "the truth is constant"),
    ("likelihood_ratio_positive", YES, YES, "no negative row was predicted positive, or no row is truly positive"),
    ("likelihood_ratio_negative", NO, NO, "no negative row was predicted negative, or no row is truly positive"),
    ("markedness", [0, 1, 0], NO, "the predictions are constant"),
    ("markedness", [0, 1, 0], YES, "the predictions are constant"),
    ("mcc", NO, [0, 1, 0], "the truth is constant"),
    ("mcc", NO, NO, "the truth is constant"),
    ("mcc", [0, 1, 0], YES, "the predictions are constant"),
    ("cohen_kappa", YES, YES, "truth and predictions are one and the same class"),
    ("cohen_kappa(weighting=linear)", YES, YES, "truth and predictions are one and the same class"),
    ("cohen_kappa(weighting=quadratic)", NO, NO, "truth and predictions are one and the same class"),
    ("precision(average=macro, absent=skip)", [[1, 0], [1, 0]], [[0, 0], [0, 0]], "no row was predicted positive"),
    ("precision(average=weighted, absent=skip)", ["a"], ["b"], "no row was predicted positive"),
    ("precision(average=weighted)", [[0, 0]], [[1, 0]], "no row was predicted positive"),
    ("precision(average=micro)", [[1, 0]], [[0, 0]], "no row was predicted positive"),
    ("recall(average=micro)", [[0, 0]], [[1, 0]], "no row is truly positive"),
    ("fscore(average=micro)", [[0, 0]], [[0, 0]], "no row is truly positive or was predicted positive"),
    ("fscore(average=macro_pr, absent=skip)", [[1, 0]], [[0, 0]], "no row was predicted positive"),
    ("fscore(average=macro_pr, absent=skip)", [[0, 0]], [[1, 0]], "no row is truly positive"),
    ("silhouette", [[1], [2]], [0, 0], "there is one cluster only"),
    ("silhouette", [[1], [2]], [0, 1], "every row is a cluster of its own"),
    ("davies_bouldin", [[1], [2]], [0, 0], "there is one cluster only"),
    ("davies_bouldin", [[1], [2]], [0, 1], "every row is a cluster of its own"),
    ("davies_bouldin", [[-1], [1], [-2], [2]], [0, 0, 1, 1], "two clusters have the same centre"),
    ("calinski_harabasz", [[1], [2]], [0, 0], "there is one cluster only"),
    ("calinski_harabasz", [[1], [2]], [0, 1], "every row is a cluster of its own"),
    ("calinski_harabasz", [[1], [1], [2]], [0, 0, 1], "the points of every cluster coincide"),
]


@pytest.mark.parametrize(("name", "y", "p", "reason"), UNDEFINED)
def test_what_is_undefined_says_why(name, y, p, reason):
    """NaN with the reason, the number that was asked for, or an error that names metric and reason."""
    report = tm.evaluate(y, p, [name])
    assert math.isnan(report[name])
    assert report.reasons == {name: reason}
    metric = tm.metric(name)
    assert math.isnan(metric(y, p))
    assert metric(y, p, undefined=0) == 0.0
    assert metric(y, p, undefined=-7.5) == -7.5
    with pytest.raises(tm.UndefinedError) as caught:
        metric(y, p, undefined="raise")
    assert str(caught.value) == f"{metric} is undefined: {reason}"


def test_undefined_classes_are_named():
    """One value per class: those without one have their reason, and undefined= fills them."""
    report = tm.evaluate(["a", "a"], ["b", "b"], ["precision(average=None)"])
    found = report["precision(average=None)"]
    assert math.isnan(found["a"])
    assert found["b"] == 0.0
    assert report.reasons["precision(average=None)"] == "class 'a': no row was predicted positive"
    assert tm.precision(["a", "a"], ["b", "b"], average=None, undefined=0.5) == {"a": 0.5, "b": 0.0}
    with pytest.raises(tm.UndefinedError, match="no row was predicted positive"):
        tm.precision(["a", "a"], ["b", "b"], average=None, undefined="raise")


def test_every_metric_that_can_be_undefined_is_tried_here():
    """No metric on labels or points that documents an undefined value is missing from the list above."""
    tried = {name.partition("(")[0] for name, *_ in UNDEFINED}
    known = [*tm.list_metrics(family="classification"), *tm.list_metrics(family="clustering")]
    assert {metric.name for metric in known if metric.when_undefined} == tried


def test_no_rows_and_no_weight():
    """A tally without rows has no value, nor have rows that weigh nothing."""
    names = ["accuracy", "mcc", "precision", "adjusted_rand", "purity"]
    assert set(tm.Tally(names).report().reasons.values()) == {"no rows"}
    report = tm.evaluate([0, 1], [0, 1], names, weights=[0, 0])
    assert set(report.reasons.values()) == {"total weight is zero"}
