"""The settings of the app: one table, read from options of the command line and from the environment."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from tallymark.errors import ParameterError

PREFIX = "TALLYMARK_"
SIGN_UP = ("invitation", "open")


def _setting(default: Any, description: str) -> Any:
    return field(default=default, metadata={"description": description})


@dataclass(frozen=True)
class AppSettings:
    """The settings. Each is an option of `tallymark serve` and an environment variable, such as TALLYMARK_ROWS."""

    data: str = _setting("tallymark-data", "Folder of the database and files.")
    database: str = _setting("", "URL of a PostgreSQL database; without it, SQLite in the data folder.")
    host: str = _setting("127.0.0.1", "Address to listen on.")
    port: int = _setting(8000, "Port to listen on.")
    url: str = _setting("", "Public URL of the app, such as https://scores.example.org.")
    sign_up: str = _setting("invitation", "Who may sign up: by invitation, or open to all.")
    upload_bytes: int = _setting(10_000_000, "Maximum bytes of an uploaded file.")
    data_bytes: int = _setting(1_000_000_000, "Maximum bytes of a data file for participants.")
    direct_bytes: int = _setting(10_000_000, "Maximum bytes of a file that is scored during the request.")
    rows: int = _setting(10_000_000, "Maximum rows of a file.")
    session_days: int = _setting(30, "Days until a sign-in expires.")
    resamples: int = _setting(1000, "Bootstrap replicates of intervals without a formula.")
    scorers: int = _setting(2, "Files scored at the same time.")

    def __post_init__(self) -> None:
        for setting in fields(self):
            value = getattr(self, setting.name)
            if setting.type == "int" and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
                raise ParameterError(argument=setting.name, expected="be a positive integer", got=repr(value))
        if self.port > 65_535:
            raise ParameterError(argument="port", expected="be at most 65535", got=f"{self.port}")
        if self.sign_up not in SIGN_UP:
            raise ParameterError(argument="sign_up", expected=f"be one of {', '.join(SIGN_UP)}", got=repr(self.sign_up))
        if self.url and not self.url.startswith(("http://", "https://")):
            raise ParameterError(argument="url", expected="begin with http:// or https://", got=repr(self.url))

    @property
    def folder(self) -> Path:
        """The folder of the data."""
        return Path(self.data)

    @property
    def database_url(self) -> str:
        """The URL of the database for SQLAlchemy, with the driver that is installed with the app."""
        if not self.database:
            return f"sqlite:///{self.folder.absolute() / 'tallymark.db'}"
        for scheme in ("postgresql://", "postgres://"):
            if self.database.startswith(scheme):
                return f"postgresql+psycopg://{self.database.removeprefix(scheme)}"
        return self.database

    @property
    def address(self) -> str:
        """The URL under which people reach the app, without a slash at the end."""
        if self.url:
            return self.url.rstrip("/")
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}"


def read_settings(given: Mapping[str, Any], environment: Mapping[str, str] | None = None) -> AppSettings:
    """The settings: given ones first, then those of the environment, then the defaults.

    >>> read_settings({"port": 9000}, {"TALLYMARK_SIGN_UP": "open"}).sign_up
    'open'
    """
    variables = os.environ if environment is None else environment
    values: dict[str, Any] = {}
    for setting in fields(AppSettings):
        variable = PREFIX + setting.name.upper()
        if given.get(setting.name) is not None:
            values[setting.name] = given[setting.name]
        elif variables.get(variable):
            text = variables[variable]
            values[setting.name] = _integer(variable, text) if setting.type == "int" else text
    return AppSettings(**values)


def _integer(variable: str, text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise ParameterError(f"{variable} must be an integer; got {text!r}") from None
