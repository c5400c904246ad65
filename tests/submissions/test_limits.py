"""Limits of a submission: they are kept, and what is very much is neither read to its end nor told in full."""

from __future__ import annotations

import gzip
import io
import pickle

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tallymark as tm
from tallymark.submissions.entries import validate_header
from tests.submissions.files import ANSWERS, NUMBERS, file, problems, rejected


def test_fifty_problems_are_shown_and_the_rest_counted():
    """In the error and in its words."""
    error = rejected("row_id,label\n" + "a\n" * 120)
    assert (len(error.problems), error.total) == (50, 120)
    assert str(error).endswith("and 70 more")


def test_very_many_problems_are_not_all_counted():
    """Reading stops, and the error says so."""
    error = rejected("row_id,label\n" + "a\n" * 400_000)
    assert (len(error.problems), error.stopped) == (50, True)
    assert 10_000 <= error.total < 400_000
    assert f"(at least {error.total:,} problems in all)" in str(error)
    assert str(error).endswith(f"and at least {error.total - 50:,} more; the rest was not checked")
    assert pickle.loads(pickle.dumps(error)).stopped


def test_very_many_fields_that_are_no_numbers_are_not_all_counted():
    """Reading stops, and the error says so."""
    rows = "".join(f"{row},x\n" for row in range(20_000))
    error = rejected(f"row_id,label\n{rows}", NUMBERS, task="numbers")
    assert (error.total, error.stopped) == (10_000, True)


@pytest.mark.parametrize("name", ["header", "a row"])
def test_a_line_of_very_many_fields_is_not_taken_apart(name):
    """How many they are is not counted, and nothing is read behind such a header."""
    wide = b"," * 2_000_000
    error = rejected(wide + b"\na\n" if name == "header" else b"row_id,label\na,cat\n" + wide)
    told = "the file has 10,001 or more columns" if name == "header" else "the row has 10,001 or more fields"
    assert told in str(error)
    assert {each.line for each in error.problems} == {1 if name == "header" else 3}


def test_a_row_too_many_stops_the_careful_reading():
    """As it stops the other."""
    content = "row_id,label\na\n" + "".join(f"{row},x\n" for row in range(300_000))
    error = rejected(content, limits=tm.submissions.Limits(rows=1000))
    assert {each.code for each in error.problems} == {"too_many_rows", "ragged_row"}


def test_many_classes_are_found_in_one_look():
    """Each of ten thousand columns is not looked for among all others."""
    names = CountedName.make(2_000)
    found = validate_header(names, dict.fromkeys(names, "number"), tm.submissions.Limits(), "CSV")
    assert not found
    assert CountedName.compared < 20 * len(names)


class CountedName(str):
    """A name that knows how often names were compared."""

    compared = 0
    __hash__ = str.__hash__

    def __eq__(self, other):
        CountedName.compared += 1
        return str.__eq__(self, other)

    @classmethod
    def make(cls, count):
        return [cls(f"class {k}") for k in range(count)]


LIMITS = [
    (tm.submissions.Limits(bytes=20), "too_large"),
    (tm.submissions.Limits(rows=2), "too_many_rows"),
    (tm.submissions.Limits(columns=1), "too_many_columns"),
    (tm.submissions.Limits(field_length=2), "field_too_long"),
    (tm.submissions.Limits(labels=1), "too_many_labels"),
]


@pytest.mark.parametrize(("limits", "code"), LIMITS, ids=[code for _, code in LIMITS])
def test_every_limit_is_kept(limits, code, tmp_path):
    """Of open files, paths and Parquet alike."""
    assert problems(ANSWERS, limits=limits)[0][0] == code
    (tmp_path / "submission.csv").write_text(ANSWERS)
    table = pa.table({"row_id": ["a", "b", "c"], "label": ["cat", "dog", "dog"]})
    pq.write_table(table, tmp_path / "submission.parquet")
    for name in ("submission.csv", "submission.parquet"):
        with pytest.raises(tm.Rejection) as caught:
            tm.submissions.score_submission(file(ANSWERS), tmp_path / name, limits=limits)
        assert caught.value.problems[0].code == code


def test_limits_must_be_limits():
    """Positive numbers, or None for any."""
    for bad in (5, tm.submissions.Limits(rows=0), tm.submissions.Limits(ratio="x")):
        with pytest.raises(tm.ParameterError, match="limits"):
            tm.submissions.score_submission(file(ANSWERS), file(ANSWERS), limits=bad)


def test_a_file_that_unpacks_to_very_much_is_stopped():
    """By the ratio, long before it is unpacked."""
    bomb = io.BytesIO()
    with gzip.open(bomb, "wb") as packed:
        packed.write(b"row_id,label\n")
        for _ in range(64):
            packed.write(b"a,cat\n" * 200_000)
    assert problems(bomb.getvalue()) == [("unpacks_too_large", None, None)]


def test_frames_are_held_to_the_same_limits_and_types():
    """As files are."""
    frame = {"row_id": ["a", "b"], "label": ["x", "y"]}
    with pytest.raises(tm.Rejection, match="the number of rows exceeds the limit of 1"):
        tm.submissions.score_submission(file(ANSWERS), frame, limits=tm.submissions.Limits(rows=1))
    with pytest.raises(tm.Rejection, match="the column 'label' cannot be read as text"):
        tm.submissions.score_submission(file(ANSWERS), pa.table({"row_id": ["a"], "label": [[1]]}))


def test_a_line_without_an_end_is_not_read_to_it(monkeypatch):
    """The careful reading stops there."""
    monkeypatch.setattr("tallymark.sources.csv.tokenizer.LONGEST_LINE", 100)
    found = problems(b'row_id,label\na,x"\nb,' + b"y" * 1000)
    assert found == [("bad_quote", 2, 4), ("field_too_long", 3, 1)]


def test_an_id_that_stands_in_very_many_rows_is_not_told_with_all_of_them():
    """Fifty lines are enough."""
    error = rejected("row_id,label\n" + "a,cat\n" * 80)
    assert "49, 50, 51 and 30 more" in str(error)


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.binary(), pa.large_binary()], ids=str)
def test_bytes_that_repeat_in_parquet_do_not_unfold(kind):
    """Whatever type the file says that they are."""
    content, rows = io.BytesIO(), 20_000
    labels = pa.array(["y" * 2_000] * rows, kind)
    pq.write_table(pa.table({"row_id": [str(row) for row in range(rows)], "label": labels}), content)
    assert problems(content.getvalue()) == [("unpacks_too_large", None, None)]
