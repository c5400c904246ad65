"""Files and data frames as entries: read fast by Arrow, and read again where something is wrong, to locate it.

The second reading (`diagnose.py`) happens only where the first stops or a check of the columns fails.
"""

from __future__ import annotations

import codecs
import os
from collections.abc import Mapping, Sequence
from typing import Any

from tallymark.data.arguments import check_path
from tallymark.data.arrays import check_arrow
from tallymark.errors import BoundError, FileError, ParameterError
from tallymark.sources.arrow import load
from tallymark.sources.columns import NUMBER, without_view_types
from tallymark.sources.csv.fields import TEXT
from tallymark.sources.files import File
from tallymark.sources.streams import open_bytes
from tallymark.submissions.diagnose import (
    InvalidNumbers,
    header_fields,
    locate_rows,
    read_and_locate,
    read_numbers,
)
from tallymark.submissions.entries import (
    CheckEntries,
    Entries,
    LineLookup,
    SelectColumns,
    column_positions,
    validate_entries,
    validate_header,
)
from tallymark.submissions.normalize import normalize_column, normalize_name
from tallymark.submissions.problems import SubmissionProblems, rejection
from tallymark.submissions.settings import Limits

SEPARATORS = (",", ";", "\t")


def read_entries(
    source: Any,
    select: SelectColumns,
    check: CheckEntries,
    *,
    limits: Limits,
    name: str,
    separator: str | None = None,
    strict_separator: bool = True,
) -> Entries:
    """The entries of a file, of something with `read`, or of a data frame; a `Rejection` if it has problems.

    `select` names the columns to read, `check` validates what was read, and `name` is how messages call the file. A
    `separator` that is not strict is replaced where only another one gives the columns, as if none was given.
    """
    check_readable(source, name)
    if not _is_file(source):
        entries, found = _read_frame(source, select, check, limits, name)
        return _reject_if(found, entries, name, name)
    try:
        with File(source, separator=separator, size_limits=limits.sizes(), tolerant=True) as file:
            display_name = file.name if file.path not in ("", "-") else name
            if file.fault is not None:
                _read_damaged_header(file, limits, display_name)
            if (separator is None or not strict_separator) and file.format == "CSV":
                _find_separator(file, select, limits)
            entries, found = _read_file(file, select, check, limits)
            return _reject_if(found, entries, name, display_name)
    except BoundError as error:
        found = SubmissionProblems()
        found.note(error.code, **error.facts)
        raise rejection(name, found) from error
    except FileError as error:
        raise rejection(name, _unreadable(error)) from error
    except OSError as error:  # of the disk or the compression
        failure = FileError(f"the file could not be read: {(str(error).splitlines() or [''])[0]}")
        raise rejection(name, _unreadable(failure)) from error


def check_readable(source: Any, name: str) -> None:
    """Raise a `FileError` for a path that cannot be opened, which says nothing about a submission."""
    path = check_path(source, name.strip("`")) if isinstance(source, (str, os.PathLike)) else "-"
    if path != "-" and (os.path.isdir(path) or not os.access(path, os.R_OK)):
        open_bytes(path, f"`{path}`").close()  # raises the error that says why


def _is_file(source: Any) -> bool:
    return isinstance(source, (str, os.PathLike)) or hasattr(source, "read")


def _reject_if(found: SubmissionProblems, entries: Entries, name: str, display_name: str) -> Entries:
    if found:
        raise rejection(name, found, display_name)
    return entries


def _unreadable(error: FileError) -> SubmissionProblems:
    found = SubmissionProblems()
    if error.code == "empty_file":
        found.note("empty_file", form="CSV")
    else:
        found.note("unreadable", what=str(error))
    return found


def _read_frame(
    source: Any, select: SelectColumns, check: CheckEntries, limits: Limits, name: str
) -> tuple[Entries, SubmissionProblems]:
    """The entries of a data frame: anything that hands over Arrow data, or a mapping of columns."""
    pa, compute = load("pyarrow"), load("pyarrow.compute")
    for column in source.values() if isinstance(source, dict) else ():
        check_arrow(column, name)
    try:
        table = pa.table(
            {key: pa.array(values) for key, values in source.items()} if isinstance(source, dict) else source
        )
    except (TypeError, ValueError, pa.ArrowException) as error:
        raise ParameterError(
            f"{name} must be a path, an open file or a data frame; got {type(source).__name__}: {error}"
        ) from error
    check_arrow(table, name)
    header = [normalize_name(str(each)) for each in table.column_names]
    wanted = select(header)
    found = validate_header(header, wanted, limits, "table")
    if limits.rows is not None and table.num_rows > limits.rows:
        found.note("too_many_rows", most=f"{limits.rows:,}")
    if found:
        return Entries({}, 0, "table"), found
    columns: dict[str, Any] = {}
    invalid = InvalidNumbers()
    for key, column_type in wanted.items():
        values = without_view_types(table.column(header.index(key)))
        try:
            if column_type == NUMBER:
                values = compute.cast(values, pa.float64(), safe=False)
            else:
                values = compute.cast(values, pa.string())
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
            if column_type == NUMBER and (pa.types.is_string(values.type) or pa.types.is_large_string(values.type)):
                columns[key] = read_numbers(compute.cast(values, pa.string()), key, invalid)
                continue
            reason = str(error).splitlines()[0]
            found.note("unreadable", what=f"the column {key!r} cannot be read as {column_type}: {reason}")
            continue
        columns[key] = normalize_column(values, column_type, limits.sizes())
    entries = Entries(columns, table.num_rows, "table")
    found = found.join(invalid.problems(entries))
    return entries, found.join(validate_entries(entries, check, limits)) if len(columns) == len(wanted) else found


