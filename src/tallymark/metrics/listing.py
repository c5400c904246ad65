"""The listing: every metric with its facts, as objects and as a table."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, overload

from tallymark.errors import ParameterError, brief, did_you_mean
from tallymark.metrics import registry
from tallymark.metrics.base import Better, Metric
from tallymark.rendering.html_table import to_html
from tallymark.rendering.table import Table
from tallymark.rendering.text import to_text

__all__ = ["Listing", "list_metrics"]


def show_better(better: Better) -> str:
    """Which values are better, in a word."""
    if better is None:
        return ""
    return better if isinstance(better, str) else f"near {better:g}"


def show_range(ends: tuple[float, float]) -> str:
    """A range as an interval; infinite ends are open."""
    low, high = ends
    return f"{'(−∞' if low == -math.inf else f'[{low:g}'}, {'∞)' if high == math.inf else f'{high:g}]'}"


class Listing(Sequence[Metric]):
    """Metrics in order of family and name. Prints as a table; each item is the metric itself."""

    def __init__(self, metrics: Sequence[Metric]) -> None:
        self._metrics = tuple(metrics)

    @overload
    def __getitem__(self, index: int) -> Metric: ...
    @overload
    def __getitem__(self, index: slice) -> Listing: ...
    def __getitem__(self, index: int | slice) -> Metric | Listing:
        return Listing(self._metrics[index]) if isinstance(index, slice) else self._metrics[index]

    def __len__(self) -> int:
        return len(self._metrics)

    @property
    def names(self) -> list[str]:
        """The names, for use in strings."""
        return [str(metric) for metric in self._metrics]

    def to_dicts(self) -> list[dict[str, Any]]:
        """The facts of every metric as plain data."""
        return [facts(metric) for metric in self._metrics]

    def table(self) -> Table:
        rows = [(str(m), m.family, show_better(m.better), m.unit, m.size, m.description) for m in self._metrics]
        title = f"{len(self)} metrics" if len(self) != 1 else "1 metric"
        return Table(title, ("metric", "family", "better", "unit", "state", "what it is"), rows).without_empty("unit")

    def __repr__(self) -> str:
        return to_text(self.table())

    def _repr_html_(self) -> str:
        return to_html(self.table())


def facts(metric: Metric) -> dict[str, Any]:
    """Everything that a metric knows about itself."""
    return {
        "name": str(metric),
        "family": metric.family,
        "kind": metric.kind,
        "better": metric.better,
        "range": metric.range,
        "at_perfect": metric.at_perfect,
        "unit": metric.unit,
        "state": metric.size,
        "parameters": {name: plain_parameter(value) for name, value in metric.parameters().items()},
        "aliases": dict(metric.aliases),
        "description": metric.description,
        "formula": metric.formula_text,
        "reading": metric.reading,
        "landmarks": metric.landmarks,
        "bands": metric.bands,
        "outliers": metric.outliers,
        "when_undefined": metric.when_undefined,
        "pitfalls": metric.pitfalls,
    }


def plain_parameter(value: Any) -> Any:
    """The value of a parameter as data: metrics by their names."""
    if isinstance(value, Metric):
        return str(value)
    return tuple(map(plain_parameter, value)) if isinstance(value, tuple) else value


def list_metrics(family: str | None = None) -> Listing:
    """Every metric with its facts, built-in and your own; of one family if one is named.

    >>> "rmse" in list_metrics(family="regression").names
    True
    """
    known = sorted([*registry.instances(), *registry.compositions], key=lambda m: (m.family, str(m)))
    if family is None:
        return Listing(known)
    found = [metric for metric in known if isinstance(family, str) and metric.family == family]
    if not found:
        families = list(dict.fromkeys(metric.family for metric in known))
        hint = did_you_mean(family, families)
        raise ParameterError(
            argument="family", expected=f"be one of {', '.join(families)}", got=brief(family), hint=hint
        )
    return Listing(found)
