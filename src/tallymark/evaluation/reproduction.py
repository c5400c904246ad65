"""How a report came about, so that it can be made again: versions, the fingerprint of the rows, and the call."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

import numpy as np

from tallymark.data.arrays import Array, as_numbers
from tallymark.data.batch import Batch
from tallymark.errors import TallymarkError
from tallymark.intervals.settings import Intervals, usual_resamples
from tallymark.metrics.base import Metric
from tallymark.rendering.document import Code, Section
from tallymark.rendering.exports import to_json
from tallymark.rendering.sheet import Sheet
from tallymark.states.labels.reading import encode

if TYPE_CHECKING:
    from tallymark.comparison.result import Comparison
    from tallymark.data.batch import Batch
    from tallymark.evaluation.report import Report
    from tallymark.evaluation.report_source import ReportSource


_BLOCK = 1 << 15  # rows, which stay in a near cache
_WORD = 1 << 64
_EXACT = 2.0**53  # whole numbers up to here are floats as well
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def fingerprint(batch: Batch) -> str | None:
    """Sixteen hexadecimal digits: a sum of hashes of the rows, which no order can change; None if they cannot be read.

    Numbers count by their value, texts by their letters; weights count unless all are 1.
    """
    try:
        columns = [column for side in range(len(batch.names)) for column in _columns(batch, side)]
    except TallymarkError:
        return None
    if batch.weights is not None and not (batch.weights == 1).all():
        columns.append((_key("weights"), batch.weights))
    total = batch.n
    for start in range(0, batch.n, _BLOCK):
        hashes = np.zeros(min(_BLOCK, batch.n - start), np.uint64)
        for name, held in columns:
            hashes ^= _bits(held[start : start + _BLOCK])
            hashes += name
            _mix(hashes)
        total += int(hashes.sum(dtype=np.uint64))
    return f"{total % _WORD:016x}"


def _columns(batch: Batch, side: int) -> list[tuple[np.uint64, Array]]:
    """The columns of a side as numbers, or as hashes of texts, each with the hash of its name."""
    name = batch.names[side]
    held = as_numbers(batch.source(side), name) if _is_numbers(batch, side) else _hashed(batch, side)
    table = held.reshape(len(held), -1)
    return [(_key(f"{name} {k}"), table[:, k]) for k in range(table.shape[1])]


def _is_numbers(batch: Batch, side: int) -> bool:
    return batch.source(side).ndim == 2 or batch.labels(side).type != "text"


def _hashed(batch: Batch, side: int) -> Array:
    labels, codes = encode(batch, side)
    found: Array = np.array([_key(f"text {label}") for label in labels], np.uint64)[codes]
    return found


def _key(text: str) -> np.uint64:
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return np.uint64(int.from_bytes(digest, "little"))


def _bits(column: Any) -> Array:
    """Bits that are equal where numbers are: those of a float, or of a whole number that is too large to be one."""
    numbers = np.asarray(column, np.float64) + 0.0  # no -0.0
    bits: Array = numbers.view(np.uint64)
    if column.dtype.kind == "f" or column.dtype.itemsize < 8:
        return bits
    large = np.abs(numbers) >= _EXACT
    return np.where(large, column.astype(np.uint64) * _GOLDEN, bits) if large.any() else bits


def _mix(hashes: Array) -> None:
    """Every bit of the result depends on every bit (the finalizer of SplitMix64), in place."""
    hashes ^= hashes >> np.uint64(30)
    hashes *= _FIRST
    hashes ^= hashes >> np.uint64(27)
    hashes *= _SECOND
    hashes ^= hashes >> np.uint64(31)


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
        arguments.append(f"ci={_intervals(report.interval)}")
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
    asked = _intervals(Intervals(settings.level, resamples=settings.resamples, seed=settings.seed), tests)
    arguments += [f"ci={asked}"] if asked != "0.95" else []
    given = {
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


def _data(report: Report, batch: Batch | None, source: ReportSource | None) -> list[str]:
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


def _intervals(settings: Intervals, pairs: int = 1) -> str:
    """What `ci=` was: a level, or more where more is not the default."""
    changed = _changed(
        {
            "method": (settings.method, "auto"),
            "resamples": (settings.number_of_resamples, usual_resamples(settings.level, pairs)),
            "seed": (settings.seed, 0),
        }
    )
    return f"tm.Intervals({', '.join([repr(settings.level), *changed])})" if changed else repr(settings.level)


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
