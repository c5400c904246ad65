"""Compares every metric with independent references and writes docs/validation.md, unless a value is off: make validate

Cases, trials and rows are few enough to be done in minutes; the same tests with more of them are in `tests/references`,
`tests/laws` and `bench/interval_coverage.py`.
"""

from __future__ import annotations

import datetime
import statistics
import sys
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import tests.conftest  # noqa: F401  how many examples a law is tried on
from bench.bootstrap_coverage import BOOTSTRAPPED, bootstrapped
from bench.interval_coverage import POPULATIONS, Intervals, Population, analytic, measure
from bench.measure import ROOT, best_of, machine, show_time, table
from tests.laws import test_metric_laws as laws
from tests.references.comparisons import COMPARISONS, Comparison, largest_difference

import tallymark as tm
from tallymark.intervals.methods import METHODS

PAGE = ROOT / "docs" / "validation.md"
PACKAGES = ("numpy", "scikit-learn", "scipy", "statsmodels", "fairlearn", "pytrec-eval-terrier")
CASES = 300  # of each comparison
TRIALS, ROWS = 500, (200, 1000)  # of each analytic interval
RESAMPLED = ("two classes, 30 %", "scores, AUC 0.76", "normal errors", "clusters", "queries")
RESAMPLED_TRIALS = 100  # which take a bootstrap each
LEAST_COVERAGE = 0.92  # of intervals of 95 %, on average over metrics and populations
METRIC_HEADINGS = ["metric", "reference", "cases", "largest difference", "tolerance"]
COVERAGE_HEADINGS = ["method", "rows", "metrics and populations", "trials of each", "mean", "lowest", "which"]
LAWS = (
    laws.test_any_split_order_and_grouping_gives_the_same_bits,
    laws.test_adding_an_empty_state_changes_nothing,
    laws.test_a_state_survives_its_bytes,
    laws.test_no_weights_equal_weights_of_one,
    laws.test_every_way_to_call_agrees_to_the_last_bit,
    laws.test_every_thread_count_gives_the_same_bits,
    laws.test_memory_layout_does_not_matter_and_inputs_stay_as_they_were,
)


class Compared(NamedTuple):
    """A comparison and the largest difference found."""

    comparison: Comparison
    difference: float

    @property
    def fails(self) -> bool:
        return not self.difference <= self.comparison.tolerance

    @property
    def cells(self) -> list[str]:
        metric, reference, _, tolerance = self.comparison
        difference = f"{self.difference:.1e}" if self.difference else "0"
        return [f"`{metric}`", reference, f"{CASES}", difference, f"{tolerance:.0e}"]


def compare() -> Iterator[Compared]:
    for number, comparison in enumerate(COMPARISONS, 1):
        print(f"{number} of {len(COMPARISONS)}: {comparison.metric}, {comparison.reference} ...", flush=True)
        yield Compared(comparison, largest_difference(comparison, CASES))


def metric_tables(compared: list[Compared]) -> list[str]:
    """A table for every family of metrics."""
    lines: list[str] = []
    for family in dict.fromkeys(metric.family for metric in tm.list_metrics()):
        rows = [each for each in compared if tm.metric(each.comparison.metric).family == family]
        rows.sort(key=lambda each: each.comparison[:2])
        lines += [f"### {family.capitalize()}", "", table(METRIC_HEADINGS, [each.cells for each in rows]), ""]
    return lines


class Covered(NamedTuple):
    """How often the intervals of a method contained the value of the population, by metric and population."""

    method: str
    rows: int
    trials: int
    shares: list[tuple[float, str]]

    @property
    def mean(self) -> float:
        return statistics.mean(share for share, _ in self.shares)

    @property
    def fails(self) -> bool:
        return self.mean < LEAST_COVERAGE

    @property
    def cells(self) -> list[str]:
        least, where = min(self.shares)
        counts = [f"{self.rows:,}", f"{len(self.shares)}", f"{self.trials}"]
        return [self.method, *counts, f"{100 * self.mean:.1f}", f"{100 * least:.1f}", where]


def coverage_of(populations: dict[str, Population], intervals: Intervals, rows: int, trials: int) -> list[Covered]:
    """One entry for every method of intervals."""
    found: dict[str, list[tuple[float, str]]] = {}
    for title, population in populations.items():
        print(f"coverage of intervals, {rows} rows: {title} ...", flush=True)
        for name, coverage in measure(population, rows, trials, intervals=intervals).items():
            if coverage.trials:
                found.setdefault(coverage.method, []).append((coverage.held, f"`{name}`, {title}"))
    return [Covered(method, rows, trials, shares) for method, shares in found.items()]


def measure_coverage() -> list[Covered]:
    """All methods, in the order of their table."""
    found = [each for rows in ROWS for each in coverage_of(POPULATIONS, analytic, rows, TRIALS)]
    few = {title: BOOTSTRAPPED[title] for title in RESAMPLED}
    found += coverage_of(few, bootstrapped, ROWS[0], RESAMPLED_TRIALS)
    order = [method.name for method in METHODS]
    return sorted(found, key=lambda each: (order.index(each.method), each.rows))


