"""The reader of files: numbers as they were written, faults with their place, the same rows from CSV and Parquet."""

from __future__ import annotations

import csv
import gzip
import io
import os
import threading

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tallymark as tm
from tallymark.engines import csv_text
from tallymark.engines.columns import to_numpy
from tallymark.engines.files import File, read_columns
from tallymark.errors import FileError, MissingPackageError, ParameterError


@pytest.fixture
def file(tmp_path):
    """Writes bytes or text to a file and gives its path."""

    def write(content, name="rows.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def column(path, name="y", way="auto", **more):
    return read_columns(path, {name: way}, **more)[name]


def items(found):
    """The values as Python objects."""
    return found.values.tolist() if isinstance(found.values, np.ndarray) else found.values.to_pylist()


# What a column is


@pytest.mark.parametrize(
    ("fields", "kind", "values"),
    [
        (["1", "0", "-5"], "integer", [1, 0, -5]),
        (["+1", "-1", " 1 "], "integer", [1, -1, 1]),
        (["9007199254740993", "1"], "integer", [9007199254740993, 1]),
        (["18446744073709551615", "-1"], "integer", [18446744073709551615, -1]),
        (["99999999999999999999999", "7"], "integer", [99999999999999999999999, 7]),
        (["1", "0.5"], "real", [1.0, 0.5]),
        (["1e3", ".5", "2."], "real", [1000.0, 0.5, 2.0]),
        (["0.1", "99999999999999999999999"], "real", [0.1, 1e23]),
        (["0.30000000000000004", "5e-324"], "real", [0.1 + 0.2, 5e-324]),
        (["true", "False", "TRUE"], "boolean", [True, False, True]),
        (["true", "1"], "text", ["true", "1"]),
        (["1", "true"], "text", ["1", "true"]),
        (["cat", "NA"], "text", ["cat", "NA"]),
        (["1", "NA"], "text", ["1", "NA"]),
        (["007", "7"], "text", ["007", "7"]),
        (["0x1F", "1"], "text", ["0x1F", "1"]),
        (["1_000", "2"], "text", ["1_000", "2"]),
        (["null", "None"], "text", ["null", "None"]),
        ([" a", "a "], "text", [" a", "a "]),
        (["2020-01-01", "2020-01-02"], "text", ["2020-01-01", "2020-01-02"]),
        (["٣", "1"], "text", ["٣", "1"]),
    ],
)
def test_a_column_is_what_all_its_fields_are(file, fields, kind, values):
    """Numbers where every field is one, as exactly as they were written; else texts, as they were written."""
    found = column(file("y,x\n" + "".join(f"{field},1\n" for field in fields)))
    assert found.type == kind
    assert items(found) == values


def test_an_empty_field_is_missing(file):
    """In every kind of column, quoted or not; whole numbers beside it stay whole."""
    path = file('i,f,b,t\n9007199254740993,0.5,true,a\n,,,\n"","","",""\n')
    found = read_columns(path, ["i", "f", "b", "t"])
    assert items(found["i"]) == [9007199254740993, None, None]
    assert np.isnan(found["f"].values).tolist() == [False, True, True]
    assert items(found["b"]) == [True, None, None]
    assert items(found["t"]) == ["a", None, None]


def test_what_looks_like_numbers_for_long_is_read_again_as_text(file, monkeypatch):
    """The last field decides, and no field is changed by the way there."""
    monkeypatch.setattr(csv_text, "BLOCK", 1 << 12)
    rows = [f"{k}.50" for k in range(5000)]
    found = column(file("\n".join(["y,x", *(f"{row},1" for row in [*rows, "none"])])))
    assert found.type == "text"
    assert items(found) == [*rows, "none"]
    assert found.odd == (5000, "none")
    assert column(file("\n".join(["y,x", *["true,1"] * 5000, "2,1"]))).type == "text"


def test_a_column_can_be_asked_for_as_numbers_or_as_text(file):
    """Numbers with leading zeros are then numbers; numbers as text keep every character."""
    path = file("y,x\n007,1.50\n8,\n")
    assert items(column(path, way="number")) == [7, 8]
    assert items(column(path, "x", way="text")) == ["1.50", None]
    with pytest.raises(FileError, match=r"column 'y' must hold numbers; row 1 \(line 4\) is 'x'"):
        column(file('y,x\n1,"a\nb"\nx,2\n'), way="number")
    with pytest.raises(FileError, match=r"row 0 \(line 2\) is 'true'"):
        column(file("y,x\ntrue,1\n"), way="number")
    with pytest.raises(FileError, match=r"row 0 .* is '0x1F'"):
        column(file("y,x\n0x1F,1\n"), way="number")
    with pytest.raises(ParameterError, match="must be read as one of auto, number, text; it was 'date'"):
        column(path, way="date")


# The form of CSV


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("last", ["", "END"])
def test_line_ends_and_byte_order_marks(file, end, mark, last):
    """All usual ones, with and without an end of the last line; blank lines are no rows."""
    lines = ["", "y,x", "1,2", "", "3,4"]
    found = read_columns(file(mark + end.join(lines) + (end if last else "")), ["y", "x"])
    assert [items(each) for each in found.values()] == [[1, 3], [2, 4]]


@pytest.mark.parametrize(("mark", "told"), [(";", ";"), ("\t", "tab"), ("\t", "\\t"), ("|", "|"), (";", "semicolon")])
def test_separators(file, mark, told):
    """Any one character, by itself or by its name."""
    assert items(column(file(f"y{mark}x\n1{mark}2\n"), separator=told)) == [1]


def test_a_name_that_ends_in_tsv_has_tabs(file):
    """And one that is packed has them too."""
    assert items(column(file("y\tx\n1\t2\n", "rows.tsv"))) == [1]
    assert items(column(file(gzip.compress(b"y\tx\n1\t2\n"), "rows.tsv.gz"))) == [1]
    for bad in ("", "ab", '"', "\n", "é"):
        with pytest.raises(ParameterError, match="`separator` must be one character"):
            column(file("y\n1\n"), separator=bad)


def test_names_of_columns(file):
    """With blanks, commas and quotes in them; blanks around them need not be typed."""
    path = file('"the, truth", p 1 ,"a ""b""", é\n1,2,3,4\n')
    assert items(column(path, "the, truth")) == [1]
    assert items(column(path, "p 1")) == [2]
    assert items(column(path, 'a "b"')) == [3]
    assert items(column(path, "é")) == [4]


def test_columns_that_nobody_asked_for_may_be_anything(file):
    """Even have the same name twice."""
    assert items(column(file("a,y,a,\nx,1,2,\n"))) == [1]


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "is empty"),
        (b"\xef\xbb\xbf", "is empty"),
        (b"\n\r\n\n", "is empty"),
        (b"x,z\n1,2\n", "has no column 'y'; it has 'x', 'z'"),
        (b"yy,z\n1,2\n", "has no column 'y'; did you mean 'yy'?"),
        (b"y;z\n1;2\n", "has no column 'y'; its header is 'y;z': pass the `separator` ';'"),
        (b"y\tz\n1\t2\n", "has no column 'y'; its header is 'y\\tz': pass the `separator` tab"),
        (b"y,z,y\n1,2,3\n", "must have the column 'y' once; it has it 2 times"),
        (b"y,z\n1,2\n\n3\n", "must have 2 fields in each row, as in its header; row 1 (line 4) has 1"),
        (b'y,z\n"1\n2",2\n3,4,5\n', "row 1 (line 4) has 3"),
        (b'y,z\n1,"2\n3,4\n', "ends inside quotes; those of line 2 are never closed"),
        (b'y,"z\n1,2\n', "ends inside quotes; those of line 1 are never closed"),
        (b'y,z\n1,"a\n2,b\n3,"c\n', "has a quote out of place in line 4"),
        (b'y,z\n1,5" pipe\n', "has a quote out of place in line 2"),
        (b'y,z\n1,2\n3,"4"x\n', "has a quote out of place in line 3"),
        (b"y,z\n1,2\n3,\xe9\n", "must be UTF-8; line 3 holds the byte 0xE9"),
        (b"y,z\n1,\xc3", "must be UTF-8; line 2 holds the byte 0xC3"),
        (b"y\xe9,z\n1,2\n", "must be UTF-8; line 1 holds the byte 0xE9"),
        ("y,z\n1,2\n".encode("utf-16"), "must be UTF-8 text; it is UTF-16"),
        (b"y,z\n1,2\n3,\0\n", "must be text; line 3 holds a NUL byte"),
        (b"PK\x03\x04rest", "must be CSV or Parquet; it is a zip archive or a spreadsheet"),
        (b"PARE" + b"\0" * 40, "must be CSV or Parquet; it is an encrypted Parquet file"),
        (b"PAR1" + b"\0" * 40 + b"PAR1", "could not be read as Parquet; it may be damaged"),
        (b"PAR1", "could not be read as Parquet; it may be damaged"),
        (gzip.compress(b"y,z\n" + b"1,2\n" * 999)[:-9], "could not be read: "),
        (b"\x1f\x8bnothing of the kind", "could not be read: "),
        (b"y" * (2 << 20), "its first line is longer than 1 MB"),
        (b"y," + b"x" * (1 << 18) + b"\n1,2\n", "must begin with the names of its columns; they cannot be read: field"),
    ],
)
def test_a_fault_has_a_name_and_a_place(file, content, told):
    """One sentence, with the file, and the line where there is one."""
    path = file(content)
    with pytest.raises(FileError) as raised:
        column(path)
    assert str(raised.value).startswith(f"`{path}` ")
    assert told in str(raised.value)


