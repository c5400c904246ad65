"""tallymark version: what is installed."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version

import click

from tallymark.cli.group import Command
from tallymark.cli.output import write

_PACKAGES = ("numpy", "pyarrow", "matplotlib", "rich", "click")


@click.command("version", cls=Command, short_help="Print the installed versions.")
def command() -> None:
    """Print the versions of tallymark, Python and the packages in use.

    \b
    Example:
      tallymark version
    """
    from tallymark import __version__

    lines = [("tallymark", __version__), ("python", platform.python_version()), ("system", platform.platform())]
    write("".join(f"{name:<12}{found}\n" for name, found in [*lines, *((name, _found(name)) for name in _PACKAGES)]))


def _found(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"
