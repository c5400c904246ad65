"""Files and data frames as entries: ids and columns, read fast, and read again with care where something is wrong."""

from __future__ import annotations

import csv
import os
from collections.abc import Sequence
from typing import Any

from tallymark.engines.columns import NUMBER
from tallymark.engines.files import File
from tallymark.engines.packages import load
from tallymark.errors import BoundError, FileError, ParameterError
from tallymark.submissions.careful import other_problems, read_names, read_with_care
from tallymark.submissions.entries import Check, Choose, Entries, check_header, look
from tallymark.submissions.limits import Limits
from tallymark.submissions.problems import Found, rejection
from tallymark.submissions.texts import column_of

SEPARATORS = (",", ";", "\t")
_LONGEST_HEADER = 1 << 16


def read_entries(
    source: Any, choose: Choose, check: Check, *, limits: Limits, name: str, separator: str | None = None
) -> Entries:
    """The entries of a file, of something with `read`, or of a data frame; a `Rejection` if it has problems.

    `choose` says which columns are wanted, `check` looks at what was read, and `name` is how messages call it.
    """
    if not _is_file(source):
        return _refused(name, *_read_frame(source, choose, check, limits, name))
    try:
        with File(source, separator=separator, bounds=limits.bounds(), tolerant=True) as file:
            shown = file.name if file.path not in ("", "-") else name
            if file.fault is not None:
                read_names(file)
            if separator is None and file.form == "CSV":
                _find_separator(file, choose)
            return _refused(shown, *_read_file(file, choose, check, limits))
    except BoundError as error:
        found = Found()
        found.note(error.code, **error.facts)
        raise rejection(name, found) from error
    except FileError as error:
        raise rejection(name, _unreadable(error)) from error
    except OSError as error:  # of the disk or the compression
        told = FileError(f"the file could not be read: {(str(error).splitlines() or [''])[0]}")
        raise rejection(name, _unreadable(told)) from error


def _is_file(source: Any) -> bool:
    return isinstance(source, (str, os.PathLike)) or hasattr(source, "read")


def _unreadable(error: FileError) -> Found:
    found = Found()
    told = str(error)
    if told.endswith(" is empty"):
        found.note("empty_file", form="CSV")
    else:
        found.note("unreadable", what=told)
    return found


def _refused(name: str, entries: Entries, found: Found) -> Entries:
    if found:
        raise rejection(name, found)
    return entries


def _find_separator(file: File, choose: Choose) -> None:
    """Take another separator where only that gives the columns that are wanted; it is never guessed from the rows."""
    if _has_all(file.names, choose):
        return
    start = bytes(file.content().read(_LONGEST_HEADER)).decode("utf-8-sig", "replace")
    header = next((line for line in start.splitlines() if line.strip()), "")
    by_mark = {mark: next(csv.reader([header], delimiter=mark), []) for mark in SEPARATORS if mark != file.separator}
    fitting = [mark for mark, names in by_mark.items() if _has_all(names, choose)]
    if len(fitting) == 1:
        file.separator = fitting[0]
        file.names = by_mark[fitting[0]]


def _has_all(names: Sequence[str], choose: Choose) -> bool:
    held = [name.strip() for name in names]
    return all(name in held for name in choose(held))


def _read_file(file: File, choose: Choose, check: Check, limits: Limits) -> tuple[Entries, Found]:
    names = [name.strip() for name in file.names]
    wanted = choose(names)
    found = check_header(names, wanted, limits)
    nothing = Entries({}, 0, file.form)
    if found:
        return nothing, found if file.form != "CSV" else found.join(other_problems(file))
    failure = None
    try:
        held = file.read(wanted, most_rows=limits.rows)
        columns = {name: column_of(held.pop(name).values, way, limits) for name, way in wanted.items()}
        load("pyarrow").default_memory_pool().release_unused()  # what reading left: matching needs room, too
        entries = Entries(columns, len(next(iter(columns.values()))), file.form)
        found = look(entries, check, limits)
        if not found:
            return entries, found
    except BoundError:
        raise
    except FileError as error:
        failure = error
    if file.form == "CSV":
        entries, found = read_with_care(file, names, wanted, check, limits)
    if failure is not None and not found:
        return nothing, _unreadable(failure)
    return (nothing if failure is not None else entries), found


def _read_frame(source: Any, choose: Choose, check: Check, limits: Limits, name: str) -> tuple[Entries, Found]:
    """The entries of a data frame: anything that hands over Arrow data, or a mapping of columns."""
    pa, compute = load("pyarrow"), load("pyarrow.compute")
    try:
        table = pa.table({key: pa.array(held) for key, held in source.items()} if isinstance(source, dict) else source)
    except (TypeError, ValueError, pa.ArrowException) as error:
        raise ParameterError(
            f"{name} must be a path, an open file or a data frame; it was of type {type(source).__name__}: {error}"
        ) from error
    names = [str(each).strip() for each in table.column_names]
    wanted = choose(names)
    found = check_header(names, wanted, limits)
    if limits.rows is not None and table.num_rows > limits.rows:
        found.note("too_many_rows", most=f"{limits.rows:,}")
    if found:
        return Entries({}, 0, "table"), found
    columns = {}
    for key, way in wanted.items():
        held = table.column(names.index(key))
        try:
            held = compute.cast(held, pa.float64(), safe=False) if way == NUMBER else compute.cast(held, pa.string())
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
            found.note("unreadable", what=f"the column {key!r} cannot be read as {way}: {str(error).splitlines()[0]}")
            continue
        columns[key] = column_of(held, way, limits)
    entries = Entries(columns, table.num_rows, "table")
    return entries, found or look(entries, check, limits)
