"""Which files a path, a pattern or a folder stands for."""

from __future__ import annotations

import pytest

from tallymark.engines.paths import find_files, find_matching
from tallymark.errors import FileError


def test_files_of_folders_and_patterns(tmp_path):
    """By their names, deep in folders, each once; not those that are hidden or of another form."""
    (tmp_path / "a" / "_temporary").mkdir(parents=True)
    (tmp_path / "a" / ".hidden").mkdir()
    for name in ("a/2.csv", "a/1.parquet", "b.tsv.gz", "a/_temporary/x.csv", "a/.hidden/x.csv", "a/_x.csv", "read.me"):
        (tmp_path / name).write_text("")
    expected = [str(tmp_path / name) for name in ("a/1.parquet", "a/2.csv", "b.tsv.gz")]
    assert find_files(tmp_path) == expected
    assert find_files([tmp_path / "a", tmp_path]) == expected
    assert find_files(str(tmp_path / "**" / "[12].*")) == expected[:2]
    assert find_files([expected[2], expected[0]]) == [expected[2], expected[0]]
    none = tmp_path / "none"
    none.mkdir()
    odd = tmp_path / "[1].csv"
    odd.write_text("")
    assert find_matching(str(odd)) == [str(odd)]
    with pytest.raises(FileError, match=r"the folder .* has no file of CSV, Parquet or Arrow; they end in \.parquet"):
        find_files(none)
