"""An organiser from the one-time link to a challenge that is open again, in a real browser at a real server."""

from __future__ import annotations

import pytest

from tests.browser.server import started
from tests.browser.visitor import file

pytestmark = pytest.mark.slow
FIELDS = {
    "title": "Which <b>bird</b> sings?",
    "slug": "birds",
    "summary": "Name the bird of each recording & win.",
    "rules": "# Rules\n\nListen to **each** recording.\n\n- one bird for each\n- no <script>alert(1)</script>",
    "id_column": "recording",
    "label_column": "bird",
    "positive": "owl",
    "split_column": "part",
    "opens": "2026-01-01T12:30",
    "deadline": "2096-02-29T23:59",
    "quota": "7",
    "finals": "3",
}
CHOICES = {"task": "labels", "missing": "reject", "split": "column", "late": "mark"}
HEADER = b"recording,bird,part\n"
ROWS = b"".join(b"%d,%s,%s\n" % (k, b"owl wren tit".split()[k % 3], (b"public", b"private")[k % 2]) for k in range(60))


@pytest.fixture
def server(tmp_path):
    """One whose link nobody has used yet."""
    with started(tmp_path) as server:
        yield server


def test_an_organiser_makes_a_challenge_and_runs_it(visits, server):
    """From the link that the first start has printed to participants who are invited."""
    visitor = visits(server)
    visitor.sign_up(server.first_link, "Ada")
    assert "Welcome. You are signed in." in visitor.text()
    visitor.follow("Create challenge")
    fill(visitor)
    visitor.choose("answers", file(HEADER + b"1,owl\n2,emu,public\n2,,public\n", "answers.csv"))
    visitor.press("Create challenge", 422)
    assert visitor.texts(".problems .place") == ["line 2, column 1", "line 4, column 1", "line 4, column 3"]
    assert_kept(visitor)
    visitor.choose("answers", file(HEADER + ROWS, "answers.csv"))
    visitor.fill(slug="new")
    visitor.press("Create challenge", 422)
    assert visitor.page.locator("#errors:focus").count() == 1
    visitor.page.get_by_role("link", name="Address: Use letters and digits").click()
    assert visitor.page.locator("[name=slug]:focus").count() == 1
    assert "answers.csv is kept" in visitor.text()
    visitor.fill(slug=FIELDS["slug"])
    visitor.press("Create challenge")
    assert "Draft created. Only its organisers see it until you publish it." in visitor.text()
    assert_kept(visitor)
    see_it_as_others_do(visitor)
    stranger = visits(server)
    stranger.open("/challenges/birds")
    assert "Sign in" in stranger.text("h1")
    visitor.follow("Publish")
    assert "Everybody sees the title" in visitor.text()
    visitor.press("Publish")
    assert "Published. Others can see the challenge now." in visitor.text()
    publish_data(visitor)
    edit(visitor)
    close_and_reopen(visitor)


def see_it_as_others_do(visitor):
    """What was typed is a text, and Markdown in the rules."""
    visitor.follow("Preview as participant")
    assert visitor.text("h1") == FIELDS["title"]
    assert visitor.texts(".prose li") == ["one bird for each", "no <script>alert(1)</script>"]
    assert visitor.page.locator(".prose strong").inner_text() == "each"
    assert "scores are computed on 30 public rows" in visitor.text()
    assert visitor.texts(".explained h3 bdi") == ["accuracy", "macro F1", "MCC"]
    sample = visitor.download("link", "Download a sample file").read_bytes()
    assert sample.startswith(b"recording,bird\n")
    assert sample.count(b"\n") == 61
    visitor.follow("Edit this challenge")


def publish_data(visitor):
    """A file that a participant downloads, and an announcement that they read."""
    visitor.follow("Data files")
    visitor.fill(title="train")
    visitor.choose("data", file(b"recording,bird\n100,owl\n", "train.csv"))
    visitor.press("Upload")
    assert "train, version 1" in visitor.text("tbody th")
    visitor.follow(FIELDS["title"])
    visitor.follow("Announcements")
    visitor.fill(text="The *training* data is here.")
    visitor.press("Post")
    visitor.open("/challenges/birds")
    assert visitor.page.locator("article em").inner_text() == "training"
    assert visitor.download("link", "train.csv").read_bytes() == b"recording,bird\n100,owl\n"
    visitor.follow("Edit this challenge")


