"""Turns plain Markdown into what the site needs: lists of links into contents, search terms into index entries."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

FRONT = "index"
SECTION = re.compile(r"^## (?P<title>.+)\n(?P<body>(?:(?!^## ).*\n?)*)", re.MULTILINE)
ITEM = re.compile(r"^- \[(?P<title>[^\]]+)\]\((?P<page>[^)#:]+)\.md\)", re.MULTILINE)
SEARCH = re.compile(r"^<!-- search: (?P<terms>.+?) -->$", re.MULTILINE | re.DOTALL)
SCHEMA = re.compile(r"\]\((?P<path>[\w/.]*schemas/[\w-]+\.json)\)")
LAST_LINE = re.compile(r"\n\n```(?=\n|$)")  # where an example ends, for those who run it


def install(app: Any) -> None:
    """Read every page through `rewritten`, give every heading of the contents its level, and publish the schemas."""
    app.connect("source-read", lambda _, name, source: source.__setitem__(0, rewritten(name, source[0])))
    app.connect("html-page-context", lambda *given: level_headings(given[3]), priority=900)  # after the theme's own
    app.connect("build-finished", lambda app, _: publish_schemas(Path(app.srcdir), Path(app.outdir)))


def rewritten(name: str, text: str) -> str:
    """A page as Sphinx is to read it."""
    text = SEARCH.sub(lambda found: index(found["terms"]), LAST_LINE.sub("\n```", text))
    text = SCHEMA.sub(r"](\g<path>){.external}", text)  # a link to the file itself, and not a download of a copy
    return text + contents(text) if name == FRONT else text


def index(terms: str) -> str:
    """Entries of the index, separated by semicolons in a comment below a heading: a search for one leads there."""
    return f"```{{index}} {', '.join(f'! {term.strip()}' for term in terms.split(';'))}\n```"


def contents(front: str) -> str:
    """The contents of the site: every list of links on the front page, under the heading that it stands below."""
    blocks = []
    for section in SECTION.finditer(front):
        pages = ITEM.findall(section["body"])
        if pages:
            lines = [f"{title} <{page}>" for title, page in pages]
            blocks.append("\n".join(["```{toctree}", ":hidden:", f":caption: {section['title']}", "", *lines, "```"]))
    return "\n\n" + "\n\n".join(blocks) + "\n"


def level_headings(context: dict[str, Any]) -> None:
    """A heading by its role needs a level, or a screen reader cannot place it."""
    tree = context.get("furo_navigation_tree", "")
    context["furo_navigation_tree"] = tree.replace('role="heading">', 'role="heading" aria-level="2">')


def publish_schemas(docs: Path, site: Path) -> None:
    """Copy the schemas into the site, where they keep their addresses."""
    shutil.copytree(docs / "schemas", site / "schemas", dirs_exist_ok=True)
