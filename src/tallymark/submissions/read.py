"""Files and data frames as entries: ids and columns, read fast, and diagnosed where something is wrong."""

from __future__ import annotations

import codecs
import os
from collections.abc import Mapping, Sequence
from typing import Any

from tallymark.data.arguments import check_path
from tallymark.data.arrays import check_arrow
from tallymark.errors import BoundError, FileError, ParameterError
from tallymark.sources.arrow import load
from tallymark.sources.columns import NUMBER, without_views
from tallymark.sources.csv.fields import TEXT
from tallymark.sources.files import File
from tallymark.sources.streams import open_bytes
from tallymark.submissions.diagnose import Faults, columns_at, first_fields, locate, read_and_locate, read_numbers
from tallymark.submissions.entries import Check, Choose, Entries, LineLookup
from tallymark.submissions.limits import Limits
from tallymark.submissions.normalize import normal_column, normal_name
from tallymark.submissions.problems import SubmissionProblems, rejection
from tallymark.submissions.validate import validate_entries, validate_header


def read_frame(
    source: Any, choose: Choose, check: Check, limits: Limits, name: str
) -> tuple[Entries, SubmissionProblems]:
    """The entries of a data frame: anything that hands over Arrow data, or a mapping of columns."""
    pa, compute = load("pyarrow"), load("pyarrow.compute")
    for column in source.values() if isinstance(source, dict) else ():
        check_arrow(column, name)
    try:
        table = pa.table({key: pa.array(held) for key, held in source.items()} if isinstance(source, dict) else source)
    except (TypeError, ValueError, pa.ArrowException) as error:
        raise ParameterError(
            f"{name} must be a path, an open file or a data frame; got {type(source).__name__}: {error}"
        ) from error
    check_arrow(table, name)
    names = [normal_name(str(each)) for each in table.column_names]
    wanted = choose(names)
    found = validate_header(names, wanted, limits, "table")
    if limits.rows is not None and table.num_rows > limits.rows:
        found.note("too_many_rows", most=f"{limits.rows:,}")
    if found:
        return Entries({}, 0, "table"), found
    columns: dict[str, Any] = {}
    faults = Faults()
    for key, way in wanted.items():
        held = without_views(table.column(names.index(key)))
        try:
            held = compute.cast(held, pa.float64(), safe=False) if way == NUMBER else compute.cast(held, pa.string())
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
            if way == NUMBER and (pa.types.is_string(held.type) or pa.types.is_large_string(held.type)):
                columns[key] = read_numbers(compute.cast(held, pa.string()), key, faults)
                continue
            found.note("unreadable", what=f"the column {key!r} cannot be read as {way}: {str(error).splitlines()[0]}")
            continue
        columns[key] = normal_column(held, way, limits)
    entries = Entries(columns, table.num_rows, "table")
    found = found.join(faults.tell(entries))
    return entries, found.join(validate_entries(entries, check, limits)) if len(columns) == len(wanted) else found


SEPARATORS = (",", ";", "\t")


def read_entries(
    source: Any,
    choose: Choose,
    check: Check,
    *,
    limits: Limits,
    name: str,
    separator: str | None = None,
    declared: bool = True,
) -> Entries:
    """The entries of a file, of something with `read`, or of a data frame; a `Rejection` if it has problems.

    `choose` says which columns are wanted, `check` looks at what was read, and `name` is how messages call it. A
    `separator` that was not `declared` for this very file gives way to another, as one that was not given does.
    """
    require_file(source, name)
    if not _is_file(source):
        return _refused(name, name, *read_frame(source, choose, check, limits, name))
    try:
        with File(source, separator=separator, bounds=limits.bounds(), tolerant=True) as file:
            shown = file.name if file.path not in ("", "-") else name
            if file.fault is not None:
                _read_names(file, limits, shown)
            if (separator is None or not declared) and file.form == "CSV":
                _find_separator(file, choose, limits)
            return _refused(shown, name, *_read_file(file, choose, check, limits))
    except BoundError as error:
        found = SubmissionProblems()
        found.note(error.code, **error.facts)
        raise rejection(name, found) from error
    except FileError as error:
        raise rejection(name, _unreadable(error)) from error
    except OSError as error:  # of the disk or the compression
        told = FileError(f"the file could not be read: {(str(error).splitlines() or [''])[0]}")
        raise rejection(name, _unreadable(told)) from error


def require_file(source: Any, name: str) -> None:
    """A path that leads nowhere says nothing about a submission."""
    path = check_path(source, name.strip("`")) if isinstance(source, (str, os.PathLike)) else "-"
    if path != "-" and (os.path.isdir(path) or not os.access(path, os.R_OK)):
        open_bytes(path, f"`{path}`").close()  # which says why it cannot


