"""Views of people: those who sign up, and an account."""

from __future__ import annotations

from tallymark.app.pages.accounts import AccountPage, InvitationRow, SignUpPage
from tallymark.app.pages.shell import SelectOption
from tests.app.sample_pages.shell import SHORT, Say, shell, wrong


def sign_up(say: Say) -> SignUpPage:
    told = wrong(
        say, "Sign up", "/sign-up", {"name": "Someone has this name already.", "again": "It differs from the first."}
    )
    return SignUpPage(told, 12, "inv-token", "You are invited to take part.", "", "/challenges/deer")


def account(say: Say) -> AccountPage:
    made = [InvitationRow("participant", SHORT, SHORT, "open"), InvitationRow("organiser", SHORT, SHORT, "used")]
    roles = [SelectOption("participant", "Participant"), SelectOption("organiser", "Organiser")]
    link = "https://scores.example.org/sign-up?invitation=Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4"
    return AccountPage(
        shell(say, "Account", "/account"),
        say("Ada"),
        "organiser",
        SHORT,
        "Signed in on 2 devices.",
        12,
        True,
        roles,
        link,
        made,
    )
