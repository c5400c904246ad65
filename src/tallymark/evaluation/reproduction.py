"""How a report or a comparison came about, so that it can be made again: versions, rows, and the call."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

import numpy as np

from tallymark.intervals.settings import usual_resamples
from tallymark.metrics import Metric
from tallymark.report.document import Code, Section
from tallymark.report.json import to_json
from tallymark.report.sheet import Sheet

if TYPE_CHECKING:
    from tallymark.batch import Batch
    from tallymark.evaluation.comparison import Comparison
    from tallymark.evaluation.result import Report
    from tallymark.evaluation.source import Source

_MOST_CLASSES = 20  # in a line of code
_NEEDS_ORDER = " Intervals from resamples need the same order"


def reproduce_report(report: Report, command: str | None = None) -> Section:
    """Versions, the rows with their fingerprint, and the call that gives the same report again."""
    source = report._source
    batch = None if source is None else source.batch
    call = "Tally" if batch is None else "evaluate"
    arguments = ["y_true", "y_pred"] if batch is not None else []
    arguments += [_metrics({key: report.cell(key).metric for key in report}), *_data(report, batch, source)]
    if report.slices is not None and batch is None:
        arguments.append(f"by={_literal(list(report.slices.names))}")
    fewest = [] if report.slices is None or report.slices.min_rows == 1 else [f"min_rows={report.slices.min_rows}"]
    arguments += fewest if batch is not None else []
    if report.interval is not None:
        level, method, resamples, seed = report.interval
        arguments.append(f"ci={level:g}")
        arguments += _changed(
            {"ci_method": (method, "auto"), "resamples": (resamples, usual_resamples(level)), "seed": (seed, 0)}
        )
    read = f".report({', '.join(fewest)})" if fewest and batch is None else ""
    methods = {each.cell(key).method or "" for each in (report, *(report.slices or {}).values()) for key in each}
    resampled = any(method.startswith("bootstrap") for method in methods)
    needs_order = f"{_NEEDS_ORDER}, unless `keys` tell the rows apart." if resampled else ""
    return _section(report, {"fingerprint": report}, f"tm.{call}({', '.join(arguments)}){read}", command, needs_order)


def reproduce_comparison(comparison: Comparison, command: str | None = None) -> Section:
    """The same for several models on the same rows; each has its own predictions, and so its own fingerprint."""
    reports, settings = comparison.reports, comparison.settings
    first = next(iter(reports))
    source = reports[first]._source
    batch = None if source is None else source.batch
    models = ", ".join(f"{_text(name)}: …" for name in reports)
    metrics = _metrics({key: reports[first].cell(key).metric for key in reports[first]})
    arguments = ["y_true", f"{{{models}}}", metrics, *_data(reports[first], batch, source)]
    tests = settings.tests(len(reports), settings.correction, settings.baseline)
    given = {
        "ci": (settings.level, 0.95),
        "resamples": (settings.resamples, usual_resamples(settings.level, tests)),
        "seed": (settings.seed, 0),
        "correction": (settings.correction, "holm"),
        "baseline": (settings.baseline, None),
    }
    arguments += _changed(given)
    prints = {f"fingerprint with {name}": report for name, report in reports.items()}
    needs_order = f"{_NEEDS_ORDER}." if any("bootstrap" in each.method for each in comparison) else ""
    return _section(reports[first], prints, f"tm.compare({', '.join(arguments)})", command, needs_order)


def _section(report: Report, prints: Mapping[str, Report], call: str, command: str | None, needs_order: str) -> Section:
    found = {name: each.fingerprint for name, each in prints.items()}
    facts = [
        ("rows", [report.title()]),
        *((name, [_grouped(digits)]) for name, digits in found.items() if digits is not None),
        ("made with", [", ".join(_versions())]),
    ]
    codes = [Code("In Python", f"import tallymark as tm\n\n{call}")]
    if command is not None:
        codes.append(Code("At the command line", command))
    sentence = "The same rows and the same call give the same numbers to the last bit, in any order of the rows."
    sentence += needs_order
    if any(digits is not None for digits in found.values()):
        sentence += " The fingerprint tells whether the rows are the same."
    return Section("reproduce", "How to reproduce", sentence, [Sheet("", "", facts), *codes])


def _versions() -> list[str]:
    found = [f"Python {platform.python_version()}", f"NumPy {np.__version__}", platform.machine()]
    try:
        return [f"tallymark {version('tallymark')}", *found]
    except PackageNotFoundError:  # a copy of the source that was never installed
        return found


def _grouped(digits: str) -> str:
    return " ".join(digits[k : k + 4] for k in range(0, len(digits), 4))


def _metrics(metrics: Mapping[str, Metric]) -> str:
    """The metrics as a list, or under names of their own."""
    if all(key == str(item) for key, item in metrics.items()):
        return f"[{', '.join(_text(key) for key in metrics)}]"
    return f"{{{', '.join(f'{_text(key)}: {_text(str(item))}' for key, item in metrics.items())}}}"


def _data(report: Report, batch: Batch | None, source: Source | None) -> list[str]:
    """What the call was told about the rows."""
    out = []
    if batch is not None:
        sides = set(batch.names)
        given = {"weights": batch.weights is not None, **{name: name in sides for name in ("query", "cluster", "keys")}}
        out += [f"{name}={name}" for name, held in given.items() if held]
        if batch.group_names:
            columns = ", ".join(f"{_text(name)}: …" for name in batch.group_names)
            out.append("by=group" if batch.group_names == ("group",) else f"by={{{columns}}}")
    facts = {"kind": report.kind} if source is None else source.target.facts()
    for name, value in facts.items():
        if value is None or value is False:
            continue
        short = isinstance(value, list) and len(value) > _MOST_CLASSES
        out.append(f"{name}={f'[… {len(value):,} classes]' if short else _literal(value)}")
    return out + (['missing="drop"'] if report.dropped else [])


def _changed(given: Mapping[str, tuple[Any, Any]]) -> list[str]:
    """Keywords whose value is not the default."""
    return [f"{name}={_literal(value)}" for name, (value, default) in given.items() if value != default]


def _literal(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_literal, value))}]"
    return _text(value) if isinstance(value, str) else repr(value)


def _text(text: str) -> str:
    """A string as Python reads it, in the quotes that people use."""
    return to_json(text, None) if text.isprintable() else repr(text)
