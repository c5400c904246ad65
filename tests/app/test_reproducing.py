"""Scores of the app, had again elsewhere: with the answers of a part, by the command that the result shows."""

from __future__ import annotations

import io
import shlex

import pytest

import tallymark as tm
from tests.app.stage import BOTH, ROWS, guess, table, truth

pytestmark = pytest.mark.slow

TASKS = {
    "labels": ({}, table(truth()), table(guess(30))),
    "numbers": (
        {"task": "numbers", "metrics": "rmse, mae"},
        table([0.1 * n for n in range(ROWS)]),
        table([0.1 * n + n % 3 for n in range(ROWS)]),
    ),
}


@BOTH
@pytest.mark.parametrize("task", TASKS)
def test_the_answers_of_a_part_give_its_scores(stage, host, task):
    """To the last bit, for an organiser who saves them; rows of the other part are extra then."""
    form, answers, sent = TASKS[task]
    challenge = stage.challenge(host, answers, split="seeded", split_share="40", split_seed="5", **form)
    player = stage.team(challenge, "Badgers")
    key = player.send(sent)
    told = {} if task == "labels" else {"task": "numbers", "metrics": ["rmse", "mae"]}
    organiser = stage.client(host)
    for part in ("public", "private"):
        saved = organiser.get(f"/organise/{challenge.slug}/answers/{part}").content
        result = tm.submissions.score_submission(io.BytesIO(saved), io.BytesIO(sent), mode="challenge", **told)
        assert result.scores == stage.scores(key, part)
        assert result.extra == ROWS - result.compared
    assert organiser.get(f"/organise/{challenge.slug}/answers/other").status_code == 404


def test_the_command_of_a_result_can_be_typed(stage, challenge, player):
    """It names the file and how it was scored, in the words of the command line."""
    key = player.send(guess(20))
    page = player.client().get(f"/submissions/{key}").text
    command = next(line for line in page.split("<code>") if line.startswith("tallymark score")).partition("<")[0]
    words = shlex.split(command)
    assert words[:3] == ["tallymark", "score", "ANSWERS"]
    assert words[words.index("--mode") + 1] == "challenge"
