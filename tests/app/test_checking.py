"""The settings of the check in the browser."""

from __future__ import annotations

import json

import pytest

import tallymark as tm
from tallymark.app.checking import check_settings
from tallymark.submissions.rules import rules_as_json


def test_the_settings_are_those_of_the_challenge():
    """The rules are the whole table; names are read as in a header; there is nothing of the answers."""
    limits = tm.Limits(bytes=5_000, rows=10, labels=3)
    held = json.loads(
        check_settings(id=" key ", task="probabilities", classes=["cat", "dog "], limits=limits, separator="tab")
    )
    assert held.pop("rules") == json.loads(rules_as_json())
    assert held.pop("forms")["later"][:2] == ["50415231", "1f8b"]
    assert held == {
        "id": "key",
        "label": "label",
        "task": "probabilities",
        "classes": ["cat", "dog"],
        "separator": "\t",
        "limits": {"bytes": 5_000, "rows": 10, "columns": 10_000, "field_length": 100_000, "labels": 3},
    }


def test_no_name_ends_the_script_that_holds_the_settings():
    """A less-than sign is written as an escape."""
    text = check_settings(label="</script><script>")
    assert "<" not in text
    assert json.loads(text)["label"] == "</script><script>"


@pytest.mark.parametrize(
    "wrong", [{"task": "x"}, {"id": ""}, {"classes": ["a"]}, {"limits": tm.Limits(rows=-1)}], ids=str
)
def test_wrong_arguments_are_refused(wrong):
    """As the reader of submissions refuses them."""
    with pytest.raises(tm.ParameterError):
        check_settings(**wrong)
