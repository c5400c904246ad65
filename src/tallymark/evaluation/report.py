"""Report: the values of many metrics, with their reasons, as a mapping that prints, renders and exports."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from copy import copy
from typing import TYPE_CHECKING, Any

from tallymark.data.batch import Batch
from tallymark.errors import PYTHON, ParameterError, TallymarkError, Text, Wording, brief
from tallymark.metrics.answer import Answer
from tallymark.metrics.base import Metric
from tallymark.metrics.listing import show_better
from tallymark.metrics.naming import known_metric, metric
from tallymark.rendering.exports import DataFrameExport, DocumentExport, to_json
from tallymark.rendering.html_table import to_html
from tallymark.rendering.table import Name, ShownNumber, Table, note_lines, show_estimate, show_number
from tallymark.rendering.text import print_width, to_text
from tallymark.states.base import Plan, Reads, State, States
from tallymark.states.rows import Rows

if TYPE_CHECKING:
    from tallymark.acceptance.accept import Acceptance
    from tallymark.data.target import Target
    from tallymark.evaluation.baselines import Baseline
    from tallymark.evaluation.evaluate import MetricPlan
    from tallymark.evaluation.group_slices import Slices
    from tallymark.evaluation.plots import ReportPlots
    from tallymark.evaluation.worst_rows import WorstRows
    from tallymark.intervals.settings import Intervals
    from tallymark.rendering.document import Document


_LONGEST = 1_000  # characters of a reason, in print
_MOST_ROWS_COMPARED = 1_000_000  # with baselines, each of which reads the rows again, before a report is printed
MOST_GROUPS = 20  # in a table
_MOST_PARTS = 50  # of a metric with one value per class, in print


INFERRED_KINDS = {
    "value": Text('read as numbers; pass {kind="label"} for class labels, {kind="probability"} for probabilities'),
    "label": Text('read as class labels; pass {kind="value"} for numbers'),
    "probability": Text(
        'predictions read as probabilities; pass {kind="value"} for numbers, {kind="label"} for class labels'
    ),
}
"""What a report says about metrics that were chosen by what the columns contain."""


class Cell:
    """One metric in a report: its value, its interval and its notes.

    `reason` says why a value is undefined or infinite; `error` is the error of a metric that could not be computed.
    `lo`, `hi` and `method` belong to the confidence interval, if one was requested; they have the shape of the value.
    `value_notes` are about the value, `interval_notes` about its interval; among the latter, `no_interval` says why
    there is none.
    """

    __slots__ = (
        "_value",
        "error",
        "hi",
        "interval_notes",
        "lo",
        "method",
        "metric",
        "n",
        "no_interval",
        "reason",
        "value_notes",
        "weight",
    )

    def __init__(
        self,
        item: Metric,
        value: Any,
        n: int,
        weight: float,
        reason: str | None = None,
        notes: tuple[str, ...] = (),
        error: TallymarkError | None = None,
        lo: Any = None,
        hi: Any = None,
        method: str | None = None,
    ) -> None:
        self.metric = item
        self._value = value
        self.n = n
        self.weight = weight
        self.reason = reason
        self.value_notes = notes
        self.interval_notes: tuple[str | Text, ...] = ()
        self.no_interval: str | Text | None = None
        self.error = error
        self.lo = lo
        self.hi = hi
        self.method = method

    @property
    def value(self) -> Any:
        """The value; reading it from a failed cell raises the error."""
        if self.error is not None:
            raise self.error
        return self._value

    @property
    def notes(self) -> tuple[str, ...]:
        """The notes on the value, then those on its interval."""
        return (*self.value_notes, *map(str, self.interval_notes))

    def parts(self) -> list[tuple[str | None, float]]:
        """The value as numbers: one, or one per output or class with its name; NaN for what is not a number."""
        if isinstance(self._value, float):
            return [(None, self._value)]
        if isinstance(self._value, list):
            return [(f"output {k}", value) for k, value in enumerate(self._value)]
        if isinstance(self._value, dict):
            return [(str(label), value) for label, value in self._value.items()]
        if self.is_table:
            return [(None, math.nan)]
        return [(None, math.nan if self.error is not None else self._value)]

    def bounds(self) -> list[tuple[float | None, float | None]]:
        """The interval of every part; None where it has none."""
        parts = self.parts()
        sides = [list(side.values()) if isinstance(side, dict) else side for side in (self.lo, self.hi)]
        lo, hi = (side if isinstance(side, list) else [side] * len(parts) for side in sides)
        return list(zip(lo, hi, strict=True))

    @property
    def bounded(self) -> bool:
        """Whether `lo` and `hi` are bounds of the value on these rows instead of a confidence interval."""
        return self.method == "bounded"

    @property
    def is_table(self) -> bool:
        """Whether the value is a table, such as a confusion matrix."""
        found = self._value
        return not isinstance(found, float) and hasattr(found, "table") and hasattr(found, "to_dict")

    def shown(self, value: float, lo: float | None, hi: float | None) -> tuple[str | ShownNumber, str]:
        """A value and its interval as tables show them: in the digits that the interval bears out."""
        if self.error is not None:
            return "failed", ""
        if self.is_table:
            return str(self._value.summary()), ""
        text, interval = show_estimate(value, lo, hi)
        return ShownNumber(value, text), "" if self.bounded or not interval else Name(interval, f"{lo!r} to {hi!r}")

    def to_dict(self) -> dict[str, Any]:
        """The cell as plain data."""
        value = self._value.to_dict() if self.is_table else self._value
        out: dict[str, Any] = {"metric": str(self.metric), "value": value, "better": self.metric.better}
        named = isinstance(value, dict) and not self.is_table and not all(isinstance(label, str) for label in value)
        extra = {
            "labels": list(value) if named else None,  # which JSON writes as texts among the values
            "unit": self.metric.unit or None,
            "infinite": math.copysign(1, value) if isinstance(value, float) and math.isinf(value) else None,
            "reason": self.reason,
            "notes": list(self.value_notes) or None,
            "interval_notes": list(map(str, self.interval_notes)) or None,
            "error": None if self.error is None else str(self.error),
            "lo": self.lo,
            "hi": self.hi,
            "method": self.method,
        }
        return out | {key: value for key, value in extra.items() if value is not None}

    def __repr__(self) -> str:
        if self.error is not None:
            return f"Cell({self.metric}: failed, {self.error})"
        return f"Cell({self.metric}: {self._value!r}{f', {self.reason}' if self.reason else ''})"


VALUE_TYPES: Mapping[str, type] = {
    "metric": str,
    "part": str,
    "value": float,
    "lo": float,
    "hi": float,
    "method": str,
    "better": str,
    "unit": str,
    "n": int,
    "weight": float,
    "reason": str,
    "notes": str,
}
"""What a data frame of values has in its columns."""


def display_names(metrics: Mapping[str, Metric], positive: object = None) -> dict[str, str]:
    """The names of metrics for people, by key. Metrics that would have the same name keep their keys.

    >>> import tallymark as tm
    >>> display_names({"auc": tm.auc, "recall": tm.recall, "F2": tm.metric("f2")}, "fraud")
    {'auc': 'ROC AUC', 'recall': 'recall (positive: fraud)', 'F2': 'F2'}
    """
    names = {key: _display_name(key, item, positive) for key, item in metrics.items()}
    repeated = {name for name, times in Counter(names.values()).items() if times > 1}
    return {key: key if name in repeated else name for key, name in names.items()}


def _display_name(key: str, item: Metric, positive: object) -> str:
    if key != str(item):
        return key
    name = item.display_name
    if positive is None or positive == 1 or not item.is_of_positive_class:
        return name
    joint = f"{name[:-1]}, " if name.endswith(")") else f"{name} ("
    return f"{joint}positive: {positive})"


class Report(Mapping[str, Any], DocumentExport, DataFrameExport):
    """The values of metrics by key. A lookup takes the key, any other name of the metric, or the metric itself.

    The name of a metric without an average finds its only average: `report["f1"]` is macro F1 if there is no other F1.
    """

    def __init__(
        self,
        cells: dict[str, Cell],
        *,
        n: int,
        total_weight: float,
        dropped: int = 0,
        kind: str | None = None,
        slices: Slices | None = None,
        positive: object = None,
    ) -> None:
        self._cells = cells
        self._names: dict[bool, dict[str, str]] = {}
        self._positive = positive
        self.n = n
        self.total_weight = total_weight
        self.dropped = dropped
        self.kind = kind
        self.slices = slices
        self.wording: Wording = PYTHON
        """How notes name arguments: as in Python, unless another interface shows the report."""
        self.inferred_kind: str | None = None
        """What the columns were read as, where neither metrics nor a kind were named."""
        self.interval: Intervals | None = None
        self.acceptance: Acceptance | None = None
        self._source: ReportSource | None = None
        self.of_model = False
        """Whether a model was asked for predictions, of several kinds if metrics read several."""
        self._baselines: dict[Metric, list[Baseline]] = {}
        self._baseline_notes: list[str] | None = None

    if not TYPE_CHECKING:  # which knows the attributes

        def __getattr__(self, name: str) -> Any:
            """Say where a value or a plot is that was looked for among the attributes."""
            hint = ""
            if name == "accept":
                hint = '; call tm.accept(report, "auc > 0.8")'
            elif not name.startswith("_") and hasattr(type(self.plot), name):
                hint = f"; the plot is report.plot.{name}()"
            elif not name.startswith("_") and known_metric(name) is not None:
                hint = f'; the value of a metric is report["{name}"]'
            raise AttributeError(f"a report has no attribute {name!r}{hint}", name=name, obj=self)

    @property
    def plot(self) -> ReportPlots:
        """The plots of the report: `report.plot.available()` names them, `report.plot.roc()` is one."""
        from tallymark.evaluation.plots import ReportPlots  # few ask

        return ReportPlots(self)

    def with_acceptance(self, condition: str | Iterable[str]) -> Report:
        """The same report with its `acceptance`: whether it meets a condition, in all exports.

        >>> import tallymark as tm
        >>> report = tm.evaluate([1.0, 2.0, 4.0], [1.0, 2.5, 3.5], ["mae"]).with_acceptance("mae < 0.3")
        >>> report.acceptance.passed, report.to_dict()["acceptance"]["failed"]
        (False, ['mae < 0.3'])
        """
        from tallymark.acceptance.accept import accept  # which reads reports

        report = copy(self)
        report._source = self._source
        report.acceptance = accept(self, condition)
        return report

    @property
    def fingerprint(self) -> str | None:
        """A hash of the rows, independent of their order and container; None if the rows are not in memory.

        >>> import tallymark as tm
        >>> one, two = tm.evaluate([1, 2], [1.0, 3.0], ["mae"]), tm.evaluate([2.0, 1.0], [3, 1], ["rmse"])
        >>> one.fingerprint == two.fingerprint
        True
        """
        from tallymark.evaluation.reproduction import fingerprint  # few ask

        batch = None if self._source is None else self._source.batch
        return None if batch is None else fingerprint(batch)

    def __getstate__(self) -> dict[str, Any]:
        # Rows are not written, but what they showed is.
        return {**vars(self), "_source": None, "_baseline_notes": self.baseline_notes()}

    def display_name(self, key: str | Metric, *, positive: bool = True) -> str:
        """The name of a metric for people, such as "ROC AUC" or "F1 (positive: fraud)"; a name that you gave stays.

        `positive=False` leaves out the positive class.
        """
        return self._display_names(positive)[self.key_of(key)]

    def _display_names(self, positive: bool) -> dict[str, str]:
        if positive not in self._names:
            metrics = {key: cell.metric for key, cell in self._cells.items()}
            self._names[positive] = display_names(metrics, self._positive if positive else None)
        return self._names[positive]

    def name_of_part(self, key: str, part: str | None = None) -> Name:
        """The name of a metric and of a part of its value, as in tables."""
        name = self.display_name(key)
        return Name(f"{name} · {part}" if part else name, f"{key} · {part}" if part else key)

    def cell(self, key: str | Metric) -> Cell:
        """The value of a metric with its reason, notes, error, n and weight."""
        return self._cells[self.key_of(key)]

    def key_of(self, key: str | Metric) -> str:
        """The key of a metric in this report, by any of its names."""
        found = self.keys_of(key)
        if len(found) > 1:
            raise KeyError(f"{str(key)!r} could be {' or '.join(found)}")
        return found[0]

    def keys_of(self, key: str | Metric) -> list[str]:
        """The keys that a name may mean: one, or all averages of a metric that names none."""
        if isinstance(key, str):
            if key in self._cells:
                return [key]
            for names in (self._display_names(True), self._display_names(False)):
                for own, name in names.items():
                    if name == key:
                        return [own]
        try:
            item = metric(key)
        except TallymarkError as error:
            raise KeyError(f"{brief(key)} is not in the report; it has {', '.join(self._cells)}") from error
        metrics = {own: cell.metric for own, cell in self._cells.items()}
        found = [own for own, each in metrics.items() if each == item][:1]
        if not found and getattr(item, "average", None) == "auto":
            averages = {own: each for own, each in metrics.items() if type(each) is type(item)}
            found = [
                own
                for own, each in averages.items()
                if each.parameters()["average"] is not None and each.replace(average="auto") == item
            ]
        if not found:
            raise KeyError(f"{str(key)!r} is not in the report; it has {', '.join(self._cells)}")
        return found

    def __getitem__(self, key: str | Metric) -> Any:
        return self.cell(key).value

    def __contains__(self, key: object) -> bool:
        try:
            self.cell(key)  # type: ignore[arg-type]
        except KeyError:
            return False
        return True

    def __iter__(self) -> Iterator[str]:
        return iter(self._cells)

    def __len__(self) -> int:
        return len(self._cells)

    @property
    def reasons(self) -> dict[str, str]:
        """Why values are undefined or infinite, by key."""
        return {key: cell.reason for key, cell in self._cells.items() if cell.reason is not None}

    @property
    def failures(self) -> dict[str, TallymarkError]:
        """The errors of metrics that could not be computed, by key."""
        return {key: cell.error for key, cell in self._cells.items() if cell.error is not None}

    def to_dict(self) -> dict[str, Any]:
        """The whole report as plain data."""
        return {
            **({} if self.acceptance is None else {"acceptance": self.acceptance.to_dict()}),
            "n": self.n,
            "total_weight": self.total_weight,
            "dropped": self.dropped,
            "kind": self.kind,
            **({} if self.inferred_kind is None else {"inferred_kind": self.inferred_kind}),
            **({} if self.interval is None else {"interval": self.interval.to_dict()}),
            **({} if self._positive in (None, 1) else {"positive": self._positive}),
            **({"baselines": baselines} if (baselines := self._baselines_to_dict()) else {}),
            "metrics": self.metrics_to_dict(),
            **({} if self.slices is None else {"slices": self.slices.to_dict()}),
        }

    def metrics_to_dict(self) -> dict[str, Any]:
        """The cells by key as plain data."""
        return {key: self._cell_dict(cell) for key, cell in self._cells.items()}

    def _baselines_to_dict(self) -> dict[str, Any]:
        by_key = {key: self.baselines(key) for key in self._keys_with_baselines()}
        return {
            key: [{"value": value, "name": name} for value, name in found] for key, found in by_key.items() if found
        }

    def _cell_dict(self, cell: Cell) -> dict[str, Any]:
        """A cell as plain data, with its rows where the report has others."""
        own = {"n": cell.n} if cell.n != self.n else {}
        return cell.to_dict() | own | ({"weight": cell.weight} if cell.weight != self.total_weight else {})

    def to_json(self, *, indent: int | None = 2) -> str:
        """The whole report as JSON; NaN and infinity are null, with their reason beside them."""
        return to_json(self.to_dict(), indent)

    @classmethod
    def from_json(cls, text: str) -> Report:
        """The report that `to_json` wrote, with values, reasons, intervals, notes, baselines, groups and acceptance. It
        prints like the original. Rows are not in the JSON, so plots of rows are not available.

        >>> import tallymark as tm
        >>> report = tm.evaluate([1, 0, 1], [1, 1, 1], ["recall", "mcc"])
        >>> again = tm.Report.from_json(report.to_json())
        >>> again["recall"], again.reasons == report.reasons
        (1.0, True)
        """
        import json

        from tallymark.acceptance.accept import Acceptance  # which reads reports
        from tallymark.evaluation.report_json import read_report  # few ask

        report = read_report(text)
        written = json.loads(text).get("acceptance")
        report.acceptance = None if written is None else Acceptance.from_dict(written)
        return report

    def _frame(self) -> Mapping[str, Any]:
        return self._rows()

    @property
    def _types(self) -> Mapping[str, type]:  # type: ignore[override]
        return VALUE_TYPES if self.slices is None else {"by": str, **self.slices._types}

    def columns(self) -> dict[str, list[Any]]:
        """One row per value of all rows."""
        rows = [
            (
                key,
                part,
                float(value),
                math.nan if lo is None else lo,
                math.nan if hi is None else hi,
                cell.method,
                show_better(cell.metric.better),
                cell.metric.unit,
                cell.n,
                cell.weight,
                reason_text(cell),
                "; ".join(cell.notes) or None,
            )
            for key, cell in self._cells.items()
            for (part, value), (lo, hi) in zip(cell.parts(), cell.bounds(), strict=True)
        ]
        return {name: [row[k] for row in rows] for k, name in enumerate(VALUE_TYPES)}

    def _rows(self) -> dict[str, list[Any]]:
        """One row per value: of all rows, then of the groups of each column, then of those of several columns together.
        `by` names the columns that make the group of a row, and each of them has its label.
        """
        if self.slices is None:
            return self.columns()
        by_column = self.slices_by_column()
        parts = [*by_column, *([self.slices] if len(by_column) > 1 else [])]
        blocks = [(None, self.columns()), *((", ".join(each.names), each.columns()) for each in parts)]
        out: dict[str, list[Any]] = {name: [] for name in ("by", *self.slices.columns())}
        for by, block in blocks:
            rows = len(block["metric"])
            for name, column in out.items():
                column.extend(block.get(name, [by if name == "by" else None] * rows))
        return out

    def _document(self, title: str | None, command: str | None, *, pictures: bool) -> Document:
        from tallymark.evaluation.document import report_document  # few ask

        return report_document(self, title, command, pictures=pictures)

    def _table(self) -> Table:
        rows = [
            (
                self.name_of_part(key, part),
                *cell.shown(value, lo, hi)[: 1 if self.interval is None else 2],
                show_better(cell.metric.better),
                cell.metric.unit,
            )
            for key, cell in self._cells.items()
            for (part, value), (lo, hi) in list(zip(cell.parts(), cell.bounds(), strict=True))[:_MOST_PARTS]
        ]
        columns = ["metric", "value", "better", "unit"]
        if self.interval is not None:
            columns.insert(2, self.interval.heading())
        rows += [
            (self.name_of_part(key, f"and {len(cell.parts()) - _MOST_PARTS:,} more"), *[""] * (len(columns) - 1))
            for key, cell in self._cells.items()
            if len(cell.parts()) > _MOST_PARTS
        ]
        noted = (
            (text, self.display_name(key, positive=False))
            for key, cell in self._cells.items()
            for text in (reason_text(cell), *cell.notes)
            if text
        )
        notes = [*self.baseline_notes(), *self.kind_notes(), *note_lines(noted)]
        notes += [] if self.interval is None else self.interval_methods(self.interval)
        return Table(self.title(), columns, rows, notes, numbers=("value",)).without_empty("unit")

    def worst_rows(self, n: int = 20, *, ids: object = None, output: int | None = None) -> WorstRows:
        """The rows with the largest loss, the worst first: the largest error of numbers, the lowest probability of the
        truth, wrong labels, and of scores the rows that are misranked against the most rows of the other class.

        `ids` are labels of the rows, one for each that was evaluated; without them, `keys` of `evaluate` are shown. Of
        several outputs, `output` chooses one. Rows of weight 0 are left out.

        >>> import tallymark as tm
        >>> report = tm.evaluate([1.0, 2.0, 3.0], [1.5, 2.0, 1.0], ["mae"])
        >>> report.worst_rows(2, ids=["a", "b", "c"])
        Rows with the largest error: prediction − truth
        <BLANKLINE>
        row  id  truth  prediction  error
        ───  ──  ─────  ──────────  ─────
          2  c       3         1     -2
          0  a       1         1.5    0.5
        """
        from tallymark.evaluation.worst_rows import find_worst_rows  # few ask

        return find_worst_rows(self, n, ids, output)

    def baselines(self, key: str | Metric) -> list[Baseline]:
        """The values of predictions without features on these rows: the majority class, a constant, random guessing."""
        from tallymark.evaluation.baselines import find_baselines  # only prints and pages ask

        item = self.cell(key).metric
        if item not in self._baselines and self._source is not None:
            self._baselines[item] = find_baselines(self._source, item)
        return self._baselines.get(item, [])

    def baseline_notes(self) -> list[str]:
        """The values that do not beat a baseline."""
        from tallymark.evaluation.baselines import compare_with_baselines

        if self._baseline_notes is not None:
            return self._baseline_notes
        verdicts = []
        for key in self._keys_with_baselines():
            cell = self._cells[key]
            verdict = compare_with_baselines(cell.metric, cell.value, self.baselines(key), *cell.bounds()[0])
            verdicts += [(verdict, self.display_name(key, positive=False))] if verdict else []
        self._baseline_notes = note_lines(verdicts)
        return self._baseline_notes

    def _keys_with_baselines(self) -> list[str]:
        """The metrics that print and JSON compare with baselines."""
        return [
            key
            for key, cell in self._cells.items()
            if self.n <= _MOST_ROWS_COMPARED and isinstance(cell._value, float) and math.isfinite(cell._value)
        ]

    def kind_notes(self) -> list[str]:
        """How the columns were read, if no kind was given."""
        return [] if self.inferred_kind is None else [INFERRED_KINDS[self.inferred_kind].write(self.wording)]

    def interval_methods(self, settings: Intervals) -> list[str]:
        """The methods of the intervals, in one line."""
        by_method: dict[str, list[str]] = {}
        for key, cell in self._cells.items():
            if cell.lo is not None and cell.method is not None and not cell.bounded:
                by_method.setdefault(settings.in_full(cell.method), []).append(self.display_name(key, positive=False))
        parts = [f"{method} for {', '.join(keys)}" for method, keys in by_method.items()]
        return [f"intervals: {'; '.join(parts)}"] if parts else []

    def title(self) -> str:
        """The number of rows, their weight, and the number of dropped rows."""
        title = "1 row" if self.n == 1 else f"{self.n:,} rows"
        if self.total_weight != self.n:
            title += f" · total weight {show_number(self.total_weight)}"
        if self.dropped:
            title += f" · {self.dropped:,} dropped for missing values"
        return title

    def _tables(self) -> list[Table]:
        """Whether all is accepted, the values, below them those that are tables themselves, then the groups."""
        verdict = [] if self.acceptance is None else [self.acceptance.table()]
        own = [cell.value.table() for cell in self._cells.values() if cell.is_table]
        return [*verdict, self._table(), *own, *self.group_tables()]

    def group_tables(self) -> list[Table]:
        """A table per column of groups; one table for all columns if the rows are not in memory."""
        return [slices.table(self, hint=f"; all: {self.code_of(slices)}") for slices in self.slices_by_column()]

    def code_of(self, slices: Slices) -> str:
        """How to have these groups in Python."""
        from tallymark.evaluation.reproduction import text_literal

        return "report.slices" if slices is self.slices else f"report.slices.by({text_literal(slices.names[0])})"

    def sliced_by(self, slices: Slices) -> Report:
        """The same report with other groups, such as those of one column."""
        if slices is self.slices:
            return self
        report = copy(self)
        report.slices = slices
        report._source = copy(self._source)
        if report._source is not None:
            report._source.plots = {}
        return report

    def slices_by_column(self) -> list[Slices]:
        """The groups of each column; those of all columns together if rows and states are gone."""
        if self.slices is None:
            return []
        return [self.slices.by(name) for name in self.slices.names] if self.slices.has_columns else [self.slices]

    def __str__(self) -> str:
        width = print_width()
        return "\n\n".join(to_text(table, width) for table in self._tables())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return "".join(map(to_html, self._tables()))


def reason_text(cell: Cell) -> str | None:
    """Why a cell has no plain value, in words that do not begin with the name of the metric; None if it has one."""
    text = cell.reason if cell.error is None else str(cell.error).removeprefix(f"{cell.metric.name} ")
    return text if text is None or len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


class ReportSource:
    """The states of a report, and its rows where they are in memory: a reference to them, never a copy."""

    __slots__ = ("_batch", "_folded", "_metric_plan", "_states", "clustered", "plots")

    def __init__(self, metric_plan: MetricPlan, states: States, batch: Batch | None) -> None:
        self._metric_plan = metric_plan
        self._states = states
        self._batch = batch
        self._folded: dict[Any, State] = {}
        self.clustered = batch is not None and batch.cluster_side is not None
        """Whether rows depend on each other, which no formula of an interval allows for."""
        self.plots: dict[Any, Any] = {}
        """Plots that were asked for before; what is drawn is small, what it is drawn from is not."""

    @property
    def batch(self) -> Batch | None:
        """The rows; None where only the states of them are known."""
        return self._batch

    @property
    def target(self) -> Target:
        """What is known of the data: kind, classes, positive."""
        return self._metric_plan.target

    def answer(self, item: Metric) -> Answer:
        """The answer of any metric that can read these rows."""
        if self._batch is not None:
            item.check_columns(self._batch.truth_columns, self._batch.prediction_columns)
        return item.answer(self.state(item), self._batch)

    def value(self, item: Metric) -> Any:
        """The value of any metric that can read these rows."""
        return self.answer(item).value

    def state(self, item: Metric) -> State:
        """The state that a metric reads: one that is there, or else of the rows."""
        reads = item.needs(self._metric_plan.target)
        state = self._held(reads)
        if state is None and self._batch is not None:
            state = self._folded[reads.group] = Plan([reads]).fold(self._batch)[0]
        if state is None:
            raise ParameterError(
                f"{item.name} cannot be read from this report: its rows are gone, and none of its "
                "metrics keeps the state that it reads",
                hint=f"Add {item.name!r} to the metrics of the Tally",
            )
        return state

    def _held(self, needed: Reads) -> State | None:
        for reads, state in zip(self._metric_plan.plan.reads, self._states, strict=True):
            if reads.group == needed.group and reads.join(needed) == reads:
                return state
        return self._folded.get(needed.group)

    def rows(self) -> tuple[Any, Any, Any]:
        """Truth and predictions as numbers, one column each or more, and the weights or None."""
        if self._batch is not None:
            self._batch.require_finite()
            return self._batch.truth, self._batch.prediction, self._batch.weights
        for state in self._states:
            if isinstance(state, Rows):
                return state.arrays()
        raise ParameterError(
            "the rows of this report are gone, and none of its metrics keeps them",
            hint="Evaluate all rows at once, or add 'median_absolute_error', which keeps them, to the "
            "metrics of the Tally",
        )
