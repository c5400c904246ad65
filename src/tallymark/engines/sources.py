"""Which engine reads a source, by its type. Nothing is loaded that the source has not loaded itself."""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib import import_module
from typing import Any, Protocol

from tallymark.engines.batches import Batches
from tallymark.engines.datasets import Files
from tallymark.engines.job import Exchange, Job, Progress
from tallymark.engines.packages import load
from tallymark.engines.tables import check_columns
from tallymark.packages import needed

_CLUSTERS = {"dask": "a Dask frame", "pyspark": "a Spark frame", "ray": "a Ray dataset"}
_MODULES = {"dask": "dask", "pyspark": "spark", "ray": "ray"}


class Source(Protocol):
    """Rows that are not all in memory."""

    kind: str
    once: bool
    """Whether its rows can be read only once."""

    def empty(self, columns: Sequence[str]) -> Any:
        """A batch of no rows, which shows the types of these columns; None where there is nothing to tell."""

    def fold(self, job: Job, progress: Progress | None, *, in_order: bool) -> Any:
        """The piece of all rows, or its bytes. `in_order` where places of rows matter."""

    def exchange(self, job: Exchange, progress: Progress | None) -> list[bytes]:
        """What is left of every range."""


class Cluster:
    """A frame whose partitions lie with the workers of an engine."""

    once = False

    def __init__(self, source: Any, package: str) -> None:
        self.kind = _CLUSTERS[package]
        self._source = source
        with needed(f"evaluating {self.kind}", package, extra=_MODULES[package]):
            self._engine = import_module(f"tallymark.engines.{_MODULES[package]}")

    def empty(self, columns: Sequence[str]) -> Any:
        """A batch of no rows."""
        pa, schema = load("pyarrow"), self._engine.schema(self._source)
        check_columns("the frame", schema.names, columns)
        fields = [schema.field(name) for name in columns]
        return pa.RecordBatch.from_arrays([pa.nulls(0, field.type) for field in fields], schema=pa.schema(fields))

    def fold(self, job: Job, progress: Progress | None, *, in_order: bool) -> Any:
        """The bytes of the piece of all rows."""
        return self._engine.fold(self._source, job, progress)

    def exchange(self, job: Exchange, progress: Progress | None) -> list[bytes]:
        """What is left of every range, whose pieces the engine brings to one worker."""
        found: list[bytes] = self._engine.exchange(self._source, job, progress)
        return found


def open_source(source: Any, separator: str | None = None) -> Source:
    """What reads a source."""
    if isinstance(source, Files):
        return source
    if isinstance(source, (str, os.PathLike)) or _are_paths(source):
        return Files(source, separator)
    package = type(source).__module__.partition(".")[0]
    return Cluster(source, package) if package in _CLUSTERS else Batches(source)


def _are_paths(source: object) -> bool:
    return isinstance(source, (list, tuple)) and all(isinstance(item, (str, os.PathLike)) for item in source)
