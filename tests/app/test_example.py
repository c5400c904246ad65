"""The example: a challenge from a folder, which is created once."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import select

from tallymark.app.example import load_example
from tallymark.app.store.models import Challenge, Team
from tallymark.errors import FileError

EXAMPLES = Path(__file__).parents[2] / "examples" / "data"


def test_the_example_challenge_is_made_once(stage):
    """It is made once, with a baseline, a rejected file, and people who cannot sign in; a wrong folder is told."""
    for _ in range(2):
        assert load_example(stage.service, str(EXAMPLES)) == "/challenges/animals-on-photographs"
    [challenge] = stage.all(select(Challenge))
    assert stage.board(challenge) == ["Good", "Mediocre", "Always the same"]
    assert len(stage.all(select(Team))) == 4
    for path in ("", "/leaderboard", "/sample"):
        assert stage.client().get(f"/challenges/{challenge.slug}{path}").status_code == 200


def test_an_example_folder_needs_answers(stage, tmp_path):
    """A folder without answers is told."""
    with pytest.raises(FileError, match=r"must hold answers\.csv"):
        load_example(stage.service, str(tmp_path))
