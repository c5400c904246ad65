"""tallymark doctor: what keeps the app from running well."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import click

from tallymark.app.settings import read_settings
from tallymark.cli.group import Command
from tallymark.cli.output import write
from tallymark.cli.run import FINE, NOT_ACCEPTED
from tallymark.cli.settings import setting_options
from tallymark.optional_packages import needed


@click.command("doctor", cls=Command, short_help="Examine the settings and data of the app.")
@setting_options()
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(as_json: bool, **given: Any) -> int:
    """Examine the settings, folder, disk, database, clock and backups of the app. Nothing is changed.

    Pass it the options of `tallymark serve`, or the same environment. Exit code 1: there is a problem; warnings
    alone do not count.

    \b
    Example:
      tallymark doctor --data /srv/tallymark --url https://scores.example.org
    """
    settings = read_settings(given)
    with needed("The app", "fastapi", extra="app"):
        from tallymark.app.doctor import PROBLEM, examine

    findings = examine(settings, datetime.now(UTC))
    if as_json:
        from tallymark.rendering.exports import to_json

        write(f"{to_json([each._asdict() for each in findings])}\n")
    else:
        write("".join(f"{each.level:<8} {each.subject:<9} {each.text}\n" for each in findings))
    return NOT_ACCEPTED if any(each.level == PROBLEM for each in findings) else FINE
