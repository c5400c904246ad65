"""What a column of a file is: numbers as they were written, or text, by all of its fields."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
import pytest

from tallymark.errors import FileError, ParameterError
from tallymark.sources.columns import arrow_to_numpy
from tallymark.sources.csv import reader
from tallymark.sources.files import read_columns
from tests.sources.conftest import column, items

BIG = 2**53 + 1  # which no float holds


@pytest.mark.parametrize(
    ("fields", "kind", "values"),
    [
        (["1", "0", "-5"], "integer", [1, 0, -5]),
        (["+1", "-1", " 1 "], "integer", [1, -1, 1]),
        (["9007199254740993", "1"], "integer", [9007199254740993, 1]),
        (["18446744073709551615", "-1"], "integer", [18446744073709551615, -1]),
        (["99999999999999999999999", "7"], "integer", [99999999999999999999999, 7]),
        (["1", "0.5"], "real", [1.0, 0.5]),
        (["1e3", ".5", "2."], "real", [1000.0, 0.5, 2.0]),
        (["0.1", "99999999999999999999999"], "real", [0.1, 99999999999999999999999]),
        (["0.1", "100000000000000000000000"], "real", [0.1, 10**23]),
        (["1.0", " 9007199254740993", "+9007199254740995", "9007199254740992"], "real", [1, BIG, BIG + 2, BIG - 1]),
        (["9" * 5000, "1"], "real", [math.inf, 1.0]),
        (["1e400", "9" * 400], "real", [math.inf, int("9" * 400)]),
        (["0.30000000000000004", "5e-324"], "real", [0.1 + 0.2, 5e-324]),
        (["true", "False", "TRUE"], "boolean", [True, False, True]),
        (["true", "1"], "text", ["true", "1"]),
        (["1", "true"], "text", ["1", "true"]),
        (["cat", "NA"], "text", ["cat", "NA"]),
        (["1", "NA"], "text", ["1", "NA"]),
        (["007", "7"], "text", ["007", "7"]),
        (["0x1F", "1"], "text", ["0x1F", "1"]),
        (["1_000", "2"], "text", ["1_000", "2"]),
        (["null", "None"], "text", ["null", "None"]),
        ([" a", "a "], "text", [" a", "a "]),
        (["2020-01-01", "2020-01-02"], "text", ["2020-01-01", "2020-01-02"]),
        (["٣", "1"], "text", ["٣", "1"]),
    ],
)
def test_a_column_is_what_all_its_fields_are(file, fields, kind, values):
    """Numbers where every field is one, as exactly as they were written; else texts, as they were written."""
    found = column(file("y,x\n" + "".join(f"{field},1\n" for field in fields)))
    assert found.type == kind
    assert items(found) == values


def test_an_empty_field_is_missing(file):
    """In every kind of column, quoted or not; whole numbers beside it stay whole."""
    path = file('i,f,b,t\n9007199254740993,0.5,true,a\n,,,\n"","","",""\n')
    found = read_columns(path, ["i", "f", "b", "t"])
    assert items(found["i"]) == [9007199254740993, None, None]
    assert np.isnan(found["f"].values).tolist() == [False, True, True]
    assert items(found["b"]) == [True, None, None]
    assert items(found["t"]) == ["a", None, None]


def test_what_looks_like_numbers_for_long_is_read_again_as_text(file, monkeypatch):
    """The last field decides, and no field is changed by the way there."""
    monkeypatch.setattr(reader, "BLOCK", 1 << 12)
    rows = [f"{k}.50" for k in range(5000)]
    found = column(file("\n".join(["y,x", *(f"{row},1" for row in [*rows, "none"])])))
    assert found.type == "text"
    assert items(found) == [*rows, "none"]
    assert found.non_number == (5000, "none")
    assert column(file("\n".join(["y,x", *["true,1"] * 5000, "2,1"]))).type == "text"


def test_a_column_can_be_asked_for_as_numbers_or_as_text(file):
    """Numbers with leading zeros are then numbers; numbers as text keep every character."""
    path = file("y,x\n007,1.50\n8,\n")
    assert items(column(path, way="number")) == [7, 8]
    assert items(column(path, "x", way="text")) == ["1.50", None]
    with pytest.raises(FileError, match=r"column 'y' must contain numbers; row 1 \(line 4\) is 'x'"):
        column(file('y,x\n1,"a\nb"\nx,2\n'), way="number")
    with pytest.raises(FileError, match=r"row 0 \(line 2\) is 'true'"):
        column(file("y,x\ntrue,1\n"), way="number")
    with pytest.raises(FileError, match=r"row 0 .* is '0x1F'"):
        column(file("y,x\n0x1F,1\n"), way="number")
    with pytest.raises(ParameterError, match="must be read as one of auto, number, text; got 'date'"):
        column(path, way="date")


@pytest.mark.parametrize("kind", ["float64", "int64", "bool_", "float32", "uint64"])
def test_arrays_as_arrow_would_make_them(kind):
    """Of any part of an array, with and without missing values; pandas is not loaded for it."""
    dtype = getattr(pa, kind)()
    for values in ([1, 0, 1, 1, 0, 1, 1, 1, 0], [1, None, 1, 0, None, 1, 1, 1, None], []):
        if None in values and not pa.types.is_floating(dtype):
            continue
        for start in range(3):
            array = pa.array(values, pa.int64()).cast(dtype).slice(start)
            np.testing.assert_array_equal(arrow_to_numpy(array), array.to_numpy(zero_copy_only=False), strict=True)
