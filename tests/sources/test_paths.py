"""Which files a path, a pattern or a folder stands for."""

from __future__ import annotations

from pathlib import Path

import pytest

from tallymark import evaluate_table
from tallymark.errors import FileError
from tallymark.sources.paths import find_files, find_matching


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
    with pytest.raises(
        FileError, match=r"the folder .* contains no CSV, Parquet or Arrow file; their names end in \.parquet"
    ):
        find_files(none)


def test_patterns_skip_hidden_files_unless_they_name_them(tmp_path):
    """Marks and temporary files that engines leave beside their data are not rows."""
    (tmp_path / "_temporary").mkdir()
    for name in ("a.csv", "_SUCCESS", "_metadata", ".a.csv.crc", "_temporary/b.csv"):
        (tmp_path / name).write_text("")
    assert find_files(str(tmp_path / "*")) == [str(tmp_path / "a.csv")]
    assert find_files(str(tmp_path / "**" / "*.csv")) == [str(tmp_path / "a.csv")]
    assert find_files(str(tmp_path / "_temp*" / "*.csv")) == [str(tmp_path / "_temporary" / "b.csv")]
    assert find_files(tmp_path / "_SUCCESS") == [str(tmp_path / "_SUCCESS")]
    with pytest.raises(FileError, match=r"no file matches .* except hidden ones"):
        find_files(str(tmp_path / "?SUCCESS"))


@pytest.mark.parametrize(
    ("log", "told"),
    [
        ("_delta_log/00000000000000000000.json", "is a Delta table, .* Pass deltalake.DeltaTable"),
        ("metadata/00001-c321.metadata.json", r"is an Iceberg table, .* Pass table.scan\(\).to_arrow\(\)"),
        ("metadata/v2.metadata.json.gz", "is an Iceberg table"),
        (".hoodie/hoodie.properties", r"is a Hudi table, .* spark.read.format\('hudi'\)"),
    ],
)
def test_files_of_table_formats_are_refused(tmp_path, monkeypatch, log, told):
    """However they are reached: by the table, a folder above or below, a pattern, a list, a link or a name."""
    table = tmp_path / "lake" / "rows"
    (table / log).parent.mkdir(parents=True)
    (table / log).write_text("{}")
    with pytest.raises(FileError, match=told):
        find_files(table)
    (table / "day=1").mkdir()
    file = table / "day=1" / "0.parquet"
    file.write_text("")
    plain = tmp_path / "plain.csv"
    plain.write_text("")
    (tmp_path / "link").symlink_to(table)
    (tmp_path / "link.parquet").symlink_to(file)
    sources = [table, tmp_path, table / "day=1", str(table / "*" / "*.parquet"), [plain, file], file]
    for source in (*sources, tmp_path / "link", tmp_path / "link.parquet"):
        with pytest.raises(FileError, match=told):
            find_files(source)
    assert find_files(plain) == [str(plain)]
    monkeypatch.chdir(table)
    with pytest.raises(FileError, match=rf"^`\.` {told}"):
        find_files("day=1")
    assert find_files("-") == ["-"]


@pytest.mark.parametrize(
    ("address", "told"),
    [
        ("s3://bucket/rows.parquet", r"for example pyarrow.dataset.dataset\('s3://bucket/rows.parquet'\)"),
        (Path("gs://bucket/rows.parquet"), r"pyarrow.dataset.dataset\('gs://bucket/rows.parquet'\)"),
        ("hdfs://host/rows/*.parquet", "must be a local file; got an address"),
        ("https://example.org/rows.csv", r"pandas.read_csv\('https://example.org/rows.csv'\)"),
        ("file:///rows.csv", "must be a path: leave out file://"),
    ],
)
def test_addresses_are_refused_with_a_way_to_open_them(address, told):
    """Instead of a word about a file that is not there."""
    with pytest.raises(FileError, match=told):
        evaluate_table(address, truth="y", prediction="p", metrics=["mae"])


def test_a_local_folder_may_look_like_an_address(tmp_path, monkeypatch):
    """A file that is there is read."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s3:" / "bucket").mkdir(parents=True)
    (tmp_path / "s3:" / "bucket" / "rows.csv").write_text("y,p\n1,2\n")
    assert evaluate_table("s3://bucket/rows.csv", truth="y", prediction="p", metrics=["mae"]).n == 1
