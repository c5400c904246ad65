"""Labels in every container: the same labels give the same values to the last bit, and what is no label is refused."""

from __future__ import annotations

import enum
import json
import os
import subprocess
import sys
import time
from collections import namedtuple
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import tallymark as tm

ROOT = Path(__file__).resolve().parents[1]
METRICS = ["accuracy", "kappa", "recall(average='macro')", "homogeneity", "v_measure"]
TEXTS = ["dog", "", "Ärger", "dog", "a much longer label than sixteen bytes", "😀", "cat", "dog"]
OTHER_TEXTS = ["dog", "cat", "Ärger", "", "a much longer label than sixteen bytes", "Z", "cat", "ß"]
NUMBERS = [3, 0, 1, 3, 100, 7, 2, 3]
OTHER_NUMBERS = [3, 2, 1, 0, 100, 9, 2, 8]
WEIGHTS = [0.1, 0.2, 0.3, 1e10, 1e-10, 0.7, 2.5, 3.0]


def values(y, p, **keywords):
    """Every value that a set of metrics on classes and clusters gives, and the bytes of their states."""
    report = tm.evaluate(y, p, METRICS, errors="raise", **keywords)
    state = tm.Accuracy().needs(tm.target.Target(keywords.pop("kind", None))).fold(tm.batch.Batch(y, p, **keywords))
    return [report[name] for name in METRICS], report.n, report.dropped, state.to_bytes()


class Word(str):
    """A subclass of str that shows itself as something else."""

    __slots__ = ()

    def __str__(self):
        return "something else"


def words(items):
    return enum.Enum("Words", {f"W{k}": item for k, item in enumerate(dict.fromkeys(items))}, type=str)


def spread(make):
    """Every second item of an array twice as long."""

    def build(items):
        return make([item for item in items for _ in range(2)])[::2]

    return build


def column_of_table(items):
    table = np.empty((len(items), 3), dtype=object)
    table[:, 1] = items
    return table[:, 1]


def object_column(items):
    out = np.empty((len(items), 1), dtype=object)
    out[:, 0] = items
    return out


def chunks_of_dictionaries(items):
    half = len(items) // 2
    return pa.chunked_array([pa.array(part).dictionary_encode() for part in (items[:half], items[half:][::1])])


def sliced(make):
    def build(items):
        return make([items[-1], *items, items[0]])[1:-1]

    return build


def polars_chunks(dtype):
    def build(items):
        return pl.concat([pl.Series(items[:3], dtype=dtype), pl.Series(items[3:], dtype=dtype)], rechunk=False)

    return build


def enumeration(items):
    return pl.Series(items, dtype=pl.Enum(sorted({*items, "unused"} - {None}, reverse=True)))


def categories(items, **keywords):
    kept = {item for item in items if item is not None}
    names = sorted(kept, reverse=True)
    return pd.Categorical(items, categories=[*names, "unused" if isinstance(names[0], str) else -5], **keywords)


