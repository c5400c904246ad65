"""The careful reader of CSV: as Python's csv on what is well formed, and with a place for all that is not."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tallymark.sources.csv.tokenizer import RowLimits, tokenize
from tallymark.sources.problems import MAX_COUNTED, ProblemList

FIELDS = st.text(st.sampled_from('ab ,;"\n\té€\u0301'), max_size=6)


def read(data, separator=","):
    found = ProblemList()
    return list(tokenize(io.BytesIO(data), separator, found)), found


@given(st.lists(st.lists(FIELDS, min_size=1, max_size=4), max_size=6), st.sampled_from(",;\t"), st.sampled_from("\n\r"))
@settings(max_examples=300, deadline=None)
def test_well_formed_text_is_read_as_python_reads_it(rows, separator, end):
    """Quotes, ends of lines and separators inside fields."""
    out = io.StringIO(newline="")
    csv.writer(out, delimiter=separator, lineterminator="\r\n" if end == "\r" else "\n").writerows(rows)
    records, found = read(out.getvalue().encode(), separator)
    expected = [row for row in csv.reader(io.StringIO(out.getvalue(), newline=""), delimiter=separator) if row]
    assert [record.fields for record in records] == expected
    assert not found


@given(st.binary(max_size=60))
@settings(max_examples=500, deadline=None)
def test_any_bytes_are_read_to_the_end(data):
    """Every problem has a line and a column, and every field its place."""
    records, found = read(data)
    assert all(each.line >= 1 and each.column >= 1 for each in found.shown)
    assert all(len(fields) == len(lines) == len(columns) for fields, lines, columns in records)


def test_places_count_from_one():
    """Lines and characters; a field of several lines stands where it begins."""
    records, _ = read(b'a,bb\n"x\ny",c\n')
    assert records[0] == (["a", "bb"], [1, 1], [1, 3])
    assert records[1] == (["x\ny", "c"], [2, 3], [1, 4])


def test_a_row_goes_on_behind_its_problem():
    """So that the next one is found, too."""
    _, found = read(b'a"b,"c"d,e\nf,"g"h\n')
    assert [(each.line, each.column) for each in found.shown] == [(1, 2), (1, 8), (2, 6)]


def test_many_problems_are_counted_without_being_kept():
    """A file of nothing but NUL bytes."""
    _, found = read(b"\0" * 100_000)
    assert (len(found.shown), found.total) == (50, 100_000)


class Counting(io.BytesIO):
    """Bytes that know how many of them were read."""

    def __init__(self, data):
        super().__init__(data)
        self.taken = 0

    def read(self, size=-1):
        block = super().read(size)
        self.taken += len(block)
        return block


MANY = 3_000_000
ENDLESS = {
    "quotes out of place": b'a,b"\n' * (MANY // 5),
    "NUL bytes": b"\0\n" * (MANY // 2),
    "no UTF-8": b"\xff\n" * (MANY // 2),
}


@pytest.mark.parametrize("content", ENDLESS.values(), ids=ENDLESS)
def test_reading_stops_behind_very_many_problems(content):
    """The rest is not read, and that is told."""
    source, found = Counting(content), ProblemList()
    assert sum(1 for _ in tokenize(source, ",", found)) <= MAX_COUNTED
    assert MAX_COUNTED <= found.total <= MAX_COUNTED + 2
    assert found.stopped
    assert source.taken < MANY // 4


def test_as_many_problems_as_are_counted_are_told_in_full():
    """Where no line follows them that could have more."""
    _, found = read(b"\0\n" * (MAX_COUNTED - 1))
    assert (found.total, found.stopped) == (MAX_COUNTED - 1, False)


@pytest.mark.parametrize(
    ("tail", "code", "what"),
    [(b"", "bad_quote", "unclosed quote"), (b'"\n', "field_too_long", "the field has 101 or more")],
    ids=["open", "closed"],
)
def test_quotes_that_hold_too_much_are_not_read_to_their_end(tail, code, what):
    """Only whether they are closed is looked for."""
    found = ProblemList()
    content = b'a,b\nc,"' + b"\n" * 500_000 + tail
    records = list(tokenize(io.BytesIO(content), ",", found, RowLimits(characters=100)))
    assert [record.fields for record in records] == [["a", "b"]]
    assert [(each.code, each.line, each.column) for each in found.shown] == [(code, 2, 3)]
    assert what in found.shown[0].text
    assert found.stopped


@given(
    st.lists(st.lists(FIELDS, min_size=2, max_size=3), min_size=1, max_size=5), st.sampled_from(['"', "\0", 'x"', ""])
)
@settings(max_examples=200, deadline=None)
def test_lines_without_a_fault_are_read_alike_in_pieces_and_one_by_one(rows, fault):
    """A fault at the end of the block makes all of it be read one by one."""
    out = io.StringIO(newline="")
    csv.writer(out, lineterminator="\n", quoting=csv.QUOTE_ALL).writerows(rows)
    whole, _ = read(out.getvalue().encode())
    broken, _ = read(f"{out.getvalue()}{fault}".encode())
    assert broken[: len(whole)] == whole


def test_a_row_of_too_many_fields_is_not_taken_apart():
    """It has one field more than a row may have."""
    (record,), found = (
        list(tokenize(io.BytesIO(b"," * 200_000), ",", ProblemList(), RowLimits(fields=10))),
        ProblemList(),
    )
    assert len(record.fields) == len(record.lines) == len(record.columns) == 11
    assert not found


@pytest.mark.slow
def test_lines_are_cut_as_python_cuts_them_wherever_a_block_ends():
    """Also where the two signs that end a line stand on both sides of it."""
    for shift in range(4):
        lines = b"x" * shift + b"\r\n" + b"ab\r\n" * 140_000 + b"cd\re"
        (*_, one, other), _ = read(lines)
        assert (one.fields, one.lines) == (["cd"], [140_002])
        assert (other.fields, other.lines) == (["e"], [140_003])
