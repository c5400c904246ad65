"""Invitations of many people: a list, a link that several may use, and revoking them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta

from fastapi import APIRouter, Request
from fastapi.responses import Response
from sqlalchemy import func, select

from tallymark.app.domain import invitations
from tallymark.app.domain.errors import FormError
from tallymark.app.http.errors import invalid_form
from tallymark.app.http.request_context import ContextDep, RequestContext, handle_form, redirect
from tallymark.app.http.uploads import ParsedForm
from tallymark.app.pages.formatting import page_time, pluralize
from tallymark.app.pages.pagination import paginate
from tallymark.app.pages.people import InvitationsPage, SentInvitation
from tallymark.app.pages.shell import SelectOption
from tallymark.app.store.models import Challenge, Invitation, Organiser

router = APIRouter()
_PAGE_SIZE = 100
_MAX_SHOWN_LINES = 200
_DEFAULTS = {"days": "14", "link_days": "14", "uses": "30"}


@router.get("/invitations")
def invite(context: ContextDep, page: int = 1) -> Response:
    """The forms to invite people, and the invitations of the user."""
    context.require("invite others")
    return _page(context, page=page)


def _page(
    context: RequestContext,
    values: Mapping[str, str] | None = None,
    errors: Mapping[str, str] | None = None,
    *,
    lines: Sequence[invitations.WrongLine] = (),
    link: str = "",
    page: int = 1,
) -> Response:
    user = context.signed_in_user()
    of_user = Invitation.created_by == user.id
    with context.service.database.reading() as session:
        organised = select(Challenge).join(Organiser, Organiser.challenge_id == Challenge.id)
        organised = organised.where(Organiser.user_id == user.id).order_by(Challenge.created.desc())
        challenges = [SelectOption(each.slug, each.title) for each in session.scalars(organised)]
        count = session.scalar(select(func.count()).select_from(Invitation).where(of_user)) or 0
        start, pages = paginate(count, page, _PAGE_SIZE, "/invitations", "invitation")
        newest_first = select(Invitation, Challenge.title).outerjoin(Challenge, Invitation.challenge_id == Challenge.id)
        newest_first = newest_first.where(of_user).order_by(Invitation.created.desc(), Invitation.id)
        rows = [
            _row(context, invitation, title)
            for invitation, title in session.execute(newest_first.offset(start).limit(_PAGE_SIZE))
        ]
    more = len(lines) - _MAX_SHOWN_LINES
    view = InvitationsPage(
        context.shell("Invite people", {**_DEFAULTS, **(values or {})}, errors),
        [SelectOption("", "The list of challenges"), *challenges],
        context.settings.smtp is not None,
        f"{invitations.MAX_PEOPLE:,}",
        [(f"Line {each.line:,}", each.reason) for each in lines[:_MAX_SHOWN_LINES]],
        f"and {pluralize(more, 'line')} more" if more > 0 else "",
        link,
        rows,
        pages,
    )
    return context.page("invitations.html", view, 422 if errors else 200)


def _row(context: RequestContext, invitation: Invitation, title: str | None) -> SentInvitation:
    shared = invitation.max_uses > 1
    who = " · ".join(filter(None, (invitation.name, invitation.email)))
    return SentInvitation(
        invitation.id,
        who or ("anyone with the link" if shared else "one person"),
        title or "",
        f"{invitation.uses:,} of {invitation.max_uses:,}",
        page_time(invitation.expires, context.now),
        invitations.invitation_state(invitation, context.now),
    )


@router.post("/invitations")
async def change(request: Request, context: ContextDep) -> Response:
    """Invite the people of a list, create a link for several, or revoke an invitation."""
    context.require("invite others")
    return await handle_form(request, context, _change, max_files=1)


def _change(context: RequestContext, form: ParsedForm) -> Response:
    actions = {"people": _invite_people, "link": _create_link, "revoke": _revoke}
    action = actions.get(form.values.get("action", ""))
    if action is None:
        raise invalid_form()
    try:
        return action(context, form)
    except invitations.WrongListError as error:
        return _page(context, form.values, error.errors, lines=error.lines)
    except FormError as error:
        return _page(context, form.values, error.errors)


def _invite_people(context: RequestContext, form: ParsedForm) -> Response:
    by_mail = form.values.get("how") == "mail"
    days = _number(form, "days", invitations.MAX_DAYS)
    challenge = _challenge(context, form.values.get("challenge", ""), "challenge")
    text = form.values.get("people", "")
    if "list" in form.files:
        if text.strip():
            raise FormError({"people": "Enter the people here, or choose a file; not both."})
        text = invitations.decode_list(form.stream("list").read(invitations.MAX_LIST_BYTES + 1))
    people = invitations.parse_people(text, need_addresses=by_mail)
    user = context.signed_in_user()
    if by_mail:
        invitations.mail_links(context.service, user, people, challenge, days)
        return redirect("/invitations", "invitations-queued")
    made = invitations.create_links(context.service, user, people, challenge, days)
    links = [_address(context, secret) for secret in made]
    content = invitations.links_as_csv(people, links, context.now + timedelta(days=days))
    headers = {"Content-Disposition": 'attachment; filename="invitations.csv"'}
    return Response(content, media_type="text/csv; charset=utf-8", headers=headers)


def _create_link(context: RequestContext, form: ParsedForm) -> Response:
    uses = _number(form, "uses", invitations.MAX_USES)
    days = _number(form, "link_days", invitations.MAX_DAYS)
    challenge = _challenge(context, form.values.get("link_challenge", ""), "link_challenge")
    secret = invitations.create_shared_link(context.service, context.signed_in_user(), uses, days, challenge)
    return _page(context, link=_address(context, secret))


def _revoke(context: RequestContext, form: ParsedForm) -> Response:
    number = form.values.get("invitation", "")
    if not number.isascii() or not number.isdigit() or len(number) > 9:
        raise invalid_form()
    invitations.revoke_invitation(context.service, context.signed_in_user(), int(number))
    return redirect("/invitations", "invitation-revoked")


def _number(form: ParsedForm, field: str, maximum: int) -> int:
    text = form.values.get(field, "").strip()
    if not text.isascii() or not text.isdigit() or len(text) > 6 or not 1 <= int(text) <= maximum:
        raise FormError({field: f"Enter a whole number from 1 to {maximum:,}."})
    return int(text)


def _challenge(context: RequestContext, slug: str, field: str) -> Challenge | None:
    """A challenge that the user organises; None for an empty choice."""
    if not slug:
        return None
    own = select(Challenge).join(Organiser, Organiser.challenge_id == Challenge.id)
    own = own.where(Challenge.slug == slug, Organiser.user_id == context.signed_in_user().id)
    with context.service.database.reading() as session:
        challenge = session.scalar(own)
    if challenge is None:
        raise FormError({field: "Choose a challenge that you organise."})
    return challenge


def _address(context: RequestContext, secret: str) -> str:
    return f"{context.settings.address}/sign-up?invitation={secret}"