def test_a_quote_at_the_edge_of_a_block(file, monkeypatch):
    """What stands on both sides of it is seen, wherever the blocks are cut."""
    content = b'y,x\n1,"a ""b"" c"\n2,"d"\n"3",""\n'
    for size in range(1, len(content) + 1):
        text = csv_text.CheckedText(io.BytesIO(content), "it", ",")
        assert b"".join(iter(lambda held=text, n=size: held.read(n), b"")) == content
        bad = csv_text.CheckedText(io.BytesIO(content.replace(b'"d"', b'"d"e')), "it", ",")
        with pytest.raises(FileError, match="out of place in line 3"):
            list(iter(lambda held=bad, n=size: held.read(n), b""))


def test_letters_at_the_edge_of_a_block():
    """A letter of several bytes may be cut; one that is wrong may not."""
    content = "y,x\né,€\n𝄞,ü\n".encode()
    for size in range(1, 12):
        text = csv_text.CheckedText(io.BytesIO(content), "it", ",")
        assert b"".join(iter(lambda held=text, n=size: held.read(n), b"")) == content
        bad = csv_text.CheckedText(io.BytesIO(content.replace("ü".encode(), b"\xc3x")), "it", ",")
        with pytest.raises(FileError, match="line 3 holds the byte 0xC3"):
            list(iter(lambda held=bad, n=size: held.read(n), b""))


