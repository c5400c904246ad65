"""Early stopping by hand: a loop over the values of rounds."""

from __future__ import annotations


def stops_at(values: list[float], patience: int, better: str) -> tuple[int, int]:
    """The round after which to stop, and the best one."""
    sign = 1 if better == "higher" else -1
    best = waited = 0
    for k, value in enumerate(values[1:], 1):
        if sign * value > sign * values[best]:
            best, waited = k, 0
        else:
            waited += 1
        if waited == patience:
            return k, best
    return len(values) - 1, best
