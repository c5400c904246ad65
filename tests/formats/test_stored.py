"""What earlier releases wrote loads, with the values that it had."""

from __future__ import annotations

import json

import pytest

import tallymark as tm
from tests.formats.samples import DOCUMENTS, STORED, TALLIES


def kept(pattern):
    """The stored files of all releases."""
    return [pytest.param(path, id=str(path.relative_to(STORED))) for path in sorted(STORED.glob(f"*/{pattern}"))]


def missing_from(later, earlier, place="document"):
    """Where something of an earlier document is not in a later one, which may have more members."""
    if isinstance(earlier, dict) and isinstance(later, dict):
        lost = [f"{place}.{key}" for key in earlier if key not in later]
        shared = [key for key in earlier if key in later]
        return lost + [each for key in shared for each in missing_from(later[key], earlier[key], f"{place}.{key}")]
    if isinstance(earlier, list) and isinstance(later, list) and len(earlier) == len(later):
        pairs = enumerate(zip(later, earlier, strict=True))
        return [each for k, (new, old) in pairs for each in missing_from(new, old, f"{place}[{k}]")]
    return [] if type(earlier) is type(later) and earlier == later else [place]


def test_what_is_missing_is_found():
    """A lost member, another value, another type and another length; new members are fine."""
    earlier = {"a": [1, {"b": None}], "c": "x"}
    assert missing_from({"a": [1, {"b": None, "new": 1}], "c": "x"}, earlier) == []
    assert missing_from({"a": [1, {}]}, earlier) == ["document.c", "document.a[1].b"]
    assert missing_from({"a": [1.0, {"b": 0}], "c": "x"}, earlier) == ["document.a[0]", "document.a[1].b"]
    assert missing_from({"a": [1], "c": ["x"]}, earlier) == ["document.a", "document.c"]


@pytest.mark.parametrize("path", kept("report/*.json"))
def test_reports_of_earlier_releases_load(path):
    """With everything that was written; they print, and are accepted or refused by their values."""
    text = path.read_text()
    report, data = tm.Report.from_json(text), json.loads(text)
    assert missing_from(json.loads(report.to_json()), data) == []
    assert {key: cell["value"] for key, cell in data["metrics"].items() if isinstance(cell["value"], float)} == {
        key: report[key] for key, cell in data["metrics"].items() if isinstance(cell["value"], float)
    }
    assert f"{data['n']:,} row" in str(report)


def numbers(report):
    """The values and intervals of a report and of its groups."""
    cells = {key: {name: cell.get(name) for name in ("value", "lo", "hi")} for key, cell in report["metrics"].items()}
    return [cells, *map(numbers, report.get("slices", {"groups": []})["groups"])]


@pytest.mark.parametrize("path", kept("tally/*.tally"))
def test_tallies_of_earlier_releases_load(path):
    """Each has a twin with the report that it gave: values and intervals are the same, and it adds to a new tally."""
    tally = tm.Tally.from_bytes(path.read_bytes())
    again, expected = json.loads(tally.report().to_json()), json.loads(path.with_suffix(".json").read_text())
    assert numbers(again) == numbers(expected)
    assert (again["n"], again["total_weight"]) == (expected["n"], expected["total_weight"])
    if path.stem in TALLIES:
        assert (tally + TALLIES[path.stem]()).report().n == 2 * expected["n"]


@pytest.mark.parametrize("path", kept("history/*.json"))
def test_histories_of_earlier_releases_load(path):
    """With every round."""
    text = path.read_text()
    history = tm.training.History.from_json(text)
    assert missing_from(json.loads(history.to_json()), json.loads(text)) == []


def test_every_format_is_stored():
    """Documents of each schema, and tallies."""
    assert {path.parent.name for path in STORED.glob("*/*/*.*")} >= {*DOCUMENTS, "tally"}


def with_new_members(data):
    """A document of a later release: every record has a member more; mappings by name have not."""
    if isinstance(data, list):
        return [with_new_members(each) for each in data]
    if not isinstance(data, dict):
        return data
    by_name = ("metrics", "baselines", "group")
    values = {
        key: {name: with_new_members(each) for name, each in value.items()}
        if key in by_name
        else value
        if key in ("value", "lo", "hi")
        else with_new_members(value)
        for key, value in data.items()
    }
    return {**values, "new": {"a": 1}}


@pytest.mark.parametrize("path", kept("report/*.json"))
def test_reports_of_later_releases_load(path):
    """What this release does not know is ignored."""
    data = json.loads(path.read_text())
    later = tm.Report.from_json(json.dumps(with_new_members(data)))
    assert json.loads(later.to_json()) == json.loads(tm.Report.from_json(path.read_text()).to_json())
