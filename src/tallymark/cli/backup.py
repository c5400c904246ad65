"""tallymark backup: the app's data in one file, while it runs."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from tallymark.app.settings import read_settings
from tallymark.cli.group import Command
from tallymark.cli.run import FINE, NOT_ACCEPTED
from tallymark.cli.settings import database_errors, require_data, setting_options
from tallymark.optional_packages import needed


@click.command("backup", cls=Command, short_help="Write the app's data to one file.")
@click.argument("file", metavar="FILE")
@setting_options("data", "database")
def command(file: str, **given: Any) -> int:
    """Write the database and all files to a new zip FILE, also while the app runs.

    A PostgreSQL database needs the program pg_dump. FILE has the answers of challenges and the hashes of passwords:
    only its owner can read it. Exit code 1: files were missing or damaged, and the rest is in FILE.

    \b
    Example:
      tallymark backup tallymark-$(date +%F).zip --data /srv/tallymark
    """
    settings = read_settings(given)
    with needed("The app", "fastapi", extra="app"):
        from tallymark.app.backup import take_backup

    require_data(settings)
    with database_errors():  # of any version: a backup is taken before an upgrade too
        backup = take_backup(settings, Path(file), datetime.now(UTC))
    click.echo(f"{file}: the database and {backup.files:,} files, {backup.size:,} bytes")
    for missing in backup.missing:
        click.echo(f"tallymark: the file {missing} of the database is missing or damaged", err=True)
    return NOT_ACCEPTED if backup.missing else FINE
