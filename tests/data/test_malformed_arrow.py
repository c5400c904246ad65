"""Arrow data that point outside of their buffers are refused, and never end the process."""

import subprocess
import sys

import pytest

_ARRAYS = '''
import struct
import pyarrow as pa

def ints(*values, code="i"):
    return pa.py_buffer(struct.pack(f"<{len(values)}{code}", *values))

def texts(kind, offsets, data=b"abab", code="i", nulls=None):
    return pa.Array.from_buffers(kind, len(offsets) - 1, [nulls, ints(*offsets, code=code), pa.py_buffer(data)])

def views(*rows, blocks=(b"thirteen bytes and more",)):
    held = b"".join(struct.pack("<i4sii", length, b"thir", block, at) for length, block, at in rows)
    return pa.Array.from_buffers(pa.string_view(), len(rows), [None, pa.py_buffer(held), *map(pa.py_buffer, blocks)])

def codes(*places, labels=None, kind="b"):
    types = {"b": pa.int8(), "Q": pa.uint64()}
    held = pa.Array.from_buffers(types[kind], len(places), [None, ints(*places, code=kind)])
    return pa.DictionaryArray.from_arrays(held, pa.array(["a", "b"]) if labels is None else labels, safe=False)

def cut(array, place, size):
    """The array as it comes back from a stream whose metadata make a buffer shorter."""
    batch = pa.record_batch({"x": array})
    stream = pa.BufferOutputStream()
    with pa.ipc.new_stream(stream, batch.schema) as out:
        out.write_batch(batch)
    held = stream.getvalue().to_pybytes()
    size_of = struct.pack("<q", array.buffers()[place].size)
    at = held.rindex(size_of, 0, held.index(next(filter(None, array.buffers())).to_pybytes()))
    forged = held[:at] + struct.pack("<q", size) + held[at + 8 :]
    return pa.ipc.open_stream(forged).read_all().column("x")

def table(bad, good):
    """A table, or a mapping where pyarrow refuses to make one."""
    try:
        return pa.table({"y": bad, "p": good})
    except pa.ArrowInvalid:
        return {"y": bad, "p": good}
'''
GOOD = 'pa.array(["a", "b", "a", "b"])'
LONG = "pa.array(['a' * 7, 'b' * 11, 'c' * 13, 'd' * 46])"
WILD = "texts(pa.string(), (0, 1, -2**30, 3, 4))"
MALFORMED = {
    "a negative offset": (WILD, 1),
    "a decreasing offset": ("texts(pa.string(), (0, 1, 2**30, 3, 4))", 2),
    "a large text": ("texts(pa.large_string(), (0, 1, 2**50, 3, 4), code='q')", 2),
    "bytes": ("texts(pa.binary(), (0, 1, 2**30, 3, 4))", 2),
    "a slice": ("texts(pa.string(), (0, 1, 1, 2, -2**30, 3, 4)).slice(2)", 1),
    "a later chunk": (f"pa.chunked_array([pa.array(['a', 'b']), {WILD}.slice(1, 2)])", 2),
    "a row behind a null": ("texts(pa.string(), (0, 1, 2, 2**30, 4), nulls=pa.py_buffer(bytes([0b1101])))", 3),
    "a view of no block": ("views((1, 0, 0), (13, 0, 0), (1, 0, 0), (13, 7, 0))", 3),
    "a view beyond its block": ("views((1, 0, 0), (13, 0, 1), (13, 0, 20), (1, 0, 0))", 2),
    "a view before its block": ("views((1, 0, 0), (13, 0, -2**30), (13, 0, 2), (1, 0, 0))", 1),
    "a view of negative length": ("views((1, 0, 0), (-5, 0, 0), (13, 0, 2), (1, 0, 0))", 1),
    "a code beyond its dictionary": ("codes(0, 1, 7, 0)", 2),
    "a negative code": ("codes(0, -3, 1, 0)", 1),
    "a huge code": ("codes(0, 2**63, 1, 0, kind='Q')", 1),
    "a dictionary with a wild offset": ("codes(0, 1, 0, 1, labels=texts(pa.string(), (0, 2**30, 2)))", 0),
    "texts cut short": (f"cut({LONG}, 2, 20)", 2),
    "offsets cut short": (f"cut({LONG}, 1, 8)", 1),
}
CALLS = {
    "`y_true`": "tm.accuracy(bad, good)",
    "`y_pred`": "tm.accuracy(good, bad)",
    "`y_true` ": "tm.auc(bad, [0.1, 0.2, 0.3, 0.4], positive='a')",
    "`y_true`  ": "tm.accuracy(bad, good, missing='drop')",
    "`query`": "tm.evaluate([1, 0, 1, 0], [0.1, 0.2, 0.3, 0.4], ['map'], query=bad)",
    "`by`": "tm.evaluate([1, 0, 1, 0], [0, 1, 0, 1], ['accuracy'], by=bad)",
    "`cluster`": "tm.evaluate([1, 0, 1, 0], [0, 1, 0, 1], ['accuracy'], cluster=bad, ci=0.95)",
    "column 'y'": "tm.evaluate_table(table(bad, good), truth='y', prediction='p')",
    "column 'y' ": "tm.evaluate_table([{'y': bad, 'p': good}], truth='y', prediction='p')",
    "column 'y'  ": "tm.evaluate_table(iter([table(bad, good)]), truth='y', prediction='p')",
}


