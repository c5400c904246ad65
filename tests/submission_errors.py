"""Calls that reject submissions, whose wording is kept in messages.txt."""

from __future__ import annotations

import io

import numpy as np

import tallymark as tm
from tallymark.submissions.outcomes import Outcomes
from tallymark.submissions.problems import RULES
from tallymark.submissions.ranks import paired_test, rank_entries

ANSWERS = b"row_id,label\na,cat\nb,dog\n"
NUMBERS = b"row_id,label\na,1\nb,0\n"


def score(content, answers=ANSWERS, **more):
    return tm.submissions.score_submission(io.BytesIO(answers), io.BytesIO(content), **more)


def challenge(content, **more):
    return score(content, mode="challenge", **more)


BROKEN = {
    "empty_file": lambda: score(b"row_id,label\n"),
    "no_matching_rows": lambda: score(b"row_id,label\nx,cat\n"),
    "missing_column": lambda: score(b"row_id,y\na,cat\n"),
    "repeated_column": lambda: score(b"row_id,label,label\na,cat,dog\n"),
    "duplicate_id": lambda: score(b"row_id,label\na,cat\nb,dog\na,dog\n"),
    "empty_id": lambda: score(b"row_id,label\n,cat\n"),
    "empty_field": lambda: score(b"row_id,label\na,\n"),
    "ragged_row": lambda: score(b"row_id,label\na\nb,c,d\n"),
    "bad_quote": lambda: score(b'row_id,label\na,"x"y\nb,z"\nc,"d\n'),
    "not_utf8": lambda: score(b"row_id,label\na,\xff\n"),
    "nul_byte": lambda: score(b"row_id,label\na,\0\n"),
    "not_a_number": lambda: score(b"row_id,label\na,x\n", NUMBERS, task="numbers"),
    "not_finite": lambda: score(b"row_id,label\na,inf\n", NUMBERS, task="numbers"),
    "out_of_range": lambda: score(b"row_id,label\na,2\n", NUMBERS, task="probabilities"),
    "bad_sum": lambda: score(b"row_id,0,1\na,0.5,0.6\n", NUMBERS, task="probabilities"),
    "too_large": lambda: score(b"row_id,label\na,cat\n", limits=tm.submissions.Limits(bytes=10)),
    "unpacks_too_large": lambda: score(_packed(), limits=tm.submissions.Limits(unpacked_bytes=100)),
    "too_many_rows": lambda: score(ANSWERS, limits=tm.submissions.Limits(rows=1)),
    "too_many_columns": lambda: score(ANSWERS, limits=tm.submissions.Limits(columns=1)),
    "field_too_long": lambda: score(ANSWERS, limits=tm.submissions.Limits(field_length=2)),
    "too_many_labels": lambda: score(ANSWERS, limits=tm.submissions.Limits(labels=1)),
    "missing_rows": lambda: challenge(b"row_id,label\na,cat\n", missing="reject"),
    "unreadable": lambda: score(b"PK\x03\x04"),
    "not_scored": lambda: challenge(ANSWERS, metrics="fscore"),
}
assert set(BROKEN) == set(RULES)


def _packed():
    import gzip

    return gzip.compress(b"row_id,label\n" + b"a,cat\n" * 100)


CASES = {
    **{f"a submission: {code}": call for code, call in BROKEN.items()},
    "answers that are broken": lambda: score(ANSWERS, b"row_id,label\na,x\na,y\n"),
    "answers of a challenge that are broken": lambda: tm.submissions.score_submission(
        io.BytesIO(b""), io.BytesIO(ANSWERS), mode="challenge"
    ),
    "a table as a score of a challenge": lambda: challenge(ANSWERS, metrics="confusion_matrix"),
    "a challenge without classes": lambda: challenge(b"row_id,cat\na,1\n", task="probabilities"),
    "no positive class of a submission": lambda: score(b"row_id,label\na,1\n", task="probabilities"),
    "a submission with other separators": lambda: score(ANSWERS.replace(b",", b"|")),
    "quotes that are never closed before very much": lambda: score(b'row_id,label\na,"' + b"x\n" * 100_000),
    "classes of a task without columns of them": lambda: score(ANSWERS, classes=["cat", "dog"]),
    "missing rows in a metric without a place for them": lambda: challenge(
        b"row_id,label\na,cat\n", metrics="adjusted_rand", task="labels"
    ),
    "a target and a task of a submission": lambda: score(NUMBERS, NUMBERS, target=tm.Target("value"), task="numbers"),
    "a target that no submission can have": lambda: score(NUMBERS, NUMBERS, target=tm.Target("margin")),
    "a target and classes of a submission": lambda: score(
        NUMBERS, NUMBERS, target=tm.Target("probability"), classes=["0", "1"]
    ),
    "an unknown mode": lambda: score(ANSWERS, mode="test"),
    "an unknown task of a submission": lambda: score(ANSWERS, task="text"),
    "probabilities without a task": lambda: score(b"row_id,label\na,0.7\nb,0.2\n", NUMBERS),
    "whole numbers for decimals without a task": lambda: score(NUMBERS, b"row_id,label\na,1.0\nb,0.0\n"),
    "probabilities without a task in a challenge": lambda: challenge(b"row_id,label\na,0.7\n"),
    "an unknown way with missing rows": lambda: score(ANSWERS, missing="drop"),
    "no name of a column of ids": lambda: score(ANSWERS, id=" "),
    "ids and labels in one column": lambda: score(ANSWERS, id="label"),
    "limits that are none": lambda: score(ANSWERS, limits=10),
    "a limit that is none": lambda: score(ANSWERS, limits=tm.submissions.Limits(rows=-1)),
    "outcomes of a score that there is not": lambda: score(ANSWERS, outcomes=["auc"]),
    "outcomes for which nobody asked": lambda: score(ANSWERS).outcomes("accuracy"),
    "outcomes of other rows": lambda: paired_test(*(Outcomes.from_bits(np.ones(n, bool), 1.0) for n in (3, 4))),
    "outcomes that are another state": lambda: Outcomes.from_bytes(tm.Tally(["mae"]).to_bytes()),
    "more entries than tries": lambda: rank_entries([None, None], among=1),
    "scores of other entries": lambda: rank_entries([None, None], scores=[0.5]),
    "a submission that is no table": lambda: tm.submissions.score_submission(io.BytesIO(ANSWERS), 5),
}
