"""Submissions that are not scored: every problem with its code and place, all at once."""

from __future__ import annotations

import gzip
import io
import pickle

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tallymark as tm
from tallymark.submissions.problems import RULES
from tests.submissions.files import ANSWERS, NUMBERS, file, problems, rejected, score

CASES = {
    "no bytes": (b"", [("empty_file", None, None)]),
    "a header alone": (b"row_id,label\n", [("empty_file", None, None)]),
    "no overlap": (b"row_id,label\nx,cat\n", [("no_matching_rows", None, None)]),
    "no label": (b"row_id,other\na,cat\n", [("missing_column", 1, None)]),
    "neither": (b"x,y\na,cat\n", [("missing_column", 1, None), ("missing_column", 1, None)]),
    "a column twice": (b"row_id,label,label\na,cat,cat\n", [("repeated_column", 1, None)]),
    "ids twice": (b"row_id,label\na,cat\nb,dog\n a ,dog\n", [("duplicate_id", 4, 1)]),
    "no id": (b"row_id,label\n,cat\n", [("empty_id", 2, 1)]),
    "no prediction": (b"row_id,label\na, \n", [("empty_field", 2, 3)]),
    "short and long rows": (b"row_id,label\na\nb,dog\nc,d,e\n", [("ragged_row", 2, 1), ("ragged_row", 4, 1)]),
    "a quote inside": (b'row_id,label\na,5"\n', [("bad_quote", 2, 4)]),
    "text behind quotes": (b'row_id,label\na,"x"y\n', [("bad_quote", 2, 6)]),
    "open quotes": (b'row_id,label\na,"cat\nb,dog\n', [("bad_quote", 2, 3)]),
    "Latin-1": (b"row_id,label\na,caf\xe9\n", [("not_utf8", 2, 6)]),
    "NUL": (b"row_id,label\na,c\0t\n", [("nul_byte", 2, 4)]),
    "UTF-16": ("row_id,label\na,cat\n".encode("utf-16"), [("unreadable", None, None)]),
    "a zip": (b"PK\x03\x04abcd", [("unreadable", None, None)]),
    "half a gzip": (gzip.compress(ANSWERS.encode())[:-9], [("unreadable", None, None)]),
}


@pytest.mark.parametrize(("content", "expected"), CASES.values(), ids=CASES)
def test_every_problem_has_its_code_and_place(content, expected):
    """Line and column count from 1."""
    assert problems(content) == expected


def test_all_problems_are_told_at_once():
    """Of different kinds, in the order of the file."""
    content = b'row_id,label\na,cat\nb\n,dog\nc,x"\na,\n\xff,dog\n'
    assert problems(content) == [
        ("ragged_row", 3, 1),
        ("empty_id", 4, 1),
        ("bad_quote", 5, 4),
        ("duplicate_id", 6, 1),
        ("empty_field", 6, 3),
        ("not_utf8", 7, 1),
    ]


def test_the_places_of_many_rows_are_right():
    """Whatever stands between them: blank lines, quotes, rows that are too short, several lines in a field."""
    rows = [f'{row},"{row}\n"' if row % 5 == 0 else f"{row},x" for row in range(60_000)]
    rows[50_000:50_000] = ["", "too short", "", '1,"x"', "", "59999,x"]
    rows.append("3,x")
    text = "row_id,label\n" + "\n".join(rows)
    line_of = {}
    for at, line in enumerate(text.split("\n"), start=1):
        line_of.setdefault(line, []).append(at)
    assert problems(text) == [
        ("ragged_row", line_of["too short"][0], 1),
        ("duplicate_id", line_of['1,"x"'][0], 1),
        ("duplicate_id", line_of["59999,x"][1], 1),
        ("duplicate_id", line_of["3,x"][1], 1),
    ]


def test_a_row_that_is_too_wide_does_not_move_the_places_behind_it():
    """Quotes beyond the fields that are read of it open nothing, neither when it is read nor when rows are located."""
    content = 'row_id,label\na,x\nb,y,z,"\nc,x\na,x\nd,"x"\n'
    assert problems(content, limits=tm.submissions.Limits(columns=2)) == [("ragged_row", 3, 1), ("duplicate_id", 5, 1)]


def test_duplicates_come_with_their_lines():
    """All of them."""
    error = rejected("row_id,label\na,cat\nb,dog\na,cat\na,dog\n")
    assert "duplicate id 'a' in lines 2, 4 and 5" in str(error)


def test_problems_that_differ_in_their_place_only_are_one_line():
    """With how many there are and the place of the first; in data all are listed."""
    rows = ["a,cat", "b,", ",dog", "c,", "d,owl,1", "e,"]
    error = rejected("row_id,label\n" + "\n".join(rows) + "\n")
    first, *others = str(error).split("\n")
    assert (
        "3 rows: empty field 'label', first in line 3, column 3. Every row needs a value (5 problems in all)" in first
    )
    assert [each.strip().partition(".")[0] for each in others] == [
        "line 4, column 1: empty id",
        "line 6, column 1: the row has 3 fields, the header has 2",
    ]
    assert len(error.problems) == error.total == 5


