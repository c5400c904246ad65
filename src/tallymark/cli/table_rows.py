"""The rows of a file as the arguments of a call."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from tallymark.cli.options import intervals_of
from tallymark.errors import KindError, ParameterError, Text, TypeOfDataError
from tallymark.sources.columns import AUTO, NUMBER, side_by_side
from tallymark.sources.csv.fields import TEXT
from tallymark.sources.files import File
from tallymark.sources.streams import Progress

_NUMBERS = ("value", "probability", "margin", "score")  # kinds whose predictions are numbers


def ways_of(options: Mapping[str, Any]) -> dict[str, str]:
    """The columns and how to read them. What a kind asks for as numbers must be numbers."""
    kind, plain = options["kind"], TEXT if options["labels"] else AUTO
    found: dict[str, str] = {}

    def want(names: Sequence[str], way: str) -> None:
        for name in names:
            if way == NUMBER or found.get(name, AUTO) == AUTO:
                found[name] = way

    want(options["truth"], NUMBER if kind == "value" or len(options["truth"]) > 1 else plain)
    want(options["prediction"], NUMBER if kind in _NUMBERS else plain)
    want(options.get("by", ()), AUTO)
    want([name for name in (options["query"], options["cluster"], options.get("keys")) if name], AUTO)
    want([options["weights"]] if options["weights"] else [], NUMBER)
    return found


def to_label(option: str, text: str, truth: Sequence[str], kind: str) -> Any:
    """A label as the truth has it, whose column is of a type: a number where it holds numbers."""
    if kind == TEXT or len(truth) > 1:
        return text
    if kind == "boolean" and text.lower() in ("true", "false"):
        return text.lower() == "true"
    try:
        return int(text)
    except ValueError:
        pass
    raise ParameterError(
        argument=option, expected=f"be a whole number, as the labels in {truth[0]!r} are", got=repr(text)
    )


class FileRows:
    """The columns that the options name, read once."""

    def __init__(self, path: str, options: Mapping[str, Any], progress: Progress | None = None) -> None:
        self._options = options
        wanted = ways_of(options)
        with File(path, separator=options["separator"], progress=progress) as file:
            self._columns = file.read(wanted)

    def array(self, names: Sequence[str]) -> Any:
        """One column as it is, or several side by side."""
        return side_by_side(names, self._columns)

    def named(self, names: Sequence[str]) -> dict[str, Any] | None:
        """Columns under their names; None where there are none."""
        return {name: self._columns[name].values for name in names} or None

    def facts(self) -> dict[str, Any]:
        """The keywords that `evaluate` and `compare` share."""
        given = self._options
        return {
            "metrics": given["metrics"] or None,
            "weights": self.one("weights"),
            "query": self.one("query"),
            "cluster": self.one("cluster"),
            "kind": given["kind"],
            "classes": [self._label("classes", text) for text in given["classes"]] or None,
            "positive": None if given["positive"] is None else self._label("positive", given["positive"]),
            "normalize": given["normalize"],
            "missing": given["missing"],
            "ci": intervals_of(given),
        }

    def classes_of_columns(self) -> list[str] | None:
        """The classes of several columns of predictions by their names, such as p_cat and p_dog; None where the truth
        holds no texts, or there is one column.

        Sorted labels and columns in the order of the file would be a guess that no number shows to be wrong.
        """
        truth, names = self._options["truth"], self._options["prediction"]
        if len(names) == 1 or len(truth) > 1 or self._columns[truth[0]].type != TEXT:
            return None
        held = self._columns[truth[0]].values
        found = held.unique().to_pylist() if hasattr(held, "to_pylist") else list(dict.fromkeys(held.tolist()))
        labels = sorted(label for label in found if label is not None)
        differing = (k for k, signs in enumerate(zip(*names, strict=False)) if len(set(signs)) > 1)
        for start in range(next(differing, 0), -1, -1):
            if set(labels) <= {name[start:] for name in names}:
                return [name[start:] for name in names]
        shown = f"{', '.join(map(repr, labels[:8]))}{', …' if len(labels) > 8 else ''}"
        raise ParameterError(
            Text(
                "{classes} must say of which class each column of {prediction} is, in their "
                "order, since the names of the columns do not; the labels in {} are {}",
                repr(truth[0]),
                shown,
            ),
            argument="classes",
        )

    def one(self, option: str) -> Any:
        """The column that an option names; None where it names none."""
        name = self._options[option]
        return None if name is None else self._columns[name].values

    def _label(self, option: str, text: str) -> Any:
        truth = self._options["truth"]
        return to_label(option, text, truth, self._columns[truth[0]].type)

    @contextmanager
    def explained(self) -> Iterator[None]:
        """Where a call cannot read texts among numbers, its error says which text that was."""
        try:
            yield
        except (TypeOfDataError, KindError) as error:
            for name, column in self._columns.items():
                if column.odd is not None:
                    row, text = column.odd
                    error.add_hint(f"Column {name!r} was read as text, since row {row:,} is {text[:40]!r}")
                    break
            raise
