"""Sign-in, sign-up and accounts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from tallymark.app.pages.shell import PageTime, SelectOption, Shell


class SignInPage(NamedTuple):
    """`/sign-in` (sign_in.html). Fields: `name`, `password`, `next`."""

    shell: Shell
    next: str = ""
    may_sign_up: bool = True


class SignUpPage(NamedTuple):
    """`/sign-up` (sign_up.html). Fields: `name`, `password`, `again`, `invitation`."""

    shell: Shell
    min_password_length: int
    invitation: str = ""
    invited: str = ""
    """What the invitation is to, in a sentence."""
    refused: str = ""
    """Why nobody can sign up here; empty where one can."""


class InvitationRow(NamedTuple):
    """A link that lets others sign up, shown in full only when it has just been made."""

    role: str
    made: PageTime
    ends: PageTime
    state: str
    """ "open", "used" or "over"."""


class AccountPage(NamedTuple):
    """`/account` (account.html).

    Its forms send `action`: "password" (with `old`, `password`, `again`), "everywhere" (sign out), "invite" (with
    `role`).
    """

    shell: Shell
    name: str
    role: str
    since: PageTime
    sessions: str
    """ "Signed in on 2 devices"."""
    min_password_length: int
    may_invite: bool = False
    roles: Sequence[SelectOption] = ()
    new_link: str = ""
    invitations: Sequence[InvitationRow] = ()
