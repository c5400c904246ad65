"""Files and data frames as entries: ids and columns, read fast, and read again with care where something is wrong."""

from __future__ import annotations

import codecs
import os
import unicodedata
from array import array
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from tallymark._core import are_plain
from tallymark.engines.columns import NUMBER
from tallymark.engines.fields import TEXT
from tallymark.engines.files import File
from tallymark.engines.packages import load
from tallymark.engines.streams import open_bytes
from tallymark.errors import BoundError, FileError, ParameterError
from tallymark.submissions.limits import Limits
from tallymark.submissions.problems import Found, Place, problem, rejection
from tallymark.submissions.tokens import tokenize

SEPARATORS = (",", ";", "\t")
_BLANKS = "\t\n\v\f\r\x1c\x1d\x1e\x1f "  # those of Unicode that are ASCII
Choose = Callable[[Sequence[str]], Mapping[str, str]]
"""Given the names of the columns, those that are wanted, each as "text" or "number"."""


class Entries(NamedTuple):
    """Rows of a file: the columns that were wanted, texts as Arrow arrays and numbers as arrays of NumPy.

    `lines` and `columns` say where each row and each of its fields begins, where the file was read with care.
    """

    columns: Mapping[str, Any]
    rows: int
    form: str
    lines: Sequence[int] | None = None
    places: Mapping[str, Sequence[int]] | None = None

    def place(self, row: int, field: str | None = None, id: str | None = None) -> Place:
        """Where a row, or a field of it, stands."""
        if self.lines is None:
            return Place(row=row, field=field, id=id)
        column = None if self.places is None or field is None else self.places[field][row]
        return Place(self.lines[row], column, row, field, id)


Check = Callable[[Entries], Found]


def read_entries(
    source: Any, choose: Choose, check: Check, *, limits: Limits, name: str, separator: str | None = None
) -> Entries:
    """The entries of a file, of something with `read`, or of a data frame; a `Rejection` if it has problems.

    `choose` says which columns are wanted, `check` looks at what was read, and `name` is how messages call it.
    """
    require_file(source)
    if not _is_file(source):
        return _refused(name, *_read_frame(source, choose, check, limits, name))
    try:
        with File(source, separator=separator, bounds=limits.bounds(), tolerant=True) as file:
            shown = file.name if file.path not in ("", "-") else name
            if file.fault is not None:
                _read_names(file)
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


def require_file(source: Any) -> None:
    """A path that leads nowhere says nothing about a submission."""
    path = os.fspath(source) if isinstance(source, (str, os.PathLike)) else "-"
    if path != "-" and (os.path.isdir(path) or not os.access(path, os.R_OK)):
        open_bytes(path, f"`{path}`").close()  # which says why it cannot


def _read_names(file: File) -> None:
    """The header of a file in whose beginning something is wrong; raises its fault where that is no text at all."""
    assert file.fault is not None
    start = bytes(file.content().read(2))
    file.names = [] if start in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE) else _first_fields(file, file.separator)
    if not file.names:
        raise file.fault


def _first_fields(file: File, separator: str) -> list[str]:
    first = next(tokenize(file.content(), separator, Found()), None)
    return [] if first is None else first.fields


def normal_name(name: str) -> str:
    """The name of a column as labels are read: without blanks around it, in normal form C."""
    return unicodedata.normalize("NFC", name).strip()


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
    others = {mark: _first_fields(file, mark) for mark in SEPARATORS if mark != file.separator}
    fitting = [(mark, fields) for mark, fields in others.items() if _has_all(fields, choose)]
    if len(fitting) == 1:
        file.separator, file.names = fitting[0]


def _has_all(names: Sequence[str], choose: Choose) -> bool:
    held = list(map(normal_name, names))
    return set(choose(held)) <= set(held)


