"""The form of a challenge: its metric picker, its errors, the fields of other tasks, and the answers that it keeps."""

from __future__ import annotations

import html
import re

import pytest
from sqlalchemy import func, select

from tallymark.app.domain import drafts, kept_files
from tallymark.app.domain.errors import FormError
from tallymark.app.store.models import Challenge, KeptFile, Version
from tests.app.stage import BOTH, FORM, table, truth

pytestmark = pytest.mark.slow
ANSWERS = {"answers": ("my answers.csv", table(truth()))}
PICKER = {**FORM, "picker": "1"}


def _chosen(page):
    return [html.unescape(each) for each in re.findall(r'name="metric" value="([^"]*)"', page.text)]


def _token(page):
    [token] = re.findall(r'name="answers_token" value="([^"]+)"', page.text)
    return token


@pytest.fixture
def send(stage, host):
    client = stage.client(host)
    return lambda files=None, **form: client.post("/organise/new", data={**PICKER, **form}, files=files or {})


def test_metrics_are_searched_added_moved_and_removed(send):
    """Each button gives the page back with all that was filled in, and the first metric ranks."""
    page = send(metric=["mcc"], pick="search", metric_search="F1Score")
    assert "Elsewhere: f1, f1_score" in page.text
    assert 'value="add:fscore"' in page.text
    assert 'value="Animals"' in page.text
    assert _chosen(page) == ["mcc"]
    page = send(metric=["mcc"], pick="add:fscore")
    assert _chosen(page) == ["mcc", "fscore"]
    assert _chosen(send(metric=["mcc", "fscore"], pick="add:mcc")) == ["mcc", "fscore"]
    page = send(metric=["mcc", "fscore"], pick="up:1", metric_1_beta="2", metric_1_average="macro")
    assert _chosen(page) == ["fscore(beta=2, average=macro)", "mcc"]
    assert _chosen(send(metric=["mcc", "accuracy"], pick="remove:0")) == ["accuracy"]
    assert _chosen(send(metric=["mcc"], pick="remove:0")) == []


@pytest.mark.parametrize(
    "pick", ["up:0", "up:9", "remove:-1", "remove:x", "add:" + "x" * 300, "nonsense", "up:" + "9" * 99]
)
def test_buttons_that_a_page_does_not_have_change_nothing(send, pick):
    """Whatever is sent."""
    assert _chosen(send(metric=["mcc", "accuracy"], pick=pick)) == ["mcc", "accuracy"]


def test_the_enter_key_searches_only_what_is_not_searched_yet(stage, send):
    """In any other field, it saves."""
    assert "1 metric found" in send(pick="enter", metric_search="f0.5").text
    answer = send(ANSWERS, pick="enter", metric_search="f0.5", metric_searched="f0.5", metric=["mcc"])
    assert answer.status_code == 303


def test_chosen_metrics_are_stored_as_their_strings(stage, send):
    """With the parameters of their fields, in order."""
    given = {"metric": ["fscore", "accuracy"], "metric_0_average": "macro", "metric_0_beta": "0.5"}
    assert send(ANSWERS, **given).status_code == 303
    assert stage.all(select(Version.metrics)) == [["fscore(beta=0.5, average=macro)", "accuracy"]]


def test_errors_are_summarised_with_links_to_their_fields(send):
    """In the order of the form, at the top, where the focus goes; a wrong parameter is one of them."""
    page = send(title="x", metric=["fscore"], metric_0_beta="-1", quota="0")
    assert page.status_code == 422
    summary = page.text[page.text.index('id="errors"') :].split("</div>")[0]
    assert re.findall(r'href="(#\w+)"', summary) == ["#title", "#answers", "#metrics", "#quota"]
    assert "4 fields need a correction." in summary
    assert 'role="alert" tabindex="-1" autofocus' in summary
    for field in ("title", "answers", "metrics", "quota"):
        assert f'id="{field}"' in page.text
        assert f'id="{field}-error"' in page.text


@BOTH
def test_chosen_answers_survive_a_form_with_errors(stage, send):
    """They are kept under a token, which sends them again, and forgotten once the challenge is created."""
    page = send(ANSWERS, title="x")
    assert "my answers.csv is kept" in page.text
    token = _token(page)
    assert _token(send(answers_token=token, pick="add:mcc")) == token
    assert send(answers_token=token).status_code == 303
    assert stage.all(select(func.count()).select_from(Version)) == [1]
    assert stage.all(select(KeptFile)) == []
    kept_files.discard_expired(stage.service)
    assert list((stage.settings.folder / "kept").iterdir()) == []


def test_rejected_answers_are_not_kept(stage, send):
    """A file with problems must be chosen anew."""
    page = send({"answers": ("a.csv", b"row_id,label\nr1,a\nr1,b\n")})
    assert "answers_token" not in page.text
    assert stage.all(select(KeptFile)) == []


def test_a_token_is_of_one_account_for_an_hour(stage, send):
    """Nobody else can use it, and a later file replaces it."""
    token = _token(send(ANSWERS, title="x"))
    rival = stage.client(stage.person("Rita", organiser=True))
    for form in ({"answers_token": token}, {"answers_token": "../../tallymark.db"}, {"answers_token": ""}):
        assert "Choose a file." in rival.post("/organise/new", data={**PICKER, **form}).text
    newer = _token(send(ANSWERS, title="x"))
    assert "Choose a file." in send(answers_token=token).text
    stage.clock.move(minutes=61)
    assert "Choose a file." in send(answers_token=newer).text
    kept_files.discard_expired(stage.service)
    assert list((stage.settings.folder / "kept").iterdir()) == []
    assert stage.all(select(Challenge)) == []


@pytest.mark.parametrize(
    ("task", "hidden"),
    [
        ("labels", {"classes": "a, b", "query_column": "x" * 300}),
        ("numbers", {"classes": "a, b", "missing": "nonsense"}),
        ("ranking", {"missing": "", "classes": "a"}),
        ("probabilities", {"query_column": "x" * 300}),
    ],
)
def test_hidden_fields_are_not_validated(task, hidden):
    """What a form has in fields of other tasks and splits is ignored."""
    draft = drafts.parse_draft({**FORM, "task": task, "split_share": "abc", "split_column": "x" * 999, **hidden})
    assert draft.scoring.classes is None
    assert (draft.scoring.missing, draft.scoring.query_column) == ("count", "query")
    with pytest.raises(FormError):
        drafts.parse_draft({**FORM, "task": "labels", "missing": "nonsense"})