TEXTS = st.text(st.characters(exclude_categories=["Cs", "Cc"]) | st.sampled_from('",;\n\r\t '), max_size=8)


@given(st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=8), st.sampled_from(",;\t"))
def test_texts_survive_the_way_through_a_file(tmp_path_factory, rows, separator):
    """Whatever they hold: quotes, separators, ends of lines; what is empty is missing."""
    out = io.StringIO()
    writer = csv.writer(out, delimiter=separator, quoting=csv.QUOTE_ALL)
    writer.writerow(["a", "b"])
    writer.writerows(rows)
    path = tmp_path_factory.mktemp("trip") / "rows.csv"
    path.write_bytes(out.getvalue().encode())
    found = read_columns(path, {"a": "text", "b": "text"}, separator=separator)
    assert list(zip(*(items(each) for each in found.values()), strict=True)) == [
        (a or None, b or None) for a, b in rows
    ]


@given(
    st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1),
    st.lists(st.integers(-(10**25), 10**25), min_size=1),
)
def test_numbers_survive_the_way_through_a_file(tmp_path_factory, floats, wholes):
    """To the last bit, and whole ones of any size to the last digit."""
    path = tmp_path_factory.mktemp("trip") / "rows.csv"
    length = min(len(floats), len(wholes))
    path.write_text("f,i\n" + "".join(f"{f!r},{i}\n" for f, i in zip(floats, wholes, strict=False)))
    found = read_columns(path, {"f": "number", "i": "auto"})
    assert items(found["f"]) == floats[:length]
    assert items(found["i"]) == wholes[:length]


