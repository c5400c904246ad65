"""tallymark check: a submission without the answers."""

from __future__ import annotations

from typing import Any

import click

from tallymark.cli import options
from tallymark.cli.group import Command
from tallymark.cli.output import print_rejection, write
from tallymark.errors import Rejection


@click.command("check", cls=Command, short_help="Check a submission without the answers.")
@click.argument("submission", metavar="SUBMISSION", type=click.Path())
@click.option(
    "--template", metavar="FILE", type=click.Path(), help="File with the expected ids, such as a sample submission."
)
@options.submission_options()
@click.option("--json", "format", flag_value="json", help="Print JSON.")
def command(**given: Any) -> None:
    """Check a SUBMISSION, a CSV or Parquet file, without the answers; - is standard input.

    \b
    Examples:
      tallymark check submission.csv --template sample.csv
      tallymark check submission.csv --task probabilities --classes cat,dog
    """
    from tallymark.rendering.exports import to_json
    from tallymark.submissions.check import check_submission

    keywords = ("id", "label", "prediction", "task", "missing", "separator")
    try:
        found = check_submission(
            given["submission"],
            given["template"],
            classes=given["classes"] or None,
            limits=options.submission_limits(given),
            **{name: given[name] for name in keywords},
        )
    except Rejection as error:
        print_rejection(error, given["format"])
        raise
    write(f"{to_json(found.to_dict()) if given['format'] == 'json' else found}\n")
