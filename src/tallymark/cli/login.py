"""tallymark login: the server and the token, kept for later commands."""

from __future__ import annotations

import sys

import click

from tallymark.cli.server import ServerCommand, server_options


@click.command("login", cls=ServerCommand, short_help="Keep the server and the token of the app.")
@server_options()
def command(server: str | None, token: str | None) -> None:
    """Keep the address of an app and a token, for the commands that use it and for tm.client.Client.

    The token is created in the app, under "Your account"; it is asked for, or read from standard input. Both are kept
    in a file that only you can read.

    \b
    Example:
      tallymark login --server https://scores.example.org
    """
    from tallymark.client import Client, save_login

    server = server or str(click.prompt("Server", err=True))
    if token is None and sys.stdin.isatty():
        token = str(click.prompt("Token", hide_input=True, err=True))
    token = (sys.stdin.read() if token is None else token).strip()
    client = Client(server, token)
    me = client.me()
    path = save_login(client.server, token)
    click.echo(f"Logged in to {client.server} as {me['name']}. Scopes: {', '.join(me['token']['scopes'])}.")
    click.echo(f"The token expires on {me['token']['expires'][:10]}; it is in {path}")
