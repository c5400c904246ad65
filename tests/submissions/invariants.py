"""What holds for every file that is scored, whatever is in it."""

from __future__ import annotations

import io

import tallymark as tm
from tallymark.sources.csv.fields import TEXT
from tallymark.sources.files import File
from tallymark.submissions.diagnose import read_and_locate
from tallymark.submissions.normalize import normalize_texts
from tallymark.submissions.problems import RULES
from tallymark.submissions.settings import Limits

ANSWERS = {"row_id": ["a", "b", "c", "d"], "label": ["cat", "dög", "dog", "cat"]}
WANTED = {"row_id": TEXT, "label": TEXT}
OF_ROWS = {"duplicate_id", "empty_id", "empty_field", "ragged_row", "bad_quote", "not_utf8", "nul_byte"}


def check(content: bytes, answers=ANSWERS) -> str:
    """Score a file: it has a result, or every problem has a code, a sentence and a place. Says which it was."""
    try:
        result = tm.submissions.score_submission(answers, io.BytesIO(content))
    except tm.Rejection as error:
        return _check_rejection(error)
    assert result.compared + result.missing == len(answers["row_id"])
    assert result.correct + result.incorrect == result.compared > 0
    return "scored"


def _check_rejection(error: tm.Rejection) -> str:
    assert 1 <= len(error.problems) <= 50
    assert error.total >= len(error.problems)
    for problem in error.problems:
        assert problem.code in RULES
        assert problem.text
        assert problem.code not in OF_ROWS or problem.line is not None or problem.row is not None
    assert "Traceback" not in str(error)
    return error.problems[0].code


def agree(content: bytes) -> bool:
    """The fast reading and the careful one say the same of a CSV text; whether it is well formed."""
    try:
        with File(io.BytesIO(content), tolerant=True) as file:
            if (
                file.format != "CSV"
                or file.fault is not None
                or not set(WANTED) <= {name.strip() for name in file.names}
            ):
                return False
            names = [name.strip() for name in file.names]
            if any(names.count(name) > 1 for name in WANTED):
                return False
            slow, found, _ = read_and_locate(file, names, WANTED, Limits())
            try:
                fast = {name: normalize_texts(held.values) for name, held in file.read(WANTED).items()}
            except tm.FileError:
                assert found, "the careful reading found nothing where the fast one stopped"
                return False
            only = [each for each in found.shown if each.code != "field_too_long"]
            assert not only, f"the careful reading found {only[0]} where the fast one did not"
            for name, texts in fast.items():
                assert texts.to_pylist() == slow.columns[name].to_pylist()
            return True
    except (tm.FileError, OSError):
        return False
