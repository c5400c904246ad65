"""Sign-in with an OpenID provider: a real one on this machine, and answers that do not fit."""

from __future__ import annotations

import base64
import hmac
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from urllib.parse import parse_qs, urlencode, urlsplit, urlunsplit

import httpx
import pytest
from sqlalchemy import func, select, update

from tallymark.app.domain import accounts, invitations, oidc
from tallymark.app.domain.errors import AppError, ConflictError
from tallymark.app.store.models import Identity, Invitation, User
from tests.app.mail_server import free_port
from tests.app.stage import BOTH, Clock
from tests.waiting import until

pytestmark = pytest.mark.slow


@pytest.fixture(scope="session")
def issuer():
    """A provider in a process of its own."""
    port = free_port()
    command = [sys.executable, "-W", "ignore", "-m", "oidc_provider_mock", "--port", str(port), "-n", "true"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    address = f"http://127.0.0.1:{port}"

    def answers():
        try:
            return httpx.get(f"{address}/.well-known/openid-configuration").status_code == 200
        except httpx.HTTPError:
            return False

    try:
        until(answers)
        for sub, name in (("ada-1", "Ada"), ("ben-2", "Ada"), ("eve-3", "\u202eEve")):
            claims = {"name": name, "email": "ada@example.org", "email_verified": True}
            httpx.put(f"{address}/users/{sub}", json=claims).raise_for_status()
        yield address
    finally:
        process.terminate()
        process.wait()


@pytest.fixture
def make_campus(make_stage, issuer):
    """A function that makes an app with this provider, at the present time, which its tokens have."""

    def make(**settings):
        clock = Clock()
        clock.at = datetime.now(UTC)
        given = {
            "oidc_issuer": issuer,
            "oidc_client_id": "scores",
            "oidc_client_secret": "secret",
            "oidc_name": "Campus",
        }
        return make_stage(clock=clock, **{**given, "sign_up": "provider", **settings})

    return make


@pytest.fixture
def campus(make_campus):
    return make_campus()


def at_provider(client, sub, start="/sign-in/oidc", **changed):
    """Go to the provider, sign in there, and give the path to which it sends the browser back."""
    answer = client.get(start)
    assert answer.status_code == 303, answer.text
    parts = urlsplit(answer.headers["location"])
    query = {name: values[0] for name, values in parse_qs(parts.query).items()} | changed
    page = httpx.post(urlunsplit(parts._replace(query=urlencode(query))), data={"sub": sub})
    back = urlsplit(page.headers["location"])
    return f"{back.path}?{back.query}"


def sign_in(client, sub, start="/sign-in/oidc"):
    return client.get(at_provider(client, sub, start))


def name_of(stage, client):
    """Who is signed in."""
    with stage.service.database.reading() as session:
        user = accounts.find_signed_in_user(session, stage.service, client.cookies.get("tallymark"))
        return None if user is None else user.name


@BOTH
def test_whoever_the_provider_knows_signs_up_and_in(campus):
    """As a participant, once; the next time it is the same account, and the page that was asked for."""
    client = campus.client()
    answer = sign_in(client, "ada-1")
    assert (answer.status_code, answer.headers["location"]) == (303, "/challenges?said=welcome")
    assert name_of(campus, client) == "Ada"
    again = campus.client()
    assert sign_in(again, "ada-1", "/sign-in/oidc?next=/account").headers["location"] == "/account?said=welcome"
    [user] = campus.all(select(User))
    assert (user.password, user.organiser, user.operator, user.email) == (None, False, False, None)


def test_an_account_is_of_a_subject_and_not_of_a_name_or_an_address(campus, issuer):
    """Another subject with the same name and address is somebody else, and so is a local account of this name."""
    for sub in ("ada-1", "ben-2", "eve-3"):
        sign_in(campus.client(), sub)
    assert campus.all(select(User.name).order_by(User.id)) == ["Ada", "Ada 2", "User"]
    found = [(each.issuer, each.subject) for each in campus.all(select(Identity).order_by(Identity.user_id))]
    assert found == [(issuer, "ada-1"), (issuer, "ben-2"), (issuer, "eve-3")]


def test_a_request_has_pkce_state_and_nonce(campus, issuer):
    """And the cookie reveals none of them to scripts."""
    answer = campus.client().get("/sign-in/oidc")
    query = parse_qs(urlsplit(answer.headers["location"]).query)
    assert answer.headers["location"].startswith(f"{issuer}/oauth2/authorize?")
    assert query["code_challenge_method"] == ["S256"]
    assert len({query[name][0] for name in ("state", "nonce", "code_challenge")}) == 3
    assert "HttpOnly" in answer.headers["set-cookie"]
    assert "SameSite=lax" in answer.headers["set-cookie"]


def test_a_wrong_state_signs_nobody_in(campus):
    """Also one of another browser: a link to the answer of an attacker does nothing."""
    client, other = campus.client(), campus.client()
    path = at_provider(client, "ada-1")
    assert other.get(path).status_code == 409
    other.get("/sign-in/oidc")
    assert other.get(path).status_code == 409
    assert client.get(path.replace("state=", "state=x")).status_code == 409
    assert client.get("/sign-in/oidc/callback").status_code == 409
    assert client.get("/sign-in/oidc/callback?error=access_denied&state=x").status_code == 409
    assert campus.all(select(User)) == []


def test_a_wrong_nonce_signs_nobody_in(campus):
    """The ID token is of another sign-in."""
    client = campus.client()
    assert client.get(at_provider(client, "ada-1", nonce="of another sign-in")).status_code == 409
    assert campus.all(select(User)) == []


def test_a_code_works_once(campus):
    """Replayed by the same browser, with the same cookie, it is refused by the provider."""
    client = campus.client()
    path = at_provider(client, "ada-1")
    kept = client.cookies.get("tallymark-oidc")
    assert client.get(path).status_code == 303
    assert client.cookies.get("tallymark-oidc") is None
    replay = campus.client(cookies={"tallymark-oidc": kept})
    assert replay.get(path).status_code == 409
    assert name_of(campus, replay) is None


@pytest.mark.parametrize("column", ["disabled", "deleted"])
def test_a_disabled_account_stays_out(campus, column):
    """And no second account is made for it."""
    sign_in(campus.client(), "ada-1")
    with campus.service.database.writing() as session:
        session.execute(update(User).values(**{column: campus.clock()}))
    client = campus.client()
    answer = sign_in(client, "ada-1")
    assert (answer.status_code, name_of(campus, client)) == (409, None)
    assert campus.all(select(func.count()).select_from(User)) == [1]


@BOTH
def test_with_sign_up_by_invitation_an_account_needs_one(make_campus):
    """The invitation counts a use, and gives its role."""
    stage = make_campus(sign_up="invitation")
    refused = sign_in(stage.client(), "ada-1")
    assert refused.status_code == 409
    assert "by invitation only" in refused.text
    host = stage.person("Olga", organiser=True)
    secret = invitations.create_shared_link(stage.service, host, 1, 14, stage.challenge(host))
    assert "Sign up with Campus" in stage.client().get(f"/sign-up?invitation={secret}").text
    answer = sign_in(stage.client(), "ada-1", f"/sign-in/oidc?invitation={secret}")
    assert answer.headers["location"] == "/challenges/animals?said=welcome"
    assert sign_in(stage.client(), "ben-2", f"/sign-in/oidc?invitation={secret}").status_code == 409
    assert stage.all(select(Invitation.uses)) == [1]
    assert sign_in(stage.client(), "ada-1").status_code == 303


@BOTH
def test_an_account_is_connected_from_its_own_page_only(campus):
    """A link of another site cannot connect it; an identity belongs to one account."""
    olga, eve = campus.person("Olga"), campus.person("Eve")
    client = campus.client(olga)
    page = client.get("/account/provider").text
    token = page.partition("connect=")[2].partition('"')[0]
    assert client.get("/sign-in/oidc?connect=guessed").status_code == 409
    assert campus.client(eve).get(f"/sign-in/oidc?connect={token}").status_code == 409
    assert campus.client().get(f"/sign-in/oidc?connect={token}").status_code == 409
    answer = sign_in(client, "ada-1", f"/sign-in/oidc?connect={token}")
    assert answer.headers["location"] == "/account/provider?said=connected"
    visitor = campus.client()
    sign_in(visitor, "ada-1")
    assert name_of(campus, visitor) == "Olga"
    other = campus.client(eve)
    token = other.get("/account/provider").text.partition("connect=")[2].partition('"')[0]
    assert sign_in(other, "ada-1", f"/sign-in/oidc?connect={token}").status_code == 409
    assert campus.all(select(Identity.user_id)) == [olga.id]


def test_an_account_without_a_password_stays_connected(campus):
    """Nobody locks themselves out; with a password the connection can end."""
    client = campus.client()
    sign_in(client, "ada-1")
    assert client.post("/account/provider").status_code == 409
    with campus.service.database.writing() as session:
        session.execute(update(User).values(password="a hash"))
    assert client.post("/account/provider").status_code == 303
    assert campus.all(select(Identity)) == []


@BOTH
def test_two_first_sign_ins_at_once_make_one_account(campus, issuer):
    """Whoever is second gets the account of the first."""
    identity = oidc.VerifiedIdentity(issuer, "new-9", "Nora")
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: oidc.sign_in(campus.service, identity, "")[0].id, range(4)))
    assert len(set(found)) == 1
    assert campus.all(select(User.name)) == ["Nora"]


