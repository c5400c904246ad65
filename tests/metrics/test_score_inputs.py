"""What metrics on scores read: labels and scores of every form, weights of every size, and what they refuse."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from tests.laws.cases import same_bits
from tests.references.exact_ranks import exact_ranks
from tests.score_rows import ALL, BOUNDED, NAMES, TABLE, TRUTH, drawn, values

import tallymark as tm

Y, S, W = drawn(7, 60)
YES = np.array(["no", "yes"])[Y]
EXPECTED = values(Y, S, weights=W)

NUMBERS = {
    "bools": Y == 1,
    "a list of bools": (Y == 1).tolist(),
    "floats": Y.astype(float),
    "minus one": 2 * Y - 1,
    "int8": (2 * Y - 1).astype(np.int8),
    "uint64": Y.astype(np.uint64),
    "objects": Y.astype(object),
    "a list": Y.tolist(),
    "a tuple": tuple(Y.tolist()),
    "a column": Y[:, None],
    "strided": np.repeat(Y, 2)[::2],
    "reversed": Y[::-1].copy()[::-1],
    "categories": pd.Series(pd.Categorical(Y, categories=[5, 1, 0, -3])),
    "pandas Int64": pd.Series(Y, dtype="Int64"),
    "polars": pl.Series(Y),
    "polars bools": pl.Series(Y == 1),
    "arrow": pa.array(Y),
    "arrow bools": pa.array(Y == 1),
    "dictionary": pa.array(Y).dictionary_encode(),
    "chunks": pa.chunked_array([Y[:7], Y[7:]]),
}
TEXTS = {
    "array": YES,
    "a list": YES.tolist(),
    "objects": YES.astype(object),
    "bytes": np.array([text.encode() for text in YES]),
    "categories": pd.Categorical(YES, categories=["zebra", "yes", "no"]),
    "ordered categories": pd.Series(pd.Categorical(YES, categories=["yes", "unused", "no"], ordered=True)),
    "pandas": pd.Series(YES.tolist()),
    "polars": pl.Series(YES.tolist()),
    "polars categories": pl.Series(YES.tolist(), dtype=pl.Categorical),
    "polars enum": pl.Series(YES.tolist(), dtype=pl.Enum(["yes", "unused", "no"])),
    "arrow": pa.array(YES.tolist()),
    "dictionary": pa.array(YES.tolist()).dictionary_encode(),
}


@pytest.mark.parametrize("form", NUMBERS)
def test_numbers_of_every_form_are_labels(form):
    """1 is positive, whatever the other number is."""
    assert same_bits(values(NUMBERS[form], S, weights=W), EXPECTED)
    assert tm.auc(NUMBERS[form], S, bounded=500, weights=W) == pytest.approx(EXPECTED[0], rel=1e-15)
    other = -1 if form in ("minus one", "int8") else 0
    assert same_bits(values(NUMBERS[form], S, weights=W, classes=[1, other]), EXPECTED)


@pytest.mark.parametrize("form", TEXTS)
def test_texts_of_every_form_are_labels(form):
    """`positive` says which; categories that no row has, and their order, do not matter."""
    assert same_bits(values(TEXTS[form], S, weights=W, positive="yes"), EXPECTED)
    assert same_bits(values(TEXTS[form], -S, weights=W, positive="no"), values(1 - Y, -S, weights=W))
    table = np.column_stack([-S, S])
    assert same_bits(values(TEXTS[form], table, weights=W, classes=["no", "yes"], positive="yes"), EXPECTED)


@pytest.mark.parametrize(
    "make",
    [
        list,
        np.float32,
        pd.Series,
        pl.Series,
        pa.array,
        lambda s: pd.DataFrame({"score": s}),
        lambda s: s.astype(object),
    ],
)
def test_scores_may_be_lists_frames_or_columns(make):
    """Lists, frames and columns of other libraries."""
    quarters = np.round(S * 4) / 4
    assert same_bits(values(Y, make(quarters), weights=W), values(Y, quarters, weights=W))


def test_types_of_table_do_not_matter():
    """Margins and counts of small types are read as numbers, and do not wrap or lose digits."""
    table = np.array([[1, 3, 2], [0, 1, 5], [7, 1, 1], [2, 0, 0], [4, 4, 3]])
    y = [0, 1, 2, 0, 1]
    for keywords in ({"kind": "margin"}, {"normalize": True}, {"kind": "score"}):
        for names in (NAMES, ["auc(bounded=4)"]):
            expected = values(y, table.astype(float), names, **keywords)
            two = values([0, 1, 1, 0, 1], table[:, :2] + 1.0, names, **keywords)
            for dtype in (np.uint8, np.int8, np.float16, np.float32, np.int64, np.uint64, ">f4"):
                assert same_bits(values(y, table.astype(dtype), names, **keywords), expected)
                assert same_bits(values([0, 1, 1, 0, 1], (table[:, :2] + 1).astype(dtype), names, **keywords), two)
            assert same_bits(values(y, np.asfortranarray(table, float), names, **keywords), expected)


def test_margins_of_three_columns_are_softmaxed():
    """Each row is read as shares, so that a constant added to a row changes nothing; no size overflows."""
    rng = np.random.default_rng(8)
    y, margins = rng.integers(0, 3, 50), rng.integers(-9, 10, (50, 3)) / 4
    rows = np.exp(margins)
    rows /= rows.sum(axis=1, keepdims=True)
    assert tm.auc(y, margins, kind="margin") == pytest.approx(tm.auc(y, rows, kind="probability"), abs=0.01)
    moved = margins + rng.integers(-100, 100, 50)[:, None]
    assert same_bits(values(y, moved, kind="margin"), values(y, margins, kind="margin"))
    high = np.finfo(float).max
    far = [[high, -high, 0.0], [-high, high, 0.0], [-high, -high, high]]
    assert tm.auc([0, 1, 2], far, kind="margin") == 1.0


def test_normalize_makes_counts_as_good_as_probabilities():
    """So that counts are as good as probabilities, whatever their size."""
    counts = TABLE * 40
    assert tm.auc(TRUTH, counts, normalize=True) == tm.auc(TRUTH, TABLE)
    assert tm.auc([0, 1], [[1e308, 1.5e308], [1.0, 3.0]], normalize=True) == 1.0
    assert tm.auc([0, 1], [[1e-320, 1.5e-320], [1.0, 3.0]], normalize=True) == 1.0
    with pytest.raises(tm.DomainError, match="row 1"):
        tm.auc([0, 1], [[1.0, 2.0], [0.0, 0.0]], normalize=True)


REFUSED = {
    "two classes without 1": ("positive class, one of 'a', 'b'.", lambda m: m(["a", "b"], [0.1, 0.2])),
    "two numbers without 1": ("positive class, one of 2, 3.", lambda m: m([2, 3], [0.1, 0.2])),
    "1 beside 2": ("positive class, one of 1, 2.", lambda m: m([1, 2], [0.1, 0.2])),
    "three classes": ("one column for 3 classes", lambda m: m([0, 1, 2], [0.1, 0.2, 0.3])),
    "three classes given": ("one column for 3 classes", lambda m: m([0, 1, 1], [0.1, 0.2, 0.3], classes=[0, 1, 2])),
    "other columns": ("2 classes", lambda m: m([0, 1], np.eye(3)[:2])),
    "other columns than classes": ("2 `classes`", lambda m: m([0, 1], np.eye(3)[:2], classes=[0, 1])),
    "a table in pieces": ("arrive in batches", lambda m: tm.Tally([m]).update([0, 1, 2], np.eye(3))),
    "two columns in pieces": ("arrive in batches", lambda m: tm.Tally([m]).update([0, 1], np.eye(2))),
    "labels as kind": ('kind="label"', lambda m: m([0, 1], [0, 1], kind="label")),
    "values as kind": ('kind="value"', lambda m: m([0, 1], [0, 1], kind="value")),
    "a probability of 2": ("row 1", lambda m: m([0, 1], [0.5, 2.0], kind="probability")),
    "a probability below 0": ("row 0", lambda m: m([0, 1], [-0.5, 1.0], kind="probability")),
    "a sum of 0.9": ("row 1", lambda m: m([0, 1], [[0.5, 0.5], [0.4, 0.5]], kind="probability")),
    "a sum of 1.1": ("row 2", lambda m: m([0, 1, 2], [[0.5, 0.3, 0.2]] * 2 + [[0.5, 0.5, 0.1]], kind="probability")),
    "NaN": ("row 1", lambda m: m([0, 1], [0.5, math.nan])),
    "infinity": ("row 0", lambda m: m([0, 1], [-math.inf, 0.0])),
    "NaN of no weight": ("row 1", lambda m: m([0, 1, 1], [0.5, math.nan, 0.7], weights=[1, 0, 1])),
    "NaN in the other column": ("row 0, column 0", lambda m: m([0, 1], [[math.nan, 0.2], [0.3, 0.4]])),
    "infinite margins": ("row 1", lambda m: m([0, 1], [[0.0, 1.0], [math.inf, math.inf]], kind="margin")),
    "NaN in a table": ("row 1, column 2", lambda m: m([0, 1, 2], [[1, 0, 0], [1, 0, math.nan], [0, 0, 1]])),
    "NaN in margins": ("row 0", lambda m: m([0, 1, 2], [[math.nan, 0, 0], [1, 0, 0], [0, 0, 1]], kind="margin")),
    "whole numbers beyond 2**53": (r"2\*\*53", lambda m: m([0, 1], np.array([2**53 + 1, 0]))),
    "negative ones": ("got -9223372036854775808", lambda m: m([0, 1], np.array([-(2**63), 0]))),
    "unsigned ones": ("got 18446744073709551615", lambda m: m([0, 1], np.array([2**64 - 1, 0], np.uint64))),
    "normalize one column": ("one column", lambda m: m([0, 1], [0.1, 0.2], normalize=True)),
    "truth of two columns": ("2 columns", lambda m: m([[0, 1], [1, 1]], [[0.1, 0.2], [0.3, 0.4]])),
    "a negative weight": ("row 1", lambda m: m([0, 1], [0.1, 0.2], weights=[1, -1])),
    "a weight that is NaN": ("row 0", lambda m: m([0, 1], [0.1, 0.2], weights=[math.nan, 1])),
    "a negative weight of a table": ("row 1", lambda m: m([0, 1, 2], np.eye(3), weights=[1, -1, 1])),
    "a missing label": ("row 1", lambda m: m(["yes", None], [0.1, 0.2], positive="yes")),
    "a fraction as a label": ("row 0", lambda m: m([0.5, 1], [0.1, 0.2])),
    "mixed labels": ("numbers or strings", lambda m: m(["a", 1], [0.1, 0.2])),
    "bytes that are not UTF-8": ("row 0", lambda m: m([b"\xff", b"a"], [0.1, 0.2], positive="a")),
    "a label that is no class": ("'c'", lambda m: m(["a", "c"], [0.1, 0.2], classes=["a", "b"], positive="a")),
    "a positive that is not there": ("'c'", lambda m: m(["a", "b"], [0.1, 0.2], positive="c")),
    "texts as scores": ("y_pred", lambda m: m([0, 1], ["a", "b"])),
}


@pytest.mark.parametrize("name", ["auc", "average_precision", "ks(bounded=8)", "average_precision(bounded=8)"])
@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_ranked_is_refused(name, case):
    """With an error of ours that says where; exact and bounded alike."""
    match, call = REFUSED[case]
    with pytest.raises(tm.TallymarkError, match=match):
        call(tm.metric(name))


def test_whole_numbers_that_fit_are_scores():
    """Up to 2**53, signed or not."""
    assert tm.auc([0, 1], np.array([2**53 - 1, 2**53])) == 1.0
    assert tm.auc([0, 1], np.array([2**53 - 1, 2**53], np.uint64)) == 1.0
    assert tm.auc([1, 0], np.array([-(2**53), 1 - 2**53])) == 0.0


def test_rows_of_weight_zero_take_no_part():
    """Their labels are no classes, and their scores nobody's."""
    assert tm.auc([0, 1, 2], [0.1, 0.2, 0.3], weights=[1, 1, 0]) == 1.0
    assert tm.auc([0, 1, 2], np.eye(3)[:, :2], weights=[1, 2, 0]) == 1.0
    assert tm.auc([0, 1, 2, 9], TABLE[:4], weights=[1, 1, 1, 0]) == tm.auc([0, 1, 2], TABLE[:3])
    assert tm.auc([0, 1, 1], [0.1, 0.2, 7.0], weights=[1, 1, 0], kind="probability") == 1.0
    zero = np.where(np.arange(60) % 3, W, 0)
    for name in ALL:
        found = tm.metric(name)(Y, S, weights=zero)
        assert same_bits(found, tm.metric(name)(Y[zero > 0], S[zero > 0], weights=zero[zero > 0]))
        assert math.isnan(tm.metric(name)([1, 1, 0], [0.1, 0.2, 0.3], weights=[0, 0, 1]))
        cell = tm.evaluate(Y, S, [name], weights=np.zeros(60)).cell(name)
        assert cell.reason == "total weight is zero"


