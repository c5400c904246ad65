"""Every exception that tallymark raises on purpose.

::

    ValueError
    └── TallymarkError
        ├── InputError              an array that was given
        │   ├── TypeOfDataError     not numbers, or not a table of them
        │   ├── ShapeError          dimensions or columns that do not fit
        │   ├── LengthError         arrays of different lengths
        │   ├── EmptyError          no rows
        │   ├── MissingValueError   NaN, infinity or null
        │   ├── WeightError         weights that are negative, not finite or not one per row
        │   └── DomainError         values for which the metric has no meaning
        ├── KindError               predictions of a kind that the metric cannot read
        ├── ParameterError          a parameter of a metric or a call
        │   └── UnknownMetricError  a name that no metric has
        ├── FormulaError            a formula of the user's own that failed
        ├── UndefinedError          a value that is undefined, where undefined="raise"
        ├── AcceptanceError         a report that does not meet its condition, where it is required to
        ├── FileError               a file that cannot be read, or that lacks what was asked for
        │   └── BoundError          a file that is larger, or unpacks to more, than it may
        ├── Rejection               a submission that is not scored, with all of its problems
        ├── StateError              states that do not fit together, or bytes that are not a state
        └── MissingPackageError     an optional package that is missing, too old or broken (also an ImportError)

An error is data: the `argument`, what is `expected` of it, what it `got`, the `place` (a row, a file, an eval set)
and a `hint`. Its message is written from these fields by a `Wording`: Python writes backticks and ``name=value``, the
command line has its options, a page has the labels of its fields. A caller with other names for the arguments calls
`rename`; one that knows the larger place calls `add_place`. Nobody edits a finished sentence. A sentence that names
arguments is a ``Text("... {y_true} ... {}", value)``, so that a label such as ``{y_true}`` is never taken for an
argument. A worker on a cluster sends the fields as JSON, and the error is made again from them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Self

__all__ = [
    "TallymarkError",
    "InputError",
    "TypeOfDataError",
    "ShapeError",
    "LengthError",
    "EmptyError",
    "MissingValueError",
    "WeightError",
    "DomainError",
    "KindError",
    "ParameterError",
    "UnknownMetricError",
    "FormulaError",
    "UndefinedError",
    "AcceptanceError",
    "FileError",
    "BoundError",
    "Rejection",
    "StateError",
    "MissingPackageError",
]


def nearest(word: str, known: Iterable[str], most: int = 1, cutoff: float = 0.6) -> list[str]:
    """The known words that are most like a word, the nearest first; none where nothing is.

    >>> nearest("regresion", ["ranking", "regression"])
    ['regression']
    """
    import difflib  # only mistakes need it

    return difflib.get_close_matches(word, list(known), n=most, cutoff=cutoff)


def did_you_mean(word: object, known: Iterable[str]) -> str | None:
    """A hint for an error; None where nothing is near."""
    near = nearest(word, known) if isinstance(word, str) else []
    return f"Did you mean {near[0]}?" if near else None


def brief(value: object) -> str:
    """A value in a message: its repr in one line, or its type where there is none."""
    try:
        text = repr(value)
    except Exception:  # raised by code of the value's own, or by an integer of thousands of digits
        text = "\n"
    if "\n" in text:
        return f"an object of type {type(value).__name__}"
    return text if len(text) <= 200 else f"{text[:197]}..."


class Argument(str):
    """The name of an argument, as one of the values of a `Text`."""

    __slots__ = ()


class Wording:
    """How arguments are written in a message: here as in Python; other interfaces have their own."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    def argument(self, name: str) -> str:
        """An argument by its name."""
        return f"`{name}`"

    def setting(self, name: str, value: str) -> str:
        """An argument with the value to pass, which is Python code."""
        return f"{name}={value}"

    def call(self, name: str) -> str:
        """A function to call, without arguments."""
        return f"tm.{name}()"


PYTHON = Wording()


def _parse(template: str) -> Iterable[tuple[str, str | None, str | None, str | None]]:
    from string import Formatter  # only errors need it

    return Formatter().parse(template)