# Parquet, pipes and places


def write_parquet(path, **columns):
    pq.write_table(pa.table(columns), path, row_group_size=2)
    return path


def test_parquet_has_types_of_its_own(tmp_path):
    """They are taken as they are, with the same values for what is missing."""
    path = write_parquet(
        tmp_path / "rows.parquet",
        i=pa.array([2**60 + 1, None, 3]),
        u=pa.array([2**64 - 1, 0, 1], pa.uint64()),
        f=pa.array([0.5, None, 1.5], pa.float32()),
        b=pa.array([True, False, True]),
        t=pa.array(["a", "", None]),
        n=pa.array([None, None, None]),
        d=pa.array(["a", "b", "a"]).dictionary_encode(),
        m=pa.array([1, 2, 3], pa.decimal128(20, 0)),
        q=pa.array(["1", "2", "3"]),
        when=pa.array([0, 1, 2], pa.date32()),
    )
    found = read_columns(path, [*"iufbtndmq", "when"])
    assert {name: each.type for name, each in found.items()} == {
        **dict.fromkeys("ium", "integer"),
        **dict.fromkeys("fn", "real"),
        **dict.fromkeys("tdq", "text"),
        "b": "boolean",
        "when": "text",
    }
    assert items(found["i"]) == [2**60 + 1, None, 3]
    assert items(found["u"]) == [2**64 - 1, 0, 1]
    assert items(found["t"]) == ["a", None, None]
    assert items(found["d"]) == ["a", "b", "a"]
    assert items(found["when"]) == ["1970-01-01", "1970-01-02", "1970-01-03"]
    assert items(column(path, "q", "number")) == [1, 2, 3]
    assert items(column(path, "i", "text")) == [str(2**60 + 1), None, "3"]


def test_parquet_that_cannot_be_read(tmp_path, file):
    """Lists, bytes, a column that is not there, and a name that lies."""
    path = write_parquet(tmp_path / "rows.parquet", y=pa.array([[1], [2]]), b=pa.array([b"\xff", b"a"]))
    with pytest.raises(FileError, match="column 'y' must hold numbers or texts; it held values of type list"):
        column(path)
    with pytest.raises(FileError, match="column 'b' must hold numbers or texts; it held bytes"):
        column(path, "b")
    with pytest.raises(FileError, match="has no column 'z'; it has 'y', 'b'"):
        column(path, "z")
    with pytest.raises(FileError, match="must be a Parquet file, as its name says"):
        column(file("y\n1\n", "other.parquet"))
    whole = path.read_bytes()
    for cut in range(1, len(whole), 97):
        (tmp_path / "cut.parquet").write_bytes(whole[:cut])
        with pytest.raises(FileError):
            column(tmp_path / "cut.parquet", "b")


def test_parquet_is_bounded_before_it_is_read(tmp_path):
    """A small file that would unfold to much is refused by its number of values; CSV, as soon as there are too many."""
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table({"y": np.zeros(1_000_000)}), path)
    assert path.stat().st_size < 20_000
    with pytest.raises(FileError, match=r"must have at most 999,999 values .*; it has 1,000,000"):
        column(path, most_cells=999_999)
    (tmp_path / "rows.csv").write_text("y,x\n" + "1,2\n" * 10)
    with pytest.raises(FileError, match="must have at most 9 values"):
        column(tmp_path / "rows.csv", most_cells=9)


