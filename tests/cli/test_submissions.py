"""tallymark score and tallymark check: forms, pipes, exit codes."""

from __future__ import annotations

import gzip
import json

import pytest

import tallymark as tm
from tallymark.cli.score import command
from tests.submissions.files import ANSWERS

GOOD = "row_id,label\nd,cat\nc,dog\nb,cat\na,cat\n"
BROKEN = 'row_id,label\na\nb,"x"y\n'


@pytest.fixture
def folder(tmp_path):
    """Answers and two submissions."""
    for name, text in (("answers.csv", ANSWERS), ("good.csv", GOOD), ("broken.csv", BROKEN)):
        (tmp_path / name).write_text(text)
    return tmp_path


def test_a_submission_is_scored(tallymark, folder):
    """Scores in percent, counts, and the incorrect row first."""
    done = tallymark("score", "answers.csv", "good.csv")
    assert done.returncode == 0
    assert "4 rows compared · 3 correct · 1 incorrect" in done.stdout
    assert "accuracy                          75.0 %" in done.stdout
    assert done.stdout.index("b   dog     cat         no") < done.stdout.index("yes")


@pytest.mark.slow
def test_a_submission_result_has_every_output_format(tallymark, folder):
    """JSON on standard output, a page in a file."""
    done = tallymark("score", "answers.csv", "good.csv", "--json", "--html", "score.html", "--ci", "0.9")
    assert json.loads(done.stdout)["scores"]["accuracy"]["lo"] < 0.75
    assert "Score of a submission" in (folder / "score.html").read_text()
    done = tallymark("score", "answers.csv", "good.csv", "--metrics", "accuracy,mcc", "--output", "score.md")
    assert (done.stdout, done.returncode) == ("", 0)
    assert "mcc" in (folder / "score.md").read_text()


@pytest.mark.slow
def test_either_submission_file_may_be_standard_input(tallymark, folder):
    """Either file may be standard input, but not both."""
    assert "75.0 %" in tallymark("score", "answers.csv", "-", stdin=GOOD).stdout
    assert "75.0 %" in tallymark("score", "-", "good.csv", stdin=ANSWERS).stdout
    done = tallymark("score", "-", "-", stdin=GOOD)
    assert done.returncode == 2
    assert "only one" in done.stderr


def test_problems_that_are_alike_are_one_line_and_one_group(tallymark, folder):
    """People read how many there are and where the first is; in JSON they are also listed one by one."""
    (folder / "broken.csv").write_text("row_id,label\na,\nb,\nc,cat,x\nd,\n")
    done = tallymark("score", "answers.csv", "broken.csv", "--json")
    told = json.loads(done.stdout)
    assert [each["code"] for each in told["problems"]] == ["empty_field", "empty_field", "ragged_row", "empty_field"]
    assert [(each["count"], each["first"]) for each in told["groups"]] == [
        (3, told["problems"][0]),
        (1, told["problems"][2]),
    ]
    assert "3 rows: empty field 'label', first in line 2, column 3. " in done.stderr
    assert "  line 4, column 1: the row has 3 fields" in done.stderr


def test_a_rejection_tells_all_problems(tallymark, folder):
    """On standard error for people, as JSON for programs; the exit code is that of wrong input."""
    done = tallymark("score", "answers.csv", "broken.csv", "--json")
    assert done.returncode == 2
    told = json.loads(done.stdout)
    assert [each["code"] for each in told["problems"]] == ["ragged_row", "bad_quote"]
    assert told["file"] == "submission"
    assert done.stderr.startswith("tallymark: `broken.csv` was rejected: line 2, column 1:")
    assert "\n  line 3, column 6:" in done.stderr
    assert "Traceback" not in done.stderr


def test_scores_that_all_fail_are_an_error(tallymark, folder):
    """With the reason of the first."""
    done = tallymark("score", "answers.csv", "good.csv", "--metrics", "fscore")
    assert (done.returncode, done.stdout) == (2, "")
    assert "`--positive` must name the positive class" in done.stderr


