"""Groups of rows: the columns that name them (`by=`), the rows of each group, and their states.

Rows are put in the order of their groups once; a slice is then a view of them. Its states come from the same kernels
and are what these rows alone would give with the same target: what rows would tell, such as which classes there are, is
that of all rows (`Reads.resolved`). A kernel that folds all groups at once would be faster for counts, and one more way
for each state to be wrong.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from tallymark.data.arguments import describe
from tallymark.data.arrays import Array, column_names, count_columns, count_rows, name_bins, wrap_read_errors
from tallymark.data.batch import Batch
from tallymark.data.labels import Label, LabelColumn
from tallymark.errors import ParameterError, ShapeError, Text
from tallymark.states.base import States
from tallymark.states.labels.encoding import encode_labels
from tallymark.states.resampling.keys import unique_row_keys

Group = Label | tuple[Label, ...]
"""The label of a group, or one label per column where there are several."""


_ONLY = "group"
_SEVERAL = 'be a mapping of names to columns if there are several, such as {"sex": sex, "region": region}'


def group_columns(by: object) -> dict[str, object]:
    """One column of labels, a mapping of names to columns, or a table whose columns have names."""
    return {name: name_bins(column) for name, column in _columns_by_name(by).items()}


def _columns_by_name(by: object) -> dict[str, object]:
    if isinstance(by, Mapping):
        return _named(by)
    if isinstance(by, (str, bytes)) or not (hasattr(by, "__len__") or hasattr(by, "__arrow_c_stream__")):
        raise ParameterError(
            argument="by", expected="be one label per row, or a mapping of names to such columns", got=describe(by)
        )
    if isinstance(by, (list, tuple)) and by and _is_column(by[0]):
        within = count_rows(by[0])
        if within not in (None, 1):
            got = f"a list of {len(by):,}, the first with {within:,} labels"
            raise ShapeError(argument="by", expected=_SEVERAL, got=got)
    with wrap_read_errors("by"):
        if len(getattr(by, "shape", ())) != 2:
            name = getattr(by, "name", None)
            return {name if isinstance(name, str) and name else _ONLY: by}
        names = column_names(by)
        if names is not None:
            return _named({name: by[name] for name in names})  # type: ignore[index]
        if count_columns(by) == 1:
            return {_ONLY: by}
    shape = tuple(by.shape)  # type: ignore[attr-defined]
    raise ShapeError(argument="by", expected=_SEVERAL, got=f"the shape {shape} and no names")


def _is_column(item: object) -> bool:
    """Whether it holds labels, and is none."""
    arrow = hasattr(item, "__arrow_c_stream__") or hasattr(item, "__arrow_c_array__")
    return arrow or isinstance(item, (list, tuple)) or len(getattr(item, "shape", ())) > 0


def _named(columns: Mapping[Any, object]) -> dict[str, object]:
    found = {_name(name): column for name, column in columns.items()}
    if not found:
        raise ParameterError(argument="by", expected="name at least one column", got="none")
    if len(found) < len(columns):
        twice = next(name for name in found if [str(each) for each in columns].count(name) > 1)
        raise ParameterError(Text("the columns of {by} must have different names; got {} twice", repr(twice)))
    return found


def _name(name: object) -> str:
    if not isinstance(name, (str, int)) or name == "":
        raise ParameterError(Text("the columns of {by} must have names; got {}", describe(name)))
    return str(name)


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
    groups, codes = group_codes(batch)
    return list(zip(groups, rows_by(batch, codes, len(groups)), strict=True))


def rows_by(batch: Batch, codes: Array, count: int) -> list[Batch]:
    """The rows of every code below `count`, in order; those of others are left out."""
    order = np.argsort(codes, kind="stable")
    ends = np.cumsum(np.bincount(codes, minlength=count))[:count].tolist()
    sides = [_side(batch, side, order) for side in range(len(batch.names) - len(batch.group_names))]
    weights = None if batch.weights is None else np.asarray(batch.weights)[order]
    own = None if batch.resampled_by_place else unique_row_keys(batch)
    keys = order.view(np.uint64) if own is None else own[order]  # rows keep theirs
    out, first = [], 0
    for end in ends:
        rows = slice(first, end)
        sources = [source[rows] for source, _ in sides]
        labels = [None if column is None else column._replace(source=column.source[rows]) for _, column in sides]
        places = batch.places.select(order[rows])
        out.append(batch.subset(sources, labels, None if weights is None else weights[rows], keys[rows], places))
        first = end
    return out


def group_codes(batch: Batch) -> tuple[Sequence[Group], Array]:
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
    labels, codes = encode_labels(batch, side)
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
        labels, codes = encode_labels(batch, side)
        column = LabelColumn(codes[order], batch.labels(side).type, labels)
    return source[order], column
