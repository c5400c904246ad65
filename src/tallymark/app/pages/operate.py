"""The pages of operators, and the page on which people set a new password."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from tallymark.app.pages.shell import Link, PageTime, Pagination, SelectOption, Shell


class StatusRow(NamedTuple):
    """A finding about the app: `level` is "ok", "warning" or "problem"."""

    level: str
    subject: str
    text: str


class QueueRow(NamedTuple):
    """A number of submissions that wait, run or failed."""

    name: str
    number: str


class OperatePage(NamedTuple):
    """`/operate` (operate.html): the state of the app."""

    shell: Shell
    queue: Sequence[QueueRow]
    findings: Sequence[StatusRow]


class AccountRow(NamedTuple):
    """An account in the list of operators."""

    id: int
    name: str
    role: str
    created: PageTime
    state: str
    """ "active", "disabled" or "deleted"."""


class AccountsPage(NamedTuple):
    """`/operate/accounts` (operate_accounts.html). Its form has the fields `q` and `state`."""

    shell: Shell
    found: str
    """ "12 accounts"."""
    states: Sequence[SelectOption]
    accounts: Sequence[AccountRow]
    pages: Pagination | None = None


class AccountDetailPage(NamedTuple):
    """`/operate/accounts/{id}` (operate_account.html).

    Its forms send `action`: "make operator", "unmake operator", "make organiser", "unmake organiser", "disable",
    "enable", "reset" (a link for a new password), and "transfer" with `slug` and the name `heir`.
    """

    shell: Shell
    account: AccountRow
    operator: bool
    organiser: bool
    owned: Sequence[Link]
    """The challenges that they own; the last part of each address is the `slug`."""
    new_link: str = ""


class DeleteAccountPage(NamedTuple):
    """`/operate/accounts/{id}/delete` (operate_delete.html): what deleting an account removes, and what it keeps."""

    shell: Shell
    account: AccountRow
    owned: Sequence[Link]


class LogEntry(NamedTuple):
    """A line of the audit log."""

    time: PageTime
    by: str
    action: str
    subject: str
    challenge: str


class LogPage(NamedTuple):
    """`/operate/log` (operate_log.html). Its form has the fields `q` and `action`."""

    shell: Shell
    actions: Sequence[SelectOption]
    entries: Sequence[LogEntry]
    pages: Pagination | None = None
