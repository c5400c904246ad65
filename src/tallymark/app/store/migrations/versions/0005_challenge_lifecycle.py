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
