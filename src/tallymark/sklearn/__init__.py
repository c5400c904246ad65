"""scikit-learn's conventions: scorers for `scoring=`, and its own functions of metrics, answered by tallymark.

- `metrics` is `sklearn.metrics` with the numbers of tallymark: ``from tallymark.sklearn import metrics``.
- `patch` and `unpatch` put them into `sklearn.metrics` itself, and take them out again; `status` shows who answered.
- `scorer` makes a scorer of any metric.

The conventions of scikit-learn (what is 0 where a value is undefined, types, warnings, errors) live here, one module
for each family of metrics; the numbers come from the states and formulas of the other packages.
"""

from __future__ import annotations

from typing import Any

from tallymark.sklearn.patching import patch, unpatch
from tallymark.sklearn.scorer import scorer
from tallymark.sklearn.served import status

__all__ = ["metrics", "scorer", "patch", "unpatch", "status"]


def __getattr__(name: str) -> Any:
    if name == "metrics":  # which loads scikit-learn
        import importlib

        return importlib.import_module("tallymark.sklearn.metrics")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
