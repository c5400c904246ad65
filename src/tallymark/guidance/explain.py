"""tm.explain: a metric in words, from its own definition."""

from __future__ import annotations

import ast
import doctest
import inspect
import math
import re
import textwrap
from collections.abc import Mapping
from itertools import pairwise
from typing import Any, NamedTuple

from tallymark.errors import ParameterError, brief
from tallymark.metrics import registry
from tallymark.metrics.base import Metric
from tallymark.metrics.fairness.base import GroupMetric
from tallymark.metrics.listing import facts, plain_parameter, show_better, show_range
from tallymark.metrics.naming import metric
from tallymark.metrics.parameters import show
from tallymark.rendering.exports import to_json
from tallymark.rendering.fact_sheet import FactSheet, fact_sheet_to_html, fact_sheet_to_text
from tallymark.rendering.table import show_number

_KINDS = {
    "value": "numbers",
    "label": "labels",
    "probability": "probabilities",
    "margin": "margins",
    "score": "scores",
}
_PERFECT = "perfect predictions"


class ParameterFacts(NamedTuple):
    """A parameter of a metric: its name, the value that it has, its default, and what it means."""

    name: str
    value: Any
    default: Any
    meaning: str


class Explanation:
    """What a metric is, how to read its value, and what to mind. It prints, and shows itself in a notebook.

    `metric` is the metric itself, with all its facts; `landmarks` are values with a meaning, `parameters` its
    parameters in words, `related` the names of metrics to look at beside it, `example` code with its output.
    `place(value)` places a value among the values with a meaning.
    """

    __slots__ = ("example", "landmarks", "metric", "parameters", "related")

    def __init__(self, explained: Metric) -> None:
        self.metric = explained
        self.landmarks = _landmarks(explained)
        self.parameters = _parameters(explained)
        self.related = tuple(related_metrics(explained))
        self.example = show_examples(explained)

    @property
    def reads(self) -> str:
        """What the metric reads, in words."""
        beside = [name for name, given, _ in (text.partition("=") for text in self.metric.arguments) if given]
        return ", with ".join([self.metric.takes or _KINDS[self.metric.kind], *(f"`{name}`" for name in beside)])

    def place(self, value: float) -> str:
        """The place of a value among the values with a meaning.

        >>> explain("r2").place(0.6)
        'between 0 (as good as always predicting the mean of y) and 1 (perfect predictions)'
        """
        try:
            number = float(value)
        except Exception as error:
            raise ParameterError(argument="value", expected="be a number", got=brief(value)) from error
        low, high = self.metric.range
        if math.isnan(number):
            return f"undefined: {self.metric.when_undefined or 'there is no value'}"
        if not low <= number <= high:
            raise ParameterError(
                argument="value",
                expected=f"be in the range of {self.metric}, {show_range(self.metric.range)}",
                got=brief(value),
            )
        at = [words for mark, words in self.landmarks if mark == number]
        if at:
            return f"at {show_number(number)}: {at[0]}"
        below = [_landmark_text(*item) for item in self.landmarks if item[0] < number]
        above = [_landmark_text(*item) for item in self.landmarks if item[0] > number]
        if below and above:
            return f"between {below[-1]} and {above[0]}"
        if not below and not above:
            return f"{show_number(number)}: {self.metric.reading}" if self.metric.reading else show_number(number)
        return f"above {below[-1]}" if below else f"below {above[0]}"

    def to_dict(self) -> dict[str, Any]:
        """The explanation as plain data."""
        own: dict[str, Any] = {"metric": str(self.metric), **facts(self.metric)}
        return own | {
            "reads": self.reads,
            "landmarks": [list(item) for item in self.landmarks],
            "parameters": [item._asdict() for item in self.parameters],
            "related": list(self.related),
            "example": self.example,
        }

    def to_json(self, *, indent: int | None = 2) -> str:
        """The explanation as JSON; a range without an end has null there."""
        return to_json(self.to_dict(), indent)

    def sheet(self) -> FactSheet:
        """The explanation as a page of facts to render."""
        explained = self.metric
        bounds = [f"`{bound.who}` {bound}" for bound in getattr(explained, "requires", ()) if bound.who != "width"]
        parts: list[tuple[str, list[str]]] = [
            ("formula", [explained.formula_text]),
            ("better", [show_better(explained.better)]),
            ("range", [show_range(explained.range)] if explained.better is not None else []),
            ("unit", [explained.unit]),
            ("reads", [self.reads]),
            ("needs", bounds),
            ("how to read", [explained.reading, *(f"{show_number(mark)}: {words}" for mark, words in self.landmarks)]),
            ("outliers", [explained.outliers]),
            ("undefined", [explained.when_undefined or "only without rows or weight"]),
            ("pitfalls", list(explained.pitfalls)),
            ("parameters", [_parameter_text(explained, item) for item in self.parameters]),
            ("also called", [", ".join(show_alias(*item) for item in explained.aliases.items())]),
            ("see also", [", ".join(self.related)]),
        ]
        filled = [(name, [line for line in lines if line]) for name, lines in parts]
        sentence = explained.description or "A metric of your own."
        return FactSheet(
            f"{explained} · {explained.family}", sentence, [part for part in filled if part[1]], self.example
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Explanation) and self.metric == other.metric

    def __hash__(self) -> int:
        return hash((Explanation, self.metric))

    def __repr__(self) -> str:
        return fact_sheet_to_text(self.sheet())

    def _repr_html_(self) -> str:
        return fact_sheet_to_html(self.sheet())


