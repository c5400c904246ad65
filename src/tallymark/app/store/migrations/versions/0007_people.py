"""Invitations of many, e-mail, merges of teams, and sign-in with OpenID Connect."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from tallymark.app.store.models import UtcDateTime

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    """Add columns and tables. An invitation that was used has no use left."""
    op.add_column("users", sa.Column("email", sa.Text(), nullable=True))
    op.add_column("users", sa.Column("email_key", sa.Text(), nullable=True))
    op.add_column("users", sa.Column("mail_results", sa.Boolean(), nullable=False, server_default=sa.false()))
    op.create_index("ix_users_email_key", "users", ["email_key"], unique=True)
    op.add_column("challenges", sa.Column("team_size", sa.Integer(), nullable=True))
    op.add_column("invitations", sa.Column("max_uses", sa.Integer(), nullable=False, server_default=sa.text("1")))
    op.add_column("invitations", sa.Column("uses", sa.Integer(), nullable=False, server_default=sa.text("0")))
    op.add_column("invitations", sa.Column("name", sa.Text(), nullable=True))
    op.add_column("invitations", sa.Column("email", sa.Text(), nullable=True))
    op.add_column("invitations", sa.Column("mail", sa.String(length=10), nullable=True))
    op.add_column("invitations", sa.Column("revoked", UtcDateTime(), nullable=True))
    with op.batch_alter_table("invitations") as invitations:  # on SQLite a new table: none refers to it
        invitations.add_column(sa.Column("challenge_id", sa.Integer(), nullable=True))
        invitations.create_foreign_key(
            "fk_invitations_challenge_id", "challenges", ["challenge_id"], ["id"], ondelete="SET NULL"
        )
    op.create_index("ix_invitations_of_user", "invitations", ["created_by", "created"])
    op.execute("UPDATE invitations SET uses = 1 WHERE used IS NOT NULL")
    op.create_table(
        "outbox",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(length=20), nullable=False),
        sa.Column("recipient", sa.Text(), nullable=False),
        sa.Column("facts", sa.JSON(), nullable=False),
        sa.Column("created", UtcDateTime(), nullable=False),
        sa.Column("due", UtcDateTime(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_outbox"),
    )
    op.create_index("ix_outbox_due", "outbox", ["due"])
    op.create_table(
        "mail_requests",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("key", sa.String(length=64), nullable=False),
        sa.Column("created", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_mail_requests"),
    )
    op.create_index("ix_mail_requests_key", "mail_requests", ["key"])
    op.create_table(
        "address_confirmations",
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("email", sa.Text(), nullable=False),
        sa.Column("secret", sa.String(length=64), nullable=True),
        sa.Column("expires", UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_address_confirmations_user_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("user_id", name="pk_address_confirmations"),
        sa.UniqueConstraint("secret", name="uq_address_confirmations_secret"),
    )
    op.create_table(
        "team_merges",
        sa.Column("team_id", sa.Integer(), nullable=False),
        sa.Column("into_id", sa.Integer(), nullable=False),
        sa.Column("requested_by", sa.Integer(), nullable=False),
        sa.Column("created", UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(["team_id"], ["teams.id"], name="fk_team_merges_team_id", ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["into_id"], ["teams.id"], name="fk_team_merges_into_id", ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["requested_by"], ["users.id"], name="fk_team_merges_requested_by"),
        sa.PrimaryKeyConstraint("team_id", name="pk_team_merges"),
    )
    op.create_index("ix_team_merges_into_id", "team_merges", ["into_id"])
    op.create_table(
        "identities",
        sa.Column("issuer", sa.Text(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("created", UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_identities_user_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("issuer", "subject", name="pk_identities"),
    )
    op.create_index("ix_identities_user_id", "identities", ["user_id"])
