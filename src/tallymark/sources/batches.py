"""Rows that come batch by batch: from DuckDB, a lazy frame of Polars, a reader of Arrow, or whatever is iterated."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

from tallymark.data.arguments import describe
from tallymark.errors import FileError, ParameterError, TallymarkError, Text
from tallymark.sources.arrow import load
from tallymark.sources.base import Chunk, Job, ProgressCallback, ShuffleJob, chunks
from tallymark.sources.disk_shuffle import shuffle_on_disk
from tallymark.sources.tables import is_table, require_columns, to_arrow

_ROWS = 1 << 19  # in a batch, where one may choose


class Batches:
    """A source that is read from its first row to its last; only `once` where it does not keep its rows."""

    def __init__(self, source: Any) -> None:
        self.kind, self._read = _reader_of(source)
        self._library = _library_of(source)
        self.once = self.kind in ("a reader", "a stream") or isinstance(source, Iterator)
        self._started: Iterator[Any] | None = None

    def empty(self, columns: Sequence[str]) -> Any:
        """A table of no rows, which shows the types."""
        batches = self._batches(columns)
        first = next(batches, None)
        self._started = batches if first is None else chain([first], batches)
        return None if first is None else first.slice(0, 0)

    def fold(self, job: Job, progress: ProgressCallback | None, *, in_order: bool) -> Any:
        """The piece of all rows."""
        started = self._batches(job.columns) if self._started is None else self._started
        self._started = None  # from the first row, if it is read again
        return job.piece(_with_progress(started, progress))

    def shuffle(self, job: ShuffleJob, progress: ProgressCallback | None) -> list[bytes]:
        """The result of every range."""
        return shuffle_on_disk(job, lambda splitting: self.fold(splitting, progress, in_order=False))

    def _batches(self, columns: Sequence[str]) -> Iterator[Any]:
        tables = iter(self._read(columns) if self.kind == "batches" else self._read_explained(columns))
        for table in tables:
            yield from to_arrow(table, columns).to_batches()

    def _read_explained(self, columns: Sequence[str]) -> Iterator[Any]:
        """The tables of a library, whose errors about queries and files become ours."""
        try:
            yield from self._read(columns)
        except (TallymarkError, MemoryError):
            raise
        except Exception as error:
            reason = next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)
            raise FileError(
                Text("{source} could not be read; {} of {} failed: {}", self.kind, self._library, reason[:300]),
                argument="source",
                hint="If its files have columns of different types, pass the folder or the paths instead",
            ) from error


def _with_progress(batches: Iterator[Any], progress: ProgressCallback | None) -> Iterator[Chunk]:
    for chunk in chunks(batches):
        yield chunk
        if progress is not None:
            progress(chunk.places.first + chunk.batch.num_rows, 0)


def _reader_of(source: Any) -> tuple[str, Callable[[Sequence[str]], Iterable[Any]]]:
    """What messages call a source, and a function that reads columns of it as tables."""
    module, name = _library_of(source), type(source).__name__
    if module == "polars" and name == "LazyFrame":
        return "a lazy frame", lambda columns: _from_lazy(source, columns)
    if module == "duckdb" and hasattr(source, "execute"):
        return "a reader", lambda columns: _from_connection(source)
    if module == "duckdb" and hasattr(source, "to_arrow_reader"):
        return "a relation", lambda columns: _from_relation(source, columns)
    if hasattr(source, "to_batches") and hasattr(source, "schema"):
        return "a dataset", lambda columns: _from_dataset(source, columns)
    if hasattr(source, "read_next_batch"):
        return "a reader", lambda columns: source
    if isinstance(source, Iterable) and not isinstance(source, (str, bytes)):
        return "batches", lambda columns: _from_items(source)
    if hasattr(source, "__arrow_c_stream__"):
        return "a stream", lambda columns: load("pyarrow").RecordBatchReader.from_stream(source)
    raise ParameterError(
        argument="source",
        expected="be a table, a path, batches of rows, or a frame of DuckDB, Dask, Spark or Ray",
        got=describe(source),
    )


def _library_of(source: object) -> str:
    return type(source).__module__.partition(".")[0].lstrip("_")


def _from_connection(source: Any) -> Any:
    """The result of DuckDB's execute, which is the connection itself."""
    if source.description is None:
        raise ParameterError(
            argument="source",
            expected="contain rows",
            got="a connection of DuckDB without a result",
            hint="Pass con.sql(query) or con.execute(query)",
        )
    return source.to_arrow_reader(_ROWS)


def _from_lazy(source: Any, columns: Sequence[str]) -> Iterator[Any]:
    require_columns("the frame", source.collect_schema().names(), columns)
    chosen = source.select(list(columns))
    if not hasattr(chosen, "collect_batches"):  # Polars before 1.34
        return iter([chosen.collect()])
    return iter(chosen.collect_batches(chunk_size=_ROWS, maintain_order=True))


def _from_relation(source: Any, columns: Sequence[str]) -> Any:
    import duckdb

    require_columns("the relation", source.columns, columns)
    return source.select(*map(duckdb.ColumnExpression, columns)).to_arrow_reader(_ROWS)


def _from_dataset(source: Any, columns: Sequence[str]) -> Any:
    require_columns("the dataset", source.schema.names, columns)
    return source.to_batches(columns=list(columns), batch_size=_ROWS)


def _from_items(source: Iterable[Any]) -> Iterator[Any]:
    try:
        items = iter(source)
    except Exception as error:  # an array of no dimensions, say
        raise ParameterError(argument="source", expected="yield tables", got=describe(source)) from error
    for place, item in enumerate(items):
        if not is_table(item):
            raise ParameterError(
                Text(
                    "{source} must yield tables, such as data frames or mappings of names to columns; item {} was {}",
                    place,
                    describe(item),
                ),
                argument="source",
            )
        yield item
