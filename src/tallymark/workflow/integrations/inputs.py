"""Which inputs a model is given for each eval set."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tallymark.arrays import describe
from tallymark.errors import LengthError, ParameterError
from tallymark.workflow.evaluator import Evaluator


def by_eval_set(evaluator: Evaluator, data: Any) -> dict[str, Any]:
    """The inputs by the name of their eval set; where there is one eval set only, they may stand alone."""
    names = list(evaluator.eval_sets)
    if isinstance(data, Mapping) and set(data) == set(names):
        return {name: data[name] for name in names}
    if len(names) == 1 and not isinstance(data, Mapping) and data is not None:
        return {names[0]: data}
    keys = ", ".join(map(repr, data)) if isinstance(data, Mapping) else ""
    raise ParameterError(
        argument="data",
        expected=f"map each of the eval sets {', '.join(map(repr, names))} to the inputs of the model",
        got=f"a mapping of {keys or 'nothing'}" if isinstance(data, Mapping) else describe(data),
    )


def check_rows(evaluator: Evaluator, name: str, rows: int | None) -> None:
    """Refuse inputs of other rows than those of the eval set, where it is known how many they are."""
    n = evaluator.eval_sets[name].n
    if rows is not None and rows != n:
        raise LengthError(
            argument="data", expected=f"have the rows of the eval set {name!r}, which are {n:,}", got=f"{rows:,}"
        )
