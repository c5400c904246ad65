"""Settings: from options, the environment and defaults, checked in words."""

from __future__ import annotations

import pytest

from tallymark.app.settings import AppSettings, read_settings
from tallymark.errors import ParameterError

SMTP = "be a URL such as smtp://user:password@mail.example.org:587?starttls, or smtps://…"


def test_options_go_before_the_environment():
    """What is given counts, else what the environment says, else the default."""
    held = {"TALLYMARK_PORT": "9001", "TALLYMARK_HOST": "0.0.0.0", "TALLYMARK_DATA": ""}
    found = read_settings({"port": 9002, "host": None}, held)
    assert (found.port, found.host, found.data, found.scorers) == (9002, "0.0.0.0", "tallymark-data", 2)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"port": 0}, "`port` must be a positive integer; got 0"),
        ({"port": 65_536}, "`port` must be at most 65535; got 65536"),
        ({"upload_bytes": -1}, "`upload_bytes` must be a positive integer; got -1"),
        ({"scorers": True}, "`scorers` must be a positive integer; got True"),
        ({"sign_up": "maybe"}, "`sign_up` must be one of invitation, provider, open; got 'maybe'"),
        ({"url": "scores.example.org"}, "`url` must begin with http:// or https://; got 'scores.example.org'"),
        ({"smtp_url": "smtp://mail"}, "`smtp_url` needs `mail_from`"),
        ({"mail_from": "a@example.org"}, "`mail_from` needs `smtp_url`"),
        ({"smtp_url": "smtp://mail", "mail_from": "me"}, "`mail_from` must be an e-mail address; got 'me'"),
        ({"smtp_url": "mail.example.org", "mail_from": "a@example.org"}, f"`smtp_url` must {SMTP}"),
        ({"smtp_url": "smtp://x:secret@mail:port", "mail_from": "a@example.org"}, f"`smtp_url` must {SMTP}"),
        ({"smtp_url": "smtp://mail?tls", "mail_from": "a@example.org"}, f"`smtp_url` must {SMTP}"),
        (
            {"smtp_url": "smtp://x:secret@mail", "mail_from": "a@example.org"},
            "`smtp_url` would send its password without encryption. Add ?starttls, or write smtps://.",
        ),
        (
            {"sign_up_domains": "example.edu"},
            "`sign_up_domains` needs `smtp_url`: addresses are confirmed by a link that is mailed",
        ),
        (
            {"sign_up_domains": "example.edu, @x", "smtp_url": "smtp://mail", "mail_from": "a@example.org"},
            "`sign_up_domains` must be domains such as example.edu; got '@x'",
        ),
        (
            {"sign_up_domains": "x.edu", "smtp_url": "smtp://m", "mail_from": "a@x.edu", "sign_up": "open"},
            '`sign_up_domains` has no effect with sign_up="open", which lets everybody sign up',
        ),
        (
            {"oidc_issuer": "https://x.example.org", "oidc_client_id": "me"},
            "sign-in with OpenID Connect also needs `oidc_client_secret`",
        ),
        (
            {"oidc_issuer": "http://x.example.org", "oidc_client_id": "me", "oidc_client_secret": "s"},
            "`oidc_issuer` must begin with https://; got 'http://x.example.org'",
        ),
        ({"sign_up": "provider"}, 'sign_up="provider" needs `oidc_issuer`'),
    ],
)
def test_what_cannot_be_is_told(given, told):
    """A setting that cannot be is named, with what it was."""
    with pytest.raises(ParameterError) as caught:
        read_settings(given, {})
    assert str(caught.value) == told


def test_the_environment_is_checked_too():
    """A number that is none is named as it stands in the environment."""
    with pytest.raises(ParameterError, match="TALLYMARK_PORT must be an integer; got 'many'"):
        read_settings({}, {"TALLYMARK_PORT": "many"})


@pytest.mark.parametrize(
    ("database", "url"),
    [
        ("postgresql://me@db/x", "postgresql+psycopg://me@db/x"),
        ("postgres://me@db/x", "postgresql+psycopg://me@db/x"),
        ("postgresql+psycopg://me@db/x", "postgresql+psycopg://me@db/x"),
        ("", "sqlite:////srv/data/tallymark.db"),
    ],
)
def test_the_database_is_a_file_unless_a_url_is_given(database, url):
    """PostgreSQL is reached by the driver that comes with the app; without a URL there is a file."""
    assert AppSettings(data="/srv/data", database=database).database_url == url


@pytest.mark.parametrize(
    ("given", "address"),
    [
        ({}, "http://127.0.0.1:8000"),
        ({"host": "::1", "port": 9}, "http://[::1]:9"),
        ({"url": "https://scores.example.org/"}, "https://scores.example.org"),
    ],
)
def test_links_begin_with_the_public_address(given, address):
    """Links that are handed out begin with the address that people use."""
    assert AppSettings(**given).address == address


@pytest.mark.parametrize(
    ("url", "server"),
    [
        ("smtp://mail", ("mail", 587, "none", "", "")),
        ("smtp://a%40b:p%3Aw@mail:25?starttls", ("mail", 25, "starttls", "a@b", "p:w")),
        ("smtps://me:secret@mail", ("mail", 465, "tls", "me", "secret")),
        ("smtp://me:secret@127.0.0.1:2525", ("127.0.0.1", 2525, "none", "me", "secret")),
    ],
)
def test_a_mail_server_is_a_url(url, server):
    """With its port, its encryption, and a user whose password may have any characters."""
    assert AppSettings(smtp_url=url, mail_from="a@example.org").smtp == server
    assert AppSettings().smtp is None
