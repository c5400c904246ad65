"""Files that were checked and wait to be submitted."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from tallymark.app.store.models import UtcDateTime

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Add the table of checked files."""
    op.create_table(
        "checked_files",
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("secret", sa.String(length=64), nullable=False),
        sa.Column("challenge_id", sa.Integer(), nullable=False),
        sa.Column("file_name", sa.Text(), nullable=False),
        sa.Column("rows", sa.Integer(), nullable=True),
        sa.Column("expires", UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(["challenge_id"], ["challenges.id"], name=("fk_checked_files_challenge_id")),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=("fk_checked_files_user_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("user_id", name=("pk_checked_files")),
        sa.UniqueConstraint("secret", name=("uq_checked_files_secret")),
    )
