"""Replaces the functions of `sklearn.metrics` by those that tallymark answers, wherever they were imported."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator
from types import FunctionType, ModuleType
from typing import Any

__all__ = ["is_patched", "patch", "unpatch"]

ENVIRONMENT = "TALLYMARK_PATCH_SKLEARN"
"""Set to "strict" or "ours" while a process is patched, so that worker processes are as well."""

_lock = threading.RLock()
_patched = False
_strict = True


class Patch:
    """What `patch` returns: as a context manager it restores what was there before that call."""

    def __init__(self, *, strict_before: bool | None) -> None:
        self._strict_before = strict_before  # None if it was not patched

    def __enter__(self) -> Patch:
        return self

    def __exit__(self, *error: object) -> None:
        if self._strict_before is None:
            unpatch()
        elif _patched:
            patch(strict=self._strict_before)

    def __repr__(self) -> str:
        return f"sklearn.metrics is {'patched: tallymark answers its functions' if _patched else 'not patched'}"


def patch(*, strict: bool = True) -> Patch:
    """Let tallymark answer the functions of `sklearn.metrics`, with the conventions of scikit-learn.

    The functions are replaced in `sklearn.metrics`, in its scorers, and in all modules that have imported them; nothing
    is changed on disk. Worker processes that are started while the patch is on have it as well. `unpatch` puts the
    originals back, and so does the end of a ``with`` block. What tallymark does not serve, scikit-learn answers;
    `status` counts both.

    Args:
        strict: Whether scikit-learn answers where tallymark means another value on purpose, such as for ties in
            top-k accuracy. With False, tallymark's value is returned.

    >>> from tallymark.sklearn import patch
    >>> with patch():
    ...     from sklearn.metrics import f1_score
    ...     f1_score(["yes", "no", "yes"], ["yes", "no", "no"], average="macro")
    0.6666666666666666
    """
    global _patched, _strict
    from tallymark.sklearn import patched

    with _lock:
        before = _strict if _patched else None
        _exchange(patched.ORIGINALS, patched.FUNCTIONS)
        _patched, _strict = True, strict
        os.environ[ENVIRONMENT] = "strict" if strict else "ours"
    return Patch(strict_before=before)


def unpatch() -> None:
    """Put the functions of scikit-learn back wherever `patch` replaced them, also in modules imported since then.

    >>> from tallymark.sklearn import unpatch
    >>> unpatch()
    """
    global _patched
    with _lock:
        if not _patched:
            return
        from tallymark.sklearn import patched

        _exchange(patched.FUNCTIONS, patched.ORIGINALS)
        _patched = False
        os.environ.pop(ENVIRONMENT, None)


def is_patched() -> bool:
    """Whether `patch` is on."""
    return _patched


def is_strict() -> bool:
    """Whether the patch returns scikit-learn's values where tallymark means others."""
    return _strict


def _exchange(old: dict[str, Callable[..., Any]], new: dict[str, Callable[..., Any]]) -> None:
    """Replace functions wherever a module or a scorer has them by those of the same name."""
    from sklearn.metrics import _scorer

    replacement = {id(function): new[name] for name, function in old.items()}
    for scorer in _scorer._SCORERS.values():
        _exchange_in_scorer(scorer, replacement)
    for module in _user_modules({function.__module__ for function in old.values()}):
        for name, value in list(vars(module).items()):
            if type(value) is FunctionType:
                if id(value) in replacement:
                    setattr(module, name, replacement[id(value)])
            elif issubclass(type(value), _scorer._BaseScorer):  # isinstance would ask lazy objects for their class
                _exchange_in_scorer(value, replacement)


def _exchange_in_scorer(scorer: Any, replacement: dict[int, Callable[..., Any]]) -> None:
    scorer._score_func = replacement.get(id(scorer._score_func), scorer._score_func)


def _user_modules(homes: set[str]) -> Iterator[ModuleType]:
    """All modules but those where the originals live, which call each other, and tallymark's own."""
    for name, module in list(sys.modules.items()):
        if isinstance(module, ModuleType) and name not in homes and not name.startswith("tallymark."):
            yield module