class Text:
    """A text that names arguments, for each interface to write in its own words.

    In the template, `{y_true}` is an argument, `{missing="drop"}` an argument with the value to pass,
    `{list_metrics()}` a function to call, and `{}` the next of the values, which may be any text.

    >>> str(Text('Pass {missing="drop"} to leave out {} rows of {y_true}', 3))
    'Pass missing="drop" to leave out 3 rows of `y_true`'
    """

    def __init__(self, template: str, *values: object) -> None:
        self.template = template
        self.values = tuple(value if isinstance(value, (str, Text)) else str(value) for value in values)

    def write(self, wording: Wording = PYTHON) -> str:
        """The text in the words of an interface."""
        values = iter(self.values)
        written = []
        for literal, field, _, _ in _parse(self.template):
            written.append(literal)
            if field == "":
                value = next(values)
                written.append(wording.argument(value) if isinstance(value, Argument) else write_text(value, wording))
            elif field is not None and field.endswith("()"):
                written.append(wording.call(field.removesuffix("()")))
            elif field is not None:
                name, is_setting, value = field.partition("=")
                written.append(wording.setting(name, value) if is_setting else wording.argument(name))
        return "".join(written)

    def __str__(self) -> str:
        return self.write()

    def __reduce__(self) -> tuple[Any, ...]:
        return Text, (self.template, *self.values)

    def names(self, argument: str) -> bool:
        """Whether the text names this argument."""
        fields = {field.partition("=")[0] for _, field, _, _ in _parse(self.template) if field}
        return argument in fields or any(
            value.names(argument) if isinstance(value, Text) else isinstance(value, Argument) and value == argument
            for value in self.values
        )

    def to_dict(self) -> dict[str, Any]:
        """The template and its values, for JSON."""
        values = [
            value.to_dict()
            if isinstance(value, Text)
            else {"argument": value}
            if isinstance(value, Argument)
            else value
            for value in self.values
        ]
        return {"template": self.template, "values": values}


def write_text(text: str | Text, wording: Wording) -> str:
    """A text in the words of an interface; a plain string is already written."""
    return text.write(wording) if isinstance(text, Text) else text


def _read_text(data: Any) -> Any:
    """What `Text.to_dict` wrote; anything else as it is."""
    if not isinstance(data, dict):
        return data
    return (
        Argument(data["argument"]) if "argument" in data else Text(data["template"], *map(_read_text, data["values"]))
    )


class _Renamed(Wording):
    """Arguments under the names that the caller knows, then in the words of an interface."""

    def __init__(self, names: Mapping[str, str], wording: Wording) -> None:
        self.names = names
        self.wording = wording

    def argument(self, name: str) -> str:
        return self.wording.argument(self.names.get(name, name))

    def setting(self, name: str, value: str) -> str:
        return self.wording.setting(self.names.get(name, name), value)

    def call(self, name: str) -> str:
        return self.wording.call(name)


_FIELDS = ("problem", "argument", "expected", "got", "place", "hint")


class TallymarkError(ValueError):
    """The base of every error that tallymark raises on purpose.

    Most say that an `argument` must do what is `expected` ("be a number"), what it `got` instead, at which `place`
    ("row 3"), and give a `hint` how to fix it. One that does not fit this form states the `problem` in a sentence.
    Fields that do not apply are None; the others are texts. Where `evaluate` could compute other metrics, `report` has
    them.

    >>> str(TallymarkError(argument="beta", expected="be positive", got="-1.0", hint="Pass 1.0 for F1"))
    '`beta` must be positive; got -1.0. Pass 1.0 for F1'
    """

    def __init__(
        self,
        problem: str | Text | None = None,
        *,
        argument: str | None = None,
        expected: str | Text | None = None,
        got: str | Text | None = None,
        place: str | None = None,
        hint: str | Text | None = None,
    ) -> None:
        self.problem = problem
        self.argument = argument
        self.expected = expected
        self.got = got
        self.place = place
        self.hint = hint
        self.report: Any = None
        self._names: dict[str, str] = {}
        super().__init__(self.write())

    def write(self, wording: Wording = PYTHON) -> str:
        """The message in the words of an interface."""
        wording = _Renamed(self._names, wording) if self._names else wording
        if self.problem is not None:
            written = write_text(self.problem, wording)
        else:
            written = f"{wording.argument(self.argument or '')} must {write_text(self.expected or '', wording)}"
            if self.got is not None:
                written += f"; got {write_text(self.got, wording)}"
        if self.place is not None:
            written += f" ({self.place})"
        return written if self.hint is None else f"{written}. {write_text(self.hint, wording)}"

    def names(self, argument: str) -> bool:
        """Whether the message names this argument."""
        return self.argument == argument or any(
            isinstance(text, Text) and text.names(argument)
            for text in (self.problem, self.expected, self.got, self.hint)
        )

    def to_dict(self) -> dict[str, Any]:
        """The class and its fields, for JSON; `from_dict` makes the error again."""
        fields = {key: getattr(self, key) for key in _FIELDS}
        written = {key: value.to_dict() if isinstance(value, Text) else value for key, value in fields.items()}
        return {"error": type(self).__name__, "names": self._names, **written}

    def rename(self, **names: str) -> Self:
        """The same error about arguments that the caller knows under other names."""
        self._names = {**{name: names.get(to, to) for name, to in self._names.items()}, **names}
        if self.argument is not None:
            self.argument = names.get(self.argument, self.argument)
        self.args = (self.write(),)
        return self

    def add_place(self, outer: str) -> Self:
        """The same error with the larger place in which its place is, such as a file."""
        self.place = outer if self.place is None else f"{outer}, {self.place}"
        self.args = (self.write(),)
        return self

    def add_hint(self, hint: str | Text) -> Self:
        """The same error with one more sentence at its end."""
        self.hint = hint if self.hint is None else Text("{}. {}", self.hint, hint)
        self.args = (self.write(),)
        return self

    def __str__(self) -> str:
        return str(self.args[0])


