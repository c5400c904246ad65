"""How many modules of the package a call passes through, so that a reader can follow it."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import tallymark as tm

RNG = np.random.default_rng(0)
LABELS, CHANCES, GROUPS = RNG.integers(0, 2, 300), RNG.random(300), RNG.integers(0, 3, 300)
NUMBERS = RNG.normal(size=300)


def modules_of(call):
    """The modules of the package whose functions run in a second call."""
    call()
    seen = set()

    def note(frame, event, argument):
        if event == "call":
            seen.add(frame.f_globals.get("__name__", ""))

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(before)
    return sorted(name for name in seen if name.startswith("tallymark."))


@pytest.mark.parametrize(
    ("call", "most"),
    [
        (lambda: tm.auc(LABELS, CHANCES), 10),
        (lambda: tm.rmse(NUMBERS, CHANCES), 8),
        (lambda: tm.evaluate(NUMBERS, CHANCES, ["rmse"], by=GROUPS, ci=0.95), 22),
        (lambda: tm.evaluate(LABELS, CHANCES, ["auc"], by=GROUPS, ci=0.95), 24),
    ],
    ids=["auc", "rmse", "evaluate numbers", "evaluate scores"],
)
def test_a_call_passes_through_few_modules(call, most):
    """A layer that only forwards would show here."""
    assert len(modules_of(call)) <= most
