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
from tallymark.rendering.fact_sheet import FactSheet
from tallymark.states.labels.encoding import encode_labels

if TYPE_CHECKING:
    from tallymark.data.batch import Batch
    from tallymark.evaluation.report import Report, ReportSource


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
        columns = [column for side in range(len(batch.names)) for column in _fingerprint_columns(batch, side)]
    except TallymarkError:
        return None
    if batch.weights is not None and not (batch.weights == 1).all():
        columns.append((_text_hash("weights"), batch.weights))
    total = batch.n
    for start in range(0, batch.n, _BLOCK):
        hashes = np.zeros(min(_BLOCK, batch.n - start), np.uint64)
        for name, numbers in columns:
            hashes ^= _number_bits(numbers[start : start + _BLOCK])
            hashes += name
            _mix_bits(hashes)
        total += int(hashes.sum(dtype=np.uint64))
    return f"{total % _WORD:016x}"


def _fingerprint_columns(batch: Batch, side: int) -> list[tuple[np.uint64, Array]]:
    """The columns of a side as numbers, or as hashes of texts, each with the hash of its name."""
    name = batch.names[side]
    values = as_numbers(batch.source(side), name) if _is_numbers(batch, side) else _label_hashes(batch, side)
    table = values.reshape(len(values), -1)
    return [(_text_hash(f"{name} {k}"), table[:, k]) for k in range(table.shape[1])]


def _is_numbers(batch: Batch, side: int) -> bool:
    return batch.source(side).ndim == 2 or batch.labels(side).type != "text"


def _label_hashes(batch: Batch, side: int) -> Array:
    labels, codes = encode_labels(batch, side)
    hashes: Array = np.array([_text_hash(f"text {label}") for label in labels], np.uint64)[codes]
    return hashes


def _text_hash(text: str) -> np.uint64:
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return np.uint64(int.from_bytes(digest, "little"))


def _number_bits(column: Any) -> Array:
    """Bits that are equal where numbers are: those of a float, or of a whole number that is too large to be one."""
    numbers = np.asarray(column, np.float64) + 0.0  # no -0.0
    bits: Array = numbers.view(np.uint64)
    if column.dtype.kind == "f" or column.dtype.itemsize < 8:
        return bits
    large = np.abs(numbers) >= _EXACT
    return np.where(large, column.astype(np.uint64) * _GOLDEN, bits) if large.any() else bits


def _mix_bits(hashes: Array) -> None:
    """Every bit of the result depends on every bit (the finalizer of SplitMix64), in place."""
    hashes ^= hashes >> np.uint64(30)
    hashes *= _FIRST
    hashes ^= hashes >> np.uint64(27)
    hashes *= _SECOND
    hashes ^= hashes >> np.uint64(31)


_MOST_CLASSES = 20  # in a line of code
NEEDS_ORDER = " Bootstrap intervals also need the same order"


def reproduce_report(report: Report, command: str | None = None) -> Section:
    """Versions, the rows with their fingerprint, and the call that gives the same report again."""
    source = report._source
    batch = None if source is None else source.batch
    call = "evaluate_model" if report.of_model else "Tally" if batch is None else "evaluate"
    rows = ["model", "X", "y"] if report.of_model else ["y_true", "y_pred"]
    arguments = rows if batch is not None else []
    arguments += [
        metrics_argument({key: report.cell(key).metric for key in report}),
        *data_arguments(report, batch, source),
    ]
    if report.slices is not None and batch is None:
        arguments.append(f"by={_value_literal(list(report.slices.names))}")
    fewest = [] if report.slices is None or report.slices.min_rows == 1 else [f"min_rows={report.slices.min_rows}"]
    arguments += fewest if batch is not None else []
    if report.interval is not None:
        arguments.append(f"ci={interval_argument(report.interval)}")
    read = f".report({', '.join(fewest)})" if fewest and batch is None else ""
    methods = {each.cell(key).method or "" for each in (report, *(report.slices or {}).values()) for key in each}
    resampled = any(method.startswith("bootstrap") for method in methods)
    needs_order = f"{NEEDS_ORDER}, unless keys= identifies the rows." if resampled else ""
    return reproduction_section(
        report, {"fingerprint": report}, f"tm.{call}({', '.join(arguments)}){read}", command, needs_order
    )


