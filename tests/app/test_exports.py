"""Exports: the same in CSV and JSON, numbers as numbers, nothing that runs in a spreadsheet; and the audit log."""

from __future__ import annotations

import csv
import io
import json

import pytest

from tallymark.app.domain import moderation
from tallymark.app.domain.exports import to_csv
from tallymark.app.routes import audit_log
from tests.app.stage import guess, table

ROWS = 997
FORM = {"metrics": "accuracy, mcc", "split": "seeded", "split_share": "50", "split_seed": "3"}
FORMULAS = ["=HYPERLINK(1)", "+1+1", "-2+3", "@SUM(A1)", "＝1+1"]


@pytest.fixture
def exported(stage, host):
    """A function that downloads an export: parsed rows."""
    answers = table([f"class {n % 3}" for n in range(ROWS)])
    challenge = stage.challenge(host, answers, **FORM)
    for k, name in enumerate(FORMULAS):
        player = stage.team(challenge, name, stage.person(f"-Ada {k}"))
        key = player.send(table([f"class {n % 3 if n % (k + 3) else 'x'}" for n in range(ROWS)]), f"={k}.csv", "+note")
    player.send(b"row_id,label\nr000,a\nr000,b\n", "@broken.csv")
    moderation.disqualify(stage.service, host, challenge, key, "=two accounts")
    client = stage.client(host)

    def download(name):
        answer = client.get(f"/organise/{challenge.slug}/export/{name}")
        assert answer.status_code == 200
        assert answer.headers["content-disposition"] == f'attachment; filename="{challenge.slug}-{name}"'
        if name.endswith("json"):
            return json.loads(answer.text, parse_constant=pytest.fail)
        assert answer.headers["content-type"].startswith("text/csv")
        return list(csv.DictReader(io.StringIO(answer.text, newline="")))

    return download


@pytest.mark.parametrize("name", ["submissions", "public-leaderboard", "private-leaderboard", "log"])
def test_no_cell_is_a_formula(exported, name):
    """Names, notes, reasons and files that begin like one have an apostrophe; negative numbers have none."""
    rows = exported(f"{name}.csv")
    assert rows
    for row in rows:
        for column, value in row.items():
            if value[:1] in "=+-@\t\r＝" and value:
                assert float(value) < 0, column
    if name != "log":
        assert {row["team"] for row in rows} <= {f"'{each}" for each in FORMULAS}


def test_both_forms_have_the_same_values(exported):
    """The apostrophe is in CSV only."""
    rows, document = exported("submissions.csv"), exported("submissions.json")
    assert len(rows) == len(document["submissions"]) == 6
    for row, each in zip(rows, document["submissions"], strict=True):
        assert row["team"] == f"'{each['team']}"
        assert row["disqualified"].lstrip("'") == (each["disqualified"] or "")
        assert row["late"] == "false"
        for part in ("public", "private"):
            for metric, score in each["scores"][part].items():
                for end, value in score.items():
                    assert row[f"scores {part} {metric} {end}"] == ("" if value is None else repr(value))
    assert [each["state"] for each in document["submissions"]] == ["scored"] * 5 + ["rejected"]
    assert document["submissions"][5]["scores"]["public"]["accuracy"]["value"] is None


def test_a_board_has_the_digits_that_participants_see(exported):
    """Shares have three decimals, other numbers four digits, in the order of the places."""
    for part in ("public", "private"):
        entries = exported(f"{part}-leaderboard.json")["entries"]
        assert [each["place"] for each in entries] == [1, 2, 3, 4]
        for each in entries:
            accuracy, mcc = each["scores"]["accuracy"]["value"], each["scores"]["mcc"]["value"]
            assert accuracy == round(accuracy, 3)
            assert mcc == float(f"{mcc:.4g}")
            assert each["best_rank"] <= each["place"] <= each["worst_rank"]
        values = [each["scores"]["accuracy"]["value"] for each in entries]
        assert values == sorted(values, reverse=True)


def test_a_board_has_intervals_where_participants_see_them(stage, host):
    """And otherwise the values only."""
    challenge = stage.challenge(host, show_intervals="0")
    stage.team(challenge, "Badgers").send(guess(30))
    path = f"/organise/{challenge.slug}/export"
    client = stage.client(host)
    [entry] = client.get(f"{path}/public-leaderboard.json").json()["entries"]
    assert entry["scores"]["accuracy"] == {"value": 0.75}
    for name in ("private-leaderboard.csv", "answers.csv", "submissions.xml", "log.", "submissions"):
        assert client.get(f"{path}/{name}").status_code == 404


def test_lines_and_quotes_stay_in_their_cell():
    """Commas, quotes and line ends are quoted, and a line end at the start is no way around the apostrophe."""
    text = to_csv([{"a": 'x,"y"\nz', "b": "\n=1", "c": True, "d": None, "e": -1}])
    assert list(csv.reader(io.StringIO(text, newline=""))) == [list("abcde"), ['x,"y"\nz', "'\n=1", "true", "", "-1"]]


def test_the_log_says_who_did_what(stage, host, challenge, player, monkeypatch):
    """In words, the newest first, on pages, escaped, and as a file."""
    key = player.send(guess(3), "<b>.csv")
    moderation.disqualify(stage.service, host, challenge, key, "<i>two</i>")
    moderation.requalify(stage.service, host, challenge, key)
    client, path = stage.client(host), f"/organise/{challenge.slug}/log"
    page = client.get(path).text
    order = ["undid the disqualification of a submission", "disqualified a submission", "created the challenge"]
    places = [page.index(f"<bdi>Olga</bdi> {each}") for each in order]
    assert places == sorted(places)
    assert "reason: &lt;i&gt;two&lt;/i&gt;" in page
    assert "&lt;b&gt;.csv of Badgers" in page
    monkeypatch.setattr(audit_log, "PAGE_SIZE", 2)
    assert "created the challenge" not in client.get(path).text
    assert "created the challenge" in client.get(path, params={"page": 2}).text
    assert client.get(path, params={"page": 3}).status_code == 404
    entries = client.get(f"/organise/{challenge.slug}/export/log.json").json()["entries"]
    assert [each["action"] for each in entries] == ["requalify", "disqualify", "create"]
    assert json.loads(entries[1]["details"]) == {"key": key, "reason": "<i>two</i>"}
