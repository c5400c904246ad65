"""tallymark evaluate: many metrics on the rows of files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from tallymark.cli import options
from tallymark.cli.columns import FileColumns
from tallymark.cli.group import Command
from tallymark.cli.output import check_output_paths, check_report, finish_report
from tallymark.cli.progress import progress_bar
from tallymark.evaluation.report import Report
from tallymark.evaluation.tally import Tally


@click.command("evaluate", cls=Command, short_help="Evaluate the predictions in files.")
@options.row_options(options.FILES, "The predictions; several columns are one per class, output or quantile.")
@options.columns("--by", "Columns of groups to evaluate separately as well.")
@options.MIN_ROWS
@options.interval_options(
    click.option(
        "--ci", type=float, metavar="LEVEL", help="Confidence level, such as 0.95; adds an interval to each number."
    ),
    options.CI_METHOD,
)
@options.column("--keys", "The column of unique row ids for the bootstrap; by default the row number.")
@click.option(
    "--score-ranges",
    type=int,
    metavar="NUMBER",
    help="Process scores in this many ranges to save memory, such as 64.",
)
@click.option(
    "--stream/--no-stream",
    default=None,
    help="Read rows in batches, or all at once; by default several files, and files above 256 MB, are read in batches.",
)
@click.option(
    "--engine", type=click.Choice(["dask", "spark", "ray"]), help="Read Parquet files with the workers of this engine."
)
@click.option("--scheduler", metavar="ADDRESS", help="The address of the engine; by default its own settings.")
@options.SAVE_TALLY
@options.ACCEPT
@options.output_options(files=True)
def command(**given: Any) -> int:
    """Evaluate the predictions in a CSV, Parquet or Arrow FILE; - is standard input.

    Several files, patterns in quotes and folders are read as one table, which may be larger than memory; the numbers
    are the same.

    A column whose fields are all numbers contains numbers; any other column contains labels. If the types are
    ambiguous, --kind says what the predictions are. Several columns of probabilities belong to the classes at the end
    of their names, or to --classes.

    \b
    Examples:
      tallymark evaluate deliveries.csv --truth minutes --prediction predicted
      tallymark evaluate clicks.parquet --truth clicked --prediction p --kind probability --by country --ci 0.95
      tallymark evaluate iris.csv --truth species --prediction p_a,p_b,p_c --classes a,b,c --html report.html
      tallymark evaluate deliveries.csv --truth minutes --prediction predicted --accept "r2 > 0.8"
      tallymark evaluate 'june/*.parquet' --truth clicked --prediction p --kind probability --save-tally june.tally
    """
    from tallymark.acceptance.accept import check_condition
    from tallymark.cli.streaming import is_streamed

    check_output_paths(given)
    if given["accept"]:
        check_condition(given["accept"])  # before anything takes long
    return finish_report(_streamed(given) if is_streamed(given) else _at_once(given), given)


def _streamed(given: Mapping[str, Any]) -> Report:
    """The report of rows that are read in pieces."""
    from tallymark.cli.streaming import evaluate_score_ranges, tally_files
    from tallymark.evaluation.table import check_groups, read_report

    check_groups(given["min_rows"], given["by"])
    if given["score_ranges"] is not None:
        return check_report(evaluate_score_ranges(given))
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
    with progress_bar(path) as progress:
        columns = FileColumns(path, given, progress)
        with columns.explain_types():
            keywords = columns.keywords()
            keywords |= {"classes": keywords["classes"] or columns.classes_from_names(), "keys": columns.column("keys")}
            keywords["by"] = columns.by_name(given["by"])
            truth, predictions = columns.array(given["truth"]), columns.array(given["prediction"])
            report = check_report(evaluate(truth, predictions, min_rows=given["min_rows"], **keywords))
            if given["save_tally"]:
                keywords["metrics"] = {key: report.cell(key).metric for key in report}
                _tally(truth, predictions, keywords).save(given["save_tally"])
    return report


def _tally(truth: Any, predictions: Any, keywords: dict[str, Any]) -> Tally:
    """The tally of the rows of a report."""
    columns = {name: keywords.pop(name) for name in ("weights", "query", "by", "keys", "cluster")}
    return Tally(by=columns["by"] and list(columns["by"]), **keywords).update(truth, predictions, **columns)
