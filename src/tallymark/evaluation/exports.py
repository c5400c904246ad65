"""What reports and comparisons share: to be written for people, to a page, to Markdown, to a terminal, to a file."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tallymark.data.arguments import check_path
from tallymark.errors import ParameterError, brief

if TYPE_CHECKING:
    from tallymark.rendering.document import Document
    from tallymark.rendering.table import Table


class Exports(ABC):
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

        _check_texts(title, command)
        return to_page(self._document(title, command, pictures=True))

    def to_markdown(self, title: str | None = None, command: str | None = None) -> str:
        """The whole as Markdown, without plots."""
        from tallymark.rendering.markdown import to_markdown

        _check_texts(title, command)
        return to_markdown(self._document(title, command, pictures=False))

    def to_csv(self) -> str:
        """One line per value as CSV; what is undefined is empty."""
        from tallymark.rendering.exports import to_csv

        return to_csv(self._rows())

    def to_terminal(self, *, colour: bool = True, width: int | None = None) -> str:
        """The tables as text for a terminal of a width, with colours unless NO_COLOR is set. Needs rich."""
        from tallymark.rendering.terminal import to_terminal

        if width is not None and (type(width) is not int or width < 1):
            raise ParameterError(
                argument="width", expected="be a number of columns from 1 on, or None", got=brief(width)
            )
        return to_terminal(self._tables(), colour=colour is not False, width=width)

    def __rich__(self) -> Any:
        """What a rich console prints."""
        from tallymark.rendering.terminal import ForTerminal

        return ForTerminal(self._tables())

    def save(self, path: str | os.PathLike[str], *, title: str | None = None, command: str | None = None) -> None:
        """Write a file as its name ends: .html, .md, .json or .csv. It is written whole or not at all."""
        from tallymark.rendering.files import write_whole

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
        write_whole(place, forms[ending]())


def _check_texts(title: object, command: object) -> None:
    for name, text in (("title", title), ("command", command)):
        if text is not None and not isinstance(text, str):
            raise ParameterError(argument=name, expected="be a text or None", got=brief(text))
