"""Formatting: Markdown of organisers runs nothing and loads nothing."""

from __future__ import annotations

import re

import pytest

from tallymark.app.pages.formatting import render_markdown

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    "text",
    [
        "[x](javascript:alert(1))",
        "[x](JaVaScRiPt:alert(1))",
        "[x](data:text/html,<script>alert(1)</script>)",
        "[x](vbscript:x)",
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "<a href='javascript:alert(1)'>x</a>",
        "![x](https://evil.example/pixel.png)",
        "![x](javascript:alert(1))",
        "<javascript:alert(1)>",
        "[x]: javascript:alert(1)\n\n[x]",
        '[x](https://a.example "onclick=alert(1)")',
        "```\n</code></pre><script>alert(1)</script>\n```",
        "| a |\n|---|\n| <script>alert(1)</script> |",
        '[a](https://a.example/"onmouseover="alert(1))',
    ],
)
def test_rules_cannot_run_anything(text):
    """Markdown makes text, lists, tables and plain links; nothing of it runs or is loaded from elsewhere."""
    made = str(render_markdown(text))
    tags = re.findall(r"<(\w+)([^>]*)>", made)
    assert {name for name, _ in tags} <= {"p", "a", "code", "pre", "table", "thead", "tbody", "tr", "th", "td"}
    for name, facts in tags:
        held = dict(re.findall(r'([\w-]+)="([^"]*)"', facts))
        assert set(held) <= {"href", "title"}, facts
        assert re.match(r"https?://", held.get("href", "https://")), facts
        assert name == "a" or not facts.strip()
