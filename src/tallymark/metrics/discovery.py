"""Finds the metric files of a folder, so that a new one is registered by being there."""

from __future__ import annotations

import importlib
import pkgutil
import sys
from collections.abc import Mapping
from types import ModuleType


def import_all(package: str) -> None:
    """Import every module of a package that is not imported yet."""
    for module in pkgutil.iter_modules(sys.modules[package].__path__, f"{package}."):
        if module.name not in sys.modules:
            importlib.import_module(module.name)


def public_names(namespace: Mapping[str, object]) -> list[str]:
    """The names of a package that are neither private nor its own modules."""
    return sorted(
        name for name, value in namespace.items() if not name.startswith("_") and not isinstance(value, ModuleType)
    )
