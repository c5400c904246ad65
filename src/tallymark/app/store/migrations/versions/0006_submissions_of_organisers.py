"""Candidate versions with their rescorings, and disqualified submissions."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from tallymark.app.store.models import UtcDateTime

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    """Add the tables and columns. The newest version of each challenge is the current one."""
    op.add_column("versions", sa.Column("state", sa.String(length=10), nullable=False, server_default="current"))
    op.execute(
        "UPDATE versions SET state = 'past' WHERE EXISTS (SELECT 1 FROM versions AS newer "
        "WHERE newer.challenge_id = versions.challenge_id AND newer.number > versions.number)"
    )
    op.add_column("submissions", sa.Column("disqualified", sa.Text(), nullable=True))
    op.create_table(
        "rescorings",
        sa.Column("version_id", sa.Integer(), nullable=False),
        sa.Column("submission_id", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(length=10), nullable=False),
        sa.Column("work", sa.String(length=10), nullable=True),
        sa.Column("facts", sa.JSON(), nullable=True),
        sa.Column("claimed_by", sa.String(length=40), nullable=True),
        sa.Column("claimed", UtcDateTime(), nullable=True),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["version_id"], ["versions.id"], name="fk_rescorings_version_id"),
        sa.ForeignKeyConstraint(
            ["submission_id"], ["submissions.id"], name="fk_rescorings_submission_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("version_id", "submission_id", name="pk_rescorings"),
    )
    op.create_index("ix_rescorings_submission_id", "rescorings", ["submission_id"])