def law_table() -> str:
    """How many cases every law was tried on. One that does not hold raises an AssertionError."""
    rows = []
    for law in LAWS:
        title = law.__name__.removeprefix("test_").replace("_", " ")
        print(f"{title} ...", flush=True)
        rows.append([title, f"{len(laws.METRICS)}", f"{sum(count_cases(law, metric) for metric in laws.METRICS):,}"])
    return table(["law", "metrics and parameters", "cases"], rows)


def count_cases(law: Callable[[tm.Metric], None], metric: tm.Metric) -> int:
    """Try a law on a metric: on the examples of Hypothesis, or on the one that it has."""
    if not hasattr(law, "hypothesis"):
        law(metric)
        return 1
    cases, inner = 0, law.hypothesis.inner_test

    def counted(*args: Any, **given: Any) -> None:
        nonlocal cases
        cases += 1
        inner(*args, **given)

    law.hypothesis.inner_test = counted
    try:
        law(metric)
    finally:
        law.hypothesis.inner_test = inner
    return cases


def speed_table() -> str:
    """A short extract of `make bench`, on a million rows."""
    import labels
    import regression
    import scores
    import sklearn_functions as functions
    from sklearn import metrics as sk

    n, cases = 1_000_000, {}
    y, p = labels.rows(n)
    cases["accuracy, macro precision, recall and F, mcc, confusion matrix"] = (
        lambda: tm.evaluate(y, p, labels.SIX),
        lambda: labels.four_calls(y, p),
    )
    truth, score = scores.rows(n)
    cases["area under the ROC curve"] = lambda: tm.auc(truth, score), lambda: sk.roc_auc_score(truth, score)
    value, said = regression.rows(n)
    cases["rmse, mae, mape and r2"] = (
        lambda: tm.evaluate(value, said, regression.FOUR),
        lambda: [peer(value, said) for peer in regression.PEERS.values()],
    )
    given = functions.calls(n)
    for name in ("f1_score", "roc_auc_score", "log_loss", "mean_squared_error", "adjusted_rand_score"):
        args, options = given[name]
        cases[f"patched `sklearn.metrics.{name}`"] = (
            lambda name=name, args=args, options=options: getattr(functions.ours, name)(*args, **options),
            lambda name=name, args=args, options=options: getattr(functions.theirs, name)(*args, **options),
        )
    rows = []
    for name, (ours, theirs) in cases.items():
        print(f"speed: {name} ...", flush=True)
        best = best_of({"ours": ours, "theirs": theirs}, seconds=2, least=3)
        rows.append([name, show_time(best["ours"]), show_time(best["theirs"]), f"{best['theirs'] / best['ours']:.0f}×"])
    return table(["a million rows", "tallymark", "scikit-learn", "ratio"], rows)


TEXT = """\
# Validation

Every metric agrees with an independent reference. `make validate` compares them again, measures the rest of this page
and writes it. It does not write a failing row: a difference above its tolerance, a method whose intervals contain the
value in less than {least} % of trials on average, or a law that does not hold.

Measured on {date} with tallymark {version} on: {machine}.

## Metrics

Each comparison has {cases} random cases, with weights, ties, absent classes, labels of several types and values of any
size where the reference allows them. Differences are relative to the value; for clusterings, and for metrics whose
largest value is 1, they are relative to the larger of the value and 1. `make test` runs thousands of further cases.

{metrics}
## Confidence intervals

How often 95 % intervals contain the value of the population, in percent. The standard error of one figure is 1.0 points
with 500 trials and 2.2 with 100, so the lowest of many is low by chance too.
[Interval methods](concepts/intervals.md) says how each works and where it misses its level.

{coverage}

## The same bits

Each law is tried on every metric with several values of its parameters; metrics that compare groups follow from those
of the groups. A value is [the same to the last bit](concepts/same-number.md) on both sides of each law.

{laws}

## Speed

On {threads} threads of the same machine; an extract of [all measurements](concepts/speed.md).

{speed}
"""


def check(rows: list[Compared] | list[Covered]) -> None:
    """Exit where a row fails."""
    failing = [row for row in rows if row.fails]
    if failing:
        lines = "\n".join(" | ".join(row.cells) for row in failing)
        sys.exit(f"{PAGE.name} was not written: {len(failing)} of {len(rows)} rows fail\n{lines}")


def main() -> None:
    compared = list(compare())
    check(compared)
    laws = law_table()
    covered = measure_coverage()
    check(covered)
    text = TEXT.format(
        least=round(100 * LEAST_COVERAGE),
        date=datetime.date.today(),
        version=tm.__version__,
        machine=machine(*PACKAGES),
        cases=CASES,
        metrics="\n".join(metric_tables(compared)),
        coverage=table(COVERAGE_HEADINGS, [each.cells for each in covered]),
        laws=laws,
        threads=tm.get_threads(),
        speed=speed_table(),
    )
    PAGE.write_text(text)
    print(f"wrote {PAGE}")


if __name__ == "__main__":
    main()
