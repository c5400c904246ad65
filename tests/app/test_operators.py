"""Operators: roles, disabling and deleting accounts, links for a new password, and the log of all of it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

import pytest
from sqlalchemy import select, update

from tallymark.app.domain import accounts, operators, outbox, password_resets, team_changes
from tallymark.app.domain.errors import FormError, NotFoundError
from tallymark.app.domain.organisers import add_organiser, list_organisers
from tallymark.app.store.models import (
    AddressConfirmation,
    AuditEntry,
    IdempotencyKey,
    Identity,
    Invitation,
    PasswordReset,
    QueuedMail,
    SignIn,
    Submission,
    Team,
    TeamMerge,
    Token,
    User,
)
from tests.app.stage import BOTH, guess
from tests.waiting import LIMIT

pytestmark = pytest.mark.slow

PASSWORD, OTHER = "correct horse battery", "another long one"


@pytest.fixture
def opal(stage):
    return stage.person("Opal", operator=True)


def signed_up(stage, name="Ada"):
    """Somebody with a password."""
    invitation = accounts.create_invitation(stage.service, stage.person(f"Host of {name}"), organiser=False)
    return accounts.sign_up(stage.service, name, PASSWORD, PASSWORD, invitation)


def again(stage, user):
    """The account as it is stored now."""
    [found] = stage.all(select(User).where(User.id == user.id))
    return found


def logged(stage):
    return [(each.action, each.subject) for each in stage.all(select(AuditEntry).order_by(AuditEntry.id))]


@BOTH
def test_a_disabled_account_is_signed_out_and_told_so(stage, opal):
    """Only the right password learns that the account exists and is disabled; enabling brings no old sign-in back."""
    ada = signed_up(stage)
    secret = accounts.sign_in(stage.service, "Ada", PASSWORD)
    link = operators.create_reset(stage.service, opal, ada.id)
    operators.disable_account(stage.service, opal, ada.id)
    with pytest.raises(FormError, match="This account is disabled"):
        accounts.sign_in(stage.service, "Ada", PASSWORD)
    with pytest.raises(FormError, match="Wrong name or password"):
        accounts.sign_in(stage.service, "Ada", OTHER)
    with pytest.raises(FormError, match="Enable it first"):
        operators.create_reset(stage.service, opal, ada.id)
    operators.enable_account(stage.service, opal, ada.id)
    assert stage.all(select(SignIn)) == stage.all(select(PasswordReset)) == []
    with stage.service.database.reading() as session:
        assert accounts.find_signed_in_user(session, stage.service, secret) is None
        assert password_resets.find_reset(session, stage.service, link) is None
    assert accounts.sign_in(stage.service, "Ada", PASSWORD)
    assert logged(stage) == [("create reset link", "Ada"), ("disable account", "Ada"), ("enable account", "Ada")]


def test_a_password_that_was_changed_while_it_was_checked_signs_nobody_in(stage):
    """Who signs in with the old password at the moment of the change is not signed in after it."""
    old = signed_up(stage)
    accounts.change_password(stage.service, old, PASSWORD, OTHER, OTHER)
    with pytest.raises(FormError, match="Wrong name or password"):
        accounts.create_sign_in(stage.service, old, checked=True)


@BOTH
def test_a_link_sets_a_new_password_once(stage, opal):
    """Of two who use it at the same time, one succeeds; all sign-ins end, and only the hash is stored."""
    ada = signed_up(stage)
    accounts.sign_in(stage.service, "Ada", PASSWORD)
    earlier, secret = (operators.create_reset(stage.service, opal, ada.id) for _ in range(2))
    assert stage.all(select(PasswordReset.secret)) == [accounts.hash_secret(secret)]
    with pytest.raises(FormError, match="Many people use this password"):
        password_resets.redeem_reset(stage.service, secret, "password1234", "password1234")

    def use(password):
        try:
            password_resets.redeem_reset(stage.service, secret, password, password)
        except FormError as error:
            return error.errors
        return password

    with ThreadPoolExecutor(2) as pool:
        done = list(pool.map(use, (OTHER, OTHER + " too")))
    assert done.count({"": password_resets.INVALID_RESET}) == 1
    [password] = [each for each in done if isinstance(each, str)]
    assert stage.all(select(SignIn)) == []
    assert accounts.sign_in(stage.service, "Ada", password)
    for used in (earlier, secret, "made up", ""):
        with pytest.raises(FormError, match="invalid, used or expired"):
            password_resets.redeem_reset(stage.service, used, PASSWORD, PASSWORD)
    assert logged(stage)[-1] == ("use reset link", "Ada")


def test_a_link_for_a_password_expires_after_a_day(stage, opal):
    """In the page and in its form."""
    ada = signed_up(stage)
    secret = operators.create_reset(stage.service, opal, ada.id)
    assert "For the account <bdi>Ada</bdi>" in stage.client().get(f"/reset?secret={secret}").text
    stage.clock.move(hours=24)
    assert "invalid, used or expired" in stage.client().get(f"/reset?secret={secret}").text
    answer = stage.client().post("/reset", data={"secret": secret, "password": OTHER, "again": OTHER})
    assert answer.status_code == 422
    assert "invalid, used or expired" in answer.text


@BOTH
def test_one_operator_always_remains(stage, opal):
    """Two operators who end each other's role at the same time do not both succeed."""
    olga = stage.person("Olga", operator=True)
    bob = stage.person("Bob", operator=True)
    operators.disable_account(stage.service, opal, bob.id)

    def end(by, user):
        try:
            operators.set_role(stage.service, by, user.id, "operator", given=False)
        except FormError as error:
            return str(error)
        return "ended"

    with ThreadPoolExecutor(2) as pool:
        done = list(pool.map(end, (opal, olga), (olga, opal)))
    assert done.count("ended") == 1
    [last] = [each for each in (opal, olga) if again(stage, each).operator]
    for change in (operators.disable_account, operators.delete_account):
        with pytest.raises(FormError, match="is the only operator"):
            change(stage.service, last, last.id)
    operators.set_role(stage.service, last, last.id, "organiser", given=True)
    assert again(stage, last).organiser


