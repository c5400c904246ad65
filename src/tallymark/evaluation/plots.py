"""The plots of a report: which can be drawn, and of what.

A plot reads the states of the report (`ReportSource`); where they do not hold what it needs, the rows are read once
more. The report of a `Tally` has its states only.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, Never, ParamSpec

import numpy as np

from tallymark.data.arrays import Array
from tallymark.data.target import show_labels
from tallymark.errors import ParameterError, ShapeError, TallymarkError, Text, UndefinedError, brief, nearest
from tallymark.evaluation.report import ReportSource
from tallymark.evaluation.residuals import normal_pairs, normality, quantiles_by_group
from tallymark.intervals.analytic import TOO_LARGE, distribution_reach, is_rounding, wilson
from tallymark.intervals.distributions import normal_quantile
from tallymark.intervals.settings import check_whole, show_level
from tallymark.metrics.answer import Undefined
from tallymark.metrics.base import Metric
from tallymark.metrics.classification.confusion_matrix import Confusion, ConfusionMatrix, show_label
from tallymark.metrics.fairness.base import show_group
from tallymark.metrics.probability.calibration import Ece, ReliabilityCurve
from tallymark.metrics.regression.bias import mean_bias
from tallymark.metrics.regression.squared_error import rmse
from tallymark.metrics.regression.variance_explained import r2
from tallymark.metrics.scores.auc import auc
from tallymark.metrics.scores.average_precision import average_precision
from tallymark.metrics.scores.base import ONE_CLASS, RankMetric
from tallymark.metrics.scores.curve import Curve
from tallymark.metrics.scores.curves import CurveMetric, lift_curve, pr_curve, roc_curve
from tallymark.metrics.scores.threshold_table import (
    Thresholds,
    label_metric,
    threshold_counts,
    threshold_table,
    values_at,
)
from tallymark.rendering.plots.canvas import show_value
from tallymark.rendering.plots.class_balance import MOST_CLASSES as MOST_CLASSES_BALANCED
from tallymark.rendering.plots.class_balance import ClassCount, class_balance_plot
from tallymark.rendering.plots.confusion_matrix import MOST_CLASSES, confusion_matrix_plot, mistakes_plot
from tallymark.rendering.plots.curves import Band, Line, precision_recall_plot, roc_plot
from tallymark.rendering.plots.gain import gain_plot
from tallymark.rendering.plots.group_dots import MOST_GROUPS, GroupDot, group_dots_plot
from tallymark.rendering.plots.plot import Plot
from tallymark.rendering.plots.qq import qq_plot
from tallymark.rendering.plots.reliability import ReliabilityBin, reliability_plot
from tallymark.rendering.plots.residual_boxes import SHARES, ResidualBox, residual_boxes_plot
from tallymark.rendering.plots.scatter import (
    predictions_plot,
    residuals_plot,
    shown_range,
    spread_table,
    value_range,
    weighted_quantiles,
)
from tallymark.rendering.plots.score_histogram import ClassScores, score_histogram_plot
from tallymark.rendering.plots.thinning import BLOCK, distinct_points
from tallymark.rendering.plots.thresholds import BestThresholdMark, thresholds_plot
from tallymark.rendering.table import ShownNumber, Table, show_number
from tallymark.states.groups import group_codes
from tallymark.states.labels.counts import name_decisions
from tallymark.states.scores.runs import Runs, Steps, measure_runs, walk_steps
from tallymark.states.scores.scores import Scores

if TYPE_CHECKING:
    from tallymark.evaluation.report import Cell, Report


P = ParamSpec("P")

ROC = (roc_curve, auc, "fpr", "tpr")
"""A curve, the area under it, what is along and what is up."""
PRECISION_RECALL = (pr_curve, average_precision, "recall", "precision")
_RANKED = ("roc", "precision_recall", "score_histogram", "lift", "thresholds")
_DECIDED = ("confusion", "class_balance")
_MOST_LISTED = 500  # groups in the table of a plot
_LARGEST = 1e300  # residual of which there is a QQ plot
_OF_KIND = {
    "value": ("residuals", "predictions", "qq"),
    "label": _DECIDED,
    "probability": (*_RANKED, "reliability", *_DECIDED),
    "margin": (*_RANKED, "reliability", *_DECIDED),
    "score": _RANKED,
}
_OF_FAMILY = {
    "regression": _OF_KIND["value"],
    "classification": _OF_KIND["label"],
    "probability": _OF_KIND["probability"],
    "score": _OF_KIND["score"],
}


def _cached(
    draw: Callable[Concatenate[ReportPlots, P], Plot],
) -> Callable[Concatenate[ReportPlots, P], Plot]:
    """The plot that was made before, where the same one is asked for again."""

    @wraps(draw)
    def once(self: ReportPlots, /, *args: P.args, **kwargs: P.kwargs) -> Plot:
        cache = self._source.plots
        key = (draw.__name__, repr(args), repr(kwargs))
        if key not in cache:
            cache[key] = draw(self, *args, **kwargs)
        plot: Plot = cache[key]
        return plot

    return once


class ReportPlots:
    """The plots of a report. `available()` names those that it can draw; each is a method, and gives a `Plot`.

    >>> import tallymark as tm
    >>> report = tm.evaluate([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], ["auc"])
    >>> report.plot.available()
    ('roc', 'precision_recall', 'score_histogram', 'lift', 'thresholds')
    >>> report.plot.roc().description
    'ROC curve: the area under the curve is 0.75; chance has 0.5.'
    """

    def __init__(self, report: Report) -> None:
        self._report = report

    if not TYPE_CHECKING:  # which knows the plots

        def __getattr__(self, name: str) -> Any:
            """Name the plot that was meant, such as `roc` by `roc_curve`."""
            begun = [each for each in (*_RANKED, *_DECIDED, "reliability") if name.startswith(each)]
            near = begun or nearest(name, self._suitable(), 1)
            hint = f"; call report.plot.{near[0]}()" if near and not name.startswith("_") else ""
            raise AttributeError(f"a report has no plot {name!r}{hint}", name=name, obj=self)

    def __call__(self, *given: object, **named: object) -> Never:
        """Say which plots there are."""
        calls = ", ".join(f"report.plot.{name}()" for name in self.available()) or "none for these metrics"
        raise ParameterError(f"each plot of a report has a name: {calls}")

    def available(self) -> tuple[str, ...]:
        """The names of the plots that can be drawn of these rows."""
        return tuple(name for name, reason in self._drawing_errors().items() if reason is None)

    def reasons(self) -> dict[str, str]:
        """Why plots that would suit these predictions cannot be drawn, by name."""
        return {name: reason for name, reason in self._drawing_errors().items() if reason is not None}

    def _drawing_errors(self) -> dict[str, str | None]:
        errors: dict[str, str | None] = {}
        for name in self._suitable():
            draw: Callable[[], Plot] = getattr(self, name)
            try:
                draw()
                errors[name] = None
            except TallymarkError as error:
                errors[name] = str(error)
        return errors

    def _suitable(self) -> tuple[str, ...]:
        """The plots that suit the kind of the predictions, or where that was not said, the metrics that read them."""
        names: list[str] = []
        if self._report._source is not None:
            kind = self._report.kind
            families = [cell.metric.family for cell in self._cells() if cell.error is None]
            names += _OF_KIND[kind] if kind else [name for each in families for name in _OF_FAMILY.get(each, ())]
        if self._report.slices is not None:
            names += ["residuals_by_group"] if "residuals" in names else []
            names.append("slices")
        return tuple(dict.fromkeys(names))

    def _cells(self) -> list[Cell]:
        return [self._report.cell(key) for key in self._report]

    @property
    def _source(self) -> ReportSource:
        if self._report._source is None:
            raise ParameterError(
                "this report has neither rows nor states: it belongs to a group, or was copied or stored",
                hint="Evaluate its rows alone",
            )
        return self._report._source

    @_cached
    def roc(self) -> Plot:
        """True against false positives at every threshold; of several classes, each against the rest."""
        lines, table = self._curve_lines(*ROC)
        return roc_plot(lines, table, **self._roc_band(lines))

    @_cached
    def precision_recall(self) -> Plot:
        """Precision by recall at every threshold; of several classes, each against the rest."""
        lines, table = self._curve_lines(*PRECISION_RECALL)
        table, band = self._precision_band(table)
        return precision_recall_plot(lines, table, **band)

    def _roc_band(self, lines: list[Line]) -> dict[str, Any]:
        """The simultaneous band of a ROC curve (Campbell 1994), where the report has intervals, and what to say of it:
        at every threshold a box of the bands of both distribution functions, each at the square root of the level."""
        runs, level, note = self._runs_for_band(roc_curve)
        if runs is None:
            return {"note": note}
        x, y = (distribution_reach(measure_runs(each)[0], math.sqrt(level)) for each in runs)
        band = Band.of_boxes(lines[0].x, lines[0].y, (x, y), f"{show_level(level)} confidence band, simultaneous")
        rates = f"false positives ± {show_number(x, 2)}, true positives ± {show_number(y, 2)}"
        note = f" The shaded {show_level(level)} confidence band is simultaneous (Campbell): {rates}."
        return {"band": band, "note": note}

    def _precision_band(self, table: Table) -> tuple[Table, dict[str, Any]]:
        """The table with the pointwise band of precision, where the report has intervals, and what to say of it: the
        Wilson intervals of the share of positives among the rows that reach each threshold."""
        runs, level, note = self._runs_for_band(pr_curve)
        if runs is None:
            return table, {"note": note}
        steps, points = walk_steps(*runs), self._require_value(pr_curve)
        places = distinct_points(points["recall"], points["precision"])
        reached = np.searchsorted(-steps.thresholds, -points["threshold"][places])
        counts = steps.tp[reached].tolist(), (steps.tp + steps.fp)[reached].tolist()
        low, high = np.array([wilson(*each, level) for each in zip(*counts, strict=True)]).T
        recall, name = points["recall"][places], f"{show_level(level)} confidence band, pointwise"
        band = Band.of_steps(recall[1:], low[1:], high[1:], name)
        with_ends = Curve(
            points.title, {key: column[places] for key, column in points.columns.items()} | {"lo": low, "hi": high}
        )
        note = f" The shaded {show_level(level)} confidence band is pointwise (Wilson)."
        return _table_of_shown_points(with_ends, points.summary()), {"band": band, "note": note}

    def _runs_for_band(self, curve: CurveMetric) -> tuple[tuple[Runs, Runs] | None, float, str]:
        """The scores of two classes and the level, if a curve gets a band; else why it does not, where one was asked
        for."""
        settings, state = self._report.interval, self._source.state(curve)
        if settings is None or not isinstance(state, Scores) or state.several:
            return None, 0.0, ""
        runs = state.binary()
        why = self._why_no_formula(unweighted=runs[0][1] is None and runs[1][1] is None)
        return (None, 0.0, f" There is no confidence band: {why}.") if why else (runs, settings.level, "")

    def _why_no_formula(self, *, unweighted: bool) -> str:
        """Why no formula gives an interval, as they are for independent rows of equal weight; empty where one does."""
        if not unweighted:
            return "the rows have weights"
        return "the rows are clustered" if self._source.clustered else ""

    def _curve_line(self, name: str, curve: CurveMetric, area: RankMetric, x: str, y: str) -> tuple[Line, Table]:
        """The curve of two classes, and some of its points."""
        points, value = self._require_value(curve), self._require_value(area)
        places = distinct_points(points[x], points[y])
        value, interval = self._as_in_report(area, value), self._interval(area)
        line = Line(name, points[x][places], points[y][places], value, interval, share=float(points[y][-1]))
        return line, _curve_table(points, places)

    def _curve_lines(self, curve: CurveMetric, area: RankMetric, x: str, y: str) -> tuple[list[Line], Table]:
        state: Any = self._source.state(curve)
        if state.n == 0 or not state.several:
            line, table = self._curve_line("", curve, area, x, y)
            return [line], table
        lines, missing = [], {}
        for place, label in enumerate(state.classes):
            points, value = curve.from_class(state, place), area.from_class(state, place)
            if isinstance(points, Undefined) or isinstance(value, Undefined):
                missing[show_label(label)] = next(
                    each.reason for each in (points, value) if isinstance(each, Undefined)
                )
                continue
            places = distinct_points(points[x], points[y])
            share = float(points[y][-1])
            lines.append(Line(show_label(label), points[x][places], points[y][places], value, share=share))
        if not lines:
            raise UndefinedError(f"{curve.name} is undefined for every class: {next(iter(missing.values()))}")
        lines.sort(key=lambda line: -line.area)
        rows = [*((line.name, line.area) for line in lines), *((name, math.nan) for name in missing)]
        notes, what = [f"{name}: {reason}" for name, reason in missing.items()], area.display_name
        title = f"{curve.title} of each class against the rest"
        return lines, Table(title, ("class", what), rows, notes, numbers=(what,), named_rows=True)

    @_cached
    def thresholds(self) -> Plot:
        """Precision, recall and F1 at every threshold, and where F1 is best."""
        state: Any = self._source.state(threshold_table)
        if state.several:
            raise UndefinedError("thresholds need two classes; there are more")
        if state.n == 0:
            self._require_value(threshold_table)  # which says why not
        table, table_shown = _thin_thresholds(state)
        best = table.choose("fscore")
        marked = None if isinstance(best, Undefined) else BestThresholdMark("F1", best.threshold, best.value)
        values = {"precision": table["precision"], "recall": table["recall"], "F1": table["fscore"]}
        return thresholds_plot(table["threshold"], values, marked, table_shown, unit=self._reads_probabilities())

    def _threshold(self, threshold: float | None) -> float:
        """The threshold that was asked for, or that of the first metric on labels, so that plots and values agree."""
        if threshold is not None:
            return threshold
        found = (cell.metric.parameters().get("threshold") for cell in self._cells() if cell.metric.kind == "label")
        return next((each for each in found if each is not None), 0.5)

    def _reads_probabilities(self) -> bool:
        """Whether scores are probabilities, from 0 to 1."""
        kind = self._report.kind
        return kind == "probability" or (
            kind is None and any(cell.metric.family == "probability" for cell in self._cells())
        )

    @_cached
    def score_histogram(self, *, label: object = None, bins: int = 30) -> Plot:
        """The scores of both classes as histograms, each of the shares of its own rows; of several classes, those of
        one against the rest: `label`, or the one with the lowest ROC AUC."""
        check_whole("bins", bins, 1, 1000)
        classes, chosen = self._two_classes(label)
        classes = [(name, runs) for name, runs in classes if len(runs[0])]
        unit = self._reads_probabilities()
        edges, outside = _bin_edges([runs for _, runs in classes], bins, unit=unit)
        heights = [_histogram_of(runs, edges) for _, runs in classes]
        drawn = [
            ClassScores(name, counts / counts.sum(), float(_weights_of(runs).sum()), _median_of(runs))
            for (name, runs), counts in zip(classes, heights, strict=True)
        ]
        counted = "weight" if any(runs[1] is not None for _, runs in classes) else "rows"
        headings = ("from", "to", *(f"{counted} of class {name}" for name, _ in classes))
        lists = [edges[:-1].tolist(), edges[1:].tolist(), *(counts.tolist() for counts in heights)]
        rows = [row for row in zip(*lists, strict=True) if any(row[2:])]
        what = f"{'probability' if unit else 'score'}{f' of {chosen}' if chosen else ''}"
        table = Table("Scores by class", headings, rows, numbers=headings)
        facts = self._shown_class(chosen, label, "score_histogram")
        return score_histogram_plot(edges, drawn, table, what=what, counted=counted, outside=outside, **facts)

    @_cached
    def lift(self, *, label: object = None) -> Plot:
        """How many of the positives the rows with the highest scores hold, and how many times more than rows taken at
        random; of several classes, for one against the rest: `label`, or the one with the lowest ROC AUC."""
        ((_, negative), (_, positive)), chosen = self._two_classes(label)
        steps = walk_steps(negative, positive)
        if not steps.positives or not steps.negatives:
            raise UndefinedError(f"{lift_curve.name} is undefined: {ONE_CLASS.reason}")
        if not steps.finite:
            raise UndefinedError(f"{lift_curve.name} is undefined: {TOO_LARGE}")
        points: Any = lift_curve.from_steps(steps)
        places = distinct_points(points["share"], points["gain"])
        prevalence = steps.positives / (steps.positives + steps.negatives)
        positives = f"the rows of {chosen}" if chosen else "the positives"
        table = _curve_table(points, places)
        columns, facts = (points["share"][places], points["gain"][places]), self._shown_class(chosen, label, "lift")
        return gain_plot(*columns, prevalence, table, positives=positives, **facts)

    def _shown_class(self, chosen: str, label: object, plot: str) -> dict[str, Any]:
        """What the title and the caption add where one class of several is shown: which, why, and how to see others."""
        if not chosen:
            return {}
        state: Any = self._source.state(roc_curve)
        why = ", the one with the lowest ROC AUC" if label is None else ""
        note = f" Shown is {chosen}{why}, of {len(state.classes)} classes; for another: report.plot.{plot}(label=…)."
        return {"of": f" · {chosen} against the rest", "note": note}

    def _two_classes(self, label: object) -> tuple[list[tuple[str, Runs]], str]:
        """The names and scores of the negative and of the positive class; of several classes those of one against the
        rest, and then its name."""
        state: Any = self._source.state(roc_curve)
        if state.n == 0:
            raise UndefinedError("nothing to draw: there are no rows")
        if not state.several:
            if label is not None:
                raise ParameterError(
                    argument="label", expected="be left out, since there are two classes", got=brief(label)
                )
            names = [show_label(each) for each in name_decisions(state.classes, state.target, labels=False)]
            return list(zip(names, state.binary(), strict=True)), ""
        place = self._place_of_class(state, label)
        name = show_label(state.classes[place])
        return list(zip(("the rest", name), state.one_against_rest(place), strict=True)), name

    def _place_of_class(self, state: Any, label: object) -> int:
        """The place of a class among several; without a label, of the one with the lowest area under the ROC curve."""
        shown = [show_label(each) for each in state.classes]
        if label is None:
            areas = [auc.from_class(state, place) for place in range(len(shown))]
            known = [(area, place) for place, area in enumerate(areas) if not isinstance(area, Undefined)]
            if not known:
                raise UndefinedError(f"there is nothing to draw: {ONE_CLASS.reason}")
            return min(known)[1]
        if str(label) not in shown:
            raise ParameterError(argument="label", expected=f"be one of {show_labels(state.classes)}", got=brief(label))
        return shown.index(str(label))

    @_cached
    def reliability(self, *, bins: int = 15, strategy: str = "width") -> Plot:
        """Predicted probabilities against observed shares, in bins, with intervals where the report has them."""
        item = ReliabilityCurve(bins=bins, strategy=strategy)
        curve = self._require_value(item)
        ece = Ece(bins=bins, strategy=strategy)
        error = self._as_in_report(ece, self._require_value(ece))
        state: Any = self._source.state(item)
        points = [
            ReliabilityBin(*row) for row in zip(*(column.tolist() for column in curve.columns.values()), strict=True)
        ]
        settings, interval, note = self._report.interval, "", ""
        why = self._why_no_formula(unweighted=state.unweighted)
        if settings is not None and why:
            note = f" There are no intervals: {why}."
        elif settings is not None:
            ends = [wilson(round(each.observed * each.weight), each.weight, settings.level) for each in points]
            points = [each._replace(lo=lo, hi=hi) for each, (lo, hi) in zip(points, ends, strict=True)]
            interval = f"{show_level(settings.level)} Wilson interval"
            note = f" The shaded {interval}s of the bins are pointwise."
            low, high = np.array(ends).T
            curve = Curve(curve.title, {**curve.columns, "lo": low, "hi": high})
        what = "share of rows that were right" if state.columns[1] > 2 else "share of positives"
        return reliability_plot(points, error, curve.table(), what=what, interval=interval, note=note)

    @_cached
    def confusion(self, *, threshold: float | None = None) -> Plot:
        """How often each class was taken for each; of very many classes, the most frequent mistakes."""
        matrix: Confusion = self._require_value(ConfusionMatrix(threshold=self._threshold(threshold)))
        names = [show_label(label) for label in matrix.classes]
        if len(names) <= MOST_CLASSES:
            return confusion_matrix_plot(names, matrix.to_numpy(), matrix.table())
        rows: dict[Any, float] = {}
        right = 0.0
        for truth, predicted, count in matrix.pairs():
            rows[truth] = rows.get(truth, 0.0) + count
            right += count if truth == predicted else 0.0
        mistakes = [(show_label(y), show_label(p), count, count / rows[y]) for y, p, count in matrix.mistakes(15)]
        return mistakes_plot(mistakes, len(names), right / sum(rows.values()), matrix.table())

    @_cached
    def class_balance(self, *, threshold: float | None = None) -> Plot:
        """How many rows each class has in the truth and in the predictions."""
        matrix: Confusion = self._require_value(ConfusionMatrix(threshold=self._threshold(threshold)))
        truth, predicted = (dict.fromkeys(matrix.classes, 0.0) for _ in range(2))
        for row, column, count in matrix.pairs():
            truth[row] += count
            predicted[column] += count
        total = sum(truth.values())
        counts = [ClassCount(show_label(label), truth[label], predicted[label]) for label in matrix.classes]
        headings = ("class", "truth", "predictions", "share of truth", "share of predictions")
        listed, drawn, left_out = counts, counts, ""
        if len(counts) > MOST_CLASSES_BALANCED:
            by_change = sorted(counts, key=lambda each: -abs(each.predicted - each.truth))
            listed, drawn = by_change[:_MOST_LISTED], by_change[:MOST_CLASSES_BALANCED]
            left_out = f"the {len(drawn)} of {len(counts):,} that differ most"
        rows = [(*each, each.truth / total, each.predicted / total) for each in listed]
        notes = [] if len(listed) == len(counts) else [f"{len(listed)} of {len(counts):,} classes"]
        table = Table("Class balance", headings, rows, notes, numbers=headings[1:], named_rows=True)
        return class_balance_plot(drawn, total, table, left_out=left_out)

    @_cached
    def residuals(self, *, output: int | None = None) -> Plot:
        """What was predicted too much or too little, by prediction, and how that is spread; of several outputs, one."""
        truth, prediction, weights, of = self._output_columns(output)
        with np.errstate(over="ignore"):  # which is refused below
            residual = prediction - truth
        table = spread_table(f"Residuals{of}: prediction − truth", residual, weights)
        bias, root = (self._as_in_report(item, item(truth, prediction, weights=weights)) for item in (mean_bias, rmse))
        return residuals_plot(prediction, residual, weights, bias=bias, rmse=root, table=table, output=of)

    @_cached
    def qq(self, *, output: int | None = None) -> Plot:
        """Residuals against a normal distribution of their mean and standard deviation, and how they depart from it; of
        several outputs, one."""
        residual, weights, of = self._residuals(output)
        scale = float(np.abs(residual).max())
        if scale > _LARGEST:
            raise UndefinedError(f"residuals of {scale:g} are too large for a QQ plot")
        if is_rounding(float(np.ptp(residual)), scale):
            raise UndefinedError("a QQ plot needs residuals that vary")
        scaled = residual / scale  # so that no sum of squares overflows
        centre = float(np.average(scaled, weights=weights))
        mean = scale * centre
        deviation = scale * math.sqrt(float(np.average((scaled - centre) ** 2, weights=weights)))
        ordered, normal = normal_pairs(residual, weights)
        shares = (0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99)
        quantiles = weighted_quantiles(residual, weights, shares).tolist()
        rows = [(s, q, mean + deviation * normal_quantile(s)) for s, q in zip(shares, quantiles, strict=True)]
        headings = ("share of rows", "residual", "normal")
        table = Table(f"Quantiles of the residuals{of}", headings, rows, numbers=headings)
        departure = (
            f"the middle 90 % lie between {show_value(rows[1][1])} and {show_value(rows[5][1])}, those of a normal "
            f"distribution between {show_value(rows[1][2])} and {show_value(rows[5][2])}"
        )
        tested = None if self._why_no_formula(unweighted=weights is None) else normality(scaled)
        if tested is not None:
            departure += f"; {tested.sentence()}"
        facts: dict[str, Any] = {"mean": mean, "deviation": deviation, "table": table, "departure": departure}
        return qq_plot(normal, ordered, **facts, output=of)

    @_cached
    def residuals_by_group(self, *, output: int | None = None) -> Plot:
        """How the residuals of each group are spread: the median, the middle 50 % and the middle 90 % of the rows."""
        slices, batch = self._report.slices, self._source.batch
        if slices is None:
            raise ParameterError(Text("the report has no groups: pass {by} to evaluate to have them"))
        residual, weights, of = self._residuals(output)
        value_range(residual)
        if batch is None:
            raise ParameterError(
                "the rows of this report are gone, and with them their groups", hint="Evaluate all rows at once"
            )
        if slices.names != batch.group_names:
            batch = batch.grouped_by(slices.names[0])
        groups, codes = group_codes(batch)
        if weights is not None:
            codes = codes[np.asarray(batch.weights) > 0]
        sizes = np.bincount(codes, minlength=len(groups)).tolist()
        quantiles = quantiles_by_group(residual, weights, codes, SHARES).tolist()
        rows_by_group = zip(groups, sizes, quantiles, strict=False)  # of the last ones no row may weigh anything
        boxes = [ResidualBox(show_group(group), *rest) for group, *rest in rows_by_group if rest[0]]
        boxes.sort(key=lambda box: box.quantiles[2])
        drawn, left_out, half = boxes, "", MOST_GROUPS // 2
        if len(boxes) > MOST_GROUPS:
            drawn, left_out = boxes[:half] + boxes[-half:], f"{half} lowest and highest of {len(boxes):,}"
        listed = boxes if len(boxes) <= _MOST_LISTED else drawn
        by, numbers = ", ".join(slices.names), ("rows", "5 %", "25 %", "median", "75 %", "95 %")
        headings = (by if by not in numbers else f"{by} ", *numbers)
        rows = [(each.name, each.rows, *each.quantiles) for each in listed]
        notes = [] if listed is boxes else [f"{len(listed)} of {len(boxes):,} groups"]
        table = Table(f"Residuals by {by}{of}", headings, rows, notes, numbers=numbers, named_rows=True)
        return residual_boxes_plot(by, drawn, table, output=of, left_out=left_out)

    def _residuals(self, output: int | None) -> tuple[Array, Array | None, str]:
        """Prediction − truth of one output, the weights, and what to add to the title."""
        truth, prediction, weights, of = self._output_columns(output)
        with np.errstate(over="ignore"):  # which is refused where it is drawn
            return prediction - truth, weights, of

    @_cached
    def predictions(self, *, output: int | None = None) -> Plot:
        """What was predicted, by what was true; of several outputs, one."""
        truth, prediction, weights, of = self._output_columns(output)
        table = spread_table(f"Predictions by truth{of}", truth, weights, prediction, "mean prediction")
        share, root = (self._as_in_report(item, item(truth, prediction, weights=weights)) for item in (r2, rmse))
        return predictions_plot(truth, prediction, weights, r2=share, rmse=root, table=table, output=of)

    def _output_columns(self, output: int | None) -> tuple[Array, Array, Array | None, str]:
        """Truth and prediction of one output, the weights, and what to add to the title."""
        rmse.check_kind(self._report.kind)
        truth, prediction, weights = self._source.rows()
        truth, prediction = (np.asarray(side).reshape(len(side), -1) for side in (truth, prediction))
        width = truth.shape[1]
        if prediction.shape[1] != width:
            raise ShapeError(
                argument="y_pred",
                expected=Text("have one column for each of {y_true}"),
                got=f"{prediction.shape[1]} and {width}",
            )
        if output is not None and not 0 <= output < width:
            there = f"from 0 to {width - 1}" if width > 1 else "0, since there is only one output"
            raise ParameterError(argument="output", expected=f"be {there}", got=brief(output))
        column = output or 0
        sides = [np.asarray(side[:, column], np.float64) for side in (truth, prediction)]
        if weights is not None:
            there = weights > 0
            sides, weights = [side[there] for side in sides], np.asarray(weights[there], np.float64)
        if not len(sides[0]):
            raise UndefinedError("nothing to draw: there are no rows")
        return sides[0], sides[1], weights, f" · output {column}" if width > 1 else ""

    def slices(self, metric: str | Metric | None = None) -> Plot:
        """A metric in every group, with intervals and sizes, and the value of all rows."""
        slices = self._report.slices
        if slices is None:
            raise ParameterError(Text("the report has no groups: pass {by} to evaluate to have them"))
        of_group = next(iter(slices.values()))
        key = self._single_number_key(metric, of_group)
        in_order = list(slices) if of_group.cell(key).metric.better is None else slices.worst_first(key)
        dots = [_group_dot(show_group(group), slices[group], key) for group in in_order]
        whole = GroupDot("all", math.nan, self._report.n)
        if key in list(self._report):  # and not only compared between groups
            whole = _group_dot("all", self._report, key)
        drawn, left_out = dots[:MOST_GROUPS], ""
        if len(drawn) < len(dots):
            which = "first" if of_group.cell(key).metric.better is None else "worst"
            left_out = f"{which} {len(drawn)} of {len(dots):,} groups"
        by, settings = ", ".join(slices.names), self._report.interval
        interval = "" if settings is None else f"{settings.heading()}s"
        name = of_group.display_name(key)
        numbers = ("rows", name, *(("lo", "hi") if interval else ()))
        listed = dots if len(dots) <= _MOST_LISTED else drawn
        rows = [(d.name, d.rows, d.value, *((d.lo, d.hi) if interval else ())) for d in listed]
        notes = [] if listed is dots else [f"{len(listed)} of {len(dots):,} groups: see .slices.to_pandas()"]
        headings = (by if by not in numbers else f"{by} ", *numbers)
        table = Table(f"{name} by {by}", headings, rows, notes, numbers=numbers, named_rows=True)
        return group_dots_plot(name, by, drawn, whole, table, left_out=left_out, interval=interval)

    def _single_number_key(self, key_or_metric: str | Metric | None, group_report: Report) -> str:
        """The key of a metric that has one number per group; the first, where none is asked for."""
        keys = [
            key
            for key in group_report
            if not group_report.cell(key).is_table and len(group_report.cell(key).parts()) == 1
        ]
        if key_or_metric is None:
            if not keys:
                raise ParameterError("none of the metrics has one number per group to draw")
            return keys[0]
        cell = group_report.cell(key_or_metric)
        key = next(key for key in group_report if group_report.cell(key) is cell)
        if key not in keys:
            raise ParameterError(
                Text("{metric} must have one number per group to be drawn; {} has more", key), argument="metric"
            )
        return key

    def _require_value(self, item: Metric) -> Any:
        """The value of a metric; where it is undefined, an error that says why."""
        answer = self._source.answer(item)
        if isinstance(answer.value, float) and math.isnan(answer.value):
            raise UndefinedError(f"{item.name} is undefined: {answer.reason}")
        return answer.value

    def _interval(self, item: Metric) -> str:
        """The interval of a metric that the report has, in words."""
        if self._report.interval is None or item not in self._report:
            return ""
        cell = self._report.cell(item)
        ends = cell.shown(cell.value, cell.lo, cell.hi)[1]
        return f"{show_level(self._report.interval.level)}: {ends}" if ends else ""

    def _as_in_report(self, item: Metric, value: float) -> float:
        """The value, which is rounded as in the report if that has it."""
        cell = next((each for each in self._cells() if each.metric == item and each.error is None), None)
        if cell is None or cell.value != value:  # as for one of several outputs
            return value
        shown = cell.shown(value, cell.lo, cell.hi)[0]
        return shown if isinstance(shown, ShownNumber) else value


def _group_dot(name: str, report: Report, key: str) -> GroupDot:
    """The value of a metric in a group, with its interval."""
    cell = report.cell(key)
    value = cell.parts()[0][1]
    shown = cell.shown(value, cell.lo, cell.hi)[0]
    lo, hi = (None, None) if cell.bounded else (cell.lo, cell.hi)
    return GroupDot(name, shown if isinstance(shown, ShownNumber) else value, report.n, lo, hi)


def _weights_of(runs: Runs) -> Array:
    """The weight at each of the scores of a class."""
    scores, weights, counts = runs
    found = np.ones(len(scores)) if weights is None else weights
    return found if counts is None else found * counts


def _median_of(runs: Runs) -> float:
    """The score that half of the rows, by weight, reach."""
    below = np.cumsum(_weights_of(runs))
    return float(runs[0][np.searchsorted(below, below[-1] / 2)])


def _histogram_of(runs: Runs, edges: Array) -> Array:
    return np.histogram(runs[0], edges, weights=_weights_of(runs))[0]


def _bin_edges(classes: list[Runs], bins: int, *, unit: bool) -> tuple[Array, float]:
    """The edges of the bins, from the lowest to the highest score of all classes, or where a few lie far outside, of
    nearly all; and the weight that lies outside."""
    if unit:
        return np.linspace(0.0, 1.0, bins + 1), 0.0
    scores, weights = (np.concatenate(parts) for parts in zip(*((r[0], _weights_of(r)) for r in classes), strict=True))
    low, high = shown_range(scores, weights)
    if low == high:
        low, high = low - 0.5, high + 0.5
    outside = float(weights[(scores < low) | (scores > high)].sum())
    return np.linspace(low, high, bins + 1), outside


def _curve_table(curve: Curve, places: Array) -> Table:
    """The table of a curve, made from these of its points; it says how many there are in all."""
    return _table_of_shown_points(
        Curve(curve.title, {name: column[places] for name, column in curve.columns.items()}), curve.summary()
    )


def _thin_thresholds(state: Scores) -> tuple[Thresholds, Table]:
    """The thresholds that can be told apart in a plot of precision, recall and F, the best one of F among them, and the
    table of all, made from these."""
    steps = walk_steps(*state.binary())
    if not steps.positives or not steps.negatives:
        raise UndefinedError(f"threshold_table is undefined: {ONE_CLASS.reason}")
    if not steps.finite:
        raise UndefinedError(f"threshold_table is undefined: {TOO_LARGE}")
    item, values = label_metric("fscore"), np.empty(len(steps.tp))
    for start in range(0, len(values), BLOCK):
        block = slice(start, start + BLOCK)
        values[block] = values_at(item, (steps.tp[block], steps.fp[block], steps.fn[block], steps.tn[block]))
    span = float(steps.thresholds[0] - steps.thresholds[-1]) or 1.0
    precision = steps.tp / (steps.tp + steps.fp)
    places = distinct_points(steps.thresholds, precision, steps.tp, values, spans=(span, 1.0, steps.positives, 1.0))
    places = np.union1d(places, [int(np.argmax(values))])
    table = threshold_counts(Steps(*(part[places] for part in steps)))
    with_values = table.with_metrics(("precision", "recall", "fscore"))
    return table, _table_of_shown_points(with_values, f"{len(steps.tp) + 1:,} thresholds")


def _table_of_shown_points(some_points: Any, summary: str) -> Table:
    table: Table = some_points.table()
    notes = [f"{len(table.rows)} of {summary}; the curve itself has them all"] if table.notes else []
    return table._replace(title=f"{some_points.title} · {summary}", notes=notes)
