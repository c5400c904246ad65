"""The kernels over probabilities against a few lines of NumPy, and against callers who mean harm."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import tallymark as tm
from tallymark._core import Tasks, classes_present, read_margins, read_probabilities, total_bins
from tallymark.states.sums import CODES

POSITIVE, HAPPENED, BRIER, RANKED, TOP, RIGHT = range(6)


def read(table, places, wanted, *, margin=False, normalize=False, positive=0):
    """What the kernel writes, or the faults that it finds."""
    out = np.full((len(wanted), len(table)), np.nan)
    return read_probabilities(table, places, margin, normalize, positive, wanted, out) or out


@pytest.mark.parametrize("classes", [2, 3, 10, 700, 9000])
@pytest.mark.parametrize("dtype", ["float64", "float32", "float16"])
def test_every_quantity_of_a_row_agrees_with_numpy(classes, dtype):
    """Every quantity of a row, for tables in any order and type, narrow and wide."""
    rng = np.random.default_rng(classes)
    n = 2500 if classes < 100 else 37
    table = rng.dirichlet(np.ones(classes), n).astype(dtype)
    raw = table.astype(float)
    p = raw / raw.sum(axis=1, keepdims=True)
    places = rng.integers(0, classes, n)
    happened = np.arange(classes) == places[:, None]
    gaps = np.cumsum(p - happened, axis=1)[:, :-1]
    expected = [
        p[:, 1],
        p[happened],
        ((p - happened) ** 2).sum(axis=1),
        (gaps**2).sum(axis=1) / (classes - 1),
        p.max(axis=1),
        raw.argmax(axis=1) == places,
    ]
    found = read(table, places, [*range(6)], normalize=True, positive=1)
    np.testing.assert_allclose(found, expected, rtol=1e-9 if classes > 100 else 1e-12, atol=1e-15)
    for other in (np.asfortranarray(table), table[::-1][::-1], np.repeat(table, 2, axis=1)[:, ::2]):
        np.testing.assert_array_equal(read(other, places, [*range(6)], normalize=True, positive=1), found)
    if classes > 2 and dtype == "float64":
        margins = np.log(p) + rng.normal(0, 100, (n, 1))
        again = read(margins, places, [HAPPENED, TOP, RIGHT], margin=True)
        np.testing.assert_allclose(again, [expected[HAPPENED], expected[TOP], expected[RIGHT]], rtol=1e-10)


def test_the_first_of_equals_is_the_largest():
    """Also where softmax would make equals of different margins."""
    assert read(np.full((2, 4), 0.25), np.array([0, 1]), [RIGHT]).tolist() == [[1.0, 0.0]]
    margins = np.array([[0.0, 5e-324, 0.0]])
    assert read(margins, np.array([1]), [RIGHT], margin=True).tolist() == [[1.0]]


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_every_fault_is_counted_and_its_first_row_named(threads):
    """Each is counted, and its first row named, on any number of threads."""
    table = np.full((300_000, 2), 0.5)
    places = np.zeros(len(table), np.int64)
    table[[7, 250_000], 0] = np.nan
    table[[70_000, 9], 1] = -0.5
    table[[80_000, 290_000, 11], 1] = 0.6
    before = tm.get_threads()
    tm.set_threads(threads)
    try:
        found = read(table, places, [HAPPENED])
    finally:
        tm.set_threads(before)
    assert sorted(found) == [(1, "missing", 2, 7), (1, "outside", 2, 9), (1, "sum", 3, 11)]
    assert read(np.array([[1.00001, 0.0]]), places[:1], [TOP]) == [(1, "outside", 1, 0)]
    assert read(np.array([[np.inf, 0.0]]), places[:1], [POSITIVE], margin=True) == [(1, "missing", 1, 0)]
    assert read(np.array([[1e308, 1e308]]), places[:1], [TOP], normalize=True) == [(1, "sum", 1, 0)]
    assert read(np.array([[0.50004, 0.50004]]), places[:1], [TOP]).tolist() == [[0.50004]]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"table": np.ones((3, 1))}, "two columns"),
        ({"table": np.ones((3, 0))}, "two columns"),
        ({"table": np.ones((4, 2))}, "differ in length"),
        ({"places": np.array([0, 1, 2])}, "no such column"),
        ({"places": np.array([0, -1, 1])}, "no such column"),
        ({"places": np.array([0.0, 1.0, 1.0])}, "int64"),
        ({"positive": 2}, "no such column"),
        ({"wanted": [6]}, "no such quantity"),
        ({"wanted": [-1]}, "no such quantity"),
        ({"wanted": [0, 1]}, "one row per quantity"),
        ({"out": np.zeros((1, 2))}, "one row per quantity"),
        ({"margin": True, "wanted": [HAPPENED]}, "two columns"),
    ],
    ids=str,
)
def test_malformed_calls_read_nothing_out_of_bounds(change, message):
    """Nothing is read or written out of bounds."""
    given = {
        "table": np.full((3, 2), 0.5),
        "places": np.array([0, 1, 1]),
        "margin": False,
        "normalize": False,
        "positive": 0,
        "wanted": [HAPPENED],
        "out": np.zeros((1, 3)),
    }
    with pytest.raises(ValueError, match=message):
        read_probabilities(**{**given, **change})
    for out in (np.zeros((1, 3), np.float32), np.zeros((1, 6))[:, ::2], [[0.0] * 3], None):
        with pytest.raises(TypeError):
            read_probabilities(**{**given, "out": out})


@pytest.mark.slow
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("bins", [1, 3, 15, 1000])
def test_bin_totals_agree_with_exact_fractions(weighted, bins):
    """Exact totals per bin, against rational arithmetic; both zeros and the smallest numbers among them."""
    rng = np.random.default_rng(bins)
    p = np.concatenate([rng.random(500), [0.0, -0.0, 5e-324, 1e-300, 2.0**-44, 1.0, 1 - 2.0**-53, 0.5]])
    y, w = rng.integers(0, 2, len(p)), rng.uniform(0, 3, len(p)) * (rng.random(len(p)) > 0.2)
    given = w if weighted else np.ones(len(p))
    place = np.minimum(np.floor(p * bins), bins - 1)
    found = total_bins(y, p, w if weighted else None, bins)
    assert len(found) == bins
    for k, totals in enumerate(found):
        rows = [(Fraction(a), Fraction(b), int(c)) for a, b, c in zip(given, p, y, strict=True)]
        rows = [row for row, here in zip(rows, place == k, strict=True) if here]
        exact = [sum(a for a, _, _ in rows), sum(a * b for a, b, _ in rows), sum(a * c for a, _, c in rows)]
        held = [Fraction(int.from_bytes(raw, "little", signed=True) << shift, 1 << 1074) for raw, shift in totals]
        assert held[0] == exact[0]
        assert held[2] == exact[2]
        assert abs(held[1] - exact[1]) <= Fraction(len(rows), 1 << 1074)


def test_every_number_falls_into_a_bin():
    """Whatever a caller passes as a probability has a bin."""
    p = np.array([np.nan, np.inf, -np.inf, -1.0, 2.0, 1e300])
    assert len(total_bins(np.ones(6), p, None, 4)) == len(total_bins(np.ones(6), p, np.ones(6), 4)) == 4
    for bins in (0, 1 << 40):
        with pytest.raises(ValueError, match="number of bins"):
            total_bins(np.ones(6), p, None, bins)
    with pytest.raises(ValueError, match="differ in length"):
        total_bins(np.ones(5), p, None, 4)
    with pytest.raises(ValueError, match="one column"):
        total_bins(np.ones((6, 2)), p, None, 4)
    with pytest.raises(ValueError, match="differ in length"):
        total_bins(np.ones(6), p, np.ones(5), 4)


def test_the_classes_that_occur_are_found():
    """Which occur; nothing if there is any other number."""
    assert classes_present(np.array([0, 2, 2]), 3) == [True, False, True]
    assert classes_present(np.array([0, 3]), 3) is None
    assert classes_present(np.array([0, -1]), 3) is None
    assert classes_present(np.array([0, 1]), 1 << 40) is None


def test_margins_become_the_sigmoid_of_every_row():
    """The sigmoid of every row, and whether all were finite."""
    margins = np.array([-1e308, -800.0, -1.0, 0.0, 5e-324, 1.0, 40.0, 1e308])
    out = np.zeros((1, 8))
    assert read_margins(margins, out)
    with np.errstate(over="ignore"):
        np.testing.assert_allclose(out[0], 1 / (1 + np.exp(-margins)), rtol=1e-14, atol=1e-320)
    assert not read_margins(np.array([np.nan]), np.zeros((1, 1)))
    with pytest.raises(ValueError, match="one column"):
        read_margins(margins, np.zeros((1, 7)))


@pytest.mark.parametrize("clip", [0.0, 1e-15, 1e-3])
def test_log_loss_keeps_its_digits(clip):
    """To two units in the last place of NumPy's, for probabilities from the smallest to just below 1."""
    p = np.concatenate([10.0 ** np.arange(-320.0, 0), 1 - 2.0 ** -np.arange(1.0, 54), np.linspace(0.001, 0.999, 999)])
    q = np.clip(p, clip, 1 - clip)
    task = Tasks([(CODES["log_loss"], clip, 0, 0)])
    for truth, expected in ((1.0, -np.log(q)), (0.0, -np.log1p(-q))):
        for chance, cost in zip(p, expected, strict=True):
            found = task.run(np.array([truth]), np.array([chance]), None, 0)
            assert found is not None
            raw, shift = found[0][:2]
            value = float(Fraction(int.from_bytes(raw, "little", signed=True) << shift, 1 << 1074))
            assert abs(value - cost) <= 2 * np.spacing(cost)


def test_an_unknown_link_is_refused():
    """A number that names no link is refused."""
    for link in (-1, 3):
        with pytest.raises(ValueError, match="no such link"):
            Tasks([(1, 0.0, 0, 0)]).run(np.ones(2), np.ones(2), None, link)
