"""The tables of the app. Answers and metrics are versions that never change; scores refer to them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    CheckConstraint,
    DateTime,
    Dialect,
    ForeignKey,
    Index,
    LargeBinary,
    MetaData,
    String,
    Text,
    TypeDecorator,
    UniqueConstraint,
    false,
    text,
)
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column, relationship

NAMING_CONVENTION = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s",
    "pk": "pk_%(table_name)s",
}


class UtcDateTime(TypeDecorator[datetime]):
    """A time in UTC, in databases with and without time zones."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """As it is stored."""
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError("a moment needs its time zone")
        utc = value.astimezone(UTC)
        return utc.replace(tzinfo=None) if dialect.name == "sqlite" else utc

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """As it is read."""
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


class Base(DeclarativeBase):
    """The base of all tables."""

    metadata = MetaData(naming_convention=NAMING_CONVENTION)
    type_annotation_map = {datetime: UtcDateTime, dict[str, Any]: JSON, list[Any]: JSON, str: Text, bytes: LargeBinary}


class User(Base):
    """A user. Without a password they cannot sign in."""

    __tablename__ = "users"
    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str]
    key: Mapped[str] = mapped_column(unique=True)  # the name, without case and other looks
    password: Mapped[str | None]  # its hash
    organiser: Mapped[bool] = mapped_column(default=False)  # may create challenges
    operator: Mapped[bool] = mapped_column(default=False, server_default=false())  # manages accounts
    created: Mapped[datetime]
    disabled: Mapped[datetime | None]
    deleted: Mapped[datetime | None]  # the name and the password are gone then
    email: Mapped[str | None]  # confirmed: who has the account reads its mail
    email_key: Mapped[str | None] = mapped_column(unique=True, index=True)  # the address in lower case
    mail_results: Mapped[bool] = mapped_column(default=False, server_default=false())


class SignIn(Base):
    """A browser where a user is signed in, by the hash of its secret."""

    __tablename__ = "sign_ins"
    secret: Mapped[str] = mapped_column(String(64), primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), index=True)
    created: Mapped[datetime]
    expires: Mapped[datetime] = mapped_column(index=True)
    user: Mapped[User] = relationship(lazy="joined", innerjoin=True)


class Invitation(Base):
    """A link by which so many people may sign up, by the hash of its secret."""

    __tablename__ = "invitations"
    __table_args__ = (Index("ix_invitations_of_user", "created_by", "created"),)
    id: Mapped[int] = mapped_column(primary_key=True)
    secret: Mapped[str] = mapped_column(String(64), unique=True)
    organiser: Mapped[bool] = mapped_column(default=False)
    first: Mapped[bool] = mapped_column(default=False)  # the one of the first start
    created_by: Mapped[int | None] = mapped_column(ForeignKey("users.id"))
    created: Mapped[datetime]
    expires: Mapped[datetime]
    used_by: Mapped[int | None] = mapped_column(ForeignKey("users.id"))  # the last one
    used: Mapped[datetime | None]
    max_uses: Mapped[int] = mapped_column(default=1, server_default=text("1"))
    uses: Mapped[int] = mapped_column(default=0, server_default=text("0"))
    name: Mapped[str | None]  # whom it is for
    email: Mapped[str | None]
    mail: Mapped[str | None] = mapped_column(String(10))  # "queued", "sent" or "failed"; None if the link was shown
    revoked: Mapped[datetime | None]
    challenge_id: Mapped[int | None] = mapped_column(ForeignKey("challenges.id", ondelete="SET NULL"))


class PasswordReset(Base):
    """A link by which a user sets a new password once, by the hash of its secret."""

    __tablename__ = "password_resets"
    secret: Mapped[str] = mapped_column(String(64), primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), index=True)
    created: Mapped[datetime]
    expires: Mapped[datetime]


class AuditEntry(Base):
    """What an organiser or an operator did. Entries are only added, and the names of deleted accounts replaced (see
    `domain.audit`)."""

    __tablename__ = "audit"
    __table_args__ = (Index("ix_audit_of_challenge", "challenge_id", "id"),)
    id: Mapped[int] = mapped_column(primary_key=True)
    created: Mapped[datetime]
    user_id: Mapped[int | None] = mapped_column(ForeignKey("users.id"))  # None: the command line
    action: Mapped[str] = mapped_column(String(40))
    challenge_id: Mapped[int | None] = mapped_column(ForeignKey("challenges.id", ondelete="SET NULL"))
    subject: Mapped[str]
    details: Mapped[dict[str, Any]]
    user: Mapped[User | None] = relationship()


class StoredFile(Base):
    """A file in the folder of files, by the hash of its content."""

    __tablename__ = "files"
    hash: Mapped[str] = mapped_column(String(64), primary_key=True)
    size: Mapped[int] = mapped_column(BigInteger)
    created: Mapped[datetime]


class Challenge(Base):
    """A challenge: its texts and rules. Its versions have the answers and the metrics."""

    __tablename__ = "challenges"
    __table_args__ = (CheckConstraint("late IN ('refuse', 'mark')", name="late"),)
    id: Mapped[int] = mapped_column(primary_key=True)
    slug: Mapped[str] = mapped_column(String(60), unique=True)
    title: Mapped[str]
    summary: Mapped[str]
    rules: Mapped[str]
    created_by: Mapped[int] = mapped_column(ForeignKey("users.id"))
    created: Mapped[datetime]
    opens: Mapped[datetime | None]
    deadline: Mapped[datetime | None]
    closed: Mapped[datetime | None]
    late: Mapped[str] = mapped_column(String(10), default="refuse")
    quota: Mapped[int] = mapped_column(default=5)  # submissions a team and day
    finals: Mapped[int] = mapped_column(default=2)  # submissions that a team may choose to be ranked in the end
    shows_intervals: Mapped[bool] = mapped_column(default=True)
    shows_classes: Mapped[bool] = mapped_column(default=False)
    shows_counts: Mapped[bool] = mapped_column(default=False)
    changes: Mapped[int] = mapped_column(default=0)  # of what is ranked, counted
    ranked: Mapped[int] = mapped_column(default=0)  # the count that the leaderboards have seen
    published: Mapped[datetime | None]  # None: a draft, which only its organisers see
    # When the private part is shown: "closing" once the challenge is over, "organiser" once it is also `revealed`.
    reveal: Mapped[str] = mapped_column(String(10), default="organiser", server_default="organiser")
    revealed: Mapped[datetime | None]
    total_quota: Mapped[int | None]  # submissions a team in all; None: no limit
    must_accept: Mapped[bool] = mapped_column(default=False, server_default=false())  # the rules, before joining
    data_for: Mapped[str] = mapped_column(String(10), default="everyone", server_default="everyone")  # or "members"
    team_size: Mapped[int | None]  # members a team at most; None: any number


class Organiser(Base):
    """A user who organises a challenge: its owner, or a co-organiser."""

    __tablename__ = "organisers"
    challenge_id: Mapped[int] = mapped_column(ForeignKey("challenges.id", ondelete="CASCADE"), primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"), primary_key=True, index=True)
    owner: Mapped[bool] = mapped_column(default=False)
    created: Mapped[datetime]
    user: Mapped[User] = relationship(lazy="joined", innerjoin=True)


class Version(Base):
    """Answers and metrics of a challenge. A version never changes except in its state; every score refers to one."""

    __tablename__ = "versions"
    __table_args__ = (UniqueConstraint("challenge_id", "number"),)
    id: Mapped[int] = mapped_column(primary_key=True)
    challenge_id: Mapped[int] = mapped_column(ForeignKey("challenges.id"), index=True)
    number: Mapped[int]
    created_by: Mapped[int] = mapped_column(ForeignKey("users.id"))
    created: Mapped[datetime]
    note: Mapped[str]
    task: Mapped[str] = mapped_column(String(20))
    id_column: Mapped[str]
    label_column: Mapped[str]
    query_column: Mapped[str]
    classes: Mapped[list[Any] | None]
    positive: Mapped[str | None]
    missing: Mapped[str] = mapped_column(String(10))
    metrics: Mapped[list[Any]]  # names with their parameters, in order; the first ranks
    answers: Mapped[str] = mapped_column(ForeignKey("files.hash"))
    sample: Mapped[str] = mapped_column(ForeignKey("files.hash"))
    public: Mapped[str | None] = mapped_column(ForeignKey("files.hash"))  # a bit a row: which rows are public
    split: Mapped[dict[str, Any]]  # how it came about
    rows: Mapped[int]
    public_rows: Mapped[int]
    software: Mapped[str] = mapped_column(String(40))
    state: Mapped[str] = mapped_column(String(10), server_default="current")  # see `domain.rescoring`


class Team(Base):
    """A team in a challenge, with a code by which others join."""

    __tablename__ = "teams"
    __table_args__ = (UniqueConstraint("challenge_id", "key"),)
    id: Mapped[int] = mapped_column(primary_key=True)
    challenge_id: Mapped[int] = mapped_column(ForeignKey("challenges.id"))
    name: Mapped[str]
    key: Mapped[str]
    code: Mapped[str] = mapped_column(String(40), unique=True)
    baseline: Mapped[bool] = mapped_column(default=False)
    created: Mapped[datetime]


class Member(Base):
    """A user in a team; in each challenge they are in one."""

    __tablename__ = "members"
    __table_args__ = (UniqueConstraint("challenge_id", "user_id"),)
    team_id: Mapped[int] = mapped_column(ForeignKey("teams.id"), primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"), primary_key=True, index=True)
    challenge_id: Mapped[int] = mapped_column(ForeignKey("challenges.id"))
    accepted: Mapped[datetime | None]  # when they accepted the rules


class Quota(Base):
    """How many submissions of a team count on a day (see `domain.quota`)."""

    __tablename__ = "quotas"
    team_id: Mapped[int] = mapped_column(ForeignKey("teams.id"), primary_key=True)
    day: Mapped[str] = mapped_column(String(10), primary_key=True)
    used: Mapped[int]


class CheckedFile(Base):
    """The file that a user had checked last, by the hash of the token that submits it (see `domain.checks`)."""

    __tablename__ = "checked_files"
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), primary_key=True)
    secret: Mapped[str] = mapped_column(String(64), unique=True)
    challenge_id: Mapped[int] = mapped_column(ForeignKey("challenges.id"))
    file_name: Mapped[str]
    rows: Mapped[int | None]  # None while it is being checked
    expires: Mapped[datetime]


class Submission(Base):
    """A file of a team, its state, and its place in the queue while it has pending work."""

    __tablename__ = "submissions"
    __table_args__ = (
        Index("ix_submissions_queue", "work", "created"),
        Index("ix_submissions_of_team", "team_id", "created"),
        Index("ix_submissions_of_challenge", "challenge_id", "state"),
        CheckConstraint("state IN ('queued', 'scored', 'rejected', 'failed')", name="state"),
        CheckConstraint("work IN ('score', 'intervals')", name="work"),
    )
    id: Mapped[int] = mapped_column(primary_key=True)
    key: Mapped[str] = mapped_column(String(40), unique=True)
    challenge_id: Mapped[int] = mapped_column(ForeignKey("challenges.id"))
    version_id: Mapped[int] = mapped_column(ForeignKey("versions.id"))
    team_id: Mapped[int] = mapped_column(ForeignKey("teams.id"))
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"))
    file: Mapped[str] = mapped_column(ForeignKey("files.hash"))
    file_name: Mapped[str]
    note: Mapped[str]
    created: Mapped[datetime]
    late: Mapped[bool] = mapped_column(default=False)
    final: Mapped[bool] = mapped_column(default=False)
    state: Mapped[str] = mapped_column(String(10))
    work: Mapped[str | None] = mapped_column(String(10))  # pending: its scores, or its intervals; None if there is none
    claimed_by: Mapped[str | None] = mapped_column(String(40))
    claimed: Mapped[datetime | None]
    attempts: Mapped[int] = mapped_column(default=0)
    day: Mapped[str | None] = mapped_column(String(10))  # on whose quota it counts; None where it costs nothing
    finished: Mapped[datetime | None]
    facts: Mapped[dict[str, Any] | None]  # counts, warnings, problems, and at most 20 rows of the preview
    disqualified: Mapped[str | None]  # the reason; None where it may be ranked
    team: Mapped[Team] = relationship()
    user: Mapped[User] = relationship()
    version: Mapped[Version] = relationship()
    challenge: Mapped[Challenge] = relationship()
    scores: Mapped[list[StoredScore]] = relationship(  # those of its present version
        primaryjoin="and_(StoredScore.submission_id == Submission.id, StoredScore.version_id == Submission.version_id)",
        order_by="StoredScore.place",
        viewonly=True,
    )


class StoredScore(Base):
    """One metric of a submission on one part of a version of the answers."""

    __tablename__ = "scores"
    submission_id: Mapped[int] = mapped_column(ForeignKey("submissions.id", ondelete="CASCADE"), primary_key=True)
    version_id: Mapped[int] = mapped_column(ForeignKey("versions.id"), primary_key=True)
    part: Mapped[str] = mapped_column(String(10), primary_key=True)
    place: Mapped[int] = mapped_column(primary_key=True)  # 0 is the one that ranks
    name: Mapped[str]
    value: Mapped[float | None]  # None: undefined, and never ranked
    lo: Mapped[float | None]
    hi: Mapped[float | None]
    method: Mapped[str | None]


class StoredOutcome(Base):
    """The outcomes of the rows of a part, packed, for paired tests between submissions."""

    __tablename__ = "outcomes"
    submission_id: Mapped[int] = mapped_column(ForeignKey("submissions.id", ondelete="CASCADE"), primary_key=True)
    version_id: Mapped[int] = mapped_column(ForeignKey("versions.id"), primary_key=True)
    part: Mapped[str] = mapped_column(String(10), primary_key=True)
    packed: Mapped[bytes]


class LeaderboardEntry(Base):
    """A place on a leaderboard. They are rebuilt when a score or a choice changes them (see `domain.leaderboards`)."""

    __tablename__ = "standings"
    challenge_id: Mapped[int] = mapped_column(ForeignKey("challenges.id"), primary_key=True)
    part: Mapped[str] = mapped_column(String(10), primary_key=True)
    place: Mapped[int] = mapped_column(primary_key=True)
    best_rank: Mapped[int]
    worst_rank: Mapped[int]
    team_id: Mapped[int] = mapped_column(ForeignKey("teams.id"), index=True)
    submission_id: Mapped[int] = mapped_column(ForeignKey("submissions.id"))
    entries: Mapped[int]  # how many scored submissions the team has
    team: Mapped[Team] = relationship()
    submission: Mapped[Submission] = relationship()


class KeptFile(Base):
    """The file that a user chose in a form with errors, by the hash of its token (see `domain.kept_files`)."""

    __tablename__ = "kept_files"
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), primary_key=True)
    secret: Mapped[str] = mapped_column(String(64), unique=True)
    file_name: Mapped[str]
    expires: Mapped[datetime]


class Rescoring(Base):
    """A submission under a candidate version: pending, or what becomes of it (see `domain.rescoring`)."""

    __tablename__ = "rescorings"
    version_id: Mapped[int] = mapped_column(ForeignKey("versions.id"), primary_key=True)
    submission_id: Mapped[int] = mapped_column(
        ForeignKey("submissions.id", ondelete="CASCADE"), primary_key=True, index=True
    )
    state: Mapped[str] = mapped_column(String(10))  # queued, scored, rejected or failed
    work: Mapped[str | None] = mapped_column(String(10))  # pending once the version is applied
    facts: Mapped[dict[str, Any] | None]
    claimed_by: Mapped[str | None] = mapped_column(String(40))
    claimed: Mapped[datetime | None]
    attempts: Mapped[int] = mapped_column(default=0)
    version: Mapped[Version] = relationship()
    submission: Mapped[Submission] = relationship()


class Token(Base):
    """A token with which a program acts for a user under /api, by the hash of its secret (see `domain.tokens`)."""

    __tablename__ = "tokens"
    id: Mapped[int] = mapped_column(primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), index=True)
    name: Mapped[str]
    secret: Mapped[str] = mapped_column(String(64), unique=True)
    scopes: Mapped[list[Any]]
    created: Mapped[datetime]
    expires: Mapped[datetime]
    used: Mapped[datetime | None]  # last
    user: Mapped[User] = relationship(lazy="joined", innerjoin=True)


class IdempotencyKey(Base):
    """The key of an upload that may be repeated, and the submission that it made (see `domain.idempotency`)."""

    __tablename__ = "idempotency_keys"
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), primary_key=True)
    key: Mapped[str] = mapped_column(String(255), primary_key=True)
    fingerprint: Mapped[str] = mapped_column(String(64))  # of the challenge, the file and the note
    submission: Mapped[str] = mapped_column(String(40))  # its key
    created: Mapped[datetime] = mapped_column(index=True)


class Announcement(Base):
    """An announcement of an organiser, in Markdown."""

    __tablename__ = "announcements"
    id: Mapped[int] = mapped_column(primary_key=True)
    challenge_id: Mapped[int] = mapped_column(ForeignKey("challenges.id", ondelete="CASCADE"), index=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"))
    created: Mapped[datetime]
    text: Mapped[str]


class DataFile(Base):
    """A version of a file for participants; those with the same title are one file."""

    __tablename__ = "data_files"
    __table_args__ = (UniqueConstraint("challenge_id", "title", "number"),)
    id: Mapped[int] = mapped_column(primary_key=True)
    challenge_id: Mapped[int] = mapped_column(ForeignKey("challenges.id", ondelete="CASCADE"))
    title: Mapped[str]
    number: Mapped[int]
    file: Mapped[str] = mapped_column(ForeignKey("files.hash"))
    file_name: Mapped[str]
    size: Mapped[int] = mapped_column(BigInteger)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"))
    created: Mapped[datetime]


class QueuedMail(Base):
    """A mail that waits to be sent (see `domain.outbox`). Its text, which may have a secret, is made when it is."""

    __tablename__ = "outbox"
    id: Mapped[int] = mapped_column(primary_key=True)
    kind: Mapped[str] = mapped_column(String(20))
    recipient: Mapped[str]
    facts: Mapped[dict[str, Any]]
    created: Mapped[datetime]
    due: Mapped[datetime] = mapped_column(index=True)
    attempts: Mapped[int] = mapped_column(default=0)


class MailRequest(Base):
    """That somebody asked for a mail to an address or account, by the hash of what they typed; kept for an hour."""

    __tablename__ = "mail_requests"
    id: Mapped[int] = mapped_column(primary_key=True)
    key: Mapped[str] = mapped_column(String(64), index=True)
    created: Mapped[datetime]


class AddressConfirmation(Base):
    """An e-mail address that a user entered and has not confirmed yet, by the hash of the secret that was mailed."""

    __tablename__ = "address_confirmations"
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), primary_key=True)
    email: Mapped[str]
    secret: Mapped[str | None] = mapped_column(String(64), unique=True)  # None until the mail is sent
    expires: Mapped[datetime]


class TeamMerge(Base):
    """The request of a team to join another one."""

    __tablename__ = "team_merges"
    team_id: Mapped[int] = mapped_column(ForeignKey("teams.id", ondelete="CASCADE"), primary_key=True)
    into_id: Mapped[int] = mapped_column(ForeignKey("teams.id", ondelete="CASCADE"), index=True)
    requested_by: Mapped[int] = mapped_column(ForeignKey("users.id"))
    created: Mapped[datetime]


class Identity(Base):
    """An account at an OpenID provider by which a user signs in."""

    __tablename__ = "identities"
    issuer: Mapped[str] = mapped_column(primary_key=True)
    subject: Mapped[str] = mapped_column(primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), index=True)
    created: Mapped[datetime]
