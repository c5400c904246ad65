"""Comparison: several models on the same rows, as tables of their values and of their differences."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from tallymark.comparison.corrections import CORRECTIONS
from tallymark.comparison.difference import Difference, difference_between, show_p
from tallymark.errors import ParameterError, Text
from tallymark.evaluation.report import Report
from tallymark.intervals.settings import show_level
from tallymark.metrics.base import Metric
from tallymark.metrics.listing import show_better
from tallymark.rendering.exports import DataFrameExport, DocumentExport, to_json
from tallymark.rendering.html_table import to_html
from tallymark.rendering.table import ShownNumber, Table, note_lines, show_estimate
from tallymark.rendering.text import to_text

if TYPE_CHECKING:
    from tallymark.comparison.plots import ComparisonPlots
    from tallymark.rendering.document import Document


_MOST_NAMES = 4  # in a sentence


class ComparisonSettings(NamedTuple):
    """How a comparison was made."""

    level: float
    correction: str
    baseline: str | None
    resamples: int
    seed: int

    @staticmethod
    def tests(models: int, correction: str, baseline: str | None) -> int:
        """By how many tests the smallest p-value is multiplied; max-T needs no such factor."""
        if correction in ("none", "max-t"):
            return 1
        return models - 1 if baseline is not None else models * (models - 1) // 2


class Comparison(DocumentExport, DataFrameExport):
    """What several models score on the same rows, and which of their differences are significant.

    `reports` has the report of each model; `comparison[("a", "b"), "auc"]` is the difference of b from a. Iteration is
    over all differences.
    """

    _types = {
        **dict.fromkeys(("metric", "first", "second", "method", "winner", "reason", "notes"), str),
        **dict.fromkeys(("value", "lo", "hi", "p", "p_corrected", "detectable"), float),
    }

    def __init__(
        self, reports: Mapping[str, Report], differences: list[Difference], settings: ComparisonSettings
    ) -> None:
        self.reports = dict(reports)
        self.settings = settings
        self._differences = {(d.first, d.second, d.metric): d for d in differences}

    @property
    def plot(self) -> ComparisonPlots:
        """The plots of the comparison, such as `comparison.plot.differences()`."""
        from tallymark.comparison.plots import ComparisonPlots  # few ask

        return ComparisonPlots(self)

    @property
    def models(self) -> tuple[str, ...]:
        """The names of the models."""
        return tuple(self.reports)

    @property
    def metrics(self) -> tuple[str, ...]:
        """The keys of the metrics."""
        return tuple(self._report)

    @property
    def _report(self) -> Report:
        return next(iter(self.reports.values()))

    def __iter__(self) -> Iterator[Difference]:
        return iter(self._differences.values())

    def __len__(self) -> int:
        return len(self._differences)

    def __getitem__(self, place: tuple[tuple[str, str], str | Metric]) -> Difference:
        try:
            (first, second), metric = place
        except (TypeError, ValueError):
            raise KeyError(f"index a comparison by [('first', 'second'), 'metric']; got {place!r}") from None
        key = self._key(metric)
        if (first, second, key) in self._differences:
            return self._differences[first, second, key]
        if (second, first, key) in self._differences:
            return self._differences[second, first, key].flipped()
        pairs = list(dict.fromkeys((d.first, d.second) for d in self))
        raise KeyError(f"{(first, second)!r} were not compared; these were: {', '.join(map(str, pairs))}")

    def _key(self, metric: str | Metric) -> str:
        cell = self._report.cell(metric)  # which says what there is
        return next(key for key in self._report if self._report.cell(key) is cell)

    def ranking(self, metric: str | Metric) -> dict[str, float]:
        """The values of the models, the best first; those that are undefined last."""
        key = self._key(metric)
        better = self._report.cell(key).metric.better
        values = {name: float(report[key]) for name, report in self.reports.items()}

        def place(name: str) -> tuple[bool, float]:
            value = values[name]
            if isinstance(better, (int, float)):
                return math.isnan(value), abs(value - better)
            return math.isnan(value), -value if better == "higher" else value

        return {name: values[name] for name in sorted(values, key=place)}

    def groups(self, metric: str | Metric) -> dict[str, str]:
        """Letters for the models, the best first: two models share a letter exactly where their difference is not
        significant. All are empty where a pair could not be tested."""
        if self.settings.baseline is not None:
            raise ParameterError(Text("groups need every pair of models; leave out {baseline} to have them compared"))
        key = self._key(metric)
        ranked = [name for name, value in self.ranking(key).items() if not math.isnan(value)]
        if any(math.isnan(d.p) for d in self if d.metric == key and {d.first, d.second} <= set(ranked)):
            return dict.fromkeys([*ranked, *self.models], "")
        significant_pairs = {frozenset((d.first, d.second)) for d in self if d.metric == key and d.significant}
        return {
            **letter_display(ranked, significant_pairs),
            **{name: "" for name in self.models if name not in ranked},
        }

    def detectable(self, metric: str | Metric) -> dict[tuple[str, str], float]:
        """The minimum detectable difference of each pair, at a power of 80 %."""
        key = self._key(metric)
        return {(d.first, d.second): d.detectable for d in self if d.metric == key}

    @property
    def intervals(self) -> str | None:
        """Whether intervals are "simultaneous" for all pairs of a metric or "uncorrected"; None for a single pair."""
        if len(self) == len(self.metrics):
            return None
        return "simultaneous" if self.settings.correction == "max-t" else "uncorrected"

    def summary(self, metric: str | Metric) -> str:
        """Which model scores best in a metric, and whether the others differ significantly from it, in a sentence."""
        key = self._key(metric)
        name, pairs = self._report.display_name(key), [d for d in self if d.metric == key]
        if len(pairs) == 1 and (self._best(key) is None or pairs[0].verdict != "not significant"):
            return str(pairs[0])
        return f"{name}: {self._outcome(key, pairs)}"

    def _best(self, key: str) -> list[str] | None:
        """The models that score best in a metric; None where no value is better than another."""
        item, values = self._report.cell(key).metric, self.ranking(key)
        best = next(iter(values.values()))
        if item.better is None or math.isnan(best):
            return None
        return [name for name, value in values.items() if difference_between(item, best, value) == 0]

    def _outcome(self, key: str, pairs: Sequence[Difference]) -> str:
        best = self._best(key)
        if best is None:
            return f"{sum(d.significant for d in pairs)} of {len(pairs)} differences are significant"
        rivals = [d for d in pairs if best[0] in (d.first, d.second) and not {d.first, d.second} <= set(best)]
        tested = [d for d in rivals if not math.isnan(d.p)]
        others = [d for d in tested if not d.significant] or tested
        clauses = [f"{_join_names(best)} {'scores' if len(best) == 1 else 'score'} best"]
        if others:
            how = others[0].method if self.intervals is None else CORRECTIONS[self.settings.correction]
            verdict = "significant" if others[0].significant else "not significant"
            clauses.append(f"{_name_rivals(others, best[0])} {verdict} ({_shown_ps(others)}, {how})")
        if len(tested) < len(rivals):
            untested = [d for d in rivals if math.isnan(d.p)]
            clauses.append(f"{_name_rivals(untested, best[0])} not testable")
        return "; ".join(clauses)

    def to_dict(self) -> dict[str, Any]:
        """The whole comparison as plain data."""
        return {
            "n": self._report.n,
            "total_weight": self._report.total_weight,
            "dropped": self._report.dropped,
            **self.settings._asdict(),
            "intervals": self.intervals,
            "models": {name: report.metrics_to_dict() for name, report in self.reports.items()},
            "groups": None if self.settings.baseline else {key: self.groups(key) for key in self.metrics},
            "differences": [difference.to_dict() for difference in self],
        }

    def to_json(self, *, indent: int | None = 2) -> str:
        """The whole comparison as JSON; what is undefined is null, with its reason beside it."""
        return to_json(self.to_dict(), indent)

    def _frame(self) -> Mapping[str, Any]:
        return self._rows()

    def _rows(self) -> dict[str, list[Any]]:
        names = ("metric", "first", "second", "value", "lo", "hi", "p", "p_corrected", "detectable", "method", "winner")
        columns = {name: [getattr(d, name) for d in self] for name in names}
        return {**columns, "reason": [d.reason for d in self], "notes": ["; ".join(d.notes) or None for d in self]}

    def _values_table(self) -> Table:
        grouped = self.settings.baseline is None
        rows, lettered = [], False
        for key in self.metrics:
            better = show_better(self._report.cell(key).metric.better)
            group = self.groups(key) if grouped else {}
            lettered |= any(group.values())
            rows += [
                (self._report.name_of_part(key), name, value, *((group[name],) if grouped else ()), better)
                for name, value in self.ranking(key).items()
            ]
        headings = ("metric", "model", "value", *(("group",) if grouped else ()), "better")
        notes = note_lines(
            (text, f"{self._report.display_name(key, positive=False)} of {name}")
            for key in self.metrics
            for name, report in self.reports.items()
            for text in (report.cell(key).reason, *report.cell(key).notes)
            if text
        )
        if lettered:
            notes.append("models that share a letter do not differ significantly")
        notes = [*self._report.kind_notes(), *notes]
        return Table(self._report.title(), headings, rows, notes, numbers=("value",))

    def _pairs_table(self) -> Table:
        corrected = self.intervals == "uncorrected" and self.settings.correction != "none"  # unlike p
        interval = f"{show_level(self.settings.level)} interval"
        if self.intervals is not None:
            interval += f" ({self.intervals})"
        ps = ("p", "corrected p") if corrected else ("p",)
        headings = ["metric", "pair", "difference", interval, *ps, "detectable", "verdict", "method"]
        rows: list[list[object]] = []
        for d in self:
            amount, limits = show_estimate(d.value, *((None, None) if math.isnan(d.lo) else (d.lo, d.hi)))
            rows.append(
                [
                    self._report.name_of_part(d.metric),
                    f"{d.second} − {d.first}",
                    ShownNumber(d.value, amount),
                    limits,
                    *(_short_p(p, d) for p in (d.p, d.p_corrected)[: len(ps)]),
                    "" if math.isnan(d.detectable) else float(f"{d.detectable:.3g}"),
                    d.verdict,
                    d.method,
                ]
            )
        noted = ((text, f"{d.name}, {d.second} − {d.first}") for d in self for text in (d.reason, *d.notes) if text)
        notes = note_lines(noted, "; ")
        for key in self.metrics:
            best = self._report.cell(key).metric.better
            if isinstance(best, (int, float)):
                notes.append(f"{self._report.display_name(key)}: distances from {best:g} are compared")
        pairs = f"for the {len(self) // len(self.metrics)} pairs of each metric"
        correction = CORRECTIONS[self.settings.correction]
        if corrected:
            notes.append(f"corrected p is corrected {pairs} ({correction}); p and intervals are uncorrected")
        elif self.intervals == "simultaneous":
            notes.append(f"p and intervals are corrected {pairs} ({correction})")
        if not all(math.isnan(d.detectable) for d in self):
            for_all = ", corrected for all pairs" if corrected or self.intervals == "simultaneous" else ""
            notes.append(f"detectable: minimum detectable difference (80 % power{for_all})")
        return Table("", headings, rows, notes, numbers=("difference", *ps, "detectable"))

    def _tables(self) -> list[Table]:
        values, summaries = self._values_table(), [self.summary(key) for key in self.metrics]
        return [values._replace(notes=[*summaries, *values.notes]), self._pairs_table()]

    def _document(self, title: str | None, command: str | None, *, pictures: bool) -> Document:
        from tallymark.comparison.document import comparison_document  # few ask

        return comparison_document(self, title, command, pictures=pictures)

    def __str__(self) -> str:
        return "\n\n".join(map(to_text, self._tables()))

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return "".join(map(to_html, self._tables()))


def _short_p(p: float, difference: Difference) -> str:
    shown = show_p(p, difference.level, at_floor=difference.p_at_floor) if not math.isnan(p) else ""
    return shown.removeprefix("= ")


def _shown_ps(differences: Sequence[Difference]) -> str:
    """The p-value of one difference, or the bound of several: from below where they are not significant."""
    if len(differences) == 1:
        return differences[0].shown_p()
    outer = min if not differences[0].significant else max
    shown = outer(differences, key=lambda d: d.p_corrected).shown_p()
    return shown.replace("=", "≥" if outer is min else "≤")


def _name_rivals(differences: Sequence[Difference], best: str) -> str:
    """The subject of a sentence about the differences of other models from the best."""
    names = [d.second if d.first == best else d.first for d in differences]
    return f"the difference{'s' * (len(names) > 1)} from {_join_names(names)} {'are' if len(names) > 1 else 'is'}"


def _join_names(names: Sequence[str]) -> str:
    if len(names) > _MOST_NAMES:
        return f"{len(names)} models"
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]


def letter_display(names: Sequence[str], significant_pairs: set[frozenset[str]]) -> dict[str, str]:
    """A compact letter display: two names share a letter exactly where their pair is not significant. Letters follow
    the order of the names.

    >>> letter_display(["x", "y", "z"], {frozenset(("x", "z"))})
    {'x': 'a', 'y': 'ab', 'z': 'b'}
    """
    groups = [frozenset(names)]
    for pair in sorted(significant_pairs, key=sorted):
        split = [group - {name} if pair <= group else group for group in groups for name in sorted(pair)]
        distinct = list(dict.fromkeys(split))
        groups = [group for group in distinct if not any(group < other for other in distinct)]
    places = {name: k for k, name in enumerate(names)}
    groups.sort(key=lambda group: sorted(places[name] for name in group))
    return {name: "".join(_letter(k) for k, group in enumerate(groups) if name in group) for name in names}


def _letter(place: int) -> str:
    """a to z, then numbers."""
    return chr(ord("a") + place) if place < 26 else f"({place + 1})"
