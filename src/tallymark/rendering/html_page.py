"""A document as one HTML file that needs nothing else: no script, no request, light and dark, for any width."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import groupby
from pathlib import Path

from tallymark.rendering.document import Card, Code, Document, Folded, Notes, Part, Picture, Scale, Section
from tallymark.rendering.fact_sheet import FactSheet
from tallymark.rendering.plots.theme import THEMES
from tallymark.rendering.table import Name, ShownNumber, Table, Verdict, show_cell, show_number
from tallymark.rendering.text import printable

POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
BANDS = {  # in either theme, and the part of a scale that an interval covers
    "light": {"good": "#1b7838", "fair": "#855c00", "poor": "#b3261e", "span": "#5588cc"},
    "dark": {"good": "#6cc58a", "fair": "#e0b341", "poor": "#ff8a80", "span": "#4a77b8"},
}
_MOST_ON_PAPER = 8  # columns of a table that need no smaller print on paper
_SHORT_NAME = 14  # characters up to which the name of a row does not wrap
_LONG = 24  # characters from which on a cell is text that may wrap
SIGNS = {"good": "●", "fair": "◐", "poor": "○"}
VERDICT_SIGNS = {"good": "✓", "poor": "✗"}


def to_page(document: Document) -> str:
    """The document as a whole HTML file. Everything in it is escaped."""
    title = _escaped(document.title)
    lead, body = ("".join(map(section_to_html, sections)) for sections in (document.lead, document.sections))
    contents = (*document.lead, *document.sections)
    links = "".join(f'<li><a href="#{s.name}">{_escaped(s.title)}</a></li>' for s in contents)
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f'<meta name="color-scheme" content="light dark"><title>{title}</title>\n<style>{_style()}</style></head>\n'
        '<body><a class="skip" href="#content">Skip to the content</a>\n'
        f'<header><h1 dir="auto">{title}</h1><p class="quiet">{_escaped(document.line)}</p>{_SWITCH}'
        f'<nav aria-label="Contents"><ul>{links}</ul></nav></header>\n'
        f'<main id="content">{lead}{cards_to_html(document.cards)}{body}</main>\n'
        "<footer>Made with tallymark. This file is self-contained: no scripts, no network requests.</footer>\n"
        "</body></html>\n"
    )


def _style() -> str:
    return theme_rules() + _read_file("page.css") + style_of_parts()


def theme_rules() -> str:
    """The colours of both themes as a style sheet, as the system or a switch says. On paper all is light."""
    light, dark = (_variables(name) for name in THEMES)
    return (
        f":root{{{light}}}\n@media screen{{\n@media (prefers-color-scheme:dark){{:root{{{dark}}}}}\n"
        f":root:has(#light:checked){{{light}}}\n:root:has(#dark:checked){{{dark}}}\n}}\n"
    )


def style_of_parts() -> str:
    """The style sheet of cards and of what stands in sections, for pages with a frame of their own."""
    return _read_file("parts.css")


def _read_file(name: str) -> str:
    return Path(__file__).with_name(name).read_text(encoding="utf-8")


def _variables(theme: str) -> str:
    colours = {**THEMES[theme].colours(), **BANDS[theme]}
    return f"color-scheme:{theme};" + "".join(f"--{name}:{colour};" for name, colour in colours.items())


def section_to_html(section: Section) -> str:
    """A section with its heading, in which pictures that follow each other stand side by side. All of it is escaped."""
    parts = ""
    for drawn, parts_together in groupby(
        section.parts, lambda part: not isinstance(part, (Table, FactSheet, Code, Notes, Folded))
    ):
        content = "".join(map(_part_html, parts_together))
        parts += f'<div class="plots">{content}</div>' if drawn else content
    if section.folded:
        parts = f"<details><summary>Show all</summary>{parts}</details>"
    sentence = f"<p>{_escaped(section.sentence)}</p>" if section.sentence else ""
    sign = f'<span aria-hidden="true">{VERDICT_SIGNS[section.band]}</span> ' if section.band else ""
    return (
        f'<section id="{section.name}" aria-labelledby="{section.name}-title">'
        f'<h2 id="{section.name}-title"{_class(section.band)}>{sign}{_escaped(section.title)}</h2>{sentence}{parts}'
        "</section>\n"
    )


def _figure_html(picture: Picture) -> str:
    """A drawing whose colours follow the theme of the page, with its sentence and its numbers below."""
    return (
        f'<figure><h3 class="unseen" dir="auto">{_escaped(picture.title)}</h3>{picture.svg("auto")}'
        f'<figcaption dir="auto">{_escaped(picture.description)}</figcaption>'
        f"<details><summary>Show the data</summary>{_table_html(picture.table)}</details></figure>"
    )


def _part_html(part: Part) -> str:
    if isinstance(part, Table):
        return _table_html(part)
    if isinstance(part, Folded):
        return f"<details><summary>{_escaped(part.summary)}</summary>{_table_html(part.table)}</details>"
    if isinstance(part, FactSheet):
        return _fact_sheet_html(part)
    if isinstance(part, Notes):
        return _notes_html(part.lines)
    if not isinstance(part, Code):
        return _figure_html(part)
    return f"<h3>{_escaped(part.name)}</h3><pre><code>{_escaped_lines(part.text)}</code></pre>"


def _table_html(table: Table) -> str:
    classes = [_column_class(table, k) for k in range(len(table.headings))]
    optional = [" optional" * (heading in table.optional) for heading in table.headings]
    heads = "".join(
        f'<th scope="col"{_class(("number" if c == "number" else "") + o)}{_on_hover(h)}>{_escaped(h)}</th>'
        for h, c, o in zip(table.headings, classes, optional, strict=True)
    )
    longest_name = max((len(show_cell(row[0])) for row in table.rows), default=0)
    name_class = _class("short" if longest_name <= _SHORT_NAME else "text")
    body = ""
    for row in table.rows:
        first = f'<th scope="row"{name_class}{_on_hover(row[0])} dir="auto">{_escaped(show_cell(row[0]))}</th>'
        cells = "".join(
            f"<td{_class(_with_band(c, v) + o)}{_on_hover(v)}>{_cell_html(v)}</td>"
            for c, o, v in zip(classes[1:], optional[1:], row[1:], strict=True)
        )
        body += f"<tr>{first}{cells}</tr>"
    caption = f"<caption>{_escaped(table.title)}</caption>" if table.title else ""
    label = _escaped(table.title) or "Table"
    many = " many" * (len(table.headings) > _MOST_ON_PAPER)
    return (
        f'<div class="wide{many}" role="group" tabindex="0" aria-label="{label}"><table>{caption}'
        f"<thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table></div>{_notes_html(table.notes)}"
    )


def _column_class(table: Table, column: int) -> str:
    """How the cells of a column are set: as numbers, as text that wraps, or on one line."""
    if table.headings[column] in table.numbers:
        return "number"
    longest = max((len(show_cell(row[column])) for row in table.rows), default=0)
    return "text" if longest > _LONG else "short"


def _class(name: str) -> str:
    return f' class="{name.strip()}"' if name else ""


def _on_hover(value: object) -> str:
    """What the pointer shows: the name in code, or all digits of a rounded number."""
    if isinstance(value, Name):
        return f' title="{_escaped(value.code)}"' if value.code != value else ""
    return f' title="{float(value)!r}"' if isinstance(value, ShownNumber) and math.isfinite(value) else ""


def _with_band(name: str, value: object) -> str:
    return f"{name} {band}" if (band := getattr(value, "band", "")) else name


def _cell_html(value: object) -> str:
    """A cell; a band has a sign and a word too, for those who do not see its colour."""
    text, band = _escaped(show_cell(value)), getattr(value, "band", "")
    if isinstance(value, Verdict):
        return f'<span aria-hidden="true">{VERDICT_SIGNS[band]}</span> {text}'
    if band:
        return f'<span aria-hidden="true">{SIGNS[band]}</span> {text}<span class="unseen"> ({band})</span>'
    below = f"<small>{_escaped(value.below)}</small>" if isinstance(value, ShownNumber) and value.below else ""
    return (text if text.isascii() else f"<bdi>{text}</bdi>") + below


def _fact_sheet_html(sheet: FactSheet) -> str:
    facts = "".join(
        f"<dt>{_escaped(name)}</dt><dd>{'<br>'.join(map(_escaped, lines))}</dd>" for name, lines in sheet.facts
    )
    title = f'<h3 dir="auto">{_escaped(sheet.title)}</h3>' if sheet.title else ""
    sentence = f"<p>{_escaped(sheet.sentence)}</p>" if sheet.sentence else ""
    code = f"<pre><code>{_escaped_lines(sheet.code)}</code></pre>" if sheet.code else ""
    return f'<div class="facts">{title}{sentence}<dl>{facts}</dl>{code}</div>'


def _notes_html(lines: Iterable[str]) -> str:
    items = "".join(f'<li dir="auto">{_escaped(line)}</li>' for line in lines)
    return f'<ul class="notes">{items}</ul>' if items else ""


def cards_to_html(cards: Sequence[Card]) -> str:
    """Headline numbers as a list. Everything in it is escaped."""
    return f'<ul class="cards" aria-label="Headline numbers">{"".join(map(_card_html, cards))}</ul>' if cards else ""


def _card_html(card: Card) -> str:
    band = f' <span class="band {card.band}">{card.band}</span>' if card.band else ""
    value = "value" if card.value.removesuffix(" %")[-1:].isdigit() else "value word"
    title = f' title="{_escaped(card.exact)}"' if card.exact else ""
    lines_by_class = {"verdict": card.verdict, "": card.interval, "quiet": card.hint}
    lines = "".join(
        f'<p{_class(name)} dir="auto">{_escaped(text)}</p>' for name, text in lines_by_class.items() if text
    )
    return (
        f'<li class="card"><p class="name" dir="auto"{_on_hover(card.name)}>{_escaped(card.name)}</p>'
        f'<p class="{value}"{title}>{_escaped(card.value)}{band}</p>{lines}{_scale_html(card.scale)}</li>'
    )


def _scale_html(scale: Scale | None) -> str:
    if scale is None:
        return ""

    def place(value: float) -> float:
        return 100 * min(max((value - scale.low) / (scale.high - scale.low), 0.0), 1.0)

    inside = '<line class="track" x1="0" x2="100%" y1="9" y2="9"/>'
    if scale.lo is not None and scale.hi is not None:
        inside += f'<line class="span" x1="{place(scale.lo):.2f}%" x2="{place(scale.hi):.2f}%" y1="9" y2="9"/>'
    for mark, _ in scale.marks:
        inside += f'<line class="mark" x1="{place(mark):.2f}%" x2="{place(mark):.2f}%" y1="4" y2="14"/>'
    inside += f'<circle class="dot" cx="{place(scale.value):.2f}%" cy="9" r="6"/>'
    ends = "".join(f"<span>{show_number(end)}</span>" for end in (scale.low, scale.high))
    return f'<svg class="scale" aria-hidden="true">{inside}</svg><div class="ends" aria-hidden="true">{ends}</div>'


def _escaped(text: str) -> str:
    """A text that can do nothing but be read."""
    from html import escape  # its table of entities takes a while to load

    return escape(printable(text))


def _escaped_lines(text: str) -> str:
    return "\n".join(map(_escaped, text.split("\n")))


_SWITCH = (
    '<fieldset class="look"><legend>Theme</legend>'
    '<label><input type="radio" name="look" id="system" checked> System</label>'
    '<label><input type="radio" name="look" id="light"> Light</label>'
    '<label><input type="radio" name="look" id="dark"> Dark</label></fieldset>'
)