def _read_names(file: File, limits: Limits, shown: str) -> None:
    """The header of a file in whose beginning something is wrong; raises what is wrong where it has none."""
    assert file.fault is not None
    start = bytes(file.content().read(2))
    if start in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        raise file.fault
    file.names = first_fields(file, file.separator, limits)
    if not file.names:
        found = read_and_locate(file, [], {}, limits)[1]
        raise rejection(shown, found) if found else file.fault


def _is_file(source: Any) -> bool:
    return isinstance(source, (str, os.PathLike)) or hasattr(source, "read")


def _unreadable(error: FileError) -> SubmissionProblems:
    found = SubmissionProblems()
    told = str(error)
    if told.endswith(" is empty"):
        found.note("empty_file", form="CSV")
    else:
        found.note("unreadable", what=told)
    return found


def _refused(shown: str, name: str, entries: Entries, found: SubmissionProblems) -> Entries:
    if found:
        raise rejection(name, found, shown)
    return entries


def _find_separator(file: File, choose: Choose, limits: Limits) -> None:
    """Take another separator where only that gives the columns that are wanted; it is never guessed from the rows."""
    if _has_all(file.names, choose):
        return
    others = {mark: first_fields(file, mark, limits) for mark in SEPARATORS if mark != file.separator}
    fitting = [(mark, fields) for mark, fields in others.items() if _has_all(fields, choose)]
    if len(fitting) == 1:
        file.separator, file.names = fitting[0]


def _has_all(names: Sequence[str], choose: Choose) -> bool:
    held = list(map(normal_name, names))
    return set(choose(held)) <= set(held)


def _read_file(file: File, choose: Choose, check: Check, limits: Limits) -> tuple[Entries, SubmissionProblems]:
    names = list(map(normal_name, file.names))
    wanted = choose(names)
    found = validate_header(names, wanted, limits, file.form, cut=file.fault is not None, separator=file.separator)
    nothing = Entries({}, 0, file.form)
    if found:
        read_on = file.form == "CSV" and (limits.columns is None or len(names) <= limits.columns)
        return nothing, found.join(read_and_locate(file, [], {}, limits)[1]) if read_on else found
    written = {name: file.names[place] for name, place in columns_at(names, wanted).items()}
    failure, text, faults = None, SubmissionProblems(), Faults()
    try:
        held = file.read({written[name]: way for name, way in wanted.items()}, most_rows=limits.rows)
        columns = {name: normal_column(held.pop(written[name]).values, way, limits) for name, way in wanted.items()}
        load("pyarrow").default_memory_pool().release_unused()  # what reading left: matching needs room, too
        entries = Entries(
            columns, len(next(iter(columns.values()))), file.form, LineLookup() if _is_text(file) else None
        )
        found = validate_entries(entries, check, limits)
        if not found or not entries.rows or not _is_text(file):  # there is no line to tell
            return entries, found
    except BoundError:
        raise
    except FileError as error:
        failure = error
    if not _is_text(file):
        found = _find_no_numbers(file, {written[name]: name for name in wanted}, wanted, check, limits)
    else:
        if failure is not None or NUMBER in wanted.values():  # to which a field without one is as good as NaN
            entries, text, faults = read_and_locate(file, names, wanted, limits)
            found = _told(entries, text, faults, check, limits)
        if entries.lines is not None and entries.lines.asked:
            entries.lines.known = locate(file, entries.lines.asked, names, wanted, limits)
            found = _told(entries, text, faults, check, limits)
    return nothing, found or _unreadable(failure or FileError(f"{file.name} could not be read"))


def _is_text(file: File) -> bool:
    return file.form == "CSV"


def _told(
    entries: Entries, text: SubmissionProblems, faults: Faults, check: Check, limits: Limits
) -> SubmissionProblems:
    found = text.join(faults.tell(entries))
    return found if found and not entries.rows else found.join(validate_entries(entries, check, limits))


def _find_no_numbers(
    file: File, written: Mapping[str, str], wanted: Mapping[str, str], check: Check, limits: Limits
) -> SubmissionProblems:
    """All that is wrong with a Parquet file whose numbers may be texts."""
    found = SubmissionProblems()
    try:
        held = file.read(dict.fromkeys(written, TEXT), most_rows=limits.rows)
    except BoundError:
        raise
    except FileError:  # which the first reading told
        return found
    columns: dict[str, Any] = {}
    faults = Faults()
    for place, name in written.items():
        texts = normal_column(held[place].values, TEXT, limits)
        columns[name] = texts if wanted[name] == TEXT else read_numbers(texts, name, faults)
    entries = Entries(columns, len(next(iter(columns.values()))), file.form)
    return _told(entries, found, faults, check, limits) if faults.total else found
