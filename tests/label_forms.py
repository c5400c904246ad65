"""The same labels in every container that people hold them in."""

from __future__ import annotations

import enum
from collections import namedtuple
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import tallymark as tm

METRICS = ["accuracy", "kappa", "recall(average='macro')", "homogeneity", "v_measure"]
TEXTS = ["dog", "", "Ärger", "dog", "a much longer label than sixteen bytes", "😀", "cat", "dog"]
OTHER_TEXTS = ["dog", "cat", "Ärger", "", "a much longer label than sixteen bytes", "Z", "cat", "ß"]
NUMBERS = [3, 0, 1, 3, 100, 7, 2, 3]
OTHER_NUMBERS = [3, 2, 1, 0, 100, 9, 2, 8]
WEIGHTS = [0.1, 0.2, 0.3, 1e10, 1e-10, 0.7, 2.5, 3.0]


def values(y, p, **keywords):
    """Every value that a set of metrics on classes and clusters gives, and the bytes of their states."""
    report = tm.evaluate(y, p, METRICS, errors="raise", **keywords)
    state = (
        tm.Accuracy()
        .needs(tm.data.target.Target(keywords.pop("kind", None)))
        .fold(tm.data.batch.Batch(y, p, **keywords))
    )
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


def of_torch(values, dtype=None):
    torch = pytest.importorskip("torch")
    return torch.tensor(values, dtype=dtype and getattr(torch, dtype))


NUMBERS_ALL = {
    **{f"numpy {code}": lambda v, code=code: np.array(v, dtype=code) for code in "bhilqBHILQ"},
    **{f"numpy >{code}": lambda v, code=code: np.array(v, dtype=f">{code}") for code in ("i2", "i4", "i8", "u8")},
    "strided": spread(np.array),
    "reversed": lambda v: np.array(v[::-1])[::-1],
    "column": lambda v: np.array(v)[:, None],
    "unaligned": lambda v: np.array([(1, x) for x in v], dtype=[("a", "i1"), ("b", "i8")])["b"],
    "int enum": lambda v: [enum.IntEnum("Codes", {f"C{k}": k for k in range(101)})(x) for x in v],
    "fractions": lambda v: [int(Fraction(x)) for x in v],
    "torch": of_torch,
    "torch uint8": lambda v: of_torch(v, "uint8"),
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
    "torch": lambda v: of_torch(v, "float32"),
    "some of each": lambda v: [
        f(x) for x, f in zip(v, [int, float, Decimal, Fraction, np.int8, np.float32, np.uint64, int], strict=True)
    ],
}
