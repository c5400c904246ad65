"""The functions that `patch` puts into `sklearn.metrics`: apart from those of `tallymark.sklearn.metrics`, which a
caller imported on purpose and `unpatch` leaves alone."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from tallymark.sklearn import patching
from tallymark.sklearn.adapters import make_functions, originals

ORIGINALS = originals()
FUNCTIONS = make_functions(__name__, patching.is_strict)


def __getattr__(name: str) -> Callable[..., Any]:
    try:
        return FUNCTIONS[name]
    except KeyError:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None


if os.environ.get(patching.ENVIRONMENT):  # a worker of a patched process, which unpickles one of the functions
    patching.patch(strict=os.environ[patching.ENVIRONMENT] == "strict")
