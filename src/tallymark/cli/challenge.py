"""tallymark challenge: create and change challenges of the app."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import Any

import click

from tallymark.cli.output import STANDARD_OUTPUT, write
from tallymark.cli.server import ServerCommand, server_options
from tallymark.errors import ParameterError

_NAME = click.argument("challenge", metavar="CHALLENGE")


@click.group(
    "challenge",
    short_help="Create and change challenges of the app.",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
def command() -> None:
    """Create and change challenges of the app.

    Settings are a JSON object with the fields of the form, such as "title", "task", "metrics" and "quota"; `export`
    writes them.

    \b
    Examples:
      tallymark challenge export animals-on-photographs > settings.json
      tallymark challenge create settings.json answers.csv
      tallymark challenge edit animals-on-photographs --set quota=10
    """


@command.command("create", cls=ServerCommand, short_help="Create a challenge.")
@click.argument("settings", metavar="SETTINGS", type=click.Path())
@click.argument("answers", metavar="ANSWERS", type=click.Path())
@server_options()
def create(settings: str, answers: str, server: str | None, token: str | None) -> None:
    """Create a challenge from a file of SETTINGS, - for standard input, and a file of ANSWERS.

    \b
    Example:
      tallymark challenge create settings.json answers.csv
    """
    from tallymark.client import Client

    client = Client(server, token)
    created = client.create_challenge(_read_settings(settings), answers)
    click.echo(f"Created. {client.server}/challenges/{created['slug']}")


@command.command("edit", cls=ServerCommand, short_help="Change the settings or the answers of a challenge.")
@_NAME
@click.option("--set", "changes", multiple=True, metavar="FIELD=VALUE", help="Change a field; can be repeated.")
@click.option("--settings", metavar="FILE", type=click.Path(), help="Change the fields in a file of settings.")
@click.option("--answers", metavar="FILE", type=click.Path(), help="Replace the answers.")
@server_options()
def edit(
    challenge: str,
    changes: tuple[str, ...],
    settings: str | None,
    answers: str | None,
    server: str | None,
    token: str | None,
) -> None:
    """Change the settings or the answers of a CHALLENGE; fields that are not named stay.

    If files are scored differently afterwards, all submissions are scored again.

    \b
    Examples:
      tallymark challenge edit animals-on-photographs --set quota=10 --set deadline=2027-01-31T12:00
      tallymark challenge edit animals-on-photographs --answers corrected.csv
    """
    from tallymark.client import Client

    fields = {**({} if settings is None else _read_settings(settings)), **dict(map(_split_change, changes))}
    if not fields and answers is None:
        raise click.UsageError("Give --set, --settings or --answers.", click.get_current_context())
    client = Client(server, token)
    before = client.settings(challenge)["versions"][0]["number"]
    if fields:
        client.edit_challenge(challenge, fields)
    if answers is not None:
        client.replace_answers(challenge, answers)
    after = client.settings(challenge)["versions"][0]["number"]
    click.echo("Saved." if after == before else f"Saved as version {after}. All submissions are being scored again.")


def _split_change(change: str) -> tuple[str, str]:
    name, sign, value = change.partition("=")
    if not sign or not name:
        raise click.UsageError(f"--set must be FIELD=VALUE; got {change!r}.", click.get_current_context())
    return name, value


@command.command("export", cls=ServerCommand, short_help="Write the settings of a challenge.")
@_NAME
@server_options()
def export(challenge: str, server: str | None, token: str | None) -> None:
    """Write the settings of a CHALLENGE to standard output, as JSON that `create` and `edit` read.

    \b
    Example:
      tallymark challenge export animals-on-photographs > settings.json
    """
    from tallymark.client import Client

    write(f"{json.dumps(Client(server, token).settings(challenge)['fields'], indent=2, ensure_ascii=False)}\n")


@command.command("close", cls=ServerCommand, short_help="Close a challenge.")
@_NAME
@click.option("--yes", is_flag=True, help="Confirm that the private scores are shown to everybody.")
@server_options()
def close(challenge: str, yes: bool, server: str | None, token: str | None) -> None:
    """Close a CHALLENGE: it accepts no submissions, and everybody sees the scores of the private part.

    \b
    Example:
      tallymark challenge close animals-on-photographs --yes
    """
    from tallymark.client import Client

    if not yes:
        message = "Closing shows the scores of the private part to everybody. To confirm, give --yes."
        raise click.UsageError(message, click.get_current_context())
    Client(server, token).close(challenge)
    click.echo("Closed.")


@command.command("reopen", cls=ServerCommand, short_help="Open a closed challenge again.")
@_NAME
@server_options()
def reopen(challenge: str, server: str | None, token: str | None) -> None:
    """Open a closed CHALLENGE again.

    \b
    Example:
      tallymark challenge reopen animals-on-photographs
    """
    from tallymark.client import Client

    Client(server, token).reopen(challenge)
    click.echo("Open again.")


def _read_settings(path: str) -> Mapping[str, str]:
    """The fields in a file of JSON; numbers and lists are written as the form has them."""
    if path == STANDARD_OUTPUT:
        text = sys.stdin.read()
    else:
        with open(path, encoding="utf-8") as file:
            text = file.read()
    try:
        found = json.loads(text)
    except ValueError as error:
        raise ParameterError(argument="settings", expected="be a JSON object", got=f"{path!r}: {error}") from error
    if not isinstance(found, dict):
        raise ParameterError(argument="settings", expected="be a JSON object", got=f"{path!r}")
    return {str(name): _field_text(name, value) for name, value in found.items()}


def _field_text(name: str, value: Any) -> str:
    if value is None or isinstance(value, bool):
        return "1" if value else ""
    if isinstance(value, list):
        return ", ".join(map(str, value))
    if isinstance(value, dict):
        raise ParameterError(argument="settings", expected="have a text for each field", got=f"an object for {name!r}")
    return str(value)