@BOTH
def test_a_deleted_account_leaves_its_scores_and_no_name(stage, host, challenge, player, opal):
    """Places stay; the name is free again, and is in no table."""
    ada = player.user
    key = player.send(guess(20), note="by Ada herself")
    partner = stage.person("Ben")
    shared = stage.team(stage.challenge(host, slug="second"), "Pairs", ada, partner)
    add_organiser(stage.service, host, stage.challenge(host, slug="third"), "Ada")
    accounts.create_invitation(stage.service, ada, organiser=False)
    client = player.client()
    operators.delete_account(stage.service, opal, ada.id)
    assert stage.board(challenge) == ["deleted account"]
    assert stage.scores(key)["accuracy"] == 0.5
    assert [each.note for each in stage.all(select(Submission))] == [""]
    assert [each.name for each in stage.all(select(Team).order_by(Team.id))] == ["deleted account", "Pairs"]
    assert shared.team.code in stage.all(select(Team.code))
    assert player.team.code not in stage.all(select(Team.code))
    assert stage.all(select(Invitation)) == []
    assert client.get("/account").status_code == 303
    assert ("add organiser", "deleted account") in logged(stage)
    assert logged(stage)[-1] == ("delete account", "deleted account")
    gone = again(stage, ada)
    assert (gone.name, gone.password, gone.organiser, gone.operator) == ("deleted account", None, False, False)
    for change in (operators.delete_account, operators.enable_account, operators.create_reset):
        with pytest.raises(NotFoundError):
            change(stage.service, opal, ada.id)
    twin = stage.team(challenge, "Stoats", signed_up(stage))
    operators.delete_account(stage.service, opal, twin.user.id)  # a second team of the same challenge
    assert [each.name for each in stage.all(select(Team).where(Team.challenge_id == challenge.id))] == [
        "deleted account",
        "deleted account",
    ]


