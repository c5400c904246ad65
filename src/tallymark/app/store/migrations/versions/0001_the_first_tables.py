"""The first tables."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from tallymark.app.store.models import UtcDateTime

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Bring tables to this form."""
    op.create_table(
        "files",
        sa.Column("hash", sa.String(length=64), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("created", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("hash", name=("pk_files")),
    )
    op.create_table(
        "users",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("password", sa.Text(), nullable=True),
        sa.Column("organiser", sa.Boolean(), nullable=False),
        sa.Column("created", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=("pk_users")),
        sa.UniqueConstraint("key", name=("uq_users_key")),
    )
    op.create_table(
        "challenges",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("slug", sa.String(length=60), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("summary", sa.Text(), nullable=False),
        sa.Column("rules", sa.Text(), nullable=False),
        sa.Column("created_by", sa.Integer(), nullable=False),
        sa.Column("created", UtcDateTime(), nullable=False),
        sa.Column("opens", UtcDateTime(), nullable=True),
        sa.Column("deadline", UtcDateTime(), nullable=True),
        sa.Column("closed", UtcDateTime(), nullable=True),
        sa.Column("late", sa.String(length=10), nullable=False),
        sa.Column("quota", sa.Integer(), nullable=False),
        sa.Column("finals", sa.Integer(), nullable=False),
        sa.Column("shows_intervals", sa.Boolean(), nullable=False),
        sa.Column("shows_classes", sa.Boolean(), nullable=False),
        sa.Column("shows_counts", sa.Boolean(), nullable=False),
        sa.Column("changes", sa.Integer(), nullable=False),
        sa.Column("ranked", sa.Integer(), nullable=False),
        sa.CheckConstraint("late IN ('refuse', 'mark')", name=("ck_challenges_late")),
        sa.ForeignKeyConstraint(["created_by"], ["users.id"], name=("fk_challenges_created_by")),
        sa.PrimaryKeyConstraint("id", name=("pk_challenges")),
        sa.UniqueConstraint("slug", name=("uq_challenges_slug")),
    )
    op.create_table(
        "invitations",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("secret", sa.String(length=64), nullable=False),
        sa.Column("organiser", sa.Boolean(), nullable=False),
        sa.Column("first", sa.Boolean(), nullable=False),
        sa.Column("created_by", sa.Integer(), nullable=True),
        sa.Column("created", UtcDateTime(), nullable=False),
        sa.Column("expires", UtcDateTime(), nullable=False),
        sa.Column("used_by", sa.Integer(), nullable=True),
        sa.Column("used", UtcDateTime(), nullable=True),
        sa.ForeignKeyConstraint(["created_by"], ["users.id"], name=("fk_invitations_created_by")),
        sa.ForeignKeyConstraint(["used_by"], ["users.id"], name=("fk_invitations_used_by")),
        sa.PrimaryKeyConstraint("id", name=("pk_invitations")),
        sa.UniqueConstraint("secret", name=("uq_invitations_secret")),
    )
    op.create_table(
        "sign_ins",
        sa.Column("secret", sa.String(length=64), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("created", UtcDateTime(), nullable=False),
        sa.Column("expires", UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=("fk_sign_ins_user_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("secret", name=("pk_sign_ins")),
    )
    op.create_index("ix_sign_ins_expires", "sign_ins", ["expires"])
    op.create_index("ix_sign_ins_user_id", "sign_ins", ["user_id"])

    op.create_table(
        "teams",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("challenge_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("code", sa.String(length=40), nullable=False),
        sa.Column("baseline", sa.Boolean(), nullable=False),
        sa.Column("created", UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(["challenge_id"], ["challenges.id"], name=("fk_teams_challenge_id")),
        sa.PrimaryKeyConstraint("id", name=("pk_teams")),
        sa.UniqueConstraint("challenge_id", "key", name=("uq_teams_challenge_id_key")),
        sa.UniqueConstraint("code", name=("uq_teams_code")),
    )
    op.create_table(
        "versions",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("challenge_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("created_by", sa.Integer(), nullable=False),
        sa.Column("created", UtcDateTime(), nullable=False),
        sa.Column("note", sa.Text(), nullable=False),
        sa.Column("task", sa.String(length=20), nullable=False),
        sa.Column("id_column", sa.Text(), nullable=False),
        sa.Column("label_column", sa.Text(), nullable=False),
        sa.Column("query_column", sa.Text(), nullable=False),
        sa.Column("classes", sa.JSON(), nullable=True),
        sa.Column("positive", sa.Text(), nullable=True),
        sa.Column("missing", sa.String(length=10), nullable=False),
        sa.Column("metrics", sa.JSON(), nullable=False),
        sa.Column("answers", sa.String(length=64), nullable=False),
        sa.Column("sample", sa.String(length=64), nullable=False),
        sa.Column("public", sa.String(length=64), nullable=True),
        sa.Column("split", sa.JSON(), nullable=False),
        sa.Column("rows", sa.Integer(), nullable=False),
        sa.Column("public_rows", sa.Integer(), nullable=False),
        sa.Column("software", sa.String(length=40), nullable=False),
        sa.ForeignKeyConstraint(["answers"], ["files.hash"], name=("fk_versions_answers")),
        sa.ForeignKeyConstraint(["challenge_id"], ["challenges.id"], name=("fk_versions_challenge_id")),
        sa.ForeignKeyConstraint(["created_by"], ["users.id"], name=("fk_versions_created_by")),
        sa.ForeignKeyConstraint(["public"], ["files.hash"], name=("fk_versions_public")),
        sa.ForeignKeyConstraint(["sample"], ["files.hash"], name=("fk_versions_sample")),
        sa.PrimaryKeyConstraint("id", name=("pk_versions")),
        sa.UniqueConstraint("challenge_id", "number", name=("uq_versions_challenge_id_number")),
    )
    op.create_index("ix_versions_challenge_id", "versions", ["challenge_id"])

    op.create_table(
        "members",
        sa.Column("team_id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("challenge_id", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["challenge_id"], ["challenges.id"], name=("fk_members_challenge_id")),
        sa.ForeignKeyConstraint(["team_id"], ["teams.id"], name=("fk_members_team_id")),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=("fk_members_user_id")),
        sa.PrimaryKeyConstraint("team_id", "user_id", name=("pk_members")),
        sa.UniqueConstraint("challenge_id", "user_id", name=("uq_members_challenge_id_user_id")),
    )
    op.create_index("ix_members_user_id", "members", ["user_id"])

    op.create_table(
        "quotas",
        sa.Column("team_id", sa.Integer(), nullable=False),
        sa.Column("day", sa.String(length=10), nullable=False),
        sa.Column("used", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["team_id"], ["teams.id"], name=("fk_quotas_team_id")),
        sa.PrimaryKeyConstraint("team_id", "day", name=("pk_quotas")),
    )
    op.create_table(
        "submissions",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("key", sa.String(length=40), nullable=False),
        sa.Column("challenge_id", sa.Integer(), nullable=False),
        sa.Column("version_id", sa.Integer(), nullable=False),
        sa.Column("team_id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("file", sa.String(length=64), nullable=False),
        sa.Column("file_name", sa.Text(), nullable=False),
        sa.Column("note", sa.Text(), nullable=False),
        sa.Column("created", UtcDateTime(), nullable=False),
        sa.Column("late", sa.Boolean(), nullable=False),
        sa.Column("final", sa.Boolean(), nullable=False),
        sa.Column("state", sa.String(length=10), nullable=False),
        sa.Column("work", sa.String(length=10), nullable=True),
        sa.Column("claimed_by", sa.String(length=40), nullable=True),
        sa.Column("claimed", UtcDateTime(), nullable=True),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("day", sa.String(length=10), nullable=True),
        sa.Column("finished", UtcDateTime(), nullable=True),
        sa.Column("facts", sa.JSON(), nullable=True),
        sa.CheckConstraint("state IN ('queued', 'scored', 'rejected', 'failed')", name=("ck_submissions_state")),
        sa.CheckConstraint("work IN ('score', 'intervals')", name=("ck_submissions_work")),
        sa.ForeignKeyConstraint(["challenge_id"], ["challenges.id"], name=("fk_submissions_challenge_id")),
        sa.ForeignKeyConstraint(["file"], ["files.hash"], name=("fk_submissions_file")),
        sa.ForeignKeyConstraint(["team_id"], ["teams.id"], name=("fk_submissions_team_id")),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=("fk_submissions_user_id")),
        sa.ForeignKeyConstraint(["version_id"], ["versions.id"], name=("fk_submissions_version_id")),
        sa.PrimaryKeyConstraint("id", name=("pk_submissions")),
        sa.UniqueConstraint("key", name=("uq_submissions_key")),
    )
    op.create_index("ix_submissions_of_challenge", "submissions", ["challenge_id", "state"])
    op.create_index("ix_submissions_of_team", "submissions", ["team_id", "created"])
    op.create_index("ix_submissions_queue", "submissions", ["work", "created"])

    op.create_table(
        "outcomes",
        sa.Column("submission_id", sa.Integer(), nullable=False),
        sa.Column("version_id", sa.Integer(), nullable=False),
        sa.Column("part", sa.String(length=10), nullable=False),
        sa.Column("packed", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["submission_id"], ["submissions.id"], name=("fk_outcomes_submission_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["version_id"], ["versions.id"], name=("fk_outcomes_version_id")),
        sa.PrimaryKeyConstraint("submission_id", "version_id", "part", name=("pk_outcomes")),
    )
    op.create_table(
        "scores",
        sa.Column("submission_id", sa.Integer(), nullable=False),
        sa.Column("version_id", sa.Integer(), nullable=False),
        sa.Column("part", sa.String(length=10), nullable=False),
        sa.Column("place", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("value", sa.Double(), nullable=True),
        sa.Column("lo", sa.Double(), nullable=True),
        sa.Column("hi", sa.Double(), nullable=True),
        sa.Column("method", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["submission_id"], ["submissions.id"], name=("fk_scores_submission_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["version_id"], ["versions.id"], name=("fk_scores_version_id")),
        sa.PrimaryKeyConstraint("submission_id", "version_id", "part", "place", name=("pk_scores")),
    )
    op.create_table(
        "standings",
        sa.Column("challenge_id", sa.Integer(), nullable=False),
        sa.Column("part", sa.String(length=10), nullable=False),
        sa.Column("place", sa.Integer(), nullable=False),
        sa.Column("group", sa.Integer(), nullable=True),
        sa.Column("team_id", sa.Integer(), nullable=False),
        sa.Column("submission_id", sa.Integer(), nullable=False),
        sa.Column("entries", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["challenge_id"], ["challenges.id"], name=("fk_standings_challenge_id")),
        sa.ForeignKeyConstraint(["submission_id"], ["submissions.id"], name=("fk_standings_submission_id")),
        sa.ForeignKeyConstraint(["team_id"], ["teams.id"], name=("fk_standings_team_id")),
        sa.PrimaryKeyConstraint("challenge_id", "part", "place", name=("pk_standings")),
    )
    op.create_index("ix_standings_team_id", "standings", ["team_id"])
