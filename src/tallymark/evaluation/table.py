"""tm.evaluate_table: the same metrics on tables, files larger than memory, streams and clusters."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property, reduce
from operator import add
from typing import Any, NamedTuple

from tallymark.data.arguments import check_min_rows
from tallymark.data.arrays import check_arrow
from tallymark.data.batch import Batch
from tallymark.data.target import Target, target_of
from tallymark.errors import (
    DomainError,
    EmptyError,
    KindError,
    MissingValueError,
    ParameterError,
    ShapeError,
    TallymarkError,
    Text,
    TypeOfDataError,
    brief,
)
from tallymark.evaluation.default_metrics import MetricsLike, metrics_of_kind, select_metrics
from tallymark.evaluation.evaluate import check_errors, evaluate
from tallymark.evaluation.report import Report
from tallymark.evaluation.tally import Tally
from tallymark.intervals.settings import Intervals, resampled_by
from tallymark.metrics import registry
from tallymark.metrics.base import Metric
from tallymark.sources.base import Chunk
from tallymark.sources.columns import AUTO, Column, ColumnBuilder, stack_columns
from tallymark.sources.datasets import FileDataset
from tallymark.sources.dispatch import Source, open_source
from tallymark.sources.tables import is_table, to_arrow

ProgressOption = bool | Callable[[int, int], None] | None


def evaluate_table(
    source: Any,
    truth: str | Sequence[str],
    prediction: str | Sequence[str],
    metrics: MetricsLike = None,
    *,
    weights: str | None = None,
    by: str | Sequence[str] | None = None,
    query: str | None = None,
    target: Target | None = None,
    kind: str | None = None,
    classes: object = None,
    positive: object = None,
    normalize: bool = False,
    missing: str = "error",
    errors: str = "raise",
    min_rows: int = 1,
    ci: float | Intervals | None = None,
    cluster: str | None = None,
    keys: str | None = None,
    score_ranges: int | None = None,
    separator: str | None = None,
    progress: ProgressOption = None,
    **parameters: Any,
) -> Report:
    """Evaluate many metrics on the columns of a data frame, a file or any other table.

    The values are those of `evaluate`, to the last bit. Only the named columns are read.

    Args:
        source: A pandas or Polars data frame, eager or lazy, an Arrow table, or a mapping of names to columns; a path,
            pattern or folder of Parquet, CSV or Arrow files, which may be larger than memory; an iterable of batches,
            such as data frames; a DuckDB relation or result; or a Dask, Spark or Ray frame, whose workers then do the
            work.
        truth: The column of the truth; several columns are several outputs.
        prediction: The column of the predictions, or one column per class, output or quantile.
        weights: The column of weights.
        by: The column of groups, or several.
        query: The column of queries, for ranking metrics.
        cluster: The column of clusters; the rows of a cluster are resampled together.
        keys: The column of unique ids by which rows are resampled. Without it they are resampled by position, which
            Dask, Spark and Ray frames do not have.
        score_ranges: Compute exact `auc`, `gini`, `average_precision`, `pr_auc` and `ks` of two classes in about this
            many ranges of scores, each on one worker, so that no machine holds all scores. The source is read twice, or
            three times if many scores are close together; `weights` and `by` are not supported.
        separator: The delimiter of CSV files, such as ";" or "tab"; by default a comma, or a tab for .tsv and .tab
            files.
        progress: True shows a progress bar if rich is installed; a function is called with the work done and the total.

    What is not in memory is read in batches. Metrics that keep the rows, such as `spearman`, `median_absolute_error`
    and functions of your own, still need them in memory; on Dask, Spark and Ray a function of your own sees the rows in
    any order.

    >>> table = {"y": [3, -0.5, 2, 7], "p": [2.5, 0.0, 2, 8], "city": ["Bonn", "Bonn", "Ulm", "Ulm"]}
    >>> report = evaluate_table(table, truth="y", prediction="p", metrics=["mae"], by="city")
    >>> report["mae"], report.slices["Ulm"]["mae"]
    (0.5, 0.5)
    """
    roles = _column_roles(truth, prediction, weights, query, cluster, keys, by)
    about = target_of(target, kind, classes, positive, normalize)
    facts = {"target": about, "missing": missing, "ci": ci}
    check_errors(errors)
    if is_table(source):
        columns = read_columns_of_batch(to_arrow(source, roles.names()), roles.names())
        if score_ranges is not None:  # which all scores in memory do not need
            from tallymark.evaluation.score_ranges import check_ranges

            named = {} if metrics is None else select_metrics(metrics, parameters=parameters)
            check_ranges(score_ranges, named, about, roles, None)
        rows, arguments = roles.rows(columns), dict[str, Any]({**roles.given(columns), **facts})
        with _errors_in_our_words({}):
            report = evaluate(rows[0], rows[1], metrics, errors=errors, min_rows=min_rows, **arguments, **parameters)
        _reword(_failures_of(report), {})
        return report
    check_groups(min_rows, roles.by)
    opened = open_source(source, separator)
    facts["errors"] = errors
    tally = _fold_source(opened, roles, metrics, facts, progress, parameters, score_ranges=score_ranges)
    return read_report(tally, errors=errors, min_rows=min_rows)


def check_groups(min_rows: int, by: Sequence[str]) -> None:
    """Reject a smallest size of groups where there are none."""
    if check_min_rows(min_rows) > 1 and not by:
        raise ParameterError(
            Text("{min_rows} is the smallest group size to compare: pass {by}, the groups, too"),
            argument="min_rows",
        )


def read_report(tally: Tally, *, errors: str = "raise", min_rows: int = 1) -> Report:
    """The report of all rows of a source, which must have some."""
    if not tally.n:
        dropped = f": all {tally.dropped:,} had a missing value and were dropped" if tally.dropped else ""
        raise EmptyError(Text("{source} has no rows{}{}", " left" if dropped else "", dropped), argument="source")
    with _errors_in_our_words({}):
        report = tally.report(errors=errors, min_rows=min_rows)
    _reword(_failures_of(report), {})
    return report


def tally_table(
    source: Any,
    truth: str | Sequence[str],
    prediction: str | Sequence[str],
    metrics: MetricsLike = None,
    *,
    weights: str | None = None,
    by: str | Sequence[str] | None = None,
    query: str | None = None,
    target: Target | None = None,
    kind: str | None = None,
    classes: object = None,
    positive: object = None,
    normalize: bool = False,
    missing: str = "error",
    errors: str = "raise",
    ci: float | Intervals | None = None,
    cluster: str | None = None,
    keys: str | None = None,
    separator: str | None = None,
    progress: ProgressOption = None,
    **parameters: Any,
) -> Tally:
    """Return the tally of a table, to keep or to add to others: `evaluate_table` before its report.

    >>> monday = tally_table({"y": [3, -0.5], "p": [2.5, 0.0]}, truth="y", prediction="p", metrics=["rmse"])
    >>> tuesday = tally_table({"y": [2.0, 7], "p": [2.0, 8]}, truth="y", prediction="p", metrics=["rmse"])
    >>> (monday + tuesday).report()["rmse"]
    0.6123724356957945
    """
    roles = _column_roles(truth, prediction, weights, query, cluster, keys, by)
    about = target_of(target, kind, classes, positive, normalize)
    facts = {"target": about, "missing": missing, "errors": errors, "ci": ci}
    opened = open_source([source] if is_table(source) else source, separator)
    tally = _fold_source(opened, roles, metrics, facts, progress, parameters)
    if tally.failures:
        tally.report()  # raises, unless they are kept
    return tally


def _column_roles(
    truth: Any, prediction: Any, weights: Any, query: Any, cluster: Any, keys: Any, by: Any
) -> ColumnRoles:
    single = {"weights": weights, "query": query, "cluster": cluster, "keys": keys}
    return ColumnRoles(
        check_column_names("truth", truth, several=True, optional=False),
        check_column_names("prediction", prediction, several=True, optional=False),
        **{key: next(iter(check_column_names(key, value)), None) for key, value in single.items()},
        by=check_column_names("by", by, several=True),
    )


def _fold_source(
    source: Source,
    roles: ColumnRoles,
    metrics: MetricsLike,
    facts: dict[str, Any],
    progress: ProgressOption,
    parameters: Mapping[str, Any],
    *,
    score_ranges: int | None = None,
) -> Tally:
    """The tally of a source that is read in pieces."""
    if facts["ci"] is None and (roles.cluster or roles.keys):
        raise resampled_by("cluster" if roles.cluster else "keys")
    target: Target = facts["target"]
    given_metrics = None if metrics is None else select_metrics(metrics, parameters=parameters)
    if given_metrics is None and target.kind not in (None, "label") and roles.query is None:
        given_metrics = metrics_of_kind(target.kind, target, parameters=parameters)  # which no row changes

    def empty_tally(selected: MetricsLike) -> Tally:
        return Tally(selected, by=roles.by or None, **facts, **(parameters if selected is None else {}))

    empty_tally(given_metrics)  # refuses what cannot be, before anything is read
    if score_ranges is not None:
        from tallymark.evaluation.score_ranges import check_ranges  # few ask for ranges

        if given_metrics is None:
            raise ParameterError(argument="metrics", expected="be named for score_ranges, such as metrics=['auc']")
        check_ranges(score_ranges, given_metrics, target, roles, source)

    def attempt() -> Tally:
        empty = source.empty(roles.names())
        if empty is None:
            raise EmptyError(Text("{source} has no rows"), argument="source")
        tally = empty_tally(given_metrics)
        selected = tally.metrics  # those that are named; the defaults follow from the rows
        by_place = tally.interval is not None and roles.keys is None and roles.cluster is None
        in_order = by_place or _keeps_rows(selected.values(), target)
        with progress_reporter(progress) as report_progress:
            if score_ranges is not None:
                from tallymark.evaluation.score_ranges import fold_ranges

                found = fold_ranges(source, tally, roles, score_ranges, report_progress, in_order=in_order)
                return Tally.from_bytes(found) if isinstance(found, bytes) else found
            job = TableJob(tally.to_bytes(), roles, user_metrics(selected.values()), keep_failures=True)
            found = source.fold(job, report_progress, in_order=in_order)
            return Tally.from_bytes(found) if isinstance(found, bytes) else found

    odd = getattr(source, "non_numbers", {})
    with _errors_in_our_words(odd):
        tally = _retry_if_types_change(source, roles.names(), attempt, by_types=given_metrics is None)
    _reword(tally.failures.values(), odd)
    return tally


_ERRORS_OF_TYPES = (KindError, TypeOfDataError, ShapeError, DomainError, MissingValueError, ParameterError)


def _retry_if_types_change(
    source: Source, columns: Sequence[str], attempt: Callable[[], Tally], *, by_types: bool
) -> Tally:
    """What an attempt finds. The types of CSV are learnt while it is read: what was chosen or refused by those of the
    first rows alone is tried again with those of all rows."""
    if not isinstance(source, FileDataset):
        return attempt()

    def types() -> Any:
        empty = source.empty(columns)
        return None if empty is None else empty.schema

    before = types()
    try:
        result = attempt()
    except _ERRORS_OF_TYPES as error:
        if isinstance(error, MissingValueError) and not source.uncertain:
            raise  # at once: an empty field is missing among numbers and among texts
        source.infer_types(columns)
        if types() == before:
            raise
    else:
        by_types = by_types or any(isinstance(error, _ERRORS_OF_TYPES) for error in result.failures.values())
        if not by_types or types() == before:
            return result
    return attempt()


def _keeps_rows(metrics: Iterable[Metric], target: Target) -> bool:
    """Whether one of these sees the rows in their order, as a function of one's own does."""
    needs = (reads for item in metrics if not item.by_query for reads in item.all_needs(target))
    return any(type(reads.zero()).size == "rows" for reads in needs)


