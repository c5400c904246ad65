"""Ids as codes, against a twin of five lines; matching in any order."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import tallymark as tm
from tallymark._core import TextCodes, are_plain
from tallymark.submissions.match import code_ids, find_duplicates, match


def twin(*columns):
    """The same with a dict."""
    seen, codes = {}, []
    for text in (text for column in columns for text in column):
        codes.append(-1 if text is None else seen.setdefault(text, len(seen)))
    return codes


def texts(random, size, distinct):
    pool = [None if k == 0 else "x" * int(random.integers(0, 30)) + str(k) for k in range(distinct)]
    return [pool[k] for k in random.integers(0, distinct, size)]


def chunked(items, random, kind):
    cuts = sorted(random.integers(0, len(items) + 1, 3).tolist())
    pieces = [items[a:b] for a, b in zip([0, *cuts], [*cuts, len(items)], strict=True)]
    return pa.chunked_array([pa.array(piece, kind) for piece in pieces], kind)


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view()], ids=str)
@pytest.mark.parametrize("distinct", [1, 5, 5000])
def test_codes_are_those_of_the_twin(kind, distinct):
    """In chunks of any size, with missing texts, whatever the number of threads."""
    random = np.random.default_rng(distinct)
    for sizes in ((0, 0), (1, 3), (7, 300), (6000, 5000)):
        columns = [texts(random, size, distinct) for size in sizes]
        held = [chunked(column, random, kind) for column in columns]
        coder = TextCodes()
        codes = b"".join(coder.code(column) for column in held)
        expected = twin(*columns)
        assert np.frombuffer(codes, np.int32).tolist() == expected
        assert np.frombuffer(coder.firsts(), np.int64).tolist() == [
            expected.index(k) for k in range(max(expected, default=-1) + 1)
        ]


def test_threads_do_not_show():
    """Enough rows for several."""
    ids = [f"id {k}" for k in range(200_000)]
    columns = [pa.array(ids), pa.array(ids[::-1] + ["new"] * 3)]
    before = tm.get_threads()
    try:
        found = []
        for threads in (1, 4):
            tm.set_threads(threads)
            coder = TextCodes()
            found.append([*map(coder.code, columns), coder.firsts()])
    finally:
        tm.set_threads(before)
    assert found[0] == found[1]


def test_only_texts_are_coded():
    """Anything else is refused, and nothing crashes."""
    for wrong in (pa.array([1, 2]), pa.array(["a"]).dictionary_encode(), 5, None):
        with pytest.raises((ValueError, AttributeError, TypeError)):
            TextCodes().code(wrong)


def test_rows_only_in_one_file_are_found():
    """With their first ids."""
    columns = pa.chunked_array([["a", "b", "c"]]), pa.chunked_array([["c", "x"], ["a", "y"]])
    codes = TextCodes()
    found = match(*columns, [code_ids(codes, column) for column in columns][1])
    assert found.rows.tolist() == [0, 2]
    assert found.answer_rows.tolist() == [2, 0]
    assert (found.missing_ids, found.extra, found.extra_ids) == (["b"], 2, ["x", "y"])


def test_duplicate_ids_come_with_their_first_rows():
    """Those of the first of them, how many rows each has, and how many such ids there are."""
    codes = np.array([7, -1, 7, -1, 3, 3, 7])
    assert find_duplicates(codes, 1) == ([([0], 3)], 2)
    assert find_duplicates(codes, 2) == ([([0, 2], 3), ([4, 5], 2)], 2)
    assert find_duplicates(codes, 5) == ([([0, 2, 6], 3), ([4, 5], 2)], 2)


@pytest.mark.slow
@pytest.mark.parametrize("most", [1, 3, 50])
def test_duplicate_ids_are_found_however_far_apart(most):
    """As by a look at all rows."""
    codes = np.random.default_rng(5).integers(-1, 120_000, 200_000).astype(np.int32)
    codes[:5] = 7
    rows = {}
    for row, code in enumerate(codes.tolist()):
        rows.setdefault(code, []).append(row)
    several = [held for code, held in rows.items() if code >= 0 and len(held) > 1]
    several.sort(key=lambda held: held[0])
    assert find_duplicates(codes, most) == ([(held[:most], len(held)) for held in several[:most]], len(several))


@pytest.mark.parametrize("odd", ["", " a", "a ", "\ta", "a\n", "a\x1c", "é", "a\u00a0"])
def test_texts_that_need_care_are_told_from_plain_ones(odd):
    """What Python would strip or normalise, and what is empty."""
    assert are_plain(pa.array(["a", "b c", None, "x" * 100]))
    assert not are_plain(pa.chunked_array([["a"], ["b", odd]]))
