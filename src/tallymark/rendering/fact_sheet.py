"""Facts about one thing under their names, as text and as HTML."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from tallymark.rendering.html_table import STYLE
from tallymark.rendering.text import printable

WIDTH = 96  # columns of text


class FactSheet(NamedTuple):
    """A title, a sentence, named facts of one or more lines, and code with its output."""

    title: str
    sentence: str
    facts: Sequence[tuple[str, Sequence[str]]]
    code: str = ""


def fact_sheet_to_text(sheet: FactSheet) -> str:
    """The names of the facts in a column, their lines wrapped beside them, the code below."""
    import textwrap  # slow to load, and few ask

    indent = max((len(name) for name, _ in sheet.facts), default=0) + 2

    def wrap(text: str, first: str, rest: str) -> list[str]:
        return textwrap.wrap(printable(text), WIDTH, initial_indent=first, subsequent_indent=rest) or [first.rstrip()]

    lines = [printable(sheet.title), "", *wrap(sheet.sentence, "", ""), ""]
    for name, fact_lines in sheet.facts:
        for k, text in enumerate(fact_lines):
            lines += wrap(text, ("" if k else name).ljust(indent), " " * indent)
    if sheet.code:
        lines += ["", *(printable(line) for line in sheet.code.splitlines())]
    return "\n".join(lines)


def fact_sheet_to_html(sheet: FactSheet) -> str:
    """The same as a fragment of HTML with its own style. Everything is escaped."""
    from html import escape  # its table of entities takes a while to load

    body = "".join(
        f'<tr><th scope="row">{escape(name)}</th><td>{"<br>".join(map(escape, fact_lines))}</td></tr>'
        for name, fact_lines in sheet.facts
    )
    code = f"<pre>{escape(sheet.code)}</pre>" if sheet.code else ""
    return (
        f'<div class="tallymark"><style>{STYLE}</style><table><caption>{escape(sheet.title)}</caption>'
        f'<tbody><tr><td colspan="2">{escape(sheet.sentence)}</td></tr>{body}</tbody></table>{code}</div>'
    )
