"""Packages that only some parts need: what is said where one is not installed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tallymark.errors import MissingPackageError


@contextmanager
def needed(by: str, package: str, *, extra: str | None = None) -> Iterator[None]:
    """Around the import of a package: where it fails, the error says what to install, an extra if it belongs to one.

    >>> with needed("Progress", "rich", extra="cli"):
    ...     raise ImportError
    Traceback (most recent call last):
    tallymark.errors.MissingPackageError: Progress needs the package rich; install it with: pip install "tallymark[cli]"
    """
    try:
        yield
    except ImportError as error:
        what = package if extra is None else f'"tallymark[{extra}]"'
        raise MissingPackageError(f"{by} needs the package {package}; install it with: pip install {what}") from error
