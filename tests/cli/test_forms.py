"""What is printed and written: the same in every form as the report or comparison itself gives."""

from __future__ import annotations

import json

import pytest

import tallymark as tm
from tallymark.cli.run import run

Y, P = [31.5, 12.0, 45.0, 22.5, 18.0, 52.0], [30.0, 14.5, 40.0, 25.0, 18.5, 47.0]
EVALUATE = ("--truth", "minutes", "--prediction", "predicted")


@pytest.fixture
def printed(capfdbinary, monkeypatch):
    """Runs a command that must be fine: what it prints."""

    def call(*args):
        words = [str(arg) for arg in args]
        monkeypatch.setattr("sys.argv", ["tallymark", *words])
        code = run(words)
        out, err = capfdbinary.readouterr()
        assert (code, err) == (0, b"")
        return out.decode()

    return call


def test_csv_and_markdown_are_those_of_the_report(printed, rows):
    """Of the report; Markdown says how it was made."""
    report = tm.evaluate(Y, P)
    assert printed("evaluate", rows, *EVALUATE, "--csv") == report.to_csv()
    shown = printed("evaluate", rows, *EVALUATE, "--markdown")
    assert "| RMSE |" in shown
    assert f"tallymark evaluate {rows} --truth minutes --prediction predicted --markdown" in shown


@pytest.mark.parametrize("form", ["json", "csv", "markdown"])
def test_the_metrics_list_has_every_output_format(printed, form):
    """All of them, in the form that was asked for."""
    shown = printed("metrics", f"--{form}")
    assert all(name in shown for name in ("rmse", "auc", "gini"))


