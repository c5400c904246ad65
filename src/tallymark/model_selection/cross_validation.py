"""CrossValidation: what the folds gave, with means, corrected intervals and the report over all tested rows."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from tallymark.data.arrays import Array
from tallymark.evaluation.report import Report, show_interval, why
from tallymark.intervals.distributions import student_quantile
from tallymark.intervals.settings import show_level
from tallymark.metrics.base import Better, Metric
from tallymark.metrics.listing import show_better
from tallymark.rendering.exports import Frames, to_json
from tallymark.rendering.html_table import to_html
from tallymark.rendering.table import Table
from tallymark.rendering.text import to_text


def mean_and_sd(values: Sequence[float]) -> tuple[float, float]:
    """The mean and the sample standard deviation; NaN where there are too few values."""
    if not values:
        return math.nan, math.nan
    mean = math.fsum(values) / len(values)
    if len(values) < 2:
        return mean, math.nan
    return mean, math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1))


def corrected_interval(values: Sequence[float], ratio: float, level: float) -> tuple[float, float]:
    """The interval of the mean; `ratio` is the number of test rows to that of training rows.

    The variance of the mean is (1/J + ratio) s² instead of s²/J, since folds that share training rows vary less than
    others would.

    >>> [round(end, 6) for end in corrected_interval([1.0, 2.0, 3.0], 0.5, 0.95)]
    [-1.927767, 5.927767]
    """
    mean, sd = mean_and_sd(values)
    if len(values) < 2:
        return math.nan, math.nan
    reach = -student_quantile((1.0 - level) / 2.0, len(values) - 1) * sd * math.sqrt(1.0 / len(values) + ratio)
    return mean - reach, mean + reach


class Fold(NamedTuple):
    """One split: its report, how long it took, and which rows were tested. `error` says why there is no report."""

    number: int
    report: Report | None
    train_rows: int
    test_rows: int
    fit_time: float
    score_time: float
    test: Array
    error: str | None = None

    def value(self, key: str) -> float:
        """The value of a metric; NaN where it could not be computed."""
        cell = None if self.report is None else self.report.cell(key)
        return math.nan if cell is None or cell.error is not None else float(cell.value)

    def reason(self, key: str) -> str | None:
        """Why the value of a metric is no number."""
        return self.error if self.report is None else why(self.report.cell(key))


class Score(NamedTuple):
    """A metric over the folds: its values, their mean and sample standard deviation, and the corrected interval.

    Folds in which it is undefined are left out, and `notes` say why; `out_of_fold` is the value over all tested rows.
    """

    metric: str
    values: tuple[float, ...]
    mean: float
    sd: float
    lo: float
    hi: float
    out_of_fold: float
    better: Better
    notes: tuple[str, ...] = ()


class CrossValidation(Mapping[str, Score], Frames):
    """The scores by metric. `folds` hold every split, `out_of_fold` is the report over all tested rows."""

    _types = {
        **dict.fromkeys(("metric", "reason"), str),
        **dict.fromkeys(("fold", "train_rows", "test_rows"), int),
        **dict.fromkeys(("value", "fit_time", "score_time"), float),
    }

    def __init__(self, folds: list[Fold], out_of_fold: Report, metrics: dict[str, Metric], level: float) -> None:
        self.folds = folds
        self.out_of_fold = out_of_fold
        self.level = level
        self.metrics = metrics
        self._scores = {key: self._score(key, item) for key, item in metrics.items()}

    def _score(self, key: str, item: Metric) -> Score:
        values = [fold.value(key) for fold in self.folds]
        held = [value for value in values if math.isfinite(value)]
        mean, sd = mean_and_sd(held)
        lo, hi = corrected_interval(held, self.ratio, self.level)
        if not math.isnan(lo):
            lo, hi = max(lo, item.range[0]), min(hi, item.range[1])
        notes = [f"fold {fold.number}: {fold.reason(key)}" for fold in self.folds if not math.isfinite(fold.value(key))]
        cell = self.out_of_fold.cell(key)
        whole = math.nan if cell.error is not None else float(cell.value)
        if cell.error is not None:
            notes.append(f"out of fold: {cell.error}")
        return Score(key, tuple(values), mean, sd, lo, hi, whole, item.better, tuple(notes))

    @property
    def ratio(self) -> float:
        """How many test rows there are to a training row."""
        return math.fsum(fold.test_rows / fold.train_rows for fold in self.folds) / len(self.folds)

    @property
    def fit_time(self) -> float:
        """Seconds of training, over all folds."""
        return math.fsum(fold.fit_time for fold in self.folds)

    @property
    def score_time(self) -> float:
        """Seconds of predicting and scoring, over all folds."""
        return math.fsum(fold.score_time for fold in self.folds)

    def __getitem__(self, key: str | Metric) -> Score:
        if isinstance(key, str) and key in self._scores:
            return self._scores[key]
        cell = self.out_of_fold.cell(key)  # which says what there is
        return self._scores[next(name for name in self.out_of_fold if self.out_of_fold.cell(name) is cell)]

    def __iter__(self) -> Iterator[str]:
        return iter(self._scores)

    def __len__(self) -> int:
        return len(self._scores)

    def to_dict(self) -> dict[str, Any]:
        """Everything but the rows, as plain data."""
        folds = [
            {**{key: value for key, value in fold._asdict().items() if key not in ("report", "test")}}
            for fold in self.folds
        ]
        return {
            "level": self.level,
            "metrics": {key: {**score._asdict(), "values": list(score.values)} for key, score in self.items()},
            "folds": folds,
            "out_of_fold": self.out_of_fold.to_dict(),
        }

    def to_json(self, *, indent: int | None = 2) -> str:
        """The same as JSON; what is undefined is null, with its reason in the notes."""
        return to_json(self.to_dict(), indent)

    def columns(self) -> dict[str, list[Any]]:
        """One row per fold and metric: what the data frames hold."""
        names = ("fold", "metric", "value", "train_rows", "test_rows", "fit_time", "score_time", "reason")
        rows = [
            (
                fold.number,
                key,
                fold.value(key),
                fold.train_rows,
                fold.test_rows,
                fold.fit_time,
                fold.score_time,
                fold.reason(key),
            )
            for fold in self.folds
            for key in self
        ]
        return {name: [row[k] for row in rows] for k, name in enumerate(names)}

    def _frame(self) -> Mapping[str, Any]:
        return self.columns()

    def _table(self) -> Table:
        interval = f"{show_level(self.level)} interval"
        rows = [
            (
                key,
                found.mean,
                found.sd,
                "" if math.isnan(found.lo) else show_interval(found.lo, found.hi),
                found.out_of_fold,
                show_better(found.better),
            )
            for key, found in self.items()
        ]
        notes = [f"{key}, {note}" for key, found in self.items() for note in found.notes]
        numbers = ("mean", "sd", "out of fold")
        title = "1 fold" if len(self.folds) == 1 else f"{len(self.folds):,} folds"
        headings = ("metric", "mean", "sd", interval, "out of fold", "better")
        return Table(f"{title} · {self.out_of_fold.title()} tested", headings, rows, notes, numbers=numbers)

    def __str__(self) -> str:
        return to_text(self._table())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return to_html(self._table())
