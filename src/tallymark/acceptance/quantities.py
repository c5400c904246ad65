"""The numbers that a condition compares, looked up in a report or in a plain mapping."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, Protocol

from tallymark.acceptance.condition_parser import Value
from tallymark.errors import ParameterError, TallymarkError, Text, nearest
from tallymark.evaluation.group_slices import Slices
from tallymark.evaluation.report import Cell, Report, reason_text
from tallymark.metrics.base import Metric
from tallymark.metrics.fairness.base import GroupMetric, show_group
from tallymark.metrics.naming import known_metric, metric
from tallymark.rendering.table import show_estimate

_MOST_LISTED = 20
_MOST_COMPARED = 1_000
_WORST = {"<": max, "<=": max, ">": min, ">=": min}


class Quantity(NamedTuple):
    """A value, or NaN with a reason; its unit; what else to know of it; the range that it can lie in; and the decimals
    that its interval supports."""

    number: float
    reason: str | None = None
    unit: str = ""
    notes: tuple[str, ...] = ()
    reachable: tuple[float, float] = (-math.inf, math.inf)
    decimals: int | None = None


class ValueLookup(Protocol):
    """Where the values of a condition are looked up."""

    def quantity(self, value: Value, sign: str) -> Quantity:
        """The number of a value before this sign. A missing value is an error, since it may be a typo."""


class ReportLookup:
    """The cells, intervals and slices of a report."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._cells = {key: report.cell(key) for key in report}
        self._metrics = {key: cell.metric for key, cell in self._cells.items()}

    def quantity(self, value: Value, sign: str) -> Quantity:
        """The number of a value before this sign."""
        key = _find(value, self._metrics, "report")
        cell = self._cells[key]
        found = self._read(value, sign, key, cell)
        if value.suffix in (None, "lo", "hi") and value.part is None:
            found = found._replace(decimals=_supported_decimals(cell))
        return found._replace(reachable=_reachable_range(cell.metric, value.suffix))

    def _read(self, value: Value, sign: str, key: str, cell: Cell) -> Quantity:
        if value.suffix == "n":
            return Quantity(float(cell.n), unit="rows")
        if value.suffix in ("lo", "hi"):
            return self._end_of_interval(value, cell)
        if value.suffix is not None:
            return self._over_slices(value, sign, key, cell)
        if cell.error is not None:
            return Quantity(math.nan, reason_text(cell), cell.metric.unit)
        if isinstance(cell.metric, GroupMetric) and isinstance(cell.metric.better, (int, float)) and sign in _WORST:
            of = cell.metric.of[0]
            raise ParameterError(
                Text(
                    "{condition} compares {}, the group that is furthest from {}, and others may "
                    "be off to the other side; {}.worst looks at every group: evaluate {} too",
                    value.text,
                    f"{of.better:g}",
                    of,
                    of,
                ),
                argument="condition",
            )
        return _to_quantity(value, _part(value, cell.value, self._report.slices), cell.reason, cell.metric.unit)

    def _end_of_interval(self, value: Value, cell: Cell) -> Quantity:
        if cell.bounded:
            raise ParameterError(
                Text(
                    "{condition} asks for {}, and {} has bounds of its value, not an interval; "
                    "leave {bounded} out and evaluate with {ci=0.95}, say",
                    value.text,
                    cell.metric,
                ),
                argument="condition",
            )
        if self._report.interval is None and all(other.lo is None for other in self._cells.values()):
            raise ParameterError(
                Text(
                    "{condition} asks for {}, but the report has no intervals; evaluate with {ci=0.95}, for example",
                    value.text,
                ),
                argument="condition",
            )
        if value.part is not None and cell.error is None:
            _part(value, cell.value, self._report.slices)  # is there, or is refused
        end = cell.lo if value.suffix == "lo" else cell.hi
        if end is not None and (value.part is None or isinstance(end, (Mapping, list, tuple))):
            end = _part(value, end)
        elif value.part is not None:
            end = None  # an interval of all parts together is none of this one
        absent = str(cell.no_interval or "there is no interval")
        return _to_quantity(value, end, reason_text(cell), cell.metric.unit, absent=absent)

    def _over_slices(self, value: Value, sign: str, key: str, cell: Cell) -> Quantity:
        slices = self._report.slices
        if slices is None:
            raise ParameterError(
                Text(
                    "{condition} asks for {}, but the report has no slices; evaluate with by=",
                    value.text,
                ),
                argument="condition",
            )
        if value.part is not None or isinstance(cell.metric, GroupMetric):
            raise ParameterError(
                Text("{condition} asks for {}; groups are compared by metrics with one number for each", value.text),
                argument="condition",
            )
        unit = "" if value.suffix == "ratio" else cell.metric.unit
        failed = [each.cell(key) for each in slices.values() if each.n >= slices.min_rows and key in each.failures]
        for each in (cell, *failed):
            if each.error is not None:
                return Quantity(math.nan, reason_text(each), unit)
        compare = {"worst": slices.worst, "gap": slices.gap, "ratio": slices.ratio}[str(value.suffix)]
        compared = compare(key)
        number = float(compared)
        if value.suffix == "worst" and sign in _WORST and not isinstance(cell.metric.better, str):
            # Best near a number, and so worst on either side: every group is to be on the right side of the limit.
            values = [float(each[key]) for each in slices.values() if each.n >= slices.min_rows]
            number = _WORST[sign]((each for each in values if not math.isnan(each)), default=math.nan)
        cells = [each.cell(key) for each in slices.values()] if value.suffix == "worst" else []
        worst = next((each for each in cells if each.error is None and each.value == number), None)
        decimals = None if worst is None else _supported_decimals(worst)
        return Quantity(number, compared.reason, unit, compared.notes, decimals=decimals)


