"""For operators: the state of the app, accounts and their audit log."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any
from urllib.parse import urlencode

from fastapi import APIRouter, Request
from fastapi.responses import Response
from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session

from tallymark.app.doctor import examine
from tallymark.app.domain import audit, operators
from tallymark.app.domain.errors import FormError, NotFoundError
from tallymark.app.http.errors import invalid_form
from tallymark.app.http.request_context import ContextDep, RequestContext, handle_form, redirect
from tallymark.app.http.uploads import ParsedForm
from tallymark.app.pages.formatting import page_time, pluralize
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
from tallymark.app.pages.pagination import paginate
from tallymark.app.pages.shell import Link, Pagination, SelectOption
from tallymark.app.service import Service
from tallymark.app.store.models import AuditEntry, Challenge, Submission, User

router = APIRouter()
_PAGE_SIZE = 100
_STATES = [
    SelectOption("", "All but deleted"),
    *(SelectOption(state, state.capitalize()) for state in operators.STATES),
]
_ACTIONS = [
    SelectOption("", "All actions"),
    *(SelectOption(each, audit.ACTIONS[each].capitalize()) for each in audit.ACCOUNT_ACTIONS),
]
_CHANGES: dict[str, Callable[[Service, User | None, int], None]] = {
    "make operator": partial(operators.set_role, role="operator", given=True),
    "unmake operator": partial(operators.set_role, role="operator", given=False),
    "make organiser": partial(operators.set_role, role="organiser", given=True),
    "unmake organiser": partial(operators.set_role, role="organiser", given=False),
    "disable": operators.disable_account,
    "enable": operators.enable_account,
}


@router.get("/operate")
def operate(context: ContextDep) -> Response:
    """The state of the app: what waits, and what the doctor finds."""
    context.require("manage accounts")
    numbers = {
        "Waiting for scores": (Submission.work == "score") & Submission.claimed_by.is_(None),
        "Waiting for intervals": (Submission.work == "intervals") & Submission.claimed_by.is_(None),
        "Being scored": Submission.work.is_not(None) & Submission.claimed_by.is_not(None),
        "Failed": Submission.state == "failed",
    }
    with context.service.database.reading() as session:
        counts = {
            name: session.scalar(select(func.count()).select_from(Submission).where(those)) or 0
            for name, those in numbers.items()
        }
    view = OperatePage(
        context.shell("Operate"),
        [QueueRow(name, f"{count:,}") for name, count in counts.items()],
        [StatusRow(*finding) for finding in examine(context.settings, context.now)],
    )
    return context.page("operate.html", view)


@router.get("/operate/accounts")
def accounts(context: ContextDep, q: str = "", state: str = "", page: int = 1) -> Response:
    """All accounts, or those that were searched for."""
    context.require("manage accounts")
    if state and state not in operators.STATES:
        raise NotFoundError()
    words = " ".join(q.replace("\0", "").split())
    with context.service.database.reading() as session:
        rows, pages, count = _page_of(
            session, operators.list_accounts(words, state), page, context, "account", {"q": words, "state": state}
        )
    view = AccountsPage(
        context.shell("Accounts", {"q": words, "state": state}),
        pluralize(count, "account"),
        _STATES,
        [_account_row(context, each) for each in rows],
        pages,
    )
    return context.page("operate_accounts.html", view)


def _page_of(
    session: Session, rows: Select[Any], page: int, context: RequestContext, noun: str, query: Mapping[str, str]
) -> tuple[list[Any], Pagination | None, int]:
    """The rows of a page, links to the other pages, and how many rows there are in all."""
    count = session.scalar(select(func.count()).select_from(rows.order_by(None).subquery())) or 0
    kept = urlencode({name: value for name, value in query.items() if value})
    start, pages = paginate(count, page, _PAGE_SIZE, context.request.url.path, noun, f"&{kept}" if kept else "")
    return list(session.scalars(rows.offset(start).limit(_PAGE_SIZE))), pages, count


def _account_row(context: RequestContext, user: User) -> AccountRow:
    state = "deleted" if user.deleted is not None else "disabled" if user.disabled is not None else "active"
    roles = ["operator"] * user.operator + ["organiser"] * user.organiser
    return AccountRow(user.id, user.name, " and ".join(roles) or "participant", _time(context, user), state)


def _time(context: RequestContext, row: User | AuditEntry) -> Any:
    return page_time(row.created, context.now)


@router.get("/operate/accounts/{account_id}")
def account(account_id: int, context: ContextDep) -> Response:
    """One account, with what an operator can do about it."""
    context.require("manage accounts")
    return _account_page(account_id, context)


def _account_page(
    account_id: int,
    context: RequestContext,
    values: Mapping[str, str] | None = None,
    errors: Mapping[str, str] | None = None,
    link: str = "",
) -> Response:
    user, owned = _find_account(account_id, context)
    shell = context.shell(user.name, values, errors)
    view = AccountDetailPage(shell, _account_row(context, user), user.operator, user.organiser, owned, link)
    return context.page("operate_account.html", view, 422 if errors else 200)


def _find_account(account_id: int, context: RequestContext) -> tuple[User, list[Link]]:
    """An account, and the challenges that it owns."""
    with context.service.database.reading() as session:
        user = session.get(User, account_id) if 0 < account_id < 2**31 else None
        if user is None:
            raise NotFoundError()
        owned = operators.owned_challenges(session, user.id)
    return user, [Link(each.title, f"/challenges/{each.slug}") for each in owned]


@router.post("/operate/accounts/{account_id}")
async def change(account_id: int, request: Request, context: ContextDep) -> Response:
    """Change the roles of an account, disable or enable it, transfer a challenge, or make a link for a password."""
    context.require("manage accounts")
    return await handle_form(request, context, partial(_change, account_id))


def _change(account_id: int, context: RequestContext, form: ParsedForm) -> Response:
    action, by, service = form.values.get("action", ""), context.signed_in_user(), context.service
    _find_account(account_id, context)
    try:
        if action in _CHANGES:
            _CHANGES[action](service, by, account_id)
            return redirect(f"/operate/accounts/{account_id}", "saved")
        if action == "reset":
            secret = operators.create_reset(service, by, account_id)
            return _account_page(account_id, context, link=f"{context.settings.address}/reset?secret={secret}")
        if action == "transfer":
            slug, heir = form.values.get("slug", ""), form.values.get("heir", "")
            operators.transfer_owned(service, by, account_id, slug, heir)
            return redirect(f"/operate/accounts/{account_id}", "saved")
    except FormError as error:
        return _account_page(account_id, context, form.values, error.errors)
    raise invalid_form()


@router.get("/operate/accounts/{account_id}/delete")
def delete_form(account_id: int, context: ContextDep) -> Response:
    """What deleting an account would do."""
    context.require("manage accounts")
    return _delete_page(account_id, context)


def _delete_page(account_id: int, context: RequestContext, errors: Mapping[str, str] | None = None) -> Response:
    user, owned = _find_account(account_id, context)
    if user.deleted is not None:
        raise NotFoundError()
    view = DeleteAccountPage(context.shell("Delete account", None, errors), _account_row(context, user), owned)
    return context.page("operate_delete.html", view, 422 if errors else 200)


@router.post("/operate/accounts/{account_id}/delete")
async def delete(account_id: int, request: Request, context: ContextDep) -> Response:
    """Delete an account."""
    context.require("manage accounts")
    return await handle_form(request, context, partial(_delete, account_id))


def _delete(account_id: int, context: RequestContext, _: ParsedForm) -> Response:
    _find_account(account_id, context)
    try:
        operators.delete_account(context.service, context.signed_in_user(), account_id)
    except FormError as error:
        return _delete_page(account_id, context, error.errors)
    return redirect("/operate/accounts", "account-deleted")


@router.get("/operate/log")
def log(context: ContextDep, q: str = "", action: str = "", page: int = 1) -> Response:
    """The audit log of accounts."""
    context.require("manage accounts")
    if action and action not in audit.ACCOUNT_ACTIONS:
        raise NotFoundError()
    words = " ".join(q.replace("\0", "").split())
    with context.service.database.reading() as session:
        entries = audit.list_account_entries(action, words)
        rows, pages, _ = _page_of(session, entries, page, context, "entry", {"q": words, "action": action})
        lines = [_log_entry(session, context, each) for each in rows]
    view = LogPage(context.shell("Audit log", {"q": words, "action": action}), _ACTIONS, lines, pages)
    return context.page("operate_log.html", view)


def _log_entry(session: Session, context: RequestContext, entry: AuditEntry) -> LogEntry:
    by = "command line" if entry.user is None else entry.user.name
    challenge = None if entry.challenge_id is None else session.get(Challenge, entry.challenge_id)
    title = "" if challenge is None else challenge.title
    return LogEntry(_time(context, entry), by, audit.ACTIONS[entry.action], entry.subject, title)
