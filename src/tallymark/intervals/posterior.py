"""Intervals of any function of a table of labels: quantiles of its values in draws from the posterior of the table.

The cells of a table of K classes are a multinomial draw. With a Dirichlet prior, the posterior of their shares is
Dirichlet(count + a): a = 1/2 for two classes (Jeffreys 1946), a = 1/K² for more (Perks 1947). A cell without rows is
thereby possible; in resamples of the rows it is not. Classes without a true row keep none, and classes without any row
have no cells. Only the state is needed.

2,000 draws are read at once by `LabelMetric.values_of_draws`, where counts are arrays. What such a formula gives for
the observed table is first compared with the value: a formula that takes no arrays is read table by table, and one that
takes no fractions is left to the bootstrap. The draws are those of NumPy's PCG64: the same on every thread and in every
order of rows, but another release of NumPy may change them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tallymark.data.arrays import Array
from tallymark.intervals.analytic import NO_SPREAD, Interval, NoInterval, few_rows_note, is_rounding, numbers_of
from tallymark.intervals.bca import LEAST_DEFINED, PartEnds, join_parts, quantile
from tallymark.intervals.methods import JEFFREYS, PERKS
from tallymark.intervals.replicates import numbers_in
from tallymark.intervals.settings import lacks_resamples
from tallymark.states.base import State
from tallymark.states.labels.counts import LABELS, DrawnCounts
from tallymark.states.labels.encoding import CountedPairs
from tallymark.states.labels.pairs import Pairs, PairsOf

if TYPE_CHECKING:
    from tallymark.metrics.base import Metric

DRAWS = 2_000
MOST_CLASSES = 100  # whose 10,000 cells are drawn in about two seconds
_BLOCK = 1 << 20  # cells that are drawn at once
_PLACES = 40  # binary ones, to which counts are rounded where a formula takes whole numbers only
_SAME = 1e-6  # a formula that is read right gives the value of the table, but for rounding


def has_posterior(item: Metric, state: State) -> bool:
    """Whether a metric is a function of a table of labels that can be drawn."""
    if (
        not hasattr(item, "values_of_draws")
        or not isinstance(state, Pairs)
        or state.reads.target.unanswered is not None
    ):
        return False
    return state.n > 0 and 2 <= len(state.classes()[0]) <= MOST_CLASSES


def posterior_intervals(
    items: Sequence[Metric], state: Pairs, level: float, seed: int
) -> dict[Metric, Interval | NoInterval | None]:
    """The intervals of metrics that read one table, from the same draws of it. None: a formula cannot be read from
    counts that are not whole."""
    observed = count_table(state)
    counts = DrawnCounts(state.classes()[0], observed[None], state.reads.target)
    plain = {item: item if item.undefined is None else item.replace(undefined=None) for item in items}
    answers = {item: each.answer(state) for item, each in plain.items()}
    readers = {item: _reader(each, counts, state, answers[item].value) for item, each in plain.items()}
    kept = {item: read for item, read in readers.items() if read is not None}
    values: dict[Metric, list[Array]] = {item: [] for item in kept}
    for tables in _draw(state, observed, seed) if kept and not lacks_resamples(level, DRAWS) else ():
        drawn = DrawnCounts(counts.classes, tables, counts.target)
        for item, read in kept.items():
            values[item].append(read(drawn))
    out: dict[Metric, Interval | NoInterval | None] = dict.fromkeys(items)
    notes = few_rows_note(state.n) or _small_classes(state)
    method = JEFFREYS if len(_seen(observed)) == 2 else PERKS
    for item in kept:
        answer = answers[item]
        if answer.reason is not None and isinstance(answer.value, float):
            out[item] = NoInterval(answer.reason)
        elif not values[item]:
            out[item] = NoInterval(lacks_resamples(level, DRAWS))
        else:
            lines = np.atleast_2d(np.concatenate(values[item], axis=-1))
            ends = [_ends(item, *part, level, notes) for part in zip(numbers_of(answer.value), lines, strict=True)]
            found = join_parts(answer.value, ends, method)
            out[item] = found.around(answer.value, item.range) if isinstance(found, Interval) else found
    return out


def count_table(state: Pairs) -> Array:
    """How many rows have each true and predicted class."""
    classes, of_truth, of_prediction = state.classes()
    whole = state.whole()
    assert whole is not None  # of rows of weight 1
    table = np.zeros((len(classes), len(classes)))
    np.add.at(table, (np.asarray(of_truth)[state.cells[0]], np.asarray(of_prediction)[state.cells[1]]), whole)
    return table


def draw_tables(table: Array, order: Sequence[int], rng: np.random.Generator, draws: int) -> Array:
    """Draws from the posterior of a table, each of as many rows as it has; cells are drawn in an order of the
    classes."""
    seen = _seen(table)
    places = [k for k in order if k in seen]
    prior = 0.5 if len(places) == 2 else 1.0 / len(places) ** 2
    true = [k for k in places if table[k].any()]
    cells = np.ix_(true, places)
    found = rng.standard_gamma(table[cells].ravel() + prior, (draws, len(true) * len(places)))
    found *= table.sum() / found.sum(axis=1, keepdims=True)
    out = np.zeros((draws, *table.shape))
    out[:, cells[0], cells[1]] = found.reshape(draws, len(true), len(places))
    return out


def _draw(state: Pairs, table: Array, seed: int) -> Any:
    """Blocks of draws, which depend on the seed, the sorted labels and the counts alone."""
    import hashlib  # slow to load, and few ask

    classes = list(state.classes()[0])
    order = sorted(range(len(classes)), key=lambda k: classes[k])
    digest = hashlib.blake2b("\0".join(str(classes[k]) for k in order).encode("utf-8", "surrogatepass"), digest_size=16)
    rng = np.random.Generator(np.random.PCG64([seed, int.from_bytes(digest.digest(), "little")]))
    block = max(_BLOCK // table.size, 1)
    return (draw_tables(table, order, rng, min(block, DRAWS - start)) for start in range(0, DRAWS, block))


def _seen(table: Array) -> set[int]:
    """The classes that rows have on either side; all where there is only one, which could be taken for another."""
    found = set(np.flatnonzero(table.any(axis=0) | table.any(axis=1)).tolist())
    return found if len(found) > 1 else set(range(len(table)))


def _reader(item: Any, observed: DrawnCounts, state: Pairs, value: Any) -> Any:
    """How to read the values of many tables: at once, or else one after the other; None where neither gives the value
    of the observed table."""
    wanted, reads = np.array(numbers_of(value)), state.reads.resolved(None, state)

    def at_once(drawn: DrawnCounts) -> Array:
        found = np.asarray(item.values_of_draws(drawn), float)
        shape = (len(wanted), len(drawn.tables)) if isinstance(value, (dict, list)) else (len(drawn.tables),)
        if found.shape != shape:
            raise ValueError("the formula takes no arrays")
        return found

    def one_by_one(drawn: DrawnCounts) -> Array:
        found = [numbers_in(item, _state_of(table, reads, state)) for table in drawn.tables]
        lines = np.array([each if len(each) == len(wanted) else [math.nan] * len(wanted) for each in found]).T
        return lines if isinstance(value, (dict, list)) else lines[0]

    for read in (at_once, one_by_one):
        try:
            with np.errstate(all="ignore"):
                found = read(observed).reshape(len(wanted))
        except MemoryError:
            raise
        except Exception:  # a formula of the user's own may raise anything
            continue
        if len(wanted) and np.allclose(found, wanted, rtol=_SAME, atol=_SAME, equal_nan=True):
            return read
    return None


def _state_of(table: Array, reads: PairsOf, state: Pairs) -> Pairs:
    """The state of a table of counts that are not whole, in units of which a formula must know."""
    classes = list(state.classes()[0])
    order = sorted(range(len(classes)), key=lambda k: classes[k])
    counts = [[round(math.ldexp(table[i, j], _PLACES)) for j in order] for i in order]
    cells = [(i, j) for i, line in enumerate(counts) for j, count in enumerate(line) if count]
    sides = [sorted({cell[side] for cell in cells}) for side in (0, 1)]
    where = [np.array([sides[side].index(cell[side]) for cell in cells], np.int64) for side in (0, 1)]
    labels = ([classes[order[k]] for k in sides[0]], [classes[order[k]] for k in sides[1]])
    counted = CountedPairs(labels, (where[0], where[1]), [counts[i][j] for i, j in cells], -_PLACES, False)
    return Pairs(reads, state.columns, LABELS, state.n, counted)


def _ends(item: Metric, value: float, draws: Array, level: float, notes: tuple[str, ...]) -> PartEnds:
    if not math.isfinite(value):
        return PartEnds(None, None)
    found = np.sort(draws[np.isfinite(draws)])
    if len(found) < LEAST_DEFINED * len(draws):
        return PartEnds(
            None, None, (f"the metric is undefined in {len(draws) - len(found):,} of {len(draws):,} draws",)
        )
    lo, hi = (quantile(found, share) for share in ((1 - level) / 2, (1 + level) / 2))
    if is_rounding(hi - lo, value, item.rounding_scale):
        return PartEnds(None, None, (str(NO_SPREAD.reason),))
    return PartEnds(lo, hi, notes)


def _small_classes(state: Pairs) -> tuple[str, ...]:
    counts = state.counts()
    small = [label for label, rows in zip(counts.classes, counts.truth, strict=True) if 0 < counts.to_float(rows) < 3]
    if not small:
        return ()
    named = f"class {small[0]!r} has" if len(small) == 1 else f"{len(small)} classes have"
    return (f"{named} only 1 or 2 rows: coverage may be below the nominal level",)
