"""Routes beyond who may use them: what forms do, and what they say when something is wrong."""

from __future__ import annotations

import pytest
from sqlalchemy import select

from tallymark.app.routes.organise import _percent
from tallymark.app.store.models import Challenge, Invitation, User, Version
from tests.app.stage import FORM, guess, table, truth

PASSWORD = "correct horse battery"


def _files(**held: bytes):
    return {name: (f"{name}.csv", content) for name, content in held.items()}


@pytest.mark.parametrize(
    ("files", "data", "told"),
    [
        ({"answers": table(truth())}, {}, "Choose a file."),
        ({"submission": table(truth())}, {}, "Choose a file."),
        (
            {"answers": table(truth()), "submission": b"row_id,label\nr000,a\nr000,b\n"},
            {},
            "The submission was rejected",
        ),
        ({"answers": b"row_id,label\nr000,a\nr000,b\n", "submission": table(truth())}, {}, "The answers were rejected"),
        ({"answers": table(truth()), "submission": table(truth())}, {"metrics": "nonsense"}, "no metric"),
        ({"answers": b"\x00", "submission": table(truth())}, {}, "answers"),
    ],
)
def test_what_cannot_be_analysed_is_told(stage, files, data, told):
    """Two files that cannot be scored come back with the form as it was filled in."""
    answer = stage.client().post("/analyse", files=_files(**files), data={"id_column": "row_id", **data})
    assert answer.status_code == 422
    assert told in answer.text
    assert 'value="row_id"' in answer.text


def test_two_files_are_analysed_and_forgotten(stage):
    """The scores are on the page, or in a report to keep; nothing of the files stays."""
    files = _files(answers=table(truth()), submission=table(guess(30)))
    page = stage.client().post("/analyse", files=files, data={"intervals": "1"})
    assert page.status_code == 200
    assert "75.0" in page.text
    assert "tallymark score answers.csv submission.csv --ci 0.95" in page.text
    report = stage.client().post("/analyse", files=files, data={"form": "html"})
    assert report.headers["content-disposition"] == 'attachment; filename="score.html"'
    assert "75.0" in report.text
    assert [each for each in (stage.settings.folder / "files").rglob("*") if each.is_file()] == []
    content = b"".join(each.read_bytes() for each in stage.settings.folder.rglob("*") if each.is_file())
    assert b"lynx" not in content


def test_a_new_password_signs_out_everywhere_else(make_stage):
    """A new password signs out everywhere else, and an invitation is shown once, as a link that works."""
    stage = make_stage(sign_up="open", url="http://scores.example.org")
    one, two = stage.client(), stage.client()
    form = {"name": "Olga", "password": PASSWORD, "again": PASSWORD}
    assert one.post("/sign-up", data=form).status_code == 303
    assert two.post("/sign-in", data=form).status_code == 303
    assert "Signed in on 2 devices" in one.get("/account").text
    new = {"action": "password", "password": "another long one", "again": "another long one"}
    assert "Wrong password" in one.post("/account", data={**new, "old": "wrong"}).text
    assert one.post("/account", data={**new, "old": PASSWORD}).headers["location"] == "/account?said=password"
    assert one.get("/account").status_code == 200
    assert two.get("/account").status_code == 303
    assert one.post("/account", data={"action": "dance"}).status_code == 400
    with stage.service.database.writing() as session:
        session.get_one(User, 1).organiser = True
    page = one.post("/account", data={"action": "invite", "role": "participant"}).text
    link = page.split("http://scores.example.org/sign-up?invitation=")[1][:43]
    assert "You are invited as a participant" in stage.client().get(f"/sign-up?invitation={link}").text
    assert link not in one.get("/account").text
    assert len(stage.all(select(Invitation))) == 1


