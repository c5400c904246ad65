"""The columns that the options of a command name, read from a file as the arguments of a call."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from tallymark.cli.options import intervals_of
from tallymark.errors import KindError, ParameterError, Text, TypeOfDataError
from tallymark.sources.base import ProgressCallback
from tallymark.sources.columns import AUTO, NUMBER, stack_columns
from tallymark.sources.csv.fields import TEXT
from tallymark.sources.files import File

_NUMERIC_KINDS = ("value", "probability", "margin", "score")


def columns_to_read(options: Mapping[str, Any]) -> dict[str, str]:
    """The columns that the options name, each as number, text or auto. What a kind takes as numbers must be numbers."""
    kind, default = options["kind"], TEXT if options["labels"] else AUTO
    columns: dict[str, str] = {}

    def add(names: Sequence[str], read_as: str) -> None:
        for name in names:
            if read_as == NUMBER or columns.get(name, AUTO) == AUTO:
                columns[name] = read_as

    add(options["truth"], NUMBER if kind == "value" or len(options["truth"]) > 1 else default)
    add(options["prediction"], NUMBER if kind in _NUMERIC_KINDS else default)
    add(options.get("by", ()), AUTO)
    add([name for name in (options["query"], options["cluster"], options.get("keys")) if name], AUTO)
    add([options["weights"]] if options["weights"] else [], NUMBER)
    return columns


def parse_label(option: str, text: str, truth: Sequence[str], kind: str) -> Any:
    """A label of an option, as a number where the column of the truth holds numbers."""
    if kind == TEXT or len(truth) > 1:
        return text
    if kind == "boolean" and text.lower() in ("true", "false"):
        return text.lower() == "true"
    try:
        return int(text)
    except ValueError:
        pass
    raise ParameterError(argument=option, expected=f"be an integer, like the labels in {truth[0]!r}", got=repr(text))


class FileColumns:
    """The columns that the options name, read once."""

    def __init__(self, path: str, options: Mapping[str, Any], progress: ProgressCallback | None = None) -> None:
        self._options = options
        with File(path, separator=options["separator"], progress=progress) as file:
            self._columns = file.read(columns_to_read(options))

    def array(self, names: Sequence[str]) -> Any:
        """One column as it is, or several side by side."""
        return stack_columns(names, self._columns)

    def by_name(self, names: Sequence[str]) -> dict[str, Any] | None:
        """Columns under their names; None where there are none."""
        return {name: self._columns[name].values for name in names} or None

    def keywords(self) -> dict[str, Any]:
        """The keywords that `evaluate` and `compare` share."""
        given = self._options
        return {
            "metrics": given["metrics"] or None,
            "weights": self.column("weights"),
            "query": self.column("query"),
            "cluster": self.column("cluster"),
            "kind": given["kind"],
            "classes": [self._parse_label("classes", text) for text in given["classes"]] or None,
            "positive": None if given["positive"] is None else self._parse_label("positive", given["positive"]),
            "normalize": given["normalize"],
            "missing": given["missing"],
            "ci": intervals_of(given),
        }

    def classes_from_names(self) -> list[str] | None:
        """The classes of several columns of predictions by their names, such as p_cat and p_dog; None where the truth
        holds no texts, or there is one column.

        Sorted labels and columns in the order of the file would be a guess that no number shows to be wrong.
        """
        truth, names = self._options["truth"], self._options["prediction"]
        if len(names) == 1 or len(truth) > 1 or self._columns[truth[0]].type != TEXT:
            return None
        values = self._columns[truth[0]].values
        distinct = values.unique().to_pylist() if hasattr(values, "to_pylist") else list(dict.fromkeys(values.tolist()))
        labels = sorted(label for label in distinct if label is not None)
        differing = (k for k, signs in enumerate(zip(*names, strict=False)) if len(set(signs)) > 1)
        for start in range(next(differing, 0), -1, -1):
            if set(labels) <= {name[start:] for name in names}:
                return [name[start:] for name in names]
        shown = f"{', '.join(map(repr, labels[:8]))}{', …' if len(labels) > 8 else ''}"
        raise ParameterError(
            Text(
                "{classes} must name the class of each column of {prediction}, in their "
                "order, since the names of the columns do not; the labels in {} are {}",
                repr(truth[0]),
                shown,
            ),
            argument="classes",
        )

    def column(self, option: str) -> Any:
        """The column that an option names; None where it names none."""
        name = self._options[option]
        return None if name is None else self._columns[name].values

    def _parse_label(self, option: str, text: str) -> Any:
        truth = self._options["truth"]
        return parse_label(option, text, truth, self._columns[truth[0]].type)

    @contextmanager
    def explain_types(self) -> Iterator[None]:
        """Where a call fails since a column is text, add to its error which field made it text."""
        try:
            yield
        except (TypeOfDataError, KindError) as error:
            for name, column in self._columns.items():
                if column.non_number is not None:
                    row, text = column.non_number
                    error.add_hint(f"Column {name!r} was read as text because row {row:,} is {text[:40]!r}")
                    break
            raise
