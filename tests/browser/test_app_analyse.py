"""Two files of one's own, from the form to the report, in a real browser at a real server."""

from __future__ import annotations

import pytest

import tallymark as tm
from tests.browser.server import ANSWERS, BROKEN, MEDIOCRE, MOST
from tests.browser.visitor import file

pytestmark = pytest.mark.slow
COMMAND = "tallymark score answers.csv submission-mediocre.csv --metrics accuracy,mcc --ci 0.95"


@pytest.fixture
def visitor(visits, server):
    """Somebody who is not signed in, and of whom nothing is kept."""
    before = server.kept()
    visitor = visits(server)
    visitor.open("/")
    visitor.follow("Score two files")
    yield visitor
    assert server.kept() == before


def choose(visitor, submission=MEDIOCRE):
    visitor.choose("answers", ANSWERS)
    visitor.choose("submission", submission)


def test_a_report_has_what_the_library_says(visitor):
    """The scores in percent with their bands, the classes, the ids of one file only, the rows that were read."""
    choose(visitor)
    visitor.press("Score")
    found = tm.submissions.score_submission(ANSWERS, MEDIOCRE)
    assert visitor.texts(".card .name") == [found.report.display_name(key) for key in found.scores]
    told = [f"{100 * value:.1f} %" for value in found.scores.values()]
    bands = ["good", "fair", "poor", "fair", "poor"]
    assert visitor.texts(".card .value") == [" ".join(each) for each in zip(told, bands, strict=True)]
    assert (
        visitor.texts("#warnings li")
        == found.warnings
        == ["'Fox' and 'fox' are different labels: they differ only in case"]
    )
    assert visitor.texts("#rows td") == ["388", "312", "76", "12", "1"]
    assert visitor.texts("#rows li")[1] == "extra ids: photo-999"
    assert visitor.texts("#classes tbody th") == ["Fox", "badger", "deer", "fox", "owl", "— macro", "— weighted"]
    badger = visitor.texts("#classes tbody tr:nth-child(2) td")
    assert badger == ["● 100.0 % (good)", "○ 48.1 % (poor)", "◐ 65.0 % (fair)", "54", "26", "0", "28"]
    assert visitor.texts("#confusion tbody tr:nth-child(2) td") == ["0", "26", "28", "0", "0"]
    assert visitor.texts("#preview tbody tr")[0] == "photo-139 fox deer no"
    assert "tallymark score answers.csv submission-mediocre.csv" in visitor.text("#reproduce")


def test_the_report_as_a_file_is_that_of_the_library(visitor):
    """To the last byte, with what was asked for in the form."""
    choose(visitor)
    visitor.page.get_by_text("Columns, task and metrics").click()
    visitor.fill(metrics="accuracy, mcc")
    visitor.page.get_by_label("95 % intervals").check()
    page = visitor.download("button", "Download report").read_text()
    found = tm.submissions.score_submission(ANSWERS, MEDIOCRE, metrics=["accuracy", "mcc"], ci=0.95)
    assert page == found.to_html(command=COMMAND)


def test_of_a_broken_file_every_problem_is_told(visitor):
    """Each with its place, and what was typed in the form is still there."""
    choose(visitor, BROKEN)
    visitor.page.get_by_text("Columns, task and metrics").click()
    visitor.fill(metrics="accuracy")
    visitor.press("Score", 422)
    with pytest.raises(tm.Rejection) as caught:
        tm.submissions.score_submission(ANSWERS, BROKEN)
    told = [f"{each.place} {each.text}. {each.mend}." for each in caught.value.problems]
    assert visitor.texts(".problems li") == told
    assert [each.line for each in caught.value.problems] == [8, 9, 10, 11, 12, 13]
    assert visitor.page.get_by_label("Metrics").input_value() == "accuracy"
    assert visitor.page.get_by_label("Metrics").is_visible()


def test_a_file_that_is_too_large_is_told(visitor):
    """By the server, with how large one may be."""
    choose(visitor, file(b"row_id,label\n" + b"x" * MOST))
    visitor.press("Score", 413)
    assert "A file may have at most 100 kB." in visitor.text()
