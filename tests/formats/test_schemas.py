"""The published schemas of JSON: what is written today, and what releases wrote, follows them."""

from __future__ import annotations

import copy
import json

import pytest
from jsonschema import Draft202012Validator
from referencing import Registry
from referencing.jsonschema import DRAFT202012

import tallymark as tm
from tests.docs.pages import DOCS
from tests.formats.samples import DOCUMENTS, STORED, written
from tests.stored_values import inputs

SCHEMAS = {path.name: json.loads(path.read_text()) for path in sorted((DOCS / "schemas").glob("*.json"))}
WRITTEN = [
    pytest.param(schema, sample, id=f"{schema}: {name}")
    for schema, documents in DOCUMENTS.items()
    for name, sample in documents.items()
]
KEPT = [
    pytest.param(schema, path, id=str(path.relative_to(STORED)))
    for schema in DOCUMENTS
    for path in sorted(STORED.glob(f"*/{schema}/*.json"))
]


def closed(schema):
    """The same schema without members that it does not name: readers skip those, and we must not write them."""
    if isinstance(schema, list):
        return [closed(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    unnamed = {"additionalProperties": False} if schema.get("type") == "object" and "properties" in schema else {}
    return {**unnamed, **{key: closed(each) for key, each in schema.items()}}


def validator(name, schemas):
    resources = [(key, DRAFT202012.create_resource(schema)) for key, schema in schemas.items()]
    registry = Registry().with_resources(resources)
    return Draft202012Validator({"$ref": f"{name}.json"}, registry=registry)


CLOSED = {name: closed(schema) for name, schema in SCHEMAS.items()}


def check(name, text):
    validator(name, CLOSED).validate(json.loads(text))


def test_every_schema_is_a_schema_of_a_document():
    """Each is of the draft that it names, has samples, and is linked from the page on compatibility."""
    page = (DOCS / "compatibility.md").read_text()
    assert all(f"](schemas/{name})" in page for name in SCHEMAS)
    assert {path.removesuffix(".json") for path in SCHEMAS} == set(DOCUMENTS)
    for schema in SCHEMAS.values():
        Draft202012Validator.check_schema(schema)
        assert schema["$schema"] == Draft202012Validator.META_SCHEMA["$id"]


@pytest.mark.parametrize(("schema", "sample"), WRITTEN)
def test_documents_follow_their_schema(schema, sample):
    """With no member that the schema does not name."""
    check(schema, written(sample))


@pytest.mark.parametrize("given", [pytest.param(given, id=name) for name, given in inputs(0) if name != "nothing"])
def test_reports_of_every_metric_follow_the_schema(given):
    """On rows of every kind, with the errors of those that cannot read them."""
    metrics = [item for item in map(str, tm.list_metrics()) if item not in ("gap", "ratio", "worst")]
    report = tm.evaluate(given.pop("y_true"), given.pop("y_pred"), metrics, errors="report", **given)
    check("report", report.to_json())


@pytest.mark.parametrize(("schema", "path"), KEPT)
def test_documents_of_earlier_releases_follow_the_schema(schema, path):
    """A schema changes so that it allows what it allowed."""
    validator(schema, SCHEMAS).validate(json.loads(path.read_text()))


def test_a_schema_finds_what_is_wrong():
    """Missing and mistyped members, and in the closed form unknown ones."""
    report = json.loads(tm.evaluate([1.0, 2.0], [1.0, 3.0], ["mae"], by=["a", "b"]).to_json())
    assert validator("report", CLOSED).is_valid(report)
    changes = [
        lambda data: data.pop("n"),
        lambda data: data.update(n=-1),
        lambda data: data["metrics"]["mae"].update(value="0.5"),
        lambda data: data["metrics"]["mae"].pop("better"),
        lambda data: data["slices"]["groups"][0].pop("group"),
        lambda data: data["slices"]["groups"][0]["metrics"]["mae"].update(value=["x"]),
    ]
    for change in changes:
        changed = copy.deepcopy(report)
        change(changed)
        assert not validator("report", SCHEMAS).is_valid(changed)
    report["slices"]["groups"][0]["metrics"]["mae"]["new"] = 1
    assert validator("report", SCHEMAS).is_valid(report)
    assert not validator("report", CLOSED).is_valid(report)
