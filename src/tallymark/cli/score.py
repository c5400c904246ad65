"""tallymark score: a submission against the answers."""

from __future__ import annotations

from typing import Any

import click

from tallymark.cli import options
from tallymark.cli.group import Command
from tallymark.cli.output import check_output_paths, command_line, print_or_write, print_rejection
from tallymark.errors import ParameterError, Rejection


@click.command("score", cls=Command, short_help="Score a submission against the answers.")
@click.argument("answers", metavar="ANSWERS", type=click.Path())
@click.argument("submission", metavar="SUBMISSION", type=click.Path())
@options.submission_options()
@options.METRICS
@click.option(
    "--mode",
    type=click.Choice(["analysis", "challenge"]),
    default="analysis",
    show_default=True,
    help="analysis: leave missing rows out, show answers; challenge: count them, round scores, hide answers.",
)
@click.option("--query", metavar="COLUMN", default="query", show_default=True, help="Query column of a ranking.")
@click.option(
    "--positive", metavar="LABEL", help="Positive class, for binary metrics and a single column of probabilities."
)
@options.interval_options(
    click.option(
        "--ci", type=float, metavar="LEVEL", help="Confidence level, such as 0.95; adds an interval to each score."
    ),
    clusters=False,
)
@options.output_options(files=True)
def command(**given: Any) -> None:
    """Score a SUBMISSION against the ANSWERS, two CSV or Parquet files with ids; - is standard input.

    Rows are matched by id, in any order. All problems of a file are reported at once, with line and column.

    \b
    Examples:
      tallymark score answers.csv submission.csv
      tallymark score answers.csv submission.csv --id key --label price --prediction predicted
      tallymark score answers.csv submission.csv --mode challenge --html score.html
      tallymark score answers.csv submission.parquet --id key --label price --task numbers --ci 0.95
    """
    from tallymark.submissions.score import score_submission

    check_output_paths(given)
    if given["answers"] == given["submission"] == "-":
        raise ParameterError("only one of ANSWERS and SUBMISSION can be standard input")
    keywords = ("id", "label", "prediction", "task", "mode", "query", "positive", "missing", "separator")
    try:
        result = score_submission(
            given["answers"],
            given["submission"],
            metrics=given["metrics"] or None,
            classes=given["classes"] or None,
            limits=options.submission_limits(given),
            ci=options.intervals_of(given),
            **{name: given[name] for name in keywords},
        )
    except Rejection as error:
        print_rejection(error, given["format"])
        raise
    failures = result.report.failures
    if len(failures) == len(result.report):  # there is nothing to show
        raise next(iter(failures.values()))
    hidden = {given["answers"]: "ANSWERS"} if given["mode"] == "challenge" else {}
    print_or_write(result, given, command_line(hidden))
