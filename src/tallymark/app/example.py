"""The example of `tallymark serve --example`: a challenge from a folder with answers and submissions."""

from __future__ import annotations

import csv
import io
from collections import Counter
from datetime import timedelta
from pathlib import Path
from typing import BinaryIO

from sqlalchemy import select

from tallymark.app.domain import challenges, submissions
from tallymark.app.domain.accounts import name_key
from tallymark.app.domain.challenges import is_over
from tallymark.app.domain.drafts import parse_draft
from tallymark.app.domain.teams import create_team
from tallymark.app.service import Service
from tallymark.app.store.models import Challenge, Submission, Team, User
from tallymark.errors import FileError

_SLUG = "animals-on-photographs"
_RULES = """\
Cameras in a forest took 400 photographs of animals.

- Predict which **animal** is on each photograph.
- Photographs without a prediction count as incorrect.
- Any method is allowed, except looking at the photographs yourself.

This challenge is an example: sign up, join it, and submit the files in `examples/data`.
"""


def load_example(service: Service, folder: str) -> str:
    """Create the challenge and its submissions unless they exist; the path of its page."""
    path = Path(folder)
    answers, files = path / "answers.csv", sorted(path.glob("submission-*.csv"))
    if not answers.is_file() or not files:
        raise FileError(f"`{folder}` must hold answers.csv and files such as submission-good.csv")
    with service.database.reading() as session:
        challenge = session.scalar(select(Challenge).where(Challenge.slug == _SLUG))
    if challenge is None:
        organiser = _find_or_add_user(service, "Forest Watch", organiser=True)
        with answers.open("rb") as stream:
            challenge = challenges.create_challenge(service, organiser, parse_draft(_form(service)), stream)
    _submit(service, challenge, "Always the same", "most-common.csv", io.BytesIO(_baseline(answers)), baseline=True)
    for file in files:
        name = file.stem.removeprefix("submission-").replace("-", " ").capitalize()
        with file.open("rb") as stream:
            _submit(service, challenge, name, file.name, stream)
    return f"/challenges/{_SLUG}"


def _form(service: Service) -> dict[str, str]:
    deadline = service.now() + timedelta(days=30)
    return {
        "title": "Animals on photographs",
        "slug": _SLUG,
        "summary": "Which animal is on each of 400 photographs from a forest?",
        "rules": _RULES,
        "task": "labels",
        "missing": "count",
        "split": "seeded",
        "split_share": "50",
        "split_seed": "7",
        "deadline": deadline.strftime("%Y-%m-%dT00:00"),
        "late": "mark",
        "quota": "5",
        "finals": "2",
        "show_intervals": "1",
        "show_classes": "1",
        "reveal": "closing",
        "publish": "1",
    }


def _baseline(answers: Path) -> bytes:
    """A baseline submission: the most common label for every row."""
    with answers.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    [(label, _)] = Counter(row["label"] for row in rows).most_common(1)
    return "".join(["row_id,label\n", *(f"{row['row_id']},{label}\n" for row in rows)]).encode()


def _submit(
    service: Service, challenge: Challenge, team_name: str, file_name: str, stream: BinaryIO, *, baseline: bool = False
) -> None:
    with service.database.reading() as session:
        team = session.scalar(select(Team).where(Team.challenge_id == challenge.id, Team.key == name_key(team_name)))
        submitted = team and session.scalar(select(Submission.id).where(Submission.team_id == team.id).limit(1))
    if submitted or is_over(challenge, service.now()):
        return
    user = _find_or_add_user(service, f"{team_name} team")
    with service.database.writing() as session:
        team = team or create_team(session, service, challenge, team_name, baseline=baseline)
    submissions.submit_file(service, user, challenge, team.id, stream, file_name, "")


def _find_or_add_user(service: Service, name: str, *, organiser: bool = False) -> User:
    """A user without a password, who cannot sign in."""
    key = f"example {name_key(name)}"  # no user can sign up with this key
    with service.database.writing() as session:
        user = session.scalar(select(User).where(User.key == key))
        if user is None:
            user = User(name=name, key=key, password=None, organiser=organiser, created=service.now())
            session.add(user)
    return user