@BOTH
def test_a_deleted_account_leaves_no_address_and_no_way_in(stage, opal, host, challenge, player):
    """Tokens, identities, addresses, requests to merge and waiting mails go with it; those of others stay."""
    ada, now, asked = player.user, stage.clock(), {"created": stage.clock(), "expires": stage.clock()}
    ben = stage.team(challenge, "Otters", stage.person("Ben"))
    for each in (ada, ben.user):
        stage.token(each)
    team_changes.request_merge(stage.service, ada, challenge, "Otters")
    with stage.service.database.writing() as session:
        held = {"email": "Ada@example.org", "email_key": "ada@example.org", "mail_results": True}
        session.execute(update(User).where(User.id == ada.id).values(**held))
        session.add(Identity(issuer="campus", subject="ada-1", user_id=ada.id, created=now))
        session.add(AddressConfirmation(user_id=ada.id, email="new@example.org", expires=now))
        key = {"fingerprint": "", "submission": "", "created": now}
        session.add(IdempotencyKey(user_id=ada.id, key="once", **key))
        session.add(Invitation(secret="a", name="Ada L", email="ada@example.org", used_by=ada.id, **asked))
        session.add(Invitation(secret="b", name="Ben", email="ben@example.org", **asked))
        session.flush()
        outbox.enqueue(session, stage.service, "result", "Ada@example.org", submission=1)
        outbox.enqueue(session, stage.service, "address", "new@example.org", user=ada.id)
        for account in ("ada", "ada@example.org", "ben"):
            outbox.enqueue(session, stage.service, "reset", "", account=account)
    operators.delete_account(stage.service, opal, ada.id)
    for table in (Identity, AddressConfirmation, IdempotencyKey, TeamMerge):
        assert stage.all(select(table)) == []
    assert stage.all(select(Token.user_id)) == [ben.user.id]
    assert [each.facts for each in stage.all(select(QueuedMail))] == [{"account": "ben"}]
    assert stage.all(select(Invitation.email).order_by(Invitation.secret)) == [None, "ben@example.org"]
    gone = again(stage, ada)
    assert (gone.email, gone.email_key, gone.mail_results) == (None, None, False)
    with pytest.raises(FormError, match="disabled"):
        accounts.create_sign_in(stage.service, ada)


@BOTH
def test_challenges_are_transferred_before_their_owner_is_deleted(stage, host, challenge, player, opal):
    """The list of them is in the refusal, and their page transfers them."""
    with pytest.raises(FormError, match=r"Olga owns challenges\. Transfer them to someone else first: Animals\."):
        operators.delete_account(stage.service, opal, host.id)
    client, path = stage.client(opal), f"/operate/accounts/{host.id}"
    assert "They own these challenges" in client.get(f"{path}/delete").text
    assert client.post(f"{path}/delete", data={"action": "delete"}).status_code == 422
    stage.person("Cora")
    form = {"action": "transfer", "slug": challenge.slug}
    for name, why in (("Nobody", "No account that can sign in"), ("Ada", "takes part in this challenge")):
        answer = client.post(path, data={**form, "heir": name})
        assert answer.status_code == 422
        assert why in answer.text
    assert client.post(path, data={**form, "heir": " cora "}).status_code == 303
    assert client.post(path, data={**form, "heir": "Cora"}).status_code == 404  # no longer theirs
    assert (
        client.post(f"{path}/delete", data={"action": "delete"}).headers["location"]
        == "/operate/accounts?said=account-deleted"
    )
    with stage.service.database.reading() as session:
        assert [(each.user.name, each.owner) for each in list_organisers(session, challenge)] == [("Cora", True)]


