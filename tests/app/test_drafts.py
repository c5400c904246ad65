"""Drafts: every field of the form is checked, and every invalid one has its error."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from tallymark.app.domain import drafts
from tallymark.app.domain.errors import FormError
from tests.app.stage import FORM

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("title", "x"),
        ("title", "x" * 101),
        ("slug", "new"),
        ("slug", "!!!"),
        ("summary", "x" * 301),
        ("rules", "x" * 50_001),
        ("quota", "0"),
        ("quota", "-1"),
        ("quota", "1001"),
        ("quota", "٣"),
        ("quota", "9" * 5000),
        ("finals", "1.5"),
        ("late", "maybe"),
        ("opens", "tomorrow"),
        ("deadline", "2027-13-01T00:00"),
        ("task", "poems"),
        ("missing", "guess"),
        ("split", "somehow"),
        ("metrics", "no_such_metric"),
    ],
)
def test_every_field_is_checked(field, value):
    """What cannot be is told beside its field."""
    with pytest.raises(FormError) as caught:
        drafts.parse_draft({**FORM, field: value})
    assert list(caught.value.errors) == [field]


@pytest.mark.parametrize(
    ("form", "field"),
    [
        ({"split": "seeded", "split_share": "0"}, "split_share"),
        ({"split": "seeded", "split_share": "100"}, "split_share"),
        ({"split": "seeded", "split_share": "nan"}, "split_share"),
        ({"split": "seeded", "split_share": "30", "split_seed": "-1"}, "split_seed"),
        ({"split": "column"}, "split_column"),
        ({"opens": "2027-03-05T00:00", "deadline": "2027-03-05T00:00"}, "deadline"),
    ],
)
def test_fields_are_checked_together(form, field):
    """A split needs what it is made from, and the end comes after the beginning."""
    with pytest.raises(FormError) as caught:
        drafts.parse_draft({**FORM, **form})
    assert list(caught.value.errors) == [field]


@pytest.mark.parametrize("text", ["2027-03-05T12:00", "2027-03-05T12:00Z", "2027-03-05T14:00+02:00"])
def test_times_are_in_utc(text):
    """A time without a zone is in UTC; one with a zone is the moment that it says."""
    assert drafts.parse_draft({**FORM, "deadline": text}).rules["deadline"] == datetime(2027, 3, 5, 12, tzinfo=UTC)
