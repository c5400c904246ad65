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


def _setting(default: Any, told: str) -> Any:
    return field(default=default, metadata={"told": told})


@dataclass(frozen=True)
class AppSettings:
    """What can be set, each by an option of `tallymark serve` and by TALLYMARK_ and its name in capitals."""

    data: str = _setting("tallymark-data", "The folder of the database and the files.")
    database: str = _setting("", "The URL of a PostgreSQL database; without one, SQLite in the folder of the data.")
    host: str = _setting("127.0.0.1", "The address to listen at.")
    port: int = _setting(8000, "The port to listen at.")
    url: str = _setting("", "Where people reach the app, such as https://scores.example.org.")
    sign_up: str = _setting("invitation", "Who may sign up: by invitation, or open to all.")
    upload_bytes: int = _setting(10_000_000, "How large an uploaded file may be.")
    direct_bytes: int = _setting(10_000_000, "Up to which size a file is scored while its sender waits.")
    rows: int = _setting(10_000_000, "How many rows a file may have.")
    session_days: int = _setting(30, "How long a sign-in lasts.")
    resamples: int = _setting(1000, "How many resamples an interval without a formula is made from.")
    scorers: int = _setting(2, "How many files are scored at a time.")

    def __post_init__(self) -> None:
        for each in fields(self):
            value = getattr(self, each.name)
            if each.type == "int" and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
                raise ParameterError(argument=each.name, expected="be a whole number, 1 or more", got=repr(value))
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
        """The URL of the database, by the driver that is installed with the app."""
        if not self.database:
            return f"sqlite:///{self.folder.absolute() / 'tallymark.db'}"
        for scheme in ("postgresql://", "postgres://"):
            if self.database.startswith(scheme):
                return f"postgresql+psycopg://{self.database.removeprefix(scheme)}"
        return self.database

    @property
    def address(self) -> str:
        """Where the app is reached, without a slash at the end."""
        if self.url:
            return self.url.rstrip("/")
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}"


def read_settings(given: Mapping[str, Any], environment: Mapping[str, str] | None = None) -> AppSettings:
    """The settings: those given, else those of the environment, else the defaults.

    >>> read_settings({"port": 9000}, {"TALLYMARK_SIGN_UP": "open"}).sign_up
    'open'
    """
    held = os.environ if environment is None else environment
    found: dict[str, Any] = {}
    for each in fields(AppSettings):
        name = PREFIX + each.name.upper()
        if given.get(each.name) is not None:
            found[each.name] = given[each.name]
        elif held.get(name):
            found[each.name] = _whole(name, held[name]) if each.type == "int" else held[name]
    return AppSettings(**found)


def _whole(name: str, text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise ParameterError(f"{name} must be a whole number; got {text!r}") from None
