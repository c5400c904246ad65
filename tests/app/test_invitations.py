"""Invitations: lists of people, links for several, and who they let in."""

from __future__ import annotations

import csv
import io
import re
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import delete, select

from tallymark.app.domain import accounts, invitations
from tallymark.app.domain.errors import FormError
from tallymark.app.store.models import AuditEntry, Challenge, Invitation, User, Version
from tests.app.stage import BOTH

PASSWORD = "correct horse battery"
PEOPLE = {"action": "people", "how": "csv", "days": "14", "challenge": ""}


def links_of(answer):
    """The rows of a downloaded file of links."""
    assert answer.headers["content-disposition"] == 'attachment; filename="invitations.csv"'
    return list(csv.DictReader(io.StringIO(answer.content.decode("utf-8-sig"))))


def secret_of(link):
    return link.partition("invitation=")[2]


def sign_up(stage, name, secret):
    form = {"name": name, "password": PASSWORD, "again": PASSWORD, "invitation": secret}
    return stage.client().post("/sign-up", data=form)


def try_to_sign_up(stage, name, secret):
    try:
        return accounts.sign_up(stage.service, name, PASSWORD, PASSWORD, secret).name
    except FormError as error:
        return error.errors


@pytest.mark.slow
def test_a_class_of_200_students_signs_up_from_a_csv(stage, host, challenge):
    """The organiser uploads a list and downloads a link for each student; each link works once and leads to the
    challenge."""
    content = "Matriculation;Name;E-Mail\n" + "".join(f"{n};Student {n};student{n}@example.edu\n" for n in range(200))
    answer = stage.client(host).post(
        "/invitations", data={**PEOPLE, "challenge": challenge.slug}, files={"list": ("class.csv", content)}
    )
    rows = links_of(answer)
    assert [row["email"] for row in rows] == [f"student{n}@example.edu" for n in range(200)]
    assert len({row["link"] for row in rows}) == 200
    for row in rows:
        signed_up = sign_up(stage, row["name"], secret_of(row["link"]))
        assert (signed_up.status_code, signed_up.headers["location"]) == (303, "/challenges/animals?said=welcome")
    assert sign_up(stage, "One more", secret_of(rows[0]["link"])).status_code == 422
    users = stage.all(select(User).where(User.name.startswith("Student")))
    assert len(users) == 200
    assert not any(each.organiser or each.operator or each.email for each in users)
    page = stage.client(host).get("/invitations?page=2").text
    assert "Invitations 101 to 200 of 200" in page
    assert page.count("1 of 1") == 100
    [logged] = stage.all(select(AuditEntry).where(AuditEntry.action == "invite"))
    assert (logged.challenge_id, logged.details) == (challenge.id, {"people": 200, "mailed": False})


def test_all_wrong_lines_are_listed_at_once_and_nobody_is_invited(stage, host):
    """Each has its number; the list stays in the form."""
    people = "Ada\nben@example.org\nnot@an@address\n\nADA\nada@localhost\nEve <eve@example.org>\nBEN@example.org"
    page = stage.client(host).post("/invitations", data={**PEOPLE, "people": people})
    assert page.status_code == 422
    found = re.findall(r'class="place">(Line \d+)</span> <span dir="auto">([^<]*)', page.text)
    assert found == [
        ("Line 3", "&#39;not@an@address&#39; is not an e-mail address"),
        ("Line 5", "the same as in line 1"),
        ("Line 6", "&#39;ada@localhost&#39; is not an e-mail address"),
        ("Line 8", "the same as in line 2"),
    ]
    assert "4 lines are wrong" in page.text
    assert "not@an@address\n" in page.text
    assert stage.all(select(Invitation)) == []


