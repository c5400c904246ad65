"""tallymark leaderboard: the entries of a challenge of the app."""

from __future__ import annotations

from itertools import islice

import click

from tallymark.cli.output import print_tables, write
from tallymark.cli.server import ServerCommand, score_text, server_options, time_text


@click.command("leaderboard", cls=ServerCommand, short_help="Show the leaderboard of a challenge.")
@click.argument("challenge", metavar="CHALLENGE")
@click.option("--part", type=click.Choice(["public", "private"]), default="public", help="The part of the answers.")
@click.option("--limit", type=click.IntRange(1), help="How many entries to show. [default: all]")
@click.option("--json", "format", flag_value="json", help="Print JSON.")
@server_options()
def command(
    challenge: str, part: str, limit: int | None, format: str | None, server: str | None, token: str | None
) -> None:
    """Show the leaderboard of a CHALLENGE, named as in its address.

    \b
    Examples:
      tallymark leaderboard animals-on-photographs
      tallymark leaderboard animals-on-photographs --limit 10 --json
    """
    from tallymark.client import Client
    from tallymark.rendering.exports import to_json
    from tallymark.rendering.table import Table

    entries = list(islice(Client(server, token).leaderboard(challenge, part), limit))
    if format == "json":
        write(f"{to_json(entries)}\n")
        return
    rows = [
        (
            each["place"],
            f"{each['team']}{' (baseline)' * each['baseline']}{' *' * each['own']}",
            score_text(each["scores"][0]),
            f"{each['best_rank']}–{each['worst_rank']}",
            each["submissions"],
            time_text(each["created"]),
        )
        for each in entries
    ]
    score = entries[0]["scores"][0]["metric"] if entries else "score"
    headings = ("place", "team", score, "rank range", "submissions", "submitted")
    notes = ["* your team"] * any(each["own"] for each in entries)
    print_tables([Table("", headings, rows, notes, numbers=("place", "submissions"))])
