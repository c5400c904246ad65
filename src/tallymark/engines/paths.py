"""The files that a path, a pattern or a folder stands for."""

from __future__ import annotations

import glob
import os
from pathlib import Path
from typing import Any

from tallymark.errors import FileError, ParameterError

_ENDINGS = (".parquet", ".pq", ".csv", ".tsv", ".tab", ".arrow", ".feather", ".ipc")
_PACKED = (".gz", ".bz2", ".zst")
_WILD = "*?["


def find_files(source: Any) -> list[str]:
    """The files of a path, a pattern, a folder, or a list of them, in the order of their names."""
    items = source if isinstance(source, (list, tuple)) else [source]
    if not items:
        raise ParameterError("`source` must name at least one file; it was empty")
    found = [path for item in items for path in _files_of(os.fspath(item))]
    return list({os.path.realpath(path): path for path in reversed(found)}.values())[::-1]  # links may go in circles


def _files_of(path: str) -> list[str]:
    if os.path.isdir(path):
        inside = sorted(str(each) for each in Path(path).rglob("*") if each.is_file() and _is_data(each, Path(path)))
        if not inside:
            raise FileError(
                f"the folder `{path}` has no file of CSV, Parquet or Arrow; they end in {', '.join(_ENDINGS)}"
            )
        return inside
    return find_matching(path)


def find_matching(path: str) -> list[str]:
    """The files that a pattern matches, in the order of their names; a path without wildcards is itself."""
    if path == "-" or os.path.exists(path) or not any(sign in path for sign in _WILD):
        return [path]  # if it is not there, the reader says so
    matching = sorted(each for each in glob.glob(path, recursive=True) if os.path.isfile(each))
    if not matching:
        raise FileError(f"no file matches `{path}`")
    return matching


def _is_data(path: Path, folder: Path) -> bool:
    """Whether a file holds rows by its name; marks that engines leave beside them begin with _ or a dot."""
    name = path.name.lower()
    for ending in _PACKED:
        name = name.removesuffix(ending)
    hidden = any(part.startswith(("_", ".")) for part in path.relative_to(folder).parts)
    return name.endswith(_ENDINGS) and not hidden
