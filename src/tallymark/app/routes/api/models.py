"""What the API answers, and what it reads as JSON. A release may add members; it never changes what one means."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

T = TypeVar("T")
PlainText = Annotated[str, StringConstraints(pattern=r"^[^\x00]*$", max_length=50_000)]
ShortText = Annotated[str, StringConstraints(pattern=r"^[^\x00]*$", max_length=200)]


class Request(BaseModel):
    """The base of what is read: unknown members are errors."""

    model_config = ConfigDict(extra="forbid")


class JoinRequest(Request):
    """The name of a new team, or the code of an existing one."""

    team: ShortText = ""
    code: ShortText = ""


class FinalsRequest(Request):
    """The keys of the submissions that count in the private part; none for the best public one."""

    submissions: Annotated[list[ShortText], Field(max_length=100)]


class SettingsRequest(Request):
    """Settings to change, by the names of their fields."""

    fields: dict[ShortText, PlainText]


class Page(BaseModel, Generic[T]):
    """A part of a list. `next` is the cursor of the next part, null at the end."""

    items: list[T]
    next: str | None = None


class TokenFacts(BaseModel):
    """The token of the request."""

    name: str
    scopes: list[str]
    expires: datetime


class Me(BaseModel):
    """The user of the token."""

    name: str
    organiser: bool
    operator: bool
    token: TokenFacts


class MetricFacts(BaseModel):
    """A metric: its name in code, its display name, and which values are better: "higher", "lower" or a number."""

    name: str
    title: str
    better: str | float | None


class ChallengeSummary(BaseModel):
    """A challenge in a list. Its state is "soon", "open" or "closed"."""

    slug: str
    title: str
    summary: str
    state: str
    task: str
    metric: MetricFacts
    opens: datetime | None
    deadline: datetime | None
    teams: int


class Column(BaseModel):
    """A column that a submission must have."""

    name: str
    meaning: str


class TeamFacts(BaseModel):
    """A team, with the code by which others join it."""

    name: str
    code: str
    members: list[str]


class Quota(BaseModel):
    """How many submissions a team has used today, in UTC, of how many."""

    used: int
    limit: int


class ChallengeFacts(ChallengeSummary):
    """A challenge, and the user's part in it."""

    rules: str
    late: str
    quota_per_day: int
    finals: int
    metrics: list[MetricFacts]
    columns: list[Column]
    rows: int
    has_private_part: bool
    version: int
    team: TeamFacts | None
    quota: Quota | None
    refused: str | None = Field(description="Why the team cannot submit now; null if it can, or without a team.")


class CheckResult(BaseModel):
    """A file without problems."""

    rows: int
    missing: int
    missing_ids: list[str]
    extra: int
    extra_ids: list[str]
    warnings: list[str]


class Score(BaseModel):
    """A metric on one part, rounded; the ends of its 95 % interval are null where they are not shown."""

    metric: str
    value: float | None
    lo: float | None
    hi: float | None


class SubmissionSummary(BaseModel):
    """A submission in a list. Its state is "queued", "scoring", "scored", "rejected" or "failed"."""

    key: str
    challenge: str
    team: str
    file_name: str
    note: str
    created: datetime
    state: str
    late: bool
    final: bool
    version: int
    scores: dict[str, list[Score]] = Field(description="By part: public, and private where it is shown.")


class FileProblem(BaseModel):
    """A problem of a file: the stable code of its rule, a sentence, where it is, and how to fix it."""

    code: str
    text: str
    line: int | None = None
    column: int | None = None
    row: int | None = None
    field: str | None = None
    id: str | None = None
    mend: str = ""


class Counts(BaseModel):
    """Rows of a scored file; correct and incorrect ones only where the challenge shows them."""

    compared: int | None
    missing: int | None
    extra: int | None
    correct: int | None
    incorrect: int | None


class ClassScores(BaseModel):
    """The scores of a class."""

    label: str
    precision: float | None
    recall: float | None
    f1: float | None
    support: int


class Standing(BaseModel):
    """The place of the team on the public leaderboard; `is_own` if this submission is the entry."""

    place: int
    total: int
    best_rank: int
    worst_rank: int
    is_own: bool


class SubmissionFacts(SubmissionSummary):
    """A submission with what its reader may see of the result."""

    ahead: int = Field(description="How many submissions wait before it.")
    pending: bool = Field(description="Whether scores or intervals are still being computed.")
    counts: Counts | None
    classes: list[ClassScores] | None
    warnings: list[str]
    standing: Standing | None
    problems: list[FileProblem]
    total_problems: int
    stopped: bool = Field(description="Whether the rest of the file was not checked.")


class Entry(BaseModel):
    """A place on a leaderboard, and the ranks that it may have."""

    place: int
    team: str
    baseline: bool
    own: bool
    best_rank: int
    worst_rank: int
    scores: list[Score]
    submissions: int
    created: datetime
    submission: str | None = Field(description="The key of the submission, for organisers and the team.")


class LeaderboardPage(Page[Entry]):
    """A part of a leaderboard."""

    part: str
    metrics: list[MetricFacts]
    total: int


class Finals(BaseModel):
    """The keys of the selected submissions."""

    submissions: list[str]


class VersionFacts(BaseModel):
    """A version of the answers and the scoring."""

    number: int
    created: datetime
    note: str
    rows: int
    answers: str = Field(description="The SHA-256 of the file of answers.")


class ChallengeSettings(BaseModel):
    """The settings of a challenge by the names of their fields, as the form of the organisers has them."""

    slug: str
    state: str
    fields: dict[str, str]
    versions: list[VersionFacts] = Field(description="The newest first.")


class Problem(BaseModel):
    """Problem details (RFC 9457). Invalid values are in `errors` by name, a rejected file has `problems`."""

    type: str
    title: str
    status: int
    detail: str
    reference: str
    errors: dict[str, str] | None = None
    file: str | None = None
    problems: list[FileProblem] | None = None
    total: int | None = None
    stopped: bool | None = None
