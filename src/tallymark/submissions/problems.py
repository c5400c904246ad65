"""What is wrong with a submission, all at once: each problem with its code, its place, and how to mend it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from tallymark.errors import Rejection
from tallymark.submissions.rules import RULES

MOST_SHOWN = 50
MOST_COUNTED = 10_000  # that are looked for in a text: a file of nothing else is not read to its end


class Problem(NamedTuple):
    """One problem: the code of its rule, a sentence, and where it is.

    `line` and `column` count from 1, characters in the line; `row` counts from 0 and has no header; `field` is the name
    of a column.
    """

    code: str
    text: str
    line: int | None = None
    column: int | None = None
    row: int | None = None
    field: str | None = None
    id: str | None = None

    @property
    def mend(self) -> str:
        """What to do about it."""
        return RULES[self.code].mend

    @property
    def place(self) -> str:
        """Where it is, in words; empty for the file as a whole."""
        if self.line is not None:
            return f"line {self.line:,}" + ("" if self.column is None else f", column {self.column:,}")
        return "" if self.row is None else f"row {self.row:,}"

    def to_dict(self) -> dict[str, Any]:
        """The problem as plain data."""
        return {**{key: value for key, value in self._asdict().items() if value is not None}, "mend": self.mend}

    def __str__(self) -> str:
        return f"{self.place}: {self.text}" if self.place else self.text


def problem(code: str, place: Place | None = None, **facts: object) -> Problem:
    """The problem of a rule, with these facts in its sentence."""
    where = Place() if place is None else place
    return Problem(code, RULES[code].says.format(**facts), *where)


class Place(NamedTuple):
    """Where something stands in a file."""

    line: int | None = None
    column: int | None = None
    row: int | None = None
    field: str | None = None
    id: str | None = None


class Found:
    """Problems as they are found: the first are kept, all are counted; `stopped` where there may be more."""

    def __init__(self, problems: Iterable[Problem] = ()) -> None:
        self.total = 0
        self.stopped = False
        self._kept: list[Problem] = []
        for each in problems:
            self.add(each)

    def add(self, found: Problem) -> None:
        """Note a problem."""
        self.total += 1
        if len(self._kept) < MOST_SHOWN:
            self._kept.append(found)

    def note(self, code: str, line: int | None = None, column: int | None = None, /, **facts: object) -> None:
        """Note the breach of a rule; of many, those beyond the first are only counted."""
        if self.full:
            self.total += 1
        else:
            self.add(problem(code, Place(line, column), **facts))

    @property
    def full(self) -> bool:
        """Whether there are as many as are shown."""
        return len(self._kept) >= MOST_SHOWN

    def stop(self) -> None:
        """Look for no more of them: there may be others in what is not read."""
        self.stopped = True

    def count(self, more: int) -> None:
        """Note problems that need not be shown."""
        self.total += more

    def join(self, other: Found) -> Found:
        """Both together."""
        out = Found()
        out._kept, out.total = [*self._kept, *other._kept], self.total + other.total
        out.stopped = self.stopped or other.stopped
        return out

    @property
    def shown(self) -> Sequence[Problem]:
        """The first problems, in the order of the file."""
        return sorted(self._kept, key=lambda each: (_order(each.line, each.row), each.column or 0))[:MOST_SHOWN]

    def __bool__(self) -> bool:
        return self.total > 0


def _order(line: int | None, row: int | None) -> int:
    return line if line is not None else -1 if row is None else row


def rejection(name: str, found: Found, shown: str | None = None) -> Rejection:
    """The error that has all problems: the first in its first line, the others below. A file is `shown` by its path."""
    first, *others = found.shown
    least = "at least " if found.stopped else ""
    more = f" ({least}{found.total:,} problems in all)" if found.total > 1 else ""
    lines = [f"{shown or name} was rejected: {first}. {first.mend}{more}"]
    lines += [f"  {each}. {each.mend}" for each in others]
    hidden = found.total - len(others) - 1
    unread = "the rest was not looked at" if found.stopped else ""
    if hidden:
        lines.append(f"  and {least}{hidden:,} more{'; ' * bool(unread)}{unread}")
    elif unread:
        lines.append(f"  {unread}")
    return Rejection("\n".join(lines), [first, *others], found.total, stopped=found.stopped, file=name.strip("`"))
