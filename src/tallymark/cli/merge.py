"""tallymark merge: tallies of days, files or workers, added up."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import click

from tallymark.cli import options
from tallymark.cli.group import Command
from tallymark.cli.output import TALLY, check_inputs_kept, check_output_paths, check_report, finish_report
from tallymark.errors import ParameterError, StateError
from tallymark.evaluation.tally import Tally


@click.command("merge", cls=Command, short_help="Add saved tallies and report on all rows.")
@options.FILES
@options.MIN_ROWS
@options.SAVE_TALLY
@options.ACCEPT
@options.output_options(files=True)
def command(**given: Any) -> int:
    """Add saved tallies and report on all of their rows.

    Each FILE was written by evaluate --save-tally or Tally.save. The numbers are those of all rows at once, to the last
    bit, without the rows. An --output that ends in .tally is the sum, to add to later.

    \b
    Examples:
      tallymark merge monday.tally tuesday.tally
      tallymark merge 'june/*.tally' -o june.tally --accept "auc > 0.8"
    """
    from tallymark.acceptance.accept import check_condition

    check_inputs_kept(given)
    output = given["output"]
    if output is not None and output.lower().endswith(TALLY) and given["format"] is None:
        if given["save_tally"]:
            raise ParameterError("`--save-tally` and `--output` must not both be a tally; name one")
        given |= {"save_tally": output, "output": None}
    check_output_paths(given)
    if given["accept"]:
        check_condition(given["accept"])  # before anything takes long
    tally = _sum(given["files"])
    report = check_report(tally.report(min_rows=given["min_rows"]))
    if given["save_tally"]:
        tally.save(given["save_tally"])
    return finish_report(report, given)


def _sum(named: Sequence[str]) -> Tally:
    """The tally of all files."""
    from tallymark.sources.paths import find_matching

    paths = [path for each in named for path in find_matching(each)]
    places = [os.path.realpath(path) for path in paths]
    for k, path in enumerate(paths):
        if places[k] in places[:k]:
            raise ParameterError(f"each tally must be named once, since its rows would count twice; `{path}` was again")
    total = Tally.load(paths[0])
    for path in paths[1:]:
        tally = Tally.load(path)
        try:
            total = total + tally
        except StateError as error:
            raise StateError(f"`{path}` cannot be added to `{paths[0]}`: {error}") from error
    return total
