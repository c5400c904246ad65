"""New passwords: by a link that is mailed, works once, and tells nobody who has an account."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from sqlalchemy import select, update

from tallymark.app.domain import accounts, mails, password_resets
from tallymark.app.domain.errors import FormError
from tallymark.app.store.models import AuditEntry, MailRequest, PasswordReset, QueuedMail, User
from tests.app.stage import BOTH

pytestmark = pytest.mark.slow

PASSWORD = "correct horse battery"
OTHER = "another long one"


def with_address(stage, name="Ada", address="Ada@example.org", **values):
    """A user with a confirmed address."""
    user = stage.person(name)
    with stage.service.database.writing() as session:
        held = {"email": address, "email_key": address.lower(), **values}
        session.execute(update(User).where(User.id == user.id).values(**held))
    return user


def ask(stage, account):
    return stage.client().post("/forgot-password", data={"account": account})


def redeem(stage, secret, password=OTHER):
    try:
        return password_resets.redeem_reset(stage.service, secret, password, password).name
    except FormError as error:
        return error.errors


@BOTH
def test_a_forgotten_password_is_set_anew(post, mail_server):
    """By name or address; the link ends all sign-ins, is logged, and works once."""
    user = with_address(post)
    old = accounts.create_sign_in(post.service, user)
    ask(post, " ada ")
    ask(post, "ADA@EXAMPLE.ORG")
    assert mails.send_due(post.service) == 2
    assert mail_server.recipients == [["Ada@example.org"]] * 2
    secret = mail_server.secret()
    client = post.client()
    assert "Ada" in client.get(f"/reset?secret={secret}").text
    form = {"secret": secret, "password": OTHER, "again": OTHER}
    answer = client.post("/reset", data=form)
    assert answer.headers["location"] == "/sign-in?said=reset"
    assert post.all(select(AuditEntry.action)) == ["use reset link"]
    assert accounts.sign_in(post.service, "Ada", OTHER)
    with post.service.database.reading() as session:
        assert accounts.find_signed_in_user(session, post.service, old) is None
    assert client.post("/reset", data=form).status_code == 422
    assert redeem(post, mail_server.secret(0)) == {"": password_resets.INVALID_RESET}


@BOTH
def test_the_answer_and_its_work_are_the_same_without_an_account(post, mail_server):
    """The same page, and the same rows in the database; a mail goes only to an account."""
    with_address(post)
    pages = {re.sub("support: .*", "", ask(post, name).text) for name in ("Ada", "Nobody", "no@example.org")}
    assert len(pages) == 1
    assert len(post.all(select(QueuedMail))) == len(post.all(select(MailRequest))) == 3
    assert mails.send_due(post.service) == 1
    assert post.all(select(QueuedMail)) == []


@pytest.mark.parametrize("name", ["Ada", "Nobody"])
def test_mails_are_limited(post, mail_server, name):
    """Three in an hour for what was typed, in any case; with an account or not, the page stays the same."""
    with_address(post)
    pages = {ask(post, each).text for each in (name, name.upper(), f" {name}", name, name.lower())}
    assert len(pages) == 1
    assert len(post.all(select(QueuedMail))) == 3
    mails.send_due(post.service)
    post.clock.move(hours=1)
    ask(post, name)
    assert len(post.all(select(QueuedMail))) == 1


def test_the_mails_of_one_account_are_limited_too(post, mail_server):
    """Whichever of its name and address is typed."""
    with_address(post)
    for each in ("Ada", "ada@example.org", "ADA@example.org ", "ᴬda"):
        for _ in range(4):
            ask(post, each)
    mails.send_due(post.service)
    assert len(mail_server.mails) <= 6


@pytest.mark.parametrize("values", [{"disabled": True}, {"deleted": True}, {"email": None, "email_key": None}])
def test_accounts_that_cannot_be_used_get_no_mail(post, mail_server, values):
    """Disabled and deleted ones, and those without a confirmed address."""
    with_address(post, **{name: value and post.clock() for name, value in values.items()})
    ask(post, "Ada")
    assert mails.send_due(post.service) == 0


def test_a_link_expires_after_an_hour(post, mail_server):
    """And is answered like one that never was."""
    with_address(post)
    ask(post, "Ada")
    mails.send_due(post.service)
    post.clock.move(hours=1)
    for secret in (mail_server.secret(), "made up", ""):
        assert redeem(post, secret) == {"": password_resets.INVALID_RESET}
        assert password_resets.INVALID_RESET in post.client().get(f"/reset?secret={secret}").text


def test_a_disabled_account_cannot_use_its_link(post, mail_server):
    """Nor does the page say whose it was."""
    user = with_address(post)
    ask(post, "Ada")
    mails.send_due(post.service)
    with post.service.database.writing() as session:
        session.execute(update(User).where(User.id == user.id).values(disabled=post.clock()))
    assert redeem(post, mail_server.secret()) == {"": password_resets.INVALID_RESET}
    assert "Ada" not in post.client().get(f"/reset?secret={mail_server.secret()}").text


@BOTH
def test_of_several_who_use_a_link_at_once_one_succeeds(stage):
    """The password is the one of who was first."""
    user = stage.person("Ada")
    with stage.service.database.writing() as session:
        secret = password_resets.create_reset(session, stage.service, user, timedelta(days=1))
    words = [f"a long enough password {n}" for n in range(4)]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda each: redeem(stage, secret, each), words))
    assert found.count("Ada") == 1
    assert accounts.sign_in(stage.service, "Ada", words[found.index("Ada")])
    assert stage.all(select(PasswordReset)) == []


def test_a_weak_password_does_not_use_the_link_up(post, mail_server):
    """The form comes back with what is wrong."""
    with_address(post)
    ask(post, "Ada")
    mails.send_due(post.service)
    secret = mail_server.secret()
    page = post.client().post("/reset", data={"secret": secret, "password": "short", "again": "short"})
    assert page.status_code == 422
    assert "Use 10 to 1,000 characters" in page.text
    assert redeem(post, secret) == "Ada"


def test_without_a_mail_server_the_page_says_whom_to_ask(stage):
    """Nothing is queued."""
    client = stage.client()
    assert "does not send e-mail" in client.get("/forgot-password").text
    assert client.post("/forgot-password", data={"account": "Ada"}).status_code == 422
    assert stage.all(select(QueuedMail)) == []


def test_a_refused_link_says_where_to_get_another(stage, post):
    """By mail where there is one, else from the operator."""
    assert 'href="/forgot-password">Ask for a new link' in post.client().get("/reset?secret=x").text
    page = stage.client().get("/reset?secret=x").text
    assert "Ask the operator" in page
    assert "Ask for a new link" not in page
