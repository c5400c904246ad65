"""Views of invitations, teams and e-mail addresses."""

from __future__ import annotations

from tallymark.app.pages.people import (
    ConfirmEmailPage,
    EmailPage,
    ForgotPage,
    IncomingMerge,
    InvitationsPage,
    JoinTeamPage,
    NoticePage,
    ProviderPage,
    ResetPage,
    SentInvitation,
    TeamPage,
)
from tallymark.app.pages.shell import Form, SelectOption
from tests.app.sample_pages.shell import SHORT, Say, shell


def invitations(say: Say) -> InvitationsPage:
    form = Form(
        {"people": say("ada@"), "days": "14"},
        {"people": "2 lines are wrong, so nobody was invited.", "list": "The file is not valid UTF-8."},
    )
    return InvitationsPage(
        shell(say, "Invite people", "/invitations", form=form),
        [SelectOption("", "The list of challenges"), SelectOption("deer", say("Deer"))],
        True,
        "2,000",
        [("Line 1", say("'ada@' is not an e-mail address")), ("Line 7", "the same as in line 3")],
        "and 12 lines more",
        "https://scores.example.org/sign-up?invitation=Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4",
        [
            SentInvitation(7, say("Ada · ada@example.org"), say("Deer"), "0 of 1", SHORT, "open"),
            SentInvitation(8, "anyone with the link", "", "30 of 30", SHORT, "used"),
        ],
    )


def notice(say: Say) -> NoticePage:
    return NoticePage(shell(say, "Check your mail", "/forgot-password", person=False), "A mail is on its way.")


def forgot(say: Say) -> ForgotPage:
    form = Form({"account": say("ada")}, {"account": "Enter the name of your account."})
    return ForgotPage(shell(say, "Forgot your password?", "/forgot-password", person=False, form=form))


def reset(say: Say) -> ResetPage:
    form = Form({}, {"password": "Too easy to guess."})
    return ResetPage(shell(say, "Set a new password", "/reset", person=False, form=form), "c2VjcmV0", say("Ada"), 10)


def email(say: Say) -> EmailPage:
    form = Form({"email": say("ada"), "mail_results": "1"}, {"email": "Enter an e-mail address."})
    here = shell(say, "E-mail", "/account/email", form=form)
    return EmailPage(here, say("ada@example.org"), say("new@example.org"), True)


def confirm_email(say: Say) -> ConfirmEmailPage:
    here = shell(say, "Confirm your address", "/account/email/confirm", person=False)
    return ConfirmEmailPage(here, "c2VjcmV0", say("ada@example.org"), say("Ada"))


def team(say: Say) -> TeamPage:
    path = "/challenges/deer/team"
    form = Form({"name": say("Badgers"), "merge": say("Otters")}, {"merge": "No team in this challenge has this name."})
    link = "https://scores.example.org/challenges/deer/join/Zm9vYmFyYmF6cXV4"
    members = [say("Ada"), say("Ben")]
    here = shell(say, "Your team", path, form=form)
    asked = [IncomingMerge(7, say("Voles"))]
    return TeamPage(here, "deer", say("Deer"), say("Badgers"), members, link, "At most 4.", True, True, asked)


def join_team(say: Say) -> JoinTeamPage:
    form = Form({}, {"accept": "Read the rules and accept them to take part."})
    here = shell(say, "Join a team", "/challenges/deer/join/c29kZQ", form=form)
    return JoinTeamPage(here, "deer", say("Deer"), "c29kZQ", say("Badgers"), [say("Ada"), say("Ben")], True)


def provider(say: Say) -> ProviderPage:
    return ProviderPage(shell(say, "Sign-in with Campus", "/account/provider"), say("Campus"), False, "dG9rZW4")