def edit(visitor):
    """Texts are changed as they are; metrics and answers make a new version."""
    visitor.fill(summary="Name the bird.")
    visitor.press("Save")
    assert visitor.texts(".flash") == ["Done Saved."]
    assert visitor.page.locator("[name=summary]").input_value() == "Name the bird."
    visitor.fill(metric_1_beta="abc")
    visitor.press("Save", 422)
    assert "must be a finite number greater than 0" in visitor.text("#metrics-error")
    visitor.press("Remove macro F1")
    visitor.press("Move up MCC")
    assert visitor.texts(".picker .metric bdi") == ["MCC", "accuracy"]
    visitor.press("Save")
    assert visitor.texts("tbody th") == ["version 2 in use", "version 1"]
    visitor.choose("answers", file(HEADER + b"1,owl\n1,tit,public\n", "new.csv"))
    visitor.press("Upload", 422)
    assert visitor.page.locator(".problems li").count() == 1
    visitor.choose("answers", file(HEADER + ROWS + b"60,owl,public\n", "new.csv"))
    visitor.fill(answers_note="One more bird")
    visitor.press("Upload")
    assert "Saved as a new version" in visitor.text()
    assert visitor.texts("tbody th") == ["version 3 in use One more bird", "version 2", "version 1"]
    assert visitor.texts("tbody td.number") == ["61", "60", "60"]


def close_and_reopen(visitor):
    """The list and the page say so."""
    visitor.follow("Close challenge")
    assert "The private part stays hidden until you reveal it." in visitor.text()
    visitor.press("Close challenge")
    assert "The challenge is closed." in visitor.text()
    visitor.follow("Reveal private part")
    assert "0 teams will see their private scores." in visitor.text()
    visitor.press("Reveal private part")
    assert "The private part is revealed." in visitor.text()
    visitor.follow("Your challenges")
    assert visitor.texts("tbody .state") == ["Closed"]
    visitor.open("/challenges/birds")
    assert visitor.page.get_by_role("button", name="Join").count() == 0
    visitor.follow("Edit this challenge")
    visitor.follow("Reopen challenge")
    assert "The private part is hidden again." in visitor.text()
    visitor.press("Reopen challenge")
    assert visitor.page.locator(".head .state").inner_text() == "Open"


def test_links_to_sign_up_work_once(visits, server):
    """That of the first start, and those that an organiser makes; each for its role."""
    visitor = visits(server)
    visitor.sign_up(server.first_link, "Ada")
    links = [server.first_link]
    visitor.follow("Account of Ada organiser")
    for role in ("participant", "organiser"):
        visitor.page.get_by_label("Invite as").select_option(role)
        visitor.press("Create link")
        links.append(visitor.text(".flash code"))
    assert visitor.texts("tbody th") == ["organiser", "participant"]
    for link, role in zip(links[1:], ("participant", "organiser"), strict=True):
        guest = visits(server)
        guest.open(link)
        assert f"You are invited as a{'n' * (role == 'organiser')} {role}." in guest.text()
        guest.sign_up(link, f"The {role}")
        guest.open("/organise", 404 if role == "participant" else 200)
    visitor.open("/account")
    assert "used" in visitor.text("tbody tr:first-child")
    assert "invitation=" not in visitor.page.content()
    stranger = visits(server)
    for link in links:
        stranger.open(link)
        assert stranger.page.get_by_role("button", name="Sign up").count() == 0
        assert "Ask" in stranger.text(".flash")


def fill(visitor):
    for name, value in CHOICES.items():
        visitor.page.locator(f'[name="{name}"][value="{value}"]').check()
    for name in ("query_column", "classes", "split_share"):
        assert not visitor.page.locator(f"[name={name}]").is_visible()
    visitor.fill(**FIELDS)
    for query, name in (("accuracy_score", "accuracy"), ("fscore(average=macro)", "macro F1"), ("Matthews", "MCC")):
        visitor.fill(metric_search=query)
        with visitor.page.expect_navigation():
            visitor.page.locator("[name=metric_search]").press("Enter")
        visitor.look()
        visitor.press(f"Add {name}")
    visitor.page.get_by_label("Scores of each class").check()
    visitor.page.get_by_label("Intervals").uncheck()


def assert_kept(visitor):
    """The form has what was filled in."""
    held = {name: visitor.page.locator(f'[name="{name}"]').input_value() for name in FIELDS}
    assert held == FIELDS
    assert visitor.texts(".picker .metric bdi") == ["accuracy", "macro F1", "MCC"]
    for name, value in CHOICES.items():
        assert visitor.page.locator(f'[name="{name}"]:checked').get_attribute("value") == value
    boxes = [visitor.page.locator(f"[name=show_{name}]").is_checked() for name in ("intervals", "classes", "counts")]
    assert boxes == [False, True, False]
