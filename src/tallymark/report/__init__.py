"""Renderings of plain tables, and of sheets in `report.sheet`. Nothing here knows what a metric is."""

from tallymark.report.frames import Frames
from tallymark.report.html import to_html
from tallymark.report.json import to_json
from tallymark.report.table import Banded, Table, show_number
from tallymark.report.text import to_text

__all__ = ["Frames", "Banded", "Table", "show_number", "to_html", "to_json", "to_text"]
