"""Small submissions as files in memory."""

from __future__ import annotations

import io

import pytest

import tallymark as tm

ANSWERS = "row_id,label\na,cat\nb,dog\nc,dog\nd,cat\n"
NUMBERS = "row_id,label\na,1\nb,2\nc,3\n"


def file(text):
    """Something with `read`."""
    return io.BytesIO(text if isinstance(text, bytes) else text.encode())


def score(submission, answers=ANSWERS, **more):
    return tm.submissions.score_submission(file(answers), file(submission), **more)


def problems(submission, answers=ANSWERS, **more):
    """The problems of a submission that must be rejected: code, line and column of each."""
    return [(each.code, each.line, each.column) for each in rejected(submission, answers, **more).problems]


def rejected(submission, answers=ANSWERS, **more):
    with pytest.raises(tm.Rejection) as caught:
        score(submission, answers, **more)
    return caught.value
