"""Rank ranges in the place of groups."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Add the ranges, and have every leaderboard rebuilt."""
    op.execute("DELETE FROM standings")
    with op.batch_alter_table("standings") as table:
        table.drop_column("group")
        table.add_column(sa.Column("best_rank", sa.Integer(), nullable=False))
        table.add_column(sa.Column("worst_rank", sa.Integer(), nullable=False))
    op.execute("UPDATE challenges SET changes = changes + 1")
