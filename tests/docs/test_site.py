"""The site: built without a warning, without a request to the network, with every page in its contents."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

import tallymark as tm
from tests.docs.pages import DOCS

sys.path.insert(0, str(DOCS))
from site_pages import contents, rewritten

sys.path.pop(0)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The built site."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "-d", folder / "doctrees", DOCS, folder / "html"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder / "html"


def test_the_contents_come_from_the_front_page():
    """Every list of links below a heading is a part of the contents; other links are not."""
    front = "# Title\n\n[no](a.md)\n\n## Start\n\n- [One](b.md): first.\n- no link\n\n## How to\n\n- [Two](c/d.md)\n"
    shown = contents(front)
    assert shown.count("{toctree}") == 2
    assert ":caption: Start\n\nOne <b>\n" in shown
    assert ":caption: How to\n\nTwo <c/d>\n" in shown
    assert "a.md" not in shown


def test_an_example_ends_where_its_code_ends():
    """The empty line that tells doctest where output stops is not shown; other empty lines are."""
    page = "```python\n>>> 1\n1\n\n>>> 2\n2\n\n```\n\n```python\n>>> 3\n3\n```\n"
    assert rewritten("page", page) == page.replace("2\n\n```", "2\n```")


@pytest.mark.slow
def test_the_site_asks_the_network_for_nothing(site):
    """No font, script, style or picture comes from elsewhere."""
    loads = re.compile(
        r"""<(?:script|img|iframe|source)[^>]+src(?:set)?=["'](?:https?:)?//|<link[^>]+href=["'](?:https?:)?//"""
    )
    for page in site.rglob("*.html"):
        assert not loads.search(page.read_text()), page
    for style in site.rglob("*.css"):
        assert not re.search(r"""(?:url\(|@import)\s*["']?(?:https?:)?//""", style.read_text()), style


@pytest.mark.slow
def test_the_site_has_every_page(site):
    """And the front page leads to each of them."""
    front = (site / "index.html").read_text()
    for page in DOCS.rglob("*.md"):
        built = page.relative_to(DOCS).with_suffix(".html")
        assert (site / built).exists()
        assert page.name == "index.md" or f'href="{built}"' in front, built


@pytest.mark.slow
def test_the_schemas_have_addresses_of_their_own(site):
    """The page links the files themselves, beside each other, as they refer to each other."""
    page = (site / "compatibility.html").read_text()
    for schema in (DOCS / "schemas").iterdir():
        assert f'href="schemas/{schema.name}"' in page
        assert (site / "schemas" / schema.name).read_text() == schema.read_text()


@pytest.mark.slow
def test_every_page_names_its_version(site):
    """Beside the mark and in its title, so that the sites of several releases can be told apart."""
    for name in ("index.html", "how-to/install.html"):
        page = (site / name).read_text()
        assert f'<span class="sidebar-brand-text">tallymark {tm.__version__}</span>' in page
        assert re.search(rf"<title>.*tallymark {re.escape(tm.__version__)}", page)


@pytest.mark.slow
def test_links_within_the_site_are_relative(site):
    """So that it can be hosted in any folder."""
    for page in site.rglob("*.html"):
        assert not re.search(r"""(?:href|src)=["']/""", page.read_text()), page


@pytest.mark.slow
def test_the_search_knows_the_metrics(site):
    """Offline: the index is a script of the site."""
    index = (site / "searchindex.js").read_text()
    for word in ("balanced_accuracy", "threshold"):
        assert word in index
