"""People: secrets are kept as hashes, invitations are used once, and nobody has a default password."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import select

from tallymark.app.domain import accounts
from tallymark.app.domain.errors import FormError
from tallymark.app.store.models import Invitation, SignIn, User
from tests.app.stage import BOTH

pytestmark = pytest.mark.slow

PASSWORD = "correct horse battery"


def _join(stage, name="Ada", invitation="", password=PASSWORD):
    return accounts.sign_up(stage.service, name, password, password, invitation)


def _who(stage, secret):
    with stage.service.database.reading() as session:
        user = accounts.find_signed_in_user(session, stage.service, secret)
        return None if user is None else user.name


@BOTH
def test_an_invitation_works_once(stage, host):
    """Of several who use a link at the same time, one signs up."""
    secret = accounts.create_invitation(stage.service, host, organiser=False)

    def use(name):
        try:
            return _join(stage, name, secret).name
        except FormError as error:
            return error.errors

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(use, ["Ada", "Ben", "Cem", "Dan"]))
    assert found.count({"": accounts.INVALID_INVITATION}) == 3
    assert len(stage.all(select(User))) == 2


def test_invitations_expire_after_two_weeks(stage, host):
    """After two weeks a link is worth nothing, and one that never was is told in the same words."""
    secret = accounts.create_invitation(stage.service, host, organiser=False)
    stage.clock.move(days=14)
    for each in (secret, "made up"):
        with pytest.raises(FormError) as caught:
            _join(stage, invitation=each)
        assert caught.value.errors == {"": accounts.INVALID_INVITATION}
    with pytest.raises(FormError, match="by invitation"):
        _join(stage)


@pytest.mark.parametrize("organiser", [False, True])
def test_an_invitation_says_what_one_will_be(stage, host, organiser):
    """Only an invitation makes an organiser."""
    secret = accounts.create_invitation(stage.service, host, organiser=organiser)
    assert _join(stage, invitation=secret).organiser is organiser


def test_nobody_makes_themselves_an_organiser(make_stage):
    """Where all may sign up, they are participants, whatever their form says."""
    stage = make_stage(sign_up="open")
    form = {"name": "Eve", "password": PASSWORD, "again": PASSWORD, "organiser": "1", "role": "organiser"}
    assert stage.client().post("/sign-up", data=form).status_code == 303
    assert [each.organiser for each in stage.all(select(User))] == [False]


@BOTH
def test_the_first_link_is_made_at_each_start_until_one_is_used(make_stage):
    """It is made at each start until one was used; the earlier ones are worth nothing, and then there is none."""
    stage = make_stage()
    first, second = (accounts.create_first_invitation(stage.service) for _ in range(2))
    assert first
    assert second
    with pytest.raises(FormError):
        _join(stage, invitation=first)
    assert _join(stage, invitation=second).organiser
    with pytest.raises(FormError):
        _join(stage, "Eve", invitation=second)
    assert accounts.create_first_invitation(stage.service) is None
    assert accounts.create_first_invitation(make_stage().service) is None


def test_the_host_of_an_example_is_no_organiser_yet(stage, host):
    """Somebody without a password cannot sign in, so that the first link is still needed, and opens no door."""
    assert accounts.create_first_invitation(stage.service)
    for password in ("", "None", "nobody has this password", PASSWORD):
        with pytest.raises(FormError, match="Wrong name or password"):
            accounts.sign_in(stage.service, host.name, password)


def test_a_new_app_has_no_people(stage):
    """There is no account, and no password, that anybody could know."""
    assert stage.all(select(User)) == []
    assert stage.all(select(Invitation)) == []


@BOTH
def test_signing_out_ends_sessions_on_this_device_or_on_all(make_stage):
    """A sign-in lasts as long as it is set, and ends where one signs out, on this device or on all."""
    stage = make_stage(sign_up="open", session_days=2)
    user = _join(stage)
    one, two, three = (accounts.sign_in(stage.service, "  ADA ", PASSWORD) for _ in range(3))
    assert _who(stage, one) == "Ada"
    accounts.sign_out(stage.service, one)
    assert _who(stage, one) is None
    assert _who(stage, two) == "Ada"
    accounts.sign_out_everywhere(stage.service, user)
    assert _who(stage, two) is None
    assert _who(stage, three) is None
    last = accounts.sign_in(stage.service, "Ada", PASSWORD)
    stage.clock.move(days=2)
    assert _who(stage, last) is None
    assert _who(stage, "") is None


def test_a_new_password_ends_other_sign_ins(make_stage):
    """Whoever knew the old password is out, and the old one is worth nothing."""
    stage = make_stage(sign_up="open")
    user = _join(stage)
    secret = accounts.sign_in(stage.service, "Ada", PASSWORD)
    with pytest.raises(FormError, match="Wrong password"):
        accounts.change_password(stage.service, user, "wrong", "another long one", "another long one")
    assert _who(stage, secret) == "Ada"
    accounts.change_password(stage.service, user, PASSWORD, "another long one", "another long one")
    assert _who(stage, secret) is None
    with pytest.raises(FormError, match="Wrong name or password"):
        accounts.sign_in(stage.service, "Ada", PASSWORD)
    assert accounts.sign_in(stage.service, "Ada", "another long one")


@pytest.mark.parametrize(
    ("password", "again", "field"),
    [
        ("short", "short", "password"),
        ("x" * 1001, "x" * 1001, "password"),
        ("aaaaaaaaaaaa", "aaaaaaaaaaaa", "password"),
        ("ADA LOVELACE", "ADA LOVELACE", "password"),
        (PASSWORD, PASSWORD + "!", "again"),
    ],
)
def test_weak_passwords_are_refused(make_stage, password, again, field):
    """Short ones, one letter many times, the name itself, and two that differ."""
    stage = make_stage(sign_up="open")
    with pytest.raises(FormError) as caught:
        accounts.sign_up(stage.service, "Ada Lovelace", password, again, "")
    assert list(caught.value.errors) == [field]


@pytest.mark.parametrize("name", ["ada", "ＡＤＡ", "Ａda", "ᴬda", " Ada "])
@BOTH
def test_names_that_look_the_same_are_taken(make_stage, name):
    """Case, width and other looks make no other person."""
    stage = make_stage(sign_up="open")
    _join(stage)
    with pytest.raises(FormError, match="This name is taken"):
        _join(stage, name)


@pytest.mark.parametrize("name", ["", "x", "x" * 41, "a​b", "a‮b", "a\0b", "a\x1b[31m"])
def test_names_that_cannot_be_read_are_refused(make_stage, name):
    """Too short, too long, or with characters that nobody sees or that turn the words around."""
    with pytest.raises(FormError) as caught:
        _join(make_stage(sign_up="open"), name)
    assert list(caught.value.errors) == ["name"]


def test_secrets_are_not_in_the_data(make_stage):
    """Passwords, sign-ins and invitations are in no file of the app, but for their hashes."""
    stage = make_stage(sign_up="open")
    user = _join(stage)
    secrets = [
        PASSWORD,
        accounts.sign_in(stage.service, "Ada", PASSWORD),
        accounts.create_invitation(stage.service, user, organiser=True),
        accounts.create_first_invitation(stage.service),
    ]
    content = b"".join(each.read_bytes() for each in stage.settings.folder.rglob("*") if each.is_file())
    assert b"Ada" in content
    assert accounts.hash_secret(secrets[1]).encode() in content
    assert [each for each in secrets if each.encode() in content] == []
    [held] = stage.all(select(User.password))
    assert held.startswith("$argon2id$v=19$")
    assert accounts.PasswordHasher().memory_cost == 65_536  # what the app hashes with; these tests are quicker
    assert len(stage.all(select(SignIn))) == 1


@BOTH
def test_hostile_forms_are_answered(make_stage):
    """What no database can keep is refused in words, on PostgreSQL too."""
    stage = make_stage(sign_up="open")
    client = stage.client()
    for path, data in (
        ("/sign-in", {"name": "a\0b", "password": "x"}),
        ("/sign-up", {"name": "a\0b", "password": PASSWORD, "again": PASSWORD}),
        ("/sign-in", {"name": "x" * 150_000, "password": "y" * 10_000}),
        ("/sign-in", {"x": "y"}),
    ):
        assert client.post(path, data=data).status_code in (400, 422)
    for path in ("/challenges/a%00b", "/submissions/%00", "/challenges/%ED%A0%80", "/challenges/" + "x" * 3000):
        assert client.get(path).status_code in (403, 404)
    escaped = b'--b\r\nContent-Disposition: form-data; name="name"\r\n\r\n\\ud800abc\r\n--b--\r\n'
    kind = "multipart/form-data; boundary=b; charset=unicode_escape"
    assert client.post("/sign-in", content=escaped, headers={"Content-Type": kind}).status_code in (400, 422)
