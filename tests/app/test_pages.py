"""Every page of the app from sample views: complete, escaped, labelled, and within its policy."""

from __future__ import annotations

import html
from collections import Counter
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import jinja2
import pytest

from tallymark.app.pages import (
    accounts,
    audit_log,
    challenges,
    leaderboard,
    lifecycle,
    materials,
    operate,
    organise,
    organiser_submissions,
    people,
    rendering,
    rescoring,
    result,
    shell,
    submissions,
    tokens,
)
from tallymark.app.pages.leaderboard import ChartPoint
from tallymark.app.pages.shell import Form
from tallymark.submissions.problems import RULES
from tests.app.sample_pages import samples

APP = Path(rendering.__file__).parent.parent
HOSTILE = {
    "script": "<script>alert(1)</script>",
    "attribute": '" onfocus="alert(1)" x=\'',
    "template": "{{ shell.title }}{% raw %}",
    "long": "averylongwordwithoutaplacetobreak" * 8,
    "right-to-left": "שלום עולם",
    "comment": "<!-- ]]> </textarea></title></script>",
}
TURNS = "\u202e"  # what follows is read from right to left
UNSHOWN = {  # texts that a page acts by, and does not say
    "kind", "iso", "hint", "state", "band", "href", "path",
    "key",
}  # fmt: skip


class Tag(NamedTuple):
    name: str
    facts: dict[str, str | None]