SCALES = {
    "subnormal": [1e-320, 5e-324, 3e-320],
    "tiny": [1e-300, 3e-300],
    "huge": [1e300, 7e299, 1e290],
    "highest": [1.7e308, 1e308],
    "mixed": [1e-300, 1e300, 1.0],
    "all": [5e-324, 1e-310, 1e-200, 1e-16, 1.0, 1e16, 1e200, 1.7e308],
}


@pytest.mark.slow
@pytest.mark.parametrize("scale", SCALES)
def test_weights_of_every_size_agree_with_exact_fractions(scale):
    """Values are those of exact fractions, not NaN or 0, however far apart the weights are."""
    rng = np.random.default_rng(9)
    for _ in range(150):
        n = int(rng.integers(2, 12))
        y = np.append([0, 1], rng.integers(0, 2, n - 2))
        s = rng.integers(0, 6, n).astype(float)
        w = rng.choice(SCALES[scale], n)
        expected = exact_ranks(y, s, w)
        for name in NAMES:
            assert abs(Fraction(tm.metric(name)(y, s, weights=w)) - expected[name]) < Fraction(1, 10**14), (name, s, w)
        for name in BOUNDED:
            found = tm.metric(name)(y, s, weights=w, bounded=8)
            assert abs(Fraction(float(found)) - expected[name]) < Fraction(1, 10**14), (name, s, w)


