"""Acceptance: whether a report is good enough, by a condition such as ``r2 > 0.8 and rmse < 5``."""

from tallymark.acceptance.accept import Acceptance, ConditionResult, accept

__all__ = [
    "Acceptance",
    "ConditionResult",
    "accept",
]
