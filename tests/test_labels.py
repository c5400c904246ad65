"""Labels in every container: the same labels give the same values to the last bit, and what is no label is refused."""

from __future__ import annotations

import enum
import json
import os
import subprocess
import sys
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import tallymark as tm
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
        lambda v: __import__("torch").tensor(v),
        lambda v: [int(x) for x in v],
        lambda v: np.array(v).view(np.int8),
    ],
)
def test_bools_are_the_numbers_0_and_1(make):
    """In every container."""
    expected = values([int(x) for x in BOOLS], [int(x) for x in OTHER_BOOLS])
    assert values(make(BOOLS), make(OTHER_BOOLS)) == expected
    assert values(make(BOOLS), [int(x) for x in OTHER_BOOLS]) == expected


def gaps(items):
    return [None if k in (2, 5) else item for k, item in enumerate(items)]


@pytest.mark.parametrize("form", {**ANY, **TEXTS_WITH_GAPS})
def test_missing_texts_are_counted_and_dropped(form):
    """With the number of rows and the first of them; never read as a label."""
    check_gaps({**ANY, **TEXTS_WITH_GAPS}[form], TEXTS, OTHER_TEXTS)


@pytest.mark.parametrize("form", {**ANY, **NUMBERS_WITH_GAPS})
def test_missing_numbers_are_counted_and_dropped(form):
    """With the number of rows and the first of them; whole numbers stay whole, so that predictions stay labels."""
    check_gaps({**ANY, **NUMBERS_WITH_GAPS}[form], NUMBERS, OTHER_NUMBERS)


def check_gaps(make, truth, prediction):
    y, p = make(gaps(truth)), make(gaps(prediction))
    with pytest.raises(tm.MissingValueError, match=r"`y_true` must have a label in every row; 2 rows have.*row 2"):
        tm.accuracy(y, prediction)
    with pytest.raises(tm.MissingValueError, match=r"`y_pred` must have a label in every row; 2 rows have.*row 2"):
        tm.adjusted_rand(truth, p)
    with pytest.raises(tm.MissingValueError, match="row 2"):
        tm.accuracy(y, prediction, weights=[1, 1, 0, 1, 1, 0, 1, 1])
    keep = [k for k in range(8) if k not in (2, 5)]
    for weights in (None, WEIGHTS):
        kept = None if weights is None else [weights[k] for k in keep]
        expected = values([truth[k] for k in keep], [prediction[k] for k in keep], weights=kept)
        for a, b in ((y, p), (y, prediction), (truth, p)):
            found = values(a, b, weights=weights, missing="drop")
            assert found[1:3] == (6, 2)
            assert (found[0], found[3]) == (expected[0], expected[3])


@pytest.mark.parametrize("missing", [None, float("nan"), np.nan, np.float32("nan"), pd.NA, pd.NaT, Decimal("nan")])
def test_every_missing_value_among_objects(missing):
    """Among numbers and among texts."""
    for items in (["a", missing, "b"], [1, missing, 2], np.array([1, missing, 2], dtype=object)):
        with pytest.raises(tm.MissingValueError, match="1 row has none, the first at row 1"):
            tm.accuracy(items, items, kind="label")
        report = tm.evaluate(items, items, ["accuracy"], missing="drop", kind="label")
        assert (report["accuracy"], report.n, report.dropped) == (1.0, 2, 1)


def test_a_million_missing_labels_on_several_threads():
    """A side without a single label is an error like any other."""
    before = tm.get_threads()
    n = 300_000
    nothing = [np.full(n, np.nan), pa.nulls(n, pa.string()), pd.Series([None] * n, dtype="string[pyarrow]")]
    for threads in (1, 2, 4):
        tm.set_threads(threads)
        for bad in nothing:
            with pytest.raises(tm.MissingValueError, match="300,000 rows"):
                tm.accuracy(np.zeros(n, int), bad, kind="label")
            with pytest.raises(tm.MissingValueError, match="300,000 rows"):
                tm.adjusted_rand(bad, np.zeros(n, int))
    tm.set_threads(before)