def _read_file(file: File, choose: Choose, check: Check, limits: Limits) -> tuple[Entries, Found]:
    names = list(map(normal_name, file.names))
    wanted = choose(names)
    found = _check_header(names, wanted, limits, file.form)
    nothing = Entries({}, 0, file.form)
    if found:
        return nothing, found if file.form != "CSV" else found.join(_broken(file))
    written = {name: file.names[names.index(name)] for name in wanted}
    failure = None
    try:
        held = file.read({written[name]: way for name, way in wanted.items()}, most_rows=limits.rows)
        columns = {name: _column(held.pop(written[name]).values, way, limits) for name, way in wanted.items()}
        load("pyarrow").default_memory_pool().release_unused()  # what reading left: matching needs room, too
        entries = Entries(columns, len(next(iter(columns.values()))), file.form)
        found = _look(entries, check, limits)
        if not found or not entries.rows:  # there is no line to tell
            return entries, found
    except BoundError:
        raise
    except FileError as error:
        failure = error
    if file.form == "CSV":
        entries, found = _read_with_care(file, names, wanted, check, limits)
    elif failure is not None and NUMBER in wanted.values():
        found = _find_no_numbers(file, {written[name]: name for name in wanted}, wanted, check, limits)
    if failure is not None and not found:
        return nothing, _unreadable(failure)
    return (nothing if failure is not None else entries), found


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
    rows = len(next(iter(held.values())).values)
    entries = Entries(columns, rows, file.form)
    for place, name in written.items():
        texts = _column(held[place].values, TEXT, limits)
        columns[name] = texts if wanted[name] == TEXT else _numbers(texts.to_pylist(), name, entries, found)
    return found.join(_look(entries, check, limits)) if found else found


def _check_header(names: Sequence[str], wanted: Mapping[str, str], limits: Limits, form: str) -> Found:
    found, line = Found(), 1 if form == "CSV" else None
    if limits.columns is not None and len(names) > limits.columns:
        found.note("too_many_columns", line, count=f"{len(names):,}", most=f"{limits.columns:,}")
    shown = ", ".join(repr(name[:40]) for name in names[:20]) + (", …" if len(names) > 20 else "") or "none"
    for name in wanted:
        count = names.count(name)
        if count == 0:
            found.note("missing_column", line, column=repr(name), found=shown)
        elif count > 1:
            found.note("repeated_column", line, column=repr(name), count=count)
    return found


def _broken(file: File) -> Found:
    """What else is wrong with a file that lacks a column."""
    found = Found()
    _take(file, [], {}, found, Limits())
    return found


def _look(entries: Entries, check: Check, limits: Limits) -> Found:
    found = Found()
    if not entries.rows:
        found.note("empty_file", form=entries.form)
        return found
    if limits.field_length is not None:
        compute = load("pyarrow.compute")
        for name, values in entries.columns.items():
            if isinstance(values, np.ndarray):
                continue
            if (compute.max(compute.binary_length(values)).as_py() or 0) <= limits.field_length:
                continue
            long = compute.utf8_length(values)
            longest = compute.max(long).as_py()
            if longest > limits.field_length:
                row = compute.index(compute.greater(long, limits.field_length), True).as_py()
                place = entries.place(row, name)
                facts = {"count": f"{longest:,}", "most": f"{limits.field_length:,}"}
                found.note("field_too_long", place.line, place.column, **facts)
    return found.join(check(entries))


def _column(values: Any, way: str, limits: Limits) -> Any:
    """Texts trimmed, in normal form C, without a dictionary; numbers as floats, NaN where there is none."""
    pa, compute = load("pyarrow"), load("pyarrow.compute")
    if way == NUMBER:
        if isinstance(values, np.ndarray):
            return values.astype(np.float64)
        values = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
        from tallymark.engines.columns import to_numpy

        return to_numpy(compute.cast(values, pa.float64(), safe=False))
    return normal_texts(_plain_texts(values, limits))


def _plain_texts(values: Any, limits: Limits) -> Any:
    """Texts as a plain column. Those of a dictionary are unfolded only where they unfold to no more than they may."""
    pa, compute = load("pyarrow"), load("pyarrow.compute")
    chunks = values.chunks if isinstance(values, pa.ChunkedArray) else [values]
    plain, size = [], 0
    for chunk in chunks:
        if pa.types.is_dictionary(chunk.type):
            lengths = compute.binary_length(chunk.dictionary).take(chunk.indices)
            size += compute.sum(compute.cast(lengths, pa.int64())).as_py() or 0
            limits.bounds().check_unpacked(size, max(chunk.nbytes, 1), "the file")
            chunk = compute.cast(chunk, chunk.type.value_type)
        plain.append(compute.cast(chunk, pa.string()))
    return pa.chunked_array(plain, pa.string())


def normal_texts(values: Any) -> Any:
    """Texts without blanks around them and in normal form C; what is then empty is missing."""
    pa = load("pyarrow")
    return pa.chunked_array(
        [piece if are_plain(piece) else _normal_piece(piece) for piece in values.chunks], pa.string()
    )