@pytest.mark.parametrize(
    ("text", "people"),
    [
        ("Ada\n\n  Ben  \n", [("Ada", None), ("Ben", None)]),
        ("ada@example.org\r\nben@example.org\r\n", [(None, "ada@example.org"), (None, "ben@example.org")]),
        ("Ada Lovelace <ada@example.org>", [("Ada Lovelace", "ada@example.org")]),
        ("ada@example.org,Ada", [("Ada", "ada@example.org")]),
        ("Ada\tada@example.org", [("Ada", "ada@example.org")]),
        ('name,email\n"Lovelace, Ada",ada@example.org', [("Lovelace, Ada", "ada@example.org")]),
        ("Email;x;Name\nada@example.org;1;Ada", [("Ada", "ada@example.org")]),
        ("email\nada@example.org", [(None, "ada@example.org")]),
    ],
)
def test_lists_are_read_as_people_write_them(text, people):
    """Lines, addresses with names, and CSV with any common delimiter."""
    assert invitations.parse_people(text) == [invitations.Invitee(*each) for each in people]


@pytest.mark.parametrize(
    ("data", "files", "told"),
    [
        ({"people": ""}, {}, "Enter a name or an e-mail address in each line"),
        ({"people": "Ada"}, {"list": ("x.csv", "Ben")}, "not both"),
        ({}, {"list": ("x.csv", b"M\xfcller")}, "The file is not valid UTF-8"),
        ({}, {"list": ("x.csv", b"PK\x03\x04\0\0")}, "The file is not a text"),
        ({}, {"list": ("x.csv", b"x" * 600_000)}, "at most 500 kB"),
        ({"people": "\n".join(f"Person {n}" for n in range(2001))}, {}, "at most 2,000 people at once"),
        ({"people": "x" * 201}, {}, "at most 200 printable characters"),
        ({"people": "a\u202eb"}, {}, "at most 200 printable characters"),
        ({"people": '"' + "x" * 140_000}, {}, "not valid CSV"),
        ({"people": "Ada", "days": "0"}, {}, "from 1 to 365"),
        ({"people": "Ada", "days": "²"}, {}, "from 1 to 365"),
        ({"people": "Ada", "challenge": "theirs"}, {}, "Choose a challenge that you organise"),
        ({"people": "Ada", "how": "mail"}, {}, "an e-mail address is missing"),
        ({"people": "ada@example.org", "how": "mail"}, {}, "This server does not send e-mail"),
        ({"action": "link", "uses": "10001", "link_days": "3"}, {}, "from 1 to 10,000"),
    ],
)
def test_what_cannot_be_done_is_explained(stage, host, data, files, told):
    """Beside the field, and nobody is invited."""
    stage.challenge(stage.person("Rita", organiser=True), slug="theirs")
    page = stage.client(host).post("/invitations", data={**PEOPLE, **data}, files=files)
    assert page.status_code == 422
    assert told in page.text
    assert stage.all(select(Invitation)) == []


def test_no_cell_of_the_links_is_a_formula(stage, host):
    """What spreadsheets would compute is quoted."""
    people = '=HYPERLINK("x")\n+1\n-1\nAda'
    rows = links_of(stage.client(host).post("/invitations", data={**PEOPLE, "people": people}))
    assert [row["name"] for row in rows[1:3]] == ["'+1", "'-1"]
    assert rows[0]["name"].startswith("'=HYPERLINK")
    assert rows[-1]["name"] == "Ada"


def test_names_with_an_at_sign_are_refused_as_addresses(stage, host):
    """A formula that looks like an address is none."""
    page = stage.client(host).post("/invitations", data={**PEOPLE, "people": "@SUM(A1)"})
    assert "is not an e-mail address" in page.text


@BOTH
def test_a_shared_link_admits_exactly_as_many_as_it_says(stage, host):
    """Of twelve who use it at the same time, five sign up."""
    secret = invitations.create_shared_link(stage.service, host, 5, 14, None)
    with ThreadPoolExecutor(12) as pool:
        found = list(pool.map(lambda n: try_to_sign_up(stage, f"Person {n}", secret), range(12)))
    assert sum(isinstance(each, str) for each in found) == 5
    assert found.count({"": accounts.INVALID_INVITATION}) == 7
    assert len(stage.all(select(User))) == 6
    [held] = stage.all(select(Invitation))
    assert (held.uses, held.max_uses) == (5, 5)


