"""The Markdown pages, and what stands in them."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(
    [*ROOT.glob("*.md"), *DOCS.rglob("*.md"), *(ROOT / "bench").glob("*.md"), *(ROOT / "examples").glob("*.md")]
)
FENCE = re.compile(r"^```(?P<language>\w*)\n(?P<code>.*?)^```$", re.DOTALL | re.MULTILINE)


def named(path: Path) -> str:
    return str(path.relative_to(ROOT))


def blocks(path: Path, *languages: str) -> list[str]:
    """The code of a page in these languages."""
    return [found["code"] for found in FENCE.finditer(path.read_text()) if found["language"] in languages]


def loads_framework(path: Path) -> bool:
    """Whether the code of a page trains with a framework, which takes seconds to load."""
    return any("workflow.integrations" in code for code in blocks(path, "python"))


def loads_engine(path: Path) -> bool:
    """Whether the code of a page needs a cluster, which is there in the tests of engines only."""
    return any(re.search(r"^>>> (import|from) (dask|pyspark|ray)\b", code, re.M) for code in blocks(path, "python"))


def prose(path: Path) -> str:
    """A page without its code."""
    return FENCE.sub("", path.read_text())


def anchors(path: Path) -> set[str]:
    """What a link can name within a page: its headings, as forges and the site write them."""
    headings = re.findall(r"^#+ (.+)$", prose(path), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-") for heading in headings}