class Reader(HTMLParser):
    """The tags of a page in their order, and its words but for those of scripts and of texts that are filled in."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[Tag] = []
        self.wraps: list[int] = []
        self.inside_label = 0
        self.words = ""
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.inside_label += tag == "label"
        if self.inside_label:
            self.wraps.append(len(self.tags))
        self.tags.append(Tag(tag, dict(attrs)))

    def handle_endtag(self, tag):
        self.inside_label -= tag == "label"

    def handle_data(self, data):
        if self.tags and self.tags[-1].name not in ("script", "textarea"):
            self.words += data


def read(name, say=str):
    return Reader(rendering.render(*samples(say)[name]))


every_page = pytest.mark.parametrize("name", samples())


@every_page
def test_a_page_has_one_heading_a_title_and_a_main_part(name):
    """There is one h1, one main, and a title that names the page."""
    tags = Counter(tag.name for tag in read(name).tags)
    assert tags["h1"] == tags["main"] == tags["title"] == 1


@every_page
def test_levels_of_headings_are_not_skipped(name):
    """A heading is at most one level below the one before it."""
    levels = [int(tag.name[1]) for tag in read(name).tags if tag.name in ("h1", "h2", "h3", "h4")]
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


@every_page
def test_every_field_has_a_label(name):
    """What can be filled in stands in a label or is named by one."""
    page = read(name)
    named = {tag.facts.get("for") for tag in page.tags if tag.name == "label"}
    for k, (tag, facts) in enumerate(page.tags):
        if tag in ("input", "select", "textarea") and facts.get("type") != "hidden" and "hidden" not in facts:
            assert k in page.wraps or facts.get("id") in named, facts


@every_page
def test_ids_are_unique_and_what_refers_to_them_finds_them(name):
    """Errors and hints are tied to their fields; no id is there twice."""
    tags = read(name).tags
    ids = Counter(facts["id"] for _, facts in tags if "id" in facts)
    assert not [each for each, times in ids.items() if times > 1]
    for _, facts in tags:
        for reference in ("aria-describedby", "aria-labelledby", "for"):
            assert set((facts.get(reference) or "").split()) <= set(ids), facts


@every_page
def test_a_page_keeps_to_its_policy(name):
    """No style in an attribute, no script in the page, nothing from elsewhere."""
    for tag, facts in read(name).tags:
        assert tag != "style"
        assert "style" not in facts
        assert not [each for each in facts if each.startswith("on")]
        if tag == "script":
            assert "src" in facts
        for address in ("src", "href", "action"):
            assert (facts.get(address) or "/").startswith(("/", "#")), facts


@every_page
@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_texts_are_only_read(name, text):
    """Whatever people write, a page has the same tags with the same attributes, and shows the text as it is."""
    plain, hostile = read(name, lambda given: given + " and more"), read(name, lambda given: f"{given} {text}")
    told = [(tag, list(facts)) for tag, facts in hostile.tags if tag != "bdi"]
    assert told == [(tag, list(facts)) for tag, facts in plain.tags if tag != "bdi"]


@every_page
def test_no_text_turns_the_words_around_it(name):
    """Characters that cannot be seen are shown as such, outside of fields that are filled in."""
    page = read(name, lambda given: f"{given} {TURNS}")
    assert TURNS not in page.words
    shown = [facts for tag, facts in page.tags if tag != "input" and TURNS in "".join(filter(None, facts.values()))]
    assert not shown


@pytest.mark.parametrize("name", [name for name in samples() if not name.endswith(("-empty", "-refused", "-visitor"))])
def test_a_page_shows_what_its_view_has(name):
    """Every text of a view stands in its page."""
    template, view = samples()[name]
    page = html.unescape(rendering.render(template, view))
    absent = [text for text in texts_of(view) if text not in page and text not in RULES]
    assert not absent


def texts_of(view, field=""):
    """The texts of a view at any depth, but for those that it only acts by."""
    if field in UNSHOWN:
        return
    if isinstance(view, str):
        yield view.strip()
    elif hasattr(view, "_asdict"):
        for key, value in view._asdict().items():
            yield from texts_of(value, key)
    elif isinstance(view, (list, tuple)):
        for value in view:
            yield from texts_of(value, field)


def test_every_template_has_a_sample():
    """No template is left out of these tests."""
    made = {template for template, _ in samples().values()}
    assert made == {path.name for path in (APP / "templates").iterdir()} - {"base.html", "macros.html"}


def test_every_view_has_a_sample():
    """No view is left out either."""
    made = {type(view).__name__ for _, view in samples().values()}
    modules = (
        audit_log,
        challenges,
        leaderboard,
        lifecycle,
        materials,
        operate,
        organise,
        organiser_submissions,
        people,
        rescoring,
        accounts,
        result,
        shell,
        submissions,
        tokens,
    )
    assert made == {name for module in modules for name in vars(module) if name.endswith("Page")}


def test_a_template_refuses_what_it_is_not_given():
    """A name that a view does not have is an error, and not an empty place."""
    _, view = samples()["error"]
    with pytest.raises(jinja2.UndefinedError, match="'challenges' is undefined"):
        rendering.render("challenges.html", view)


def test_a_wrong_field_keeps_what_was_given_and_says_what_is_wrong():
    """The value stays, the error stands below and is tied to the field."""
    page = read("sign-up")
    (field,) = (facts for _, facts in page.tags if facts.get("name") == "name")
    assert (field["value"], field["aria-invalid"]) == ("ada", "true")
    assert "name-error" in field["aria-describedby"]
    assert "Someone has this name already." in page.words


def test_passwords_are_never_given_back():
    """A field for a password is empty, whatever was sent."""
    template, view = samples()["sign-up"]
    form = Form({"password": "correct horse", "again": "correct horse"})
    assert "correct horse" not in rendering.render(template, view._replace(shell=view.shell._replace(form=form)))


def test_what_is_filled_in_comes_back_as_it_was():
    """A text of several lines, with what cannot be seen, is not changed by being shown in its field."""
    rules = "First.\n\n  Second \U0001f469\u200d\U0001f52c"
    template, view = samples()["edit"]
    page = rendering.render(template, view._replace(shell=view.shell._replace(form=Form({"rules": rules}))))
    assert f">\n{rules}</textarea>" in page


def test_a_page_that_waits_looks_again_without_a_script_too():
    """Where there is something to wait for, the page refreshes itself; where not, it stays."""
    assert '<meta http-equiv="refresh" content="5">' in rendering.render(*samples()["result-queued"])
    assert "refresh" not in rendering.render(*samples()["result"])


def test_the_best_score_is_drawn_as_steps():
    """It stays until the next one, and the last one to the right edge."""
    points = [ChartPoint(0, 0, "a"), ChartPoint(0.5, 1, "b")]
    assert rendering._step_path(points) == "M0.0 120.0H300.0V0.0H600"


def test_static_files_have_their_digest_in_the_address():
    """An address changes with its file, so that it may be kept for ever."""
    assert rendering.static_address("app.css").startswith("/static/app.css?v=")
    assert rendering.static_address("app.css")[15:] != rendering.static_address("report.css")[18:]
