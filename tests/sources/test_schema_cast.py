"""Arrays of partitions in the types of the whole: converted where nothing is lost, else refused by name."""

from __future__ import annotations

import datetime
from decimal import Decimal

import pyarrow as pa
import pytest

from tallymark.errors import TypeOfDataError
from tallymark.sources.schema_cast import cast_batch, cast_column, combine_batches

DAY = datetime.date(2026, 1, 1)
TEXTS = pa.dictionary(pa.int32(), pa.large_string())


@pytest.mark.parametrize(
    ("held", "wanted"),
    [
        (pa.array([1, None], pa.int8()), pa.int64()),
        (pa.array([1, 2]), pa.int8()),
        (pa.array([1, None]), pa.float64()),
        (pa.array([1, None]), pa.decimal128(21, 2)),
        (pa.array([0.5], pa.float32()), pa.float64()),
        (pa.array(["a", None]), pa.large_string()),
        (pa.array(["a", "b", "a"]).dictionary_encode(), pa.string()),
        (pa.array(["a", "b", "a"]), TEXTS),
        (pa.array(["a", None]).cast(pa.dictionary(pa.int8(), pa.string())), TEXTS),
        (pa.array([Decimal("1.5")]), pa.decimal128(10, 3)),
        (pa.array([DAY]), pa.date64()),
        (pa.array([None, None]), pa.int64()),
        (pa.array([None, None], pa.float64()), pa.string()),
        (pa.array([], pa.bool_()), TEXTS),
    ],
    ids=lambda each: str(each if isinstance(each, pa.DataType) else each.type),
)
def test_lossless_casts_keep_every_value(held, wanted):
    """The same values in the wanted type."""
    found = cast_column(held, wanted, "y")
    assert found.type == wanted
    assert found.to_pylist() == held.to_pylist()
    found.validate(full=True)


def test_whole_numbers_with_gaps_stay_whole():
    """NaN among floats that should be whole is missing, and whole floats are what they were."""
    assert cast_column(pa.array([1.0, float("nan"), 2.0**53]), pa.int64(), "y").to_pylist() == [1, None, 2**53]
    assert cast_column(pa.array([float("nan")]), pa.int64(), "y").to_pylist() == [None]


@pytest.mark.parametrize(
    ("held", "wanted"),
    [
        (pa.array([300]), pa.int8()),
        (pa.array([0.5]), pa.int64()),
        (pa.array([2.0**53 + 2]), pa.int64()),
        (pa.array([float("inf")]), pa.int64()),
        (pa.array([2**60 + 1]), pa.float64()),
        (pa.array([1]), pa.string()),
        (pa.array(["1"]), pa.int64()),
        (pa.array([1]).dictionary_encode(), TEXTS),
        (pa.array([True]), pa.int64()),
        (pa.array([b"a"]), pa.string()),
        (pa.array([Decimal("1.55")]), pa.decimal128(10, 1)),
        (pa.array([[1]]), pa.int64()),
    ],
    ids=lambda each: str(each if isinstance(each, pa.DataType) else each.type),
)
def test_lossy_casts_are_refused(held, wanted):
    """It is refused, with the name of the column and both types."""
    with pytest.raises(
        TypeOfDataError, match=r"column 'y' must contain values of type .* in every partition; one contains"
    ):
        cast_column(held, wanted, "y")


def test_small_batches_are_gathered_in_order():
    """All rows once and in order, in fewer batches, with dictionaries united."""
    types = pa.schema([("y", pa.int64()), ("t", TEXTS)])
    batches = [cast_batch([pa.array([k] * k), pa.array([f"text {k}"] * k)], types) for k in range(50)]
    found = list(combine_batches(iter(batches)))
    assert len(found) == 1
    assert found[0].schema == types
    assert found[0].to_pylist() == [row for batch in batches for row in batch.to_pylist()]
    large = cast_batch([pa.array(range(1 << 19))] * 1, pa.schema([("y", pa.int64())]))
    assert [batch.num_rows for batch in combine_batches([large, large.slice(0, 5), large.slice(0, 7)])] == [1 << 19, 12]
    assert list(combine_batches([])) == []
