"""The classification report: precision, recall, F1 and counts of every class, and averages."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

from tallymark.data.labels import Label
from tallymark.data.target import show_labels
from tallymark.metrics.answer import Answer, Undefined
from tallymark.metrics.classification.base import LabelMetric
from tallymark.metrics.classification.confusion_matrix import show_label
from tallymark.metrics.classification.precision_recall import fscore, precision, recall
from tallymark.rendering.exports import DataFrameExport, to_json
from tallymark.rendering.html_table import to_html
from tallymark.rendering.table import Table, show_number
from tallymark.rendering.text import to_text
from tallymark.states.base import divide
from tallymark.states.labels.counts import Counts

__all__ = ["ClassReport", "ClassificationReport", "classification_report"]


_MOST_SHOWN = 50
_COLUMNS = (precision, recall, fscore)
_NAMES = ("precision", "recall", "fscore", "support", "tp", "fp", "fn")
_HEADINGS = ("precision", "recall", "F1", "support", "TP", "FP", "FN")


class ClassScores(NamedTuple):
    """The scores of a class, or an average of them, and the weight of its rows; of a class also its counts of true
    positives, false positives and false negatives."""

    precision: float
    recall: float
    fscore: float
    support: float
    tp: float | None = None
    fp: float | None = None
    fn: float | None = None


class ClassReport(DataFrameExport):
    """Precision, recall, F1 and counts of every class, and averages.

    `report["cat"]` are the scores of a class, `averages["macro"]` those of an average; `accuracy` is that of all rows.
    It prints, shows itself in a notebook and exports.
    """

    __slots__ = ("accuracy", "averages", "notes", "scores")

    def __init__(
        self,
        scores: dict[Label, ClassScores],
        averages: dict[str, ClassScores],
        accuracy: float,
        notes: tuple[str, ...] = (),
    ) -> None:
        self.scores = scores
        self.averages = averages
        self.accuracy = accuracy
        self.notes = notes

    @property
    def classes(self) -> list[Label]:
        """The classes in order."""
        return list(self.scores)

    def __getitem__(self, name: Label) -> ClassScores:
        if name in self.scores:
            return self.scores[name]
        if isinstance(name, str) and name in self.averages:
            return self.averages[name]
        raise KeyError(
            f"{name!r} is neither a class nor an average; the classes are {show_labels(self.classes)}, the averages "
            f"{show_labels(self.averages)}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Scores by class and average as plain data."""
        return {
            "classes": [{"class": label, **scores._asdict()} for label, scores in self.scores.items()],
            "averages": {
                name: {key: value for key, value in scores._asdict().items() if value is not None}
                for name, scores in self.averages.items()
            },
            "accuracy": self.accuracy,
            "notes": list(self.notes),
        }

    def to_json(self, *, indent: int | None = 2) -> str:
        """Scores by class and average as JSON; what is undefined is null, and the notes say why."""
        return to_json(self.to_dict(), indent)

    _types = {"part": str, "name": str, **dict.fromkeys(_NAMES, float)}

    def _frame(self) -> dict[str, list[Any]]:
        rows = [("class", str(label), *_numbers(scores)) for label, scores in self.scores.items()]
        rows += [("average", name, *_numbers(scores)) for name, scores in self.averages.items()]
        return {name: [row[k] for row in rows] for k, name in enumerate(("part", "name", *_NAMES))}

    def summary(self) -> str:
        """What it is, in a few words."""
        return f"{len(self.scores):,} class{'es' * (len(self.scores) != 1)}"

    def table(self) -> Table:
        """The report as a table to render; of many classes, those with the lowest F."""
        items = list(self.scores.items())
        notes = self.notes
        if len(items) > _MOST_SHOWN:
            items = sorted(items, key=lambda item: (not math.isnan(item[1].fscore), item[1].fscore))[:_MOST_SHOWN]
            notes = (*notes, f"the lowest of {len(self.scores):,} classes; to_dict() and the frames have them all")
        shown = [(show_label(label), *scores) for label, scores in items]
        shown += [(f"— {name}", *scores) for name, scores in self.averages.items()]
        title = f"classification report · accuracy {show_number(self.accuracy)}"
        return Table(title, ("class", *_HEADINGS), shown, notes, numbers=_HEADINGS, named_rows=True)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ClassReport) and repr(self.to_dict()) == repr(other.to_dict())

    def __hash__(self) -> int:
        return hash(repr(self.to_dict()))

    def __repr__(self) -> str:
        return to_text(self.table())

    def _repr_html_(self) -> str:
        return to_html(self.table())