def test_html_writes_a_page_with_plots_and_still_prints_the_table(printed, rows, tmp_path):
    """Whole, with plots and the command that made it; the table is printed all the same."""
    shown = printed("evaluate", rows, *EVALUATE, "--html", tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    assert page.startswith(("<!doctype html>", "<!DOCTYPE html>"))
    assert "<svg" in page
    assert f"tallymark evaluate {rows} --truth minutes" in page
    assert "RMSE" in shown
    printed("compare", rows, "--truth", "minutes", "--prediction", "predicted,other", "--html", tmp_path / "c.html")
    assert "<svg" in (tmp_path / "c.html").read_text()


def test_a_file_has_the_form_that_its_name_says(printed, rows, tmp_path):
    """Unless an option says another; a name that says nothing gets the table."""
    report = tm.evaluate(Y, P)
    for name, start in {
        "a.json": report.to_json() + "\n",
        "a.csv": report.to_csv(),
        "a.md": "# ",
        "a.html": "<!",
        "a.txt": str(report).split("· read as")[0],
    }.items():
        assert printed("evaluate", rows, *EVALUATE, "--output", tmp_path / name) == ""
        assert (tmp_path / name).read_text().startswith(start)
    printed("evaluate", rows, *EVALUATE, "-o", tmp_path / "b.txt", "--json")
    assert json.loads((tmp_path / "b.txt").read_text())["n"] == 6


def test_a_page_without_plots_says_what_to_install(rows, tmp_path, capsys, monkeypatch):
    """2, and no file."""
    import sys

    for name in [name for name in sys.modules if name.partition(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    for name in [name for name in sys.modules if name.startswith("tallymark.rendering.plots.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    assert run(["evaluate", str(rows), *EVALUATE, "--html", str(tmp_path / "report.html")]) == 2
    assert 'pip install "tallymark[plots]"' in capsys.readouterr().err
    assert not (tmp_path / "report.html").exists()


PETS = "kind,{}cat,{}dog,{}bird\n" + "cat,0.6,0.2,0.2\ndog,0.2,0.6,0.2\nbird,0.2,0.2,0.6\n" * 4


@pytest.mark.parametrize("prefix", ["", "p_", "c"])
def test_columns_belong_to_the_classes_in_their_names(printed, tmp_path, prefix):
    """Not to the labels in the order of the alphabet, which would be a guess."""
    path = tmp_path / "pets.csv"
    path.write_text(PETS.format(prefix, prefix, prefix))
    names = [f"{prefix}{label}" for label in ("cat", "dog", "bird")]
    found = json.loads(printed("evaluate", path, "--truth", "kind", "--prediction", ",".join(names), "--json"))
    assert found["metrics"]["accuracy"]["value"] == 1.0


def test_columns_whose_names_do_not_say_need_classes(tmp_path, capfd):
    """And the labels that there are."""
    path = tmp_path / "pets.csv"
    path.write_text(PETS.format("a", "b", "c"))
    given = ["evaluate", str(path), "--truth", "kind", "--prediction", "acat,bdog,cbird"]
    assert run(given) == 2
    assert "`--classes` must name the class of each column of `--prediction`, in their order" in capfd.readouterr().err
    assert run([*given, "--classes", "cat,dog,bird"]) == 0


def test_an_ending_that_says_no_form(rows, tmp_path, capfd):
    """A text in a file that ends in .pdf would open in nothing."""
    assert run(["evaluate", str(rows), *EVALUATE, "-o", str(tmp_path / "x.pdf")]) == 2
    assert "`--output` must end in .json, .csv, .md, .html, .txt" in capfd.readouterr().err
    assert not (tmp_path / "x.pdf").exists()


def test_the_name_alone_shows_the_help(capfd):
    """As it is, not in one line."""
    assert run([]) == 2
    assert capfd.readouterr().err.startswith("Usage: tallymark [OPTIONS] COMMAND [ARGS]...\n")


def test_the_verdict_is_in_every_form(rows, tmp_path, capfd):
    """Whoever reads the file learns whether the report was accepted."""
    given = ["evaluate", str(rows), *EVALUATE, "--accept", "rmse < 1"]
    assert run([*given, "--json"]) == 1
    found = json.loads(capfd.readouterr().out)["acceptance"]
    assert (found["passed"], found["failed"]) == (False, ["rmse < 1"])
    for ending in ("html", "md", "txt"):
        assert run([*given, "-o", str(tmp_path / f"r.{ending}")]) == 1
        assert "efused" in (text := (tmp_path / f"r.{ending}").read_text())
        assert text.index("0 of 1 condition passed") < text.index("RMSE")


def test_a_condition_that_cannot_be_read_is_found_first(tmp_path, capfd):
    """Before the file, which may be large; a caret shows where."""
    assert run(["evaluate", str(tmp_path / "none.csv"), *EVALUATE, "--accept", "r2 >> 1"]) == 2
    sentence, *drawing = capfd.readouterr().err.splitlines()
    assert sentence.startswith("tallymark: `--accept` cannot be read at character 5: ")
    assert drawing == ["    r2 >> 1", "        ^"]


def test_a_condition_on_one_group_is_told_the_way(rows, capfd):
    """A file of its rows is the way on the command line."""
    assert run(["evaluate", str(rows), *EVALUATE, "--by", "city", "--accept", "rmse[Bonn] < 1"]) == 2
    assert capfd.readouterr().err.endswith(
        "has no parts. To decide on one group, evaluate its rows alone, or accept report.slices['Bonn']\n"
    )


def test_two_output_formats_at_once_are_refused(rows, capfd):
    """Two would leave it to chance which one a program reads."""
    assert run(["evaluate", str(rows), *EVALUATE, "--json", "--csv"]) == 2
    assert "Only one of --json and --csv can be given" in capfd.readouterr().err
    assert run(["metrics", "--json", "--json"]) == 0


def test_a_column_named_twice_is_no_comparison(rows, capfd):
    """Its differences would all be 0."""
    assert run(["compare", str(rows), "--truth", "minutes", "--prediction", "predicted,predicted"]) == 2
    assert "`--prediction` must name each column once; 'predicted' was named twice" in capfd.readouterr().err


def test_failed_metrics_speak_of_options(rows, capfd):
    """Not of the arguments of a call that nobody here has made."""
    assert run(["evaluate", str(rows), *EVALUATE, "--metrics", "mae,ndcg"]) == 2
    assert "`--query` must be given" in capfd.readouterr().err
