"""Challenges: created, changed and shown; their versions and samples."""

from __future__ import annotations

import html
import io
import re
from typing import Any

import pytest
from sqlalchemy import func, select

from tallymark.app.domain import challenges
from tallymark.app.domain.errors import FormError
from tallymark.app.store.models import Challenge, Version
from tallymark.errors import Rejection
from tests.app.stage import BOTH, FORM, ROWS, guess, table, truth

pytestmark = pytest.mark.slow


def _form_of(page: str) -> dict[str, Any]:
    """The fields of the form of a challenge, as a browser sends them."""
    form = page[page.index('<form class="panel long"') :].split("</form>")[0]
    found = dict(re.findall(r'<textarea[^>]* name="(\w+)"[^>]*>\n?([^<]*)</textarea>', form))
    for name, options in re.findall(r'<select[^>]* name="(\w+)"[^>]*>(.*?)</select>', form, re.DOTALL):
        [found[name]] = re.findall(r"<option selected>([^<]*)", options)
    found["metric"] = [html.unescape(each) for each in re.findall(r' name="metric" value="([^"]*)"', form)]
    for tag in re.findall(r"<input[^>]*>", form):
        facts = dict(re.findall(r'([\w-]+)="([^"]*)"', tag))
        if facts["name"] == "metric":
            continue
        chosen = facts.get("type") not in ("radio", "checkbox") or re.search(r"\bchecked\b", tag)
        if chosen and facts.get("type") != "file":
            found[facts["name"]] = facts.get("value", "")
    return found


@pytest.mark.parametrize(
    ("answers", "form"),
    [
        (b"", {}),
        (b"row_id,other\nr000,a\n", {}),
        (b"row_id,label\nr000,a\nr000,b\n", {}),
        (b"\x89PNG\r\n", {}),
        (table(["a"] * 5), {"task": "numbers"}),
        (table(truth()), {"metrics": "accuracy, rmse"}),
        (table(truth()), {"split": "column", "split_column": "part"}),
    ],
)
@BOTH
def test_broken_answers_make_no_challenge(stage, host, answers, form):
    """Answers with problems are told with all of them, and nothing is made."""
    with pytest.raises((Rejection, FormError)):
        stage.challenge(host, answers or b"\n", **form)
    assert stage.all(select(func.count()).select_from(Challenge)) == [0]
    page = stage.client(host).post("/organise/new", data={**FORM, **form}, files={"answers": ("a.csv", answers)})
    assert page.status_code == 422
    assert 'value="Animals"' in page.text


def test_two_challenges_have_two_addresses(stage, host, challenge):
    """An address that is taken is told beside its field, and the first challenge stays as it is."""
    with pytest.raises(FormError) as caught:
        stage.challenge(host)
    assert list(caught.value.errors) == ["slug"]
    assert stage.all(select(func.count()).select_from(Version)) == [1]


@pytest.mark.parametrize(
    "form",
    [
        {},
        {"metrics": "fscore(beta=2, average=macro), accuracy", "deadline": "2027-04-01T10:30", "late": "mark"},
        {"split": "seeded", "split_share": "33.333333333", "split_seed": "11", "show_classes": "1"},
        {
            "split": "seeded",
            "split_share": "30",
            "split_seed": "4",
            "positive": "lynx",
            "metrics": "precision(average=binary)",
        },
        {"rules": '# Rules\n\n- one\n- <b>two</b> & "three"\n', "summary": "It's 5 > 3 & so on"},
        {"missing": "reject", "opens": "2027-03-01T00:00"},
        {"total_quota": "50", "must_accept": "1", "rules": "Be fair.", "data_for": "members", "reveal": "organiser"},
    ],
)
def test_what_is_saved_unchanged_is_unchanged(stage, host, form):
    """The form as it is shown, sent back as it is: no new version, and the same challenge."""
    challenge = stage.challenge(host, **form)
    client, path = stage.client(host), f"/organise/{challenge.slug}"
    form = _form_of(client.get(path).text)
    sent = {name: html.unescape(value) if isinstance(value, str) else value for name, value in form.items()}
    answer = client.post(path, data=sent)
    assert (answer.status_code, answer.headers.get("location")) == (303, f"{path}?said=saved")
    [held] = stage.all(select(Challenge))
    names = [each.name for each in Challenge.__table__.columns if each.name not in ("changes", "ranked")]
    assert [getattr(held, name) for name in names] == [getattr(challenge, name) for name in names]


