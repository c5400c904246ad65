"""Metrics of clusterings by tallymark are those of scikit-learn, in values, types, warnings and errors."""

from __future__ import annotations

import random

import numpy as np
import pandas as pd
import pytest
import sklearn.metrics.cluster
from scipy import sparse

from tallymark.sklearn import metrics, status
from tests.sklearn.adapters.agreement import check

FORMS = {
    "array": lambda v: v,
    "list": lambda v: v.tolist(),
    "series": lambda v: pd.Series(v),
    "whole floats": lambda v: v.astype(float),
    "strings": lambda v: v.astype(str),
    "objects": lambda v: v.astype(str).astype(object),
    "int8": lambda v: v.astype(np.int8),
    "booleans": lambda v: v > 0,
    "negative": lambda v: v - 1,
    "fractions": lambda v: v / 2,
    "column": lambda v: v[:, None],
}
PAIRS = {
    "adjusted_mutual_info_score": {"average_method": ["min", "max", "geometric", "arithmetic", "x"]},
    "adjusted_rand_score": {},
    "completeness_score": {},
    "contingency_matrix": {"eps": [None, 0, 0.5, 1, -1], "dtype": [np.int64, float, np.int32]},
    "fowlkes_mallows_score": {},
    "homogeneity_completeness_v_measure": {"beta": [0, 0.5, 1, 2, -1, True]},
    "homogeneity_score": {},
    "mutual_info_score": {},
    "normalized_mutual_info_score": {"average_method": ["min", "max", "geometric", "arithmetic", None]},
    "pair_confusion_matrix": {},
    "rand_score": {},
    "v_measure_score": {"beta": [0, 0.5, 1, 2]},
}
POINTS = ["calinski_harabasz_score", "davies_bouldin_score", "silhouette_samples", "silhouette_score"]


@pytest.mark.slow
@pytest.mark.parametrize("name", PAIRS)
def test_random_pairs_of_clusterings_agree(name):
    choose, rng = random.Random(name), np.random.default_rng(sum(name.encode()))
    served = 0
    for _ in range(120):
        rows = choose.choice([1, 2, 3, 10, 60, 500])
        truth = rng.integers(0, choose.choice([1, 2, 4, rows]), rows)
        other = rng.integers(0, choose.choice([1, 2, 4, rows]), rows)
        predicted = np.where(rng.random(rows) < choose.random(), truth, other)
        forms = choose.choices(list(FORMS), k=2)
        kwargs = {key: choose.choice(values) for key, values in PAIRS[name].items() if choose.random() < 0.7}
        tolerance = 1e-10 if name.startswith("adjusted_mutual") else 1e-12
        served += check(name, FORMS[forms[0]](truth), FORMS[forms[1]](predicted), tolerance=tolerance, **kwargs)
    assert served >= 25


@pytest.mark.parametrize("name", POINTS)
def test_random_points_agree(name):
    choose, rng = random.Random(name), np.random.default_rng(sum(name.encode()))
    served = 0
    for _ in range(120):
        rows, columns = choose.choice([3, 10, 60, 200]), choose.choice([1, 2, 5])
        labels = rng.integers(0, choose.choice([1, 2, 3, 5]), rows)
        points = rng.normal(size=(rows, columns)) + choose.choice([0, 0, 3]) * labels[:, None]
        points = choose.choice([points, np.round(points), points + 1000, points * 1e-9, points.astype("f")])
        points = choose.choice([points, points.tolist(), pd.DataFrame(points), np.asfortranarray(points)])
        kwargs = {}
        if name == "silhouette_score" and choose.random() < 0.3:
            kwargs = {"sample_size": choose.choice([1, 2, 20]), "random_state": choose.choice([3, 4])}
        elif name.startswith("silhouette") and choose.random() < 0.3:
            kwargs = {"metric": choose.choice(["l2", "manhattan"])}
        served += check(name, points, FORMS[choose.choice(list(FORMS))](labels), tolerance=1e-9, **kwargs)
    assert served >= 20


@pytest.mark.parametrize("form", ["array", "list", "series", "whole floats", "strings", "objects", "int8", "negative"])
@pytest.mark.parametrize("name", PAIRS)
def test_common_forms_of_labels_are_served(name, form):
    truth, predicted = np.array([0, 0, 1, 1, 2, 2]), np.array([0, 0, 1, 2, 2, 2])
    assert check(name, FORMS[form](truth), FORMS[form](predicted))