class MappingLookup:
    """A plain mapping from names to numbers, or to several numbers by class or output."""

    def __init__(self, numbers: Mapping[Any, Any]) -> None:
        self._numbers = numbers
        self._metrics = {key: known_metric(key) for key in numbers if isinstance(key, str)}

    def quantity(self, value: Value, sign: str) -> Quantity:
        """The number of a value, whatever sign follows it."""
        key = _find(value, self._metrics, "mapping")
        if value.suffix is not None:
            raise ParameterError(
                Text(
                    "{condition} asks for {}; a mapping has numbers only: pass a report for intervals, rows and slices",
                    value.text,
                ),
                argument="condition",
            )
        number, item = self._numbers[key], self._metrics[key]
        return _to_quantity(
            value, None if number is None else _part(value, number), None, "" if item is None else item.unit
        )


def _supported_decimals(cell: Cell) -> int | None:
    """The decimals in which a report shows a value and its interval; None for what has no interval."""
    if (
        cell.error is not None
        or cell.bounded
        or not all(isinstance(number, float) for number in (cell.value, cell.lo, cell.hi))
    ):
        return None
    text = show_estimate(cell.value, cell.lo, cell.hi)[0]
    return None if "e" in text else len(text.partition(".")[2])


def _reachable_range(item: Metric, suffix: str | None) -> tuple[float, float]:
    """The range of a value; unbounded, if a number may replace a missing value."""
    if suffix == "n":
        return (0.0, math.inf)
    if suffix == "ratio":
        return (0.0, 1.0)
    read = (item, *item.of) if isinstance(item, GroupMetric) else (item,)
    for each in read:
        replacements = (
            number for number in (each.undefined, getattr(each, "absent", None)) if isinstance(number, float)
        )
        if not all(each.range[0] <= number <= each.range[1] for number in replacements):
            return (-math.inf, math.inf)
    low, high = item.range
    return (0.0, high - low) if suffix == "gap" else (low, high)


