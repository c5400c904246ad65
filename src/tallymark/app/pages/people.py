"""Invitations, teams, e-mail addresses and new passwords."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from tallymark.app.pages.shell import PageTime, Pagination, SelectOption, Shell


class SentInvitation(NamedTuple):
    """An invitation in the list of who created it."""

    id: int
    who: str
    """A name, an address, or "anyone with the link"."""
    challenge: str
    uses: str
    """ "3 of 200"."""
    expires: PageTime
    state: str
    """ "open", "used", "expired", "revoked" or "not delivered"."""


class InvitationsPage(NamedTuple):
    """`/invitations` (invitations.html).

    Its forms send `action`: "people" with the text `people` or the file `list`, `challenge` (a slug or empty), `days`
    and `how` ("csv" or "mail"); "link" with `uses`, `challenge` and `link_days`; "revoke" with `invitation`.
    """

    shell: Shell
    challenges: Sequence[SelectOption]
    may_mail: bool
    max_people: str
    wrong_lines: Sequence[tuple[str, str]] = ()
    """The place of each wrong line, and what is wrong."""
    more_lines: str = ""
    new_link: str = ""
    invitations: Sequence[SentInvitation] = ()
    pages: Pagination | None = None


class NoticePage(NamedTuple):
    """What happens next, after a form that tells nothing else (notice.html)."""

    shell: Shell
    text: str


class ForgotPage(NamedTuple):
    """`/forgot-password` (forgot.html). Field: `account`, a name or an e-mail address."""

    shell: Shell
    refused: str = ""
    """Why no mail can be sent; empty if it can."""


class ResetPage(NamedTuple):
    """`/reset` (reset.html). Fields: `secret`, `password`, `again`."""

    shell: Shell
    secret: str
    name: str
    """Whose password is set."""
    min_password_length: int
    refused: str = ""
    """Why the link cannot be used; empty if it can."""
    may_ask: bool = False
    """Whether a new link can be asked for by mail."""


class EmailPage(NamedTuple):
    """`/account/email` (email.html).

    Its forms send `action`: "address" (with `email` and, if there is one, the password `old`), "results" (with the
    checkbox `mail_results`), "remove".
    """

    shell: Shell
    address: str
    """Empty without one."""
    waiting: str
    """An address that is not confirmed yet; empty without one."""
    has_password: bool
    refused: str = ""
    """Why no mail can be sent; empty if it can."""


class ConfirmEmailPage(NamedTuple):
    """`/account/email/confirm` (confirm_email.html). Field: `secret`."""

    shell: Shell
    secret: str
    address: str
    name: str
    refused: str = ""


class IncomingMerge(NamedTuple):
    """A team that asks to join the user's."""

    team_id: int
    name: str


class TeamPage(NamedTuple):
    """`/challenges/{slug}/team` (team.html).

    Its forms send `action`: "rename" (with `name`), "renew", "leave", "merge" (with `merge`, the name of another team),
    "withdraw", "accept" and "decline" (with the id `team`).
    """

    shell: Shell
    slug: str
    title: str
    name: str
    members: Sequence[str]
    link: str
    size: str
    """How many members a team has at most, in a sentence; empty without a limit."""
    may_change: bool
    """Whether nothing has been submitted yet."""
    may_merge: bool
    incoming: Sequence[IncomingMerge] = ()
    outgoing: str = ""
    """The team that was asked; empty without a request."""


class JoinTeamPage(NamedTuple):
    """`/challenges/{slug}/join/{code}` (join_team.html). Field: the checkbox `accept`, if `must_accept`."""

    shell: Shell
    slug: str
    title: str
    code: str
    name: str
    members: Sequence[str]
    must_accept: bool = False


class ProviderPage(NamedTuple):
    """`/account/provider` (provider.html)."""

    shell: Shell
    name: str
    linked: bool
    token: str
    """Of the link that connects the account."""
