"""Owners and co-organisers of challenges, operators, password resets, and the audit log."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from tallymark.app.store.models import UtcDateTime

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Add the tables. Whoever created a challenge owns it, and the first organiser becomes the operator."""
    op.add_column("users", sa.Column("operator", sa.Boolean(), nullable=False, server_default=sa.false()))
    op.add_column("users", sa.Column("disabled", UtcDateTime(), nullable=True))
    op.add_column("users", sa.Column("deleted", UtcDateTime(), nullable=True))
    op.create_table(
        "password_resets",
        sa.Column("secret", sa.String(length=64), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("created", UtcDateTime(), nullable=False),
        sa.Column("expires", UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_password_resets_user_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("secret", name="pk_password_resets"),
    )
    op.create_index("ix_password_resets_user_id", "password_resets", ["user_id"])
    op.create_table(
        "audit",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("created", UtcDateTime(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=True),
        sa.Column("action", sa.String(length=40), nullable=False),
        sa.Column("challenge_id", sa.Integer(), nullable=True),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("details", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_audit_user_id"),
        sa.ForeignKeyConstraint(["challenge_id"], ["challenges.id"], name="fk_audit_challenge_id", ondelete="SET NULL"),
        sa.PrimaryKeyConstraint("id", name="pk_audit"),
    )
    op.create_index("ix_audit_of_challenge", "audit", ["challenge_id", "id"])
    op.create_table(
        "organisers",
        sa.Column("challenge_id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("owner", sa.Boolean(), nullable=False),
        sa.Column("created", UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["challenge_id"], ["challenges.id"], name="fk_organisers_challenge_id", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_organisers_user_id"),
        sa.PrimaryKeyConstraint("challenge_id", "user_id", name="pk_organisers"),
    )
    op.create_index("ix_organisers_user_id", "organisers", ["user_id"])
    op.execute(
        "INSERT INTO organisers (challenge_id, user_id, owner, created) "
        "SELECT id, created_by, true, created FROM challenges"
    )
    op.execute(
        "UPDATE users SET operator = true "
        "WHERE id = (SELECT min(id) FROM users WHERE organiser AND password IS NOT NULL)"
    )
