"""p < 1 − level exactly where the interval excludes 0, and verdicts, sentences and letters follow."""

from __future__ import annotations

import json
import math
from itertools import combinations

import numpy as np
import pytest

import tallymark as tm
from tallymark.comparison.corrections import CORRECTIONS
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
        assert excludes == (" beats " in found.summary(d.metric))
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


@pytest.mark.slow
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


def check_several(found: tm.comparison.Comparison) -> set[bool]:
    """All pairs of several models say the same in numbers, words and letters; gives which verdicts there were."""
    several, seen = len(found.models) > 2, set()
    simultaneous = several and found.settings.correction == "max-t"
    for key in found.metrics:
        pairs = [d for d in found if d.metric == key]
        letters, summary = found.groups(key), found.summary(key)
        for d in pairs:
            alpha, excludes = 1 - d.level, d.lo > 0 or d.hi < 0
            assert excludes == (d.p < alpha) == (d.p < round(alpha, 6)), d
            assert math.isnan(d.p) == math.isnan(d.p_corrected) or d.p <= d.p_corrected
            assert d.p == d.p_corrected or math.isnan(d.p) or (several and not simultaneous)
            assert d.significant == (d.p_corrected < alpha) == (d.winner is not None) == (" beats " in str(d))
            assert ("(uncorrected)" in str(d)) == (several and not simultaneous and not math.isnan(d.lo))
            if any(letters.values()):
                assert set(letters[d.first]).isdisjoint(letters[d.second]) == d.significant
            seen.add(d.significant)
        best = next(iter(found.ranking(key)))
        rivals = [d for d in pairs if best in (d.first, d.second) and d.value != 0 and not math.isnan(d.p)]
        if several and rivals:
            assert ("not significant" in summary) == any(not d.significant for d in rivals)
            assert f", {CORRECTIONS[found.settings.correction]})" in summary
    return seen


@pytest.mark.slow
@pytest.mark.parametrize("correction", CORRECTIONS)
@pytest.mark.parametrize("count", [2, 3, 4, 5])
def test_several_models(correction, count):
    """Some alike, some the same, some better; of few rows and of many."""
    rng = np.random.default_rng(count)
    seen = set()
    for n, level in ((8, 0.8), (40, 0.95), (300, 0.9)):
        y = np.append([0, 1], rng.integers(0, 2, n - 2))
        shared = rng.normal(size=n)
        scales = (0.6, 2.0, 0.7, 1.0, 0.65)[:count]
        models = {
            f"m{k}": 1 / (1 + np.exp(1 - 2 * y + sd * (shared + rng.normal(size=n)))) for k, sd in enumerate(scales)
        }
        if n == 40:
            models["m0"] = models["m1"].copy()
        metrics, settings = ["accuracy", "auc", "logloss"], tm.Intervals(level, resamples=399)
        more = {"cluster": np.arange(n) // 2} if n == 300 else {}
        seen |= check_several(tm.compare(y, models, metrics, ci=settings, correction=correction, **more))
    assert seen == {True, False}


def test_simultaneous_intervals_contain_those_of_single_pairs():
    """Where the same resamples are read; and no model changes the order of the p-values."""
    rng = np.random.default_rng(8)
    y = rng.normal(size=80)
    models = {name: y + sd * rng.normal(size=80) for name, sd in zip("abcd", (1.0, 1.1, 1.3, 1.6), strict=True)}
    joint, single = (tm.compare(y, models, ["rmse"], correction=how) for how in ("max-t", "none"))
    holm = tm.compare(y, models, ["rmse"], correction="holm")
    for pair in combinations("abcd", 2):
        one, other = joint[pair, "rmse"], single[pair, "rmse"]
        assert one.hi - one.lo > other.hi - other.lo
        assert one.p >= other.p or other.p_at_floor
        assert (holm[pair, "rmse"].lo, holm[pair, "rmse"].p) == (other.lo, other.p)
