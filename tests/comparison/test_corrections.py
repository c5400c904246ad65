"""Corrected p-values against statsmodels, and the letters of models that cannot be told apart."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from tallymark.comparison.corrections import correct_p_values
from tallymark.comparison.result import letter_display


@pytest.mark.parametrize(("ours", "theirs"), [("holm", "holm"), ("bonferroni", "bonferroni"), ("fdr", "fdr_bh")])
def test_corrections_are_those_of_statsmodels(ours, theirs):
    """In the order of the input, with ties."""
    rng = np.random.default_rng(0)
    for n in (1, 2, 5, 30):
        ps = np.round(rng.random(n) ** 3, 2)
        assert correct_p_values(ps.tolist(), ours) == pytest.approx(multipletests(ps, method=theirs)[1], rel=1e-12)


@pytest.mark.parametrize("how", ["holm", "bonferroni", "fdr"])
def test_what_could_not_be_tested_counts_as_a_test_that_finds_nothing(how):
    """It stays undefined; the number of tests follows from the question, not from the answers."""
    found = correct_p_values([0.01, math.nan, 0.04], how)
    assert math.isnan(found[1])
    assert found[::2] == correct_p_values([0.01, 1.0, 0.04], how)[::2]
    assert correct_p_values([0.01, math.nan, 0.04], "holm")[::2] == [0.03, 0.08]
    assert correct_p_values([0.01, 0.5], "none") == [0.01, 0.5]


@given(st.integers(1, 7), st.data())
def test_names_share_a_letter_just_where_they_are_not_told_apart(count, data):
    """Whatever the pairs; everyone has a letter, and none is idle."""
    names = [f"model {k}" for k in range(count)]
    pairs = [frozenset(pair) for pair in combinations(names, 2)]
    significant_pairs = set(data.draw(st.lists(st.sampled_from(pairs), unique=True))) if pairs else set()
    found = letter_display(names, significant_pairs)
    assert all(found.values())
    for one, other in combinations(names, 2):
        assert bool(set(found[one]) & set(found[other])) == (frozenset((one, other)) not in significant_pairs)
    assert found[names[0]][0] == "a"


def test_groups_after_the_last_letter_get_numbers():
    """Are numbers, and tell all of them apart."""
    names = [f"{k:02}" for k in range(30)]
    found = letter_display(names, {frozenset(pair) for pair in combinations(names, 2)})
    assert list(found.values())[:3] == ["a", "b", "c"]
    assert len(set(found.values())) == 30
    assert found["29"] == "(30)"
