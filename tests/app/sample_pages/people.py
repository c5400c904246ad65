"""Views of invitations, teams and e-mail addresses."""

from __future__ import annotations

from tallymark.app.pages.people import InvitationsPage, SentInvitation
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