def test_a_group_of_the_first_problems_says_that_there_may_be_more():
    """Only the first fifty are known one by one."""
    error = rejected("row_id,label\n" + "".join(f"{n},\n" for n in range(60)))
    first, last = str(error).split("\n")
    assert "at least 50 rows: empty field 'label', first in line 2" in first
    assert last.strip() == "and 10 more"


def test_several_problems_of_a_row_are_not_counted_as_rows():
    """Two rows with three NUL bytes are three times the same problem."""
    error = rejected("row_id,label\na,c\0a\0t\nb,do\0g\n")
    assert "3 times: NUL byte, first in line 2, column 4" in str(error)


def test_missing_columns_come_with_those_that_were_found():
    """So that a wrong name is seen."""
    assert "missing column 'label'; found: 'row_id', 'Label'" in str(rejected("row_id,Label\na,cat\n"))


def test_the_quoted_sentences_are_used():
    """They are the ones that people search for."""
    assert "CSV file is empty" in str(rejected("row_id,label\n"))
    assert "No matching rows found" in str(rejected("row_id,label\nx,cat\n"))


def test_a_field_of_several_lines_moves_the_lines_behind_it():
    """A row stands where it begins."""
    assert problems('row_id,label,note\na,cat,"one\ntwo\nthree"\nb,dog\n') == [("ragged_row", 5, 1)]


@pytest.mark.parametrize(
    ("field", "code"),
    [("x", "not_a_number"), ("1_0", "not_a_number"), ("", "empty_field"), ("nan", "not_finite"), ("inf", "not_finite")],
)
def test_numbers_must_be_finite_numbers(field, code):
    """With their place."""
    assert problems(f"row_id,label\na,1\nb,{field}\nc,1\n", NUMBERS, task="numbers") == [(code, 3, 3)]


FIELDS = ["1.", ".5", "+1", "1e5", "1E-5", "0x10", "1,5", "1 2", "TRUE", "٣", "1_0", "--1", "1e", "e5", "$1", "1%", "-"]


@pytest.mark.parametrize("field", FIELDS)
def test_a_field_is_a_number_to_both_readings_or_to_none(field):
    """What is refused has its place."""
    content = f'row_id,label\na,1\nb,"{field}"\nc,1\n'
    try:
        found = score(content, NUMBERS, task="numbers", metrics="mae")
    except tm.Rejection as error:
        found = [(each.code, each.line) for each in error.problems]
    expected = [("not_a_number", 3)] if FIELDS.index(field) > 4 else None
    assert found == expected if expected else abs(found.scores["mae"] * 3 - abs(float(field) - 2) - 2) < 1e-9


def test_several_fields_that_are_no_numbers_are_all_told():
    """Beside those that are not finite."""
    content = "row_id,label\na,x\nb,inf\nc,y\n"
    found = problems(content, NUMBERS, task="numbers")
    assert found == [("not_a_number", 2, 3), ("not_finite", 3, 3), ("not_a_number", 4, 3)]


def test_probabilities_must_lie_between_0_and_1_and_add_up():
    """In one column, and in several."""
    answers = "row_id,label\na,0\nb,1\n"
    assert problems("row_id,label\na,1.5\nb,-0.1\n", answers, task="probabilities") == [
        ("out_of_range", 2, 3),
        ("out_of_range", 3, 3),
    ]
    assert problems("row_id,0,1\na,0.5,0.4\nb,0.5,0.5\n", answers, task="probabilities") == [("bad_sum", 2, None)]


def test_the_answers_are_read_with_the_same_care():
    """In an analysis, their problems are told, too."""
    with pytest.raises(tm.Rejection, match="`answers` was rejected: line 3, column 1: duplicate id 'a'"):
        tm.submissions.score_submission(file("row_id,label\na,x\na,y\n"), file(ANSWERS))


def test_parquet_and_frames_have_rows_for_places(tmp_path):
    """They have no lines."""
    table = pa.table({"row_id": ["a", "b", "a", None], "label": ["x", None, "y", "z"]})
    pq.write_table(table, tmp_path / "submission.parquet")
    for submission in (table, tmp_path / "submission.parquet"):
        with pytest.raises(tm.Rejection) as caught:
            tm.submissions.score_submission(file(ANSWERS), submission)
        found = [(each.code, each.row) for each in caught.value.problems]
        assert found == [("empty_field", 1), ("duplicate_id", 2), ("empty_id", 3)]


def test_problems_and_rejections_are_plain_data():
    """They travel between processes and into JSON."""
    error = rejected("row_id,label\na\n")
    again = pickle.loads(pickle.dumps(error))
    assert again.problems == error.problems
    assert error.problems[0].to_dict() == {
        "code": "ragged_row",
        "text": "the row has 1 field, the header has 2",
        "line": 2,
        "column": 1,
        "mend": RULES["ragged_row"].mend,
    }


@pytest.mark.parametrize(
    "wrong",
    [{"mode": "x"}, {"missing": "x"}, {"task": "x"}, {"id": ""}, {"id": "label"}, {"metrics": "x"}, {"metrics": []}],
    ids=str,
)
def test_wrong_arguments_are_refused(wrong):
    """Before anything is read."""
    with pytest.raises(tm.ParameterError):
        tm.submissions.score_submission("absent.csv", "absent.csv", **wrong)


