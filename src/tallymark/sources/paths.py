"""The files of a path, a pattern or a folder."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from tallymark.data.arguments import check_path
from tallymark.errors import FileError, ParameterError
from tallymark.sources.streams import check_local

_ENDINGS = (".parquet", ".pq", ".csv", ".tsv", ".tab", ".arrow", ".arrows", ".feather", ".ipc")
_PACKED = (".gz", ".bz2", ".zst")
_WILD = "*?["
_HIDDEN = ("_", ".")  # begin the names of marks and temporary files that engines leave beside their data
_TABLE_FORMATS = {
    "_delta_log": ("a Delta table", "deltalake.DeltaTable({path!r}).to_pyarrow_dataset()"),
    "metadata/*.metadata.json*": (
        "an Iceberg table",
        "table.scan().to_arrow(), with the table from a catalog of pyiceberg",
    ),
    ".hoodie": ("a Hudi table", "a Spark data frame: spark.read.format('hudi').load({path!r})"),
}


def find_files(source: Any) -> list[str]:
    """The files of a path, a pattern, a folder, or a list of them, in the order of their names."""
    items = source if isinstance(source, (list, tuple)) else [source]
    if not items:
        raise ParameterError(argument="source", expected="name at least one file", got="none")
    found = [path for item in items for path in _files_of(check_path(item, "source"))]
    unique = {os.path.realpath(path): path for path in reversed(found)}  # links may go in circles
    places = [place for real, path in unique.items() if path != "-" for place in (real, os.path.abspath(path))]
    _check_plain(map(os.path.dirname, places))
    return list(unique.values())[::-1]


def _files_of(path: str) -> list[str]:
    if os.path.isdir(path):
        _check_plain({os.path.abspath(path)})  # also where it has no files yet
        inside = sorted(str(each) for each in Path(path).rglob("*") if each.is_file() and _is_data(each, Path(path)))
        if not inside:
            raise FileError(
                f"the folder `{path}` contains no CSV, Parquet or Arrow file; their names end in {', '.join(_ENDINGS)}"
            )
        return inside
    named = [part for part in Path(path).parts if part.startswith(_HIDDEN)]
    matching = [each for each in find_matching(path) if each == path or not _is_hidden(Path(each), named)]
    if not matching:
        raise FileError(f"no file matches `{path}` except hidden ones, whose names begin with _ or a dot")
    return matching


def find_matching(path: str) -> list[str]:
    """The files that a pattern matches, in the order of their names; a path without wildcards is itself."""
    if path == "-" or os.path.exists(path) or not any(sign in path for sign in _WILD):
        return [path]  # if it is not there, the reader says so
    matching = sorted(each for each in glob.glob(path, recursive=True) if os.path.isfile(each))
    if not matching:
        check_local(path)
        raise FileError(f"no file matches `{path}`")
    return matching


def _is_data(path: Path, folder: Path) -> bool:
    """Whether a file holds rows, by its name."""
    name = path.name.lower()
    for ending in _PACKED:
        name = name.removesuffix(ending)
    return name.endswith(_ENDINGS) and not _is_hidden(path.relative_to(folder))


def _is_hidden(path: Path, named: Iterable[str] = ()) -> bool:
    """Whether a part of a path is hidden, and is not one of those `named` by a pattern."""
    hidden = [part for part in path.parts if part.startswith(_HIDDEN)]
    return not all(any(fnmatch(part, pattern) for pattern in named) for part in hidden)


def _check_plain(folders: Iterable[str]) -> None:
    """Reject folders in a table format, whose log says which files count."""
    around = {str(each) for folder in folders for each in (Path(folder), *Path(folder).parents)}
    for folder in sorted(around):
        for mark, (what, instead) in _TABLE_FORMATS.items():
            if glob.glob(os.path.join(glob.escape(folder), mark)):
                near = os.path.relpath(folder)
                shown = folder if near.startswith("..") else near
                raise FileError(
                    f"`{shown}` is {what}, whose folder also contains the files of deleted and replaced rows",
                    hint=f"Pass {instead.format(path=shown)}",
                )
