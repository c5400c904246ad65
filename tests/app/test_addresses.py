"""E-mail addresses: confirmed by a link before anything follows from them."""

from __future__ import annotations

import re

import pytest
from sqlalchemy import select

from tallymark.app.domain import accounts, mails
from tallymark.app.store.models import AddressConfirmation, QueuedMail, User
from tests.app.stage import BOTH

pytestmark = pytest.mark.slow

PASSWORD = "correct horse battery"


@pytest.fixture
def campus(make_stage, mail_server):
    """An app where addresses of a university may sign up."""
    url = f"smtp://127.0.0.1:{mail_server.port}"
    return make_stage(smtp_url=url, mail_from="scores@example.org", sign_up_domains="example.edu, Students.example.edu")


def ask(stage, email):
    return stage.client().post("/sign-up/email", data={"email": email})


def sign_up(stage, name, secret):
    form = {"name": name, "password": PASSWORD, "again": PASSWORD, "invitation": secret}
    return stage.client().post("/sign-up", data=form)


@BOTH
def test_addresses_of_a_domain_sign_up_by_a_mailed_link(campus, mail_server):
    """The account has the address; the link works once, and nobody is invited without it."""
    assert ask(campus, "Ada@Students.example.edu").status_code == 200
    assert mails.send_due(campus.service) == 1
    secret = mail_server.secret()
    assert sign_up(campus, "Ada", secret).status_code == 303
    assert sign_up(campus, "Ben", secret).status_code == 422
    assert sign_up(campus, "Ben", "").status_code == 422
    [user] = campus.all(select(User))
    assert (user.email, user.email_key, user.organiser) == (
        "Ada@Students.example.edu",
        "ada@students.example.edu",
        False,
    )


def test_an_address_has_one_account(campus, mail_server):
    """Who asks again sees the same page; the mail says that there is an account."""
    ask(campus, "ada@example.edu")
    mails.send_due(campus.service)
    sign_up(campus, "Ada", mail_server.secret())
    pages = [ask(campus, each).text for each in ("ADA@example.edu", "new@example.edu")]
    assert pages[0] == pages[1]
    mails.send_due(campus.service)
    assert "belongs to the account Ada already" in mail_server.texts[1]
    assert "invitation=" not in mail_server.texts[1]


def test_two_links_to_one_address_confirm_it_once(campus, mail_server):
    """The second account has no address."""
    for _ in range(2):
        ask(campus, "ada@example.edu")
    mails.send_due(campus.service)
    for place, name in enumerate(("Ada", "Adas twin")):
        assert sign_up(campus, name, mail_server.secret(place)).status_code == 303
    assert campus.all(select(User.email).order_by(User.id)) == ["ada@example.edu", None]


@pytest.mark.parametrize(
    "address",
    [
        "eve@example.org",
        "eve@example.edu.example.org",
        "eve@sub.example.edu",
        "eve@notexample.edu",
        "eve@example.edu@example.org",
        "eve@example.org\r\nTo: x@example.edu",
        '"eve@example.org"@example.edu',
        "eve@example.org,x@example.edu",
        "eve@example.org x@example.edu",
        "eve%example.org@@example.edu",
        "eve@exämple.edu",
        "@example.edu",
        "a" * 300 + "@example.edu",
        "",
    ],
)
def test_other_addresses_are_refused(campus, address):
    """Only the domain itself, and only what is one address."""
    assert ask(campus, address).status_code == 422
    assert campus.all(select(QueuedMail)) == []


def test_links_for_an_address_are_limited(campus):
    """Nobody fills a mailbox by this form."""
    for _ in range(5):
        assert ask(campus, "ada@example.edu").status_code == 200
        assert ask(campus, "ADA@example.edu").status_code == 200
    assert len(campus.all(select(QueuedMail))) == 3


def test_without_domains_the_form_is_refused(post):
    """And the page says that an invitation is needed."""
    page = ask(post, "ada@example.edu")
    assert page.status_code == 422
    assert "by invitation only" in page.text