def test_texts_that_repeat_are_held_once(tmp_path):
    """A small file of long texts cannot unfold, not even where some are empty, which are missing."""
    places = pa.array(np.arange(70_000) % 3, pa.int32())
    texts = pa.DictionaryArray.from_arrays(places, pa.array(["", "a" * 2_000, "b"]))
    pq.write_table(pa.table({"y": texts}), tmp_path / "rows.parquet", store_schema=False)
    found = column(tmp_path / "rows.parquet").values
    assert found.nbytes < 1 << 20
    assert found.null_count == 23_334
    assert found[1].as_py() == "a" * 2_000
    assert tm.accuracy(found[1:3], found[1:3]) == 1.0


def test_parquet_whose_texts_are_none(tmp_path):
    """Bytes that are no UTF-8, and places in a dictionary that it does not have, are damage."""
    written = pa.array([b"\xff\xfe", b"a"])
    path = write_parquet(tmp_path / "rows.parquet", y=pa.Array.from_buffers(pa.string(), 2, written.buffers()))
    with pytest.raises(FileError, match=r"could not be read as Parquet; it may be damaged: .*UTF8"):
        column(path)


@pytest.mark.parametrize("labels", [True, False])
def test_csv_and_parquet_of_the_same_rows_give_the_same_report(tmp_path, labels):
    """To the last bit, with slices and weights."""
    rng = np.random.default_rng(5)
    n = 500
    truth = np.array(["no", "yes"])[rng.integers(0, 2, n)] if labels else rng.normal(size=n)
    table = pa.table(
        {
            "y": truth,
            "p": np.array(["no", "yes"])[rng.integers(0, 2, n)] if labels else rng.normal(size=n),
            "w": rng.random(n),
            "g": rng.integers(1, 4, n),
        }
    )
    import pyarrow.csv as pa_csv

    pa_csv.write_csv(table, tmp_path / "rows.csv")
    pq.write_table(table, tmp_path / "rows.parquet", row_group_size=100)
    reports = []
    for name in ("rows.csv", "rows.parquet"):
        held = {key: each.values for key, each in read_columns(tmp_path / name, ["y", "p", "w", "g"]).items()}
        reports.append(tm.evaluate(held["y"], held["p"], weights=held["w"], by={"g": held["g"]}).to_json())
    assert reports[0] == reports[1]


def test_packed_files(file):
    """By what is in them, whatever their name."""
    import bz2

    for packed in (gzip.compress(b"y\n1\n"), bz2.compress(b"y\n1\n"), pa.compress(b"y\n1\n", "zstd", asbytes=True)):
        assert items(column(file(packed, "rows"))) == [1]


def test_what_is_no_file(tmp_path, file):
    """A folder, nothing, something similar, something without permission, and a name that no file can have."""
    with pytest.raises(FileError, match=r"`.*` must be a file; it is a directory"):
        column(tmp_path)
    with pytest.raises(FileError, match=r"there is no file `.*absent`$"):
        column(tmp_path / "absent")
    file("y\n1\n", "deliveries.csv")
    with pytest.raises(FileError, match=r"there is no file `.*`; did you mean `.*deliveries.csv`\?"):
        column(tmp_path / "delivery.csv")
    with pytest.raises(FileError, match="could not be opened: "):
        column("a\0b")


def test_a_pipe_is_read_like_a_file(tmp_path):
    """Even though it can be read only once, and its types may need a second look."""
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=lambda: path.write_text("y,x\n" + "1,2\n" * 5 + "a,3\n"))
    writer.start()
    assert items(column(path)) == ["1"] * 5 + ["a"]
    writer.join()


