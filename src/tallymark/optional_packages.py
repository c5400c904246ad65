"""Packages that only some parts need: the errors where one is missing, too old or broken."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

from tallymark.errors import MissingPackageError

_REQUIREMENT = re.compile(r"(?P<package>[\w.-]+)(\[.*?\])? *>= *(?P<floor>[\d.]+).*?(extra == ['\"](?P<extra>\w+)|$)")
_VARIANTS = {"pyspark": ("pyspark-client",), "xgboost": ("xgboost-cpu",)}  # with the same modules under another name


@contextmanager
def needed(by: str, package: str, *, extra: str | None = None) -> Iterator[None]:
    """Around the import of a package: where it is missing, older than we support or broken, the error says what to do.

    The packages of an `extra` are checked together. The oldest versions are those that tallymark was built with, in the
    metadata of its own package.

    >>> with needed("Progress", "rich", extra="cli"):
    ...     raise ModuleNotFoundError("No module named 'rich'", name="rich")
    Traceback (most recent call last):
    tallymark.errors.MissingPackageError: Progress needs the package rich; install it with: pip install "tallymark[cli]"
    """
    for each, floor in _floors(package, extra):
        found = installed_version(each)
        if found is not None and _release(found) < _release(floor):
            what = f'"{package}>={floor}"' if extra is None else f'"tallymark[{extra}]"'
            raise MissingPackageError(
                f"{by} needs {each} {floor} or later; {found} is installed. Upgrade it with: pip install "
                f"--upgrade {what}"
            )
    try:
        yield
    except ImportError as error:
        name, cause = package, f", which could not be imported ({error})"
        if isinstance(error, ModuleNotFoundError) and error.name and "." not in error.name:
            name, cause = {"sklearn": "scikit-learn"}.get(error.name, error.name), ""
        what = package if extra is None else f'"tallymark[{extra}]"'
        raise MissingPackageError(
            f"{by} needs the package {name}{cause}; install it with: pip install {what}"
        ) from error


@cache
def _floors(package: str, extra: str | None) -> list[tuple[str, str]]:
    """The packages of an extra and their oldest versions; without an extra, those of one package."""
    from importlib import metadata  # slow to load, and most calls need no other package

    try:
        found = [_REQUIREMENT.match(line) for line in metadata.requires("tallymark") or ()]
    except metadata.PackageNotFoundError:  # where the source is not installed, there is nothing to go by
        return []
    asked = [(each["package"], each["floor"], each["extra"]) for each in found if each is not None]
    wanted = [(name, floor) for name, floor, of in asked if (name == package if extra is None else of == extra)]
    return list(dict.fromkeys(wanted))


@cache
def installed_version(package: str) -> str | None:
    """The version of a package; None where it is not installed."""
    from importlib import metadata

    for name in (package, *_VARIANTS.get(package, ())):
        try:
            return metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return None


def _release(version: str) -> tuple[int, ...]:
    """The numbers of a version, to be compared."""
    found = re.match(r"\d+(\.\d+)*", version)
    return tuple(map(int, found[0].split("."))) if found else ()