def test_precision_is_exact_for_a_class_of_almost_no_weight():
    """One class weighs next to nothing: precision is what it is among the rows above."""
    assert tm.average_precision([1, 0], [2, 1], weights=[1e-300, 1e300]) == 1.0
    assert tm.pr_auc([1, 0], [2, 1], weights=[1e-300, 1e300]) == 1.0
    assert tm.pr_auc([1, 1, 0], [3, 2, 1], weights=[1e-320, 1e300, 1]) == 1.0
    assert tm.pr_auc([1, 0, 1, 0], [3, 3, 2, 1], weights=[1e-320, 2e-320, 1e300, 1]) == pytest.approx(2 / 3, rel=1e-3)
    assert tm.auc([0, 1, 0, 1], [1, 2, 3, 4], weights=[1e-300, 1e300, 1e-300, 1e300]) == 0.75


def test_weights_whose_sum_is_infinite():
    """Ratios are as right as ever; a curve of weights cannot be drawn, and says so."""
    weights = [1.7e308] * 4
    assert values([0, 1, 0, 1], [1, 2, 3, 4], weights=weights) == pytest.approx(values([0, 1, 0, 1], [1, 2, 3, 4]))
    report = tm.evaluate([0, 1, 0, 1], [1, 2, 3, 4], ["auc(max_fpr=0.6)"], weights=weights)
    assert list(report.reasons.values()) == ["the terms are too large or too small for float64"]


