"""Files made to exhaust a machine: they stop at the limits, with little memory."""

from __future__ import annotations

import gzip
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
RUN = """
import io, sys
import pyarrow.csv, pyarrow.parquet
import tallymark as tm
from tests.memory import most_memory
answers = {"row_id": ["a", "b"], "label": ["cat", "dog"]}
tm.submissions.score_submission(answers, io.BytesIO(b"row_id,label\\na,cat\\n"))
before = most_memory()
try:
    tm.submissions.score_submission(answers, sys.argv[1])
except tm.Rejection as error:
    print(error.problems[0].code, most_memory() - before)
"""


def packed(path):
    """Ten gigabytes of rows, as a hundred members of gzip."""
    member = gzip.compress(b"a,cat\n" * 16_666_667)
    with path.open("wb") as file:
        file.write(gzip.compress(b"row_id,label\n"))
        for _ in range(100):
            file.write(member)


def repeated(path):
    """Fifty million rows of one text, in a footer of few bytes."""
    texts = pa.DictionaryArray.from_arrays(pa.array(np.zeros(50_000_000, np.int8)), ["a"])
    pq.write_table(pa.table({"row_id": texts, "label": texts}), path, compression="zstd")


def long_texts(path):
    """A page of 400 MB in 20 kB."""
    ids = [f"{k}" + "x" * (1 << 20) for k in range(400)]
    table = pa.table({"row_id": ids, "label": ["cat"] * 400})
    pq.write_table(table, path, use_dictionary=False, compression="zstd", data_page_size=1 << 30)


@pytest.mark.parametrize("make", [packed, repeated, long_texts])
def test_a_bomb_stops_at_the_limits(make, tmp_path):
    """With at most 64 MB above what was loaded anyway."""
    path = tmp_path / "submission"
    make(path)
    done = subprocess.run([sys.executable, "-c", RUN, path], capture_output=True, text=True, cwd=ROOT)
    assert done.stderr == ""
    code, megabytes = done.stdout.split()
    assert code == "unpacks_too_large"
    assert float(megabytes) <= 64