def test_without_a_provider_there_is_no_such_page(stage):
    """And the sign-in page has no such button."""
    client = stage.client(stage.person("Ada"))
    assert client.get("/sign-in/oidc").status_code == 404
    assert client.get("/account/provider").status_code == 404
    assert "/sign-in/oidc" not in client.get("/sign-in").text


def test_a_provider_that_is_not_there_is_an_error_page(make_campus):
    """With a way back, and no internal error."""
    stage = make_campus(oidc_issuer=f"http://127.0.0.1:{free_port()}")
    answer = stage.client().get("/sign-in/oidc")
    assert answer.status_code == 409
    assert "The sign-in with Campus failed." in answer.text


@pytest.fixture(scope="module")
def keys():
    from joserfc.jwk import RSAKey

    return [RSAKey.generate_key(2048, {"kid": "1"}) for _ in range(2)]


CHANGES = {
    "expired": {"exp": -100},
    "from the future": {"iat": 1000},
    "without an expiry": {"exp": None},
    "of another issuer": {"iss": "https://evil.example.org"},
    "for another app": {"aud": "other"},
    "for another party": {"aud": ["scores", "other"], "azp": "other"},
    "with another nonce": {"nonce": "x"},
    "without a nonce": {"nonce": None},
    "without a subject": {"sub": ""},
    "with a long subject": {"sub": "x" * 256},
    "with a number as subject": {"sub": 7},
}


