"""The byte format: old states load, damaged and hostile bytes are clear errors, and nothing in them is executed."""

from __future__ import annotations

import hashlib
import json
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tallymark as tm
from tallymark.data.batch import Batch
from tallymark.states.rows import Rows, RowsOf
from tallymark.states.serialization import MAGIC, pack, unpack
from tallymark.states.sums import Sums, SumsOf, Term

STORED = Path(__file__).with_name("stored")


def example() -> Sums:
    reads = SumsOf(Term("squared_error"), Term("exact_truth"), Term("truth_range"))
    return reads.fold(Batch([3.0, -0.5, 2.0, 7.0], [2.5, 0.0, 2.0, 8.0], [1.0, 2.0, 0.5, 0.0]))


def forged(header: object, *buffers: bytes) -> bytes:
    """Bytes with a valid checksum and any header."""
    text = json.dumps(header).encode()
    body = MAGIC + b"\x01\x00\x00\x00" + len(text).to_bytes(8, "little") + text + b"".join(buffers)
    return body + hashlib.sha256(body).digest()


@pytest.mark.parametrize("path", sorted(STORED.glob("*.state")), ids=lambda path: path.name)
def test_states_of_earlier_releases_load(path):
    """Each stored file has a twin that says what its metric must be."""
    expected = json.loads(path.with_suffix(".json").read_text())
    state = tm.extend.State.from_bytes(path.read_bytes())
    assert tm.metric(expected["metric"]).answer(state).value == expected["value"]
    assert state.n == expected["n"]


@given(st.binary(max_size=200))
def test_any_bytes_are_a_clear_error(data):
    """Never a crash."""
    with pytest.raises(tm.StateError):
        tm.extend.State.from_bytes(data)


@given(st.integers(0, 10_000), st.integers(1, 255))
def test_any_damage_is_found(place, flip):
    """One changed byte anywhere."""
    data = bytearray(example().to_bytes())
    data[place % len(data)] ^= flip
    with pytest.raises(tm.StateError):
        tm.extend.State.from_bytes(bytes(data))


@pytest.mark.parametrize(
    "header",
    [
        [],
        {},
        {"type": "Sums"},
        {"type": "Sums", "fields": {}, "buffers": []},
        {"type": "Sums", "fields": [], "buffers": []},
        {"type": 3, "fields": {}, "buffers": []},
        {"type": "os.system", "fields": {}, "buffers": []},
        {"type": "Sums", "fields": {}, "buffers": [-1]},
        {"type": "Sums", "fields": {}, "buffers": [10**12]},
        {"type": "Sums", "fields": {}, "buffers": "x"},
        {"type": "Sums", "fields": {"~int": 5}, "buffers": []},
        {"type": "Rows", "fields": {"chunks": [[{"~array": 0, "dtype": "O", "shape": [1]}] * 3]}, "buffers": [0]},
        {"type": "Rows", "fields": {"chunks": [[[1], [2], None]]}, "buffers": []},
        {"type": "Rows", "fields": {"chunks": [1]}, "buffers": []},
    ],
)
def test_a_forged_header_is_a_clear_error(header):
    """With a valid checksum all the same."""
    with pytest.raises(tm.StateError):
        tm.extend.State.from_bytes(forged(header))


def test_forged_fields_of_sums_are_refused():
    """Unknown links and terms, and totals that do not fit."""
    good = example().fields()
    for change in (
        {"link": "sqrt"},
        {"terms": [["cubed_error", []]]},
        {"totals": []},
        {"columns": [1, 2]},
        {"columns": None},
        {"n": "many"},
        {"n": -1},
        {"weight": -1},
        {"columns": [10**9, 10**9]},
        {"totals": [[1, 2, 3]] * 3},
    ):
        with pytest.raises(tm.StateError):
            tm.extend.State.from_bytes(pack("Sums", {**good, **change}))


def test_forged_rows_are_refused():
    """Arrays that differ in length, in width or in their dimensions."""
    a, b = np.ones((3, 1)), np.ones((2, 1))
    bad = np.array([[1.0], [np.nan], [1.0]])
    for chunks in (
        [[a, bad, None]],
        [[a, a, np.array([1.0, -1.0, 1.0])]],
        [[a, b, None]],
        [[a, a, np.ones(2)]],
        [[np.ones(3), np.ones(3), None]],
        [[a, a, None], [a, np.ones((3, 2)), None]],
    ):
        with pytest.raises(tm.StateError):
            tm.extend.State.from_bytes(pack("Rows", {"chunks": chunks}))


