"""Each command, called in this process: what its options come to."""

from __future__ import annotations

import json

import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest

import tallymark as tm
from tallymark.cli.group import COMMANDS, commands
from tallymark.cli.run import run
from tallymark.data.arguments import split_list

Y, P = [31.5, 12.0, 45.0, 22.5, 18.0, 52.0], [30.0, 14.5, 40.0, 25.0, 18.5, 47.0]
LATE, SCORE = [1, 0, 1, 0, 0, 1], [0.9, 0.2, 0.7, 0.4, 0.6, 0.8]


@pytest.fixture
def told(capfdbinary):
    """Runs a command here: its exit code, what it printed and what it complained about."""

    def call(*args):
        code = run([str(arg) for arg in args])
        out, err = capfdbinary.readouterr()
        return code, out.decode(), err.decode()

    return call


def evaluated(told, rows, *args):
    code, out, err = told("evaluate", rows, *args, "--json")
    assert (code, err) == (0, "")
    return json.loads(out)


def test_the_table_of_commands_is_right():
    """Every command has the sentence that the table gives it, and an example in its help."""
    for name, sentence in COMMANDS.items():
        found = commands.get_command(None, name)
        assert found.name == name
        assert found.short_help == sentence
        assert f"tallymark {name}" in found.help


def test_parquet_and_csv_give_the_same(told, rows):
    """To the last character."""
    pq.write_table(pa_csv.read_csv(rows), rows.with_suffix(".parquet"))
    args = ("--truth", "late", "--prediction", "p", "--kind", "probability", "--by", "city", "--ci", "0.9", "--json")
    assert told("evaluate", rows, *args) == told("evaluate", rows.with_suffix(".parquet"), *args)


def test_options_are_the_keywords_of_the_call(told, rows):
    """Intervals, clusters, groups and metrics with parameters."""
    found = evaluated(
        told, rows, "--truth", "minutes", "--prediction", "predicted", "--metrics", "rmse,huber(delta=2)",
        "--ci", "0.9", "--ci-method", "bootstrap", "--resamples", "50", "--seed", "3", "--cluster", "orders",
        "--weights", "orders", "--by", "city", "--min-rows", "2",
    )  # fmt: skip
    orders, city = [3, 1, 2, 1, 2, 4], ["Köln", "Bonn"] * 2 + ["Köln", "Bonn"]
    report = tm.evaluate(
        Y, P, ["rmse", "huber(delta=2)"], ci=tm.Intervals(0.9, "bootstrap", 50, seed=3), cluster=orders,
        weights=orders, by={"city": city}, min_rows=2,
    )  # fmt: skip
    assert found == json.loads(report.to_json())


def test_intervals_are_asked_for_by_options(told, rows):
    """Errors and notes say which."""
    args = ("evaluate", rows, "--truth", "minutes", "--prediction", "predicted", "--metrics", "r2")
    for given, message in (
        (("--seed", "3"), "`--seed` says how intervals are made: pass `--ci` too, such as --ci 0.95"),
        (("--ci-method", "bootstrap"), "`--ci-method` says how intervals are made"),
        (("--resamples", "99", "--stream"), "`--resamples` says how intervals are made"),
        (("--ci", "95"), "`--ci` must be a level between 0 and 1, such as 0.95; got 95.0. Did you mean 0.95?"),
        (
            ("--ci", "0.95", "--resamples", "10"),
            "`--resamples` must be an integer from 39 to 1,048,576 for --ci 0.95",
        ),
        (("--ci", "0.95", "--seed", "-1"), "`--seed` must be an integer from 0"),
    ):
        code, _, err = told(*args, *given)
        assert code == 2
        assert message in err
    for way in ("--stream", "--no-stream"):
        code, out, _ = told(*args, "--ci", "0.9", "--ci-method", "analytic", way)
        assert code == 0
        assert "use --ci-method bootstrap" in out
        assert "tm.Intervals" not in out


