"""Slices: a report for every group of the rows, and comparisons of the groups by a metric: gap, ratio, worst."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from tallymark.errors import ParameterError, Text, brief
from tallymark.evaluation.report import MOST_GROUPS, VALUE_TYPES, Cell, Report, reason_text
from tallymark.metrics.answer import Answer
from tallymark.metrics.base import Metric
from tallymark.metrics.fairness.base import GroupMetric, show_group
from tallymark.metrics.fairness.gaps import gap, ratio, worst
from tallymark.rendering.exports import DataFrameExport
from tallymark.rendering.html_table import to_html
from tallymark.rendering.table import Name, ShownNumber, Table, group_by_first
from tallymark.rendering.text import list_first, print_width, to_text
from tallymark.states.groups import Group

MOST_LISTED_GROUPS = 1_000  # in a table of all
_MOST_NOTES = 3  # notes of a kind, in print

_NOTES_BY_KIND: tuple[Callable[[Cell], Iterable[str]], ...] = (
    lambda cell: filter(None, [reason_text(cell)]),
    lambda cell: cell.value_notes,
    lambda cell: map(str, cell.interval_notes),
)
NotePlaces = list[tuple[str, Group]]  # the name of a metric, and a group


def group_notes(
    reports: Mapping[Group, Report], metrics: Sequence[str], shown: Collection[Group], whole: Report | None = None
) -> list[str]:
    """Why values are missing, then what to know about values, then about intervals; of many those that most of the
    values of the groups `shown` have, and none that the report of all rows, `whole`, has itself.

    The kinds are cut one by one, as each group may have a note on its intervals that no other has, and those would hide
    what the values are made of.
    """
    cells = [
        (
            (report.display_name(key, positive=False), group),
            report.cell(key),
            None if whole is None or key not in list(whole) else whole.cell(key),
        )
        for key in metrics
        for group, report in reports.items()
    ]
    texts_by_kind = [
        group_by_first(
            (text, place)
            for place, cell, cell_of_all in cells
            for text in texts(cell)
            if cell_of_all is None or text not in texts(cell_of_all)
        )
        for texts in _NOTES_BY_KIND
    ]

    def shown_groups(note: tuple[str, NotePlaces]) -> int:
        return sum(group in shown for _, group in note[1])

    ranked = [sorted(notes.items(), key=shown_groups, reverse=True) for notes in texts_by_kind]
    lines = [
        f"{_name_places(places, len(reports))}: {text}" for notes in ranked for text, places in notes[:_MOST_NOTES]
    ]
    more = sum(map(len, ranked)) - len(lines)
    if more:
        lines.append(f"{more:,} more note{'' if more == 1 else 's'}: see .slices.to_pandas() or the report as CSV")
    return lines


def _name_places(places: NotePlaces, total: int) -> str:
    """Metrics and their groups; metrics with the same groups together."""
    groups_of = group_by_first(places)
    same = group_by_first((tuple(groups), key) for key, groups in groups_of.items())
    parts = [f"{list_first(keys)} for {_name_groups(groups, total)}" for groups, keys in same.items()]
    return list_first(parts, "; ")


def _name_groups(groups: Collection[Group], total: int) -> str:
    """The first groups, and how many more there are; names with commas, such as (0, 1], between semicolons."""
    if len(groups) == total > _FEW_GROUPS:
        return f"all {total:,} groups"
    names = list(map(show_group, groups))
    return list_first(names, "; " if any("," in name for name in names) else ", ")


_FEW_GROUPS = 3  # which a note names one by one
_FEW_ROWS = 30  # rows of a group whose values vary much by chance


class GroupStatistic(float):
    """A number made of the values of groups; `notes` say of which."""

    __slots__ = ("notes", "reason")
    notes: tuple[str, ...]
    reason: str | None


class Slices(Mapping[Group, Report], DataFrameExport):
    """The reports of all groups by label, or by a tuple of labels if several columns make a group.

    `gap`, `ratio` and `worst` compare the groups by a metric of the report.
    """

    def __init__(
        self,
        names: tuple[str, ...],
        reports: dict[Group, Report],
        min_rows: int = 1,
        by_column: Iterable[Slices] = (),
    ) -> None:
        self.names = names
        self.min_rows = min_rows
        self.read_column: Callable[[str], Slices] | None = None
        """Reads the groups of one column where there are several; None where rows and states are gone."""
        self._reports = reports
        self._by_column = {each.names[0]: each for each in by_column}

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "read_column": None}  # which holds the rows

    @property
    def has_columns(self) -> bool:
        """Whether the groups of each column can be read."""
        return self.read_column is not None or set(self.names) <= set(self._by_column)

    def by(self, name: str) -> Slices:
        """The groups of one column alone, if several columns make the groups.

        >>> import tallymark as tm
        >>> by = {"site": ["a", "a", "b", "b"], "sex": ["f", "m", "f", "m"]}
        >>> slices = tm.evaluate([1.0, 2.0, 3.0, 4.0], [1.0, 3.0, 3.0, 7.0], ["mae"], by=by).slices
        >>> slices["b", "m"]["mae"], slices.by("site")["b"]["mae"]
        (3.0, 1.5)
        """
        if name not in self.names:
            raise ParameterError(argument="name", expected=f"be one of {', '.join(self.names)}", got=brief(name))
        if len(self.names) == 1:
            return self
        if name not in self._by_column:
            if self.read_column is None:
                raise ParameterError(
                    "the groups of one column cannot be read from this report: its rows and states are gone",
                    hint="Evaluate with this column alone",
                )
            self._by_column[name] = self.read_column(name)
        return self._by_column[name]

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
        """The number of rows of each group."""
        return {group: report.n for group, report in self._reports.items()}

    def gap(self, metric: str | Metric) -> GroupStatistic:
        """The highest value of a metric among the groups minus the lowest."""
        return self._compare(metric, gap)

    def ratio(self, metric: str | Metric) -> GroupStatistic:
        """The lowest value of a metric among the groups divided by the highest."""
        return self._compare(metric, ratio)

    def worst(self, metric: str | Metric) -> GroupStatistic:
        """The value of a metric in its worst group."""
        return self._compare(metric, worst)

    def _compare(self, key: str | Metric, how: Any) -> GroupStatistic:
        if not any(n >= self.min_rows for n in self.sizes.values()):
            raise ParameterError(
                Text("{min_rows} excludes every group: none has {} rows", f"{self.min_rows:,}"), argument="min_rows"
            )
        answer = self._answer(how(next(iter(self._reports.values())).cell(key).metric))
        out = GroupStatistic(answer.value)
        out.notes, out.reason = answer.notes, answer.reason
        return out

    def _answer(self, item: GroupMetric) -> Answer:
        """The answer of a metric that compares the groups; its notes show values as the tables of groups do."""
        answers = [
            {group: _shown_answer(report.cell(one)) for group, report in self._reports.items()} for one in item.of
        ]
        return item.compare(answers, self.sizes, self.min_rows)

    def to_dict(self) -> dict[str, Any]:
        """The reports of all groups as plain data; of several columns, also those of the groups of each column."""
        by_column = self.names if len(self.names) > 1 and self.has_columns else ()
        return {
            "by": list(self.names),
            **({"min_rows": self.min_rows} if self.min_rows != 1 else {}),
            "groups": [
                {"group": dict(zip(self.names, _labels(group), strict=True)), **report.to_dict()}
                for group, report in self._reports.items()
            ],
            **({"by_column": [self.by(name).to_dict() for name in by_column]} if by_column else {}),
        }

    def _frame(self) -> Mapping[str, Any]:
        return self.columns()

    def columns(self) -> dict[str, list[Any]]:
        """One row per group and value: the columns of the data frames."""
        names = [f"{name} (group)" if name in ("by", *VALUE_TYPES) else name for name in self.names]
        out: dict[str, list[Any]] = {name: [] for name in (*names, *VALUE_TYPES)}
        for group, report in self._reports.items():
            report_columns = report.columns()
            rows = len(report_columns["metric"])
            labels = {name: [label] * rows for name, label in zip(names, _labels(group), strict=True)}
            for name, column in {**labels, **report_columns}.items():
                out[name].extend(column)
        return out

    @property
    def _types(self) -> Mapping[str, type]:  # type: ignore[override]
        """Labels are as they were given; without a group, texts."""
        return VALUE_TYPES if self._reports else {**dict.fromkeys(self.columns(), str), **VALUE_TYPES}

    def table(
        self, whole: Report | None = None, *, stacked: bool = False, most: int = MOST_GROUPS, hint: str = ""
    ) -> Table:
        """One row per group, one column per metric with one number; all rows first, where their report is given.

        With the values of all rows, groups are ordered by the first metric that has a value, the worst first, and those
        of few rows last; `most` says how many are shown, and `hint` how to see all. `stacked` puts intervals below
        their values instead of into columns.
        """
        first = self._single_number_cells()
        metrics = [key for key, cell in first.items() if cell is not None]
        settings = next((report.interval for report in self._reports.values()), None)
        columns_of_intervals = settings is not None and not stacked
        ordered_by = next((key for key in metrics if whole is not None and self._has_order(key)), None)
        ordered = list(self) if ordered_by is None else self.worst_first(ordered_by)
        listed = {group: self._reports[group] for group in ordered[:most]}
        rows = [
            self._row(_labels(group), report, metrics, columns_of_intervals=columns_of_intervals)
            for group, report in listed.items()
        ]
        if whole is not None and (not metrics or set(metrics) & set(whole)):
            total = "all rows" if any("all" in _labels(group) for group in self) else "all"
            labels = (total, *[""] * (len(self.names) - 1))
            rows.insert(0, self._row(labels, whole, metrics, columns_of_intervals=columns_of_intervals))
        notes = []
        named = self._metric_names(metrics)
        if len(listed) < len(self):
            notes.append(f"{len(listed):,} of {len(self):,} groups shown{hint}")
        if ordered_by is not None and len(self) > 2:
            notes.append(f"ordered by {named[metrics.index(ordered_by)]}, the worst group first" + self._few_last())
        if settings is not None and stacked:
            notes.append(f"below each value: its {settings.heading()}")
        few = [group for group, n in self.sizes.items() if n < _FEW_ROWS]
        if few:
            notes.append(f"fewer than {_FEW_ROWS} rows, so values vary by chance: {_name_groups(few, len(self))}")
        left = [group for group, n in self.sizes.items() if n < self.min_rows]
        if left:
            notes.append(
                f"excluded from comparisons: fewer than {self.min_rows:,} rows: {_name_groups(left, len(self))}"
            )
        notes += self._note_on_other_metrics(self._metric_names([key for key, cell in first.items() if cell is None]))
        notes += group_notes(self, metrics, listed, whole)
        title = f"by {', '.join(self.names)} · {len(self):,} group{'' if len(self) == 1 else 's'}"
        columns = (
            [name for key in named for name in (key, settings.heading())]
            if settings is not None and columns_of_intervals
            else named
        )
        names = [f"{name} (group)" if name in ("rows", *columns) else name for name in self.names]
        return Table(title, (*names, "rows", *columns), rows, notes, ("rows", *named), repeated=len(self.names) + 1)

    def _few_last(self) -> str:
        sizes = [n < _FEW_ROWS for n in self.sizes.values()]
        return f"; groups of fewer than {_FEW_ROWS} rows last" if any(sizes) and not all(sizes) else ""

    def _has_order(self, key: str) -> bool:
        """Whether a metric has a better direction, and a value in any group."""
        cells = [report.cell(key) for report in self._reports.values()]
        return any(cell.metric.better is not None and cell.error is None and cell.value == cell.value for cell in cells)

    def worst_first(self, key: str) -> list[Group]:
        """Groups by a metric, the worst first; then those of few rows, which are extreme by chance, and those without
        a value."""

        def place(group: Group) -> tuple[bool, bool, float]:
            cell = self._reports[group].cell(key)
            value = math.nan if cell.error is not None else float(cell.value)
            better: Any = cell.metric.better
            distance = value if better == "higher" else -value if better == "lower" else -abs(value - better)
            return self._reports[group].n < _FEW_ROWS, math.isnan(value), distance

        return sorted(self, key=place)

    def _metric_names(self, metrics: Sequence[str]) -> list[Name]:
        report = next(iter(self._reports.values()), None)
        return [] if report is None else [Name(report.display_name(key, positive=False), key) for key in metrics]

    def _single_number_cells(self) -> dict[str, Any]:
        """The keys of the metrics, with a cell of those that have one number."""
        cells: dict[str, Any] = {}
        for report in self._reports.values():
            for key in report:
                cell = report.cell(key)
                parts = [] if cell.is_table else cell.parts()
                if len(parts) != 1 or parts[0][0] is not None:  # in any group: one without a value looks like a number
                    cells[key] = None
                cells.setdefault(key, cell)
        return cells

    def _note_on_other_metrics(self, names: Sequence[str]) -> list[str]:
        """Where metrics are that have no column."""
        if not names:
            return []
        return [f"{list_first(names)}: several numbers for each group, which are in its report and in JSON"]

    @staticmethod
    def _row(
        labels: tuple[Any, ...], report: Report, metrics: list[str], *, columns_of_intervals: bool
    ) -> tuple[Any, ...]:
        values: list[Any] = []
        for key in metrics:
            if key not in list(report):  # is compared between groups, and was not asked for of all rows
                values += [""] * (2 if columns_of_intervals else 1)
                continue
            cell = report.cell(key)
            value, interval = cell.shown(cell.parts()[0][1], *cell.bounds()[0])
            if columns_of_intervals:
                values += value, interval
            else:
                values.append(value.above(interval) if isinstance(value, ShownNumber) else value)
        return (*map(str, labels), report.n, *values)

    def __repr__(self) -> str:
        return to_text(self.table(most=MOST_LISTED_GROUPS), print_width())

    def _repr_html_(self) -> str:
        return to_html(self.table(most=MOST_LISTED_GROUPS))


def _shown_answer(cell: Cell) -> Answer:
    """The answer of a cell, whose number is rounded as its interval says."""
    number = isinstance(cell.value, float)
    return Answer(cell.shown(cell.value, cell.lo, cell.hi)[0] if number else cell.value, cell.reason)


def _labels(group: Group) -> tuple[Any, ...]:
    return group if isinstance(group, tuple) else (group,)