@BOTH
def test_a_name_that_is_taken_uses_nothing_up(stage, host):
    """Who chooses another name can use the link still."""
    secret = invitations.create_shared_link(stage.service, host, 1, 14, None)
    assert try_to_sign_up(stage, "Olga", secret) == {
        "name": "This name is taken. Choose one that does not look like another."
    }
    assert try_to_sign_up(stage, "Ada", secret) == "Ada"


def test_a_shared_link_expires_and_can_be_revoked(stage, host):
    """Then it is answered like one that never was; only its creator revokes it."""
    client = stage.client(host)
    form = {"action": "link", "uses": "30", "link_days": "2", "link_challenge": ""}
    first, second = (
        re.search(r"invitation=([\w-]+)", client.post("/invitations", data=form).text)[1] for _ in range(2)
    )
    assert try_to_sign_up(stage, "Ada", first) == "Ada"
    revoke = {"action": "revoke", "invitation": str(stage.all(select(Invitation.id).order_by(Invitation.id))[0])}
    rival = stage.client(stage.person("Rita", organiser=True))
    assert rival.post("/invitations", data=revoke).status_code == 404
    assert client.post("/invitations", data={**revoke, "invitation": "x"}).status_code == 400
    assert client.post("/invitations", data=revoke).status_code == 303
    assert client.post("/invitations", data=revoke).status_code == 404
    assert try_to_sign_up(stage, "Ben", first) == {"": accounts.INVALID_INVITATION}
    assert try_to_sign_up(stage, "Ben", second) == "Ben"
    stage.clock.move(days=2)
    assert try_to_sign_up(stage, "Cem", second) == {"": accounts.INVALID_INVITATION}
    assert "1 of 30" in (page := client.get("/invitations").text)
    assert {"expired", "revoked"} <= set(re.findall(r"expired|revoked", page))


def test_a_new_link_for_the_same_person_replaces_the_earlier_one(stage, host, challenge):
    """So that a form sent twice leaves one link for each; links to other challenges and of others stay."""
    client, rival = stage.client(host), stage.client(stage.person("Rita", organiser=True))
    form = {**PEOPLE, "people": "Ada\nben@example.org"}
    first = links_of(client.post("/invitations", data=form))
    others = links_of(client.post("/invitations", data={**form, "challenge": challenge.slug}))
    theirs = links_of(rival.post("/invitations", data=form))
    second = links_of(client.post("/invitations", data=form))
    with stage.service.database.reading() as session:
        works = [
            [accounts.find_valid_invitation(session, stage.service, secret_of(row["link"])) is not None for row in rows]
            for rows in (first, others, theirs, second)
        ]
    assert works == [[False] * 2, [True] * 2, [True] * 2, [True] * 2]


def test_an_invitation_to_a_challenge_names_it(stage, host, challenge):
    """Who has an account already signs in and gets there too."""
    secret = invitations.create_shared_link(stage.service, host, 3, 14, challenge)
    page = stage.client().get(f"/sign-up?invitation={secret}").text
    assert "You are invited to the challenge “Animals”." in page
    assert 'href="/sign-in?next=/challenges/animals"' in page


def test_links_are_stored_as_hashes_only(stage, host):
    """No file of the data has one."""
    [row] = links_of(stage.client(host).post("/invitations", data={**PEOPLE, "people": "Ada"}))
    content = b"".join(each.read_bytes() for each in stage.settings.folder.rglob("*") if each.is_file())
    assert accounts.hash_secret(secret_of(row["link"])).encode() in content
    assert secret_of(row["link"]).encode() not in content


def test_deleting_a_challenge_keeps_its_invitations(stage, host, challenge):
    """They lead to the list of challenges then."""
    secret = invitations.create_shared_link(stage.service, host, 3, 14, challenge)
    with stage.service.database.writing() as session:
        session.execute(delete(Version))
        session.execute(delete(Challenge))
    assert sign_up(stage, "Ada", secret).headers["location"] == "/challenges?said=welcome"
