"""tallymark evaluate: many metrics on the rows of files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from tallymark.cli import options
from tallymark.cli.group import Command
from tallymark.cli.output import answer, check_places, check_report
from tallymark.cli.progress import watched
from tallymark.cli.table_rows import FileRows
from tallymark.evaluation.report import Report
from tallymark.evaluation.tally import Tally


@click.command("evaluate", cls=Command, short_help="Evaluate the predictions in files.")
@options.row_options(options.FILES, "The predictions; several columns are one per class, output or quantile.")
@options.columns("--by", "Groups to evaluate one by one, too.")
@options.MIN_ROWS
@options.intervals(
    click.option("--ci", type=float, metavar="LEVEL", help="Put an interval around each number, such as 0.95."),
    options.CI_METHOD,
)
@options.column("--keys", "What tells rows apart when they are resampled; without it, their order does.")
@click.option(
    "--score-ranges",
    type=int,
    metavar="NUMBER",
    help="Walk scores, where they are too many for memory, in so many ranges, such as 64.",
)
@click.option(
    "--stream/--no-stream",
    default=None,
    help="Read rows in pieces, or those of one file at once; by default several files and those beyond 256 MB are "
    "read in pieces.",
)
@click.option(
    "--engine", type=click.Choice(["dask", "spark", "ray"]), help="Who reads files of Parquet, instead of this process."
)
@click.option("--scheduler", metavar="ADDRESS", help="Where the engine is; without it, as its own settings say.")
@options.SAVE_TALLY
@options.ACCEPT
@options.forms(files=True)
def command(**given: Any) -> int:
    """Evaluate the predictions in a FILE of CSV, Parquet or Arrow; - is standard input.

    Several files, patterns in quotes and folders are one table, which may be larger than memory: it is read in pieces,
    and the numbers are the same.

    A column whose every field is a number holds numbers, all others hold labels. Where the types leave it open, --kind
    says what the predictions are. Several columns of probabilities belong to the classes that end their names, or to
    those of --classes.

    \b
    Examples:
      tallymark evaluate deliveries.csv --truth minutes --prediction predicted
      tallymark evaluate clicks.parquet --truth clicked --prediction p --kind probability --by country --ci 0.95
      tallymark evaluate iris.csv --truth species --prediction p_a,p_b,p_c --classes a,b,c --html report.html
      tallymark evaluate deliveries.csv --truth minutes --prediction predicted --accept "r2 > 0.8"
      tallymark evaluate 'june/*.parquet' --truth clicked --prediction p --kind probability --save-tally june.tally
    """
    from tallymark.acceptance.accept import check_condition
    from tallymark.cli.folding import is_streamed

    check_places(given)
    if given["accept"]:
        check_condition(given["accept"])  # before anything takes long
    return answer(_streamed(given) if is_streamed(given) else _at_once(given), given)


def _streamed(given: Mapping[str, Any]) -> Report:
    """The report of rows that are read in pieces."""
    from tallymark.cli.folding import evaluate_ranges, tally_files
    from tallymark.evaluation.table import check_groups, read_report

    check_groups(given["min_rows"], given["by"])
    if given["score_ranges"] is not None:
        return check_report(evaluate_ranges(given))
    tally = tally_files(given)
    report = check_report(read_report(tally, min_rows=given["min_rows"]))
    if given["save_tally"]:
        tally.save(given["save_tally"])
    return report


def _at_once(given: Mapping[str, Any]) -> Report:
    """The report of rows in memory."""
    from tallymark.evaluation.evaluate import evaluate
    from tallymark.sources.paths import find_files

    path = find_files(list(given["files"]))[0]
    with watched(path) as progress:
        rows = FileRows(path, given, progress)
        with rows.explained():
            facts = rows.facts()
            facts |= {"classes": facts["classes"] or rows.classes_of_columns(), "keys": rows.one("keys")}
            facts["by"] = rows.named(given["by"])
            truth, predictions = rows.array(given["truth"]), rows.array(given["prediction"])
            report = check_report(evaluate(truth, predictions, min_rows=given["min_rows"], **facts))
            if given["save_tally"]:
                facts["metrics"] = {key: report.cell(key).metric for key in report}
                _tally(truth, predictions, facts).save(given["save_tally"])
    return report


def _tally(truth: Any, predictions: Any, facts: dict[str, Any]) -> Tally:
    """The tally of the rows of a report."""
    columns = {name: facts.pop(name) for name in ("weights", "query", "by", "keys", "cluster")}
    return Tally(by=columns["by"] and list(columns["by"]), **facts).update(truth, predictions, **columns)