def test_the_sample_would_be_taken(stage, host):
    """What participants download has every id, no answer, and is scored."""
    for task, values, form in (
        ("labels", truth(), {}),
        ("numbers", range(ROWS), {}),
        ("probabilities", truth(), {"metrics": "logloss", "classes": "lynx, otter, heron"}),
    ):
        challenge = stage.challenge(host, table(values), task=task, slug=f"sample-{task}", **form)
        player = stage.team(challenge, "Badgers", stage.person(f"Ada of {task}"))
        sample = player.client().get(f"/challenges/{challenge.slug}/sample")
        assert sample.headers["content-disposition"] == f'attachment; filename="sample-{task}-sample.csv"'
        assert [line.split(",")[0] for line in sample.text.splitlines()[1:]] == [f"r{n:03}" for n in range(ROWS)]
        assert stage.submission(player.send(sample.content)).state == "scored"


def test_answers_in_any_order_give_the_same_parts(stage, host):
    """A seeded split belongs to ids, not to the order of the file."""
    form = {"split": "seeded", "split_share": "50", "split_seed": "3"}
    lines = table(truth()).splitlines(keepends=True)
    turned = b"".join([lines[0], *reversed(lines[1:])])
    ends = []
    for slug, answers in (("one", table(truth())), ("other", turned)):
        challenge = stage.challenge(host, answers, slug=slug, **form)
        player = stage.team(challenge, "Badgers", stage.person(f"Ada of {slug}"))
        ends.append(stage.scores(player.send(guess(17))))
    assert ends[0] == ends[1]


def test_team_names_are_escaped_everywhere(stage, host, challenge):
    """A name with markup is shown as it is typed, on every page that shows it."""
    name = "<b onclick='x'>& \"me\"</b>"
    player = stage.team(challenge, name, stage.person("<i>Ada</i>"))
    key = player.send(guess(9), "<u>.csv", "<s>note</s>")
    pages = ["", "/leaderboard", "/mine", "/submit"]
    paths = [*(f"/challenges/{challenge.slug}{each}" for each in pages), f"/submissions/{key}", "/account"]
    text = "".join(player.client().get(path).text for path in [*paths, f"/submissions/{key}/report"])
    assert text.count("&lt;b onclick=") >= 3
    assert not re.search(r"<(b onclick|i>Ada|u>\.csv|s>note)", text)
    assert "&lt;s&gt;note" in text


@BOTH
def test_classes_that_are_never_true(stage, host):
    """A class that only the file has is undefined in places, which every database keeps, and the page shows."""
    challenge = stage.challenge(host, show_classes="1")
    player = stage.team(challenge, "Badgers")
    key = player.send(guess(20))
    assert stage.submission(key).state == "scored"
    page = player.client().get(f"/submissions/{key}")
    assert page.status_code == 200
    assert ">Classes<" in page.text
    assert ">moose</th>" not in page.text  # which would tell of single rows
    assert player.client().get(f"/submissions/{key}/report").status_code == 200


def test_answers_of_another_time_stay(stage, host, challenge):
    """The file of a version is never changed: new answers are another file."""
    with stage.service.database.reading() as session:
        first = challenges.current_version(session, challenge)
    challenges.replace_answers(stage.service, host, challenge, io.BytesIO(table(guess(3))))
    assert stage.service.files.read(first.answers) == table(truth())
    [one, two] = stage.all(select(Version).order_by(Version.number))
    names = [each.name for each in Version.__table__.columns if each.name != "state"]
    assert [getattr(one, name) for name in names] == [getattr(first, name) for name in names]
    assert (one.state, two.state) == ("past", "current")  # at once, as there are no submissions
    assert two.software.startswith("tallymark ")
