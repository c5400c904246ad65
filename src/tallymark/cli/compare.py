"""tallymark compare: several models on the rows of a file."""

from __future__ import annotations

from typing import Any

import click

from tallymark.cli import options
from tallymark.cli.columns import FileColumns
from tallymark.cli.group import Command
from tallymark.cli.output import check_output_paths, command_line, print_or_write
from tallymark.cli.progress import progress_bar
from tallymark.cli.run import CommandWording
from tallymark.comparison.corrections import CORRECTIONS
from tallymark.errors import ParameterError


@click.command("compare", cls=Command, short_help="Compare models whose predictions are in one file.")
@options.row_options(options.ONE_FILE, "The columns of predictions, one per model.")
@options.interval_options(
    click.option("--ci", type=float, default=0.95, show_default=True, metavar="LEVEL", help="The confidence level.")
)
@options.column("--baseline", "Compare all models with this one; by default every pair is compared.")
@click.option(
    "--correction",
    type=click.Choice(list(CORRECTIONS)),
    default="max-t",
    show_default=True,
    help="How to correct for the number of pairs; max-t corrects p-values and intervals, the others only p-values.",
)
@options.output_options(files=True)
def command(**given: Any) -> None:
    """Compare models whose predictions are columns of one CSV or Parquet FILE; - is standard input.

    \b
    Examples:
      tallymark compare deliveries.csv --truth minutes --prediction old,new
      tallymark compare clicks.csv --truth clicked --prediction a,b,c --kind probability --metrics auc,logloss
    """
    from tallymark.comparison.compare import compare

    check_output_paths(given)
    repeated = [name for k, name in enumerate(given["prediction"]) if name in given["prediction"][:k]]
    if repeated:
        raise ParameterError(f"`--prediction` must name each column once; {repeated[0]!r} was named twice")
    with progress_bar(given["file"]) as progress:
        columns = FileColumns(given["file"], given, progress)
        with columns.explain_types():
            found = compare(
                columns.array(given["truth"]),
                columns.by_name(given["prediction"]),
                **columns.keywords(),
                correction=given["correction"],
                baseline=given["baseline"],
            )
    for report in found.reports.values():
        report.wording = CommandWording(click.get_current_context().command)
    print_or_write(found, given, command_line())
