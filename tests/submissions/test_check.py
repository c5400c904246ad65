"""Checks without the answers."""

from __future__ import annotations

import pytest

import tallymark as tm
from tests.submissions.files import ANSWERS, file


def check(submission, template=ANSWERS, **more):
    return tm.submissions.check_submission(file(submission), None if template is None else file(template), **more)


def test_ids_are_compared_with_the_template():
    """Missing and extra ones are counted."""
    found = check("row_id,label\nx,cat\na,Cat\nb,cat\n")
    assert (found.rows, found.missing, found.missing_ids) == (3, 2, ["c", "d"])
    assert (found.extra, found.extra_ids) == (1, ["x"])
    assert found.warnings == ["'cat' and 'Cat' are different labels: they differ only in case"]


def test_a_template_is_not_needed():
    """The form alone is checked then."""
    assert check("row_id,label\nx,cat\n", None) == (1, 0, (), 0, (), [])


def test_the_columns_of_the_template_are_the_classes():
    """Where each has a column of probabilities."""
    template = "row_id,cat,dog\na,0.5,0.5\n"
    assert check("dog,row_id,cat\n0.25,a,0.75\n", template, task="probabilities").rows == 1
    with pytest.raises(tm.Rejection, match="missing column 'dog'"):
        check("row_id,cat\na,1\n", template, task="probabilities")


def test_a_target_names_the_task_and_the_classes():
    """As the keywords do."""
    content, target = "dog,row_id,cat\n0.25,a,0.75\n", tm.Target("probability", classes=["cat", "dog"])
    asked = {"task": "probabilities", "classes": ["cat", "dog"]}
    assert check(content, None, target=target) == check(content, None, **asked)
    with pytest.raises(tm.Rejection, match="missing column 'bird'"):
        check(content, None, target=tm.Target("probability", classes=["cat", "dog", "bird"]))


@pytest.mark.parametrize("more", [{"missing": "reject"}, {"task": "numbers"}], ids=str)
def test_missing_rows_are_rejected_where_they_will_be(more):
    """As the challenge will."""
    with pytest.raises(tm.Rejection) as caught:
        check("row_id,label\na,1\n", **more)
    assert [each.code for each in caught.value.problems] == ["missing_rows"]


def test_what_would_be_rejected_is():
    """The same problems as when it is scored."""
    for content in ("row_id,label\n", "row_id,label\na\n", "row_id,label\nz,cat\n"):
        with pytest.raises(tm.Rejection) as checked:
            check(content)
        with pytest.raises(tm.Rejection) as scored:
            tm.submissions.score_submission(file(ANSWERS), file(content))
        assert str(checked.value).replace("of the template", "of the answers") == str(scored.value)


def test_a_check_is_told_in_words_and_as_data():
    """What differs from the template, with ids."""
    found = check("row_id,label\nx,cat\na,Cat\nb,cat\n")
    assert str(found).splitlines() == [
        "3 rows read",
        "2 missing ids: c, d",
        "1 extra id: x",
        "warning: 'cat' and 'Cat' are different labels: they differ only in case",
    ]
    assert found.to_dict()["missing_ids"] == ["c", "d"]
    with pytest.raises(tm.ParameterError, match="`missing` must be one of"):
        check(ANSWERS, missing="x")


def test_ids_are_printed_short_and_without_control_characters():
    """An id must not move the cursor of who reads it."""
    told = str(
        tm.submissions.check_submission(
            {"row_id": ["a", "\x1b[2Jb", "z" * 50_000], "label": ["x"] * 3}, {"row_id": ["a"]}
        )
    )
    assert "\x1b" not in told
    assert len(told) < 200


@pytest.mark.parametrize("given", [{"id": 3}, {"label": " "}, {"id": "label"}, {"classes": 3}, {"classes": ["row_id"]}])
def test_names_of_columns_are_checked(given):
    """As in score_submission."""
    with pytest.raises(tm.errors.ParameterError):
        tm.submissions.check_submission({"row_id": ["a"], "label": ["x"]}, **given)
