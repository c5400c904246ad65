"""The values of metrics in replicates of the rows: the Poisson bootstrap.

Every row counts in a replicate as often as a Poisson number of mean 1 says, which is drawn from the seed, the replicate
and the key of the row alone. So two models that are resampled with one seed are resampled alike, whatever the order of
their rows. What compares groups is not resampled: the highest of many is too high by chance, and more so in resamples
(`IntervalMaker.of_groups`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tallymark.data.arrays import Array
from tallymark.data.batch import Batch
from tallymark.errors import TallymarkError
from tallymark.intervals.analytic import numbers_of
from tallymark.states.base import Reads, State
from tallymark.states.resampling.draws import Draws
from tallymark.states.resampling.keys import group_hashes, hash_keys, query_keys
from tallymark.states.resampling.replicates import MOST_LEFT_OUT, Resampled

if TYPE_CHECKING:
    from tallymark.metrics.base import Metric

Metrics = dict["Metric", "Metric"]  # each with the one that is read for it, which raises nothing


class Replicated(NamedTuple):
    """Metrics that read one state, with what they need to be resampled together."""

    metrics: Metrics
    reads: Reads
    whole: State
    keys: Array | None


def resample_values(
    reads: Mapping[Metric, Reads], batch: Batch, seed: int, resamples: int, keys: Array | None
) -> dict[Metric, Array]:
    """The values of every metric in all replicates, NaN where undefined.

    `reads` are the metrics with what they read; classes that are not declared there are those of all rows in every
    replicate. A metric with one value per class or output has one row of replicates for each.
    """
    out: dict[Metric, Array] = {}
    for each in _by_state(reads, batch, keys):
        draws = Draws(seed, resamples, each.keys, batch.n)
        found = {key: item.replicate_values(each.reads, batch, draws) for key, item in each.metrics.items()}
        fast = {key: values for key, values in found.items() if values is not None}
        slow = {key: item for key, item in each.metrics.items() if key not in fast}
        for key, values in fast.items():
            stand_in = each.metrics[key].undefined
            out[key] = np.where(np.isnan(values), stand_in, values) if isinstance(stand_in, float) else values
        if slow:
            out.update(_read_states(slow, each.whole, each.reads.replicates(batch, draws), resamples))
    return out


def leave_out_values(reads: Mapping[Metric, Reads], batch: Batch, keys: Array | None) -> dict[Metric, Array] | None:
    """The values of every metric without one group of rows after the other, where rows of one key stay together; None
    where there are too many rows for that to matter."""
    if batch.n > MOST_LEFT_OUT:
        return None
    out: dict[Metric, Array] = {}
    own = np.ones(batch.n) if batch.weights is None else np.asarray(batch.weights, np.float64)
    for each in _by_state(reads, batch, keys):
        group = np.full(batch.n, -1)
        _, ids, group[own > 0] = group_hashes(hash_keys(each.keys, batch.n)[own > 0])
        states = (_fold(each.reads, batch.with_weights(np.where(group == k, 0.0, own))) for k in range(len(ids)))
        out.update(_read_states(each.metrics, each.whole, states, len(ids)))
    return out


def read_resampled(
    metrics: Iterable[Metric], state: Resampled
) -> tuple[dict[Metric, Array], dict[Metric, Array] | None]:
    """The values of metrics that read one state in all its replicates, and without one group of rows after the other:
    those that `resample_values` and `leave_out_values` find of the rows, to the last bit."""
    items, whole = {item: _without_raising(item) for item in metrics}, state.resolved_whole()
    values = _read_states(items, whole, state.replicates(), len(state.states))
    left_out = state.left_out()
    if left_out is None or state.groups is None:
        return values, None
    return values, _read_states(items, whole, left_out, len(state.groups.states))


def _by_state(reads: Mapping[Metric, Reads], batch: Batch, keys: Array | None) -> Iterator[Replicated]:
    groups: dict[tuple[Reads, bool], Metrics] = {}
    for item, each in reads.items():
        groups.setdefault((each, item.by_query), {})[item] = _without_raising(item)
    for (each, by_query), items in groups.items():
        whole = each.fold(batch)
        yield Replicated(items, each.resolved(batch, whole), whole, query_keys(batch, keys) if by_query else keys)


def _without_raising(item: Metric) -> Metric:
    return item.replace(undefined=None) if item.undefined == "raise" else item


def _fold(reads: Reads, batch: Batch) -> State | None:
    try:
        return reads.fold(batch)
    except TallymarkError:
        return None


def _read_states(metrics: Metrics, whole: State, states: Iterable[State | None], count: int) -> dict[Metric, Array]:
    """The values of metrics in so many states, of as many parts as they have in that of all rows."""
    parts = {key: len(numbers_in(item, whole)) for key, item in metrics.items()}
    out = {key: np.full((count, parts[key]), math.nan) for key in metrics}
    for place, state in enumerate(states):
        if state is None:
            continue
        for key, item in metrics.items():
            found = numbers_in(item, state)
            if len(found) == parts[key]:
                out[key][place] = found
    return {key: values.T if parts[key] != 1 else values[:, 0] for key, values in out.items()}


def numbers_in(item: Metric, state: State) -> list[float]:
    """The value of a state as numbers; none where it cannot be read."""
    try:
        return numbers_of(item.answer(state).value)
    except MemoryError:
        raise
    except Exception:  # a formula of the user's own may raise anything; a replicate without a value is counted
        return []
