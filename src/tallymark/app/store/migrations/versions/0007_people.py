"""Reserved: filled by the work that needs it."""

from __future__ import annotations

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    """Nothing yet."""
