"""Views of operators."""

from __future__ import annotations

from tallymark.app.pages.operate import (
    AccountDetailPage,
    AccountRow,
    AccountsPage,
    DeleteAccountPage,
    LogEntry,
    LogPage,
    OperatePage,
    QueueRow,
    StatusRow,
)
from tallymark.app.pages.shell import Form, Link, Pagination, SelectOption
from tests.app.sample_pages.shell import SHORT, Say, shell

PAGES = Pagination("Accounts 101 to 200 of 412", [Link("1", "/x?page=1"), Link("2", "/x?page=2", True)], "/x?page=1")


def _row(say: Say) -> AccountRow:
    return AccountRow(7, say("Ada"), "Operator and organiser", SHORT, "active")


def accounts(say: Say) -> AccountsPage:
    rows = [_row(say), AccountRow(8, say("Ben"), "participant", SHORT, "disabled")]
    states = [SelectOption("", "All but deleted"), SelectOption("disabled", "Disabled")]
    form = Form({"q": say("a"), "state": "disabled"})
    return AccountsPage(shell(say, "Accounts", "/operate/accounts", form=form), "412 accounts", states, rows, PAGES)


def account_detail(say: Say) -> AccountDetailPage:
    form = Form({"heir": say("Eve")}, {"heir": "No account has this name."})
    owned = [Link(say("Deer or fox"), "/challenges/deer")]
    link = "https://scores.example.org/reset?secret=Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4"
    title = shell(say, "Ada", "/operate/accounts/7", form=form)
    return AccountDetailPage(title, _row(say), True, False, owned, link)


def delete_account(say: Say) -> DeleteAccountPage:
    owned = [Link(say("Deer or fox"), "/challenges/deer")]
    return DeleteAccountPage(shell(say, "Delete account", "/operate/accounts/7/delete"), _row(say), owned)


def log(say: Say) -> LogPage:
    actions = [SelectOption("", "All actions"), SelectOption("transfer", "Transferred the challenge")]
    entries = [
        LogEntry(SHORT, say("Olga"), "transferred the challenge", say("Ada"), say("Deer or fox")),
        LogEntry(SHORT, "command line", "disabled the account", say("Ben"), ""),
    ]
    return LogPage(shell(say, "Audit log", "/operate/log"), actions, entries, PAGES)


def operate(say: Say) -> OperatePage:
    findings = [
        StatusRow("ok", "database", "sqlite, tables of version 0009"),
        StatusRow("warning", "folder", say("other users may open it (mode 755): chmod 700 /srv/tallymark")),
        StatusRow("problem", "clock", "it is behind the database"),
    ]
    return OperatePage(shell(say, "Operate", "/operate"), [QueueRow("Waiting for scores", "12")], findings)
