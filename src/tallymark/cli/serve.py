"""tallymark serve: the web app."""

from __future__ import annotations

import socket
from typing import Any

import click

from tallymark.app.settings import AppSettings, read_settings
from tallymark.cli.group import Command
from tallymark.cli.settings import setting_options
from tallymark.errors import ParameterError, Text
from tallymark.optional_packages import needed


@click.command("serve", cls=Command, short_help="Start the web app.")
@setting_options()
@click.option("--example", metavar="FOLDER", help="Load a challenge from answers.csv and submission-*.csv.")
def command(example: str | None, **given: Any) -> None:
    """Start the web app: analyse files, run challenges, keep leaderboards.

    Everything is kept in one folder; the first start prints a link for the first organiser.

    \b
    Examples:
      tallymark serve
      tallymark serve --port 9000 --data /srv/tallymark --url https://scores.example.org
      tallymark serve --database postgresql://tallymark@db/tallymark --sign-up open
    """
    settings = read_settings(given)
    with needed("The app", "fastapi", extra="app"):
        import uvicorn

        from tallymark.app.create import create_app
        from tallymark.app.domain.accounts import create_first_invitation
        from tallymark.app.example import load_example
        from tallymark.app.logs import start_logs

    listening = _listen(settings)
    start_logs()
    app = create_app(settings)
    page = load_example(app.state.service, example) if example else "/"
    click.echo(f"tallymark is at {settings.address}{page}")
    click.echo(f"Its data is in {settings.folder.absolute()}")
    secret = create_first_invitation(app.state.service)
    if secret is not None:
        click.echo(f"The first organiser signs up here, once: {settings.address}/sign-up?invitation={secret}")
    click.echo("Ctrl-C stops it.")
    config = uvicorn.Config(app, log_config=None, access_log=False, server_header=False, timeout_graceful_shutdown=10)
    uvicorn.Server(config).run(sockets=[listening])


def _listen(settings: AppSettings) -> socket.socket:
    """The address, taken before anything else is done."""
    try:
        found = socket.getaddrinfo(settings.host, settings.port, type=socket.SOCK_STREAM)[0]
        listening = socket.socket(found[0], socket.SOCK_STREAM)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(found[4])
        listening.listen(2048)  # who comes before the app is ready waits, instead of being refused
    except OSError as error:
        why = error.strerror or error
        raise ParameterError(
            f"cannot listen at {settings.host}:{settings.port}: {why}", hint=Text("Take another {port}")
        ) from error
    return listening
