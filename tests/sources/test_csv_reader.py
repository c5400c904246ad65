"""The form of CSV: what is read, and what is refused, with its line."""

from __future__ import annotations

import csv
import gzip
import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallymark.errors import FileError, ParameterError
from tallymark.sources import files
from tallymark.sources.csv import reader
from tallymark.sources.csv.tokenizer import rows_of_width
from tallymark.sources.files import read_columns
from tallymark.sources.problems import ProblemList
from tests.sources.conftest import column, items


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("last", ["", "END"])
def test_line_ends_and_byte_order_marks(file, end, mark, last):
    """All usual ones, with and without an end of the last line; blank lines are no rows."""
    lines = ["", "y,x", "1,2", "", "3,4"]
    found = read_columns(file(mark + end.join(lines) + (end if last else "")), ["y", "x"])
    assert [items(each) for each in found.values()] == [[1, 3], [2, 4]]


def test_a_byte_order_mark_inside_a_file_is_a_sign_of_its_field(file, monkeypatch):
    """Also where it begins a row, or a block of them."""
    monkeypatch.setattr(reader, "BLOCK", 16)
    rows = [f"\ufeff{k}" for k in range(20)]
    assert items(column(file("y,x\n" + "".join(f"{row},1\n" for row in rows)), way="text")) == rows


@pytest.mark.parametrize(("mark", "told"), [(";", ";"), ("\t", "tab"), ("\t", "\\t"), ("|", "|"), (";", "semicolon")])
def test_any_one_character_may_separate_fields(file, mark, told):
    """Any one character, by itself or by its name."""
    assert items(column(file(f"y{mark}x\n1{mark}2\n"), separator=told)) == [1]


def test_a_name_that_ends_in_tsv_has_tabs(file):
    """And one that is packed has them too."""
    assert items(column(file("y\tx\n1\t2\n", "rows.tsv"))) == [1]
    assert items(column(file(gzip.compress(b"y\tx\n1\t2\n", mtime=0), "rows.tsv.gz"))) == [1]
    for bad in ("", "ab", '"', "\n", "é"):
        with pytest.raises(ParameterError, match="`separator` must be one character"):
            column(file("y\n1\n"), separator=bad)


def test_column_names_may_have_blanks_commas_and_quotes(file):
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
        (b"x,z\n1,2\n", "has no column 'y'. Its columns are 'x', 'z'"),
        (b"yy,z\n1,2\n", "has no column 'y'. Did you mean 'yy'? Its columns are 'yy', 'z'"),
        (b"y;z\n1;2\n", "has no column 'y'. Its header is 'y;z': pass ';' as `separator`"),
        (b"y\tz\n1\t2\n", "has no column 'y'. Its header is 'y\\tz': pass tab as `separator`"),
        (b"y,z,y\n1,2,3\n", "must have the column 'y' once; it appears 2 times"),
        (b"y,z\n1,2\n\n3\n", "is not valid CSV: line 4, column 1: the row has 1 field, the header has 2"),
        (b'y,z\n"1\n2",2\n3,4,5\n', "line 4, column 1: the row has 3 fields, the header has 2"),
        (b'y,z\n1,"2\n3,4\n', "line 2, column 3: unclosed quote"),
        (b'y,"z\n1,2\n', "line 1, column 3: unclosed quote"),
        (b'y,z\n1,"a\n2,b\n3,"c\n', "line 4, column 4: text after the closing quote"),
        (b'y,z\n1,5" pipe\n', "line 2, column 4: quote inside an unquoted field"),
        (b'y,z\n1,2\n3,"4"x\n', "line 3, column 6: text after the closing quote"),
        (b"y,z\n1,2\n3,\xe9\n", "line 3, column 3: byte 0xE9 is not valid UTF-8"),
        (b"y,z\n1,\xc3", "line 2, column 3: byte 0xC3 is not valid UTF-8"),
        (b"y\xe9,z\n1,2\n", "line 1, column 2: byte 0xE9 is not valid UTF-8"),
        ("y,z\n1,2\n".encode("utf-16"), "must be UTF-8 text; it is UTF-16"),
        (b"y,z\n1,2\n3,\0\n", "line 3, column 3: NUL byte"),
        (b"PK\x03\x04rest", "must be CSV or Parquet; it is a zip archive or a spreadsheet"),
        (b"PARE" + b"\0" * 40, "must be CSV or Parquet; it is an encrypted Parquet file"),
        (b"PAR1" + b"\0" * 40 + b"PAR1", "could not be read as Parquet; it may be damaged"),
        (b"PAR1", "could not be read as Parquet; it may be damaged"),
        (gzip.compress(b"y,z\n" + b"1,2\n" * 999, mtime=0)[:-9], "could not be read: "),
        (b"\x1f\x8bnothing of the kind", "could not be read: "),
        (b"y" * (2 << 20), "its first line is longer than 1 MB"),
    ],
)
def test_a_fault_has_a_name_and_a_place(file, content, told):
    """One sentence, with the file, and the line where there is one."""
    path = file(content)
    with pytest.raises(FileError) as raised:
        column(path)
    assert str(raised.value).startswith(f"`{path}` ")
    assert told in str(raised.value)