@contextmanager
def _errors_in_our_words(odd: Mapping[str, tuple[str, str]]) -> Iterator[None]:
    """Errors in the words of this call: arguments have its names, and one about types names the text that made a column
    of a file one of texts. `odd` has these texts and their places by column."""
    try:
        yield
    except TallymarkError as error:
        _reword([error, *_failures_of(error.report)], odd)
        raise


def _failures_of(report: Report | None) -> list[TallymarkError]:
    """The errors in the cells of a report and of its slices."""
    parts = [] if report is None else [report, *(report.slices or {}).values()]
    return [error for part in parts for error in part.failures.values()]


def _reword(errors: Iterable[TallymarkError], odd: Mapping[str, tuple[str, str]]) -> None:
    for error in {id(error): error for error in errors}.values():
        error.rename(y_true="truth", y_pred="prediction")
        if isinstance(error, (TypeOfDataError, KindError)):
            for name, (text, place) in odd.items():
                error.add_hint(f"Column {name!r} was read as text because {place} is {text[:40]!r}")


@contextmanager
def progress_reporter(progress: ProgressOption) -> Iterator[Callable[[int, int], None] | None]:
    """What to tell how much of how much is done: the caller's function, or a bar."""
    if callable(progress) or not progress:
        yield progress if callable(progress) else None
        return
    from tallymark.optional_packages import needed

    with needed("progress=True", "rich", extra="cli"):
        from rich.progress import Progress as Bar
    with Bar(transient=True) as bar:
        task = bar.add_task("evaluating", total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total or None)


