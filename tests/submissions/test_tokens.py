"""The careful reader of CSV: as Python's csv on what is well formed, and with a place for all that is not."""

from __future__ import annotations

import csv
import io

from hypothesis import given, settings
from hypothesis import strategies as st

from tallymark.submissions.problems import Found
from tallymark.submissions.tokens import tokenize

FIELDS = st.text(st.sampled_from('ab ,;"\n\té€\u0301'), max_size=6)


def read(data, separator=","):
    found = Found()
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
