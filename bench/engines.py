"""Clusters on this machine: what tallymark costs beyond the engine's own sums, two workers against one, and peers."""

from __future__ import annotations

import logging
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from measure import best_of, show_time, table
from sklearn.metrics import accuracy_score, log_loss, roc_auc_score

import tallymark as tm

ROWS = 2_000_000
FILES = 4
FIXED = ["logloss", "brier", "accuracy", "auc(bounded=4096)"]
COLUMNS = {"truth": "y", "prediction": "p"}


def write_rows(folder: Path) -> tuple[Any, Any]:
    """Parquet files of labels and probabilities, of which many are equal to their neighbours in three digits."""
    rng = np.random.default_rng(9)
    p = rng.beta(0.3, 6.0, ROWS)  # rare and mostly sure, so that bins of equal width see little
    y = (rng.random(ROWS) < p).astype(np.int64)
    for part, index in enumerate(np.array_split(np.arange(ROWS), FILES)):
        pq.write_table(pa.table({"y": y[index], "p": p[index]}), folder / f"{part}.parquet", row_group_size=1 << 17)
    return y, p


@contextmanager
def on_dask(workers: int) -> Iterator[Callable[[str], Any]]:
    import dask.dataframe as dd
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address="127.0.0.1:0") as cluster,
        Client(cluster),
    ):
        yield dd.read_parquet


@contextmanager
def on_spark(workers: int) -> Iterator[Callable[[str], Any]]:
    os.environ |= {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master(f"local[{workers}]").config("spark.driver.memory", "3g")
    for name, value in {"ui.enabled": "false", "ui.showConsoleProgress": "false", "log.level": "OFF"}.items():
        builder = builder.config(f"spark.{name}", value)
    session = builder.getOrCreate()
    yield session.read.parquet
    session.stop()


@contextmanager
def on_ray(workers: int) -> Iterator[Callable[[str], Any]]:
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    import ray

    ray.init(num_cpus=workers, include_dashboard=False, log_to_driver=False, logging_level=logging.ERROR)
    ray.data.DataContext.get_current().enable_progress_bars = False
    logging.getLogger("ray.data").setLevel(logging.CRITICAL)
    yield ray.data.read_parquet
    ray.shutdown()


def sums_of(engine: str, frame: Any) -> object:
    """The engine's own sum of the same two columns."""
    if engine == "Dask":
        # Other numbers each time: of equal calls Dask may find the outcome of the one before still in memory.
        return (frame[["y", "p"]] + next(_CALLS)).sum().compute()
    if engine == "Spark":
        return frame.agg({"y": "sum", "p": "sum"}).collect()
    return frame.sum(["y", "p"])


_CALLS = count()
ENGINES = {"Dask": on_dask, "Spark": on_spark, "Ray": on_ray}


def overhead(engine: str, folder: str) -> list[str]:
    """Seconds for metrics of fixed size and for exact areas, beside the engine's own sums."""
    best = {}
    for workers in (1, 2):
        print(f"{engine}, {workers} workers ...", flush=True)
        with ENGINES[engine](workers) as read:
            frame = read(folder)
            best[workers] = best_of(
                {
                    "sums": lambda frame=frame: sums_of(engine, frame),
                    "fixed": lambda frame=frame: tm.evaluate_table(frame, metrics=FIXED, **COLUMNS, kind="probability"),
                    "exact": lambda frame=frame: tm.evaluate_table(frame, metrics=["auc"], **COLUMNS),
                },
                seconds=2.0,
                least=2,
            )
    one, two = best[1], best[2]
    shown = [show_time(two[name]) for name in ("sums", "fixed", "exact")]
    return [engine, *shown, f"{two['fixed'] / two['sums']:.1f}×", f"{one['fixed'] / two['fixed']:.2f}×"]


def peers(folder: str, y: Any, p: Any) -> list[list[str]]:
    """The time of peers and how far their area is from the exact one."""
    print("peers ...", flush=True)
    exact = tm.auc(y, p)
    rows = []

    def row(name: str, call: Callable[[], float | None]) -> None:
        value = call()
        took = next(iter(best_of({name: call}, seconds=1.0, least=2).values()))
        rows.append([name, show_time(took), "—" if value is None else f"{value - exact:+.1e}"])
        print(*rows[-1], flush=True)

    row("tallymark, in memory: auc", lambda: tm.auc(y, p))
    row("scikit-learn, in memory: roc_auc_score", lambda: float(roc_auc_score(y, p)))
    row("scikit-learn, in memory: log_loss and accuracy_score", lambda: _labels(y, p))
    with ExitStack() as stack:
        frame = stack.enter_context(on_spark(2))(folder)
        row("tallymark on Spark: auc", lambda: tm.evaluate_table(frame, metrics=["auc"], **COLUMNS)["auc"])
        bounded = "auc(bounded=4096)"
        row(f"tallymark on Spark: {bounded}", lambda: tm.evaluate_table(frame, metrics=[bounded], **COLUMNS)[bounded])
        from pyspark.ml.evaluation import BinaryClassificationEvaluator

        typed = frame.selectExpr("cast(y as double) as label", "p as rawPrediction")
        for bins in (1000, 0):
            judge = BinaryClassificationEvaluator(numBins=bins)
            row(f"pyspark.ml, numBins={bins}", lambda judge=judge: judge.evaluate(typed))
    with ExitStack() as stack:
        frame = stack.enter_context(on_dask(2))(folder)
        asked = {"metrics": ["accuracy"], **COLUMNS, "kind": "probability"}
        row("tallymark on Dask: accuracy", lambda: _ignored(tm.evaluate_table(frame, **asked)))
        from dask_ml.metrics import accuracy_score as of_dask

        truth, said = (frame[name].to_dask_array(lengths=True) for name in ("y", "p"))
        # Its log_loss passes an argument that scikit-learn 1.9 no longer has, and it has no area.
        said = (said >= 0.5).astype(int)
        row("dask-ml: accuracy_score", lambda: _ignored(of_dask(truth, said)))
    return rows


def _labels(y: Any, p: Any) -> None:
    log_loss(y, p)
    accuracy_score(y, p >= 0.5)


def _ignored(_: object) -> None:
    """For what has no area."""


def sections() -> list[str]:
    with tempfile.TemporaryDirectory() as name:
        y, p = write_rows(Path(name))
        over = [overhead(engine, name) for engine in ENGINES]
        beside = peers(name, y, p)
    return [
        "## Dask, Spark and Ray on this machine",
        "",
        f"{ROWS:,} rows in {FILES} Parquet files, read anew in each call, by worker processes of this machine with one "
        f"thread each: {', '.join(FIXED)} in one job, and an exact auc in another, beside the engine's own sum of the "
        "same two columns, on two workers. The last column is how much faster two workers are than one.",
        "",
        table(["engine", "its sums", "fixed size", "exact auc", "fixed / sums", "2 workers"], over),
        "",
        "Peers on the same rows, and how far their area is from the exact one.",
        "",
        table(["", "time", "area − exact"], beside),
        "",
    ]


if __name__ == "__main__":
    import warnings

    warnings.simplefilter("ignore")
    print("\n".join(sections()))
