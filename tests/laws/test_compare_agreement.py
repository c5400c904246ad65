"""Two models: p < 1 − level exactly where the interval excludes 0, and the verdict follows."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

import tallymark as tm
from tallymark.comparison.paired_tests import mcnemar
from tallymark.states.resampling.paired_rows import PairedOutcomes
from tests.laws.cases import random_rows
from tests.laws.test_compare_laws import by_metric

LEVELS = (0.5, 0.8, 0.9, 0.95, 0.99)
RESAMPLES = 199  # the fewest that 0.99 needs


def check_agreement(found: tm.comparison.Comparison) -> set[bool]:
    """Each difference says the same in numbers, words, letters, JSON and the plot; gives which verdicts there were."""
    exported = json.loads(found.to_json())["differences"]
    seen = set()
    for d, data in zip(found, exported, strict=True):
        excludes = d.lo > 0 or d.hi < 0
        assert excludes == (d.p < 1 - d.level) == (d.p < round(1 - d.level, 6)) == d.significant, d
        assert (d.winner is not None) == excludes == ("is better" in d.verdict) == (" beats " in str(d))
        if excludes and d.better in ("higher", "lower"):
            assert d.winner == ("b" if (d.lo > 0) == (d.better == "higher") else "a")
        assert data["winner"] == d.winner
        assert [data[key] for key in ("p", "lo", "hi")] == [None if math.isnan(x) else x for x in (d.p, d.lo, d.hi)]
        letter_display = found.groups(d.metric)
        assert math.isnan(d.p) or set(letter_display["a"]).isdisjoint(letter_display["b"]) == excludes
        (row,) = found.plot.differences(d.metric).table.rows
        assert repr(row[1:]) == repr((d.value, d.lo, d.hi, d.p, d.verdict))  # in which not-a-number is like itself
        seen.add(excludes)
    return seen


@pytest.mark.parametrize("level", LEVELS)
def test_every_table_of_right_and_wrong_rows(level):
    """All numbers of discordant rows up to 30, either way, with up to 40 rows on which the models agree."""
    for same in (0, 1, 40):
        for changed in range(31):
            for gains in range(changed + 1):
                first = np.repeat([True, False, True], [changed - gains, gains, same])
                second = np.repeat([False, True, True], [changed - gains, gains, same])
                found = mcnemar(PairedOutcomes(first), PairedOutcomes(second), level)
                if len(first):
                    assert (found.lo > 0 or found.hi < 0) == (found.p < 1 - level)
                    assert found.lo <= (2 * gains - changed) / len(first) <= found.hi


def test_a_level_at_the_edge_of_its_own_p_value():
    """Levels one bit apart around 1 − p."""
    first, second = np.repeat([True, False, True], [6, 16, 100]), np.repeat([False, True, True], [6, 16, 100])
    edge = 1 - mcnemar(PairedOutcomes(first), PairedOutcomes(second), 0.95).p
    seen = set()
    for level in [edge + k * math.ulp(edge) for k in range(-8, 9)]:
        found = mcnemar(PairedOutcomes(first), PairedOutcomes(second), level)
        assert (found.lo > 0 or found.hi < 0) == (found.p < 1 - level)
        seen.add(found.lo > 0)
    assert seen == {True, False}


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("rows", ["plain", "weighted", "clustered", "rounded"])
def test_p_values_agree_with_intervals_for_classifiers(level, rows):
    """Of few rows and of many; one model alike, perfect, constant, or better by some."""
    rng = np.random.default_rng(int(100 * level))
    seen = set()
    for n in (2, 5, 9, 30, 120):
        y = np.append([0, 1], rng.integers(0, 2, n - 2))
        scores = {sd: 1 / (1 + np.exp(1 - 2 * y + sd * rng.normal(size=n))) for sd in (0.6, 1.0, 2.5)}
        if rows == "rounded":
            scores = {sd: np.round(p, 1) for sd, p in scores.items()}
        others = [*scores.values(), np.clip(y, 0.01, 0.99), np.full(n, 0.4), 0.9 * scores[1.0]]
        more = {
            "weights": rng.integers(1, 4, n) / 2 if rows == "weighted" else None,
            "cluster": np.arange(n) // 2 if rows == "clustered" else None,
        }
        for other in others:
            models = {"a": scores[1.0], "b": other}
            metrics = ["accuracy", "error_rate", "auc", "gini", "logloss", "balanced_accuracy"]
            seen |= check_agreement(tm.compare(y, models, metrics, ci=tm.Intervals(level, resamples=RESAMPLES), **more))
    assert seen == {True, False}


@by_metric
def test_p_values_agree_with_intervals_for_every_metric(metric):
    """Of 8 and of 40 rows, at a level that changes with them."""
    for n, level in ((8, 0.5), (40, 0.8), (40, 0.95)):
        rows = random_rows(metric, n, 3)
        if not isinstance(rows.call(metric), float):
            return
        order = np.arange(n)
        order[: n // 2] = order[: n // 2][::-1]
        models = {"a": rows.p, "b": rows.p[order]}
        check_agreement(
            tm.compare(
                rows.y, models, [metric], ci=tm.Intervals(level, resamples=39, seed=n), query=rows.q, **rows.facts
            )
        )