ANY = {
    "list": list,
    "tuple": tuple,
    "object array": lambda v: np.array([*v, None], dtype=object)[:-1],
    "object array, strided": spread(lambda v: np.array(v, dtype=object)),
    "object array, reversed": lambda v: np.array([None, *v[::-1]], dtype=object)[:0:-1],
    "object column": object_column,
    "column of an object table": column_of_table,
    "NumPy scalars": lambda v: [None if x is None else np.array([x])[0] for x in v],
    "namedtuple": lambda v: namedtuple("Row", [f"f{k}" for k in range(len(v))])(*v),
    "pandas object": lambda v: pd.Series(v, dtype=object),
    "pandas index": lambda v: pd.Index(v, dtype=object),
    "pandas odd index": lambda v: pd.Series(v, dtype=object, index=range(5, 5 + len(v))),
    "pandas category": lambda v: pd.Series(v, dtype="category"),
    "pandas categorical": categories,
    "pandas ordered": lambda v: pd.Series(categories(v, ordered=True)),
    "pandas category index": lambda v: pd.CategoricalIndex(categories(v)),
    "pandas category slice": sliced(lambda v: pd.Series(v, dtype="category")),
    "pandas frame": lambda v: pd.DataFrame({"x": pd.Series(v, dtype=object)}),
    "polars": pl.Series,
    "polars sliced": sliced(pl.Series),
    "arrow": pa.array,
    "arrow sliced": sliced(pa.array),
    "arrow chunked": lambda v: pa.chunked_array([pa.array(v[:1]), pa.array(v[:0], pa.array(v).type), pa.array(v[1:])]),
    "arrow dictionary": lambda v: pa.array(v).dictionary_encode(),
    "arrow dictionary sliced": sliced(lambda v: pa.array(v).dictionary_encode()),
    "arrow dictionaries": chunks_of_dictionaries,
    "arrow dictionaries sliced": sliced(chunks_of_dictionaries),
    "pandas arrow": lambda v: pd.Series(v, dtype=pd.ArrowDtype(pa.array(v).type)),
    "pandas arrow dictionary": lambda v: pd.Series(v, dtype=pd.ArrowDtype(pa.array(v).dictionary_encode().type)),
}

ONLY_TEXTS = {
    "U": np.array,
    "U, strided": spread(np.array),
    "U, reversed": lambda v: np.array(v[::-1])[::-1],
    "U, big-endian": lambda v: np.array(v).astype(np.array(v).dtype.newbyteorder(">")),
    "U, wide": lambda v: np.array(v, dtype="U200"),
    "U, column": lambda v: np.array(v)[:, None],
    "U, column of a table": lambda v: np.array([v, v, v]).T[:, 1],
    "U, field of a record": lambda v: np.array([(1, x) for x in v], dtype=[("a", "i1"), ("b", "U40")])["b"],
    "S": lambda v: np.array([x.encode() for x in v]),
    "S, strided": spread(lambda v: np.array([x.encode() for x in v])),
    "S, reversed": lambda v: np.array([x.encode() for x in v[::-1]])[::-1],
    "S, wide": lambda v: np.array([x.encode() for x in v], dtype="S99"),
    "bytes": lambda v: [x.encode() for x in v],
    "subclasses": lambda v: [Word(x) for x in v],
    "enum": lambda v: [words(v)(x) for x in v],
    "some of each": lambda v: [f(x) for x, f in zip(v, [str, Word, np.str_, str.encode] * 2, strict=True)],
    "arrow binary": lambda v: pa.array([x.encode() for x in v]),
    "pandas string index": lambda v: pd.Index(v, dtype="str"),
}

TEXTS_WITH_GAPS = {
    "pandas str": lambda v: pd.Series(v, dtype="str"),
    "pandas string[python]": lambda v: pd.Series(v, dtype="string[python]"),
    "pandas string[pyarrow]": lambda v: pd.Series(v, dtype="string[pyarrow]"),
    "polars chunks": polars_chunks(pl.String),
    "polars categorical": lambda v: pl.Series(v, dtype=pl.Categorical),
    "polars categorical chunks": polars_chunks(pl.Categorical),
    "polars categorical sliced": sliced(lambda v: pl.Series(v, dtype=pl.Categorical)),
    "polars enum": enumeration,
    "arrow large_string": lambda v: pa.array(v, pa.large_string()),
    "arrow large_string sliced": sliced(lambda v: pa.array(v, pa.large_string())),
    "arrow string_view": lambda v: pa.array(v, pa.string_view()),
    "arrow string_view sliced": sliced(lambda v: pa.array(v, pa.string_view())),
    "arrow dictionary of int8": lambda v: pa.array(v).cast(pa.dictionary(pa.int8(), pa.string())),
    "arrow dictionary of uint64": lambda v: pa.DictionaryArray.from_arrays(
        pa.array([None if x is None else v.index(x) for x in v], pa.uint64()), pa.array(v)
    ),
}

