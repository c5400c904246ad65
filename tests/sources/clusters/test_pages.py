"""The pages about engines: their code runs, each on its engine."""

from __future__ import annotations

import doctest

import pytest

from tests.docs.pages import DOCS, PAGES, blocks, loads_engine, named


@pytest.mark.parametrize(("engine", "page"), [("dask_client", "dask"), ("spark", "spark"), ("ray", "ray")])
def test_the_code_prints_the_output_shown(engine, page, request):
    """Every example gives the output that stands below it."""
    request.getfixturevalue(engine)
    code = "\n".join(blocks(DOCS / "how-to" / f"{page}.md", "python"))
    assert doctest.DocTestRunner().run(doctest.DocTestParser().get_doctest(code, {}, page, page, 0)).failed == 0


def test_no_page_is_forgotten():
    """Pages that need an engine are left out where others run."""
    found = [named(page) for page in PAGES if loads_engine(page)]
    assert found == [f"docs/how-to/{page}.md" for page in ("dask", "ray", "spark")]
