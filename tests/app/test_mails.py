"""Mails: sent by a real server, kept while it is lost, and never in the way of a request."""

from __future__ import annotations

import datetime
import ssl
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import select, update

from tallymark.app.domain import accounts, invitations, mails
from tallymark.app.domain.lifecycle import take_step
from tallymark.app.domain.outbox import enqueue
from tallymark.app.store.models import Invitation, QueuedMail, Submission, User
from tests.app.mail_server import free_port, login, running_mail_server
from tests.app.stage import BOTH, guess
from tests.waiting import until

pytestmark = pytest.mark.slow

PASSWORD = "correct horse battery"
FROM = "scores@example.org"


@pytest.fixture
def server(mail_server):
    return mail_server


def people(*addresses):
    return [invitations.Invitee(None, each) for each in addresses]


def host_of(stage):
    return stage.person("Olga", organiser=True)


def queue(stage):
    return stage.all(select(QueuedMail).order_by(QueuedMail.id))


def give_address(stage, user, address="ada@example.org", **values):
    with stage.service.database.writing() as session:
        held = {"email": address, "email_key": address.lower(), **values}
        session.execute(update(User).where(User.id == user.id).values(**held))


@BOTH
def test_invitations_are_mailed_and_confirm_the_address(post, server):
    """The form answers at once; the mail has the link, and whoever opens it has this address."""
    host = host_of(post)
    challenge = post.challenge(host)
    form = {"action": "people", "how": "mail", "days": "3", "challenge": "animals", "people": "Ada <ada@example.org>"}
    answer = post.client(host).post("/invitations", data=form)
    assert (answer.status_code, server.mails) == (303, [])
    assert mails.send_due(post.service) == 1
    [mail] = server.mails
    assert server.recipients == [["ada@example.org"]]
    assert (mail["To"], mail["From"]) == ("ada@example.org", f"tallymark <{FROM}>")
    assert mail["Subject"] == f"Invitation to {challenge.title}"
    assert mail.get_content_type() == "text/plain"
    assert mail["Auto-Submitted"] == "auto-generated"
    assert "Hello Ada," in server.texts[0]
    assert "Olga invites you" in server.texts[0]
    user = accounts.sign_up(post.service, "Ada", PASSWORD, PASSWORD, server.secret())
    assert (user.email, queue(post)) == ("ada@example.org", [])


def test_no_secret_is_stored_while_a_mail_waits(post, server):
    """The link is made when the mail is sent."""
    invitations.mail_links(post.service, host_of(post), people("ada@example.org"), None, 3)
    [row] = queue(post)
    assert row.facts == {"invitation": 1}
    mails.send_due(post.service)
    content = b"".join(each.read_bytes() for each in post.settings.folder.rglob("*") if each.is_file())
    assert server.secret().encode() not in content
    assert accounts.hash_secret(server.secret()).encode() in content


def test_an_invitation_does_not_name_a_draft(post, server):
    """Neither the mail nor the page of the link, until the challenge is published."""
    host = host_of(post)
    draft = post.challenge(host, publish="", title="Secret plans", slug="plans")
    invitations.mail_links(post.service, host, people("ada@example.org"), draft, 3)
    mails.send_due(post.service)
    assert "Secret plans" not in server.texts[-1]
    link = f"/sign-up?invitation={server.secret()}"
    assert "You are invited as a participant." in post.client().get(link).text
    take_step(post.service, host, draft, "publish")
    assert "You are invited to the challenge “Secret plans”." in post.client().get(link).text


@BOTH
def test_a_lost_server_loses_no_mail(post, server):
    """Mails wait, in growing intervals, and go out when the server is back."""
    server.stop()
    invitations.mail_links(post.service, host_of(post), people("ada@example.org", "ben@example.org"), None, 14)
    for _ in range(5):
        assert mails.send_due(post.service) == 0
        post.clock.move(hours=4)
    assert len(queue(post)) == 2
    server.start()
    assert mails.send_due(post.service) == 2
    assert {each[0] for each in server.recipients} == {"ada@example.org", "ben@example.org"}
    assert queue(post) == []
    assert accounts.sign_up(post.service, "Ada", PASSWORD, PASSWORD, server.secret(0)).email


