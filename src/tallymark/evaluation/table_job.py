"""Columns of tables as the arguments of a tally, and the job that folds batches of them wherever they are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, reduce
from operator import add
from typing import Any, NamedTuple

from tallymark.data.arrays import check_arrow
from tallymark.data.batch import Batch
from tallymark.errors import ParameterError, brief
from tallymark.evaluation.tally import Tally
from tallymark.metrics import registry
from tallymark.metrics.base import Metric
from tallymark.sources.base import Chunk
from tallymark.sources.columns import AUTO, Column, ColumnBuilder, stack_columns


class Columns(NamedTuple):
    """The names of the columns that hold the truth, the predictions and whatever else there is of each row."""

    truth: tuple[str, ...]
    prediction: tuple[str, ...]
    weights: str | None = None
    query: str | None = None
    cluster: str | None = None
    keys: str | None = None
    by: tuple[str, ...] = ()

    def names(self) -> tuple[str, ...]:
        """All of them, each once."""
        single = [name for name in (self.weights, self.query, self.cluster, self.keys) if name is not None]
        return tuple(dict.fromkeys([*self.truth, *self.prediction, *single, *self.by]))

    def rows(self, held: dict[str, Column]) -> tuple[Any, Any]:
        """Truth and predictions."""
        return stack_columns(self.truth, held), stack_columns(self.prediction, held)

    def given(self, held: dict[str, Column]) -> dict[str, Any]:
        """What else there is of each row, by the names of the arguments."""
        single = {"weights": self.weights, "query": self.query, "cluster": self.cluster, "keys": self.keys}
        found = {key: held[name].values for key, name in single.items() if name is not None}
        return {**found, **({"by": {name: held[name].values for name in self.by}} if self.by else {})}

    def batch(self, chunk: Chunk, missing: str) -> Batch:
        """The rows of a chunk of a source."""
        held = read_columns_of_batch(chunk.batch, self.names(), chunk.places.row)
        return Batch(*self.rows(held), missing=missing, whole=False, places=chunk.places, **self.given(held))


def named(what: str, value: object, *, several: bool = False, optional: bool = True) -> tuple[str, ...]:
    """The names of columns that an argument holds: one, or a list of several."""
    if value is None and optional:
        return ()
    try:
        names = (value,) if isinstance(value, str) else tuple(value) if isinstance(value, Iterable) else ()
    except Exception:  # what cannot be walked through, such as an array of no dimensions
        names = ()
    if not names or not all(isinstance(name, str) for name in names) or (len(names) > 1 and not several):
        or_list = " or a list of them" if several else ""
        raise ParameterError(argument=what, expected=f"be the name of a column{or_list}", got=brief(value))
    if len(set(names)) < len(names):
        raise ParameterError(argument=what, expected="name each column once", got=brief(value))
    return names


def read_columns_of_batch(
    table: Any, names: Sequence[str], place: Callable[[int], str] = "row {:,}".format
) -> dict[str, Column]:
    """Columns of an Arrow table or batch as arrays; `place` says in an error which row it is about."""
    out = {}
    for name in names:
        column = table.column(table.schema.get_field_index(name))
        check_arrow(column, f"column {name!r}", place)
        builder = ColumnBuilder(name, AUTO, place)
        for piece in getattr(column, "chunks", [column]):
            builder.add(piece, from_text=False)
        out[name] = builder.finish()
    return out


def own_metrics(metrics: Iterable[Metric]) -> list[Metric]:
    """Those of these, and of what they are made of, that are not tallymark's, so that a worker may not know them."""
    held = dict.fromkeys(part for metric in metrics for part in (metric, *getattr(metric, "of", ())))
    return [
        each for each in held if each.name in registry.functions or not type(each).__module__.startswith("tallymark.")
    ]


class TableJob:
    """Folds batches of rows into tallies of one kind, and adds them. It pickles to the bytes of an empty tally, and to
    the metrics of the user's own, which a worker does not know by their names."""

    def __init__(self, empty: bytes, roles: Columns, own: Sequence[Metric] = ()) -> None:
        self.columns = roles.names()
        self._empty = empty
        self._roles = roles
        self._own = own
        for metric in own:
            registry.make_known(metric)

    @cached_property
    def _tally(self) -> Tally:
        return Tally.from_bytes(self._empty)

    def piece(self, chunks: Iterable[Chunk]) -> Tally:
        """The tally of some rows."""
        out = self._tally.empty()
        for chunk in chunks:
            if chunk.batch.num_rows:
                out._update(self._roles.batch(chunk, out.missing))
        return out

    def join(self, pieces: Sequence[Tally]) -> Tally:
        """The tally of all pieces."""
        return reduce(add, pieces, self._tally.empty())

    def fold(self, chunks: Iterable[Chunk]) -> bytes:
        """The tally of some rows, as bytes."""
        return self.piece(chunks).to_bytes()

    def add(self, pieces: Sequence[bytes]) -> bytes:
        """The tally of all pieces, as bytes."""
        return self.join([Tally.from_bytes(piece) for piece in pieces]).to_bytes()

    def __reduce__(self) -> tuple[Any, ...]:
        return TableJob, (self._empty, self._roles, self._own)
