"""The settings of the app as options, and the app's data for commands that work beside a running server."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import click

from tallymark.app.settings import PREFIX, SIGN_UP, AppSettings
from tallymark.errors import ParameterError, Text
from tallymark.optional_packages import needed

if TYPE_CHECKING:
    from tallymark.app.service import Service


def setting_options(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """An option for each of these settings, from their table; for all of them where none is named."""

    def add(command: Callable[..., Any]) -> Callable[..., Any]:
        for setting in reversed(fields(AppSettings)):
            if names and setting.name not in names:
                continue
            kind = click.Choice(SIGN_UP) if setting.name == "sign_up" else int if setting.type == "int" else str
            description = f"{setting.metadata['description']} Also {PREFIX}{setting.name.upper()}."
            if setting.default:
                description = f"{description}  [default: {setting.default}]"
            word = "TEXT" if kind is str else "NUMBER" if kind is int else None
            option = f"--{setting.name.replace('_', '-')}"
            command = click.option(option, setting.name, type=kind, metavar=word, help=description)(command)
        return command

    return add


@contextmanager
def open_service(settings: AppSettings) -> Iterator[Service]:
    """The data of an app that has been started before, with tables of this version."""
    with needed("The app", "fastapi", extra="app"):
        from tallymark.app.service import Service

    require_data(settings)
    service = Service(settings)
    try:
        with database_errors():
            current, newest = service.database.versions()
        if current != newest:
            raise ParameterError(
                f"the tables have version {current or 'none'}, this tallymark needs {newest}",
                hint=Text("Start the app once with {}, which migrates them", "tallymark serve"),
            )
        yield service
    finally:
        service.close()


def require_data(settings: AppSettings) -> None:
    """Raise unless there is a database in the folder, or a URL of another one."""
    if not settings.database and not (settings.folder / "tallymark.db").is_file():
        raise ParameterError(
            argument="data",
            expected="be the data folder of the app",
            got=f"{settings.data!r}, which has no tallymark.db",
            hint=Text("Name the folder with {data}, or the database with {database}"),
        )


@contextmanager
def database_errors() -> Iterator[None]:
    """Around what asks the database: an error is what it says, without its explanations."""
    from sqlalchemy.exc import DBAPIError

    try:
        yield
    except DBAPIError as error:
        raise ParameterError(f"the database does not answer: {str(error.orig).splitlines()[0]}") from error
