"""tallymark history: the submissions of one's own team."""

from __future__ import annotations

import click

from tallymark.cli.output import print_tables, write
from tallymark.cli.server import ServerCommand, score_text, server_options, time_text


@click.command("history", cls=ServerCommand, short_help="List the submissions of one's own team.")
@click.argument("challenge", metavar="CHALLENGE")
@click.option("--json", "format", flag_value="json", help="Print JSON.")
@server_options()
def command(challenge: str, format: str | None, server: str | None, token: str | None) -> None:
    """List the submissions of one's own team to a CHALLENGE, named as in its address, the newest first.

    \b
    Example:
      tallymark history animals-on-photographs
    """
    from tallymark.client import Client
    from tallymark.rendering.exports import to_json
    from tallymark.rendering.table import Table

    submissions = list(Client(server, token).submissions(challenge))
    if format == "json":
        write(f"{to_json(submissions)}\n")
        return
    rows = []
    for each in submissions:
        state = f"{each['state']}{', late' * each['late']}{', selected' * each['final']}"
        parts = [
            score_text(scores[0]) if scores else "" for scores in (each["scores"].get(part, []) for part in _PARTS)
        ]
        rows.append((each["key"], time_text(each["created"]), each["file_name"], state, *parts, each["note"]))
    headings = ("key", "submitted", "file", "state", *_PARTS, "note")
    print_tables([Table("", headings, rows).without_empty("private", "note")])


_PARTS = ("public", "private")
