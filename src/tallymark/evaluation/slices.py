"""Slices: a report for every group of the rows."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from tallymark.errors import ParameterError, Text, brief
from tallymark.evaluation.report import VALUE_TYPES, Cell, Report, show_interval, why
from tallymark.metrics.answer import Answer
from tallymark.metrics.base import Metric
from tallymark.metrics.fairness.base import GroupMetric, show_group
from tallymark.metrics.fairness.gaps import gap, ratio, worst
from tallymark.rendering.exports import Frames
from tallymark.rendering.html import to_html
from tallymark.rendering.table import Table, together
from tallymark.rendering.text import first_of, to_text
from tallymark.states.groups import Group

_MOST = 6  # notes of a kind, in print

_KINDS: tuple[Callable[[Cell], Iterable[str]], ...] = (
    lambda cell: filter(None, [why(cell)]),
    lambda cell: cell.value_notes,
    lambda cell: map(str, cell.interval_notes),
)
Places = list[tuple[str, Group]]  # the key of a metric, and a group


def notes_of_groups(reports: Mapping[Group, Report], metrics: Sequence[str], shown: Collection[Group]) -> list[str]:
    """Why values are missing, then what to know about values, then about intervals; of many those that most of the
    values of the groups `shown` have.

    The kinds are cut one by one, as each group may have a note on its intervals that no other has, and those would hide
    what the values are made of.
    """
    cells = [((key, group), report.cell(key)) for key in metrics for group, report in reports.items()]
    found = [together((text, place) for place, cell in cells for text in texts(cell)) for texts in _KINDS]

    def seen(note: tuple[str, Places]) -> int:
        return sum(group in shown for _, group in note[1])

    ranked = [sorted(notes.items(), key=seen, reverse=True) for notes in found]
    lines = [f"{_belongs_to(places)}: {text}" for notes in ranked for text, places in notes[:_MOST]]
    more = sum(map(len, ranked)) - len(lines)
    if more:
        lines.append(f"{more:,} more note{'' if more == 1 else 's'}: see .slices.to_pandas() or the report as CSV")
    return lines


def _belongs_to(places: Places) -> str:
    """Metrics and their groups; metrics with the same groups together."""
    groups_of = together(places)
    same = together((tuple(groups), key) for key, groups in groups_of.items())
    parts = [f"{first_of(keys)} for {first_of(list(map(show_group, groups)))}" for groups, keys in same.items()]
    return first_of(parts, "; ")


_MOST_GROUPS = 20  # in print
_FEW = 30  # rows of a group whose values vary much by chance


class Compared(float):
    """A number made of the values of groups; `notes` say of which."""

    __slots__ = ("notes", "reason")
    notes: tuple[str, ...]
    reason: str | None


class Slices(Mapping[Group, Report], Frames):
    """The reports of all groups by their label, or by a tuple of labels where several columns make a group.

    `gap`, `ratio` and `worst` compare the groups by a metric of the report.
    """

    def __init__(self, names: tuple[str, ...], reports: dict[Group, Report], min_rows: int = 1) -> None:
        self.names = names
        self.min_rows = min_rows
        self._reports = reports

    def __getitem__(self, group: Group) -> Report:
        try:
            return self._reports[group]
        except (KeyError, TypeError):
            known = ", ".join(map(repr, list(self._reports)[:6]))
            more = ", …" if len(self._reports) > 6 else ""
            raise KeyError(f"there is no group {brief(group)}; there are {known}{more}") from None

    def __iter__(self) -> Iterator[Group]:
        return iter(self._reports)

    def __len__(self) -> int:
        return len(self._reports)

    @property
    def sizes(self) -> dict[Group, int]:
        """How many rows each group has."""
        return {group: report.n for group, report in self._reports.items()}

    def gap(self, metric: str | Metric) -> Compared:
        """The highest value of a metric in the groups less the lowest."""
        return self._compare(metric, gap)

    def ratio(self, metric: str | Metric) -> Compared:
        """The lowest value of a metric in the groups over the highest."""
        return self._compare(metric, ratio)

    def worst(self, metric: str | Metric) -> Compared:
        """The value of a metric in the group where it is worst."""
        return self._compare(metric, worst)

    def _compare(self, key: str | Metric, how: Any) -> Compared:
        cells = {group: report.cell(key) for group, report in self._reports.items()}
        if not any(n >= self.min_rows for n in self.sizes.values()):
            raise ParameterError(
                Text("{min_rows} leaves no group: none has {} rows", f"{self.min_rows:,}"), argument="min_rows"
            )
        combined: GroupMetric = how(next(iter(cells.values())).metric)
        answers = {group: Answer(cell.value, cell.reason) for group, cell in cells.items() if cell.n >= self.min_rows}
        found = combined.compare([answers], self.sizes, self.min_rows)
        out = Compared(found.value)
        out.notes, out.reason = found.notes, found.reason
        return out

    def to_dict(self) -> dict[str, Any]:
        """The reports of all groups as plain data."""
        return {
            "by": list(self.names),
            "groups": [
                {"group": dict(zip(self.names, _labels(group), strict=True)), **report.to_dict()}
                for group, report in self._reports.items()
            ],
        }

    def _frame(self) -> Mapping[str, Any]:
        return self.columns()

    def columns(self) -> dict[str, list[Any]]:
        """One row per group and value: what the data frames hold."""
        names = [f"{name} (group)" if name in VALUE_TYPES else name for name in self.names]
        out: dict[str, list[Any]] = {name: [] for name in (*names, *VALUE_TYPES)}
        for group, report in self._reports.items():
            held = report.columns()
            rows = len(held["metric"])
            labels = {name: [label] * rows for name, label in zip(names, _labels(group), strict=True)}
            for name, column in {**labels, **held}.items():
                out[name].extend(column)
        return out

    @property
    def _types(self) -> Mapping[str, type]:  # type: ignore[override]
        """Labels are as they were given; without a group, texts."""
        return VALUE_TYPES if self._reports else {**dict.fromkeys(self.columns(), str), **VALUE_TYPES}

    def table(self, whole: Report | None = None, *, intervals: bool = True) -> Table:
        """One row per group, one column per metric with one number; all rows last, where their report is given."""
        first = self._first()
        metrics = [key for key, cell in first.items() if cell is not None]
        settings = next((report.interval for report in self._reports.values()), None) if intervals else None
        shown = dict(list(self.items())[:_MOST_GROUPS])
        rows = [
            self._row(_labels(group), report, metrics, intervals=settings is not None)
            for group, report in shown.items()
        ]
        if whole is not None:
            total = "all rows" if any("all" in _labels(group) for group in self) else "all"
            labels = (total, *[""] * (len(self.names) - 1))
            rows.append(self._row(labels, whole, metrics, intervals=settings is not None))
        notes = []
        if len(self) > _MOST_GROUPS:
            notes.append(f"{len(self) - _MOST_GROUPS:,} more groups: see .slices.to_pandas()")
        few = [show_group(group) for group, n in self.sizes.items() if n < _FEW]
        if few:
            notes.append(f"groups of few rows, whose values vary much by chance: {first_of(few)}")
        left = [show_group(group) for group, n in self.sizes.items() if n < self.min_rows]
        if left:
            notes.append(f"not compared, of fewer than {self.min_rows:,} rows: {first_of(left)}")
        notes += self._note_on_others([key for key, cell in first.items() if cell is None])
        notes += notes_of_groups(self, metrics, shown)
        title = f"by {', '.join(self.names)} · {len(self):,} group{'' if len(self) == 1 else 's'}"
        columns = metrics if settings is None else [name for key in metrics for name in (key, settings.heading())]
        names = [f"{name} (group)" if name in ("rows", *columns) else name for name in self.names]
        return Table(title, (*names, "rows", *columns), rows, notes, numbers=("rows", *metrics))

    def _first(self) -> dict[str, Any]:
        """The keys of the metrics, with a cell of those that have one number."""
        found: dict[str, Any] = {}
        for report in self._reports.values():
            for key in report:
                cell = report.cell(key)
                parts = [] if cell.shows_itself else cell.parts()
                if len(parts) != 1 or parts[0][0] is not None:  # in any group: one without a value looks like a number
                    found[key] = None
                found.setdefault(key, cell)
        return found

    def _note_on_others(self, keys: list[str]) -> list[str]:
        """Where metrics are that have no column."""
        if not keys:
            return []
        return [f"{first_of(keys)}: several numbers for each group, which are in its report and in JSON"]

    @staticmethod
    def _row(labels: tuple[Any, ...], report: Report, metrics: list[str], *, intervals: bool) -> tuple[Any, ...]:
        shown: list[Any] = []
        for cell in map(report.cell, metrics):
            shown.append(cell.shown(cell.parts()[0][1]))
            if intervals:
                shown.append("" if cell.bounded else show_interval(cell.lo, cell.hi))
        return (*map(str, labels), report.n, *shown)

    def __repr__(self) -> str:
        return to_text(self.table())

    def _repr_html_(self) -> str:
        return to_html(self.table())


def _labels(group: Group) -> tuple[Any, ...]:
    return group if isinstance(group, tuple) else (group,)
