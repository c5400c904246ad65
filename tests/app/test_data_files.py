"""Data files: versioned, with checksums, resumable, and only for whom the challenge says; never the answers."""

from __future__ import annotations

import hashlib
import io

import pytest
from sqlalchemy import select

from tallymark.app.domain.data_files import add_data_file, delete_data_file
from tallymark.app.domain.errors import FormError, NotFoundError
from tallymark.app.store.models import AuditEntry, DataFile
from tests.app.stage import BOTH, table, truth

pytestmark = pytest.mark.slow
TRAIN = b"a,b\n" + b"".join(b"%d,%d\n" % (k, k * k) for k in range(2000))


@pytest.fixture
def train(stage, host, challenge):
    return add_data_file(stage.service, host, challenge, "train", io.BytesIO(TRAIN), "train.csv")


def _path(challenge, data_file):
    return f"/challenges/{challenge.slug}/data/{data_file.id}"


@BOTH
def test_a_new_version_keeps_the_old_one(stage, host, challenge, train):
    """Both are listed with their checksums, and each is what it was."""
    client = stage.client(host)
    form, files = {"title": " train "}, {"data": ("better.csv", b"a,b\n1,2\n")}
    assert client.post(f"/organise/{challenge.slug}/data", data=form, files=files).status_code == 303
    [first, second] = stage.all(select(DataFile).order_by(DataFile.number))
    page = stage.client().get(f"/challenges/{challenge.slug}").text
    for each, content in ((first, TRAIN), (second, b"a,b\n1,2\n")):
        assert each.file == hashlib.sha256(content).hexdigest()
        assert each.file in page
        answer = stage.client().get(_path(challenge, each))
        assert (answer.status_code, answer.content) == (200, content)
        assert answer.headers["content-disposition"] == f'attachment; filename="{each.file_name}"'
    assert "train, version 1" in page
    assert page.index("train, version 2") < page.index("train, version 1")
    assert stage.all(select(AuditEntry.subject).where(AuditEntry.action == "add data file")) == [
        "train, version 1",
        "train, version 2",
    ]


def test_a_download_can_be_resumed(stage, challenge, train):
    """Ranges give the missing part while the file is the same, and the whole file where it is not."""
    client, path = stage.client(), _path(challenge, train)
    whole = client.get(path)
    assert whole.headers["accept-ranges"] == "bytes"
    assert whole.headers["etag"] == f'"{train.file}"'
    for given, expected in (("bytes=100-", TRAIN[100:]), ("bytes=5-9", TRAIN[5:10]), ("bytes=-7", TRAIN[-7:])):
        part = client.get(path, headers={"Range": given})
        assert (part.status_code, part.content) == (206, expected)
        assert part.headers["content-range"].endswith(f"/{len(TRAIN)}")
    same, other = f'"{train.file}"', '"another"'
    assert client.get(path, headers={"Range": "bytes=100-", "If-Range": same}).content == TRAIN[100:]
    assert client.get(path, headers={"Range": "bytes=100-", "If-Range": other}).content == TRAIN
    assert client.get(path, headers={"Range": f"bytes={len(TRAIN)}-"}).status_code == 416


def test_files_for_members_are_only_for_them(stage, host):
    """Others see what there is, and learn that they must join."""
    challenge = stage.challenge(host, data_for="members")
    train = add_data_file(stage.service, host, challenge, "train", io.BytesIO(TRAIN), "train.csv")
    path, page = _path(challenge, train), f"/challenges/{challenge.slug}"
    member = stage.team(challenge, "Badgers").client()
    outsider = stage.client(stage.person("Eve"))
    rival = stage.client(stage.person("Rita", organiser=True))
    assert stage.client().get(path).status_code == 303
    for client in (outsider, rival):
        assert client.get(path).status_code == 403
        assert client.get(path, headers={"Range": "bytes=0-9"}).status_code == 403
        assert "Join the challenge to download" in client.get(page).text
        assert path not in client.get(page).text
    for client in (member, stage.client(host)):
        assert client.get(path).content == TRAIN
        assert path in client.get(page).text


def test_files_of_another_challenge_or_draft_are_not_found(stage, host, challenge, train):
    """By whatever address they are asked for."""
    draft = stage.challenge(host, publish="", slug="draft")
    secret = add_data_file(stage.service, host, draft, "train", io.BytesIO(b"secret"), "train.csv")
    member = stage.team(challenge, "Badgers").client()
    for path in (
        _path(draft, secret),
        f"/challenges/{challenge.slug}/data/{secret.id}",
        f"/challenges/draft/data/{train.id}",
        f"/challenges/{challenge.slug}/data/0",
        f"/challenges/{challenge.slug}/data/{'9' * 30}",
        f"/challenges/{challenge.slug}/data/{train.file}",
        f"/challenges/{challenge.slug}/data/..%2f..%2ftallymark.db",
    ):
        assert member.get(path).status_code == 404, path
    assert stage.client(host).get(_path(draft, secret)).content == b"secret"


def test_answers_are_refused(stage, host, challenge):
    """The file of answers cannot be published by mistake, whatever its name is."""
    with pytest.raises(FormError, match="file of answers"):
        add_data_file(stage.service, host, challenge, "test", io.BytesIO(table(truth())), "test.csv")
    assert stage.all(select(DataFile)) == []


def test_a_deleted_file_is_gone(stage, host, challenge, train):
    """From the page and from its address; only its challenge deletes it."""
    other = stage.challenge(host, slug="other")
    with pytest.raises(NotFoundError):
        delete_data_file(stage.service, host, other, train.id)
    client = stage.client(host)
    assert client.post(f"/organise/{challenge.slug}/data", data={"delete": str(train.id)}).status_code == 303
    assert client.get(_path(challenge, train)).status_code == 404
    assert "train, version 1" not in client.get(f"/challenges/{challenge.slug}").text
    assert client.post(f"/organise/{challenge.slug}/data", data={"delete": "x"}).status_code == 404


def test_uploads_are_limited_and_errors_are_told(make_stage):
    """By a setting of their own, beside the limit of submissions."""
    stage = make_stage(data_bytes=1000, upload_bytes=500)
    host = stage.person("Olga", organiser=True)
    challenge, client = stage.challenge(host, table(truth(30))), stage.client(host)
    path = f"/organise/{challenge.slug}/data"
    answer = client.post(path, data={"title": "train"}, files={"data": ("a.csv", b"x" * 1001)})
    assert answer.status_code == 413
    assert "at most 1 kB" in answer.text
    assert client.post(path, data={"title": "train"}, files={"data": ("a.csv", b"x" * 1000)}).status_code == 303
    for title, files in (("", {"data": ("a.csv", b"x")}), ("x" * 61, {"data": ("a.csv", b"x")}), ("test", {})):
        assert client.post(path, data={"title": title}, files=files).status_code == 422