def test_labels_follow_the_column(told, rows):
    """The positive class and the classes are numbers where the truth holds numbers."""
    args = ("--truth", "late", "--prediction", "p", "--kind", "probability", "--metrics", "auc")
    auc = tm.auc(LATE, SCORE)
    assert evaluated(told, rows, *args)["metrics"]["auc"]["value"] == auc
    assert evaluated(told, rows, *args, "--positive", "0")["metrics"]["auc"]["value"] == pytest.approx(1 - auc)
    assert evaluated(told, rows, *args, "--classes", "0,1")["metrics"]["auc"]["value"] == auc
    assert evaluated(told, rows, *args, "--classes", "0", "--classes", "1")["metrics"]["auc"]["value"] == auc
    code, _, err = told("evaluate", rows, *args, "--positive", "yes")
    assert code == 2
    assert err == "tallymark: `--positive` must be an integer, like the labels in 'late'; got 'yes'\n"


def test_labels_as_they_are_written(told, tmp_path):
    """1 and 1.0 are one number and two labels; true is a class by its name."""
    path = tmp_path / "rows.csv"
    path.write_text("y,p,b,q\n1,1.0,true,0.9\n2,2,false,0.1\n")
    args = ("--metrics", "accuracy")
    asked = evaluated(told, path, "--truth", "y", "--prediction", "p", "--kind", "label", *args)
    assert asked["metrics"]["accuracy"]["value"] == 1.0
    assert (
        evaluated(told, path, "--truth", "y", "--prediction", "p", "--labels", *args)["metrics"]["accuracy"]["value"]
        == 0.5
    )
    assert evaluated(told, path, "--truth", "b", "--prediction", "q")["metrics"]["auc"]["value"] == 1.0
    flipped = evaluated(told, path, "--truth", "b", "--prediction", "q", "--positive", "false")
    assert flipped["metrics"]["auc"]["value"] == 0.0


def test_several_columns_are_read_as_one_table(told, tmp_path):
    """Probabilities of classes, and outputs side by side."""
    path = tmp_path / "rows.csv"
    path.write_text("y,a,b,c\nx,0.5,0.3,0.2\ny,0.2,0.7,0.1\nz,0.1,0.2,0.7\n")
    found = evaluated(told, path, "--truth", "y", "--prediction", "a,b,c", "--classes", "x,y,z")
    assert found["metrics"]["accuracy"]["value"] == 1.0
    found = evaluated(told, path, "--truth", "a,b", "--prediction", "b,c", "--kind", "value")
    assert found["metrics"]["mae"]["value"] == tm.mae(
        [[0.5, 0.3], [0.2, 0.7], [0.1, 0.2]], [[0.3, 0.2], [0.7, 0.1], [0.2, 0.7]]
    )
    code, _, err = told("evaluate", path, "--truth", "a", "--prediction", "y,b")
    assert code == 2
    assert err == "tallymark: column 'y' must contain numbers, like the columns beside it; got text\n"


def test_the_query_column_gives_ranking_metrics(told, rows):
    """The query is a column."""
    found = evaluated(told, rows, "--truth", "late", "--prediction", "p", "--query", "city")
    assert set(found["metrics"]) == {"ndcg", "map", "mrr"}


def test_missing_values_are_refused_or_dropped_and_counted(told, tmp_path):
    """Refused in the words of the command line, or dropped and counted."""
    path = tmp_path / "rows.csv"
    path.write_text("y,p\n1.5,2\n,3\n2.5,2\n")
    code, _, err = told("evaluate", path, "--truth", "y", "--prediction", "p")
    assert code == 2
    assert "`--truth` must be finite; got nan (row 1)" in err
    assert "Pass --missing drop to drop such rows" in err
    found = evaluated(told, path, "--truth", "y", "--prediction", "p", "--missing", "drop")
    assert (found["n"], found["dropped"]) == (2, 1)


def test_the_field_that_made_a_column_text_is_named(told, tmp_path):
    """It says which field made a column text."""
    path = tmp_path / "rows.csv"
    path.write_text("y,p\n1.5,2\n2.5,n/a\n")
    code, _, err = told("evaluate", path, "--truth", "y", "--prediction", "p", "--metrics", "rmse")
    assert code == 2
    assert "Column 'p' was read as text because row 1 is 'n/a'" in err
    code, _, err = told("evaluate", path, "--truth", "y", "--prediction", "p", "--kind", "value")
    assert "column 'p' must contain numbers; row 1 (line 3) is 'n/a'" in err