class ColumnRoles(NamedTuple):
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

    def rows(self, columns: dict[str, Column]) -> tuple[Any, Any]:
        """Truth and predictions."""
        return stack_columns(self.truth, columns), stack_columns(self.prediction, columns)

    def given(self, columns: dict[str, Column]) -> dict[str, Any]:
        """What else there is of each row, by the names of the arguments."""
        single = {"weights": self.weights, "query": self.query, "cluster": self.cluster, "keys": self.keys}
        arguments = {key: columns[name].values for key, name in single.items() if name is not None}
        return {**arguments, **({"by": {name: columns[name].values for name in self.by}} if self.by else {})}

    def batch(self, chunk: Chunk, missing: str) -> Batch:
        """The rows of a chunk of a source."""
        columns = read_columns_of_batch(chunk.batch, self.names(), chunk.places.row)
        return Batch(*self.rows(columns), missing=missing, whole=False, places=chunk.places, **self.given(columns))


def check_column_names(what: str, value: object, *, several: bool = False, optional: bool = True) -> tuple[str, ...]:
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


def user_metrics(metrics: Iterable[Metric]) -> list[Metric]:
    """Those of these, and of what they are made of, that are not tallymark's, so that a worker may not know them."""
    parts = dict.fromkeys(part for metric in metrics for part in (metric, *getattr(metric, "of", ())))
    return [
        each for each in parts if each.name in registry.functions or not type(each).__module__.startswith("tallymark.")
    ]


class TableJob:
    """Folds batches of rows into tallies of one kind, and adds them. It pickles to the bytes of an empty tally, and to
    the metrics of the user's own, which a worker does not know by their names. With `keep_failures`, metrics that
    cannot read some rows fail, and the others are computed."""

    def __init__(
        self, empty: bytes, roles: ColumnRoles, own: Sequence[Metric] = (), keep_failures: bool = False
    ) -> None:
        self.columns = roles.names()
        self._empty = empty
        self._column_roles = roles
        self._own = own
        self._keep_failures = keep_failures
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
                rows = self._column_roles.batch(chunk, out.missing)
                out._update(rows, keep_failures=self._keep_failures)
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
        return TableJob, (self._empty, self._column_roles, self._own, self._keep_failures)
