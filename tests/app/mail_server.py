"""A real mail server on this machine, which keeps what it is sent."""

from __future__ import annotations

import re
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from email import message_from_bytes, policy
from email.message import EmailMessage
from typing import Any

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult, LoginPassword


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


class MailServer:
    """A server on a port, which can be lost and come back, and refuses some recipients."""

    def __init__(self, port: int, **options: Any) -> None:
        self.port = port
        self.mails: list[EmailMessage] = []
        self.recipients: list[list[str]] = []
        self.refused: dict[str, str] = {}
        self.answers: list[str] = []  # to the next mails, instead of taking them
        self._options = options
        self._controller: Controller | None = None

    def start(self) -> None:
        self._controller = Controller(self, hostname="127.0.0.1", port=self.port, **self._options)
        self._controller.start()

    def stop(self) -> None:
        if self._controller is not None:
            self._controller.stop()
            self._controller = None

    async def handle_RCPT(self, server, session, envelope, address, options):  # noqa: N802
        if address in self.refused:
            return self.refused[address]
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server, session, envelope):  # noqa: N802
        if self.answers:
            return self.answers.pop(0)
        self.recipients.append(envelope.rcpt_tos)
        self.mails.append(message_from_bytes(envelope.content, policy=policy.default))
        return "250 OK"

    @property
    def texts(self) -> list[str]:
        return [each.get_content() for each in self.mails]

    def secret(self, place: int = -1) -> str:
        """The secret of the link in a mail."""
        return str(re.search(r"(?:secret|invitation)=([\w-]+)", self.texts[place])[1])


def login(user: str, password: str) -> Any:
    """An authenticator that knows one user."""

    def check(server, session, envelope, mechanism, data):
        known = isinstance(data, LoginPassword) and (data.login, data.password) == (user.encode(), password.encode())
        return AuthResult(success=known)

    return check


@contextmanager
def running_mail_server(**options: Any) -> Iterator[MailServer]:
    """A server that takes every mail."""
    server = MailServer(free_port(), **options)
    server.start()
    try:
        yield server
    finally:
        server.stop()
