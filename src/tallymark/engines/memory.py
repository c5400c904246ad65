"""Rows in memory."""

from __future__ import annotations

from tallymark.batch import Batch
from tallymark.states import Plan, States


def fold(source: Batch, plan: Plan) -> States:
    """The states of all rows of a batch."""
    return plan.fold(source)
