"""Documents as Markdown: tables of pipes, and names that can do nothing."""

from __future__ import annotations

from markdown_it import MarkdownIt

from tallymark.rendering.document import Code, Document, Notes, Section
from tallymark.rendering.fact_sheet import FactSheet
from tallymark.rendering.markdown import table_to_markdown, to_markdown
from tallymark.rendering.table import BandedNumber, Table

EVIL = "<b>|x|</b> [a](http://b) `c` *d* _e_ $f$ &amp;\n# g"


def test_a_markdown_table_aligns_numbers_right():
    """Numbers on the right, bands in words, notes as a list."""
    table = Table("t", ("name", "value"), [("a", 1.5), ("b", BandedNumber(0.5, "poor"))], ["mind"], numbers=("value",))
    assert table_to_markdown(table) == (
        "**t**\n\n| name | value |\n| --- | ---: |\n| a | 1.5 |\n| b | 0.5 (poor) |\n\n- mind"
    )


def test_names_are_shown_as_they_are():
    """No tag, link, emphasis, code, cell or heading comes of a name."""
    table = Table(EVIL, ("name", EVIL), [(EVIL, EVIL)], [EVIL])
    html = MarkdownIt().enable("table").render(table_to_markdown(table))
    assert html.count("<td>") == 2
    assert html.count("<th>") == 2
    for tag in ("<b>", "<a ", "<code>", "<em>", "<h1>"):
        assert tag not in html
    assert "&lt;b&gt;|x|&lt;/b&gt; [a](http://b) `c` *d* _e_ $f$ &amp;amp;" in html


def test_a_document_leaves_out_what_is_folded():
    """Headings, facts, code in fences that it cannot leave, and nothing of what is folded."""
    parts = [FactSheet("s", "It is.", [("n", ["one", "two"])]), Code("Type", "x = '```'"), Notes(["k"])]
    folded = Section("c", "Hidden", "", [Notes(["more"])], folded=True)
    text = to_markdown(Document("T", "3 rows", [], [Section("a", "Part", "Words.", parts), folded]))
    assert text == (
        "# T\n\n3 rows\n\n"
        "## Part\n\nWords.\n\n### s\n\nIt is.\n\n- n: one two\n\nType:\n\n````\nx = '```'\n````\n\n- k\n"
    )
