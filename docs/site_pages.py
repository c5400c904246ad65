"""Turns what is plain in Markdown into what the site needs: links into its contents, pictures into both looks."""

from __future__ import annotations

import re
from typing import Any

FRONT = "index"
SECTION = re.compile(r"^## (?P<title>.+)\n(?P<body>(?:(?!^## ).*\n?)*)", re.MULTILINE)
ITEM = re.compile(r"^- \[(?P<title>[^\]]+)\]\((?P<page>[^)#:]+)\.md\)", re.MULTILINE)
LAST_LINE = re.compile(r"\n\n```(?=\n|$)")  # where an example ends, for those who run it
PICTURE = re.compile(
    r'<picture>\s*<source media="\(prefers-color-scheme: dark\)" srcset="(?P<dark>[^"]+)">\s*'
    r'<img alt="(?P<alt>[^"]+)" src="(?P<light>[^"]+)"[^>]*>\s*</picture>'
)


def install(app: Any) -> None:
    """Read every page through `rewritten`."""
    app.connect("source-read", lambda _, name, source: source.__setitem__(0, rewritten(name, source[0])))


def rewritten(name: str, text: str) -> str:
    """A page as Sphinx is to read it."""
    text = LAST_LINE.sub("\n```", PICTURE.sub(both_looks, text))
    return text + contents(text) if name == FRONT else text


def contents(front: str) -> str:
    """The contents of the site: every list of links on the front page, under the heading that it stands below."""
    blocks = []
    for section in SECTION.finditer(front):
        pages = ITEM.findall(section["body"])
        if pages:
            lines = [f"{title} <{page}>" for title, page in pages]
            blocks.append("\n".join(["```{toctree}", ":hidden:", f":caption: {section['title']}", "", *lines, "```"]))
    return "\n\n" + "\n\n".join(blocks) + "\n"


def both_looks(picture: re.Match[str]) -> str:
    """A picture in two looks as two images, of which the theme shows the one that fits."""
    alt = picture["alt"]
    return "\n".join(f"![{alt}]({picture[look]}){{.only-{look}}}" for look in ("light", "dark"))
