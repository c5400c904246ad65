"""Views of people: those who sign up, and an account."""

from __future__ import annotations

from tallymark.app import views as v
from tests.app.sample_views.shell import SHORT, Say, shell, wrong


def sign_up(say: Say) -> v.SignUpPage:
    told = wrong(
        say, "Sign up", "/sign-up", {"name": "Someone has this name already.", "again": "It differs from the first."}
    )
    return v.SignUpPage(told, 12, "inv-token", "You are invited to take part.")


def account(say: Say) -> v.AccountPage:
    made = [v.Invitation("participant", SHORT, SHORT, "open"), v.Invitation("organiser", SHORT, SHORT, "used")]
    roles = [v.Choice("participant", "Participant"), v.Choice("organiser", "Organiser")]
    link = "https://scores.example.org/sign-up?invitation=Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4"
    return v.AccountPage(
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
