"""The Markdown pages, and what stands in them."""

from __future__ import annotations

import doctest
import re
from pathlib import Path
from typing import Any

from tallymark.metrics import registry

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
    return any("training.frameworks" in code for code in blocks(path, "python"))


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


def with_blank_lines(code: str) -> str:
    """A block whose outputs may have blank lines, as doctest wants them to be written."""
    lines = code.rstrip("\n").split("\n")
    for k, line in enumerate(lines):
        before = next((each for each in reversed(lines[:k]) if each), "")
        after = next((each for each in lines[k:] if each), ">>>")
        if not line and before and not after.startswith(">>>") and not before.startswith(("...",)):
            lines[k] = "<BLANKLINE>"
    return "\n".join(lines) + "\n"


def run_examples(path: Path, names: dict[str, Any] | None = None) -> tuple[int, list[Any]]:
    """Run the code of a page, whose blocks share their names: how many failed, and the metrics that it defined."""
    page = "\n".join(map(with_blank_lines, blocks(path, "python")))
    example = doctest.DocTestParser().get_doctest(page, names or {}, named(path), str(path), 0)
    known = {**registry.classes, **registry.functions}
    try:
        failed = doctest.DocTestRunner().run(example, clear_globs=False).failed
    finally:
        classes = [registry.classes.pop(name) for name in set(registry.classes) - set(known)]
        functions = [registry.functions.pop(name) for name in set(registry.functions) - set(known)]
    return failed, [*functions, *(cls() for cls in classes)]
