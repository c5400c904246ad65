"""Problems of a file, reported all at once: each with its code, its place, and how to fix it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Self

MAX_SHOWN = 50
MAX_COUNTED = 10_000  # then the rest of the text is not read


class Rule(NamedTuple):
    """A stable code, a sentence with facts in braces, and how to fix it."""

    code: str
    template: str
    mend: str


TEXT_RULES = {
    rule.code: rule
    for rule in (
        Rule(
            "ragged_row",
            "the row has {count}, the header has {expected}",
            "Quote fields that contain the separator",
        ),
        Rule("bad_quote", "{what}", "Quote the field, and double the quotes inside it"),
        Rule(
            "not_utf8",
            "byte 0x{byte} is not valid UTF-8",
            "Save the file as UTF-8; from Latin-1 with: iconv -f latin1 -t utf-8",
        ),
        Rule("nul_byte", "NUL byte", "Save the file as plain text"),
        Rule("field_too_long", "the field has {count} characters; the limit is {most}", "Shorten it"),
    )
}
"""The rules of CSV as text."""


class Place(NamedTuple):
    """Where something is in a file."""

    line: int | None = None
    column: int | None = None
    row: int | None = None
    field: str | None = None
    id: str | None = None


class Problem(NamedTuple):
    """One problem: the code of its rule, a sentence, where it is, and how to mend it.

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
    mend: str = ""

    @property
    def place(self) -> str:
        """Where it is, in words; empty for the file as a whole."""
        if self.line is not None:
            return f"line {self.line:,}" + ("" if self.column is None else f", column {self.column:,}")
        return "" if self.row is None else f"row {self.row:,}"

    def to_dict(self) -> dict[str, Any]:
        """The problem as plain data."""
        return {key: value for key, value in self._asdict().items() if value is not None}

    def __str__(self) -> str:
        return f"{self.place}: {self.text}" if self.place else self.text


class ProblemGroup(NamedTuple):
    """Problems of a file that differ in their place only: the first of them, and how many there are.

    >>> empty = [Problem("empty_id", "empty id", line) for line in (5, 6, 9)]
    >>> [str(each) for each in group_problems(empty)]
    ['3 rows: empty id, first in line 5']
    """

    first: Problem
    size: int
    unit: str = "rows"
    complete: bool = True
    """Whether all problems of the file were grouped, and not only the first."""

    @property
    def place(self) -> str:
        """Where it is, or how many there are; empty for the file as a whole."""
        if self.size == 1:
            return self.first.place
        return f"{'' if self.complete else 'at least '}{self.size:,} {self.unit}"

    @property
    def text(self) -> str:
        """The sentence, with the place of the first if there are several."""
        return (
            f"{self.first.text}, first in {self.first.place}" if self.size > 1 and self.first.place else self.first.text
        )

    @property
    def mend(self) -> str:
        """How to fix it."""
        return self.first.mend

    def to_dict(self) -> dict[str, Any]:
        """The count and the first problem as plain data."""
        return {"count": self.size, "first": self.first.to_dict()}

    def __str__(self) -> str:
        return f"{self.place}: {self.text}" if self.place else self.text


def group_problems(problems: Sequence[Problem], total: int | None = None) -> list[ProblemGroup]:
    """Problems with the same sentence about the same column as one group, in the order of the first of each. `total` is
    how many the file has, if more than these."""
    groups: dict[object, list[Problem]] = {}
    for each in problems:
        groups.setdefault((each.code, each.text, each.field, each.mend), []).append(each)
    complete = total is None or total == len(problems)
    return [ProblemGroup(alike[0], len(alike), _unit(alike), complete) for alike in groups.values()]


def _unit(alike: Sequence[Problem]) -> str:
    """What to count: rows, unless a row has several of the problems."""
    return "rows" if len({(each.line, each.row) for each in alike}) == len(alike) else "times"


class ProblemList:
    """Problems as they are found: the first are kept, all are counted; `stopped` where there may be more."""

    rules: Mapping[str, Rule] = TEXT_RULES

    def __init__(self, problems: Iterable[Problem] = ()) -> None:
        self.total = 0
        self.stopped = False
        self._kept: list[Problem] = []
        for each in problems:
            self.add(each)

    def add(self, found: Problem) -> None:
        """Note a problem."""
        self.total += 1
        if len(self._kept) < MAX_SHOWN:
            self._kept.append(found)

    def note(self, code: str, line: int | None = None, column: int | None = None, /, **facts: object) -> None:
        """Note the breach of a rule; of many, those beyond the first are only counted."""
        if self.full:
            self.total += 1
        else:
            self.add(problem(self.rules[code], Place(line, column), facts))

    @property
    def full(self) -> bool:
        """Whether there are as many as are shown."""
        return len(self._kept) >= MAX_SHOWN

    def stop(self) -> None:
        """Stop counting: there may be others in what is not read."""
        self.stopped = True

    def count(self, more: int) -> None:
        """Note problems that need not be shown."""
        self.total += more

    def join(self, other: ProblemList) -> Self:
        """Both together."""
        out = type(self)()
        out._kept, out.total = [*self._kept, *other._kept], self.total + other.total
        out.stopped = self.stopped or other.stopped
        return out

    @property
    def shown(self) -> Sequence[Problem]:
        """The first problems, in the order of the file."""
        return sorted(self._kept, key=lambda each: (_order(each.line, each.row), each.column or 0))[:MAX_SHOWN]

    def __bool__(self) -> bool:
        return self.total > 0

    def __str__(self) -> str:
        """The first problem and how many there are in the first line, the others below; those that are alike once."""
        first, *others = group_problems(self.shown, self.total)
        least = "at least " if self.stopped else ""
        more = f" ({least}{self.total:,} problems in all)" if self.total > 1 else ""
        lines = [f"{first}. {first.mend}{more}", *(f"  {each}. {each.mend}" for each in others)]
        hidden = self.total - len(self.shown)
        unread = "the rest was not checked" if self.stopped else ""
        if hidden:
            lines.append(f"  and {least}{hidden:,} more{'; ' * bool(unread)}{unread}")
        elif unread:
            lines.append(f"  {unread}")
        return "\n".join(lines)


def problem(rule: Rule, place: Place, facts: Mapping[str, object]) -> Problem:
    """The breach of a rule, with these facts in its sentence."""
    return Problem(rule.code, rule.template.format(**facts), *place, rule.mend)


def _order(line: int | None, row: int | None) -> int:
    return line if line is not None else -1 if row is None else row
