"""P-values corrected for the number of tests."""

from __future__ import annotations

import math
from collections.abc import Sequence

from tallymark.data.arguments import check_choice

CORRECTIONS = {"holm": "Holm", "bonferroni": "Bonferroni", "fdr": "Benjamini–Hochberg", "none": "none"}


def check_correction(how: object) -> str:
    """Refuse an unknown way to correct."""
    check_choice("correction", how, CORRECTIONS)
    return str(how)


def correct_p_values(ps: Sequence[float], how: str) -> list[float]:
    """The corrected p-values, in the order given. Those that are undefined stay so, and count as tests that find
    nothing: how many tests there are is to follow from the question, not from the answers.

    "holm" and "bonferroni" keep the chance of any false finding, "fdr" the share of false ones among the findings.

    >>> correct_p_values([0.01, 0.04, 0.03], "holm")
    [0.03, 0.06, 0.06]
    """
    order = sorted((k for k, p in enumerate(ps) if not math.isnan(p)), key=lambda k: ps[k])
    tests = len(ps)
    out = list(ps)
    if how == "bonferroni":
        return [p if math.isnan(p) else min(1.0, p * tests) for p in ps]
    highest, lowest = 0.0, 1.0
    if how == "holm":
        for rank, k in enumerate(order):
            highest = out[k] = max(highest, min(1.0, ps[k] * (tests - rank)))
    if how == "fdr":
        for rank, k in reversed(list(enumerate(order, start=1))):
            lowest = out[k] = min(lowest, ps[k] * tests / rank)
    return out