@pytest.mark.parametrize("name", POINTS)
def test_points_are_served(name):
    points = np.array([[0.0, 1.0], [0.5, 0.0], [4.0, 5.0], [5.0, 4.5], [5.0, 5.5]])
    for each in (points, points.tolist(), pd.DataFrame(points), np.asfortranarray(points)):
        assert check(name, each, ["a", "a", "b", "b", "b"])


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix, sparse.csc_array, sparse.coo_array])
def test_mutual_information_of_a_contingency_table_is_served(kind):
    assert check("mutual_info_score", None, None, contingency=kind(np.array([[5, 1, 0], [0, 2, 4]])))


@pytest.mark.parametrize("dtype", [np.int64, np.float64])
def test_a_sparse_contingency_matrix_has_the_same_parts(dtype):
    truth, predicted = [2, 0, 1, 1, 0], ["b", "a", "b", "b", "c"]
    ours = metrics.cluster.contingency_matrix(truth, predicted, sparse=True, dtype=dtype)
    theirs = sklearn.metrics.cluster.contingency_matrix(truth, predicted, sparse=True, dtype=dtype)
    assert type(ours) is type(theirs)
    for part in ("indptr", "indices", "data"):
        assert getattr(ours, part).dtype == getattr(theirs, part).dtype
        assert getattr(ours, part).tolist() == getattr(theirs, part).tolist()


def test_a_generator_of_random_numbers_is_left_as_scikit_learn_leaves_it():
    points, labels = np.random.default_rng(1).normal(size=(50, 2)), np.arange(50) % 3
    ours, theirs = np.random.RandomState(5), np.random.RandomState(5)
    a = metrics.silhouette_score(points, labels, sample_size=20, random_state=ours)
    b = sklearn.metrics.silhouette_score(points, labels, sample_size=20, random_state=theirs)
    assert a == pytest.approx(b, rel=1e-12)
    assert ours.random() == theirs.random()


TWO, APART = [0, 0, 1, 1], [[0.0], [1.5], [9.5], [8.0]]


@pytest.mark.parametrize(
    ("name", "args", "kwargs", "expected"),
    [
        ("rand_score", ([0, 1], [0, 1, 1]), {}, "different lengths"),
        ("rand_score", ([], []), {}, "no rows"),
        ("rand_score", ([0.5, 1], [0, 1]), {}, "not labels"),
        ("rand_score", ([[0, 1]], [[0, 1]]), {}, "dimensions"),
        ("fowlkes_mallows_score", ([0, 1, 2], [2, 1, 0]), {}, "cluster of its own"),
        ("adjusted_mutual_info_score", ([0, 1, 2], [2, 1, 1]), {}, "cluster of its own"),
        ("mutual_info_score", (None, None), {"contingency": np.array([[0.5, 1.0]])}, "table of counts"),
        ("mutual_info_score", (None, None), {"contingency": np.array([[0, 0], [1, 2]])}, "empty"),
        ("contingency_matrix", (TWO, TWO), {"eps": 1, "sparse": True}, "eps"),
        ("silhouette_score", (APART, TWO), {"metric": "cosine"}, "euclidean"),
        ("silhouette_score", (APART, [0, 0, 0, 0]), {}, "clusters are one"),
        ("silhouette_samples", ([[0.5], [0.5], [9.5], [8.0]], [0, 0, 0, 1]), {}, "coincide"),
        ("calinski_harabasz_score", (np.array(APART, "f"), TWO), {}, "float32"),
        ("davies_bouldin_score", (np.array(APART) + 1e6, TWO), {}, "narrow"),
        ("davies_bouldin_score", (APART, [0, 0, 0, 1]), {}, "one point"),
    ],
)
def test_the_original_answers_and_the_reason_is_counted(name, args, kwargs, expected):
    status(reset=True)
    assert not check(name, *args, **kwargs)
    (reason,) = status().calls[name].reasons
    assert expected in reason


def test_values_that_tallymark_means_otherwise_are_kept_where_that_is_asked_for():
    from tallymark.sklearn import patch

    with patch(strict=False):
        assert sklearn.metrics.fowlkes_mallows_score([0, 1, 2], [2, 1, 0]) == 1.0
    assert sklearn.metrics.fowlkes_mallows_score([0, 1, 2], [2, 1, 0]) == 0.0