def reproduction_section(
    report: Report, prints: Mapping[str, Report], call: str, command: str | None, needs_order: str
) -> Section:
    """How to reproduce: the rows, the fingerprints, the versions, and the call."""
    fingerprints = {name: each.fingerprint for name, each in prints.items()}
    facts = [
        ("data", [report.title()]),
        *((name, [_in_fours(digits)]) for name, digits in fingerprints.items() if digits is not None),
        ("made with", [", ".join(_package_versions())]),
    ]
    codes = [Code("In Python", f"import tallymark as tm\n\n{call}")]
    if command is not None:
        codes.append(Code("At the command line", command))
    sentence = "The same rows and the same call give bit-identical numbers, in any order of the rows."
    sentence += needs_order
    if any(digits is not None for digits in fingerprints.values()):
        sentence += " Equal fingerprints mean equal rows."
    return Section("reproduce", "How to reproduce", sentence, [FactSheet("", "", facts), *codes])


def _package_versions() -> list[str]:
    versions = [f"Python {platform.python_version()}", f"NumPy {np.__version__}", platform.machine()]
    try:
        return [f"tallymark {version('tallymark')}", *versions]
    except PackageNotFoundError:  # a copy of the source that was never installed
        return versions


def _in_fours(digits: str) -> str:
    return " ".join(digits[k : k + 4] for k in range(0, len(digits), 4))


def metrics_argument(metrics: Mapping[str, Metric]) -> str:
    """The metrics as a list, or under names of their own."""
    if all(key == str(item) for key, item in metrics.items()):
        return f"[{', '.join(text_literal(key) for key in metrics)}]"
    return f"{{{', '.join(f'{text_literal(key)}: {text_literal(str(item))}' for key, item in metrics.items())}}}"


def data_arguments(report: Report, batch: Batch | None, source: ReportSource | None) -> list[str]:
    """What the call was told about the rows."""
    out = []
    if batch is not None:
        sides = set(batch.names)
        given = {"weights": batch.weights is not None, **{name: name in sides for name in ("query", "cluster", "keys")}}
        out += [f"{name}={name}" for name, present in given.items() if present]
        if batch.group_names:
            columns = ", ".join(f"{text_literal(name)}: …" for name in batch.group_names)
            out.append("by=group" if batch.group_names == ("group",) else f"by={{{columns}}}")
    facts = {"kind": report.kind} if source is None else source.target.keywords()
    for name, value in facts.items():
        if value is None or value is False or (report.of_model and name in ("kind", "classes")):
            continue
        short = isinstance(value, list) and len(value) > _MOST_CLASSES
        out.append(f"{name}={f'[… {len(value):,} classes]' if short else _value_literal(value)}")
    return out + (['missing="drop"'] if report.dropped else [])


def interval_argument(settings: Intervals, pairs: int = 1) -> str:
    """What `ci=` was: a level, or more where more is not the default."""
    changed = changed_arguments(
        {
            "method": (settings.method, "auto"),
            "resamples": (settings.number_of_resamples, usual_resamples(settings.level, pairs)),
            "seed": (settings.seed, 0),
        }
    )
    return f"tm.Intervals({', '.join([repr(settings.level), *changed])})" if changed else repr(settings.level)


def changed_arguments(given: Mapping[str, tuple[Any, Any]]) -> list[str]:
    """Keywords whose value is not the default."""
    return [f"{name}={_value_literal(value)}" for name, (value, default) in given.items() if value != default]


def _value_literal(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_value_literal, value))}]"
    return text_literal(value) if isinstance(value, str) else repr(value)


def text_literal(text: str) -> str:
    """A string as Python reads it, in the quotes that people use."""
    return to_json(text, None) if text.isprintable() else repr(text)
