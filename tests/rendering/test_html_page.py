"""Documents as pages: complete, escaped, without a script, and with words for all that is drawn."""

from __future__ import annotations

import re

import pytest

from tallymark.rendering.document import Card, Code, Document, Notes, Scale, Section
from tallymark.rendering.fact_sheet import FactSheet
from tallymark.rendering.html_page import BANDS, to_page
from tallymark.rendering.plots.theme import THEMES
from tallymark.rendering.table import BandedNumber, Name, ShownNumber, Table

EVIL = '<script>alert("1")</script>\x1b[2J'


class Drawing:
    """A picture as the page takes it."""

    def __init__(self, title="A line", description="It rises."):
        self.title, self.description = title, description
        self.table = Table("points", ("x", "y"), [(0.0, 1.0)], numbers=("x", "y"))

    def svg(self, theme="light"):
        assert theme == "auto"
        return '<svg viewBox="0 0 1 1" role="img"><path d="M0 0L1 1" style="stroke:var(--series-1,#1f5fbf)"/></svg>'


def page(*parts, cards=(), title="Title", **options):
    return to_page(Document(title, "3 rows", cards, [Section("part", "A part", "A sentence.", parts, **options)]))


def test_a_page_is_a_whole_file():
    """Language, character set, title, contents, one main heading, and a link past the contents."""
    html = page(Notes(["one", "two"]))
    assert html.startswith('<!DOCTYPE html>\n<html lang="en">')
    assert html.count("<h1") == 1
    assert '<a class="skip" href="#content">' in html
    assert '<a href="#part">A part</a>' in html
    assert '<section id="part" aria-labelledby="part-title"><h2 id="part-title">A part</h2>' in html
    assert '<li dir="auto">two</li>' in html


def test_a_page_asks_for_nothing_and_runs_nothing():
    """Its policy forbids both, and nothing in it would try."""
    html = page(Drawing(), Code("Here", "x"))
    assert "default-src 'none'" in html
    assert "<script" not in html
    assert not re.search(r'(src|href)="(?!#)', html)
    assert "@import" not in html
    assert "url(" not in html


def test_every_text_on_a_page_is_escaped():
    """Titles, names, cells, notes, code and cards; and no control character is left."""
    html = page(
        Table(EVIL, (EVIL, "b"), [(EVIL, EVIL)], notes=[EVIL]),
        FactSheet(EVIL, EVIL, [(EVIL, [EVIL])], EVIL),
        Code(EVIL, f"{EVIL}\nsecond line"),
        Notes([EVIL]),
        Drawing(EVIL, EVIL),
        cards=[Card(EVIL, EVIL, EVIL, EVIL)],
        title=EVIL,
    )
    assert "<script" not in html
    assert "\x1b" not in html
    assert 'alert("' not in html
    assert html.count("&lt;script&gt;") >= 18
    assert "\nsecond line" in html


def test_a_lone_half_of_a_character_can_be_written():
    """What no encoding can write is shown as a sign for it."""
    assert "�" in page(Notes(["\ud800"])).encode().decode()


def test_cells_say_what_they_are():
    """Every heading has its scope; columns that a narrow page leaves out have a class."""
    narrow = page(Table("", ("a", "b"), [("x", 1.5)], numbers=("b",)))
    assert '<th scope="col">a</th><th scope="col" class="number">b</th>' in narrow
    assert '<th scope="row" class="short" dir="auto">x</th><td class="number">1.5</td>' in narrow
    optional = page(Table("", ("a", "b"), [("x", "y")], optional=("b",)))
    assert '<th scope="col" class="optional">b</th>' in optional
    assert '<td class="short optional">y</td>' in optional


def test_the_pointer_shows_names_in_code_and_all_digits():
    """People read rounded numbers and display names; both lead back to what code has."""
    html = page(Table("", ("metric", "value"), [(Name("ROC AUC", "auc"), ShownNumber(1 / 3, "0.33"))]))
    assert '<th scope="row" class="short" title="auc" dir="auto">ROC AUC</th>' in html
    assert f'title="{1 / 3!r}">0.33</td>' in html


def test_a_band_is_not_a_colour_only():
    """A sign and a word beside the number, in cells and in cards."""
    html = page(Table("", ("a", "b"), [("x", BandedNumber(0.5, "poor"))]), cards=[Card("x", "0.9", band="good")])
    assert (
        '<td class="short poor"><span aria-hidden="true">○</span> 0.5<span class="unseen"> (poor)</span></td>' in html
    )
    assert '0.9 <span class="band good">good</span>' in html


def test_pictures_have_words_and_numbers():
    """The sentence below, the numbers as a table on demand."""
    html = page(Drawing(), Drawing("Another"))
    assert html.count('<div class="plots">') == 1
    assert html.count("<figcaption") == 2
    assert "<summary>Show the data</summary>" in html
    assert "<caption>points</caption>" in html


def test_a_scale_stays_within_its_ends():
    """Places in percent of the range, of the value, of its interval, and of what has a meaning."""
    html = page(cards=[Card("x", "0.6", scale=Scale(-1, 1, 0.2, -2.0, 0.5, [(0.0, "chance")]))])
    assert '<circle class="dot" cx="60.00%" cy="9" r="6"/>' in html
    assert '<line class="mark" x1="50.00%" x2="50.00%" y1="4" y2="14"/>' in html
    assert '<line class="span" x1="0.00%" x2="75.00%" y1="9" y2="9"/>' in html
    assert "<span>-1</span><span>1</span>" in html


def test_folded_sections_open_when_asked():
    """Their heading is always there."""
    assert "</h2><p>A sentence.</p><details><summary>" in page(Notes(["x"]), folded=True)


def luminance(colour):
    parts = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("theme", THEMES)
def test_bands_can_be_read(theme):
    """On paper and on cards, in both themes: a contrast of at least 4.5 for text, and of 3 for marks."""
    for name, colour in BANDS[theme].items():
        for ground in (THEMES[theme].paper, THEMES[theme].stripe):
            light, dark = sorted((luminance(colour), luminance(ground)), reverse=True)
            least = 3.0 if name == "span" else 4.5
            assert (light + 0.05) / (dark + 0.05) >= least, (name, ground)