@pytest.mark.parametrize(
    ("data", "files", "told"),
    [
        ({"action": "answers"}, {}, "Choose a file."),
        ({"action": "answers"}, {"answers": b"row_id,label\nr000,a\nr000,b\n"}, "The answers were rejected"),
        ({**FORM, "action": "save", "quota": "none"}, {}, "Enter a whole number from 1 to 1,000."),
        ({**FORM, "action": "save", "metrics": "rmse"}, {}, "rmse"),
    ],
)
def test_changes_that_cannot_be_are_told(stage, host, challenge, data, files, told):
    """A challenge stays as it is, and the form says what is wrong."""
    answer = stage.client(host).post(f"/organise/{challenge.slug}", data=data, files=_files(**files))
    assert answer.status_code == 422
    assert told in answer.text
    assert len(stage.all(select(Version))) == 1
    assert stage.all(select(Challenge.quota)) == [5]


@pytest.mark.parametrize("files", [{}, {"answers": b"id,label\n1,a\n1,b\n"}], ids=["no file", "a rejected file"])
def test_what_was_written_beside_rejected_answers_is_kept(stage, host, challenge, files):
    """The note is in its field again, and the challenge is as it was."""
    data = {"action": "answers", "answers_note": "Two birds were foxes"}
    answer = stage.client(host).post(f"/organise/{challenge.slug}", data=data, files=_files(**files))
    assert answer.status_code == 422
    assert 'value="Two birds were foxes"' in answer.text
    assert f'value="{challenge.title}"' in answer.text


@pytest.mark.parametrize("percent", ["40", "5", "12.5", "33.3333333333333333", "0.1", "29"])
def test_the_share_of_a_split_comes_back_as_it_was_given(percent):
    """Without an exponent, and as a number that is read as the same share."""
    shown = _percent(float(percent) / 100)
    assert "e" not in shown
    assert float(shown) == float(percent)


def test_the_form_shows_the_share_of_a_split(stage, host):
    """In percent, as it was typed."""
    data = {**FORM, "slug": "split", "split": "seeded", "split_share": "40", "split_seed": "1"}
    assert stage.client(host).post("/organise/new", data=data, files=_files(answers=table(truth()))).status_code == 303
    assert 'name="split_share" value="40"' in " ".join(stage.client(host).get("/organise/split").text.split())


def test_an_unknown_action_is_refused(stage, host, challenge):
    """An action that is none is refused, and so is a challenge without answers."""
    assert stage.client(host).post(f"/organise/{challenge.slug}", data={"action": "burn"}).status_code == 400
    answer = stage.client(host).post("/organise/new", data={**FORM, "slug": "other"})
    assert answer.status_code == 422
    assert "Choose a file." in answer.text


def test_what_was_done_is_said_once(stage, host, challenge):
    """A page says what was done by a word that it knows, and nothing that others write into its address."""
    client = stage.client(host)
    assert "The challenge is closed." in client.get(f"/organise/{challenge.slug}?said=closed").text
    assert "hacked" not in client.get(f"/organise/{challenge.slug}?said=hacked").text


def test_ready_says_what_is_wrong(stage):
    """Without its threads the app answers that it is not ready; with them it is."""
    assert stage.client().get("/ready").json() == {"ready": False, "database": True, "files": True, "worker": False}
    with stage.client() as client:
        answer = client.get("/ready")
        assert (answer.status_code, answer.json()["ready"]) == (200, True)


def test_a_database_without_tables_is_not_ready(stage):
    """A database that answers with errors is told as not working."""
    with stage.service.database.engine.begin() as connection:
        connection.exec_driver_sql("ALTER TABLE users RENAME TO gone")
    assert stage.client().get("/ready").json()["database"] is False


@pytest.mark.parametrize("name", ["app.css", "report.css", "upload.js", "mark.svg"])
def test_static_files_have_their_content_types(stage, name):
    """Styles, scripts and the mark have their own types."""
    kinds = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}
    answer = stage.client().get(f"/static/{name}")
    assert answer.headers["content-type"].startswith(kinds[name.rpartition(".")[2]])


@pytest.mark.parametrize("name", ["..%2Fcreate.py", "__init__.py", "%2e%2e/settings.py", "templates", "x.css"])
def test_nothing_else_is_static(stage, name):
    """No other file of the app or the machine can be fetched."""
    assert stage.client().get(f"/static/{name}").status_code == 404