NUMBERS_ALL = {
    **{f"numpy {code}": lambda v, code=code: np.array(v, dtype=code) for code in "bhilqBHILQ"},
    **{f"numpy >{code}": lambda v, code=code: np.array(v, dtype=f">{code}") for code in ("i2", "i4", "i8", "u8")},
    "strided": spread(np.array),
    "reversed": lambda v: np.array(v[::-1])[::-1],
    "column": lambda v: np.array(v)[:, None],
    "unaligned": lambda v: np.array([(1, x) for x in v], dtype=[("a", "i1"), ("b", "i8")])["b"],
    "int enum": lambda v: [enum.IntEnum("Codes", {f"C{k}": k for k in range(101)})(x) for x in v],
    "fractions": lambda v: [int(Fraction(x)) for x in v],
    "torch": lambda v: __import__("torch").tensor(v),
    "torch uint8": lambda v: __import__("torch").tensor(v, dtype=__import__("torch").uint8),
    "range subset": lambda v: memoryview(np.array(v)),
}

NUMBERS_WITH_GAPS = {
    "pandas Int64": lambda v: pd.Series(v, dtype="Int64"),
    "pandas UInt8": lambda v: pd.Series(v, dtype="UInt8"),
    "pandas int64[pyarrow]": lambda v: pd.Series(v, dtype="int64[pyarrow]"),
    "polars Int64": lambda v: pl.Series(v, dtype=pl.Int64),
    "polars chunks": polars_chunks(pl.Int32),
    "arrow int8": lambda v: pa.array(v, pa.int8()),
    "arrow uint64": lambda v: pa.array(v, pa.uint64()),
    "arrow uint64 sliced": sliced(lambda v: pa.array(v, pa.uint64())),
}

TRUTH_ONLY = {
    **{f"float {code}": lambda v, code=code: np.array(v, dtype=code) for code in ("e", "f", "d", "g", ">f8")},
    "floats": lambda v: [None if x is None else float(x) for x in v],
    "pandas float": lambda v: pd.Series(v, dtype=float),
    "pandas Float64": lambda v: pd.Series(v, dtype="Float64"),
    "pandas float category": lambda v: pd.Series(v, dtype=float).astype("category"),
    "polars float": lambda v: pl.Series(v, dtype=pl.Float32),
    "arrow double": lambda v: pa.array(v, pa.float64()),
    "arrow dictionary of doubles": lambda v: pa.array(v, pa.float64()).dictionary_encode(),
    "decimals": lambda v: [None if x is None else Decimal(x) for x in v],
    "fractions": lambda v: [None if x is None else Fraction(x) for x in v],
    "torch": lambda v: __import__("torch").tensor(v, dtype=__import__("torch").float32),
    "some of each": lambda v: [
        f(x) for x, f in zip(v, [int, float, Decimal, Fraction, np.int8, np.float32, np.uint64, int], strict=True)
    ],
}


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


def test_labels_that_would_collide_in_a_naive_table_are_fast():
    """Multiples of powers of two, and texts of one prefix or suffix."""
    n = 200_000
    k = np.arange(n)
    start = time.perf_counter()
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
    assert time.perf_counter() - start < 30


# Objects that are out to break the reader


def hostile(error, *, before=lambda: None):
    class Hostile(int):
        def fail(self, *args):
            before()
            raise error

        __int__ = __index__ = __float__ = __trunc__ = __floor__ = __hash__ = __eq__ = __repr__ = __str__ = fail
        __bool__ = __lt__ = __reduce__ = fail

    return Hostile(3)


