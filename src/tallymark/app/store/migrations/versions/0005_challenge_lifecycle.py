"""Challenges are drafts until they are published, and organisers reveal the private part in a step of its own."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from tallymark.app.store.models import UtcDateTime

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Add the columns. Existing challenges are published, and show their private part once they are over, as before."""
    op.add_column("challenges", sa.Column("published", UtcDateTime(), nullable=True))
    op.add_column("challenges", sa.Column("reveal", sa.String(length=10), nullable=False, server_default="organiser"))
    op.add_column("challenges", sa.Column("revealed", UtcDateTime(), nullable=True))
    op.add_column("challenges", sa.Column("total_quota", sa.Integer(), nullable=True))
    op.add_column("challenges", sa.Column("must_accept", sa.Boolean(), nullable=False, server_default=sa.false()))
    op.add_column("challenges", sa.Column("data_for", sa.String(length=10), nullable=False, server_default="everyone"))
    op.add_column("members", sa.Column("accepted", UtcDateTime(), nullable=True))
    op.execute("UPDATE challenges SET published = created, reveal = 'closing'")
    op.create_table(
        "kept_files",
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("secret", sa.String(length=64), nullable=False),
        sa.Column("file_name", sa.Text(), nullable=False),
        sa.Column("expires", UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_kept_files_user_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("user_id", name="pk_kept_files"),
        sa.UniqueConstraint("secret", name="uq_kept_files_secret"),
    )
    op.create_table(
        "announcements",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("challenge_id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("created", UtcDateTime(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["challenge_id"], ["challenges.id"], name="fk_announcements_challenge_id", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_announcements_user_id"),
        sa.PrimaryKeyConstraint("id", name="pk_announcements"),
    )
    op.create_index("ix_announcements_challenge_id", "announcements", ["challenge_id"])
    op.create_table(
        "data_files",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("challenge_id", sa.Integer(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("file", sa.String(length=64), nullable=False),
        sa.Column("file_name", sa.Text(), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("created", UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["challenge_id"], ["challenges.id"], name="fk_data_files_challenge_id", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["file"], ["files.hash"], name="fk_data_files_file"),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_data_files_user_id"),
        sa.PrimaryKeyConstraint("id", name="pk_data_files"),
        sa.UniqueConstraint("challenge_id", "title", "number", name="uq_data_files_challenge_id_title_number"),
    )
