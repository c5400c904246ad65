"""What an operator does, in a real browser: a forgotten password, a disabled account, and one that is deleted."""

from __future__ import annotations

import pytest

from tests.browser.server import GOOD, PASSWORD, started

pytestmark = pytest.mark.slow
FORGOTTEN = "Wrong name or password."
NEW = "another four plain words"


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """A server whose first account is free."""
    with started(tmp_path_factory.mktemp("operated")) as server:
        yield server


def test_an_operator_helps_with_a_forgotten_password_and_deletes_an_account(visits, server):
    """From the link to the new password; the account is told that it is disabled; its place on the board stays."""
    opal = visits(server)
    opal.sign_up(server.first_link, "Opal")
    opal.follow("Account of Opal organiser")
    opal.press("Create link")
    ada = visits(server, java_script_enabled=False)
    ada.sign_up(opal.text(".flash code"), "Ada")
    ada.join("Owls")
    ada.open("/challenges/animals-on-photographs/submit")
    ada.choose("submission", GOOD)
    ada.press("Check file")
    ada.press("Submit")

    opal.follow("Operate")
    assert "Waiting for scores" in opal.text()
    opal.follow("Accounts")
    opal.fill(q="ad")
    opal.press("Search")
    assert opal.texts("tbody th") == ["Ada"]
    opal.follow("Ada")
    opal.press("Create link")
    link = opal.text(".flash code")
    guest = visits(server, java_script_enabled=False)
    guest.open(link)
    guest.fill(password="password2024", again="password2024")
    guest.press("Set password", 422)
    assert "Many people use this password" in guest.text("#password-error")
    guest.fill(password=NEW, again=NEW)
    guest.press("Set password")
    guest.fill(name="Ada", password=PASSWORD)
    guest.press("Sign in", 422)
    assert FORGOTTEN in guest.text()
    guest.fill(name="Ada", password=NEW)
    guest.press("Sign in")
    ada.open("/account")  # which signed everything else out
    assert ada.page.url.endswith("/sign-in?next=/account")
    guest.open("/operate", 404)

    opal.press("Disable account")
    guest.open("/account")
    guest.fill(name="Ada", password=NEW)
    guest.press("Sign in", 422)
    assert "This account is disabled." in guest.text()
    opal.follow("Delete account …")
    opal.press("Delete account")
    assert "Ada" not in opal.texts("tbody th")
    opal.open("/challenges/animals-on-photographs/leaderboard")
    assert "deleted account" in opal.text()
    assert "Owls" not in opal.text()
    opal.open("/operate/log")
    assert opal.texts("tbody td:nth-child(3)") == [
        "deleted the account",
        "disabled the account",
        "set a new password with a link",
        "created a link for a new password",
    ]
    opal.open("/operate/accounts")
    opal.follow("Opal")
    opal.press("End the role of operator", 422)
    assert "Opal is the only operator." in opal.text()