def test_a_file_with_only_a_header_is_an_error(told, tmp_path):
    """2, and it says so."""
    (tmp_path / "rows.csv").write_text("y,p\n")
    code, _, err = told("evaluate", tmp_path / "rows.csv", "--truth", "y", "--prediction", "p")
    assert (code, err) == (2, "tallymark: `--truth` has no rows\n")


def test_what_fails_altogether_is_an_error(told, rows):
    """A metric that was named and fails is bad input; so are defaults that all fail."""
    args = ("--truth", "city", "--prediction", "p")
    code, out, err = told("evaluate", rows, *args)
    assert (code, out) == (2, "")
    assert err.startswith("tallymark: `--positive` must name the positive class")
    code, out, err = told("evaluate", rows, "--truth", "minutes", "--prediction", "predicted", "--metrics", "mae,auc")
    assert (code, out) == (2, "")
    assert "auc" in err or "label" in err


def test_compare_takes_models_as_one_or_more_columns_per_option(told, rows):
    """Models are columns, one or more to an option, before or after the file."""
    args = ("--truth", "minutes", "--metrics", "mae", "--resamples", "50", "--json")
    expected = tm.compare(
        Y, {"predicted": P, "other": [28, 12, 44, 22, 21, 50]}, ["mae"], ci=tm.Intervals(resamples=50)
    ).to_json()
    several = told("compare", rows, *args, "--prediction", "predicted,other")
    assert several == (0, f"{expected}\n", "")
    assert told("compare", rows, *args, "--prediction", "predicted", "--prediction", "other") == several
    assert told("compare", *args, "--prediction", "predicted,other", rows) == several
    assert told("compare", "--prediction", "predicted,other", rows, *args) == several
    baseline = json.loads(told("compare", rows, *args, "--prediction", "predicted,other", "--baseline", "other")[1])
    assert baseline["baseline"] == "other"
    assert "other − predicted" in told("compare", rows, *args[:-1], "--prediction", "predicted,other")[1]
    code, _, err = told("compare", rows, *args, "--prediction", "other")
    assert (code, err) == (2, "tallymark: `--prediction` must contain at least two models; got 1\n")


def test_columns_are_listed_as_in_the_header_of_a_file(told, tmp_path):
    """Between commas or option by option; in double quotes, a comma belongs to the name."""
    path = tmp_path / "rows.csv"
    path.write_text('y,"price, net"," b","a ""b"""\n1,2,3,1\n2,2,4,3\n')
    for given in (['"price, net", b'], ['"price, net"', " b"]):
        options = [word for name in given for word in ("--prediction", name)]
        code, out, err = told("compare", path, "--truth", "y", *options, "--metrics", "mae", "--json")
        assert (code, err, set(json.loads(out)["models"])) == (0, "", {"price, net", " b"}), given
    assert (
        evaluated(told, path, "--truth", "y", "--prediction", 'a "b"', "--metrics", "mae")["metrics"]["mae"]["value"]
        == 0.5
    )
    code, _, err = told("evaluate", path, "--truth", "y", "--prediction", "a\n,b")
    assert code == 2
    assert "Invalid value for '--prediction': it is not a line of CSV" in err


def test_commas_inside_parentheses_and_quotes_do_not_split_a_list():
    """Commas in parentheses, brackets and quotes belong to the value."""
    assert split_list(("a, b", "c")) == ["a", "b", "c"]
    assert split_list(("fscore(beta=2, average=macro),mae",)) == ["fscore(beta=2, average=macro)", "mae"]
    assert split_list(('gap("fscore(beta=2)"),pinball(alphas=[0.1, 0.9])',)) == [
        'gap("fscore(beta=2)")',
        "pinball(alphas=[0.1, 0.9])",
    ]
    assert split_list(("", ",")) == []


def test_the_metrics_command_lists_all_or_one_family(told):
    """All, those of a family, and as data."""
    assert json.loads(told("metrics", "--json")[1])[0].keys() >= {"name", "family", "better"}
    code, out, _ = told("metrics", "--family", "ranking")
    assert code == 0
    assert "ndcg" in out
    assert "rmse" not in out
    code, _, err = told("metrics", "--family", "gardening")
    assert code == 2
    assert "`--family` must be one of " in err


