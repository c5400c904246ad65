"""A score is the same number to the last bit in the app, by the library and at the command line."""

from __future__ import annotations

import io
import json
import subprocess
import sys

import numpy as np
import pytest

import tallymark as tm
from tallymark.app.domain.scoring import public_rows
from tallymark.app.domain.versions import current_version
from tallymark.data.arguments import split_list
from tests.app.stage import BOTH

pytestmark = pytest.mark.slow

ROWS = 90
RNG = np.random.default_rng(5)
WORDS = ("lynx", "otter", "heron")


def _csv(columns: dict[str, list[object]]) -> bytes:
    rows = zip(*columns.values(), strict=True)
    return "\n".join([",".join(columns), *(",".join(map(str, row)) for row in rows), ""]).encode()


def _ids() -> list[str]:
    return [f"r{n:03}" for n in range(ROWS)]


def _shares() -> dict[str, list[object]]:
    held = RNG.dirichlet([1, 1, 1], ROWS)
    return {word: held[:, place].tolist() for place, word in enumerate(WORDS)}


LABELS = RNG.choice(WORDS, ROWS).tolist()
NUMBERS = RNG.normal(10, 3, ROWS).tolist()
CASES = {
    "labels": (
        {"label": LABELS},
        {"label": [each if RNG.random() < 0.7 else "otter" for each in LABELS]},
        {"metrics": "accuracy, fscore(beta=2, average=macro), mcc"},
    ),
    "numbers": (
        {"label": NUMBERS},
        {"label": [each + RNG.normal() for each in NUMBERS]},
        {"metrics": "rmse, mae, r2, pearson"},
    ),
    "probabilities": ({"label": LABELS}, _shares(), {"metrics": "logloss, brier", "classes": ", ".join(WORDS)}),
    "ranking": (
        {"query": [f"q{n % 9}" for n in range(ROWS)], "label": RNG.integers(0, 4, ROWS).tolist()},
        {"label": RNG.normal(size=ROWS).tolist()},
        {"metrics": "ndcg, map"},
    ),
}


def _options(task: str, form: dict[str, str]) -> list[str]:
    return ["--task", task, *(word for name, value in form.items() for word in (f"--{name}", value.replace(", ", ",")))]


@pytest.mark.parametrize("task", CASES)
@BOTH
def test_the_app_the_library_and_the_command_line_give_the_same_score(stage, host, tmp_path, task):
    """On all rows: the app, `score_submission` and `tallymark score --json`."""
    truth, said, form = CASES[task]
    answers, sent = _csv({"row_id": _ids(), **truth}), _csv({"row_id": _ids(), **said})
    challenge = stage.challenge(host, answers, task=task, **form)
    player = stage.team(challenge, "Team")
    key = player.send(sent)
    found = stage.scores(key)
    assert len(found) == len(split_list([form["metrics"]])) > 1

    pages = [f"/challenges/{challenge.slug}{each}" for each in ("", "/sample", "/submit", "/mine", "/leaderboard")]
    for path in [*pages, f"/submissions/{key}", f"/submissions/{key}/report", "/challenges"]:
        assert player.client().get(path).status_code == 200, path

    told = {name: value.split(", ") for name, value in form.items() if name != "metrics"}
    told["metrics"] = split_list([form["metrics"]])
    direct = tm.submissions.score_submission(io.BytesIO(answers), io.BytesIO(sent), task=task, mode="challenge", **told)
    assert {name: direct.report[name] for name in direct.report} == found

    (tmp_path / "answers.csv").write_bytes(answers)
    (tmp_path / "sent.csv").write_bytes(sent)
    files = [str(tmp_path / "answers.csv"), str(tmp_path / "sent.csv")]
    command = [sys.executable, "-m", "tallymark", "score", *files, "--mode", "challenge", "--json"]
    ran = subprocess.run([*command, *_options(task, form)], capture_output=True, text=True, timeout=120)
    assert ran.returncode == 0, ran.stderr
    assert {name: each["value"] for name, each in json.loads(ran.stdout)["scores"].items()} == found


@pytest.mark.parametrize("task", CASES)
def test_parts_are_the_filtered_answers(stage, host, task):
    """The score of a part is that of the answers with the rows of this part alone."""
    truth, said, form = CASES[task]
    columns = {"row_id": _ids(), **truth}
    split = {"split": "seeded", "split_share": "40", "split_seed": "3"}
    challenge = stage.challenge(host, _csv(columns), task=task, **form, **split)
    key = stage.team(challenge, "Team").send(_csv({"row_id": _ids(), **said}))
    with stage.service.database.reading() as session:
        version = current_version(session, challenge)
    public = public_rows(stage.service, version)
    assert public.sum() == version.public_rows == 36
    told = {name: value.split(", ") for name, value in form.items() if name != "metrics"}
    told["metrics"] = split_list([form["metrics"]])
    for part, which in (("public", public), ("private", ~public)):
        few = {name: np.array(values, object)[which].tolist() for name, values in columns.items()}
        mine = {name: np.array(values, object)[which].tolist() for name, values in {"row_id": _ids(), **said}.items()}
        direct = tm.submissions.score_submission(
            io.BytesIO(_csv(few)), io.BytesIO(_csv(mine)), task=task, mode="challenge", **told
        )
        assert {name: direct.report[name] for name in direct.report} == stage.scores(key, part)