def test_a_mail_is_not_tried_again_at_once(post, server):
    """A server that is not there is asked once for all mails, and again after a minute."""
    server.stop()
    invitations.mail_links(post.service, host_of(post), people("ada@example.org", "ben@example.org"), None, 14)
    mails.send_due(post.service)
    mails.send_due(post.service)
    assert [each.attempts for each in queue(post)] == [1, 1]
    server.start()
    assert mails.send_due(post.service) == 0
    post.clock.move(minutes=1)
    assert mails.send_due(post.service) == 2


def test_a_mail_is_given_up_after_three_days(post, server):
    """And the organiser sees that nobody got it."""
    server.stop()
    host = host_of(post)
    invitations.mail_links(post.service, host, people("ada@example.org"), None, 14)
    for _ in range(20):
        mails.send_due(post.service)
        post.clock.move(hours=4)
    assert queue(post) == []
    assert "not delivered" in post.client(host).get("/invitations").text


def test_a_refused_address_does_not_hold_up_others(post, server):
    """What is refused for good is given up, what is refused for now is sent later."""
    server.refused = {"no@example.org": "550 No such user", "later@example.org": "451 Try later"}
    host = host_of(post)
    addresses = ("no@example.org", "later@example.org", "ada@example.org")
    invitations.mail_links(post.service, host, people(*addresses), None, 14)
    assert mails.send_due(post.service) == 1
    assert server.recipients == [["ada@example.org"]]
    assert [each.recipient for each in queue(post)] == ["later@example.org"]
    states = post.all(select(Invitation.mail).order_by(Invitation.id))
    assert states == ["failed", "sent", "sent"]
    server.refused = {}
    post.clock.move(minutes=1)
    assert mails.send_due(post.service) == 1


def test_an_answer_that_is_lost_sends_the_same_mail_again(post, server):
    """With the same id, so that mail programs show it once, and a link that works."""
    server.answers = ["421 Closing"]
    invitations.mail_links(post.service, host_of(post), people("ada@example.org"), None, 14)
    assert mails.send_due(post.service) == 0
    post.clock.move(minutes=1)
    assert mails.send_due(post.service) == 1
    assert server.mails[0]["Message-ID"].endswith("tallymark@example.org>")
    assert accounts.sign_up(post.service, "Ada", PASSWORD, PASSWORD, server.secret())


@BOTH
def test_several_processes_send_each_mail_once(post, server, make_stage):
    """A mail that one process writes is left alone by the others."""
    addresses = [f"person{n}@example.org" for n in range(30)]
    invitations.mail_links(post.service, host_of(post), people(*addresses), None, 14)
    stages = [post, *(make_stage(smtp_url=post.settings.smtp_url, mail_from=FROM) for _ in range(3))]
    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(lambda each: mails.send_due(each.service), stages)) == 30
    assert sorted(each for [each] in server.recipients) == sorted(addresses)


def test_a_revoked_invitation_is_not_mailed(post, server):
    """Nor one that a new one replaced."""
    host = host_of(post)
    for _ in range(2):
        invitations.mail_links(post.service, host, people("ada@example.org"), None, 14)
    assert mails.send_due(post.service) == 1
    assert queue(post) == []


@pytest.mark.parametrize(
    "evil", ["Deer\r\nBcc: eve@example.org", "Deer\nX: y\n\nBody", "Deer\u2028Bcc: x", "Ünïcode 🦌"]
)
def test_no_text_adds_a_header(post, server, evil):
    """Titles and names stay in one line, whatever they have."""
    host = host_of(post)
    challenge = post.challenge(host)
    with post.service.database.writing() as session:
        session.execute(update(type(challenge)).values(title=evil))
    invitations.mail_links(post.service, host, people("ada@example.org"), challenge, 3)
    assert mails.send_due(post.service) == 1
    [mail] = server.mails
    assert server.recipients == [["ada@example.org"]]
    assert mail["Bcc"] is None
    assert mail["X"] is None
    assert mail["Subject"].startswith("Invitation to " + evil[:4])