class ClassificationReport(LabelMetric):
    """Precision, recall, F1, true positives, false positives and false negatives of every class, and averages.

    >>> classification_report(["cat", "dog", "dog"], ["cat", "cat", "dog"])
    classification report · accuracy 0.6667
    <BLANKLINE>
    class       precision  recall      F1  support  TP  FP  FN
    ──────────  ─────────  ──────  ──────  ───────  ──  ──  ──
    cat            0.5     1       0.6667        1   1   1   0
    dog            1       0.5     0.6667        2   1   0   1
    — macro        0.75    0.75    0.6667        3
    — weighted     0.8333  0.6667  0.6667        3
    """

    better = None
    range = (0.0, math.inf)
    formula = "TP / (TP + FP), TP / (TP + FN) and their harmonic mean, by class; their mean, and their mean by support"
    reading = "Look for classes with low values; support is the number of true rows of a class."
    related = ("confusion_matrix", "precision", "recall", "fscore")
    pitfalls = ("In the averages, a class that was never predicted has a precision of 0.",)
    no_interval = "a table has none"
    samples = ({},)

    def restore_value(self, data: Any) -> Any:
        if not isinstance(data, Mapping):
            return data

        def scores(numbers: Mapping[str, Any]) -> ClassScores:
            rates = (math.nan if numbers[name] is None else numbers[name] for name in _NAMES[:3])
            return ClassScores(*rates, *(numbers.get(name) for name in _NAMES[3:]))

        by_class = {each["class"]: scores(each) for each in data["classes"]}
        averages = {name: scores(each) for name, each in data["averages"].items()}
        accuracy = math.nan if data["accuracy"] is None else data["accuracy"]
        return ClassReport(by_class, averages, accuracy, tuple(data["notes"]))

    def read(self, state: Any) -> Answer:
        c: Counts = state.counts()
        columns = [metric.class_values(c) for metric in _COLUMNS]
        undefined = self.to_answer(_UNDEFINED).value if any(None in column for column in columns) else math.nan
        scores = {
            label: ClassScores._make([*(undefined if v is None else v for v in values), *map(c.to_number, counts)])
            for label, *values, counts in zip(c.classes, *columns, _counts_by_class(c), strict=True)
        }
        support = c.to_number(sum(c.truth))
        names = ("macro", "weighted") if c.single else ("micro", "macro", "weighted")
        averages = {
            name: ClassScores._make([*(_number(m.averaged(c, name)) for m in _COLUMNS), support, None, None, None])
            for name in names
        }
        notes = tuple(
            f"never {what}: {show_labels(absent)}"
            for what, absent in (("predicted", _without(c, c.predicted)), ("true", _without(c, c.truth)))
            if absent
        )
        reason = "; ".join(notes) if any(None in column for column in columns) else None
        return Answer(ClassReport(scores, averages, divide(c.right, c.total), notes), reason)


_UNDEFINED = Undefined("a class was never predicted or never true")


def _counts_by_class(c: Counts) -> list[tuple[int, int, int, int]]:
    """Support, true positives, false positives and false negatives of each class."""
    counts = zip(c.hits, c.truth, c.predicted, strict=True)
    return [(truth, hits, predicted - hits, truth - hits) for hits, truth, predicted in counts]


def _numbers(scores: ClassScores) -> list[float]:
    """Scores as a line of a data frame; averages have no counts."""
    return [math.nan if value is None else value for value in scores]


def _without(c: Counts, weights: list[int]) -> list[Label]:
    return [label for label, weight in zip(c.classes, weights, strict=True) if not weight]


def _number(value: float | Undefined) -> float:
    return math.nan if isinstance(value, Undefined) else value


classification_report = ClassificationReport()
