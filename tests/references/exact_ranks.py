"""Metrics on the order of scores in rational arithmetic: every threshold counts all rows again."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any


def exact_ranks(y: Sequence[Any], s: Sequence[Any], w: Sequence[Any]) -> dict[str, Fraction]:
    """The value of each metric for truth of 0 and 1, both of which must occur."""
    rows = [(bool(t), Fraction(float(a)), Fraction(float(b))) for t, a, b in zip(y, s, w, strict=True)]
    positives, negatives = (sum((b for t, _, b in rows if t is truth), Fraction(0)) for truth in (True, False))
    wins = [b * d * (Fraction(a > c) + Fraction(a == c) / 2) for t, a, b in rows if t for u, c, d in rows if not u]
    area = sum(wins, Fraction(0)) / positives / negatives
    steps = trapezoids = before_tp = farthest = Fraction(0)
    before = None
    for threshold in sorted({a for _, a, _ in rows}, reverse=True):
        tp, fp = (sum((b for t, a, b in rows if t is truth and a >= threshold), Fraction(0)) for truth in (True, False))
        now = tp / (tp + fp)
        share = (tp - before_tp) / positives
        steps += share * now
        trapezoids += share * (now + (now if before is None else before)) / 2
        farthest = max(farthest, abs(tp / positives - fp / negatives))
        before, before_tp = now, tp
    return {
        "auc": area,
        "gini": 2 * area - 1,
        "average_precision": steps,
        "pr_auc": trapezoids,
        "ks": farthest,
    }
