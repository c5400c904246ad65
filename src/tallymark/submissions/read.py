"""Files as entries: ids and columns, read fast, and read again with care where something is wrong."""

from __future__ import annotations

import codecs
import os
from collections.abc import Mapping, Sequence
from typing import Any

from tallymark.engines.columns import NUMBER
from tallymark.engines.fields import TEXT
from tallymark.engines.files import File
from tallymark.engines.packages import load
from tallymark.engines.streams import open_bytes
from tallymark.errors import BoundError, FileError
from tallymark.paths import check_path
from tallymark.submissions.careful import Faults, columns_at, first_fields, locate, read_numbers, read_with_care
from tallymark.submissions.entries import Check, Entries, Lines
from tallymark.submissions.frames import Choose, read_frame
from tallymark.submissions.limits import Limits
from tallymark.submissions.looks import check_header, look
from tallymark.submissions.normal import normal_column, normal_name
from tallymark.submissions.problems import Found, rejection

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
        found = Found()
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
        found = read_with_care(file, [], {}, limits)[1]
        raise rejection(shown, found) if found else file.fault


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


def _refused(shown: str, name: str, entries: Entries, found: Found) -> Entries:
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


def _read_file(file: File, choose: Choose, check: Check, limits: Limits) -> tuple[Entries, Found]:
    names = list(map(normal_name, file.names))
    wanted = choose(names)
    found = check_header(names, wanted, limits, file.form, cut=file.fault is not None, separator=file.separator)
    nothing = Entries({}, 0, file.form)
    if found:
        read_on = file.form == "CSV" and (limits.columns is None or len(names) <= limits.columns)
        return nothing, found.join(read_with_care(file, [], {}, limits)[1]) if read_on else found
    written = {name: file.names[place] for name, place in columns_at(names, wanted).items()}
    failure, text, faults = None, Found(), Faults()
    try:
        held = file.read({written[name]: way for name, way in wanted.items()}, most_rows=limits.rows)
        columns = {name: normal_column(held.pop(written[name]).values, way, limits) for name, way in wanted.items()}
        load("pyarrow").default_memory_pool().release_unused()  # what reading left: matching needs room, too
        entries = Entries(columns, len(next(iter(columns.values()))), file.form, Lines() if _is_text(file) else None)
        found = look(entries, check, limits)
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
            entries, text, faults = read_with_care(file, names, wanted, limits)
            found = _told(entries, text, faults, check, limits)
        if entries.lines is not None and entries.lines.asked:
            entries.lines.known = locate(file, entries.lines.asked, names, wanted, limits)
            found = _told(entries, text, faults, check, limits)
    return nothing, found or _unreadable(failure or FileError(f"{file.name} could not be read"))


def _is_text(file: File) -> bool:
    return file.form == "CSV"


def _told(entries: Entries, text: Found, faults: Faults, check: Check, limits: Limits) -> Found:
    found = text.join(faults.tell(entries))
    return found if found and not entries.rows else found.join(look(entries, check, limits))


def _find_no_numbers(
    file: File, written: Mapping[str, str], wanted: Mapping[str, str], check: Check, limits: Limits
) -> Found:
    """All that is wrong with a Parquet file whose numbers may be texts."""
    found = Found()
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
