"""A corpus of malformed submissions, made by rule: cut, changed, packed, encoded and forged."""

from __future__ import annotations

import bz2
import gzip
import io
from collections.abc import Iterator

import pyarrow as pa
import pyarrow.parquet as pq

GOOD = 'row_id,label,note\na,cat,"one, two"\nb,dög,"say ""hi"""\nc,dog,\nd,cat,"two\nlines"\n'.encode()
HOSTILE = (b"\0", b"\xff", b"\xc3", b'"', b"\r", b"\n", b",", b"\xef\xbb\xbf", b"\x1a", b"\xed\xa0\x80", b'""', b"\r\n")


def corpus() -> Iterator[tuple[str, bytes]]:
    """Every file under a name of its own. Some of the changed ones are still well formed."""
    yield from _whole()
    for end in range(len(GOOD)):
        yield f"cut at {end}", GOOD[:end]
    for at in range(0, len(GOOD), 2):
        for mark in HOSTILE:
            yield f"{mark!r} at {at}", GOOD[:at] + mark + GOOD[at + 1 :]
            yield f"{mark!r} before {at}", GOOD[:at] + mark + GOOD[at:]
    yield from _packed()
    yield from _parquet()


def _whole() -> Iterator[tuple[str, bytes]]:
    header = b"row_id,label\n"
    yield from {
        "nothing": b"",
        "a byte order mark": b"\xef\xbb\xbf",
        "a blank line": b"\n",
        "blank lines": b"\r\n" * 1000,
        "blanks": b" " * 1000,
        "a header": header,
        "a header without an end": header.strip(),
        "a header and blank lines": header + b"\n" * 100,
        "one quote": b'"',
        "quotes": b'"' * 1001,
        "separators": b"," * 1000,
        "NUL bytes": b"\0" * 1000,
        "bytes of no text": bytes(range(128, 256)) * 10,
        "UTF-16": GOOD.decode().encode("utf-16"),
        "UTF-16 without a mark": GOOD.decode().encode("utf-16-le"),
        "UTF-32": GOOD.decode().encode("utf-32"),
        "Latin-1": GOOD.decode().encode("latin-1"),
        "half a sign at the end": header + "a,dö".encode()[:-1],
        "halves of signs": header + b"a,\xed\xa0\x80\xed\xb0\x80\n",
        "an overlong sign": header + b"a,\xc0\xaf\n",
        "no separator": b"row_id label\na cat\n",
        "another separator": b"row_id|label\na|cat\n",
        "two separators": b"row_id,label\na;cat\n",
        "a header of many lines": b'"row\n_id","la\nbel"\na,cat\n',
        "an endless header": b"x" * (2 << 20),
        "a long field": header + b"a," + b"x" * 200_000 + b"\n",
        "many columns": b",".join(b"c%d" % k for k in range(20_000)) + b"\n",
        "empty names": b",,\na,b,c\n",
        "a name twice": b"row_id,row_id,label\na,b,c\n",
        "names in capitals": b"ROW_ID,LABEL\na,cat\n",
        "an id twice": header + b"a,cat\n" * 2,
        "an id a thousand times": header + b"a,cat\n" * 1000,
        "ids that only trimming makes equal": header + b"a,cat\n a,dog\n",
        "ids that only normal form makes equal": header + "é,cat\ne\u0301,dog\n".encode(),
        "no ids": header + b",cat\n" * 3,
        "no labels": header + b"a,\nb,\n",
        "unknown ids": header + b"x,cat\ny,dog\n",
        "short rows": header + b"a\n" * 100,
        "long rows": header + b"a,cat,x,y\n" * 100,
        "open quotes in the first row": header + b'"a,cat\nb,dog\n',
        "open quotes in the last row": header + b'a,cat\nb,"dog',
        "open quotes in the header": b'"row_id,label\na,cat\n',
        "text before quotes": header + b'a,x"cat"\n',
        "text behind quotes": header + b'a,"cat"x\n',
        "a blank before quotes": header + b'a, "cat"\n',
        "a backslash before a quote": header + b'a,"c\\"at"\n',
        "single quotes": header + b"a,'c,at'\n",
        "a page": b"<!DOCTYPE html><html><body>404</body></html>",
        "JSON": b'[{"row_id": "a", "label": "cat"}]',
        "a zip": b"PK\x03\x04" + bytes(100),
        "an old spreadsheet": b"\xd0\xcf\x11\xe0" + bytes(100),
        "an Arrow file": b"ARROW1" + bytes(100),
        "a database": b"SQLite format 3\0" + bytes(100),
        "a picture": b"\x89PNG\r\n\x1a\n" + bytes(100),
        "PDF": b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n",
        "a start of Parquet": b"PAR1",
        "both ends of Parquet": b"PAR1PAR1",
        "a footer of Parquet that is too long": b"PAR1" + b"\xff" * 4 + b"PAR1",
        "an encrypted file": b"PARE" + bytes(50),
        "ends of lines of all kinds": header + b"a,cat\rb\r\n\n\rc,d,e\n",
        "a sign of the end of files": header + b"a,cat\n\x1a",
        "codes of a terminal": header + b"a,\x1b[31mcat\x1b[0m\na,x\n",
    }.items()


def _packed() -> Iterator[tuple[str, bytes]]:
    whole = gzip.compress(GOOD, mtime=0)
    for end in range(2, len(whole)):
        yield f"gzip cut at {end}", whole[:end]
    for at in range(2, len(whole), 3):
        yield f"gzip changed at {at}", whole[:at] + bytes([whole[at] ^ 0x55]) + whole[at + 1 :]
    yield "gzip and more", whole + b"more"
    yield "gzip in gzip", gzip.compress(whole)
    yield "gzip of nothing", gzip.compress(b"")
    yield "gzip of a picture", gzip.compress(b"\x89PNG\r\n\x1a\n")
    yield "bz2 cut", bz2.compress(GOOD)[:-5]
    yield "zstd of no more than its mark", b"\x28\xb5\x2f\xfd"


def _parquet() -> Iterator[tuple[str, bytes]]:
    out = io.BytesIO()
    pq.write_table(pa.table({"row_id": ["a", "b", "c"], "label": ["cat", "dog", "dog"]}), out)
    whole = out.getvalue()
    for end in range(4, len(whole), 25):
        yield f"Parquet cut at {end}", whole[:end]
    for at in range(4, len(whole), 7):
        yield f"Parquet changed at {at}", whole[:at] + bytes([whole[at] ^ 0xFF]) + whole[at + 1 :]
    for name, table in {
        "lists": pa.table({"row_id": [["a"]], "label": ["x"]}),
        "no rows": pa.table({"row_id": pa.array([], pa.string()), "label": pa.array([], pa.string())}),
        "no columns": pa.table({}),
        "nothing but nulls": pa.table({"row_id": pa.nulls(3), "label": pa.nulls(3)}),
        "bytes": pa.table({"row_id": [b"\xff"], "label": ["x"]}),
        "an id twice": pa.table({"row_id": [1, 1], "label": ["x", "y"]}),
    }.items():
        out = io.BytesIO()
        pq.write_table(table, out)
        yield f"Parquet of {name}", out.getvalue()
