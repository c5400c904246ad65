"""scikit-learn's conventions on tallymark's numbers: one module for each family of metrics.

An adapter has the name and the arguments of the function that it stands for, and raises `UnservedError` where only the
original may answer.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

from tallymark.errors import ParameterError
from tallymark.optional_packages import installed_version, needed
from tallymark.sklearn.served import served

TESTED_VERSIONS = ("1.9.1",)
"""Of scikit-learn: its own tests were run against the adapters."""


def require_tested_version() -> None:
    """Refuse a version of scikit-learn whose conventions were not compared with."""
    with needed("tallymark.sklearn.metrics", "scikit-learn", extra="sklearn"):
        import sklearn  # noqa: F401 - to see that it is there
    found = installed_version("scikit-learn")
    if found not in TESTED_VERSIONS:
        raise ParameterError(
            argument="scikit-learn",
            expected=f"be of a version that was tested ({', '.join(TESTED_VERSIONS)})",
            got=found,
            hint="Other metrics of tallymark work with any version",
        )


def adapter_modules() -> list[ModuleType]:
    """The families of adapters."""
    from tallymark.sklearn.adapters import clustering, curves, labels, probabilities, rankings, regression

    return [labels, probabilities, curves, rankings, regression, clustering]


def originals() -> dict[str, Callable[..., Any]]:
    """The functions of scikit-learn that have an adapter, by name: from where they live, which is never patched."""
    require_tested_version()
    from sklearn.metrics import _base, _classification, _ranking, _regression
    from sklearn.metrics.cluster import _bicluster, _supervised, _unsupervised

    homes = (_classification, _ranking, _regression, _base, _supervised, _unsupervised, _bicluster)
    names = [name for module in adapter_modules() for name in module.__all__]
    return {name: next(vars(home)[name] for home in homes if _is_home(home, name)) for name in names}


def _is_home(module: ModuleType, name: str) -> bool:
    return getattr(vars(module).get(name), "__module__", None) == module.__name__


def make_functions(home: str, strict: Callable[[], bool] = lambda: True) -> dict[str, Callable[..., Any]]:
    """Functions like those of scikit-learn that tallymark answers, importable from the module `home`."""
    theirs = originals()
    return {
        name: served(getattr(module, name), theirs[name], home, strict)
        for module in adapter_modules()
        for name in module.__all__
    }