@pytest.mark.parametrize("error", [RuntimeError("no"), KeyError("no"), OverflowError("no"), StopIteration(), OSError()])
def test_labels_whose_own_code_fails(error):
    """As truth, prediction, weights, class and cluster: an error of ours, whatever theirs was."""
    bad = hostile(error)
    array = np.empty(2, dtype=object)
    array[:] = [1, bad]
    for call in (
        lambda: tm.accuracy([1, bad], [1, 2]),
        lambda: tm.accuracy([1, 2], (1, bad)),
        lambda: tm.accuracy(array, [1, 2]),
        lambda: tm.accuracy([1, bad], [1, 2], missing="drop"),
        lambda: tm.accuracy([1, 2], [1, 2], weights=[1, bad]),
        lambda: tm.recall([1, 2], [1, 2], positive=bad),
        lambda: tm.recall([1, 2], [1, 2], classes=[1, bad]),
        lambda: tm.adjusted_rand([1, bad], [1, 2]),
        lambda: tm.silhouette([[1.0], [2.0], [3.0]], [1, bad, 2]),
        lambda: tm.evaluate([1, bad], [1, 2]),
        lambda: tm.accuracy([bad], [[0.5, 0.5]]),
        lambda: tm.rmse([1, bad], [1, 2]),
    ):
        with pytest.raises(tm.TallymarkError):
            call()


def test_objects_that_cannot_be_shown():
    """The message does without."""

    class Shy:
        def __repr__(self):
            raise RuntimeError("no")

    for call in (
        lambda: tm.accuracy([Shy(), 1], [1, 2]),
        lambda: tm.accuracy(Shy(), [1, 2]),
        lambda: tm.recall([1], [1], positive=Shy()),
    ):
        with pytest.raises(tm.TallymarkError, match="of type Shy"):
            call()


def test_a_list_that_changes_while_it_is_read():
    """It shrinks, grows or is filled with something else; what is gone is missing."""
    for change in ("clear", "grow", "replace"):
        items = [1, 2]

        class Changing(int):
            def __int__(self, items=items, change=change):
                if change == "clear":
                    items.clear()
                elif change == "grow":
                    items.extend(range(100_000))
                else:
                    items[:] = ["x"] * len(items)
                return 5

            __index__ = __int__

        items += [Changing(7), 3, 4] * 2
        other = list(range(8))
        try:
            assert tm.accuracy(items, other) >= 0.0
        except tm.TallymarkError:
            assert change != "grow"
        items[:] = [1, 2, Changing(7), 3]
        try:
            tm.accuracy(other[:4], items)
        except tm.TallymarkError:
            assert change != "grow"


def test_an_object_array_that_changes_while_it_is_read():
    """Its items are held while they are read."""
    array = np.empty(1000, dtype=object)

    class Changing(int):
        def __int__(self):
            array[:] = None
            return 1

        __index__ = __int__

    array[:] = [Changing(k) for k in range(1000)]
    with pytest.raises(tm.MissingValueError, match="999 rows"):
        tm.accuracy(array, range(1000))


def test_lengths_that_lie():
    """Sequences, lists, tuples and Arrow columns that say they have more rows, or fewer."""

    def lying(base, n):
        return type("Lying", (base,), {"__len__": lambda self: n})

    class Sequence:
        def __init__(self, items, n):
            self.items, self.n = items, n

        def __len__(self):
            return self.n

        def __getitem__(self, k):
            return self.items[k]

    for n in (1, 5000):
        for base in (list, tuple):
            assert tm.evaluate(lying(base, n)([1, 2]), lying(base, n)([1, 2]), ["accuracy"]).n == 2
        for make in (lambda v, n=n: Sequence(v, n), lambda v, n=n: Arrow(pa.chunked_array([list(map(str, v))]), n)):
            for call in (
                lambda m=make: tm.accuracy(m([1, 2]), m([1, 2])),
                lambda m=make, n=n: tm.accuracy(m([1, 2]), ["1"] * n),
                lambda m=make, n=n: tm.accuracy(m([1, 2]), m([1, 2]), weights=[1.0] * n),
                lambda m=make, n=n: tm.accuracy(m([1, 2]), m([1, 2]), missing="drop"),
                lambda m=make, n=n: tm.silhouette([[float(k)] for k in range(n)], m([1, 2])),
            ):
                with pytest.raises(tm.TallymarkError):
                    call()
    with pytest.raises(tm.TypeOfDataError):
        tm.accuracy(lying(Sequence, -1)([1], 1), [1])


