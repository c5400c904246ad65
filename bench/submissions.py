"""A submission against the answers: from two files of CSV to scores, beside the tools that people join files with."""

from __future__ import annotations

import gzip
import tempfile
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import polars as pl
from measure import best_of, memory_of, show_time, table
from sklearn.metrics import accuracy_score, precision_recall_fscore_support

import tallymark as tm

LABELS = np.array(["bird", "cat", "cow", "dog", "duck", "fish", "goat", "horse", "mouse", "sheep"])


def write_pair(folder: Path, rows: int, distinct: int) -> tuple[str, str]:
    """Answers in order, and a submission in any order of which four in five are right."""
    rng = np.random.default_rng(8)
    labels = LABELS if distinct == len(LABELS) else np.char.add("label-", np.arange(distinct).astype(str))
    ids = np.char.add("row_", np.char.zfill(np.arange(rows).astype(str), 7))
    truth = rng.integers(0, distinct, rows) if distinct < rows else np.arange(rows)
    said = np.where(rng.random(rows) < 0.8, truth, rng.integers(0, distinct, rows))
    order = rng.permutation(rows)
    paths = folder / f"answers-{rows}-{distinct}.csv", folder / f"submission-{rows}-{distinct}.csv"
    for path, held in zip(paths, ((ids, labels[truth]), (ids[order], labels[said[order]])), strict=True):
        path.write_text("row_id,label\n" + "\n".join(map(",".join, zip(*held, strict=True))) + "\n")
    return str(paths[0]), str(paths[1])


def by_pandas(answers: str, submission: str) -> object:
    both = pd.read_csv(answers, dtype=str).merge(pd.read_csv(submission, dtype=str), on="row_id")
    truth, said = both["label_x"], both["label_y"]
    return accuracy_score(truth, said), precision_recall_fscore_support(truth, said, average="macro", zero_division=0)


def by_duckdb(answers: str, submission: str) -> object:
    read = "read_csv('{}', header=true, columns={{'row_id': 'VARCHAR', 'label': 'VARCHAR'}})"
    return duckdb.sql(
        f"select a.label, s.label, count(*) from {read.format(answers)} a join {read.format(submission)} s "
        "using (row_id) group by all"
    ).fetchall()


def by_polars(answers: str, submission: str) -> object:
    frames = (pl.read_csv(path, infer_schema=False) for path in (answers, submission))
    return next(frames).join(next(frames), on="row_id").group_by("label", "label_right").len()


def compare(folder: Path, rows: int, distinct: int, seconds: float) -> list[str]:
    """Our time to scores, theirs to scores, and that of others to the counts alone."""
    print(f"submissions, {rows:,} rows of {distinct:,} labels ...", flush=True)
    pair = write_pair(folder, rows, distinct)
    best = best_of(
        {
            "ours": lambda: tm.submissions.score_submission(*pair),
            "pandas": lambda: by_pandas(*pair),
            "duckdb": lambda: by_duckdb(*pair),
            "polars": lambda: by_polars(*pair),
        },
        seconds=seconds,
        least=2,
    )
    ours = best["ours"]
    peers = [part for name in ("pandas", "duckdb", "polars") for part in _beside(best[name], ours)]
    return [f"{rows:,}, {distinct:,}", show_time(ours), *peers]


def _beside(peer: float, ours: float) -> list[str]:
    return [show_time(peer), f"**{peer / ours:.{0 if peer > 10 * ours else 1}f}×**"]


def memory(folder: Path, rows: int) -> str:
    """Memory beyond what is loaded anyway, in multiples of both files."""
    pair = write_pair(folder, rows, len(LABELS))
    few = write_pair(folder, 10, len(LABELS))
    taken = memory_of(f"tm.submissions.score_submission(*{pair})", f"tm.submissions.score_submission(*{few})")
    size = sum(Path(path).stat().st_size for path in pair)
    return (
        f"{rows:,} rows take {taken / 1e6:.0f} MB of memory beyond what is loaded anyway, {taken / size:.1f} times the "
        "bytes of both files."
    )


def bomb(folder: Path, members: int) -> str:
    """How soon a packed file that unpacks to gigabytes is refused."""
    path = folder / "bomb.csv.gz"
    member = gzip.compress(b"a,cat\n" * 16_666_667)
    with path.open("wb") as file:
        file.write(gzip.compress(b"row_id,label\n"))
        for _ in range(members):
            file.write(member)
    answers = {"row_id": ["a"], "label": ["cat"]}

    def refuse() -> None:
        try:
            tm.submissions.score_submission(answers, path)
        except tm.Rejection:
            return
        raise AssertionError("it was not refused")

    best = best_of({"ours": refuse}, seconds=1.0)
    size, took = f"{path.stat().st_size / 1e6:.0f} MB", show_time(best["ours"])
    return f"A file of {size} that unpacks to {members / 10:.0f} GB is refused in {took}."


def sections(rows: int = 1_000_000, members: int = 100) -> list[str]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        few = max(rows // 10, 100)
        lines = [
            compare(folder, few, len(LABELS), 5.0),
            compare(folder, rows, len(LABELS), 30.0),
            compare(folder, few, few, 10.0),
        ]
        notes = [memory(folder, rows), bomb(folder, members)]
    headings = ["rows, labels", "tallymark", "pandas + scikit-learn", "ratio", "DuckDB", "ratio", "Polars", "ratio"]
    return [
        "## Submissions",
        "",
        "Two files of CSV with texts as ids and labels, from the disk to accuracy, macro precision, recall and F;",
        "DuckDB and Polars do the join and the counts of pairs alone.",
        "",
        table(headings, lines),
        "",
        *notes,
        "",
    ]


if __name__ == "__main__":
    import sys

    print("\n".join(sections(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000, 10)))