def test_the_explain_command_prints_text_or_json(told):
    """In words, as data, and where a value stands."""
    assert told("explain", "r2") == (0, f"{tm.explain('r2')}\n", "")
    assert told("explain", "fscore(beta=2)", "--json") == (0, f"{tm.explain('fscore(beta=2)').to_json()}\n", "")
    assert told("explain", "r2", "--value", "0.6") == (0, f"{tm.explain('r2').place(0.6)}\n", "")
    found = json.loads(told("explain", "r2", "--value", "0.6", "--json")[1])
    assert found == {"metric": "r2", "value": 0.6, "place": tm.explain("r2").place(0.6)}
    code, _, err = told("explain", "rsme")
    assert code == 2
    assert "rmse" in err


def test_the_choose_command_takes_answers_as_options(told):
    """Answers are options; questions that are open are named."""
    expected = tm.choose("regression", large_errors="no", outliers="yes")
    code, out, _ = told("choose", "regression", "--large-errors", "no", "--outliers", "yes", "--json")
    assert (code, out) == (0, f"{expected.to_json()}\n")
    code, out, _ = told("choose", "--no-ask")
    assert "What is predicted?" in out


def test_choose_speaks_of_what_is_typed(told):
    """The task is an argument, questions are options, and answers are words."""
    for words, said in {
        "clasification": "tallymark: TASK must be one of regression, ",
        "--many-rows yes": "tallymark: TASK must be given with `--many-rows`: one of regression, ",
        "regression --classes two": "has no question `--classes`; its questions are `--large-errors`, `--outliers`, ",
        "clustering --uneven yes": ". Did you mean `--uneven-sizes`?",
        "regression --large-errors maybe": "Invalid value for '--large-errors': 'maybe' is not one of 'yes', 'no'.",
        "classification --classes three": "Invalid value for '--classes': 'three' is not one of 'two', 'many'.",
    }.items():
        code, out, err = told("choose", *words.split(), "--no-ask")
        assert (code, out) == (2, "")
        assert said in err


def test_the_version_is_printed_by_command_and_by_option(told):
    """Both ways."""
    assert told("version")[1].startswith(f"tallymark   {tm.__version__}\n")
    assert told("--version") == (0, f"tallymark {tm.__version__}\n", "")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_has_a_completion_script(told, shell):
    """One for each shell, of the command's own name."""
    code, out, _ = told("completion", shell)
    assert code == 0
    assert "_TALLYMARK_COMPLETE" in out


def test_completion_names_the_shells_it_knows(told):
    """Says which there are."""
    code, _, err = told("completion", "tcsh")
    assert code == 2
    assert "bash" in err


def completed(told, monkeypatch, words):
    """What bash is offered for the last of the words."""
    monkeypatch.setenv("_TALLYMARK_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", words)
    monkeypatch.setenv("COMP_CWORD", str(len(words.split(" ")) - 1))
    return [line.partition(",")[2] for line in told()[1].splitlines()]


def test_completion_of_commands_metrics_and_columns(told, rows, monkeypatch):
    """What could be typed next."""
    assert completed(told, monkeypatch, "tallymark e") == ["evaluate", "explain"]
    assert "rmse" in completed(told, monkeypatch, "tallymark explain rm")
    assert "--truth" in completed(told, monkeypatch, "tallymark evaluate --t")
    assert completed(told, monkeypatch, f"tallymark evaluate {rows} --truth m") == ["minutes"]
    assert completed(told, monkeypatch, f"tallymark evaluate {rows}.absent --truth m") == [""]
    assert completed(told, monkeypatch, f"tallymark evaluate {rows} --truth minutes --prediction p") == [
        "predicted",
        "p",
    ]
    assert completed(told, monkeypatch, f"tallymark evaluate {rows} --prediction p,o") == ["p,other", "p,orders"]
    assert completed(told, monkeypatch, "tallymark score a.csv b.csv --metrics rmse,wa") == ["rmse,wape"]
