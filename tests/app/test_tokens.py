"""Tokens: shown once, stored as hashes, limited to scopes, and worth nothing once they expire or are revoked."""

from __future__ import annotations

import re

import pytest
from sqlalchemy import update

from tallymark.app.domain import tokens
from tallymark.app.domain.errors import FormError, NotFoundError
from tallymark.app.store.models import Token, User
from tests.app.stage import BOTH

pytestmark = pytest.mark.slow


def _list(stage, user):
    with stage.service.database.reading() as session:
        return tokens.list_tokens(session, user)


@BOTH
def test_a_token_is_shown_once_and_stored_as_a_hash(stage, player):
    """The page after creating it shows it; no later page does, and the database does not have it."""
    client = player.client()
    form = {"action": "create", "name": " my  laptop ", "scope": ["submit", "read"], "days": "90"}
    page = client.post("/account/tokens", data=form)
    [secret] = re.findall(r"tallymark_[\w-]{43}", page.text)
    later = client.get("/account/tokens").text
    assert secret not in later
    assert "my laptop" in later
    [token] = _list(stage, player.user)
    assert secret not in str(vars(token))
    assert token.scopes == ["read", "submit"]
    assert (token.expires - token.created).days == 90
    assert tokens.find_token(stage.service, secret).user.name == "Ada"


def test_a_token_expires(stage, player):
    """After its days it is not found any more."""
    secret = tokens.create_token(stage.service, player.user, "laptop", ["read"], "7")
    stage.clock.move(days=6, hours=23)
    assert tokens.find_token(stage.service, secret) is not None
    stage.clock.move(hours=1)
    assert tokens.find_token(stage.service, secret) is None
    assert "expired" in player.client().get("/account/tokens").text


@pytest.mark.parametrize("field", ["disabled", "deleted"])
def test_the_token_of_a_disabled_or_deleted_user_stops_working(stage, player, field):
    """At once, without being revoked."""
    secret = tokens.create_token(stage.service, player.user, "laptop", ["read"], "7")
    with stage.service.database.writing() as session:
        session.execute(update(User).where(User.id == player.user.id).values({field: stage.clock()}))
    assert tokens.find_token(stage.service, secret) is None


def test_only_its_user_revokes_a_token(stage, player, host):
    """Others get the answer of a token that does not exist."""
    secret = tokens.create_token(stage.service, player.user, "laptop", ["read"], "7")
    [token] = _list(stage, player.user)
    for user, token_id in ((host, str(token.id)), (player.user, "99"), (player.user, "x"), (player.user, "9" * 30)):
        with pytest.raises(NotFoundError):
            tokens.revoke_token(stage.service, user, token_id)
    tokens.revoke_token(stage.service, player.user, str(token.id))
    assert tokens.find_token(stage.service, secret) is None
    assert tokens.find_token(stage.service, "") is None


def test_the_last_use_is_noted_once_a_minute(stage, player):
    """Not by every request: each note is a write."""
    secret = tokens.create_token(stage.service, player.user, "laptop", ["read"], "7")
    assert _list(stage, player.user)[0].used is None
    first = stage.clock()
    tokens.find_token(stage.service, secret)
    stage.clock.move(seconds=59)
    tokens.find_token(stage.service, secret)
    assert _list(stage, player.user)[0].used == first
    stage.clock.move(seconds=1)
    tokens.find_token(stage.service, secret)
    assert _list(stage, player.user)[0].used == stage.clock()


@pytest.mark.parametrize(
    ("name", "scopes", "days", "field"),
    [
        ("", ["read"], "90", "name"),
        ("x" * 61, ["read"], "90", "name"),
        ("a\u202eb", ["read"], "90", "name"),
        ("laptop", [], "90", "scopes"),
        ("laptop", ["read", "everything"], "90", "scopes"),
        ("laptop", ["organise"], "90", "scopes"),
        ("laptop", ["operate"], "90", "scopes"),
        ("laptop", ["read"], "0", "days"),
        ("laptop", ["read"], "366", "days"),
        ("laptop", ["read"], "-1", "days"),
        ("laptop", ["read"], "²", "days"),
        ("laptop", ["read"], "9" * 5000, "days"),
    ],
)
def test_an_invalid_form_names_the_field(stage, player, name, scopes, days, field):
    """Nothing is created."""
    with pytest.raises(FormError) as caught:
        tokens.create_token(stage.service, player.user, name, scopes, days)
    assert set(caught.value.errors) == {field}
    assert _list(stage, player.user) == []


def test_a_user_has_at_most_fifty_tokens(stage, player):
    """A program that creates them without end is stopped."""
    with stage.service.database.writing() as session:
        for n in range(50):
            session.add(
                Token(
                    user_id=player.user.id,
                    name="x",
                    secret=str(n),
                    scopes=["read"],
                    created=stage.clock(),
                    expires=stage.clock(),
                )
            )
    with pytest.raises(FormError, match="which is the limit"):
        tokens.create_token(stage.service, player.user, "laptop", ["read"], "7")


def test_a_wrong_form_keeps_what_was_chosen(player):
    """The name and the scopes are still there, and the error is beside its field."""
    form = {"action": "create", "name": "laptop", "scope": "submit", "days": "1000"}
    page = player.client().post("/account/tokens", data=form)
    assert page.status_code == 422
    assert 'value="laptop"' in page.text
    assert 'value="submit" checked' in page.text
    assert 'value="read" checked' not in page.text
    assert 'id="days-error"' in page.text
