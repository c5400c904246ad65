"""All of `sklearn.metrics.cluster`, with the functions that compute a metric answered by tallymark."""

from __future__ import annotations

from typing import Any

import sklearn.metrics.cluster as _theirs

from tallymark.sklearn.metrics import _functions

__all__ = [*_theirs.__all__]


def __getattr__(name: str) -> Any:
    found = _functions.get(name) if name in __all__ else None
    return getattr(_theirs, name) if found is None else found


def __dir__() -> list[str]:
    return __all__