def explain(name: str | Metric | Mapping[str, Any], /, **parameters: Any) -> Explanation:
    """What a metric is, how to read its value, and what to mind, from its own definition.

    >>> explanation = explain("fscore(beta=2)")
    >>> explanation.metric.reading
    'Between precision and recall, closer to the lower one.'
    >>> explanation.related
    ('mcc', 'average_precision', 'precision', 'recall', 'sensitivity', 'jaccard')
    """
    return Explanation(metric(name, **parameters))


def _landmarks(explained: Metric) -> tuple[tuple[float, str], ...]:
    """Values with a meaning, from low to high; that of perfect predictions is one of them."""
    marks = dict(explained.landmarks)
    if explained.at_perfect is not None:
        marks.setdefault(explained.at_perfect, _PERFECT)
    return tuple(sorted(marks.items()))


def _parameters(explained: Metric) -> tuple[ParameterFacts, ...]:
    meanings, declared = parameter_docs(type(explained)), type(explained)._parameters
    return tuple(
        ParameterFacts(name, plain_parameter(value), declared[name].default, meanings.get(name, ""))
        for name, value in explained.parameters().items()
    )


def _parameter_text(explained: Metric, item: ParameterFacts) -> str:
    if isinstance(explained, GroupMetric) and item.name == "of":  # has no default, and is written without its name
        return f"of {', '.join(item.value)}: {item.meaning}"
    other = "" if item.value == item.default else f" (by default {show(item.default)})"
    return f"{item.name}={show(item.value)}{other}{': ' * bool(item.meaning)}{item.meaning}"


def _landmark_text(mark: float, words: str) -> str:
    return f"{show_number(mark)} ({words})"


def show_alias(name: str, parameters: Mapping[str, object]) -> str:
    """Another name, with what it stands for where that is not the default."""
    meant = ", ".join(f"{key}={show(value)}" for key, value in parameters.items())
    return f"{name} ({meant})" if meant else name


def docstring_examples(metric: Metric) -> list[tuple[str, str]]:
    """The examples of its docstring as one types them from outside, each with its output as doctest writes it; of a
    composition with a name of its own, the examples of that."""
    made_by = registry.makers.get(metric.name, type(metric))
    own = metric.examples.get(str(metric).partition("(")[0]) if isinstance(metric, GroupMetric) else None
    examples = doctest.DocTestParser().get_examples(own or made_by.__doc__ or "")
    return [(_as_called_from_outside(example.source), example.want) for example in examples]


def show_examples(metric: Metric) -> str:
    """The examples as a prompt shows them; empty if there are none."""
    lines = []
    for source, want in docstring_examples(metric):
        first, *rest = source.rstrip("\n").split("\n")
        lines += [f">>> {first}", *(f"... {line}" for line in rest)]
        lines += ["" if line == "<BLANKLINE>" else line for line in want.splitlines()]
    return "\n".join(lines)


def _as_called_from_outside(source: str) -> str:
    """Names of our metrics as they are called from outside."""

    def outside(match: re.Match[str]) -> str:
        definition = registry.classes.get(match[1]) or registry.makers.get(match[1])
        ours = definition is not None and definition.__module__.startswith("tallymark.")
        return f"tm.{match[1]}" if ours else match[1]

    return re.sub(r"(?<![.\w])(\w+)(?=\()", outside, source)


def parameter_docs(cls: type) -> dict[str, str]:
    """What the strings below its parameters say, of a class and those that it builds on, where the source is there."""
    out: dict[str, str] = {}
    for base in reversed(cls.__mro__[:-1]):
        try:
            definition = ast.parse(textwrap.dedent(inspect.getsource(base))).body[0]
        except (OSError, TypeError, SyntaxError):  # typed at a prompt, or shipped without its source
            continue
        for field, text in pairwise(getattr(definition, "body", ())):
            named = isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)
            if named and isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant):
                out[field.target.id] = " ".join(str(text.value.value).split())
    return out


def related_metrics(metric: Metric) -> list[str]:
    """Metrics to look at beside this one: those that it names, then those of its own file."""
    own = type(metric)
    neighbours = [name for name, cls in registry.classes.items() if cls.__module__ == own.__module__]
    beside = own.__module__.startswith("tallymark.")  # a file of the user's own may hold anything
    return [name for name in dict.fromkeys([*metric.related, *(neighbours if beside else ())]) if name != metric.name]
