"""SubmissionResult: the scores of a submission as data, as tables and as a page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from tallymark.errors import ParameterError
from tallymark.evaluation.report import Cell, Report
from tallymark.metrics.base import Metric
from tallymark.metrics.classification.classification_report import ClassReport, classification_report
from tallymark.metrics.classification.confusion_matrix import Confusion, confusion_matrix
from tallymark.metrics.classification.precision_recall import fscore
from tallymark.rendering.exports import DocumentExport, to_json
from tallymark.rendering.html_table import to_html
from tallymark.rendering.table import Percent, Table, show_estimate
from tallymark.rendering.text import to_text
from tallymark.submissions.match import LabelCodes, list_ids
from tallymark.submissions.outcomes import NoOutcomes, Outcomes

if TYPE_CHECKING:
    from tallymark.rendering.document import Document


PREVIEW_ROWS = 20


class PreviewRow(NamedTuple):
    """A row: its id, the answer, the prediction, and whether the prediction is correct; None unless they are labels."""

    id: str
    answer: Any
    prediction: Any
    correct: bool | None = None


class Scores(dict[str, float]):
    """The values of metrics by key. A lookup takes any name that the report takes; of several averages of one metric,
    its plain name, such as "f1", is the first.
    """

    def __init__(self, report: Report) -> None:
        super().__init__({key: report[key] for key in report if key not in report.failures})
        self._report = report

    def __missing__(self, key: str) -> float:
        found = self._report.keys_of(key)[0]
        return super().__getitem__(found) if super().__contains__(found) else self._report[found]

    def __contains__(self, key: object) -> bool:
        if not isinstance(key, str) or super().__contains__(key):
            return super().__contains__(key)
        try:
            return super().__contains__(self._report.keys_of(key)[0])
        except KeyError:
            return False


class SubmissionResult(DocumentExport):
    """The scores of a submission, and the counts of its rows.

    `compared` is the number of rows in both files; `correct` and `incorrect` count them if labels are predicted;
    `missing` and `extra` count the rows in only one file, and `missing_ids` and `extra_ids` are the first of them.
    `scores` has the values by name, `report` their intervals, `per_class` the scores of classes, `confusion` the
    confusion matrix, `preview` some rows. In a challenge, scores are rounded, and `correct`, `incorrect`, `per_class`,
    `confusion` and `preview` are None.
    """

    def __init__(
        self,
        *,
        report: Report,
        task: str,
        challenge: bool,
        compared: int,
        missing: int,
        missing_ids: Sequence[str],
        extra: int,
        extra_ids: Sequence[str],
        correct: int | None,
        labels: LabelCodes | None,
        preview: Sequence[PreviewRow] | None,
        warnings: Sequence[str],
        outcomes: Mapping[str, Outcomes | NoOutcomes] | None = None,
    ) -> None:
        self.report = report
        self.task = task
        self.mode = "challenge" if challenge else "analysis"
        self.compared = compared
        self.missing, self.missing_ids = missing, list(missing_ids)
        self.extra, self.extra_ids = extra, list(extra_ids)
        self.correct = correct
        self.incorrect = None if correct is None else compared - correct
        self.preview = None if preview is None else list(preview)
        self.warnings = list(warnings)
        self._labels = labels
        self._outcomes = dict(outcomes or {})

    @property
    def scores(self) -> Scores:
        """The value of every metric, by name; `report.failures` has those that could not be computed."""
        return Scores(self.report)

    @cached_property
    def per_class(self) -> ClassReport | None:
        """Precision, recall, F1 and counts of every class; None in a challenge, and unless labels are predicted."""
        report: ClassReport | None = self.read(classification_report)
        return report

    @cached_property
    def confusion(self) -> Confusion | None:
        """The confusion matrix; None in a challenge, and unless labels are predicted."""
        return None if self.mode == "challenge" else self.read(confusion_matrix)

    def read(self, metric: Metric) -> Any:
        """The value of one more metric of labels; None if the rows are not kept."""
        if self._labels is None:
            return None
        from tallymark.evaluation.evaluate import evaluate_batch

        count_missing = self.mode == "challenge" and self.missing > 0
        batch, target = self._labels.batch(count_missing=count_missing)
        return evaluate_batch(batch, {"value": metric}, target)["value"]

    def outcomes(self, key: str) -> Outcomes | NoOutcomes:
        """The outcome of each row of the answers for a score named in `outcomes=`; or why there is none. Outcomes
        reveal the answers, and are never shown or written."""
        if key not in self._outcomes and key in self.report:
            key = self.report.key_of(key)
        if key not in self._outcomes:
            asked = ", ".join(map(repr, self._outcomes)) or "none were"
            raise ParameterError(
                argument="key",
                expected=f"be a score whose outcomes were requested ({asked})",
                got=repr(key),
                hint="Pass it to score_submission in outcomes=",
            )
        return self._outcomes[key]

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_outcomes": {}}  # a pickle may go to those who take part

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data."""
        facts: dict[str, Any] = {
            "mode": self.mode,
            "task": self.task,
            "compared": self.compared,
            "correct": self.correct,
            "incorrect": self.incorrect,
            "missing": self.missing,
            "missing_ids": self.missing_ids,
            "extra": self.extra,
            "extra_ids": self.extra_ids,
            "scores": {key: self.report.cell(key).to_dict() for key in self.report},
            "warnings": self.warnings,
        }
        if self.per_class is not None:
            facts["per_class"] = self.per_class.to_dict()["classes"]
        if self.confusion is not None:
            facts["confusion"] = self.confusion.to_dict()
        if self.preview is not None:
            facts["preview"] = [row._asdict() for row in self.preview]
        return facts

    def to_json(self, *, indent: int | None = 2) -> str:
        """Everything as JSON."""
        return to_json(self.to_dict(), indent)

    def _rows(self) -> Mapping[str, Sequence[Any]]:
        return self.report.columns()

    def counts(self) -> list[tuple[str, int]]:
        """The counts of rows, each with its name."""
        others = (("correct", self.correct), ("incorrect", self.incorrect), ("missing", self.missing))
        counted = [("rows compared", self.compared), *((name, n) for name, n in others if n is not None)]
        return [*counted, ("extra", self.extra)]

    def scores_table(self) -> Table:
        """The scores, shares in percent."""
        settings = self.report.interval
        headings, rows = ["score", "value"], []
        for key in self.report:
            cell = self.report.cell(key)
            parts = list(zip(cell.parts(), cell.bounds(), strict=True))
            for (part, value), (lo, hi) in parts[:50]:
                ends = [] if settings is None else ["" if cell.bounded else interval_text(cell.metric, value, lo, hi)]
                rows.append((self.report.name_of_part(key, part), _shown_score(cell, value, lo, hi), *ends))
        if settings is not None:
            headings.append(settings.heading())
        undefined = {**self.report.reasons, **self.report.failures}
        notes = [f"{self.report.display_name(key)}: {reason}" for key, reason in undefined.items()]
        return Table("", headings, rows, notes, numbers=("value",))

    def rows_table(self) -> Table:
        """The counts, and the first ids that are in only one file."""
        notes = [
            f"{what}: {list_ids(ids, count)}"
            for what, ids, count in (
                ("missing ids", self.missing_ids, self.missing),
                ("extra ids", self.extra_ids, self.extra),
            )
            if ids
        ]
        return Table("", ("rows", "count"), self.counts(), notes, numbers=("count",))

    def classes_table(self) -> Table:
        """Precision, recall and F1 of every class in percent, and its counts."""
        assert self.per_class is not None
        table = self.per_class.table()
        rows = [(name, *map(class_percent, cells[:3]), *cells[3:]) for name, *cells in table.rows]
        return table._replace(title="", rows=rows, named_rows=False)

    def preview_table(self) -> Table | None:
        """The rows of the preview."""
        if not self.preview:
            return None
        has_labels = self.preview[0].correct is not None
        headings = ["id", "answer", "prediction", *(["correct"] if has_labels else [])]
        rows = [
            (
                row.id,
                row.answer,
                _prediction_text(row.prediction),
                *(["yes" if row.correct else "no"] if has_labels else []),
            )
            for row in self.preview
        ]
        order = ", incorrect rows first" if has_labels else ""
        order = ", largest errors first" if isinstance(self.preview[0].answer, float) else order
        shown = f"{len(rows):,} of {self.compared:,} rows shown{order}"
        return Table("", headings, rows, [shown] if len(rows) < self.compared else [])

    def title(self) -> str:
        """The counts in one line."""
        counted = [(name, count) for name, count in self.counts() if count or name == "rows compared"]
        return " · ".join(
            f"{count:,} {'row compared' if (name, count) == _ONE_ROW else name}" for name, count in counted
        )

    def _tables(self) -> list[Table]:
        found = [self.scores_table()._replace(title=self.title()), self.rows_table()]
        preview = self.preview_table()
        found += (
            [] if self.confusion is None or self.per_class is None else [self.classes_table(), self.confusion.table()]
        )
        found += [] if preview is None else [preview]
        last = found[-1]
        return [*found[:-1], last._replace(notes=[*last.notes, *(f"warning: {text}" for text in self.warnings)])]

    def _document(self, title: str | None, command: str | None, *, pictures: bool) -> Document:
        from tallymark.submissions.document import submission_document

        return submission_document(self, title, command)

    def __str__(self) -> str:
        return "\n\n".join(map(to_text, self._tables()))

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return "".join(map(to_html, self._tables()))


_ONE_ROW = ("rows compared", 1)


def class_percent(value: Any) -> Percent:
    """Precision, recall or F1 of a class."""
    return Percent(value, fscore.band(value) or "")


def shown_in_percent(metric: Metric) -> bool:
    """Whether a metric is read in percent."""
    return metric.kind == "label" and metric.range == (0.0, 1.0)


def _shown_score(cell: Cell, value: float, lo: float | None, hi: float | None) -> str | float:
    """A score, in percent where it is a share."""
    if cell.error is not None or cell.is_table or not shown_in_percent(cell.metric):
        return cell.shown(value, lo, hi)[0]
    return Percent(value, cell.metric.band(value) or "")


def interval_text(metric: Metric, value: float, lo: float | None, hi: float | None) -> str:
    """The interval of a value in words, of shares in percent."""
    if lo is None or hi is None or not shown_in_percent(metric):
        return show_estimate(value, lo, hi)[1]
    return f"{100 * lo:.1f} to {100 * hi:.1f} %"


def _prediction_text(prediction: Any) -> Any:
    if isinstance(prediction, dict):
        return ", ".join(f"{name}: {value:.3g}" for name, value in prediction.items())
    return prediction
