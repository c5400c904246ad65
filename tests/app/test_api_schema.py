"""Schemathesis against a server process: requests that fit the description of the API and that do not, all checks."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime

import pytest

from tallymark.app.domain import teams
from tallymark.app.domain.tokens import SCOPES
from tests.app.stage import Stage, guess
from tests.app.test_serve import serve
from tests.waiting import LIMIT

pytestmark = pytest.mark.slow

# A value may fit the description and be refused: a file that is not a submission, a name that is taken, a large body.
CONFIG = """
[parameters]
"path.slug" = "animals"
"path.key" = "{key}"

[checks.positive_data_acceptance]
expected-statuses = ["2xx", "400", "401", "403", "404", "409", "413", "422"]

[checks.negative_data_rejection]
expected-statuses = ["400", "401", "403", "404", "405", "409", "413", "415", "422"]
"""
RUN = ("--checks", "all", "--max-time", "60", "--max-examples", "20", "--seed", "1", "--continue-on-failure")
MORE = ("--no-color", "--no-shrink", "--generation-database", "none", "--request-timeout", str(LIMIT))


@pytest.mark.parametrize("who", ["organiser", "participant"])
def test_the_api_is_as_its_description_says(tmp_path, who):
    """To a program that has all scopes and organises the challenge, and to one that takes part."""
    stage = Stage(tmp_path / "data")
    stage.clock.at = datetime.now(UTC)
    host = stage.person("Olga", organiser=True, operator=True)
    challenge = stage.challenge(host, split="seeded", split_share="50", quota="1000")
    player = stage.team(challenge, "Badgers", stage.person("Ada"))
    teams.join_challenge(stage.service, host, challenge, "Baseline", "")
    key = player.send(guess(7))
    token = stage.token(host, tuple(SCOPES)) if who == "organiser" else stage.token(player.user, ["read", "submit"])
    stage.close()
    (tmp_path / "config.toml").write_text(CONFIG.format(key=key))
    with serve(tmp_path / "data") as served:
        address = f"{served.url}/api/v1/openapi.json"
        command = ["-m", "schemathesis.cli", "--config-file", "config.toml", "run", address, *RUN, *MORE]
        done = subprocess.run(
            [sys.executable, *command, "--header", f"Authorization: Bearer {token}"],
            capture_output=True,
            text=True,
            timeout=600,
            cwd=tmp_path,
        )
        assert done.returncode == 0, done.stdout[-10_000:]
        assert "Tested: 19" in done.stdout
