"""What callers hold becomes arrays, without guesses and without copies of plain ones."""

from __future__ import annotations

import ctypes
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import tallymark as tm
from tallymark.data.arrays import as_numbers

Y, P = [3.0, -0.5, 2.0, 7.0], [2.5, 0.0, 2.0, 8.0]


def torch_tensor(values):
    torch = pytest.importorskip("torch")
    return torch.tensor(values, requires_grad=True)


class OnlyDlpack:
    """Something that speaks DLPack and nothing else."""

    def __init__(self, values):
        self.array = np.array(values)

    def __dlpack__(self, **kwargs):
        return self.array.__dlpack__(**kwargs)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


class OnlyArrowStream:
    """Something that speaks the Arrow stream interface and nothing else."""

    def __init__(self, values):
        self.table = pa.table({"x": values})

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


class OnlyArrowArray:
    """Something that speaks the Arrow array interface and nothing else."""

    def __init__(self, values):
        self.array = pa.array(values)

    def __arrow_c_array__(self, requested_schema=None):
        return self.array.__arrow_c_array__(requested_schema)


class OnlySequence:
    """A sequence that is not a list."""

    def __init__(self, values):
        self.values = values

    def __len__(self):
        return len(self.values)

    def __getitem__(self, index):
        return self.values[index]


FORMS = {
    "list": list,
    "tuple": tuple,
    "numpy": np.array,
    "object array": lambda v: np.array(v, dtype=object),
    "decimals": lambda v: [Decimal(x) for x in v],
    "fractions": lambda v: [Fraction(x) for x in v],
    "long double": lambda v: np.array(v, dtype=np.longdouble),
    "big endian": lambda v: np.array(v, dtype=">f4"),
    "ctypes": lambda v: np.ctypeslib.as_array((ctypes.c_float * len(v))(*v)),
    "masked array": np.ma.masked_array,
    "matrix column": lambda v: np.array(v)[:, None],
    "pandas series": pd.Series,
    "pandas nullable": lambda v: pd.Series(v, dtype="Float64"),
    "pandas frame": lambda v: pd.DataFrame({"x": v}),
    "pandas arrow": lambda v: pd.Series(v, dtype=pd.ArrowDtype(pa.float64())),
    "polars series": pl.Series,
    "polars frame": lambda v: pl.DataFrame({"x": v}),
    "polars decimal": lambda v: pl.Series(v, dtype=pl.Decimal(10, 2)),
    "arrow array": pa.array,
    "arrow chunked": lambda v: pa.chunked_array([v[:2], v[2:]]),
    "arrow table": lambda v: pa.table({"x": v}),
    "arrow stream": OnlyArrowStream,
    "arrow capsule": OnlyArrowArray,
    "dlpack": OnlyDlpack,
    "torch": torch_tensor,
    "sequence": OnlySequence,
    "memoryview": lambda v: memoryview(np.array(v)),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_gives_the_same_number(form):
    """As truth, as predictions and as weights."""
    make = FORMS[form]
    expected = tm.rmse(Y, P, weights=[1.0, 2.0, 0.5, 4.0])
    assert tm.rmse(make(Y), make(P), weights=make([1.0, 2.0, 0.5, 4.0])) == expected


@pytest.mark.parametrize("form", ["pandas frame", "polars frame", "arrow table", "arrow stream"])
def test_the_columns_of_a_table_are_outputs(form):
    """Columns are outputs."""
    columns = {"a": Y, "b": P}
    make = {
        "pandas frame": pd.DataFrame,
        "polars frame": pl.DataFrame,
        "arrow table": pa.table,
        "arrow stream": lambda c: OnlyArrowStreamTable(pa.table(c)),
    }[form]
    truth, prediction = make(columns), make({"a": P, "b": Y})
    assert tm.mae(truth, prediction, outputs="each") == [0.5, 0.5]


class OnlyArrowStreamTable:
    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


def test_integers_are_subtracted_before_they_are_rounded():
    """Above 2⁵³ float64 cannot tell neighbours apart; their differences are right all the same."""
    y = np.array([2**53, 2**53 + 1, -(2**62), 2**63 - 1])
    p = np.array([2**53 + 1, 2**53 + 1, -(2**62) + 3, 2**63 - 2])
    assert tm.mae(y, p) == 1.25
    assert tm.mae(y, p, weights=[1, 0, 1, 0]) == 2.0
    assert tm.mae(y[::-1], p[::-1].copy()) == 1.25
    assert tm.max_error(np.array([0], np.uint64), np.array([2**64 - 1], np.uint64)) == 2.0**64
    assert tm.mean_bias(np.array([2**63 + 1], np.uint64), np.array([-1])) == -(2.0**63)


def test_plain_arrays_are_not_copied():
    """Whatever their type and strides."""
    for dtype in "?bhilqBHILQefd":
        array = np.ones(10, dtype=dtype)[::2]
        assert as_numbers(array, "x") is array


MISSING = {
    "signalling NaN": [Decimal(1), Decimal("sNaN"), Decimal(3)],
    "list with None": [1.0, None, 3.0],
    "nan": [1.0, float("nan"), 3.0],
    "infinity": [1.0, float("inf"), 3.0],
    "huge integer": [1, 10**400, 3],
    "masked": np.ma.masked_array([1.0, 2.0, 3.0], mask=[False, True, False]),
    "masked integers": np.ma.masked_array([1, 2, 3], mask=[False, True, False]),
    "pandas NA": pd.Series([1, None, 3], dtype="Int64"),
    "pandas NaN": pd.Series([1.0, None, 3.0]),
    "polars null": pl.Series([1, None, 3]),
    "arrow null": pa.array([1, None, 3]),
    "arrow chunked null": pa.chunked_array([[1, None], [3]]),
    "half precision infinity": np.array([1, np.inf, 3], dtype=np.float16),
}


@pytest.mark.parametrize("form", MISSING)
def test_missing_values_are_found_in_every_form(form):
    """With the row, and never read as a number."""
    with pytest.raises(tm.MissingValueError, match="row 1"):
        tm.rmse(MISSING[form], [1.0, 2.0, 3.0])
    with pytest.raises(tm.MissingValueError, match="row 1"):
        tm.rmse([1.0, 2.0, 3.0], MISSING[form])
    with pytest.raises(tm.WeightError, match="row 1"):
        tm.rmse([1.0, 2.0, 3.0], [1.0, 2.0, 3.0], weights=MISSING[form])
    report = tm.evaluate(MISSING[form], [1.0, 2.0, 4.0], ["mae"], missing="drop")
    assert (report.n, report.dropped, report["mae"]) == (2, 1, 0.5)


def test_missing_packages_are_named(monkeypatch):
    """Arrow data without pyarrow is an error that says what to install."""
    import builtins

    real = builtins.__import__

    def refuse(name, *args, **kwargs):
        if name == "pyarrow":
            raise ImportError("no pyarrow")
        return real(name, *args, **kwargs)

    stream = OnlyArrowStream(Y)
    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(tm.MissingPackageError, match=r'pip install "tallymark\[files\]"'):
        tm.rmse(stream, P)


def test_a_tensor_that_numpy_cannot_read_is_refused():
    """bfloat16 has no NumPy type."""
    torch = pytest.importorskip("torch")
    with pytest.raises(tm.TypeOfDataError, match="could not be read as an array"):
        tm.rmse(torch.tensor(Y, dtype=torch.bfloat16), P)