def test_probabilities_without_a_task_are_an_error_that_names_it(tallymark, folder):
    """Compared as texts they would score 0 %."""
    (folder / "answers.csv").write_text("row_id,label\na,0\nb,1\n")
    (folder / "floats.csv").write_text("row_id,label\na,0.2\nb,0.7\n")
    done = tallymark("score", "answers.csv", "floats.csv")
    assert (done.returncode, done.stdout) == (2, "")
    assert "`--task` must say what is predicted" in done.stderr
    assert "Pass --task probabilities" in done.stderr
    assert "accuracy     100.0 %" in tallymark("score", "answers.csv", "floats.csv", "--task", "probabilities").stdout


def test_a_challenge_shows_no_answer(tallymark, folder):
    """Neither in print nor on the page."""
    done = tallymark(
        "score", "answers.csv", "-", "--mode", "challenge", "--html", "p.html", stdin="row_id,label\na,x\n"
    )
    assert done.returncode == 0
    told = done.stdout + done.stderr + (folder / "p.html").read_text()
    assert "dog" not in told.replace("<!DOCTYPE", "")


@pytest.mark.slow
def test_a_submission_is_checked_without_answers(tallymark, folder):
    """Against a template, or alone."""
    done = tallymark("check", "good.csv", "--template", "answers.csv")
    assert (done.returncode, done.stdout) == (0, "4 rows read\n")
    assert json.loads(tallymark("check", "good.csv", "--json").stdout)["rows"] == 4
    assert tallymark("check", "broken.csv").returncode == 2
    done = tallymark("check", "-", "--template", "answers.csv", "--missing", "reject", stdin="row_id,label\na,x\n")
    assert done.returncode == 2
    assert "no row for 3 of the ids, such as 'b', 'c', 'd'" in done.stderr


def test_the_answers_are_never_written_over(tallymark, folder):
    """Nor the submission."""
    for place in ("answers.csv", "good.csv"):
        done = tallymark("score", "answers.csv", "good.csv", "--output", place)
        assert done.returncode == 2
        assert "must be another file" in done.stderr
    assert (folder / "answers.csv").read_text() == ANSWERS


LIMITS = [
    ("--max-bytes", "10", "too_large"),
    ("--max-rows", "3", "too_many_rows"),
    ("--max-columns", "1", "too_many_columns"),
    ("--max-field-length", "2", "field_too_long"),
    ("--max-labels", "1", "too_many_labels"),
    ("--max-unpacked-bytes", "20", "unpacks_too_large"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("option", "most", "code"), LIMITS, ids=[option for option, _, _ in LIMITS])
def test_every_limit_is_an_option(tallymark, folder, option, most, code):
    """Of both commands."""
    (folder / "packed.csv.gz").write_bytes(gzip.compress(GOOD.encode()))
    name = "packed.csv.gz" if code == "unpacks_too_large" else "good.csv"
    for call in (["score", "answers.csv", name], ["check", name]):
        done = tallymark(*call, option, most, "--json")
        assert done.returncode == 2
        assert json.loads(done.stdout)["problems"][0]["code"] == code


def test_the_options_of_limits_are_all_limits():
    """Called as they are."""
    named = {option.name for option in command.params if option.name.startswith("max_")}
    assert named == {f"max_{name}" for name in tm.submissions.Limits._fields}


@pytest.mark.slow
def test_the_page_of_a_challenge_does_not_say_where_the_answers_are(tallymark, folder):
    """That of an analysis does."""
    (folder / "secret").mkdir()
    (folder / "secret" / "answers.csv").write_text(ANSWERS)
    call = ["score", "secret/answers.csv", "good.csv", "--html", "page.html"]
    assert tallymark(*call).returncode == 0
    assert "tallymark score secret/answers.csv good.csv" in (folder / "page.html").read_text()
    assert tallymark(*call, "--mode", "challenge").returncode == 0
    page = (folder / "page.html").read_text()
    assert "tallymark score ANSWERS good.csv" in page
    assert "secret" not in page


@pytest.mark.slow
def test_a_separator_is_an_option_of_both_files(tallymark, folder):
    """And the message for one that is not looked for tells to set it."""
    for name, text in (("a.txt", ANSWERS), ("b.txt", GOOD)):
        (folder / name).write_text(text.replace(",", "|"))
    assert "75.0 %" in tallymark("score", "a.txt", "b.txt", "--separator", "|").stdout
    assert "75.0 %" in tallymark("score", "answers.csv", "b.txt", "--separator", "|").stdout
    assert "set it as the separator" in tallymark("score", "answers.csv", "b.txt").stderr