def _find(value: Value, metrics: Mapping[str, Metric | None], where: str) -> str:
    """The key of a value: as it stands, or that of the same metric by another name."""
    if value.metric in metrics:
        return value.metric
    hint = ""
    try:
        named_metric = metric(value.metric)
    except TallymarkError as error:
        hint = f" ({error})"
    else:
        for key, item in metrics.items():
            if item is not None and item == named_metric:
                return key
        if named_metric.to_dict() == {"name": named_metric.name}:  # no parameters: the only metric of this name
            alike = [key for key, item in metrics.items() if item is not None and item.name == named_metric.name]
            if len(alike) == 1:
                return alike[0]
        if isinstance(named_metric, GroupMetric):  # whose own metric is near, and is another thing
            raise ParameterError(
                Text("{condition} asks for {}, which is not in the {}; evaluate it too", value.metric, where),
                argument="condition",
            )
    near = nearest(value.metric, list(metrics)[:_MOST_COMPARED])
    advice = f". Did you mean {near[0]}?" if near else hint
    raise ParameterError(
        Text(
            "{condition} asks for {}, which is not in the {}; it has {}{}",
            value.metric,
            where,
            _listed(metrics) or "nothing",
            advice,
        ),
        argument="condition",
    )


def _listed(names: Iterable[str]) -> str:
    names = list(names)
    return ", ".join(names[:_MOST_LISTED]) + f" and {len(names) - _MOST_LISTED:,} more" * (len(names) > _MOST_LISTED)


def _part(value: Value, values: Any, slices: Slices | None = None) -> Any:
    """The number of the class or output that is asked for; who asks for a group of `slices` is told the way."""
    if isinstance(values, Mapping):
        parts: Mapping[Any, Any] = values
    elif isinstance(values, (list, tuple)):
        parts = dict(enumerate(values))
    elif value.part is None or (isinstance(values, float) and math.isnan(values)):
        return values
    else:
        raise ParameterError(
            Text(
                "{condition} asks for {}; {} is one number and has no parts",
                value.text,
                value.metric,
            ),
            argument="condition",
            hint=_slice_hint(value, slices),
        )
    listed = _listed(map(str, parts))
    if value.part is None:
        raise ParameterError(
            Text(
                "{condition} compares {}, which has a value for each of {}; name one in brackets: {}[{}]",
                value.text,
                listed,
                value.metric,
                next(iter(parts), ""),
            ),
            argument="condition",
        )
    matching = [label for label in parts if str(label) == value.part]
    if len(matching) > 1:  # a number and a text, say: then quotes tell which
        matching = [label for label in matching if isinstance(label, str) == value.quoted] or matching
    if len(matching) > 1:
        raise ParameterError(
            Text(
                "{condition} asks for {}; {} has {} parts that read so, of the types {}: give them names that differ",
                value.text,
                value.metric,
                len(matching),
                ", ".join(type(label).__name__ for label in matching),
            ),
            argument="condition",
        )
    if not matching:
        raise ParameterError(
            Text(
                "{condition} asks for {}; the parts of {} are {}",
                value.text,
                value.metric,
                listed,
            ),
            argument="condition",
            hint=_slice_hint(value, slices),
        )
    return parts[matching[0]]


def _slice_hint(value: Value, slices: Slices | None) -> str | None:
    """How to ask for one group, where a part is named like one."""
    groups = {show_group(group): group for group in list(slices or ())[:_MOST_COMPARED]}
    near = nearest(str(value.part), groups)
    return (
        f"To decide on one group, evaluate its rows alone, or accept report.slices[{groups[near[0]]!r}]"
        if near
        else None
    )


def _to_quantity(
    value: Value, found_value: Any, reason: str | None, unit: str, *, absent: str = "it is undefined"
) -> Quantity:
    number = math.nan if found_value is None else _to_number(value, found_value)
    return Quantity(number, reason or (absent if math.isnan(number) else None), unit)


def _to_number(value: Value, number: Any) -> float:
    if not isinstance(number, (bool, str, bytes)) and hasattr(number, "__float__"):
        try:
            return float(number)
        except OverflowError:
            return math.copysign(math.inf, number > 0 or -1)
        except Exception:
            pass  # an array, say, or code of its own that fails
    raise ParameterError(
        Text(
            "{condition} compares {}, which must be a number; got an object of type {}",
            value.text,
            type(number).__name__,
        ),
        argument="condition",
    )
