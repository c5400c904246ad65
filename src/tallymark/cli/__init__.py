"""The command line: one file per command, which reads its options, calls one function and prints the result.

`group.py` is the table of commands, `options.py` the options that several share, `output.py` prints and writes
results, and `run.py` turns outcomes into exit codes and errors into one sentence. `columns.py` and `streaming.py` read
the files.
"""

from __future__ import annotations

import sys

from tallymark.optional_packages import needed


def main() -> None:
    """Run the command that the arguments of the process name, and leave with its exit code."""
    try:
        with needed("the command line", "click", extra="cli"):
            import click  # noqa: F401 - only to know that it is there
    except ImportError as error:
        print(f"tallymark: {error}", file=sys.stderr)
        sys.exit(2)
    from tallymark.cli.run import run

    sys.exit(run(sys.argv[1:]))
