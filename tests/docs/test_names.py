"""What is public is documented, and what is documented exists."""

from __future__ import annotations

import importlib
import re
import sys

import pytest

import tallymark as tm
from tallymark.metrics import registry
from tests.docs.pages import DOCS, PAGES, ROOT, anchors, blocks, named, prose

sys.path.insert(0, str(DOCS))
from generators import api_pages

sys.path.pop(0)

PARTS = {"errors"}


def public() -> list[str]:
    """Every public name of the package that is no module and not borrowed."""
    values = {name: getattr(tm, name) for name in dir(tm) if not name.startswith("_")}
    return [name for name, value in values.items() if getattr(value, "__module__", "").startswith("tallymark")]


def test_every_public_name_has_a_docstring():
    """Classes and functions alike."""
    for name in public():
        assert (getattr(tm, name).__doc__ or "").strip(), name


def documented_metrics(family: str = "*") -> set[str]:
    """The names of the metrics that have a section in the reference, as its strings give them."""
    pages = [page.read_text() for page in (DOCS / "reference").glob(f"{family}.md")]
    return {name for page in pages for name in re.findall(r"^- In strings: `(\w+)`", page, re.MULTILINE)}


def test_every_public_name_stands_in_the_reference():
    """Metrics under their family, everything else among the names; a name without a page belongs into one of `PAGES`
    in docs/generators/api_pages.py."""
    metrics = documented_metrics()
    names = set().union(*(anchors(page) for page in (DOCS / "api").glob("*.md")))
    classes = {cls.__name__: name for name, cls in registry.classes.items()}
    for name in public():
        if name in registry.classes or name in classes:
            assert classes.get(name, name) in metrics, name
        else:
            assert name.lower() in names, name


def test_every_listed_metric_has_a_section():
    """On the page of its family: metrics of groups too, which are no classes; and ways to make such."""
    for item in tm.list_metrics():
        if str(item) in registry.makers or getattr(tm, type(item).__name__, None) is type(item):
            assert str(item) in documented_metrics(item.family)
    assert set(registry.makers) <= documented_metrics("fairness")


def test_a_reference_page_begins_with_the_names_and_meanings_of_its_metrics():
    """The table comes before everything else, and has a row with meaning, direction and range for every section."""
    for page in (DOCS / "reference").glob("*.md"):
        first, *sections = page.read_text().split("\n## ")
        rows = re.findall(r"^\| \[(.+)\]\(#.+\) \| (.+\.) \| (.*) \| (.*) \|$", first, re.MULTILINE)
        assert [row[0] for row in rows] == [part.partition("\n")[0] for part in sections[1:]]
        assert first.index("| metric | meaning | better | range |") < 400


def test_every_metric_stands_in_the_changelog():
    """So that a release says what is new."""
    changelog = (ROOT / "CHANGELOG.md").read_text()
    for name, cls in registry.classes.items():
        if getattr(tm, cls.__name__, None) is cls:
            assert f"`{name}`" in changelog, name


@pytest.mark.parametrize("path", PAGES, ids=named)
def test_names_that_are_mentioned_exist(path):
    """`tm.x` in text and in code, and what follows it: methods of classes, parts of the package."""
    text = prose(path) + "\n".join(blocks(path, "python"))
    for chain in re.findall(r"(?<![\w.])tm((?:\.[A-Za-z_]\w*)+)", text):
        held = tm
        for part in chain[1:].split("."):
            if held is tm and part in PARTS:
                held = importlib.import_module(f"tallymark.{part}")
                continue
            assert hasattr(held, part), f"tm{chain}"
            held = getattr(held, part)
            if not isinstance(held, type):
                break  # what a call returns is told by the examples


@pytest.mark.parametrize("path", PAGES, ids=named)
def test_metrics_that_are_named_in_code_spans_exist(path):
    """A code span with the form of a metric in a string, such as `fscore(beta=2)`, can be read."""
    for text in re.findall(r"`([a-z_0-9]+\([a-z_]+=[^`()]*\))`", prose(path)):
        if text.split("(")[0] in registry.classes:
            assert tm.metric(text.replace("=…", "=1")) is not None


def test_every_metric_is_worked_through():
    """Formula, reading, pitfalls and an example: no metric has less than the others."""
    for page in (DOCS / "reference").glob("*.md"):
        for section in page.read_text().split("\n## ")[2:]:  # after the table and the notation
            name = section.split("\n")[0]
            for part in ("```text\n", "\n- Call: `tm.", "\n- Reading: ", "\n- Outliers: ", "\n```python\n>>> "):
                assert part in section, f"{name} lacks {part.strip()}"


CALLED = [
    (name, value)
    for page in api_pages.PAGES
    for name in page.names
    if not isinstance(value := api_pages.public_value(name), tm.extend.Metric)
    and (not isinstance(value, type) or name in api_pages.MADE_BY_CALLERS)
]


@pytest.mark.parametrize(("name", "value"), CALLED, ids=[name for name, _ in CALLED])
def test_every_parameter_of_a_large_function_is_explained(name, value):
    """In its own docstring or, if it is shared, in that of `evaluate`; and no other name is."""
    found = api_pages.parameters(value) or []
    assert api_pages.meanings(value).keys() <= {part.name for part in found}
    if len(found) >= api_pages.MANY:
        page = next(page.name for page in api_pages.PAGES if name in page.names)
        section = (DOCS / "api" / f"{page}.md").read_text().split(f"\n## {name}\n")[1].split("\n## ")[0]
        for part in found:
            assert re.search(rf"^\| `\**{part.name}` \| .* \| \S.*\. \|$", section, re.MULTILINE), part.name


def test_every_parameter_of_a_framework_is_explained():
    """No row of a table is without a meaning."""
    text = (DOCS / "api" / "frameworks.md").read_text()
    rows = re.findall(r"^\| `\**\w+` \| .* \| (.*) \|$", text, re.MULTILINE)
    assert len(rows) > 30
    assert all(meaning.endswith(".") for meaning in rows)
