"""Bounded states: fixed memory, and bounds that always hold the exact value."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tallymark as tm
from tallymark.states.scores.binned import fit_bits, float_order

METRICS = ["auc", "gini", "average_precision", "ks"]
TINY = 5e-324


def adversaries(rng, n):
    """Scores that are hard on bins."""
    gaps = 1.0 + rng.integers(0, 4, n) * 2.0**-52
    return {
        "all ties": np.full(n, 0.3),
        "all in one bin": np.nextafter(0.5, 1) + rng.integers(0, n, n) * 2.0**-53,
        "denormals": rng.integers(-50, 50, n) * TINY,
        "both zeros": rng.choice([0.0, -0.0, TINY, -TINY], n),
        "huge logits": rng.normal(0, 1, n) * 1e307,
        "tiny gaps": rng.integers(-5, 6, n) * 1e-300,
        "last bits": gaps,
        "one outlier": np.append(rng.random(n - 1), 1.7e308),
        "all exponents": np.ldexp(rng.choice([-1.0, 1.0], n), rng.integers(-1074, 1024, n)),
        "uniform": rng.random(n),
        "integers": rng.integers(-3, 4, n).astype(float),
    }


@pytest.mark.parametrize("name", METRICS)
@pytest.mark.parametrize("bins", [2, 3, 16, 256])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_bounds_hold_the_exact_value(name, bins, weighted):
    """On scores that an enemy chose, with and without weights, whatever the number of bins."""
    rng = np.random.default_rng(bins)
    for n in (2, 7, 400):
        for shape, scores in adversaries(rng, n).items():
            y = np.append([0, 1], rng.integers(0, 2, n - 2))
            w = rng.choice([0.1, 1.0, 3.0, 1e-9, 1e9], n) if weighted else None
            exact = tm.metric(name)(y, scores, weights=w)
            found = tm.metric(name)(y, scores, weights=w, bounded=bins)
            assert found.lo <= exact <= found.hi, (shape, n, exact, found)
            assert found.lo <= found <= found.hi


@pytest.mark.parametrize("heavy", [1e10, 1e14, 1e16, 1e18, 1e20, 1e200])
@pytest.mark.parametrize("positives", [10, 1000, 20_000])
def test_a_heavy_negative_before_many_positives(heavy, positives):
    """Precision is close to 0 all along, and the lower bound has digits there too."""
    y = np.append(np.repeat([0, 1], [1, positives]), 0)
    scores = np.concatenate(([1.9], 1 + np.arange(positives) / (2 * positives), [-1.0]))
    w = np.concatenate(([heavy], np.ones(positives), [1.0]))
    exact = tm.average_precision(y, scores, weights=w)
    found = tm.average_precision(y, scores, weights=w, bounded=2)
    assert exact / 2 < found.lo <= exact <= found.hi


@pytest.mark.parametrize("name", METRICS)
def test_few_distinct_scores_lose_nothing(name):
    """As long as every score has a bin of its own, the value is exact, and so are its bounds."""
    rng = np.random.default_rng(1)
    y, p = rng.integers(0, 2, 5000), np.round(rng.random(5000), 2)
    found = tm.metric(name)(y, p, bounded=101)
    assert found == tm.metric(name)(y, p)
    assert found.hi - found.lo < (3e-15 if name == "average_precision" else 1e-300)  # its terms are rounded


@pytest.mark.parametrize("name", METRICS)
def test_the_bounds_are_tight(name):
    """A few thousand bins pin the value down to a few digits."""
    rng = np.random.default_rng(2)
    y = rng.integers(0, 2, 200_000)
    p = 1 / (1 + np.exp(-(rng.normal(0, 1, len(y)) + y)))
    found = tm.metric(name)(y, p, bounded=4096)
    assert found.hi - found.lo < 2e-3
    coarse = tm.metric(name)(y, p, bounded=64)
    assert coarse.hi - coarse.lo > found.hi - found.lo


@given(st.integers(0, 2**32), st.integers(2, 40), st.integers(1, 6))
def test_bins_do_not_depend_on_how_rows_came(seed, bins, pieces):
    """Any split into tallies gives the same state to the last byte."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(pieces, 80))
    y, p = rng.integers(0, 2, n), rng.choice(np.array([*adversaries(rng, n).values()]).ravel(), n)
    metric = tm.Auc(bounded=bins)
    whole = tm.Tally([metric]).update(y, p)
    parts = [tm.Tally([metric]).update(y[k], p[k]) for k in np.array_split(rng.permutation(n), pieces)]
    assert sum(parts[1:], parts[0]).to_bytes() == whole.to_bytes()


