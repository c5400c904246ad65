"""tallymark restore: the app's data from a backup."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from tallymark.app.settings import read_settings
from tallymark.cli.group import Command
from tallymark.cli.run import FINE, NOT_ACCEPTED
from tallymark.cli.settings import database_errors, setting_options
from tallymark.optional_packages import needed


@click.command("restore", cls=Command, short_help="Restore the app's data from a backup.")
@click.argument("file", metavar="FILE")
@setting_options("data", "database")
def command(file: str, **given: Any) -> int:
    """Restore a backup FILE into an empty folder, and compare every part with its hash.

    A PostgreSQL database must be empty too, and needs the program pg_restore. Exit code 1: the backup itself lacks
    files.

    \b
    Example:
      tallymark restore tallymark-2026-11-19.zip --data /srv/tallymark
    """
    settings = read_settings(given)
    with needed("The app", "fastapi", extra="app"):
        from tallymark.app.backup import restore_backup

    with database_errors():
        backup = restore_backup(settings, Path(file))
    click.echo(f"{settings.folder.absolute()}: the database and {backup.files:,} files. Start the app on it.")
    for missing in backup.missing:
        click.echo(f"tallymark: the backup lacks the file {missing}", err=True)
    return NOT_ACCEPTED if backup.missing else FINE
