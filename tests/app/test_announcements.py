"""Announcements are on the page of their challenge, as Markdown without scripts."""

from __future__ import annotations

import pytest
from sqlalchemy import select

from tallymark.app.domain.announcements import delete_announcement, post_announcement
from tallymark.app.domain.errors import FormError, NotFoundError
from tallymark.app.store.models import Announcement, AuditEntry
from tests.app.stage import BOTH

pytestmark = pytest.mark.slow


@BOTH
def test_an_announcement_is_posted_and_deleted(stage, host, challenge):
    """The newest is first, and both actions are in the log."""
    client, path = stage.client(host), f"/organise/{challenge.slug}/announcements"
    for text in ("The *first* one", "Second <script>alert(1)</script> ![x](http://elsewhere.example/x.png)"):
        assert client.post(path, data={"text": text}).headers["location"] == f"{path}?said=announced"
        stage.clock.move(hours=1)
    page = stage.client().get(f"/challenges/{challenge.slug}").text
    assert "The <em>first</em> one" in page
    assert "<script>alert" not in page
    assert "elsewhere" not in page
    assert page.index("Second") < page.index("<em>first</em>")
    [first, _] = stage.all(select(Announcement).order_by(Announcement.id))
    client.post(path, data={"delete": str(first.id)})
    assert "<em>first</em>" not in stage.client().get(f"/challenges/{challenge.slug}").text
    logged = stage.all(select(AuditEntry.action).order_by(AuditEntry.id))
    assert logged == ["create", "announce", "announce", "delete announcement"]


def test_only_its_challenge_deletes_an_announcement(stage, host, challenge):
    """That of another challenge is not found."""
    other = stage.challenge(host, slug="other")
    post_announcement(stage.service, host, challenge, "Hello")
    [posted] = stage.all(select(Announcement))
    with pytest.raises(NotFoundError):
        delete_announcement(stage.service, host, other, posted.id)
    for key in ("x", "9" * 40, "-1"):
        assert stage.client(host).post(f"/organise/{other.slug}/announcements", data={"delete": key}).status_code == 404


@pytest.mark.parametrize("text", ["", "  ", "x" * 5001])
def test_an_announcement_has_a_text_of_bounded_length(stage, host, challenge, text):
    """Else the form says so, and keeps the text."""
    with pytest.raises(FormError):
        post_announcement(stage.service, host, challenge, text)
    assert stage.client(host).post(f"/organise/{challenge.slug}/announcements", data={"text": text}).status_code == 422
