"""Information criteria: aic and bic."""

from __future__ import annotations

import math

import pytest

import tallymark as tm


def test_information_criteria_are_the_textbook_formulas():
    """The textbook formulas; more parameters cost more, and more so the more rows there are."""
    assert tm.model_selection.aic(-12.5, 4) == 33.0
    assert tm.model_selection.bic(-12.5, 4, 50) == 4 * math.log(50) + 25.0
    assert tm.model_selection.bic(-12.5, 4, 1) == 25.0
    for bad in (
        lambda: tm.model_selection.aic(math.nan, 1),
        lambda: tm.model_selection.aic("x", 1),
        lambda: tm.model_selection.aic(1.0, -1),
        lambda: tm.model_selection.aic(1.0, 1.5),
        lambda: tm.model_selection.bic(1.0, 1, 0),
    ):
        with pytest.raises(tm.ParameterError):
            bad()
