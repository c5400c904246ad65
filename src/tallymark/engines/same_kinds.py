"""Whether files with types hold the same kind of values under a name, before any of their rows are read."""

from __future__ import annotations

from collections.abc import Sequence

from tallymark.engines.columns import kind_of
from tallymark.engines.fields import TEXT
from tallymark.engines.files import File
from tallymark.errors import TypeOfDataError


class SameKinds:
    """What columns hold in the files so far: numbers or texts, and which file said so first."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[bool, str, str]] = {}

    def check(self, file: File, columns: Sequence[str]) -> None:
        """Refuse a file whose column holds texts where another has numbers, or the other way round."""
        for column in columns if file.schema is not None and any(file.parts or ()) else ():
            shown = str(file.schema.field(file.find(column)).type)
            kind = kind_of(file.schema.field(file.find(column)).type)
            if not kind:
                continue
            text, first, before = self._known.setdefault(column, (kind == TEXT, file.name, shown))
            if (kind == TEXT) != text:
                raise TypeOfDataError(
                    f"column {column!r} must hold numbers or texts in all files; it is {before} in {first} and "
                    f"{shown} in {file.name}"
                )
