"""Small generated rows on which boosting overfits soon, and what a training by hand makes of their values."""

from __future__ import annotations

import doctest
import importlib
import sys

import numpy as np
import pytest

import tallymark as tm

N = 400


def two_classes(seed=0):
    """Features, 0 and 1, and weights."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(N, 4))
    return x, (x[:, 0] - x[:, 1] + 2 * rng.logistic(size=N) > 0).astype(int), rng.random(N) + 0.5


def three_classes(seed=1):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(N, 4))
    return x, np.argmax(x[:, :3] + rng.gumbel(size=(N, 3)), axis=1), rng.random(N) + 0.5


def numbers(seed=2):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(N, 4))
    return x, x[:, 0] - x[:, 1] + 2 * rng.normal(size=N), rng.random(N) + 0.5


def queries(seed=3):
    """Features, relevances from 0 to 3, and sizes of queries."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(N, 4))
    return x, np.clip(np.round(x[:, 0] + rng.normal(size=N) + 1), 0, 3).astype(int), np.full(N // 10, 10)


def stopped_at(values, patience, better):
    """The last and the best round of a training that is given up after so many rounds without a better value."""
    sign = 1 if better == "higher" else -1
    best = 0
    for k, value in enumerate(values):
        if sign * value > sign * values[best]:
            best = k
        if k - best >= patience:
            return k, best
    raise AssertionError("the values must rise and fall again")


def check_documented(framework):
    """The examples in the docstrings of an integration."""
    module = importlib.import_module(f"tallymark.training.frameworks.{framework}")
    found = doctest.testmod(module)
    assert found.attempted > 0
    assert found.failed == 0
    for name in module.__all__:
        assert getattr(module, name).__doc__


def check_missing(framework, package, monkeypatch):
    """Without the package, the import says which extra to install."""
    module = f"tallymark.training.frameworks.{framework}"
    monkeypatch.delitem(sys.modules, module, raising=False)
    for loaded in [name for name in sys.modules if name == package or name.startswith(f"{package}.")]:
        monkeypatch.setitem(sys.modules, loaded, None)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(tm.MissingPackageError, match=rf'{module} needs the package .*"tallymark\[{framework}\]"'):
        importlib.import_module(module)