def test_all_faults_are_listed_at_once(file):
    """In the order of the file, with how many there are; of very many the first are shown, and reading stops."""
    path = file(b'y,z\n1\n2,\xe9\n3,a"b\n4,5\n6,"7"8\n')
    with pytest.raises(FileError) as raised:
        column(path)
    first, *others = str(raised.value).split("\n")
    assert first.startswith(f"`{path}` is not valid CSV: line 2, column 1: the row has 1 field, the header has 2. ")
    assert first.endswith(" (4 problems in all)")
    assert [each.strip().partition(": ")[0] for each in others] == [
        "line 3, column 3",
        "line 4, column 4",
        "line 6, column 6",
    ]
    with pytest.raises(FileError) as raised:
        column(file(b"y,z\n" + b"1\n" * 100_000))
    first, last = str(raised.value).split("\n")
    assert "at least 50 rows: the row has 1 field, the header has 2, first in line 2, column 1. " in first
    assert last.endswith("more; the rest was not checked")


def test_names_of_columns_may_be_long(file):
    """Up to the length of a header."""
    name = "x" * (1 << 18)
    assert items(column(file(f"y,{name}\n1,2\n"), name)) == [2]


def test_a_second_byte_order_mark_belongs_to_a_name(file):
    """The first is taken away, whoever reads the header."""
    assert items(column(file(b"\xef\xbb\xbf\xef\xbb\xbfy\n1\n"), "\ufeffy")) == [1]


def test_a_quote_at_the_edge_of_a_block(file, monkeypatch):
    """What stands on both sides of it is seen, wherever the blocks are cut."""
    content = b'y,x\n1,"a ""b"" c"\n2,"d"\n"3",""\n'
    for size in range(1, len(content) + 1):
        text = reader.CheckedText(io.BytesIO(content), "it", ",")
        assert b"".join(iter(lambda held=text, n=size: held.read(n), b"")) == content
        bad = reader.CheckedText(io.BytesIO(content.replace(b'"d"', b'"d"e')), "it", ",")
        with pytest.raises(reader.Malformed, match="out of place"):
            list(iter(lambda held=bad, n=size: held.read(n), b""))


def test_letters_at_the_edge_of_a_block():
    """A letter of several bytes may be cut; one that is wrong may not."""
    content = "y,x\né,€\n𝄞,ü\n".encode()
    for size in range(1, 12):
        text = reader.CheckedText(io.BytesIO(content), "it", ",")
        assert b"".join(iter(lambda held=text, n=size: held.read(n), b"")) == content
        bad = reader.CheckedText(io.BytesIO(content.replace("ü".encode(), b"\xc3x")), "it", ",")
        with pytest.raises(reader.Malformed, match="0xc3"):
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


PIECES = st.lists(st.sampled_from(["a", "1", ",", '"', "\n", "\r\n", " ", "é", '""', '",', '\n"']), max_size=25)


@given(PIECES, st.sampled_from([3, 7, 16, 1 << 20]))
def test_anything_is_refused_or_read_as_python_reads_it(tmp_path_factory, pieces, block):
    """Wherever the blocks are cut; nothing is made up or lost, and what is refused has a place."""
    text = "y,p\n" + "".join(pieces)
    path = tmp_path_factory.mktemp("any") / "rows.csv"
    path.write_bytes(text.encode())
    try:
        rows = [row for row in csv.reader(io.StringIO(text, newline=""), strict=True) if row][1:]
    except csv.Error:
        rows = None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reader, "BLOCK", block)
        try:
            found = read_columns(path, {"y": "text", "p": "text"})
        except FileError as error:
            told = str(error)
        else:
            told = ""
    if told:
        assert rows is None or '"' in text or any(len(row) != 2 for row in rows)
        assert re.search(r"is not valid CSV: (line |\d+ (rows|times): .* first in line )", told)
        return
    assert [items(each) for each in found.values()] == [[row[k] or None for row in rows] for k in (0, 1)]


BYTES = [b"a", b",", b'"', b"\n", b"\r\n", b"\r", b" ", b"\xc3\xa9", b"\xe9", b'""', b'",', b"\0", b"\xef\xbb\xbf"]


@given(st.lists(st.sampled_from(BYTES), max_size=20))
def test_the_fast_reader_refuses_what_the_tokenizer_finds_fault_with(pieces):
    """No fault is noticed that has no place, and none has a place that was not noticed."""
    content = b"y,p\n" + b"".join(pieces)
    found = ProblemList()
    for _ in rows_of_width(io.BytesIO(content), ",", found):
        continue
    try:
        read_columns(io.BytesIO(content), {"y": "text", "p": "text"})
    except FileError:
        refused = True
    else:
        refused = False
    assert refused == bool(found)


def test_an_unclosed_quote_is_refused_before_it_fills_the_memory(file, monkeypatch):
    """It is refused before it fills the memory, with the place of the quote that is to blame."""
    for module in (reader, files):
        monkeypatch.setattr(module, "LONGEST_ROW", 1 << 12)
    monkeypatch.setattr(reader, "BLOCK", 1 << 10)
    with pytest.raises(FileError, match="line 3, column 3: unclosed quote"):
        column(file(b'y,x\n1,2\n3,"' + b"a\n" * (1 << 16)))
    with pytest.raises(
        FileError, match=r"line 3, column 3: the field has [\d,]+ or more characters; the limit is 4,096"
    ):
        column(file(b'y,x\n1,2\n3,"' + b"a\n" * (1 << 16) + b'"\n'))
    with pytest.raises(FileError, match="is not valid CSV: a row has more than 0 MB"):
        column(file(b"y" + b",x" * (1 << 15) + b"\n1" + b',"a\nb"' * (1 << 15) + b"\n"))