def test_padding_is_no_text_and_a_zero_inside_is():
    """NumPy pads with zeros, so a text cannot end in one there; elsewhere it can."""
    assert tm.accuracy(np.array(["a\0b", "a\0"]), ["a\0b", "a"]) == 1.0
    assert tm.accuracy(np.array([b"a\0b", b"a\0"]), ["a\0b", "a"]) == 1.0
    assert tm.accuracy(["a\0", "a"], ["a", "a\0"]) == 0.0
    assert tm.accuracy(pa.array(["a\0", "a"]), ["a\0", "a"]) == 1.0
    assert tm.accuracy(np.zeros(2, "U0"), np.zeros(2, "S3")) == 1.0
    assert tm.accuracy(["nan", "None"], ["nan", "None"]) == 1.0


def test_texts_around_the_edges_of_words():
    """Lengths up to 40 that differ in one place, in each container."""
    texts = [
        "x" * k + mark + "x" * (length - k - 1)
        for length in range(1, 41)
        for k in {0, length // 2, length - 1}
        for mark in "yé"
    ]
    texts = ["", *dict.fromkeys(texts)]
    expected = tm.confusion_matrix(texts, texts)
    assert expected.classes == sorted(texts)
    for make in (np.array, pa.array, lambda v: np.array([t.encode() for t in v]), pl.Series):
        assert tm.confusion_matrix(make(texts), make(texts)).classes == sorted(texts)
        assert tm.accuracy(make(texts), texts[1:] + texts[:1]) == 0.0
        assert tm.accuracy(make(texts), texts) == 1.0


def test_lone_surrogates_are_labels_that_survive_their_bytes():
    """Two of them in a row are not the character that they would make together."""
    texts = ["\ud800", "\udfff", "\ud83d\ude00", "😀", "a\ud800"]
    tally = tm.Tally(["confusion_matrix"]).update(texts, np.array(texts))
    back = tm.Tally.from_bytes(tally.to_bytes())
    assert back.report()["confusion_matrix"].classes == sorted(texts)
    assert (tally + back).report()["confusion_matrix"]["😀", "😀"] == 2
    named = tm.Tally(["recall"], classes=["\ud800", "b"], positive="\ud800").update(["\ud800"], ["\ud800"])
    assert tm.Tally.from_bytes(named.to_bytes()).report()["recall"] == 1.0
    with pytest.raises(tm.TypeOfDataError):
        tm.accuracy(np.array([b"\xed\xa0\x80"]), ["\ud800"])


HUGE = [2**62, 2**63 - 1, 2**63, 2**64 - 1, 2**64, -(2**63), -(2**63) - 1, 10**12, -1, 10**400, -(10**400)]


def test_dropping_rows_keeps_integers_whole():
    """Where an array of all of them could only be one of floats."""
    y = [2**53, 2**53 + 1, None, -1, 2**63, 2**64 - 1]
    for truth in (y, [*y[:2], float("nan"), *y[3:]], np.array(y, dtype=object)):
        matrix = tm.evaluate(truth, y, ["confusion_matrix"], missing="drop", kind="label")["confusion_matrix"]
        assert matrix.classes == [-1, 2**53, 2**53 + 1, 2**63, 2**64 - 1]
    assert tm.evaluate([1, None], [-1, 2**63], ["accuracy"], missing="drop")["accuracy"] == 0.0


def test_integers_of_any_size():
    """Among objects as they are, and in arrays of 64 bits."""
    assert tm.confusion_matrix(HUGE, HUGE).classes == sorted(HUGE)
    assert tm.accuracy(HUGE, np.array(HUGE, dtype=object)) == 1.0
    assert tm.accuracy(HUGE, HUGE[1:] + HUGE[:1]) == 0.0
    tally = tm.Tally(["accuracy"]).update(HUGE, HUGE)
    assert tm.Tally.from_bytes(tally.to_bytes()).to_bytes() == tally.to_bytes()
    unsigned = [0, 1, 2**63 - 1, 2**63, 2**64 - 1]
    assert tm.confusion_matrix(np.array(unsigned, np.uint64), unsigned).classes == unsigned
    assert tm.accuracy(np.array([2**64 - 1], np.uint64), np.array([-1])) == 0.0
    assert tm.accuracy(np.array([2**64 - 1, 2**64 - 2], np.uint64), [2**64 - 1, 2**64 - 2]) == 1.0
    signed = [-(2**63), -(2**63) + 1, 2**63 - 1]
    assert tm.accuracy(np.array(signed), signed) == 1.0
    assert tm.accuracy(pa.array(unsigned, pa.uint64()), unsigned) == 1.0
    assert tm.accuracy(pa.array([*unsigned, None], pa.uint64()), [*unsigned, 5], missing="drop") == 1.0


def test_whole_floats_are_the_integers_that_they_equal():
    """Up to the largest, and one label however it is written."""
    floats = [2.0**52, 2.0**62, -(2.0**62), 2.0**63, -(2.0**63), 1e300, -0.0]
    whole = [int(x) for x in floats]
    assert tm.accuracy(np.array(floats), whole) == 1.0
    assert tm.accuracy(floats, whole) == 1.0
    tally = tm.Tally(["adjusted_rand"]).update(floats + whole, whole + floats)
    assert tally.report()["adjusted_rand"] == 1.0
    assert tm.Tally.from_bytes(tally.to_bytes()).report()["adjusted_rand"] == 1.0
    assert tm.adjusted_rand([2**62, float(2**62), 5], [1, 1, 2]) == 1.0
    assert tm.adjusted_rand([-(2**63), -(2.0**63), 5], [1, 1, 2]) == 1.0


def test_clusters_have_names_of_any_type():
    """Fractions, and numbers against texts; what is one cluster stays one."""
    assert tm.adjusted_rand([0.5, 0.5, 1.5], ["a", "a", "b"]) == 1.0
    assert tm.adjusted_rand(np.array([0.5, 0.5, 1.5], np.float32), [True, True, False]) == 1.0
    assert tm.adjusted_rand(pd.Series([0.5, 0.5, 1.5], dtype="category"), pa.array(["x", "x", "y"])) == 1.0
    assert tm.adjusted_rand(pa.array([0.5, 0.5, 1.5]).dictionary_encode(), [Decimal("0.25")] * 2 + [1]) == 1.0
    points = [[0.0], [0.1], [5.0], [5.1]]
    expected = tm.silhouette(points, [0, 0, 1, 1])
    for clusters in (
        ["a", "a", "b", "b"],
        [0.25, 0.25, 7, 7],
        pd.Series(["z", "z", "a", "a"], dtype="category"),
        pa.array(["z", "z", "a", "a"]).dictionary_encode(),
        np.array(["z", "z", "a", "a"]),
    ):
        assert tm.silhouette(points, clusters) == expected


REFUSED = {
    "numbers and texts": ([1, "a"], tm.TypeOfDataError, "numbers or strings, not both"),
    "texts and numbers in an array": (np.array(["a", 1], dtype=object), tm.TypeOfDataError, "not both"),
    "mixed categories": (pd.Series([1, "a"], dtype="category"), tm.TypeOfDataError, "not both"),
    "fractions": ([0.5, 1.0], tm.DomainError, r"a fraction, the first at row 0 \(0.5\)"),
    "fractions in an array": (np.array([1.0, 0.5]), tm.DomainError, r"a fraction, the first at row 1"),
    "fractions in categories": (pd.Series([0.5, 1.0], dtype="category"), tm.DomainError, "a fraction"),
    "fractions in a dictionary": (pa.array([0.5, 1.0]).dictionary_encode(), tm.DomainError, "a fraction"),
    "Decimal fractions": ([Decimal("0.5"), 1], tm.DomainError, "a fraction"),
    "complex numbers": ([1j, 2j], tm.TypeOfDataError, "row 0 is 1j"),
    "complex array": (np.array([1j, 2j]), tm.TypeOfDataError, "complex numbers"),
    "dates": (np.array(["2020-01-01", "2020-01-02"], "M8[D]"), tm.TypeOfDataError, "convert them to strings"),
    "dates as categories": (
        pd.Series(pd.to_datetime(["2020", "2021"])).astype("category"),
        tm.TypeOfDataError,
        "one category is Timestamp",
    ),
    "intervals": (pd.cut([1, 2], 2), tm.TypeOfDataError, "one category is Interval"),
    "bytes that are no text": ([b"\xff", b"a"], tm.TypeOfDataError, "row 0 is b'"),
    "bytes that are no text in an array": (np.array([b"\xff", b"a"]), tm.TypeOfDataError, "must hold UTF-8"),
    "no characters": (np.array([0x7FFFFFFF, 65], np.uint32).view("U1"), tm.TypeOfDataError, "no character"),
    "sets": ([{1}, {2}], tm.TypeOfDataError, r"row 0 is \{1\}"),
    "a plain enum": ([enum.Enum("E", "A").A, 1], tm.TypeOfDataError, "row 0 is"),
    "void": (np.zeros(2, "V3"), tm.TypeOfDataError, "must hold labels"),
    "infinity": ([float("inf"), 1.0], tm.MissingValueError, "row 0"),
    "lists in Arrow": (pa.array([[1], [2]]), tm.TallymarkError, "must"),
    "dates in Arrow": (pa.array([1, 2], pa.date32()), tm.TypeOfDataError, "dates"),
    "dates in a dictionary": (
        pa.array([1, 2], pa.timestamp("s")).dictionary_encode(),
        tm.TypeOfDataError,
        "not labels",
    ),
}


@pytest.mark.parametrize("form", REFUSED)
def test_what_is_no_label_is_refused(form):
    """With the row or the type."""
    bad, error, message = REFUSED[form]
    with pytest.raises(error, match=message):
        tm.accuracy(bad, [1, 2])
    with pytest.raises(error, match=message):
        tm.accuracy([1, 2], bad, kind="label")


def test_numbers_against_texts_are_refused():
    """Whatever holds them; never a quiet 0."""
    for texts in (["1", "2"], np.array(["1", "2"]), pd.Series(["1", "2"], dtype="category"), pa.array(["1", "2"])):
        for numbers in ([1, 2], np.array([1, 2]), pd.Series([1, 2], dtype="category"), [True, False]):
            with pytest.raises(tm.TypeOfDataError, match="both hold numbers or both hold strings"):
                tm.accuracy(texts, numbers)
            with pytest.raises(tm.TypeOfDataError, match="both hold numbers or both hold strings"):
                tm.accuracy(numbers, texts)


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


# Weights


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


# Labels that are made to collide


@pytest.mark.slow
def test_labels_that_would_collide_in_a_naive_table():
    """Multiples of powers of two, and texts of one prefix or suffix."""
    n = 200_000
    k = np.arange(n)
    for labels in (
        k << 32,
        (k << 40).astype(np.uint64),
        np.ldexp(k.astype(float), 40),
        (k << 32).tolist(),
        np.array([f"{'x' * 40}{i:06}" for i in range(n)]),
        np.array([f"{i:06}{'x' * 40}" for i in range(n)]),
        [2**64 * i for i in range(0, n, 4)],
    ):
        assert tm.adjusted_rand(labels, labels) == 1.0


ROOT = Path(__file__).resolve().parents[1]
MEASURE = """
import json, resource, sys
import numpy as np, tallymark as tm
tm.set_threads(2)
kind = sys.argv[1]
rng = np.random.default_rng(1)
if kind == "few":
    y, p = rng.integers(0, 10, 10**7, dtype=np.int8), rng.integers(0, 10, 10**7, dtype=np.int8)
else:
    y, p = rng.permutation(10**6), rng.permutation(10**6) + 10**6
    if kind == "texts":
        y, p = y.astype("U8"), p.astype("U8")
tm.accuracy(y[:200_000] if kind == "few" else [1, 2], p[:200_000] if kind == "few" else [1, 2])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
value = tm.accuracy(y, p) if kind == "few" else tm.homogeneity(y, p)
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(json.dumps([value, (after - before) / 1024]))
"""


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "most"), [("integers", 600), ("texts", 900), ("few", 8)])
def test_memory_goes_with_the_pairs(kind, most):
    """A million labels on each side take some hundred bytes each; ten million rows of ten classes next to nothing."""
    done = subprocess.run(
        [sys.executable, "-c", MEASURE, kind], capture_output=True, text=True, env=os.environ, cwd=ROOT, check=True
    )
    value, megabytes = json.loads(done.stdout)
    assert abs(value - (0.1 if kind == "few" else 1.0)) < 0.001
    assert megabytes < most


def test_columns_named_after_classes_must_be_in_their_order():
    """Also with something before the name of the class; names that say nothing are no fault."""
    y, p = ["ok", "fraud", "ok"], np.array([[0.9, 0.1], [0.2, 0.8], [0.7, 0.3]])
    for names in (["ok", "fraud"], ["p_ok", "p_fraud"], ["prob ok", "prob fraud"]):
        with pytest.raises(tm.ParameterError, match="must be in the order of the columns"):
            tm.auc(y, pd.DataFrame(p, columns=names), positive="fraud")
        assert tm.auc(y, pd.DataFrame(p, columns=names), positive="fraud", classes=["ok", "fraud"]) == 1.0
    for names in (["p_fraud", "p_ok"], ["first", "second"], ["pok", "pfraud"]):
        assert tm.auc(y, pd.DataFrame(p[:, ::-1], columns=names), positive="fraud") == 1.0
