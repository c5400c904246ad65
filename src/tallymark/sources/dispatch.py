"""Picks the reader of a source by its type: paths, batches or a cluster.

Nothing is loaded that the source has not loaded itself.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Any, Protocol

from tallymark.errors import FileError, ParameterError, TallymarkError
from tallymark.optional_packages import needed
from tallymark.sources.arrow import load
from tallymark.sources.base import Job, ProgressCallback, ShuffleJob
from tallymark.sources.batches import Batches
from tallymark.sources.datasets import FileDataset
from tallymark.sources.tables import require_columns

_CLUSTERS = {"dask": "a Dask frame", "pyspark": "a Spark frame", "ray": "a Ray dataset"}
_MODULES = {"dask": "dask", "pyspark": "spark", "ray": "ray"}
_FRAMES = {"dask": "DataFrame", "pyspark": "DataFrame", "ray": "Dataset"}
_TYPE_ERROR = re.compile(
    r"\[FAILED_READ_FILE[^\]]*\] ([^\n]+)|pyarrow\.lib\.Arrow\w+: ([^\n]+)"
)  # of columns that differ by file


class Source(Protocol):
    """Rows that are not all in memory."""

    kind: str
    once: bool
    """Whether its rows can be read only once."""

    def empty(self, columns: Sequence[str]) -> Any:
        """A batch of no rows, with the types of these columns; None where they are unknown."""

    def fold(self, job: Job, progress: ProgressCallback | None, *, in_order: bool) -> Any:
        """The piece of all rows, or its bytes. `in_order` where places of rows matter."""

    def shuffle(self, job: ShuffleJob, progress: ProgressCallback | None) -> list[bytes]:
        """The result of every range."""


class Cluster:
    """A frame whose partitions lie with the workers of an engine."""

    once = False

    def __init__(self, source: Any, package: str) -> None:
        self.kind = _CLUSTERS[package]
        self._source = source
        if getattr(source, "isStreaming", False):
            raise ParameterError(
                argument="source",
                expected="be a frame that ends",
                got="a stream of Spark",
                hint="Add up its batches: a function of foreachBatch that calls tally_table on each and "
                "adds the tallies",
            )
        with needed(f"evaluating {self.kind}", package, extra=_MODULES[package]):
            self._engine = import_module(f"tallymark.sources.{_MODULES[package]}")

    def empty(self, columns: Sequence[str]) -> Any:
        """A batch of no rows."""
        pa = load("pyarrow")
        with self._explain_types():
            schema = self._engine.schema(self._source)
        require_columns("the frame", schema.names, columns)
        fields = [schema.field(name) for name in columns]
        return pa.RecordBatch.from_arrays([pa.nulls(0, field.type) for field in fields], schema=pa.schema(fields))

    def fold(self, job: Job, progress: ProgressCallback | None, *, in_order: bool) -> Any:
        """The bytes of the piece of all rows."""
        with self._explain_types():
            return self._engine.fold(self._source, job, progress)

    def shuffle(self, job: ShuffleJob, progress: ProgressCallback | None) -> list[bytes]:
        """The result of every range, whose pieces the engine brings to one worker."""
        with self._explain_types():
            found: list[bytes] = self._engine.shuffle(self._source, job, progress)
        return found

    @contextmanager
    def _explain_types(self) -> Iterator[None]:
        """Files whose column types differ from the frame's raise an error of one sentence."""
        try:
            yield
        except TallymarkError:
            raise
        except Exception as error:  # each engine has its own
            found = _TYPE_ERROR.search(f"{type(error).__module__}.{type(error).__name__}: {error}")
            if found is None:
                raise
            reason = (found[1] or found[2]).partition(" SQLSTATE")[0][:300].rstrip(".")
            raise FileError(
                f"the files of {self.kind} must have columns of the same types; {reason}",
                hint="Convert the column where the files are written, or pass the folder instead of the frame",
            ) from error


def open_source(source: Any, separator: str | None = None) -> Source:
    """The reader of a source."""
    if isinstance(source, FileDataset):
        return source
    if isinstance(source, (str, os.PathLike)) or _are_paths(source):
        return FileDataset(source, separator)
    package = type(source).__module__.partition(".")[0]
    if package in _CLUSTERS and _FRAMES[package] in (each.__name__ for each in type(source).__mro__):
        pandas_on_spark = type(source).__module__.startswith("pyspark.pandas")
        return Cluster(source.to_spark() if pandas_on_spark else source, package)
    return Batches(source)


def _are_paths(source: object) -> bool:
    return isinstance(source, (list, tuple)) and all(isinstance(item, (str, os.PathLike)) for item in source)
