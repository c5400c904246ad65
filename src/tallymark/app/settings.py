"""The settings of the app: one table, read from options of the command line and from the environment."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit

from tallymark.errors import Argument, ParameterError, Text

PREFIX = "TALLYMARK_"
SIGN_UP = ("invitation", "provider", "open")
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_SMTP_PORTS = {"smtp": 587, "smtps": 465}
_DOMAIN = re.compile(
    r"(?=.{4,253}\Z)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])", re.ASCII
)
_ADDRESS = re.compile(
    r"[a-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*@(?P<domain>[^@]+)", re.ASCII | re.I
)


def is_address(text: str) -> bool:
    """Whether a text is an e-mail address in ASCII.

    >>> is_address("ada@example.org"), is_address("ada@localhost")
    (True, False)
    """
    found = _ADDRESS.fullmatch(text)
    return found is not None and len(text) <= 254 and _DOMAIN.fullmatch(found["domain"].lower()) is not None


class SmtpServer(NamedTuple):
    """A mail server: `encryption` is "none", "starttls" or "tls"."""

    host: str
    port: int
    encryption: str
    user: str
    password: str


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
    sign_up: str = _setting(
        "invitation", "Who may sign up: by invitation, accounts of the OpenID provider, or open to all."
    )
    sign_up_domains: str = _setting(
        "", "Domains whose e-mail addresses may sign up, such as example.edu, separated by commas."
    )
    upload_bytes: int = _setting(10_000_000, "Maximum bytes of an uploaded file.")
    data_bytes: int = _setting(1_000_000_000, "Maximum bytes of a data file for participants.")
    direct_bytes: int = _setting(10_000_000, "Maximum bytes of a file that is scored during the request.")
    rows: int = _setting(10_000_000, "Maximum rows of a file.")
    session_days: int = _setting(30, "Days until a sign-in expires.")
    resamples: int = _setting(1000, "Bootstrap replicates of intervals without a formula.")
    scorers: int = _setting(2, "Files scored at the same time.")
    smtp_url: str = _setting("", "Mail server, such as smtp://user:password@mail.example.org:587?starttls.")
    mail_from: str = _setting("", "Address that mails come from.")
    oidc_issuer: str = _setting("", "Issuer of an OpenID provider for sign-in, such as https://login.example.org.")
    oidc_client_id: str = _setting("", "Client id at the OpenID provider.")
    oidc_client_secret: str = _setting("", "Client secret at the OpenID provider.")
    oidc_name: str = _setting("", "Name of the OpenID provider on pages; without it, the host of its issuer.")

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
        self._check_mail()
        self._check_provider()

    def _check_mail(self) -> None:
        _ = self.smtp
        if bool(self.smtp_url) != bool(self.mail_from):
            missing, given = ("mail_from", "smtp_url") if self.smtp_url else ("smtp_url", "mail_from")
            raise ParameterError(Text("{} needs {}", Argument(given), Argument(missing)))
        if self.mail_from and not is_address(self.mail_from):
            raise ParameterError(argument="mail_from", expected="be an e-mail address", got=repr(self.mail_from))
        wrong = [each for each in self.domains if not _DOMAIN.fullmatch(each)]
        if wrong:
            raise ParameterError(
                argument="sign_up_domains", expected="be domains such as example.edu", got=repr(wrong[0])
            )
        if self.domains and not self.smtp_url:
            raise ParameterError(
                Text("{sign_up_domains} needs {smtp_url}: addresses are confirmed by a link that is mailed")
            )
        if self.domains and self.sign_up == "open":
            raise ParameterError(
                Text('{sign_up_domains} has no effect with {sign_up="open"}, which lets everybody sign up')
            )

    def _check_provider(self) -> None:
        given = {name: getattr(self, name) for name in ("oidc_issuer", "oidc_client_id", "oidc_client_secret")}
        missing = [name for name, value in given.items() if not value]
        if 0 < len(missing) < len(given):
            raise ParameterError(Text("sign-in with OpenID Connect also needs {}", Argument(missing[0])))
        if self.oidc_issuer and not is_safe_address(self.oidc_issuer):
            raise ParameterError(argument="oidc_issuer", expected="begin with https://", got=repr(self.oidc_issuer))
        if self.sign_up == "provider" and not self.oidc_issuer:
            raise ParameterError(Text('{sign_up="provider"} needs {oidc_issuer}'))

    @property
    def domains(self) -> tuple[str, ...]:
        """The domains whose addresses may sign up."""
        return tuple(each.strip().lower() for each in self.sign_up_domains.split(",") if each.strip())

    @property
    def smtp(self) -> SmtpServer | None:
        """The mail server; None without one."""
        if not self.smtp_url:
            return None
        expected = (
            "be a URL such as smtp://user:password@mail.example.org:587?starttls, or smtps://…"  # never the password
        )
        try:
            url = urlsplit(self.smtp_url)
            port = url.port or _SMTP_PORTS[url.scheme]
        except (ValueError, KeyError):
            raise ParameterError(argument="smtp_url", expected=expected) from None
        if not url.hostname or url.path not in ("", "/") or url.query not in ("", "starttls"):
            raise ParameterError(argument="smtp_url", expected=expected)
        encryption = "tls" if url.scheme == "smtps" else url.query or "none"
        if encryption == "none" and url.password and url.hostname not in _LOOPBACK:
            raise ParameterError(
                Text("{smtp_url} would send its password without encryption"), hint="Add ?starttls, or write smtps://."
            )
        return SmtpServer(url.hostname, port, encryption, unquote(url.username or ""), unquote(url.password or ""))

    @property
    def provider_name(self) -> str:
        """The name of the OpenID provider; empty without one."""
        return self.oidc_name or urlsplit(self.oidc_issuer).hostname or ""

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


def is_safe_address(url: str) -> bool:
    """Whether a URL is of HTTPS, or of this machine."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return bool(parts.hostname) and (
        parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in _LOOPBACK)
    )


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
