"""tallymark compare: several models on the rows of a file."""

from __future__ import annotations

from typing import Any

import click

from tallymark.cli import options
from tallymark.cli.group import Command
from tallymark.cli.output import check_places, deliver
from tallymark.cli.progress import watched
from tallymark.cli.table_rows import FileRows
from tallymark.cli.wording import command_line
from tallymark.comparison.corrections import CORRECTIONS
from tallymark.errors import ParameterError


@click.command("compare", cls=Command, short_help="Compare models whose predictions are in one file.")
@options.row_options(options.ONE_FILE, "The predictions of the models, a column for each.")
@options.intervals(
    click.option("--ci", type=float, default=0.95, show_default=True, metavar="LEVEL", help="The level of intervals.")
)
@options.column("--baseline", "The model that all others are compared with; without it, every pair is.")
@click.option(
    "--correction",
    type=click.Choice(list(CORRECTIONS)),
    default="holm",
    show_default=True,
    help="How p-values are corrected for the number of pairs.",
)
@options.forms(files=True)
def command(**given: Any) -> None:
    """Compare models whose predictions stand in one FILE of CSV or Parquet; - is standard input.

    \b
    Examples:
      tallymark compare deliveries.csv --truth minutes --prediction old,new
      tallymark compare clicks.csv --truth clicked --prediction a,b,c --kind probability --metrics auc,logloss
    """
    from tallymark.comparison.compare import compare

    check_places(given)
    twice = [name for k, name in enumerate(given["prediction"]) if name in given["prediction"][:k]]
    if twice:
        raise ParameterError(f"`--prediction` must name each column once; {twice[0]!r} was named twice")
    with watched(given["file"]) as progress:
        rows = FileRows(given["file"], given, progress)
        with rows.explained():
            found = compare(
                rows.array(given["truth"]),
                rows.named(given["prediction"]),
                **rows.facts(),
                correction=given["correction"],
                baseline=given["baseline"],
            )
    deliver(found, given, command_line())