def user_with_password(stage, name):
    invitation = accounts.create_invitation(
        stage.service, stage.person(f"{name} host", organiser=True), organiser=False
    )
    return accounts.sign_up(stage.service, name, PASSWORD, PASSWORD, invitation)


@BOTH
def test_a_user_adds_an_address_and_confirms_it(post, mail_server):
    """With their password; the link asks for a press, and works once."""
    user = user_with_password(post, "Ada")
    client = post.client(user)
    form = {"action": "address", "email": "ada@example.org", "old": "wrong"}
    assert client.post("/account/email", data=form).status_code == 422
    assert client.post("/account/email", data={**form, "old": PASSWORD}).status_code == 303
    assert mails.send_due(post.service) == 1
    assert post.all(select(User.email).where(User.name == "Ada")) == [None]
    assert "confirm it" in client.get("/account/email").text
    secret = mail_server.secret()
    visitor = post.client()
    assert "ada@example.org" in visitor.get(f"/account/email/confirm?secret={secret}").text
    assert post.all(select(User.email).where(User.name == "Ada")) == [None]
    assert visitor.post("/account/email/confirm", data={"secret": secret}).status_code == 303
    assert post.all(select(User.email).where(User.name == "Ada")) == ["ada@example.org"]
    assert visitor.post("/account/email/confirm", data={"secret": secret}).status_code == 422
    client.post("/account/email", data={"action": "results", "mail_results": "1"})
    assert "checked" in client.get("/account/email").text
    client.post("/account/email", data={"action": "remove"})
    [held] = post.all(select(User).where(User.name == "Ada"))
    assert (held.email, held.email_key, held.mail_results) == (None, None, False)


@BOTH
def test_an_address_belongs_to_one_account(post, mail_server):
    """Who confirms it second is told so, and only they: they read its mail."""
    for name in ("Ada", "Eve"):
        client = post.client(user_with_password(post, name))
        form = {"action": "address", "email": "ada@example.org", "old": PASSWORD}
        assert client.post("/account/email", data=form).status_code == 303
        mails.send_due(post.service)
        answer = client.post("/account/email/confirm", data={"secret": mail_server.secret()})
    assert answer.status_code == 422
    assert "Another account has this address" in answer.text
    assert post.all(select(User.name).where(User.email.is_not(None))) == ["Ada"]


def test_a_later_address_replaces_one_that_was_not_confirmed(post, mail_server):
    """The first link is worth nothing then, and so is one after a day."""
    client = post.client(post.person("Ada"))
    for address in ("first@example.org", "second@example.org"):
        client.post("/account/email", data={"action": "address", "email": address})
        mails.send_due(post.service)
    first, second = mail_server.secret(0), mail_server.secret(1)
    assert client.post("/account/email/confirm", data={"secret": first}).status_code == 422
    post.clock.move(hours=24)
    assert client.post("/account/email/confirm", data={"secret": second}).status_code == 422
    assert post.all(select(User.email)) == [None]


def test_mails_to_confirm_are_limited(post):
    """Three in an hour, to whatever addresses."""
    client = post.client(post.person("Ada"))
    answers = [
        client.post("/account/email", data={"action": "address", "email": f"victim{n}@example.org"}).status_code
        for n in range(5)
    ]
    assert answers == [303, 303, 303, 422, 422]
    assert len(post.all(select(QueuedMail))) == 3


def test_addresses_are_shown_to_nobody_else(post, mail_server):
    """No page of a challenge has one, nor the account of another."""
    host = post.person("Olga", organiser=True)
    challenge = post.challenge(host)
    ada = post.person("Ada")
    client = post.client(ada)
    client.post("/account/email", data={"action": "address", "email": "ada@example.org"})
    mails.send_due(post.service)
    client.post("/account/email/confirm", data={"secret": mail_server.secret()})
    post.team(challenge, "Badgers", ada)
    reader = post.client(host)
    for path in ("/challenges/animals", "/challenges/animals/leaderboard", "/organise/animals", "/account/email"):
        assert not re.search("ada@example", reader.get(path).text)
    assert post.all(select(AddressConfirmation)) == []
