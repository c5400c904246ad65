"""tallymark submit: a file, submitted to a challenge of the app."""

from __future__ import annotations

from typing import Any

import click

from tallymark.cli.output import print_tables, write
from tallymark.cli.run import FINE, NOT_ACCEPTED
from tallymark.cli.server import ServerCommand, score_text, server_options


@click.command("submit", cls=ServerCommand, short_help="Submit a file to a challenge of the app.")
@click.argument("challenge", metavar="CHALLENGE")
@click.argument("file", metavar="FILE", type=click.Path())
@click.option("--note", default="", metavar="TEXT", help="A note for the list of submissions.")
@click.option("--check", is_flag=True, help="Only check the file, which costs nothing.")
@click.option("--wait", is_flag=True, help="Wait until the file is scored.")
@click.option(
    "--key",
    metavar="TEXT",
    help="Idempotency key: the same FILE with the same key is one submission. [default: random]",
)
@click.option("--json", "format", flag_value="json", help="Print JSON.")
@server_options()
def command(
    challenge: str,
    file: str,
    note: str,
    check: bool,
    wait: bool,
    key: str | None,
    format: str | None,
    server: str | None,
    token: str | None,
) -> int:
    """Submit a FILE to a CHALLENGE, named as in its address. A file with problems is refused and costs nothing.

    If the answer of the server is lost, the file is sent again, which is the same submission.

    \b
    Examples:
      tallymark submit animals-on-photographs submission.csv --wait
      tallymark submit animals-on-photographs submission.csv --check
    """
    from tallymark.client import Client
    from tallymark.rendering.exports import to_json

    client = Client(server, token)
    if check:
        found = client.check(challenge, file)
        write(f"{to_json(found) if format == 'json' else _checked(found)}\n")
        return FINE
    submission = client.submit(challenge, file, note=note, key=key)
    if wait and submission["pending"]:
        submission = client.wait(submission["key"])
    if format == "json":
        write(f"{to_json(submission)}\n")
    else:
        _print_submission(client.server, submission)
    return NOT_ACCEPTED if submission["state"] in ("rejected", "failed") else FINE


def _checked(found: dict[str, Any]) -> str:
    from tallymark.submissions.check import SubmissionCheck

    return str(SubmissionCheck(**{name: found[name] for name in SubmissionCheck._fields}))


def _print_submission(server: str, submission: dict[str, Any]) -> None:
    from tallymark.rendering.table import Table

    click.echo(f"{submission['file_name']}: {submission['state']}. {server}/submissions/{submission['key']}")
    for each in submission["problems"]:
        place = f"line {each['line']}: " if each.get("line") else ""
        click.echo(f"  {place}{each['text']}. {each['mend']}", err=True)
    if submission["state"] != "scored":
        return
    for part, scores in submission["scores"].items():
        title = "" if len(submission["scores"]) == 1 else part
        print_tables([Table(title, ("metric", "score"), [(each["metric"], score_text(each)) for each in scores])])
    standing = submission["standing"]
    if standing:
        own = "" if standing["is_own"] else ", by another submission of the team"
        click.echo(f"Place {standing['place']} of {standing['total']}{own}.")
