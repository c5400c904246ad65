"""tallymark evaluate: many metrics on the rows of a file."""

from __future__ import annotations

from typing import Any

import click

from tallymark.cli import options
from tallymark.cli.output import deliver
from tallymark.cli.progress import watched
from tallymark.cli.rows import Rows
from tallymark.cli.run import FINE, NOT_ACCEPTED
from tallymark.cli.several import FileCommand
from tallymark.cli.wording import command_line, in_options


@click.command("evaluate", cls=FileCommand, short_help="Evaluate the predictions in a file.")
@options.rows_of_a_file("The predictions; several columns are one per class, output or quantile.")
@options.columns("--by", "Groups to evaluate one by one, too.")
@click.option("--min-rows", type=int, default=1, show_default=True, help="The smallest group that is compared.")
@options.intervals(
    click.option("--ci", type=float, metavar="LEVEL", help="Put an interval around each number, such as 0.95."),
    options.CI_METHOD,
)
@click.option("--accept", multiple=True, metavar="CONDITION", help='What must hold, such as "r2 > 0.8 and rmse < 5".')
@options.forms(files=True)
def command(**given: Any) -> int:
    """Evaluate the predictions in a FILE of CSV or Parquet; - is standard input.

    A column whose every field is a number holds numbers, all others hold labels. Where the types leave it open, --kind
    says what the predictions are. Several columns of probabilities belong to the classes that end their names, or to
    those of --classes.

    \b
    Examples:
      tallymark evaluate deliveries.csv --truth minutes --prediction predicted
      tallymark evaluate clicks.parquet --truth clicked --prediction p --kind probability --by country --ci 0.95
      tallymark evaluate iris.csv --truth species --prediction p_a p_b p_c --classes a b c --html report.html
      tallymark evaluate deliveries.csv --truth minutes --prediction predicted --accept "r2 > 0.8"
    """
    from tallymark.evaluation import evaluate
    from tallymark.evaluation.accept import check_condition

    if given["accept"]:
        check_condition(given["accept"])  # before anything takes long
    with watched(given["file"]) as progress:
        rows = Rows(given, progress)
        with rows.explained():
            facts = rows.facts()
            report = evaluate(
                rows.array(given["truth"]),
                rows.array(given["prediction"]),
                **{**facts, "classes": facts["classes"] or rows.classes_of_columns()},
                by=rows.named(given["by"]),
                min_rows=given["min_rows"],
                ci=given["ci"],
                ci_method=given["ci_method"],
            )
            if len(report.failures) == len(report):  # there is nothing to show
                raise next(iter(report.failures.values()))
        for key, error in report.failures.items():
            report.cell(key).error = type(error)(in_options(str(error)))
        if given["accept"]:
            report = report.with_acceptance(given["accept"])
    deliver(report, given, command_line())
    if report.acceptance is None or report.acceptance.passed:
        return FINE
    click.echo(f"tallymark: {report.acceptance.sentence}", err=True)
    return NOT_ACCEPTED
