"""All of `sklearn.metrics`, with the functions that compute a metric answered by tallymark.

The names, signatures, results, warnings and errors are those of scikit-learn; what tallymark does not serve is
scikit-learn's own. `status` shows who answered.
"""

from __future__ import annotations

import importlib
from typing import Any

import sklearn.metrics as _theirs

from tallymark.sklearn.adapters import make_functions

_functions = make_functions(__name__)
__all__ = [*_theirs.__all__]


def __getattr__(name: str) -> Any:
    if name == "cluster":
        return importlib.import_module("tallymark.sklearn.metrics.cluster")
    found = _functions.get(name)
    return getattr(_theirs, name) if found is None else found


def __dir__() -> list[str]:
    return __all__
