"""Labels in every container: the same labels give the same values to the last bit, whatever the weights."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from tests.label_forms import (
    ANY,
    NUMBERS,
    NUMBERS_ALL,
    NUMBERS_WITH_GAPS,
    ONLY_TEXTS,
    OTHER_NUMBERS,
    OTHER_TEXTS,
    TEXTS,
    TEXTS_WITH_GAPS,
    TRUTH_ONLY,
    WEIGHTS,
    polars_chunks,
    sliced,
    values,
)

import tallymark as tm


@pytest.mark.parametrize("form", {**ANY, **ONLY_TEXTS, **TEXTS_WITH_GAPS})
def test_texts_are_the_same_in_every_container(form):
    """On either side and on both, with and without weights."""
    make = {**ANY, **ONLY_TEXTS, **TEXTS_WITH_GAPS}[form]
    y, p = make(TEXTS), make(OTHER_TEXTS)
    for weights in (None, WEIGHTS):
        expected = values(TEXTS, OTHER_TEXTS, weights=weights)
        assert values(y, p, weights=weights) == expected
        assert values(y, OTHER_TEXTS, weights=weights) == expected
        assert values(TEXTS, p, weights=weights, missing="drop") == expected


@pytest.mark.parametrize("form", {**ANY, **NUMBERS_ALL, **NUMBERS_WITH_GAPS})
def test_whole_numbers_are_the_same_in_every_container(form):
    """On either side and on both, with and without weights."""
    make = {**ANY, **NUMBERS_ALL, **NUMBERS_WITH_GAPS}[form]
    y, p = make(NUMBERS), make(OTHER_NUMBERS)
    for weights in (None, WEIGHTS):
        expected = values(NUMBERS, OTHER_NUMBERS, weights=weights)
        assert values(y, p, weights=weights) == expected
        assert values(y, OTHER_NUMBERS, weights=weights) == expected
        assert values(NUMBERS, p, weights=weights, missing="drop") == expected


@pytest.mark.parametrize("form", TRUTH_ONLY)
def test_whole_numbers_in_floats_are_labels_where_nothing_else_can_be_meant(form):
    """As truth always; as predictions with kind="label"."""
    make = TRUTH_ONLY[form]
    expected = values(NUMBERS, OTHER_NUMBERS)
    assert values(make(NUMBERS), OTHER_NUMBERS) == expected
    declared = values(NUMBERS, OTHER_NUMBERS, kind="label")
    assert values(make(NUMBERS), make(OTHER_NUMBERS), kind="label") == declared
    assert (
        values(NUMBERS, make(OTHER_NUMBERS), kind="label", weights=WEIGHTS)[0]
        == values(NUMBERS, OTHER_NUMBERS, weights=WEIGHTS)[0]
    )


BOOLS = [True, False, True, True, False, False, True, True]
OTHER_BOOLS = [True, True, False, True, False, True, True, False]


@pytest.mark.parametrize(
    "make",
    [
        list,
        np.array,
        lambda v: np.array(v)[:, None],
        lambda v: np.array(v, dtype=object),
        lambda v: [np.bool_(x) for x in v],
        pd.Series,
        lambda v: pd.Series(v, dtype="boolean"),
        lambda v: pd.Series(v, dtype="category"),
        lambda v: pd.Series(v, dtype="bool[pyarrow]"),
        pl.Series,
        polars_chunks(pl.Boolean),
        pa.array,
        sliced(pa.array),
        lambda v: pa.chunked_array([v[:3], v[3:]]),
        lambda v: pa.array(v).dictionary_encode() if hasattr(pa.array(v), "dictionary_encode") else pa.array(v),
        lambda v: pytest.importorskip("torch").tensor(v),
        lambda v: [int(x) for x in v],
        lambda v: np.array(v).view(np.int8),
    ],
)
def test_bools_are_the_numbers_0_and_1(make):
    """In every container."""
    expected = values([int(x) for x in BOOLS], [int(x) for x in OTHER_BOOLS])
    assert values(make(BOOLS), make(OTHER_BOOLS)) == expected
    assert values(make(BOOLS), [int(x) for x in OTHER_BOOLS]) == expected


def test_the_type_of_predictions_decides_and_never_their_values():
    """Floats are probabilities, even where all are 0 and 1."""
    assert tm.recall([0, 1], [0.0, 1.0], threshold=1.0) == 1.0
    for floats in ([0.0, 2.0], np.array([0.0, 2.0], np.float16), pl.Series([0.0, 2.0]), pa.array([0.0, 2.0])):
        with pytest.raises(tm.DomainError, match=r"probabilities in \[0, 1\]"):
            tm.accuracy([0, 2], floats)
        assert tm.accuracy([0, 2], floats, kind="label") == 1.0
    with pytest.raises(tm.DomainError):
        tm.accuracy([0, 2], pd.Series([0.0, 2.0], dtype="category"))
    assert tm.accuracy([0, 2], pd.Series([0, 2], dtype="category")) == 1.0


def test_inputs_are_never_changed():
    """Read-only arrays are read, and writable ones stay as they are."""
    y, p, w = np.array(TEXTS), np.array(OTHER_TEXTS), np.array(WEIGHTS)
    objects = np.array([3, None, "x"], dtype=object)
    copies = y.copy(), p.copy(), w.copy()
    for array in (y, p, w):
        array.flags.writeable = False
    values(y, p, weights=w)
    values(y, p, weights=w, missing="drop")
    assert all((a == b).all() for a, b in zip((y, p, w), copies, strict=True))
    with pytest.raises(tm.TallymarkError):
        tm.accuracy(objects, objects)
    assert objects.tolist() == [3, None, "x"]


def test_rows_of_weight_zero_bring_no_classes():
    """In every container; but they are rows."""
    for make in (list, np.array, pa.array, lambda v: pd.Series(v, dtype="category")):
        matrix = tm.confusion_matrix(make(["a", "b", "c"]), make(["a", "b", "d"]), weights=[1, 2, 0])
        assert matrix.classes == ["a", "b"]
    assert tm.precision([1, 0, 2], [1, 1, 2], weights=[1, 1, -0.0]) == 0.5
    assert tm.evaluate([1, 0, 2], [1, 1, 2], ["precision"], weights=[1, 1, 0]).n == 3


def test_weights_of_very_different_size_are_exact():
    """To the last bit of a sum of rationals, in any order."""
    y, p = [0, 0, 1, 1, 1, 0] * 3, [0, 1, 1, 0, 1, 1] * 3
    weights = [1e300, 1e-300, 5e-324, 1e16, 1.0, 3e-16] * 3
    right = sum(Fraction(w) for a, b, w in zip(y, p, weights, strict=True) if a == b)
    total = sum(map(Fraction, weights))
    recall = Fraction(sum(Fraction(w) for a, b, w in zip(y, p, weights, strict=True) if a == b == 1))
    truth = sum(Fraction(w) for a, w in zip(y, weights, strict=True) if a == 1)
    for order in (slice(None), slice(None, None, -1)):
        assert tm.accuracy(y[order], p[order], weights=weights[order]) == float(right / total)
        assert tm.recall(y[order], p[order], weights=weights[order]) == float(recall / truth)


def test_weights_whose_naive_sum_depends_on_the_order():
    """1, 1e16, -ish: rows in any order and on any number of threads."""
    rng = np.random.default_rng(3)
    n = 200_000
    y, p = rng.integers(0, 5, n), rng.integers(0, 5, n)
    weights = 10.0 ** rng.uniform(-12, 16, n)
    before = tm.get_threads()
    found = set()
    for threads in (1, 2, 4):
        tm.set_threads(threads)
        order = rng.permutation(n)
        found.add(tm.accuracy(y[order], p[order], weights=weights[order]))
        found.add(
            (
                tm.Tally(["accuracy"]).update(y[:777], p[:777], weights=weights[:777])
                + tm.Tally(["accuracy"]).update(y[777:], p[777:], weights=weights[777:])
            ).report()["accuracy"]
        )
    tm.set_threads(before)
    assert len(found) == 1


@pytest.mark.parametrize("bad", [-1.0, float("nan"), float("inf"), -5e-324])
def test_bad_weights_are_refused(bad):
    """With the row, whatever the labels are."""
    for labels in (["a", "b"], np.array([1, 2]), pa.array(["a", "b"]), pd.Series([1, 2], dtype="category")):
        with pytest.raises(tm.WeightError, match="row 1"):
            tm.accuracy(labels, labels, weights=[1.0, bad])


def test_columns_named_after_classes_must_be_in_their_order():
    """Also with something before the name of the class; names that say nothing are no fault."""
    y, p = ["ok", "fraud", "ok"], np.array([[0.9, 0.1], [0.2, 0.8], [0.7, 0.3]])
    for names in (["ok", "fraud"], ["p_ok", "p_fraud"], ["prob ok", "prob fraud"]):
        with pytest.raises(tm.ParameterError, match="must be in the order of the columns"):
            tm.auc(y, pd.DataFrame(p, columns=names), positive="fraud")
        assert tm.auc(y, pd.DataFrame(p, columns=names), positive="fraud", classes=["ok", "fraud"]) == 1.0
    for names in (["p_fraud", "p_ok"], ["first", "second"], ["pok", "pfraud"]):
        assert tm.auc(y, pd.DataFrame(p[:, ::-1], columns=names), positive="fraud") == 1.0