class InputError(TallymarkError):
    """Something is wrong with an array that was given."""


class TypeOfDataError(InputError):
    """The data are not numbers, or not a table of them."""


class ShapeError(InputError):
    """The dimensions or columns of the arrays do not fit."""


class LengthError(InputError):
    """The arrays differ in length."""


class EmptyError(InputError):
    """There are no rows."""


class MissingValueError(InputError):
    """An input holds NaN, infinity or null."""


class WeightError(InputError):
    """The weights are negative, not finite or not one per row."""


class DomainError(InputError):
    """The metric has no meaning for these values."""


class KindError(TallymarkError):
    """The metric cannot read predictions of this kind."""


class ParameterError(TallymarkError):
    """A parameter of a metric or of a call is wrong."""


class UnknownMetricError(ParameterError):
    """No metric has this name."""


class FormulaError(TallymarkError):
    """A formula of the user's own failed."""


class UndefinedError(TallymarkError):
    """The value is undefined, and the metric has `undefined="raise"`."""


class AcceptanceError(TallymarkError):
    """A report does not meet the condition that it was required to."""


class FileError(TallymarkError):
    """A file cannot be read, or lacks what was asked for; `code` is the rule it breaks, where a caller asks for it."""

    def __init__(self, problem: str | Text | None = None, *, code: str = "", **fields: Any) -> None:
        super().__init__(problem, **fields)
        self.code = code


class BoundError(FileError):
    """A file is larger, or unpacks to more, than it may; `code` and `facts` say in which way."""

    def __init__(self, message: str, code: str = "", **facts: object) -> None:
        super().__init__(message, code=code)
        self.facts = facts


class Rejection(TallymarkError):  # noqa: N818 - the word for what happens to a submission
    """A submission is not scored: `problems` are the first 50 of its problems, `total` is how many there are.

    Where they were very many, reading `stopped`, and there may be more. `file` is the one that has the problems:
    "submission", "answers" or "template".
    """

    def __init__(
        self,
        message: str,
        problems: Sequence[Any] = (),
        total: int | None = None,
        stopped: bool = False,
        file: str = "submission",
    ) -> None:
        super().__init__(message)
        self.problems = list(problems)
        self.total = len(self.problems) if total is None else total
        self.stopped = stopped
        self.file = file

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.problems, self.total, self.stopped, self.file)


class StateError(TallymarkError):
    """States do not fit together, or bytes are not a state."""


class MissingPackageError(TallymarkError, ImportError):
    """An optional package is needed and not installed, too old or broken."""


def from_dict(data: Mapping[str, Any]) -> TallymarkError:
    """The error that `TallymarkError.to_dict` wrote, of the base class where this release does not have its own."""
    kind = globals().get(data["error"]) if data["error"] in __all__ else None
    error: TallymarkError = (kind or TallymarkError)("")
    for key in _FIELDS:
        setattr(error, key, _read_text(data[key]))
    return error.rename(**data["names"])
