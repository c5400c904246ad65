"""The states that intervals read: replicates, groups of rows that are left out, and how many units there are."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from tests.states.round_trip import refuse_odd_fields, survive_bytes

import tallymark as tm
from tallymark import _core
from tallymark.data.batch import Batch
from tallymark.intervals.replicates import read_resampled
from tallymark.states.base import State
from tallymark.states.labels.pairs import PairsOf
from tallymark.states.probabilities.bins import BinsOf
from tallymark.states.resampling.keys import MOST_GROUPS, group_hashes, hash_keys
from tallymark.states.resampling.replicates import Resampled, ResampledOf
from tallymark.states.resampling.units import UnitsOf
from tallymark.states.serialization import pack

STORED = Path(__file__).with_name("stored")
RNG = np.random.default_rng(7)
N = 24
Y, P, W = RNG.normal(size=N), RNG.normal(size=N), RNG.uniform(0.5, 2, N)
NUMBERS = ResampledOf(tm.r2.reads, 3, 19)
LABELS = ResampledOf(PairsOf(), 3, 19)
BINS = ResampledOf(BinsOf(tm.Target(), 3), 3, 19)
BATCHES = {
    "numbers": (NUMBERS, Batch(Y, P)),
    "weighted": (NUMBERS, Batch(Y, P, W)),
    "labels": (LABELS, Batch(Y > 0, P > 0)),
    "few labels": (LABELS, Batch(["a", "b"], ["a", "a"])),
    "bins": (BINS, Batch(Y > 0, RNG.random(N))),
}
STATES = {name: reads.fold(batch) for name, (reads, batch) in BATCHES.items()}
UNITS = {
    "plain": UnitsOf().fold(Batch(Y, P)),
    "weighted": UnitsOf().fold(Batch(Y, P, W)),
    "clusters": UnitsOf().fold(Batch(Y, P, cluster=np.arange(N) // 3)),
    "none": UnitsOf().zero(),
}


@pytest.mark.parametrize("state", [*STATES.values(), *UNITS.values(), NUMBERS.zero()], ids=[*STATES, *UNITS, "empty"])
def test_resampled_states_survive_their_bytes(state):
    """And add up to the same then."""
    survive_bytes(state)


def test_replicates_and_groups_are_those_of_the_rows():
    """A replicate is the rows as often as they count, and what is left out is one row after the other."""
    state = STATES["weighted"]
    values, without = read_resampled([tm.r2], state)
    for replicate in range(19):
        times = _core.poisson_counts_of_places(3, replicate, 0, N)
        assert values[tm.r2][replicate] == tm.r2(Y, P, weights=W * times)
    left = [tm.r2(np.delete(Y, k), np.delete(P, k), weights=np.delete(W, k)) for k in range(N)]
    assert sorted(without[tm.r2]) == sorted(left)


@pytest.mark.parametrize("path", sorted(STORED.glob("*.resampled")), ids=lambda path: path.name)
def test_resamples_of_earlier_releases_load(path):
    """Each stored file has a twin that says what the metric is in every resample and without every row."""
    expected = json.loads(path.with_suffix(".json").read_text())
    item = tm.metric(expected["metric"])
    values, without = read_resampled([item], State.from_bytes(path.read_bytes()))
    assert (values[item].tolist(), without[item].tolist()) == (expected["values"], expected["without"])


def test_groups_are_few_and_hold_every_row_once():
    """At most 256, which depend on the set of hashes alone; rows that follow each other fill them evenly."""
    for n in (1, 256, 257, 5000):
        hashes = hash_keys(None, n)
        dropped, ids, places = group_hashes(hashes)
        assert len(ids) == n if n <= MOST_GROUPS else MOST_GROUPS / 2 <= len(ids) <= MOST_GROUPS
        assert (ids[places] == hashes >> np.uint64(dropped)).all()
        sizes = np.bincount(places)
        assert sizes.min() >= sizes.max() / 3
    hashes = RNG.integers(0, 1 << 63, 900).astype(np.uint64)
    twice = group_hashes(np.concatenate([hashes, hashes]))
    assert twice[0] == group_hashes(hashes)[0]
    assert (twice[1] == group_hashes(hashes)[1]).all()
    assert [len(part) for part in group_hashes(hashes[:0])[1:]] == [0, 0]


@pytest.mark.parametrize("name", STATES)
def test_odd_fields_are_refused(name):
    """Nothing but our own error, and what is taken can be read."""

    def read(state):
        if state.states:
            read_resampled({"rows": tm.rmse}, state)

    refuse_odd_fields(STATES[name], read)


@pytest.mark.parametrize("name", UNITS)
def test_odd_units_are_refused(name):
    """The same for units."""
    refuse_odd_fields(UNITS[name], lambda state: state.count())


def packed(state):
    return [type(state).__name__, state.fields()]


GOOD = STATES["numbers"].fields()
OTHER = packed(STATES["labels"].whole)
BITS, IDS, PARTS = GOOD["groups"]


@pytest.mark.parametrize(
    "changes",
    [
        {"seed": -1},
        {"seed": 1 << 64},
        {"seed": 1.0},
        {"resamples": 18},
        {"resamples": 10**6},
        {"always": 1},
        {"lost": "gone"},
        {"lost": "size"},
        {"none": OTHER},
        {"none": ["Resampled", GOOD]},
        {"none": packed(tm.spearman.reads.zero())},
        {"whole": OTHER},
        {"whole": GOOD["none"]},
        {"states": []},
        {"states": GOOD["states"][:-1]},
        {"states": [*GOOD["states"][:-1], OTHER]},
        {"states": [*GOOD["states"][:-1], ["Nothing", {}]]},
        {"groups": None},
        {"groups": [0, IDS, PARTS]},
        {"groups": [65, IDS, PARTS]},
        {"groups": [40, IDS, PARTS]},
        {"groups": [BITS, IDS[::-1], PARTS]},
        {"groups": [BITS, IDS[:-1], PARTS]},
        {"groups": [BITS, IDS.astype(float), PARTS]},
        {"groups": [BITS, IDS, [*PARTS[:-1], OTHER]]},
        {"groups": [BITS, IDS, [*PARTS[:-1], GOOD["whole"]]]},
    ],
    ids=lambda changes: str(changes)[:50],
)
def test_forged_resamples_are_refused(changes):
    """Seeds, resamples, rows and groups must fit together."""
    assert State.from_bytes(pack("Resampled", GOOD)) == STATES["numbers"]
    with pytest.raises(tm.StateError):
        State.from_bytes(pack("Resampled", {**GOOD, **changes}))


@pytest.mark.parametrize(
    "changes",
    [
        {"n": -1},
        {"n": 0},
        {"columns": None},
        {"columns": [0, 1]},
        {"weight": -1},
        {"squares": -1},
        {"ones": 1},
        {"ones": True, "weight": 5},
        {"clusters": np.array([2, 1])},
        {"clusters": np.array([1, 1])},
        {"clusters": np.array([], np.int64)},
        {"clusters": np.arange(N + 1)},
        {"clusters": np.array([1.0])},
    ],
    ids=str,
)
def test_forged_units_are_refused(changes):
    """Rows, weights and clusters must fit together."""
    with pytest.raises(tm.StateError):
        State.from_bytes(pack("Units", {**UNITS["clusters"].fields(), **changes}))


def test_only_resamples_of_one_kind_add():
    """Seeds, resamples and what is resampled must be the same."""
    for other in (ResampledOf(tm.r2.reads, 4, 19), ResampledOf(tm.r2.reads, 3, 20), LABELS):
        with pytest.raises(tm.StateError, match="same kind"):
            STATES["numbers"] + other.zero()
    with pytest.raises(TypeError):
        STATES["numbers"] + 3
    with pytest.raises(tm.StateError, match="cluster"):
        UNITS["plain"] + UNITS["clusters"]
    assert isinstance(STATES["numbers"] + STATES["weighted"], Resampled)


def test_units_are_rows_or_what_they_are_worth():
    """Kish's number for weights, in any unit; rows or clusters otherwise."""
    assert (UNITS["plain"].count(), UNITS["clusters"].count(), UNITS["none"].count()) == (N, N / 3, 0)
    kish = W.sum() ** 2 / (W**2).sum()
    for scale in (1.0, 1e-120, 1e120):
        assert UnitsOf().fold(Batch(Y, P, W * scale)).count() == pytest.approx(kish, rel=1e-12)
    assert UnitsOf().fold(Batch(Y, P, np.zeros(N))).count() == 0
    assert UNITS["plain"].plain
    assert not UNITS["weighted"].plain
    assert not UNITS["clusters"].plain
    mixed = UnitsOf().fold(Batch(Y, P, np.ones(N))) + UNITS["weighted"]
    assert mixed == UNITS["weighted"] + UNITS["plain"]
    assert not mixed.plain
