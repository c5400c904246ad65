"""Packages that only some sources of rows need, loaded when one is read."""

from __future__ import annotations

import importlib
from functools import cache
from typing import Any

from tallymark.packages import needed


@cache
def load(module: str) -> Any:
    """A module of Arrow, which reads files."""
    with needed("reading files", "pyarrow", extra="files"):
        return importlib.import_module(module)