class Arrow:
    """Something that says it is an Arrow column of strings."""

    type = "string"

    def __init__(self, column, rows=2):
        self.column, self.rows = column, rows

    def __len__(self):
        return self.rows

    def __arrow_c_stream__(self, requested_schema=None):
        return self.column() if callable(self.column) else self.column.__arrow_c_stream__()


class ArrowArray(Arrow):
    """The same by the interface for arrays."""

    __arrow_c_stream__ = property()

    def __arrow_c_array__(self, requested_schema=None):
        return self.column() if callable(self.column) else self.column.__arrow_c_array__()


def test_arrow_capsules_that_are_bad():
    """The wrong name, no capsule at all, one that was read before, and one that cannot be made."""

    def fail():
        raise RuntimeError("no")

    array, chunked = pa.array(["a", "b"]), pa.chunked_array([["a", "b"]])
    used = chunked.__arrow_c_stream__()
    assert pa.chunked_array(Arrow(lambda: used)).to_pylist() == ["a", "b"]
    used_array = array.__arrow_c_array__()
    assert pa.array(ArrowArray(lambda: used_array)).to_pylist() == ["a", "b"]
    assert tm.accuracy(Arrow(chunked), ["a", "b"]) == 1.0
    for make, columns in (
        (Arrow, [fail, lambda: None, lambda: 3, lambda: array.__arrow_c_array__()[0], lambda: used]),
        (ArrowArray, [fail, lambda: None, lambda: (1, 2), lambda: (), lambda: used_array]),
    ):
        for column in columns:
            with pytest.raises(tm.TypeOfDataError):
                tm.accuracy(make(column), ["a", "b"])
            with pytest.raises(tm.TallymarkError):
                tm.accuracy(["a", "b"], make(column), missing="drop")
    once = array.__arrow_c_array__()
    for attempt in range(2):
        if attempt == 0:
            assert tm.accuracy(ArrowOnly(lambda: once), ["a", "b"]) == 1.0
            continue
        with pytest.raises(tm.TypeOfDataError, match="read before"):
            tm.accuracy(ArrowOnly(lambda: once), ["a", "b"])
    for column in (
        pa.chunked_array([[["a"], ["b"]]]),
        pa.table({"a": ["a", "b"], "b": ["a", "b"]}),
        pa.chunked_array([[1.5, 2]]),
    ):
        with pytest.raises(tm.TallymarkError):
            tm.accuracy(Arrow(column), ["a", "b"])
    with pytest.raises(tm.MissingValueError, match="row 1"):
        tm.accuracy(Arrow(pa.chunked_array([["a", None]])), ["a", "b"])
    assert tm.accuracy(Arrow(pa.table({"x": ["a", "b"]})), ["a", "b"]) == 1.0


class ArrowOnly:
    """Something that has the interface for arrays and no other."""

    type = "string"

    def __init__(self, column):
        self.column = column

    def __len__(self):
        return 2

    def __arrow_c_array__(self, requested_schema=None):
        return self.column()


def test_huge_categories():
    """As many as rows, on both sides, in any order of the categories."""
    n = 100_000
    names = [f"c{k}" for k in range(n)]
    y = pd.Series(pd.Categorical(names, categories=names[::-1]))
    assert tm.accuracy(y, names) == 1.0
    assert tm.adjusted_rand(y, y) == 1.0
    assert (
        tm.davies_bouldin(
            np.arange(float(n))[:, None] // 10, pd.Categorical.from_codes(np.arange(n) // 1000, names[::-1])
        )
        > 0
    )
    assert tm.accuracy(pa.array(names).dictionary_encode(), y) == 1.0


# Size


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