def _normal_piece(piece: Any) -> Any:
    pa, compute = load("pyarrow"), load("pyarrow.compute")
    if compute.all(compute.string_is_ascii(piece)).as_py() in (True, None):
        texts = compute.ascii_trim(piece, characters=_BLANKS)
    else:
        texts = compute.utf8_trim_whitespace(compute.utf8_normalize(piece, form="NFC"))
    lengths = compute.binary_length(texts)
    if compute.min(lengths).as_py() == 0:
        return compute.if_else(compute.equal(lengths, 0), pa.scalar(None, pa.string()), texts)
    return texts


def _read_with_care(
    file: File, names: Sequence[str], wanted: Mapping[str, str], check: Check, limits: Limits
) -> tuple[Entries, Found]:
    """The same once more, slowly: every problem with its line and column."""
    pa = load("pyarrow")
    syntax = Found()
    texts, lines, places = _take(file, names, wanted, syntax, limits)
    columns: dict[str, Any] = {}
    numbers = Found()
    entries = Entries(columns, len(lines), file.form, lines, places)
    for name, way in wanted.items():
        if way == NUMBER:
            columns[name] = _numbers(texts[name], name, entries, numbers)
        else:
            columns[name] = normal_texts(pa.chunked_array([pa.array(texts[name], pa.string())]))
    found = syntax.join(numbers)
    return entries, found if found and not len(lines) else found.join(_look(entries, check, limits))


def _take(
    file: File, names: Sequence[str], wanted: Mapping[str, str], found: Found, limits: Limits
) -> tuple[dict[str, list[str]], Sequence[int], Mapping[str, Sequence[int]]]:
    """The fields that are wanted of all rows that have as many as the header, and where they stand."""
    at = {name: names.index(name) for name in wanted}
    texts: dict[str, list[str]] = {name: [] for name in wanted}
    lines, places = array("q"), {name: array("q") for name in wanted}
    records = tokenize(file.content(), file.separator, found)
    width = len(next(records, ((),))[0])
    for fields, starts, columns in records:
        if len(fields) != width:
            found.note(
                "ragged_row", starts[0], 1, count=f"{len(fields)} field{'s' * (len(fields) != 1)}", expected=width
            )
            continue
        lines.append(starts[0])
        for name, k in at.items():
            text = fields[k]
            if not text.isascii():
                text = text.encode("utf-8", "replace").decode()  # its odd bytes are noted
            texts[name].append(text)
            places[name].append(columns[k])
    return texts, lines, places


def _numbers(texts: Sequence[str | None], name: str, entries: Entries, found: Found) -> Any:
    """Texts as floats. One that is none or no number is noted and stands as 0, so that it is not noted twice."""
    out = np.zeros(len(texts))
    for row, held in enumerate(texts):
        text = (held or "").strip(" \t")
        if not text:
            found.add(problem("empty_field", entries.place(row, name), column=repr(name)))
            continue
        plain = text.isascii() and text.isprintable() and "_" not in text  # Python reads more than that
        try:
            out[row] = float(text) if plain else float("no")
        except ValueError:
            found.add(problem("not_a_number", entries.place(row, name), value=repr(text[:40])))
    return out


def _read_frame(source: Any, choose: Choose, check: Check, limits: Limits, name: str) -> tuple[Entries, Found]:
    """The entries of a data frame: anything that hands over Arrow data, or a mapping of columns."""
    pa, compute = load("pyarrow"), load("pyarrow.compute")
    try:
        table = pa.table({key: pa.array(held) for key, held in source.items()} if isinstance(source, dict) else source)
    except (TypeError, ValueError, pa.ArrowException) as error:
        raise ParameterError(
            f"{name} must be a path, an open file or a data frame; it was of type {type(source).__name__}: {error}"
        ) from error
    names = [normal_name(str(each)) for each in table.column_names]
    wanted = choose(names)
    found = _check_header(names, wanted, limits, "table")
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
            if way == NUMBER and pa.types.is_string(held.type):
                columns[key] = _numbers(held.to_pylist(), key, Entries({}, table.num_rows, "table"), found)
                continue
            found.note("unreadable", what=f"the column {key!r} cannot be read as {way}: {str(error).splitlines()[0]}")
            continue
        columns[key] = _column(held, way, limits)
    entries = Entries(columns, table.num_rows, "table")
    return entries, found.join(_look(entries, check, limits)) if len(columns) == len(wanted) else found
