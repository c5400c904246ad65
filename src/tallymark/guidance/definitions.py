"""What the definition of a metric says in its source: its examples, its parameters in words, its neighbours."""

from __future__ import annotations

import ast
import doctest
import inspect
import re
import textwrap
from itertools import pairwise

from tallymark.metrics import registry
from tallymark.metrics.base import Metric
from tallymark.metrics.fairness.base import GroupMetric


def examples_of(metric: Metric) -> list[tuple[str, str]]:
    """The examples of its docstring as one types them from outside, each with its output as doctest writes it; of a
    composition with a name of its own, the examples of that."""
    made_by = registry.makers.get(metric.name, type(metric))
    own = metric.examples.get(str(metric).partition("(")[0]) if isinstance(metric, GroupMetric) else None
    found = doctest.DocTestParser().get_examples(own or made_by.__doc__ or "")
    return [(_as_typed(example.source), example.want) for example in found]


def show_examples(metric: Metric) -> str:
    """The examples as a prompt shows them; empty if there are none."""
    shown = []
    for source, want in examples_of(metric):
        first, *rest = source.rstrip("\n").split("\n")
        shown += [f">>> {first}", *(f"... {line}" for line in rest)]
        shown += ["" if line == "<BLANKLINE>" else line for line in want.splitlines()]
    return "\n".join(shown)


def _as_typed(source: str) -> str:
    """Names of our metrics as they are called from outside."""

    def outside(found: re.Match[str]) -> str:
        held = registry.classes.get(found[1]) or registry.makers.get(found[1])
        ours = held is not None and held.__module__.startswith("tallymark.")
        return f"tm.{found[1]}" if ours else found[1]

    return re.sub(r"(?<![.\w])(\w+)(?=\()", outside, source)


def meanings_of(cls: type) -> dict[str, str]:
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


def related_to(metric: Metric) -> list[str]:
    """Metrics to look at beside this one: those that it names, then those of its own file."""
    own = type(metric)
    neighbours = [name for name, cls in registry.classes.items() if cls.__module__ == own.__module__]
    beside = own.__module__.startswith("tallymark.")  # a file of the user's own may hold anything
    return [name for name in dict.fromkeys([*metric.related, *(neighbours if beside else ())]) if name != metric.name]