def test_missing_rows_can_be_dropped():
    """Of either side, and they are counted."""
    y, s = ["no", None, "yes", "no", "yes"], [0.1, 0.2, math.nan, 0.3, 0.4]
    report = tm.evaluate(y, s, ["auc", "auc(bounded=4)"], missing="drop", positive="yes")
    assert (report["auc"], report["auc(bounded=4)"], report.dropped) == (1.0, 1.0, 2)


def test_two_columns_that_are_not_of_two_classes_are_refused():
    """One of two models would be left out without a word; scores whose rows have one total are of two classes."""
    rng = np.random.default_rng(3)
    y, p = np.arange(40) % 2, rng.random(40)
    models = np.column_stack([rng.random(40), p])
    with pytest.raises(tm.DomainError, match="two that add up to the same number in every row"):
        tm.auc(y, models)
    with pytest.raises(tm.DomainError, match="compare two models instead"):
        tm.evaluate(y, models, ["auc"], weights=np.arange(40) + 1)
    assert tm.auc(y, models, kind="score") == tm.auc(y, p)
    for table in (np.column_stack([1 - p, p]), np.column_stack([-p, p]), np.column_stack([90 - p, p]).astype("f4")):
        assert tm.auc(y, table) == pytest.approx(tm.auc(y, p))
    broken = np.column_stack([1 - p, p])
    broken[7] = (5, 5)
    weights = np.ones(40)
    weights[7] = 0
    assert tm.auc(y, broken, weights=weights) == tm.auc(y, p, weights=weights)
