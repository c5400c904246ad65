"""Runs a Python script with `sklearn.metrics` answered by tallymark: ``python -m tallymark.accelerate script.py``."""

from __future__ import annotations

import argparse
import runpy
import sys
from pathlib import Path

from tallymark.errors import TallymarkError
from tallymark.sklearn import patch, status


def main(arguments: list[str] | None = None) -> int:
    """Patch `sklearn.metrics`, then run the script as if Python had been called with it."""
    parser = argparse.ArgumentParser(
        prog="python -m tallymark.accelerate",
        description="Run a script with the functions of sklearn.metrics answered by tallymark.",
    )
    parser.add_argument("--status", action="store_true", help="print at the end who answered which calls")
    parser.add_argument(
        "--ours", action="store_true", help="return tallymark's value where it means another one than scikit-learn"
    )
    parser.add_argument("-m", dest="module", action="store_true", help="run a module instead of a file")
    parser.add_argument("script", help="the script, or the module with -m")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="what the script gets")
    options = parser.parse_args(arguments)
    if not options.module and not Path(options.script).is_file():
        parser.error(f"there is no file {options.script}")
    try:
        patch(strict=not options.ours)
    except TallymarkError as error:
        parser.error(str(error))
    sys.argv[:] = [options.script, *options.arguments]
    try:
        if options.module:
            sys.path.insert(0, "")
            runpy.run_module(options.script, run_name="__main__", alter_sys=True)
        else:
            sys.path.insert(0, str(Path(options.script).resolve().parent))
            runpy.run_path(options.script, run_name="__main__")
    finally:
        if options.status:
            print(status(), file=sys.stderr)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