def _read_damaged_header(file: File, limits: Limits, display_name: str) -> None:
    """Read the header of a file whose beginning has a fault; raise the problems where it has none."""
    assert file.fault is not None
    start = bytes(file.content().read(2))
    if start in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        raise file.fault
    file.names = header_fields(file, file.separator, limits)
    if not file.names:
        found = read_and_locate(file, [], {}, limits)[1]
        raise rejection(display_name, found) if found else file.fault


def _find_separator(file: File, select: SelectColumns, limits: Limits) -> None:
    """Take another separator where only that gives the wanted columns; it is never guessed from the rows."""
    if _has_all_columns(file.names, select):
        return
    others = {mark: header_fields(file, mark, limits) for mark in SEPARATORS if mark != file.separator}
    fitting = [(mark, fields) for mark, fields in others.items() if _has_all_columns(fields, select)]
    if len(fitting) == 1:
        file.separator, file.names = fitting[0]


def _has_all_columns(names: Sequence[str], select: SelectColumns) -> bool:
    header = list(map(normalize_name, names))
    return set(select(header)) <= set(header)


def _read_file(
    file: File, select: SelectColumns, check: CheckEntries, limits: Limits
) -> tuple[Entries, SubmissionProblems]:
    header = list(map(normalize_name, file.names))
    wanted = select(header)
    found = validate_header(
        header, wanted, limits, file.format, truncated=file.fault is not None, separator=file.separator
    )
    no_entries = Entries({}, 0, file.format)
    if found:
        read_on = file.format == "CSV" and (limits.columns is None or len(header) <= limits.columns)
        return no_entries, found.join(read_and_locate(file, [], {}, limits)[1]) if read_on else found
    written = {name: file.names[position] for name, position in column_positions(header, wanted).items()}
    failure = None
    try:
        raw = file.read({written[name]: column_type for name, column_type in wanted.items()}, max_rows=limits.rows)
        columns = {
            name: normalize_column(raw.pop(written[name]).values, column_type, limits.sizes())
            for name, column_type in wanted.items()
        }
        load("pyarrow").default_memory_pool().release_unused()  # by the reader; matching needs memory, too
        rows = len(next(iter(columns.values())))
        entries = Entries(columns, rows, file.format, LineLookup() if file.format == "CSV" else None)
        found = validate_entries(entries, check, limits)
        if not found or not entries.rows or file.format != "CSV":  # there are no lines to locate
            return entries, found
    except BoundError:
        raise
    except FileError as error:
        failure = error
    if file.format != "CSV":
        found = _diagnose_typed(file, {written[name]: name for name in wanted}, wanted, check, limits)
    else:
        text_problems, invalid = SubmissionProblems(), InvalidNumbers()
        if failure is not None or NUMBER in wanted.values():  # the fast reader does not tell an empty field from NaN
            entries, text_problems, invalid = read_and_locate(file, header, wanted, limits)
            found = _all_problems(entries, text_problems, invalid, check, limits)
        if entries.lines is not None and entries.lines.requested:
            entries.lines.known = locate_rows(file, entries.lines.requested, header, wanted, limits)
            found = _all_problems(entries, text_problems, invalid, check, limits)
    return no_entries, found or _unreadable(failure or FileError(f"{file.name} could not be read"))


def _all_problems(
    entries: Entries,
    text_problems: SubmissionProblems,
    invalid: InvalidNumbers,
    check: CheckEntries,
    limits: Limits,
) -> SubmissionProblems:
    found = text_problems.join(invalid.problems(entries))
    return found if found and not entries.rows else found.join(validate_entries(entries, check, limits))


def _diagnose_typed(
    file: File, names: Mapping[str, str], wanted: Mapping[str, str], check: CheckEntries, limits: Limits
) -> SubmissionProblems:
    """All that is wrong with a file of Parquet or Arrow, given the name of each of its columns: texts as numbers."""
    found = SubmissionProblems()
    try:
        raw = file.read(dict.fromkeys(names, TEXT), max_rows=limits.rows)
    except BoundError:
        raise
    except FileError:  # the first reading has reported it
        return found
    columns: dict[str, Any] = {}
    invalid = InvalidNumbers()
    for written, name in names.items():
        texts = normalize_column(raw[written].values, TEXT, limits.sizes())
        columns[name] = texts if wanted[name] == TEXT else read_numbers(texts, name, invalid)
    entries = Entries(columns, len(next(iter(columns.values()))), file.format)
    return _all_problems(entries, found, invalid, check, limits) if invalid.total else found
