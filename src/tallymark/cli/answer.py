"""The last steps of commands that answer with a report: what it must meet, where it goes, and the exit code."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from tallymark.cli.output import deliver
from tallymark.cli.run import FINE, NOT_ACCEPTED
from tallymark.cli.wording import Options, command_line
from tallymark.evaluation import Report


def check_report(report: Report) -> Report:
    """A report whose notes on failures are in the words of the command line; one where all failed is an error."""
    if report.failures and len(report.failures) == len(report):  # there is nothing to show
        raise next(iter(report.failures.values()))
    wording = Options(click.get_current_context().command)
    for key, error in report.failures.items():
        report.cell(key).error = type(error)(error.write(wording))
    return report


def answer(report: Report, options: Mapping[str, Any]) -> int:
    """Print or write a report; the exit code says whether it is accepted."""
    if options["accept"]:
        report = report.with_acceptance(options["accept"])
    deliver(report, options, command_line())
    if report.acceptance is None or report.acceptance.passed:
        return FINE
    click.echo(f"tallymark: {report.acceptance.sentence}", err=True)
    return NOT_ACCEPTED
