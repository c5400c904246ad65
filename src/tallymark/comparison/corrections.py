"""P-values corrected for the number of tests."""

from __future__ import annotations

import math
from collections.abc import Sequence

from tallymark.data.arguments import check_choice

CORRECTIONS = {
    "max-t": "max-T",
    "holm": "Holm",
    "bonferroni": "Bonferroni",
    "fdr": "Benjamini–Hochberg",
    "none": "uncorrected",
}


def check_correction(how: object) -> str:
    """Require a known correction."""
    check_choice("correction", how, CORRECTIONS)
    return str(how)


def correct_p_values(ps: Sequence[float], how: str) -> list[float]:
    """The corrected p-values, in the order given. Undefined ones stay undefined and count as tests that find nothing:
    the number of tests follows from the question, not from the answers.

    "holm" and "bonferroni" control the family-wise error rate, "fdr" the false discovery rate. p-values of "max-t" are
    corrected where they are made (`paired_tests.max_t`).

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