@pytest.mark.parametrize("reference", ["~int", "~text", "~array"])
def test_a_buffer_that_is_referenced_twice_is_refused(reference):
    """Else a few bytes for each reference would unfold to the size of the buffer."""
    once = {reference: 0, "dtype": "|u1", "shape": [8]}
    assert unpack(forged({"type": "X", "fields": {"a": once}, "buffers": [8]}, b"01234567"))[0] == "X"
    for fields in ({"a": [once] * 2}, {"a": once, "b": {"c": once}}):
        with pytest.raises(tm.StateError, match="buffer 0 is referenced twice"):
            unpack(forged({"type": "X", "fields": fields, "buffers": [8]}, b"01234567"))
    for place in (-1, 1, True, None, "0", [0]):
        with pytest.raises(tm.StateError, match="there is no buffer"):
            unpack(forged({"type": "X", "fields": {"a": {**once, reference: place}}, "buffers": [8]}, b"01234567"))


def test_a_small_file_does_not_unfold_to_a_large_one():
    """A buffer of 1 MB that is named 500 times in a field that nobody reads takes no memory."""
    header = {"type": "Sums", "fields": {"ignored": [{"~int": 0}] * 500}, "buffers": [1 << 20]}
    data = forged(header, b"\x7f" * (1 << 20))
    tracemalloc.start()
    try:
        with pytest.raises(tm.StateError):
            tm.extend.State.from_bytes(data)
        assert tracemalloc.get_traced_memory()[1] < 16 << 20
    finally:
        tracemalloc.stop()


def test_rows_survive_their_bytes():
    """Arrays, with and without weights."""
    rows = RowsOf().fold(Batch([1.0, 2.0], [2.0, 4.0])) + RowsOf().fold(Batch([1], [2], [0.5]))
    back = tm.extend.State.from_bytes(rows.to_bytes())
    assert isinstance(back, Rows)
    assert back == rows
    assert hash(back) == hash(rows)
    assert back.n == 3
    assert [array.tolist() for array in back.arrays()] == [[[1], [2], [1]], [[2], [4], [2]], [1.0, 1.0, 0.5]]


def test_every_kind_of_field_round_trips():
    """Small and big integers, floats that JSON cannot write, arrays, text and nests of them."""
    fields = {"a": [1, -(2**80), 2**60, 0.1, None, "text", True], "b": {"c": float("inf"), "d": float("-inf")}}
    assert unpack(pack("X", fields)) == ("X", fields)
    with pytest.raises(tm.StateError, match="cannot hold"):
        pack("X", {"a": object()})


def test_rows_of_other_widths_do_not_add():
    """Nor do states of another type."""
    one, two = RowsOf().fold(Batch([1.0], [1.0])), RowsOf().fold(Batch([[1.0, 2.0]], [[1.0, 2.0]]))
    with pytest.raises(tm.StateError, match="same width"):
        one + two
    with pytest.raises(TypeError):
        one + 1
    with pytest.raises(TypeError):
        example() + one
    wide = SumsOf(Term("squared_error"))
    with pytest.raises(tm.StateError, match="same width"):
        wide.fold(Batch([1.0], [1.0])) + wide.fold(Batch([[1.0, 2.0]], [[1.0, 2.0]]))
    with pytest.raises(tm.StateError, match="no rows"):
        wide.zero().at(0)


def test_equal_declarations_are_equal_and_hash_alike():
    """Equal declarations are equal, hash alike and print."""
    a, b = SumsOf(Term("squared_error"), Term("absolute_error")), SumsOf(Term("absolute_error"), Term("squared_error"))
    assert a == b
    assert hash(a) == hash(b)
    assert RowsOf() == RowsOf()
    assert hash(RowsOf()) == hash(RowsOf())
    assert repr(a) == "SumsOf(absolute_error, squared_error)"
    assert repr(RowsOf()) == "RowsOf()"
    assert a != a.through("log")
    assert RowsOf().join(RowsOf()) == RowsOf()