def _run(script: str) -> list[str]:
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"the process ended with {done.returncode}: {done.stderr[-2000:]}"
    return done.stdout.splitlines()


@pytest.mark.slow
@pytest.mark.parametrize("case", MALFORMED)
def test_malformed_arrow_data_are_refused_with_argument_and_row(case: str) -> None:
    array, row = MALFORMED[case]
    attempts = "".join(
        f"\ntry:\n    print({call})\nexcept tm.TallymarkError as error:\n    print(error)" for call in CALLS.values()
    )
    told = _run(f"{_ARRAYS}\nimport tallymark as tm\nbad, good = {array}, {GOOD}{attempts}")
    assert len(told) == len(CALLS)
    for what, line in zip(CALLS, told, strict=True):
        assert line.startswith(f"{what.strip()} must be valid Arrow data; "), line
        assert f" (row {row})." in line, line


@pytest.mark.slow
@pytest.mark.parametrize(
    ("first", "cut", "row"), [("0.0", "1, 80", 10), ("None", "0, 8", 64)], ids=["values", "which are missing"]
)
def test_numbers_cut_short_are_refused(first: str, cut: str, row: int) -> None:
    """Their buffer is smaller than their rows need, which only a stream can bring about."""
    calls = {
        "`y_true`": "tm.mae(bad, good)",
        "`weights`": "tm.mae(good, good, weights=bad)",
        "column 'y'": "tm.evaluate_table({'y': bad, 'p': good}, truth='y', prediction='p')",
    }
    attempts = "".join(
        f"\ntry:\n    print({call})\nexcept tm.TallymarkError as error:\n    print(error)" for call in calls.values()
    )
    numbers = f"pa.array([{first}, *map(float, range(1, 1000))])"
    told = _run(f"{_ARRAYS}\nimport tallymark as tm\nbad, good = cut({numbers}, {cut}), [0.0] * 1000{attempts}")
    for what, line in zip(calls, told, strict=True):
        assert line.startswith(f"{what} must be valid Arrow data; "), line
        assert f" (row {row})." in line, line


@pytest.mark.slow
@pytest.mark.parametrize("table", ["pa.table", "dict"])
def test_submitted_tables_are_checked_too(table: str) -> None:
    held = f"{table}({{'row_id': good, 'label': bad}})"
    told = _run(
        f"{_ARRAYS}\nimport tallymark as tm\nbad, good = pa.chunked_array([{WILD}]), pa.array(['1', '2', '3', '4'])\n"
        f"try:\n    tm.submissions.score_submission(pa.table({{'row_id': good, 'label': good}}), {held})\n"
        "except tm.TallymarkError as error:\n    print(error)"
    )
    assert told[0].startswith("`submission` must be valid Arrow data; ")
    assert " (row 1)." in told[0]


@pytest.mark.slow
def test_what_a_null_points_to_is_not_read() -> None:
    """A view or a code without a value may hold anything."""
    nulls = "pa.py_buffer(bytes([0b1101]))"
    told = _run(
        f"{_ARRAYS}\nimport tallymark as tm\n"
        "held = pa.array(['a', None, 'b', 'a']).cast(pa.string_view())\n"
        f"rows = pa.Array.from_buffers(pa.int8(), 4, [{nulls}, ints(0, 99, 1, 0, code='b')])\n"
        "coded = pa.DictionaryArray.from_arrays(rows, pa.array(['a', 'b']), safe=False)\n"
        "for bad in (held, coded):\n    print(tm.accuracy(bad, ['a', 'a', 'b', 'b'], missing='drop'))"
    )
    assert told == [str(2 / 3)] * 2
