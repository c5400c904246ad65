"""The app as the tests set it up: a clock that they move, people who are signed in, challenges and files."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

import pytest
from sqlalchemy import select

from tallymark.app.create import create_app
from tallymark.app.domain import accounts, challenges, drafts, quota, rescoring, submissions, teams, tokens, versions
from tallymark.app.http.request_context import SESSION_COOKIE
from tallymark.app.service import Service
from tallymark.app.settings import AppSettings
from tallymark.app.store.models import Challenge, LeaderboardEntry, StoredScore, Submission, Team, Token, User

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # httpx serves it still, and is what there is
    from starlette.testclient import TestClient

TRUTH = ("lynx", "otter", "heron")
ROWS = 40
_NUMBERS = count()
_SLOWLY = pytest.param("postgresql", marks=pytest.mark.slow)
BOTH = pytest.mark.parametrize("database", ["sqlite", _SLOWLY], indirect=True)
FORM = {
    "title": "Animals",
    "task": "labels",
    "missing": "count",
    "split": "none",
    "late": "refuse",
    "quota": "5",
    "finals": "2",
    "show_intervals": "1",
    "show_counts": "1",
    "reveal": "closing",
    "publish": "1",
}


class Clock:
    """The time, which stands still until a test moves it."""

    def __init__(self) -> None:
        self.at = datetime(2027, 3, 1, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.at

    def move(self, **span: float) -> None:
        self.at += timedelta(**span)


def table(values: Sequence[object], column: str = "label") -> bytes:
    """A file with a value for each of the rows r000, r001 …"""
    return "".join([f"row_id,{column}\n", *(f"r{n:03},{each}\n" for n, each in enumerate(values))]).encode()


def truth(rows: int = ROWS) -> list[str]:
    """The answers: three animals in turn."""
    return [TRUTH[n % 3] for n in range(rows)]


def guess(right: int, rows: int = ROWS, wrong: str = "otter") -> list[str]:
    """The first rows right, and all others wrong."""
    held = truth(rows)
    return [each if n < right else wrong if each != wrong else "moose" for n, each in enumerate(held)]


def token_of(page: str) -> str:
    """The token of the checked file on a submit page."""
    [token] = re.findall(r'name="token" value="([^"]+)"', page)
    return str(token)


class Stage:
    """An app without its threads: the work of the worker is done where a test says so."""

    def __init__(self, folder: Any, database: str = "", clock: Clock | None = None, **settings: Any) -> None:
        self.clock = clock or Clock()
        self.settings = AppSettings(data=str(folder), database=database, **settings)
        self.app = create_app(self.settings, self.clock)
        self.service: Service = self.app.state.service

    def close(self) -> None:
        self.service.close()

    def client(self, user: User | None = None, **more: Any) -> TestClient:
        """A browser, of somebody who is signed in."""
        host = self.settings.url or "http://localhost"
        cookies = {} if user is None else {SESSION_COOKIE: accounts.create_sign_in(self.service, user)}
        given = {"base_url": host, "headers": {"Origin": host}, "follow_redirects": False, "cookies": cookies, **more}
        return TestClient(self.app, **given)

    def program(
        self, user: User | None = None, scopes: Sequence[str] = tuple(tokens.SCOPES), **more: Any
    ) -> TestClient:
        """A client of the API, with a new token of somebody."""
        headers = {} if user is None else {"Authorization": f"Bearer {self.token(user, scopes)}"}
        return TestClient(self.app, base_url=self.settings.url or "http://localhost", headers=headers, **more)

    def token(self, user: User, scopes: Sequence[str] = tuple(tokens.SCOPES)) -> str:
        """A new token with these scopes, whether or not its user may use them."""
        secret, now = f"token-{next(_NUMBERS)}", self.clock()
        with self.service.database.writing() as session:
            facts = {"secret": accounts.hash_secret(secret), "created": now, "expires": now + timedelta(days=365)}
            session.add(Token(user_id=user.id, name="program", scopes=list(scopes), **facts))
        return secret

    def person(self, name: str, *, organiser: bool = False, operator: bool = False) -> User:
        with self.service.database.writing() as session:
            key = accounts.name_key(name)
            user = User(name=name, key=key, password=None, organiser=organiser, operator=operator, created=self.clock())
            session.add(user)
        return user

    def challenge(self, host: User, answers: bytes | None = None, **form: str) -> Challenge:
        draft = drafts.parse_draft({**FORM, **form})
        return challenges.create_challenge(self.service, host, draft, io.BytesIO(answers or table(truth())))

    def team(self, challenge: Challenge, name: str, *members: User) -> Player:
        first, *others = members or [self.person(f"{name} person")]
        team = teams.join_challenge(self.service, first, challenge, name, "")
        for each in others:
            teams.join_challenge(self.service, each, challenge, "", team.code)
        return Player(self, challenge, team, first)

    def work(self) -> int:
        """Do all that waits; how many steps it took."""
        steps = 0
        while self.app.state.worker.step():
            steps += 1
        return steps

    def apply(self, challenge: Challenge, host: User) -> None:
        """Score everything by the version that waits, and apply it."""
        self.work()
        with self.service.database.reading() as session:
            candidate = versions.candidate_version(session, challenge)
        assert candidate is not None
        rescoring.apply_candidate(self.service, host, challenge, candidate.number)
        self.work()

    def all(self, asked: Any) -> list[Any]:
        with self.service.database.reading() as session:
            return list(session.scalars(asked))

    def submission(self, key: str) -> Submission:
        [held] = self.all(select(Submission).where(Submission.key == key))
        return held

    def scores(self, key: str, part: str = "public") -> dict[str, float | None]:
        """The scores of a submission by the version that it belongs to."""
        held = self.submission(key)
        mine = (
            (StoredScore.submission_id == held.id)
            & (StoredScore.version_id == held.version_id)
            & (StoredScore.part == part)
        )
        return {each.name: each.value for each in self.all(select(StoredScore).where(mine).order_by(StoredScore.place))}

    def board(self, challenge: Challenge, part: str = "public") -> list[str]:
        """The names of the teams in the order of their places."""
        board = (LeaderboardEntry.challenge_id == challenge.id) & (LeaderboardEntry.part == part)
        asked = (
            select(Team.name)
            .join(LeaderboardEntry, LeaderboardEntry.team_id == Team.id)
            .where(board)
            .order_by(LeaderboardEntry.place)
        )
        return self.all(asked)


class Player:
    """A team, with the one who made it."""

    def __init__(self, stage: Stage, challenge: Challenge, team: Team, user: User) -> None:
        self.stage, self.challenge, self.team, self.user = stage, challenge, team, user

    def send(self, content: bytes | Sequence[object], name: str = "mine.csv", note: str = "") -> str:
        """Hand in a file; the key of the submission."""
        held = content if isinstance(content, bytes) else table(content)
        service = self.stage.service
        return submissions.submit_file(service, self.user, self.challenge, self.team.id, io.BytesIO(held), name, note)

    def upload(self, content: bytes | Sequence[object], name: str = "mine.csv") -> Any:
        """Have a file checked on the submit page; its answer."""
        held = content if isinstance(content, bytes) else table(content)
        return self.client().post(self.submit_page, files={"submission": (name, held)})

    def confirm(self, token: str, note: str = "") -> Any:
        """Submit a checked file; the answer."""
        return self.client().post(self.submit_page, data={"token": token, "note": note})

    @property
    def submit_page(self) -> str:
        return f"/challenges/{self.challenge.slug}/submit"

    def quota_status(self) -> quota.QuotaStatus:
        with self.stage.service.database.reading() as session:
            challenge = session.get_one(Challenge, self.challenge.id)
            return quota.quota_status(session, challenge, self.team.id, self.stage.clock())

    def client(self) -> TestClient:
        return self.stage.client(self.user)
