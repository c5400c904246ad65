"""Files that nobody should send, and those that everybody reads alike."""

from __future__ import annotations

import csv
import io
import random
import unicodedata
from collections import Counter

import pandas as pd
import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import tallymark as tm
from tests.submissions.fuzz import changed
from tests.submissions.invariants import agree, check
from tests.submissions.malformed import GOOD, corpus


@pytest.mark.slow
def test_the_whole_corpus_ends_well():
    """No crash and no traceback; at least 400 files are rejected, with many of the codes."""
    outcomes = Counter(check(content) for _, content in corpus())
    rejected = sum(outcomes.values()) - outcomes["scored"]
    assert rejected >= 400
    assert len(outcomes) >= 12, outcomes


def test_the_file_that_all_others_are_made_from_is_fine():
    """Else their problems would say nothing."""
    assert check(GOOD) == "scored"
    assert agree(GOOD)


@pytest.mark.slow
def test_both_readings_agree_on_the_corpus():
    """What the fast one takes, the careful one takes with the same texts; and the other way round."""
    outcomes = Counter(agree(content) for _, content in corpus())
    assert outcomes[True] >= 50
    assert outcomes[False] >= 200


PIECES = st.sampled_from(
    [
        "a",
        "b",
        "cat",
        ",",
        ",",
        '"',
        '""',
        "\n",
        "\n",
        "\r",
        "\r\n",
        " ",
        "\t",
        "é",
        "e\u0301",
        "\ufeff",
        "\0",
        ";",
        "x",
    ]
)


@given(st.lists(PIECES, max_size=25).map("".join), st.sampled_from(["", "\ufeff"]))
@example(' "cat"', "")
@settings(max_examples=200, deadline=None)
def test_both_readings_agree_on_any_text(rows, mark):
    """And any text has a result or problems."""
    content = f"{mark}row_id,label\n{rows}".encode()
    agree(content)
    check(content)


@given(st.binary(max_size=80))
@settings(max_examples=80, deadline=None)
def test_any_bytes_have_a_result_or_problems(tail):
    """With a header before them or not."""
    for content in (tail, b"row_id,label\n" + tail, b"\x1f\x8b" + tail, b"PAR1" + tail + b"PAR1"):
        agree(content)
        check(content)


FIELD = st.text(st.sampled_from("abc ,;\"'\n\té€ß\u0301"), min_size=1, max_size=8).filter(lambda text: text.strip())
ROWS = st.lists(st.tuples(FIELD, FIELD, FIELD), min_size=1, max_size=8, unique_by=lambda row: normal(row[0]))


def normal(text):
    return unicodedata.normalize("NFC", text).strip()


@given(ROWS, st.sampled_from(["\n", "\r\n"]), st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]))
@settings(max_examples=80, deadline=None)
def test_well_formed_files_are_read_as_others_read_them(rows, end, quoting):
    """Python's csv, pandas and Polars see the same labels for the same ids."""
    out = io.StringIO(newline="")
    csv.writer(out, lineterminator=end, quoting=quoting).writerows([("note", "label", "row_id"), *rows])
    content = out.getvalue().encode()
    by_csv = [(row[2], row[1]) for row in csv.reader(io.StringIO(out.getvalue(), newline=""))][1:]
    by_pandas = pd.read_csv(io.BytesIO(content), dtype=str, keep_default_na=False, skip_blank_lines=False)
    by_polars = pl.read_csv(io.BytesIO(content), infer_schema=False)
    expected = {normal(name): normal(label) for name, label in by_csv}
    for frame in (by_pandas, by_polars):
        columns = (map(normal, frame[name]) for name in ("row_id", "label"))
        assert dict(zip(*columns, strict=True)) == expected
    if len(expected) == len(rows):
        answers = {"row_id": list(expected), "label": list(expected.values())}
        result = tm.submissions.score_submission(answers, io.BytesIO(content))
        assert (result.correct, result.missing, result.extra) == (len(rows), 0, 0)


@pytest.mark.parametrize("content", [GOOD.replace(b",", b";"), GOOD.replace(b",", b"\t")], ids=["semicolon", "tab"])
def test_other_separators_are_read_with_the_same_care(content):
    """Where only they give the columns."""
    assert check(content) == "scored"
    assert check(content + content[:1]) == "ragged_row"


def test_the_fuzzer_changes_files_and_finds_no_fault():
    """A few hundred of them; `make fuzz` runs for longer."""
    chance = random.Random(5)
    contents = [changed(GOOD, GOOD[::-1], chance) for _ in range(200)]
    assert len(set(contents)) > 150
    for content in contents:
        check(content)
        agree(content)
