"""Slices: the rows of a batch by group, and the states of each.

Rows are put in the order of their groups once; a slice is then a view of them. Its states are what these rows alone
would give, where the classes are those of all rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from tallymark.data.arrays import Array
from tallymark.data.batch import Batch
from tallymark.data.labels import Label, LabelColumn
from tallymark.states.labels.reading import encode
from tallymark.states.plan import States
from tallymark.states.resampling.keys import own_keys

Group = Label | tuple[Label, ...]
"""The label of a group, or one label per column where there are several."""


class Slice(NamedTuple):
    """The rows of one group and their states; None where the rows are gone."""

    group: Group
    rows: Batch | None
    states: States

    @property
    def n(self) -> int:
        """How many rows the group has."""
        return self.states[0].n


def slice_states(batch: Batch, whole: States) -> list[Slice]:
    """Every group with its rows and states, in the order of the labels; `whole` are the states of all rows."""
    reads = [state.reads.resolved(batch, state) for state in whole]
    return [Slice(group, rows, tuple(each.fold(rows) for each in reads)) for group, rows in split(batch)]


def sorted_groups(groups: Iterable[Group]) -> list[Group]:
    """Groups in the order of their labels: numbers, then texts."""
    return sorted(groups, key=lambda group: [(isinstance(label, str), label) for label in _labels_in(group)])


def _labels_in(group: Group) -> tuple[Label, ...]:
    return group if isinstance(group, tuple) else (group,)


def split(batch: Batch) -> list[tuple[Group, Batch]]:
    """The rows of every group."""
    groups, codes = _groups(batch)
    return list(zip(groups, rows_by(batch, codes, len(groups)), strict=True))


def rows_by(batch: Batch, codes: Array, count: int) -> list[Batch]:
    """The rows of every code below `count`, in order; those of others are left out."""
    order = np.argsort(codes, kind="stable")
    ends = np.cumsum(np.bincount(codes, minlength=count))[:count].tolist()
    sides = [_side(batch, side, order) for side in range(len(batch.names) - len(batch.group_names))]
    weights = None if batch.weights is None else np.asarray(batch.weights)[order]
    own = own_keys(batch)
    keys = order.view(np.uint64) if own is None else own[order]  # rows keep theirs
    out, first = [], 0
    for end in ends:
        rows = slice(first, end)
        sources = [source[rows] for source, _ in sides]
        labels = [None if held is None else held._replace(source=held.source[rows]) for _, held in sides]
        places = batch.places.select(order[rows])
        out.append(batch.part(sources, labels, None if weights is None else weights[rows], keys[rows], places))
        first = end
    return out


def _groups(batch: Batch) -> tuple[Sequence[Group], Array]:
    """The groups that have rows, in order, and the place of each row's among them."""
    columns = [_labels_of(batch, side) for side in batch.group_sides]
    if len(columns) == 1:
        labels, codes = columns[0]
        return labels, _narrow(codes, len(labels))
    together = np.zeros(batch.n, np.int64)
    for labels, codes in columns:
        together = together * len(labels) + codes
        places, together = np.unique(together, return_inverse=True)  # so that no product grows beyond the rows
    firsts = np.full(len(places), batch.n)
    np.minimum.at(firsts, together, np.arange(batch.n))
    keys = [tuple(labels[codes[row]] for labels, codes in columns) for row in firsts.tolist()]
    return keys, _narrow(together, len(keys))


def _labels_of(batch: Batch, side: int) -> tuple[list[Label], Array]:
    labels, codes = encode(batch, side)
    names = batch.labels(side).names
    if names is not None:  # categories, in the order that they have
        order = [labels.index(name) for name in dict.fromkeys(names) if name in labels]
        return [labels[place] for place in order], np.argsort(order)[codes]
    return ([bool(label) for label in labels] if batch.labels(side).type == "boolean" else labels), codes


def _narrow(codes: Array, size: int) -> Array:
    """Codes in the smallest type, which sorts fastest."""
    return codes.astype(np.min_scalar_type(max(size, 1)))


def _side(batch: Batch, side: int, order: Array) -> tuple[Array, LabelColumn | None]:
    """A side in the order of the groups. Labels that are not plain numbers are looked up once, for all groups.

    Floats among other objects may be numbers and no labels, so that they are left as they are.
    """
    source = batch.source(side)
    column = None
    if source.ndim == 1 and source.dtype.kind not in "biuf" and batch.labels(side).type != "real":
        labels, codes = encode(batch, side)
        column = LabelColumn(codes[order], batch.labels(side).type, labels)
    return source[order], column