@BOTH
def test_results_are_mailed_to_those_who_want_them(make_stage, server):
    """With a link and no score; a rescored submission causes no second mail."""
    stage = make_stage(smtp_url=f"smtp://127.0.0.1:{server.port}", mail_from=FROM)
    host, ada, ben = host_of(stage), stage.person("Ada"), stage.person("Ben")
    challenge = stage.challenge(host)
    team = stage.team(challenge, "Badgers", ada)
    give_address(stage, ada, mail_results=True)
    give_address(stage, ben, "ben@example.org")
    key = team.send(guess(17))
    stage.team(challenge, "Otters", ben).send(guess(9))
    assert mails.send_due(stage.service) == 1
    assert server.recipients == [["ada@example.org"]]
    assert server.mails[0]["Subject"] == "Animals: your submission has been scored"
    assert f"/submissions/{key}" in server.texts[0]
    assert "42.5" not in server.texts[0]
    with stage.service.database.writing() as session:
        session.execute(update(Submission).values(state="queued", work="score", claimed_by=None))
    stage.work()
    team.send(b"row_id,label\nr000,lynx\nr000,otter\n")
    mails.send_due(stage.service)
    assert [each["Subject"] for each in server.mails[1:]] == ["Animals: your submission was rejected"]


def test_the_worker_sends_while_the_app_runs(make_stage, server):
    """Its thread looks at the outbox by itself."""
    stage = make_stage(smtp_url=f"smtp://127.0.0.1:{server.port}", mail_from=FROM)
    with stage.client() as client:
        assert client.get("/ready").status_code == 200
        invitations.mail_links(stage.service, host_of(stage), people("ada@example.org"), None, 14)
        until(lambda: server.mails)


def test_a_disabled_account_gets_no_results(post, server):
    """What was queued before is dropped."""
    host, ada = host_of(post), post.person("Ada")
    team = post.team(post.challenge(host), "Badgers", ada)
    give_address(post, ada, mail_results=True)
    team.send(guess(3))
    give_address(post, ada, disabled=post.clock())
    assert mails.send_due(post.service) == 0
    assert (server.mails, queue(post)) == ([], [])


def test_without_a_server_nothing_is_queued(stage, host, challenge):
    """And nothing is sent."""
    ada = stage.person("Ada")
    give_address(stage, ada, mail_results=True)
    stage.team(challenge, "Badgers", ada).send(guess(3))
    assert (queue(stage), mails.send_due(stage.service)) == ([], 0)


@pytest.mark.parametrize("encryption", ["starttls", "tls"])
def test_the_server_is_reached_with_encryption_and_a_password(make_stage, tmp_path, monkeypatch, encryption):
    """Its certificate is checked; without trust in it, or with another password, nothing is sent."""
    certificate, key = self_signed(tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    options = {"authenticator": login("app", "p@ss word"), "auth_required": encryption == "starttls"}
    options |= {"auth_require_tls": False, "ssl_context": context} if encryption == "tls" else {}
    options |= {"tls_context": context, "require_starttls": True} if encryption == "starttls" else {}
    scheme, ending = ("smtps", "") if encryption == "tls" else ("smtp", "?starttls")
    with running_mail_server(**options) as server:
        url = f"{scheme}://app:{{}}@127.0.0.1:{server.port}{ending}"
        stage = make_stage(smtp_url=url.format("p%40ss%20word"), mail_from=FROM)
        with stage.service.database.writing() as session:
            enqueue(session, stage.service, "sign-up", "ada@example.org")
        assert mails.send_due(stage.service) == 0
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        stage.clock.move(minutes=1)
        other = make_stage(smtp_url=url.format("wrong"), mail_from=FROM, clock=stage.clock)
        assert mails.send_due(other.service) == 0
        stage.clock.move(minutes=5)
        assert mails.send_due(stage.service) == 1
        assert server.recipients == [["ada@example.org"]]


def self_signed(folder):
    """A certificate for this machine, and its key."""
    from ipaddress import ip_address

    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .sign(key, hashes.SHA256())
    )
    certificate, secret = folder / "cert.pem", folder / "key.pem"
    certificate.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    form = serialization.PrivateFormat.PKCS8
    secret.write_bytes(key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption()))
    return certificate, secret


def test_a_server_that_is_not_there_does_not_slow_down_a_request(make_stage):
    """The form answers without a connection."""
    stage = make_stage(smtp_url=f"smtp://127.0.0.1:{free_port()}", mail_from=FROM)
    answer = stage.client().post("/forgot-password", data={"account": "Ada"})
    assert answer.status_code == 200
    assert len(queue(stage)) == 1