def encoded(content):
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


def signed(campus, issuer, key, algorithm="RS256", **changes):
    from joserfc import jwt

    now = int(campus.clock().timestamp())
    claims = {
        "iss": issuer,
        "aud": "scores",
        "sub": "ada-1",
        "nonce": "n",
        "iat": 0,
        "exp": 300,
        "name": "Ada",
        **changes,
    }
    for name in ("iat", "exp"):
        claims[name] = None if claims[name] is None else now + claims[name]
    return jwt.encode({"alg": algorithm, "kid": "1"}, {k: v for k, v in claims.items() if v is not None}, key)


def verify(campus, key, token, monkeypatch):
    published = {"keys": [key.as_dict(private=False)]}
    monkeypatch.setattr(oidc, "_get_json", lambda *_: published)
    return oidc._verify_token(campus.service, oidc.Provider("", "", ""), token, "n")


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_token_that_does_not_fit_is_refused(campus, issuer, keys, monkeypatch, change):
    """Though the provider has signed it."""
    token = signed(campus, issuer, keys[0], **change)
    with pytest.raises(ConflictError):
        verify(campus, keys[0], token, monkeypatch)
    assert verify(campus, keys[0], signed(campus, issuer, keys[0]), monkeypatch).subject == "ada-1"


def test_a_token_that_the_provider_did_not_sign_is_refused(campus, issuer, keys, monkeypatch):
    """Signed by another key, by the public key as a password, not at all, or no token."""
    genuine = signed(campus, issuer, keys[0])
    head, body, _ = genuine.split(".")
    by_password = encoded(b'{"alg":"HS256","kid":"1"}') + f".{body}"
    password = keys[0].as_pem(private=False)
    forged = [
        signed(campus, issuer, keys[1]),
        f"{by_password}.{encoded(hmac.digest(password, by_password.encode(), 'sha256'))}",
        encoded(b'{"alg":"none"}') + f".{body}.",
        f"{head}.{body}.",
        "x",
        "",
    ]
    for token in forged:
        with pytest.raises(AppError):
            verify(campus, keys[0], token, monkeypatch)