def test_batches_are_the_rows_in_order(tmp_path, file, monkeypatch):
    """The same as all at once, from both forms; faults count rows from the beginning of the file."""
    monkeypatch.setattr(csv_text, "BLOCK", 1 << 12)
    numbers = np.arange(3000)
    path = file("y,x\n" + "".join(f"{k},a{k}\n" for k in numbers))
    write_parquet(tmp_path / "rows.parquet", y=pa.array(numbers), x=pa.array([f"a{k}" for k in numbers]))
    for each in (path, tmp_path / "rows.parquet"):
        with File(each) as opened:
            assert opened.names == ["y", "x"]
            batches = list(opened.batches({"x": "text", "y": "number"}))
        assert [item for batch in batches for item in items(batch["y"])] == numbers.tolist()
        assert [item for batch in batches for item in items(batch["x"])][-1] == "a2999"
    with File(path) as opened, pytest.raises(ParameterError, match="must be read as number or text; it was 'auto'"):
        next(opened.batches({"y": "auto"}))
    bad = file("y,x\n" + "1,2\n" * 3000 + "b,2\n")
    with File(bad) as opened, pytest.raises(FileError, match=r"row 3,000 \(line 3,002\) is 'b'"):
        list(opened.batches({"y": "number"}))


def test_a_header_without_rows(file):
    """No rows: the call that wants some says so."""
    for content in ("y,x\n", "y,x", "y,x\n\n\n"):
        path = file(content)
        assert len(column(path).values) == 0
        with File(path) as opened:
            assert list(opened.batches({"y": "number"})) == []


def test_progress_goes_from_nothing_to_all(tmp_path, file, monkeypatch):
    """Never back, and never beyond."""
    monkeypatch.setattr(csv_text, "BLOCK", 1 << 12)
    path = file("y,x\n" + "1,2\n" * 90_000)
    pq.write_table(pa.table({"y": range(300_000)}), tmp_path / "rows.parquet")
    for each in (path, tmp_path / "rows.parquet"):
        told = []
        column(each, progress=lambda done, size, seen=told: seen.append((done, size)))
        done = [first for first, _ in told]
        assert {size for _, size in told} == {each.stat().st_size}
        assert done == sorted(done)
        assert done[-1] == each.stat().st_size
        assert len(done) > 3


def test_without_arrow_it_says_what_to_install(file, monkeypatch):
    """And is an ImportError, too."""
    import importlib

    from tallymark.engines import packages

    def refuse(name):
        raise ImportError(name)

    packages.load.cache_clear()
    monkeypatch.setattr(importlib, "import_module", refuse)
    with pytest.raises(MissingPackageError, match=r'pip install "tallymark\[files\]"'):
        column(file("y\n1\n"))
    packages.load.cache_clear()


@pytest.mark.parametrize("kind", ["float64", "int64", "bool_", "float32", "uint64"])
def test_arrays_as_arrow_would_make_them(kind):
    """Of any part of an array, with and without missing values; pandas is not loaded for it."""
    dtype = getattr(pa, kind)()
    for values in ([1, 0, 1, 1, 0, 1, 1, 1, 0], [1, None, 1, 0, None, 1, 1, 1, None], []):
        if None in values and not pa.types.is_floating(dtype):
            continue
        for start in range(3):
            array = pa.array(values, pa.int64()).cast(dtype).slice(start)
            np.testing.assert_array_equal(to_numpy(array), array.to_numpy(zero_copy_only=False), strict=True)


def test_reading_does_not_load_pandas(tmp_path):
    """Which takes longer than all the rest."""
    import subprocess
    import sys

    (tmp_path / "rows.csv").write_text("y,p,t,b\n1,0.5,a,true\n2,,b,false\n")
    code = (
        "import sys; from tallymark.engines.files import read_columns;"
        "read_columns('rows.csv', ['y', 'p', 't', 'b']); print('pandas' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path)
    assert (done.stdout, done.stderr) == ("False\n", "")
