"""Labels at the edges of what one can be: odd texts, huge numbers, names of clusters, and what is refused."""

from __future__ import annotations

import enum
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import tallymark as tm


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


def test_integers_of_any_size_are_labels():
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
    "fractions": ([0.5, 1.0], tm.DomainError, r"got 0.5 \(row 0"),
    "fractions in an array": (np.array([1.0, 0.5]), tm.DomainError, r"got 0.5 \(row 1"),
    "fractions in categories": (
        pd.Series([0.5, 1.0], dtype="category"),
        tm.DomainError,
        r"integers or strings\); got",
    ),
    "fractions in a dictionary": (
        pa.array([0.5, 1.0]).dictionary_encode(),
        tm.DomainError,
        r"integers or strings\); got",
    ),
    "Decimal fractions": ([Decimal("0.5"), 1], tm.DomainError, r"integers or strings\); got"),
    "complex numbers": ([1j, 2j], tm.TypeOfDataError, "got 1j"),
    "complex array": (np.array([1j, 2j]), tm.TypeOfDataError, "complex numbers"),
    "dates": (np.array(["2020-01-01", "2020-01-02"], "M8[D]"), tm.TypeOfDataError, "Convert them to strings"),
    "dates as categories": (
        pd.Series(pd.to_datetime(["2020", "2021"])).astype("category"),
        tm.TypeOfDataError,
        "a category that is Timestamp",
    ),
    "intervals": (pd.cut([1, 2], 2), tm.TypeOfDataError, "a category that is Interval"),
    "bytes that are no text": ([b"\xff", b"a"], tm.TypeOfDataError, "got b'"),
    "bytes that are no text in an array": (np.array([b"\xff", b"a"]), tm.TypeOfDataError, "must be valid UTF-8"),
    "no characters": (np.array([0x7FFFFFFF, 65], np.uint32).view("U1"), tm.TypeOfDataError, "no character"),
    "sets": ([{1}, {2}], tm.TypeOfDataError, r"got \{1\}"),
    "a plain enum": ([enum.Enum("E", "A").A, 1], tm.TypeOfDataError, "got"),
    "void": (np.zeros(2, "V3"), tm.TypeOfDataError, "must contain labels"),
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
            with pytest.raises(tm.TypeOfDataError, match="both contain numbers or both contain strings"):
                tm.accuracy(texts, numbers)
            with pytest.raises(tm.TypeOfDataError, match="both contain numbers or both contain strings"):
                tm.accuracy(numbers, texts)
