"""An error carries what is wrong as fields, and every interface writes them in its own words."""

import ast
import copy
import json
import pickle
from pathlib import Path
from string import Formatter

import click
import pytest

import tallymark as tm
from tallymark.app.domain.errors import field_errors
from tallymark.cli.run import CommandWording
from tallymark.errors import Argument, InputError, Text, Wording, from_dict

NAN = float("nan")
SOURCES = Path(tm.__file__).parent


class Shouted(Wording):
    def argument(self, name):
        return name.upper()

    def setting(self, name, value):
        return f"{name.upper()} IS {value}"


def finite():
    return tm.MissingValueError(
        argument="y_true",
        expected="be finite",
        got="nan",
        place="row 3",
        hint=Text('Pass {missing="drop"} to drop such rows'),
    )


def test_a_call_says_what_is_wrong_in_fields():
    with pytest.raises(tm.MissingValueError) as caught:
        tm.rmse([1.0, 2.0], [1.0, NAN])
    error = caught.value
    assert (error.argument, error.expected, error.got, error.place) == ("y_pred", "be finite", "nan", "row 1")
    assert str(error.hint) == 'Pass missing="drop" to drop such rows'
    assert error.problem is None


def test_every_interface_uses_its_own_words():
    assert str(finite()) == '`y_true` must be finite; got nan (row 3). Pass missing="drop" to drop such rows'
    assert (
        finite().write(Shouted()) == 'Y_TRUE must be finite; got nan (row 3). Pass MISSING IS "drop" to drop such rows'
    )
    command = click.Command(
        "evaluate",
        params=[
            click.Option(["--truth", "y_true"]),
            click.Option(["--missing"]),
        ],
    )
    assert (
        finite().write(CommandWording(command))
        == "`--truth` must be finite; got nan (row 3). Pass --missing drop to drop such rows"
    )


def test_a_table_names_its_columns():
    with pytest.raises(tm.MissingValueError) as caught:
        tm.evaluate_table({"y": [1.0, NAN], "p": [1.0, 2.0]}, metrics="rmse", truth="y", prediction="p")
    assert caught.value.argument == "truth"
    assert str(caught.value).startswith("`truth` must be finite; got nan (")


def test_a_page_puts_the_error_beside_its_field():
    error = tm.ParameterError(argument="beta", expected="be positive", got="-1.0")
    assert field_errors(error, {"beta": "beta_field"}, "form") == {
        "beta_field": str(field_errors(error, {}, "form")["form"])
    }


def test_values_are_never_read_as_templates():
    """Labels, names of columns and of files are the user's and may hold any character."""
    for value in ("{y_true}", "{}", "{", "}", "{0}", "{missing='x'}", "`y_true`", "{a.b!r:>9}"):
        assert str(Text("got {} and {}", value, Text("{}", value))) == f"got {value} and {value}"
        error = InputError(argument="labels", expected="be known", got=value, place=value, hint=value)
        assert error.write(Shouted()) == f"LABELS must be known; got {value} ({value}). {value}"
        with pytest.raises(tm.TallymarkError) as caught:
            tm.evaluate_table({"y": [1.0]}, metrics="rmse", truth="y", prediction=value)
        assert repr(value) in str(caught.value)
        with pytest.raises(tm.TallymarkError) as caught:
            tm.recall(["a", "b"], ["a", "b"], positive=value)
        assert repr(value) in str(caught.value)


def test_an_argument_may_be_a_value():
    text = Text("{} and {}", Argument("left"), "right")
    assert str(text) == "`left` and right"
    assert text.write(Shouted()) == "LEFT and right"
    assert text.names("left")
    assert not text.names("right")


@pytest.mark.parametrize(
    "make",
    [
        finite,
        lambda: tm.ShapeError(Text("{y_true} and {} differ", Argument("y_pred")), place="row {3}"),
        lambda: finite().rename(y_true="truth").add_place("file 'a.csv'").add_hint("See the guide"),
        lambda: tm.ParameterError("one sentence"),
    ],
)
@pytest.mark.parametrize("way", ["pickle", "copy", "json"])
def test_the_fields_of_an_error_survive_pickle_copy_and_json(make, way):
    error = make()
    again = {
        "pickle": lambda: pickle.loads(pickle.dumps(error)),
        "copy": lambda: copy.deepcopy(error),
        "json": lambda: from_dict(json.loads(json.dumps(error.to_dict()))),
    }[way]()
    assert type(again) is type(error)
    assert str(again) == str(error)
    assert again.write(Shouted()) == error.write(Shouted())
    for field in ("argument", "place"):
        assert getattr(again, field) == getattr(error, field)


def test_an_argument_can_be_renamed_in_an_error():
    error = finite().rename(y_true="truth")
    assert error.argument == "truth"
    assert str(error).startswith("`truth` must be finite")
    assert str(error.rename(truth="target")).startswith("`target` must be finite")


def test_an_outer_place_comes_first():
    assert "(file 'a.csv', row 3)" in str(finite().add_place("file 'a.csv'"))


def templates():
    for path in sorted(SOURCES.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Text":
                yield f"{path.name}:{node.lineno}", node.args


@pytest.mark.slow
def test_every_template_has_its_values():
    """One that lacks a value would fail only when the error is raised."""
    wrong = [
        where
        for where, (template, *values) in templates()
        if isinstance(template, ast.Constant)
        and not any(isinstance(value, ast.Starred) for value in values)
        and [field for _, field, _, _ in Formatter().parse(template.value)].count("") != len(values)
    ]
    assert not wrong
    assert sum(1 for _ in templates()) > 50
