"""Files larger than memory: how near evaluate_table comes to Arrow that just reads the same columns."""

from __future__ import annotations

import gc
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
from measure import run_python, show_time, table

import tallymark as tm

ROWS = int(float(os.environ.get("TALLYMARK_BENCH_ROWS", 1e8)))
FILES = 10
GROUP = 1 << 20  # rows of a row group, as Arrow writes them
EXACT_ROWS = ROWS // 10
PLANS = {
    "rmse, mae, r2": {"truth": "y", "prediction": "p", "metrics": ["rmse", "mae", "r2"]},
    "log loss": {"truth": "label", "prediction": "q", "metrics": ["logloss"], "kind": "probability"},
    "confusion matrix": {"truth": "label", "prediction": "guess", "metrics": ["confusion_matrix"]},
    "bounded AUC": {"truth": "label", "prediction": "q", "metrics": ["auc(bounded=4096)"], "kind": "probability"},
    "log loss, accuracy, bounded AUC": {
        "truth": "label",
        "prediction": "q",
        "metrics": ["logloss", "accuracy", "auc(bounded=4096)"],
        "kind": "probability",
    },
}
PEAK = """
import tallymark as tm
def memory(key):
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith(key))
tm.evaluate_table({folder!r}, **{asked!r})
print(memory("VmHWM"))
"""


def write_rows(folder: Path, rows: int) -> None:
    """Files of numbers, labels and probabilities: 33 bytes a row, none of which packs well."""
    for part in range(FILES):
        rng = np.random.default_rng(part)
        n = rows // FILES
        y, q = rng.normal(100.0, 15.0, n), rng.random(n)
        label = rng.random(n) < q
        columns = {
            "y": y,
            "p": y + rng.normal(0.0, 3.0, n),
            "label": label.astype(np.int8),
            "guess": (q > 0.5).astype(np.int8),
            "q": q,
        }
        pq.write_table(pa.table(columns), folder / f"part-{part}.parquet", row_group_size=GROUP)


def best_in_turns(calls: dict[str, Callable[[], object]], rounds: int = 3) -> dict[str, float]:
    """Seconds of the best of a few long calls, taken in turns."""
    best = dict.fromkeys(calls, float("inf"))
    for _ in range(rounds):
        for name, call in calls.items():
            gc.collect()
            start = time.perf_counter()
            call()
            best[name] = min(best[name], time.perf_counter() - start)
    return best


def read_only(folder: Path, columns: list[str]) -> int:
    """Arrow reads the columns, on all threads, and lets go of them."""
    scanner = ds.dataset(folder).scanner(columns=columns, batch_size=1 << 19, use_threads=True)
    return sum(batch.num_rows for batch in scanner.to_batches())


def sections() -> list[str]:
    with tempfile.TemporaryDirectory(prefix="tallymark-bench-") as place:
        folder = Path(place)
        write_rows(folder, ROWS)
        size = sum(path.stat().st_size for path in folder.iterdir())
        out = [
            f"## Files: {ROWS:.0e} rows of Parquet ({size / 1e9:.1f} GB), read in pieces".replace("e+0", "e"),
            "",
            "Against Arrow, which reads the same columns on all threads and lets go of them.",
            "",
        ]
        lines = []
        for name, asked in PLANS.items():
            columns = sorted({asked["truth"], asked["prediction"]})
            times = best_in_turns(
                {
                    "read": lambda columns=columns: read_only(folder, columns),
                    "tallymark": lambda asked=asked: tm.evaluate_table(folder, **asked),
                }
            )
            peak = int(run_python(PEAK.format(folder=str(folder), asked=asked)))
            share = times["read"] / times["tallymark"]
            per_row = times["tallymark"] / ROWS * 1e9
            lines.append(
                [
                    name,
                    show_time(times["tallymark"]),
                    f"{per_row:.2f} ns",
                    show_time(times["read"]),
                    f"{share:.0%}",
                    f"{peak / 1024:.0f} MB",
                ]
            )
        out.append(
            table(["metrics", "tallymark", "a row", "Arrow just reads", "speed of reading", "peak memory"], lines)
        )
        return [*out, "", *exact_section(folder)]


def exact_section(folder: Path) -> list[str]:
    """Exact areas: the state holds every distinct score."""
    few = sorted(folder.iterdir())[: max(1, FILES * EXACT_ROWS // ROWS)]
    asked = {"truth": "label", "prediction": "q", "metrics": ["auc"], "kind": "probability"}
    start = time.perf_counter()
    held = tm.evaluation.tally_table([str(path) for path in few], **asked)
    taken = time.perf_counter() - start
    state = len(held.to_bytes())
    return [
        f"Exact AUC of {held.n:,} rows, all of whose scores differ: {show_time(taken)}; the tally has",
        f"{state / 1e6:.0f} MB, {state / held.n:.1f} bytes a distinct score.",
        "",
    ]


if __name__ == "__main__":
    print("\n".join(sections()))