def test_something_that_is_no_table_is_refused():
    """With its type."""
    with pytest.raises(tm.ParameterError, match="must be a path, an open file or a data frame"):
        tm.submissions.score_submission(file(ANSWERS), 5)


@pytest.mark.parametrize("dictionary", [True, False])
def test_a_parquet_file_without_rows_is_empty(dictionary):
    """Its columns have no pages to look at."""
    content = io.BytesIO()
    none = pa.array([], pa.string())
    pq.write_table(pa.table({"row_id": none, "label": none}), content, use_dictionary=dictionary)
    assert problems(content.getvalue()) == [("empty_file", None, None)]


@pytest.mark.parametrize("field", ["\uff11\uff12", "\u0663", "\xa01", "\x0b1", "1\x1f"])
def test_numbers_that_only_python_reads_have_a_place(field):
    """Digits of other scripts and blanks that the fast reader does not know."""
    assert problems(f"row_id,label\na,1\nb,{field}\nc,1\n", NUMBERS, task="numbers") == [("not_a_number", 3, 3)]


def test_columns_of_a_data_frame_stand_in_no_line():
    """Only a text has lines."""
    with pytest.raises(tm.Rejection) as caught:
        tm.submissions.score_submission(file(ANSWERS), {"row_id": ["a"]})
    assert [(each.code, each.line) for each in caught.value.problems] == [("missing_column", None)]


@pytest.mark.parametrize("place", ["nowhere.csv", "."])
def test_a_path_that_leads_nowhere_is_no_submission(place, tmp_path):
    """It says nothing about what was sent."""
    with pytest.raises(tm.errors.FileError):
        tm.submissions.score_submission(file(ANSWERS), tmp_path / place)
    with pytest.raises(tm.errors.FileError):
        tm.submissions.score_submission(tmp_path / place, file(ANSWERS))
    with pytest.raises(tm.errors.ParameterError, match="`answers` could not be read; score") as caught:
        tm.submissions.score_submission(tmp_path / place, file(ANSWERS), mode="challenge")
    assert caught.value.__context__ is None  # which would tell the path


@pytest.mark.parametrize("classes", [3, "cat", ["row_id", "dog"]])
def test_classes_must_be_a_list_of_labels(classes):
    """Of which none is called like the ids."""
    with pytest.raises(tm.errors.ParameterError, match="`classes` must"):
        score("row_id,cat,dog\na,0.5,0.5\n", task="probabilities", classes=classes)


@pytest.mark.parametrize("task", ["labels", "numbers", "ranking"])
def test_classes_are_refused_where_they_name_no_columns(task):
    """They would say nothing there."""
    told = f"`classes` must be left out for the task {task}"
    with pytest.raises(tm.errors.ParameterError, match=told):
        score(ANSWERS, task=task, classes=["cat", "dog"])
    with pytest.raises(tm.errors.ParameterError, match=told):
        tm.submissions.check_submission(file(ANSWERS), task=task, classes=["cat", "dog"])


@pytest.mark.parametrize("mark", ["|", ";", "\t"])
def test_a_declared_separator_is_that_of_both_files(mark):
    """Unless the answers have their columns with another; a submission must have what was declared."""
    other = ANSWERS.replace(",", mark)
    assert score(other, other, separator=mark).correct == 4
    assert score(other, ANSWERS, separator=mark).correct == 4
    assert tm.submissions.check_submission(file(other), file(other), separator=mark).missing == 0
    assert tm.submissions.check_submission(file(other), file(ANSWERS), separator=mark).missing == 0
    assert problems(ANSWERS, other, separator=mark)[0][0] == "missing_column"


def test_a_separator_that_is_not_looked_for_is_named():
    """With what to do about it."""
    told = "found: 'row_id|label'; if '|' separates its fields, set it as the separator"
    assert told in str(rejected(ANSWERS.replace(",", "|")))
    assert "if ',' separates its fields" in str(rejected(ANSWERS, separator=";"))


def test_a_label_called_like_the_ids_has_no_column():
    """Which is said, where the labels of the answers are the classes."""
    with pytest.raises(tm.errors.ParameterError, match="called like the column of ids"):
        score("row_id,dog\na,0.5\n", "row_id,label\na,row_id\nb,dog\n", task="probabilities")


@pytest.mark.parametrize("form", ["data frame", "Parquet"])
def test_texts_that_are_no_numbers_are_all_told_with_their_rows(form):
    """And so is whatever else is wrong, as in CSV."""
    columns = {"row_id": ["a", "b", "c", "c"], "label": ["1.5", "x", "y", "2"]}
    content = io.BytesIO()
    pq.write_table(pa.table(columns), content)
    content.seek(0)
    with pytest.raises(tm.Rejection) as caught:
        tm.submissions.score_submission(file(NUMBERS), columns if form == "data frame" else content, task="numbers")
    found = [(each.code, each.row) for each in caught.value.problems]
    assert found == [("not_a_number", 1), ("not_a_number", 2), ("duplicate_id", 3)]