def test_the_memory_is_fixed():
    """A hundred times the rows take no more bytes, and more bins never take more than a few dozen bytes each."""
    rng = np.random.default_rng(3)
    sizes = []
    for n in (10_000, 1_000_000):
        tally = tm.Tally(["auc(bounded=256)"]).update(rng.integers(0, 2, n), rng.normal(0, 1, n))
        sizes.append(len(tally.to_bytes()))
    assert sizes[1] < 256 * 40
    assert sizes[1] < sizes[0] + 2000


def test_bounds_are_part_of_the_result():
    """On the number, in the cell, in its JSON, in data frames, and in a note of the report."""
    rng = np.random.default_rng(4)
    y, p = rng.integers(0, 2, 1000), rng.random(1000)
    found = tm.auc(y, p, bounded=32)
    report = tm.evaluate(y, p, ["auc(bounded=32)", "auc"])
    cell = report.cell("auc(bounded=32)")
    assert (cell.lo, cell.hi, cell.method) == (found.lo, found.hi, "bounded")
    assert cell.lo < report["auc"] < cell.hi
    assert report.cell("auc").lo is None
    assert f"{found!r}" == f"{float(found)!r} in [{found.lo!r}, {found.hi!r}]"
    assert pickle.loads(pickle.dumps(found)).hi == found.hi
    assert '"lo"' in report.to_json()
    for frame in (report.to_pandas(), report.to_polars(), report.to_arrow().to_pandas()):
        assert (frame["lo"][0], frame["hi"][0], frame["method"][0]) == (found.lo, found.hi, "bounded")
        assert np.isnan(frame["lo"][1])
    assert "the exact value lies between" in str(report)


@pytest.mark.parametrize("name", METRICS)
def test_bounds_that_print_alike_need_no_note(name):
    """Where the state has lost nothing, a report does not say that the value lies between itself and itself."""
    report = tm.evaluate([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], [f"{name}(bounded=16)"])
    assert report.cell(f"{name}(bounded=16)").notes == ()


@pytest.mark.parametrize("multiclass", ["ovr", "ovo"])
@pytest.mark.parametrize("average", ["macro", "weighted"])
def test_three_classes_have_bounds_too(multiclass, average):
    """Each column has bins of its own, and the mean of bounds bounds the mean."""
    rng = np.random.default_rng(5)
    y, p = rng.integers(0, 3, 600), rng.dirichlet(np.ones(3), 600)
    given = {"multiclass": multiclass, "average": average}
    found, exact = tm.auc(y, p, bounded=20, **given), tm.auc(y, p, **given)
    assert found.lo < exact < found.hi
    for seed in range(20):
        rng = np.random.default_rng(seed)
        y, p, w = np.append([0, 1, 2], rng.integers(0, 3, 60)), rng.random((63, 3)), rng.random(63)
        full, exact = (tm.auc(y, p, weights=w, bounded=bins, **given) for bins in (64, None))
        assert full.lo <= exact <= full.hi
        assert full.hi - full.lo < 3e-15


def test_fit_uses_the_most_bits_within_the_limit_of_bins():
    """The number of bits is the largest that tells no more bins apart than there may be."""
    rng = np.random.default_rng(6)
    for _ in range(200):
        keys = np.unique(float_order(rng.normal(0, 1, 50) * 10.0 ** rng.integers(-300, 300, 50)))
        for most in (2, 5, 20):
            bits = fit_bits(keys, 64, most)
            assert len(np.unique(keys >> (64 - bits))) <= most
            assert bits == 64 or len(np.unique(keys >> (63 - bits))) > most


def test_bad_bins_are_refused():
    """Fewer than two bins tell nothing apart; the partial area needs the scores."""
    for bad in (1, 0, -5, 2.5, "many", True):
        with pytest.raises(tm.ParameterError, match="number of bins, at least 2"):
            tm.Auc(bounded=bad)
    with pytest.raises(tm.ParameterError, match="leave `bounded` out"):
        tm.Tally(["auc(max_fpr=0.5, bounded=8)"])
    assert tm.auc([0, 1], [0.1, 0.2], max_fpr=1, bounded=8) == 1.0
