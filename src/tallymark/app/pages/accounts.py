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
    provider: str = ""
    """The name of the OpenID provider; empty without one."""


class SignUpPage(NamedTuple):
    """`/sign-up` (sign_up.html). Fields: `name`, `password`, `again`, `invitation`."""

    shell: Shell
    min_password_length: int
    invitation: str = ""
    invited: str = ""
    """The role that the invitation gives, in a sentence."""
    refused: str = ""
    """Why sign-up is not possible; empty if it is."""
    next: str = ""
    """Where those who have an account already sign in to."""
    provider: str = ""
    """The name of the OpenID provider, if people may sign up with it."""
    domains: str = ""
    """Instead of the form, one for an `email` address of these domains; empty without them."""


class InvitationRow(NamedTuple):
    """An invitation of the user. Its link is shown once, when it is created."""

    role: str
    created: PageTime
    expires: PageTime
    state: str
    """ "open", "used", "expired", "revoked" or "not delivered"."""


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
    provider: str = ""
    """The name of the OpenID provider; empty without one."""
