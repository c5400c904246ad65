"""Packages that only some sources of rows need, loaded when one is read."""

from __future__ import annotations

import importlib
from functools import cache
from typing import Any

from tallymark.errors import MissingPackageError


@cache
def load(module: str) -> Any:
    """A module of Arrow, which reads files."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise MissingPackageError(
            'reading files needs the package pyarrow; install it with: pip install "tallymark[files]"'
        ) from error