def test_accounts_are_found_by_name_and_state(stage, opal):
    """Signs of the query language are ordinary characters, and the filter stays in the links to other pages."""
    for number in range(101):
        stage.person(f"Student {number:03}")
    stage.person("100 % sure")
    stage.person("A_b")
    client = stage.client(opal)
    assert "104 accounts." in client.get("/operate/accounts").text
    for words, count in (
        ("%", "1 account"),
        ("_", "1 account"),
        ("STUDENT 09", "10 accounts"),
        ("nobody", "0 accounts"),
    ):
        assert f">{count}." in client.get("/operate/accounts", params={"q": words}).text
    page = client.get("/operate/accounts", params={"q": "student", "state": "active"}).text
    assert "/operate/accounts?page=2&amp;q=student&amp;state=active" in page
    assert client.get("/operate/accounts?page=2&q=student&state=active").text.count('scope="row"') == 1
    assert client.get("/operate/accounts?page=3&q=student").status_code == 404
    assert client.get("/operate/accounts?state=unknown").status_code == 404
    assert client.get("/operate/accounts/999999999999999999999").status_code == 404
    operators.disable_account(stage.service, opal, 5)
    assert ">1 account." in client.get("/operate/accounts?state=disabled").text
    assert ">1 account." in client.get("/operate/accounts?state=operators").text


def test_the_log_shows_who_did_what(stage, host, challenge, opal):
    """It has the actions on accounts and organisers, and those of the command line; not what is in challenges."""
    stage.person("Cora")
    add_organiser(stage.service, host, challenge, "Cora")
    cora = stage.all(select(User).where(User.name == "Cora"))[0]
    operators.set_role(stage.service, opal, cora.id, "organiser", given=True)
    operators.disable_account(stage.service, None, cora.id)
    client = stage.client(opal)

    def lines(**query):
        page = client.get("/operate/log", params=query).text
        cells = re.findall(r'data-name="(?:By|Action)">(?:<bdi>)?([^<]+)', page)
        return list(zip(cells[::2], cells[1::2], strict=True))

    newest_first = [
        ("command line", "disabled the account"),
        ("Opal", "made an organiser"),
        ("Olga", "added a co-organiser"),
    ]
    assert lines() == lines(q="cora") == newest_first
    assert lines(q="opal") == newest_first[1:2]
    assert lines(action="disable account") == newest_first[:1]
    assert client.get("/operate/log?action=create").status_code == 404


@pytest.mark.parametrize("name", ["a\u3164b", "a\u2800b", "x\ufe0f", "a\u034fb", "\u200badmin", "ok\u202e"])
def test_characters_that_nobody_sees_are_refused(name):
    """Also those that count as printable, such as Hangul fillers and variation selectors."""
    with pytest.raises(FormError, match="Remove invisible characters"):
        accounts.check_name(name)


@pytest.mark.parametrize("name", ["Ada שלום", "אדה b", "محمد Ali"])
def test_names_of_two_directions_are_refused(name):
    """A reader could not tell in which order the parts were written."""
    with pytest.raises(FormError, match="letters of one direction"):
        accounts.check_name(name)


@pytest.mark.parametrize("name", ["אדה 2", "محمد", "Łukasz Żółć", "Ада", "愛 達", "O'Neil-3"])
def test_names_of_all_scripts_are_taken(name):
    """As they are written."""
    assert accounts.check_name(name) == name


@pytest.mark.parametrize("name", ["Аdа", "A da", "ADA", "Αda"])
def test_nobody_takes_a_name_that_looks_like_another(make_stage, name):
    """Cyrillic and Greek letters, spaces and case make no other name; a deleted account's name is free."""
    stage = make_stage(sign_up="open")
    ada = accounts.sign_up(stage.service, "Ada", PASSWORD, PASSWORD, "")
    with pytest.raises(FormError, match="This name is taken"):
        accounts.sign_up(stage.service, name, PASSWORD, PASSWORD, "")
    with pytest.raises(FormError, match="This name is reserved"):
        accounts.sign_up(stage.service, "Deleted Account", PASSWORD, PASSWORD, "")
    operators.delete_account(stage.service, None, ada.id)
    assert accounts.sign_up(stage.service, name, PASSWORD, PASSWORD, "").id != ada.id


