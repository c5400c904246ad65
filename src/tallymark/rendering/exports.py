"""How results are exported: CSV, JSON, data frames, HTML, Markdown and files; packages load only when used."""

from __future__ import annotations

import importlib
import math
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from tallymark.data.arguments import check_path
from tallymark.errors import ParameterError, brief
from tallymark.optional_packages import needed

if TYPE_CHECKING:
    from tallymark.rendering.document import Document
    from tallymark.rendering.table import Table


def to_csv(columns: Mapping[str, Sequence[Any]]) -> str:
    """A line of names, then a line per row; what is undefined is empty, and every float reads back as itself."""
    import csv  # slow to load, and few ask
    import io

    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*([_csv_value(value) for value in column] for column in columns.values()), strict=True))
    return out.getvalue()


def _csv_value(value: Any) -> Any:
    if isinstance(value, float):
        return "" if math.isnan(value) else repr(float(value))
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()  # half a sign can be in no file
    return "" if value is None else value


def to_json(data: Any, indent: int | None = 2) -> str:
    """The data as JSON that every reader accepts."""
    import json  # slow to load, and few ask

    if indent is not None and (type(indent) is not int or not 0 <= indent <= 100):
        raise ParameterError(
            argument="indent", expected="be a number of spaces from 0 to 100, or None", got=brief(indent)
        )
    text = json.dumps(_replace_infinities(data), indent=indent, allow_nan=False, ensure_ascii=False)
    return text.encode("utf-8", "backslashreplace").decode()  # half a sign is written as JSON does


def _replace_infinities(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _replace_infinities(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_replace_infinities(item) for item in value]
    return value


_PACKAGES = {"pandas": ("pandas", "DataFrame"), "polars": ("polars", "DataFrame"), "arrow": ("pyarrow", "table")}


def to_frame(columns: Mapping[str, Any], form: str, types: Mapping[str, type]) -> Any:
    """The columns as a table of the package that `form` names: pandas, polars or arrow.

    `types` say which columns hold str, float or int, whatever their values: a column of only None, or of no rows,
    has the type that it has with others, so that the tables of several days can be joined.
    """
    package, constructor = _PACKAGES[form]
    types_of_package: dict[type | None, Any]
    with needed(f"to_{form}()", package):
        module = importlib.import_module(package)
    if form == "polars":
        types_of_package = {str: module.String, float: module.Float64, int: module.Int64}
        return module.DataFrame(
            columns, schema_overrides={key: types_of_package[types[key]] for key in columns if key in types}
        )
    if form == "arrow":
        types_of_package = {str: module.string(), float: module.float64(), int: module.int64()}
        columns = {key: module.array(column, types_of_package.get(types.get(key))) for key, column in columns.items()}
    else:
        types_of_package = {str: module.Series(["text"]).dtype, float: "float64", int: "int64"}
        columns = {
            key: module.Series(column, dtype=types_of_package.get(types.get(key), _dtype_of_labels(column)))
            for key, column in columns.items()
        }
    return getattr(module, constructor)(columns)


def _dtype_of_labels(column: Any) -> str | None:
    """Whole numbers of which some are missing stay whole in pandas."""
    return "Int64" if isinstance(column, list) and set(map(type, column)) == {int, type(None)} else None


class DataFrameExport(ABC):
    """Something whose rows can be had as a data frame."""

    __slots__ = ()
    _types: ClassVar[
        Mapping[str, type]
    ] = {}  # of columns: str, which may be None, float or int; others by their values

    @abstractmethod
    def _frame(self) -> Mapping[str, Any]:
        """The columns of a data frame."""

    def to_pandas(self) -> Any:
        """The rows as a pandas data frame."""
        return to_frame(self._frame(), "pandas", self._types)

    def to_polars(self) -> Any:
        """The rows as a Polars data frame, whose types do not depend on the values."""
        return to_frame(self._frame(), "polars", self._types)

    def to_arrow(self) -> Any:
        """The rows as an Arrow table, whose types do not depend on the values."""
        return to_frame(self._frame(), "arrow", self._types)


class DocumentExport(ABC):
    """Something that can be shown as tables and as a document."""

    @abstractmethod
    def _tables(self) -> Sequence[Table]:
        """The tables that print and terminal show."""

    @abstractmethod
    def _document(self, title: str | None, command: str | None, *, pictures: bool) -> Document:
        """All there is to show, as data."""

    @abstractmethod
    def _rows(self) -> Mapping[str, Sequence[Any]]:
        """The columns of the CSV file."""

    @abstractmethod
    def to_json(self, *, indent: int | None = 2) -> str:
        """All values as JSON."""

    def to_html(self, title: str | None = None, command: str | None = None) -> str:
        """The whole as one HTML file that needs nothing else, with plots, tables, and how to make it again.

        `command` is the command line that made it, if one did. The plots need matplotlib.
        """
        from tallymark.rendering.html_page import to_page  # few ask

        _check_title_and_command(title, command)
        return to_page(self._document(title, command, pictures=True))

    def to_markdown(self, title: str | None = None, command: str | None = None) -> str:
        """The whole as Markdown, without plots."""
        from tallymark.rendering.markdown import to_markdown

        _check_title_and_command(title, command)
        return to_markdown(self._document(title, command, pictures=False))

    def to_csv(self, *more: object) -> str:
        """One line per value as CSV; what is undefined is empty. `save("report.csv")` writes the file."""
        if more:
            _refuse_path(more[0])
        return to_csv(self._rows())

    def to_terminal(self, *, colour: bool = True, width: int | None = None) -> str:
        """The tables as text for a terminal of a width, with colours unless NO_COLOR is set. Needs rich."""
        from tallymark.rendering.terminal import to_terminal

        if width is not None and (type(width) is not int or width < 1):
            raise ParameterError(argument="width", expected="be a positive integer, or None", got=brief(width))
        return to_terminal(self._tables(), colour=colour is not False, width=width)

    def __rich__(self) -> Any:
        """What a rich console prints."""
        from tallymark.rendering.terminal import TerminalTables

        return TerminalTables(self._tables())

    def save(self, path: str | os.PathLike[str], *, title: str | None = None, command: str | None = None) -> None:
        """Write a file as its name ends: .html, .md, .json or .csv. It is written whole or not at all."""
        from tallymark.rendering.files import write_atomically

        forms: dict[str, Callable[[], str]] = {
            ".html": lambda: self.to_html(title, command),
            ".md": lambda: self.to_markdown(title, command),
            ".json": self.to_json,
            ".csv": self.to_csv,
        }
        place = check_path(path)
        ending = Path(place).suffix.lower()
        if ending not in forms:
            raise ParameterError(argument="path", expected=f"end in {', '.join(forms)}", got=repr(place))
        write_atomically(place, forms[ending]())


def _check_title_and_command(title: object, command: object) -> None:
    for name, text in (("title", title), ("command", command)):
        if text is not None and not isinstance(text, str):
            raise ParameterError(argument=name, expected="be a string or None", got=brief(text))
    if isinstance(title, str) and title.endswith((".html", ".md")):
        _refuse_path(title)


def _refuse_path(path: object) -> None:
    """Reject a file where the text is returned."""
    raise ParameterError(f"the text is returned, not written to {brief(path)}", hint=f"Call save({brief(path)})")
