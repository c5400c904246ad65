"""The table of methods: code and documentation have the same."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.laws.cases import METRICS, random_rows

import tallymark as tm
from tallymark.intervals.methods import METHODS

PAGE = Path(__file__).resolve().parents[2] / "docs" / "concepts" / "intervals.md"


def test_the_page_has_the_table():
    """Line by line."""
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    wanted = [f"| {each.name} | {each.used_for} | {each.description} | {each.reference} |" for each in METHODS]
    assert [line for line in wanted if line not in lines] == []


@pytest.mark.parametrize("metric", METRICS, ids=str)
def test_every_interval_has_a_method_of_the_table(metric):
    """By whatever method it was found."""
    rows, names = random_rows(metric, 40, 1), {each.name for each in METHODS}
    asked = {"ci": tm.Intervals(0.9, resamples=19), "query": rows.q, **rows.facts}
    method = tm.evaluate(rows.y, rows.p, [metric], **asked).cell(metric).method
    assert method in {None, "bounded", *names}
