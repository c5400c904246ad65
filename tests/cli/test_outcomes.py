"""Exit codes, and what goes where: results to standard output, one sentence to standard error."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import tallymark as tm
from tests.cli.conftest import environment

pytestmark = pytest.mark.slow

EVALUATE = ("--truth", "minutes", "--prediction", "predicted")


def test_success_exits_0_and_prints_only_to_stdout(tallymark, rows):
    """0, a table on standard output, nothing on standard error, and no colours in a pipe."""
    done = tallymark("evaluate", rows, *EVALUATE)
    assert (done.returncode, done.stderr) == (0, "")
    assert "RMSE" in done.stdout
    assert "\x1b" not in done.stdout


def test_json_is_that_of_the_report(tallymark, rows):
    """Character by character."""
    done = tallymark(
        "evaluate", rows, *EVALUATE, "--metrics", "rmse,mae", "--by", "city", "--weights", "orders", "--json"
    )
    y, p = [31.5, 12.0, 45.0, 22.5, 18.0, 52.0], [30.0, 14.5, 40.0, 25.0, 18.5, 47.0]
    city = ["Köln", "Bonn", "Köln", "Bonn", "Köln", "Bonn"]
    report = tm.evaluate(y, p, ["rmse", "mae"], by={"city": city}, weights=[3, 1, 2, 1, 2, 4])
    assert done.stdout == f"{report.to_json()}\n"
    assert json.loads(done.stdout)["metrics"]["mae"]["value"] == report["mae"]


def test_a_refused_model_exits_1_and_lists_the_conditions(tallymark, rows):
    """1, with the verdict above the report and a sentence on standard error; JSON has them too."""
    done = tallymark("evaluate", rows, *EVALUATE, "--accept", "r2 > 0.5", "--accept", "rmse < 1")
    assert done.returncode == 1
    assert done.stdout.startswith("refused · 1 of 2 conditions passed")
    assert done.stderr.startswith("tallymark: refused: rmse < 1 fails by ")
    assert done.stderr.count("\n") == 1
    as_json = tallymark("evaluate", rows, *EVALUATE, "--accept", "rmse < 1", "--json")
    assert as_json.returncode == 1
    found = json.loads(as_json.stdout)
    assert found.pop("acceptance")["failed"] == ["rmse < 1"]
    assert found == json.loads(tallymark("evaluate", rows, *EVALUATE, "--json").stdout)


def test_an_accepted_model_exits_0_and_says_so(tallymark, rows):
    """0, and it says so."""
    done = tallymark("evaluate", rows, *EVALUATE, "--accept", "r2 > 0.5")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("accepted · 1 of 1 condition passed")


def test_bad_usage_and_input_are_one_sentence(tallymark, rows):
    """2, nothing on standard output, no traces of Python."""
    for args, told in (
        (["evaluate"], "Missing argument 'FILE...'"),
        (["evaluate", rows, "--truth", "minutes"], "Missing option '--prediction'"),
        (["evaluate", rows], "Missing option '--truth'. The columns of `"),
        (["compare", rows, "--truth", "minutes"], "` are 'minutes', "),
        (["evaluate", rows, "--truth", "minutes", "--prediction", "a", "b"], "with commas: --prediction a,b. Try: "),
        (["compare", rows, "--truth", "minutes", "--prediction", "a", "b"], "with commas: --prediction a,b. Try: "),
        (["evaluate", rows, *EVALUATE, "--metrics", "rmse", "mae"], "with commas: --metrics rmse,mae. Try: "),
        (
            ["evaluate", rows, *EVALUATE, "--json", "r.json"],
            "--json takes no file. To write one: --output r.json.",
        ),
        (["evaluate", rows, *EVALUATE, "--ci"], "'--ci' requires an argument. Try: tallymark evaluate --help"),
        (["evaluate", rows, "--truht", "x"], "No such option '--truht'"),
        (["evaluate", "absent.csv", *EVALUATE], "there is no file `absent.csv`"),
        (["frobnicate"], "No such command 'frobnicate'"),
        (["evalute", rows], "No such command 'evalute'. Did you mean evaluate?"),
        (["list"], "No such command 'list'. Did you mean metrics?"),
        (["evaluate", rows, "--thruth", "x"], "No such option '--thruth'. Did you mean --truth?"),
        (["evaluate", rows, "--pred", "x"], "No such option '--pred'. Did you mean --prediction?"),
        (["evaluate", rows, "--y-true", "x"], "No such option '--y-true'. Did you mean --truth?"),
        (["evaluate", rows, "--group", "x"], "No such option '--group'. Did you mean --by?"),
        (["evaluate", rows, "--require", "mae < 1"], "No such option '--require'. Did you mean --accept?"),
        (["evaluate", rows, "-t", "x"], "No such option '-t'. Did you mean --truth?"),
        (["evaluate", rows, "--average", "macro"], "are part of the name of a metric: --metrics f1_macro or"),
        (["evaluate", rows, "--threshold=0.3"], 'of a metric: --metrics "f1(threshold=0.3)"'),
        (["evaluate", rows, "--frobnicate"], "No such option '--frobnicate'. Try: "),
        (["evaluate", rows, *EVALUATE, "--metrics", "qwzx"], "'qwzx'. `tallymark metrics` lists the names"),
        (["explain", "qwzx"], "there is no metric 'qwzx'. `tallymark metrics` lists the names"),
    ):
        done = tallymark(*args)
        assert (done.returncode, done.stdout) == (2, ""), args
        assert done.stderr.startswith("tallymark: ")
        assert told in done.stderr
        assert done.stderr.count("\n") == 1
        assert "Traceback" not in done.stderr


def test_help_as_a_word(tallymark):
    """The same as the option, also of a command; -V is the version, and a family needs no option."""
    assert tallymark("help").stdout == tallymark("--help").stdout
    assert tallymark("help", "metrics").stdout == tallymark("metrics", "--help").stdout
    assert tallymark("-V").stdout == tallymark("--version").stdout
    assert tallymark("metrics", "ranking").stdout == tallymark("metrics", "--family", "ranking").stdout


def test_no_command_prints_the_help_and_exits_2(tallymark):
    """2, and the help, which says what there is."""
    done = tallymark()
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == tallymark("--help").stdout


def test_closed_streams_are_no_error(rows):
    """Nothing is read from them or printed to them, and nothing breaks."""
    script = f'"{sys.executable}" -m tallymark evaluate "$1" {" ".join(EVALUATE)}'
    for redirect, name, code, told in (
        (">&-", rows, 0, ""),
        ("<&-", "-", 2, "tallymark: standard input is closed; name a file instead of -\n"),
    ):
        command = ["bash", "-c", f"{script} {redirect}", "bash", str(name)]
        done = subprocess.run(command, capture_output=True, text=True, env=environment())
        assert (done.returncode, done.stdout, done.stderr) == (code, "", told)


def test_the_command_has_the_name_of_the_package():
    """The script that installing makes leads to a function."""
    from importlib import import_module

    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    module, _, function = project["scripts"]["tallymark"].partition(":")
    assert callable(getattr(import_module(module), function))


def test_debug_shows_the_traceback_before_the_error(tallymark):
    """The trace, and then the same sentence."""
    done = tallymark("evaluate", "absent.csv", *EVALUATE, "--debug")
    assert done.returncode == 2
    assert "Traceback" in done.stderr
    assert done.stderr.splitlines()[-1] == "tallymark: there is no file `absent.csv`"


def test_standard_input_is_read_as_a_file(tallymark, rows):
    """Standard input as a file, of both forms."""
    done = tallymark("evaluate", "-", *EVALUATE, "--json", stdin=rows.read_text())
    assert done.stdout == tallymark("evaluate", rows, *EVALUATE, "--json").stdout
    assert tallymark("evaluate", *EVALUATE, "-", stdin=rows.read_text()).returncode == 0
    empty = tallymark("evaluate", "-", *EVALUATE, stdin="")
    assert (empty.returncode, empty.stderr) == (2, "tallymark: standard input is empty\n")


def test_a_reader_that_leaves_early_is_no_fault(tmp_path):
    """Quiet, with the code that shells have for it."""
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "tallymark", "metrics"]
    done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, text=True, env=environment(), cwd=tmp_path)
    os.close(writer)
    assert (done.returncode, done.stderr) == (141, "")


def test_an_interrupt_is_quiet_and_leaves_no_half_file(tmp_path):
    """130, one word, and no file: here while it waits for a pipe."""
    os.mkfifo(tmp_path / "pipe")
    command = [sys.executable, "-m", "tallymark", "evaluate", "pipe", *EVALUATE, "-o", "out.json"]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment(), cwd=tmp_path
    )
    with open(tmp_path / "pipe", "w") as pipe:  # opens when the reader does
        pipe.write("minutes,predicted\n" + "1,2\n" * 500_000)
        pipe.flush()  # which is more than a pipe holds: the reader is at work
        process.send_signal(signal.SIGINT)
        out, told = process.communicate(timeout=60)
    assert (process.returncode, out, told) == (130, "", "\ntallymark: interrupted\n")
    assert [path.name for path in tmp_path.iterdir()] == ["pipe"]


def test_an_interrupt_while_writing_leaves_the_old_file(tmp_path, rows):
    """The new one is written beside it, and is gone."""
    out = tmp_path / "out.json"
    out.write_text("old")
    code = (
        "import os, sys, signal\n"
        "replace = os.replace\n"
        "def late(*args): os.kill(os.getpid(), signal.SIGINT); replace(*args)\n"
        "os.replace = late\n"
        "from tallymark.cli.run import run\n"
        f"sys.exit(run(['evaluate', {str(rows)!r}, *{EVALUATE!r}, '-o', {str(out)!r}]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment())
    assert (done.returncode, done.stderr) == (130, "\ntallymark: interrupted\n")
    assert out.read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.json", "rows.csv"]


def test_a_place_that_cannot_be_written(tallymark, rows):
    """2, with the place that was asked for."""
    done = tallymark("evaluate", rows, *EVALUATE, "-o", "absent/out.json")
    assert (done.returncode, done.stderr) == (2, "tallymark: `absent/out.json`: No such file or directory\n")


@pytest.mark.parametrize("option", ["-o", "--html"])
def test_the_file_that_is_read_is_not_written_over(tallymark, rows, option):
    """2, whatever name it is given."""
    before = rows.read_bytes()
    (rows.parent / "link.csv").symlink_to(rows)
    done = tallymark("evaluate", rows, *EVALUATE, option, "link.csv")
    assert done.returncode == 2
    assert "must be another file than the one that is read; got 'link.csv'" in done.stderr
    assert rows.read_bytes() == before


@pytest.mark.parametrize("place", ["-", "/dev/stdout"])
def test_output_to_stdout_writes_no_file(tallymark, rows, tmp_path, place):
    """No file of that name; a page there takes the place of the table."""
    done = tallymark("evaluate", rows, *EVALUATE, "--json", "-o", place)
    assert (done.returncode, done.stdout) == (0, tallymark("evaluate", rows, *EVALUATE, "--json").stdout)
    assert [path.name for path in tmp_path.iterdir()] == ["rows.csv"]


def test_a_page_on_stdout_is_all_that_is_printed(tallymark, rows):
    """Alone, so that it can go on to a file or another program."""
    done = tallymark("evaluate", rows, *EVALUATE, "--html", "-")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("<!DOCTYPE html>")
    assert done.stdout.endswith("</html>\n")


def test_output_is_utf8_in_an_ascii_locale(tallymark, rows):
    """What is printed is UTF-8, whatever the locale says."""
    done = tallymark("evaluate", rows, *EVALUATE, "--by", "city", PYTHONIOENCODING="ascii", LC_ALL="C")
    assert (done.returncode, done.stderr) == (0, "")


def test_help_loads_no_more_than_it_shows():
    """Neither Arrow nor rich, plots, guidance or a command."""
    code = (
        "import sys; from tallymark.cli.run import run; code = run(['--help'])\n"
        "heavy = {'pyarrow', 'rich', 'matplotlib', 'pandas', 'tallymark.guidance', 'tallymark.cli.evaluate'}\n"
        "print(sorted(heavy & set(sys.modules)), code)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment())
    assert done.stdout.splitlines()[-1] == "[] 0"


def test_without_click_it_says_what_to_install():
    """2, one sentence."""
    code = "import sys; sys.modules['click'] = None; from tallymark.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment())
    assert done.returncode == 2
    assert done.stderr == (
        'tallymark: the command line needs the package click; install it with: pip install "tallymark[cli]"\n'
    )


@pytest.mark.slow
def test_a_bad_field_at_the_end_of_a_huge_file_is_located(tallymark, tmp_path):
    """Forty megabytes of rows, whose last is not a number: it says which."""
    path = tmp_path / "huge.csv"
    with open(path, "w") as file:
        file.write("minutes,predicted\n")
        for _ in range(40):
            file.write("31.5123,30.2519\n" * 65_536)
        file.write("31.5,x\n")
    done = tallymark("evaluate", path, *EVALUATE, "--kind", "value")
    assert done.returncode == 2
    assert "row 2,621,440 (line 2,621,442) is 'x'" in done.stderr
