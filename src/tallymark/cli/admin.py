"""tallymark admin: the accounts of the app, for whoever may read its data. It works while the server runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from tallymark.app.settings import read_settings
from tallymark.cli.group import Group
from tallymark.cli.output import print_tables, write
from tallymark.cli.settings import open_service, setting_options
from tallymark.errors import ParameterError

if TYPE_CHECKING:
    from tallymark.app.service import Service

_NAME = click.argument("name", metavar="NAME")


@click.group("admin", cls=Group, short_help="Manage the accounts of the app.")
def command() -> None:
    """Manage the accounts of the app, also while it runs.

    Run it as the user who runs the server, with the same --data or --database. What it does is in the audit log as
    “command line”.

    \b
    Examples:
      tallymark admin list
      tallymark admin reset-password Ada --url https://scores.example.org
    """


@command.command("list", short_help="List the accounts.")
@setting_options("data", "database")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def list_all(as_json: bool, **given: Any) -> None:
    """List the accounts with their roles and states."""
    with _accounts(given) as service:
        from tallymark.app.domain.operators import list_accounts

        with service.database.reading() as session:
            users = session.scalars(list_accounts()).all()
    rows = [
        {
            "name": user.name,
            "operator": user.operator,
            "organiser": user.organiser,
            "created": user.created.isoformat(timespec="seconds"),
            "state": "active" if user.disabled is None else "disabled",
        }
        for user in users
    ]
    if as_json:
        from tallymark.rendering.exports import to_json

        write(f"{to_json(rows)}\n")
    elif rows:
        from tallymark.rendering.table import Table

        columns = list(rows[0])
        print_tables([Table("", columns, [[_word(row[name]) for name in columns] for row in rows])])
    else:
        write("There are no accounts. `tallymark serve` prints a link for the first one.\n")


def _word(value: object) -> str:
    return {True: "yes", False: ""}.get(value, str(value)) if isinstance(value, bool) else str(value)


@command.command("reset-password", short_help="Print a link with which someone sets a new password.")
@_NAME
@setting_options("data", "database", "host", "port", "url")
def reset_password(name: str, **given: Any) -> None:
    """Print a link with which NAME sets a new password, once and within 24 hours."""
    with _accounts(given) as service:
        from tallymark.app.domain.operators import create_reset

        secret = create_reset(service, None, _id_of(service, name))
        click.echo(f"{name} sets a new password here, once, within 24 hours:")
        click.echo(f"{service.settings.address}/reset?secret={secret}")


def _simple(name: str, help: str, said: str, change: Callable[[Service, int], None]) -> None:
    """A command that changes one account, and says so."""

    @command.command(name, short_help=f"{help}.", help=f"{help}.")
    @_NAME
    @setting_options("data", "database")
    def run(name: str, **given: Any) -> None:
        with _accounts(given) as service:
            change(service, _id_of(service, name))
        click.echo(said.format(name))


def _disable(service: Service, account: int) -> None:
    from tallymark.app.domain.operators import disable_account

    disable_account(service, None, account)


def _enable(service: Service, account: int) -> None:
    from tallymark.app.domain.operators import enable_account

    enable_account(service, None, account)


def _make_operator(service: Service, account: int) -> None:
    from tallymark.app.domain.operators import set_role

    set_role(service, None, account, "operator", given=True)


def _make_organiser(service: Service, account: int) -> None:
    from tallymark.app.domain.operators import set_role

    set_role(service, None, account, "organiser", given=True)


_simple("disable", "Sign NAME out everywhere, and refuse new sign-ins", "{} is disabled.", _disable)
_simple("enable", "Let NAME sign in again", "{} can sign in again.", _enable)
_simple("make-operator", "Let NAME manage accounts", "{} is an operator.", _make_operator)
_simple("make-organiser", "Let NAME create challenges", "{} is an organiser.", _make_organiser)


@command.command("delete", short_help="Remove the name and password of an account.")
@_NAME
@setting_options("data", "database")
@click.option("--yes", is_flag=True, help="Do not ask.")
def delete(name: str, yes: bool, **given: Any) -> None:
    """Remove the name, the password and the notes of NAME. Files, scores and places on leaderboards stay."""
    with _accounts(given) as service:
        from tallymark.app.domain.operators import delete_account

        account = _id_of(service, name)
        if not yes:
            click.confirm(f"Delete the account {name}? This cannot be undone", abort=True, err=True)
        delete_account(service, None, account)
    click.echo(f"{name} is deleted.")


@contextmanager
def _accounts(given: dict[str, Any]) -> Iterator[Service]:
    """The app's data; what a page would show beside a form is an error here."""
    with open_service(read_settings(given)) as service:
        from tallymark.app.domain.errors import FormError

        try:
            yield service
        except FormError as error:
            raise ParameterError(" ".join(error.errors.values())) from error


def _id_of(service: Service, name: str) -> int:
    from tallymark.app.domain.operators import find_account

    with service.database.reading() as session:
        return find_account(session, name).id