@BOTH
def test_of_two_look_alikes_who_sign_up_at_once_one_gets_the_name(make_stage):
    """No row is shared that the database could refuse."""
    stage = make_stage(sign_up="open")

    def join(name):
        try:
            return accounts.sign_up(stage.service, name, PASSWORD, PASSWORD, "").name
        except FormError as error:
            return error.errors

    with ThreadPoolExecutor(4) as pool:
        done = list(pool.map(join, ["Ada", "Аda", "Adа", "Ad a"]))
    assert len([each for each in done if isinstance(each, str)]) == 1


@pytest.mark.parametrize(
    "password", ["password123", "PassWord2024!", "1234567890", "qwertyuiop", "!!sunshine!!", "ｐａｓｓｗｏｒｄ１２３"]
)
def test_common_passwords_are_refused(password):
    """In any case and form, with digits and signs around them."""
    with pytest.raises(FormError, match="Many people use this password"):
        accounts.check_password(password, password, "Ada")


def test_the_list_of_common_passwords_is_complete():
    """It is part of the package: no network is needed, and notes in it are not passwords."""
    held = accounts._common_passwords()
    assert len(held) == 8354
    assert all(len(each) >= 8 and each == each.lower() for each in held)
    for password in (PASSWORD, OTHER, "staple-42-giraffe"):
        accounts.check_password(password, password, "Ada")


@BOTH
def test_the_command_line_manages_accounts_beside_a_server(stage, database):
    """As a process, while the app has the database open."""
    stage.clock.at = datetime.now(UTC)  # that of the process
    stage.person("Opal", operator=True)
    ada = signed_up(stage)

    def admin(*words, stdin=None):
        command = [sys.executable, "-m", "tallymark", "admin", *words, "--data", str(stage.settings.folder)]
        command += ["--database", database] if database else []
        return subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, input=stdin)

    told = json.loads(admin("list", "--json").stdout)
    assert {each["name"]: each["operator"] for each in told} == {"Ada": False, "Host of Ada": False, "Opal": True}
    assert "Ada" in admin("list").stdout
    said = admin("reset-password", "ada", "--url", "https://scores.example.org").stdout
    [secret] = re.findall(r"https://scores\.example\.org/reset\?secret=(\S+)", said)
    password_resets.redeem_reset(stage.service, secret, OTHER, OTHER)
    assert accounts.sign_in(stage.service, "Ada", OTHER)
    assert admin("make-operator", "Ada").stdout == "Ada is an operator.\n"
    assert admin("make-organiser", "Ada").returncode == 0
    assert (again(stage, ada).operator, again(stage, ada).organiser) == (True, True)
    assert admin("disable", "Ada").stdout == "Ada is disabled.\n"
    assert admin("enable", "Ada").returncode == 0
    assert admin("delete", "Ada", stdin="n\n").returncode == 130
    assert again(stage, ada).deleted is None
    assert admin("delete", "Ada", "--yes").stdout == "Ada is deleted.\n"
    assert again(stage, ada).deleted is not None
    for words, why in (
        (("disable", "Opal"), "Opal is the only operator"),
        (("disable", "Nobody"), "No account has the name 'Nobody'"),
    ):
        refused = admin(*words)
        assert (refused.returncode, refused.stdout) == (2, "")
        assert refused.stderr.startswith(f"tallymark: {why}")
    assert {each.user_id for each in stage.all(select(AuditEntry)) if each.action != "use reset link"} == {None}


def test_the_command_line_names_a_folder_without_data(tmp_path):
    """Nothing is created there."""
    command = [sys.executable, "-m", "tallymark", "admin", "list", "--data", str(tmp_path / "none")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT)
    assert done.returncode == 2
    assert "`--data` must be the data folder of the app" in done.stderr
    assert list(tmp_path.iterdir()) == []
