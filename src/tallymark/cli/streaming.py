"""Files that are read in pieces, in this process or by the workers of an engine: their tally, or their report."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib import import_module
from typing import Any, TypeVar

from tallymark.cli.columns import columns_to_read, parse_label
from tallymark.cli.options import intervals_of
from tallymark.cli.progress import progress_bar
from tallymark.errors import FileError, ParameterError, TallymarkError, Text
from tallymark.evaluation.report import Report
from tallymark.evaluation.table import evaluate_table, read_columns_of_batch, tally_table
from tallymark.evaluation.tally import Tally
from tallymark.sources.csv.fields import TEXT
from tallymark.sources.datasets import FileDataset
from tallymark.sources.dispatch import Source, open_source
from tallymark.sources.paths import find_files

T = TypeVar("T")

MIN_STREAMED = 256 << 20  # bytes; a larger file is read in pieces
_COLUMN_OPTIONS = ("weights", "query", "cluster", "keys")
_UNCHANGED = ("kind", "normalize", "missing")


def is_streamed(options: Mapping[str, Any]) -> bool:
    """Whether the files are read in pieces: several files, a large one, or because an option asks for it."""
    if options["engine"] is None and options["scheduler"] is not None:
        raise ParameterError("`--scheduler` is the address of an engine; pass `--engine` too")
    if options["stream"] is False:
        if options["engine"] is not None or len(find_files(list(options["files"]))) > 1:
            raise ParameterError("`--no-stream` reads all rows of one file at once; there are several, or an engine")
        if options["score_ranges"] is not None:
            raise ParameterError("`--no-stream` has all scores in memory, and `--score-ranges` has not; leave one out")
        return False
    requested = options["stream"] or options["engine"] is not None or options["score_ranges"] is not None
    return bool(requested) or not _is_one_small_file(options["files"])


def _is_one_small_file(paths: Sequence[str]) -> bool:
    """Whether these name one file that fits into memory."""
    if len(paths) > 1 or os.path.isdir(paths[0]) or find_files(paths[0]) != [paths[0]]:
        return False
    return not os.path.isfile(paths[0]) or os.stat(paths[0]).st_size <= MIN_STREAMED


def tally_files(options: Mapping[str, Any]) -> Tally:
    """The tally of all rows of the files that the options name."""
    return _read_files(options, tally_table)


def evaluate_score_ranges(options: Mapping[str, Any]) -> Report:
    """The report of all rows of the files, whose scores are walked in ranges; there is no tally that could be kept."""
    if options["save_tally"]:
        raise ParameterError(
            "`--save-tally` keeps what adds to other tallies, and scores in ranges do not; leave `--score-ranges` out"
        )
    keywords = {"score_ranges": options["score_ranges"], "min_rows": options["min_rows"]}
    return _read_files(options, partial(evaluate_table, **keywords))


def _read_files(options: Mapping[str, Any], read: Callable[..., T]) -> T:
    if "-" in options["files"]:
        raise ParameterError(
            "standard input (-) must be the only file, without `--stream`, `--engine` and `--score-ranges`"
        )
    return _read_in_process(options, read) if options["engine"] is None else _read_on_engine(options, read)


def _read_in_process(options: Mapping[str, Any], read: Callable[..., T]) -> T:
    files = FileDataset(list(options["files"]), options["separator"], columns_to_read(options))
    labels = _label_keywords(files, options)
    paths = options["files"]
    with progress_bar(paths[0] if len(paths) == 1 else f"{len(paths):,} files") as progress:
        while True:
            before = labels
            try:
                found = read(files, **_keywords(options), **labels, progress=progress)
            except TallymarkError:
                labels = _label_keywords(files, options)
                if labels == before:
                    raise
                continue
            labels = _label_keywords(files, options)  # the type of the truth may have changed
            if labels == before:
                return found


def _read_on_engine(options: Mapping[str, Any], read: Callable[..., T]) -> T:
    if options["labels"]:
        raise ParameterError("`--labels` is for files that are read here; columns of Parquet have types")
    paths, columns = _find_parquet(options["files"]), list(columns_to_read(options))
    here = [path for path in paths if "://" not in path]
    if here:
        FileDataset(here[:1]).empty(columns)  # raises errors before the engine starts
    engine: Any = import_module(f"tallymark.sources.{options['engine']}")
    with engine.connected(options["scheduler"]), progress_bar("partitions", long=1) as progress:
        frame = _open_on_engine(engine, [os.path.abspath(path) if path in here else path for path in paths], columns)
        return read(frame, **_keywords(options), **_label_keywords(open_source(frame), options), progress=progress)


def _open_on_engine(engine: Any, paths: list[str], columns: list[str]) -> Any:
    """The files as a frame of the engine; its errors become errors of the files."""
    try:
        return engine.open_files(paths, columns)
    except (TallymarkError, MemoryError):
        raise
    except Exception as error:  # each engine has its own
        reason = (str(error).splitlines() or [type(error).__name__])[-1]
        raise FileError(
            f"the engine could not open `{paths[0]}` with the columns {', '.join(columns)}: {reason}"
        ) from error


def _find_parquet(named: Sequence[str]) -> list[str]:
    """The files for an engine, which are found here unless they have an address."""
    paths = [path for each in named for path in ([each] if "://" in each else find_files(each))]
    for path in paths:
        if "://" not in path and not path.lower().endswith((".parquet", ".pq")):
            raise ParameterError(f"`--engine` is for Parquet, whose columns have types; got `{path}`")
    return paths


def _keywords(options: Mapping[str, Any]) -> dict[str, Any]:
    """The keywords of the call that do not depend on what the files hold."""
    sides = {name: options[name] for name in ("truth", "prediction")}
    return {
        **{name: list(names) if len(names) > 1 else names[0] for name, names in sides.items()},
        **{name: options[name] for name in (*_COLUMN_OPTIONS, *_UNCHANGED)},
        "ci": intervals_of(options),
        "metrics": options["metrics"] or None,
        "by": list(options["by"]) or None,
    }


def _label_keywords(source: Source, options: Mapping[str, Any]) -> dict[str, Any]:
    """The positive class and all classes, parsed by the type of the truth as far as it is known."""
    names = list(options["truth"])
    try:
        return _parse_label_keywords(_truth_type(source, names), options)
    except ParameterError:
        if not isinstance(source, FileDataset) or not source.infer_types(names):
            raise
        return _parse_label_keywords(_truth_type(source, names), options)


def _truth_type(source: Source, names: Sequence[str]) -> str:
    empty = source.empty(names)
    return TEXT if empty is None else read_columns_of_batch(empty, names)[names[0]].type


def _parse_label_keywords(kind: str, options: Mapping[str, Any]) -> dict[str, Any]:
    truth, predictions = options["truth"], options["prediction"]
    classes = [parse_label("classes", text, truth, kind) for text in options["classes"]]
    if not classes and kind == TEXT and len(predictions) > 1 and len(truth) == 1:
        raise ParameterError(
            argument="classes",
            expected=Text(
                "name the class of each column of {prediction}, in their order: files that "
                "are read in pieces do not show all labels in {} beforehand",
                repr(truth[0]),
            ),
        )
    positive = options["positive"]
    return {
        "classes": classes or None,
        "positive": None if positive is None else parse_label("positive", positive, truth, kind),
    }
