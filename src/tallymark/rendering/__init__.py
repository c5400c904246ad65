"""Rendering: tables, HTML, Markdown, CSV, JSON, data frames and plots of plain data.

`table.py` and `document.py` are the data: a `Table`, and a `Document` of cards, sections and plots. `html_page.py`
makes a document one HTML file, `markdown.py` makes it Markdown; `html_table.py`, `text.py` and `terminal.py` show
single tables in a notebook, as text, and in colours. `exports.py` has the methods that results share: `to_html`,
`to_csv`, `to_pandas`, `save`. Nothing here knows what a metric is.
"""
