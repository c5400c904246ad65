"""Spark Connect: the same engine through a server, in a process of its own, since a process has one kind of session."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

import tallymark as tm
from tests.sources.clusters.conftest import ROOT, check_java

SCRIPT = """
import tempfile
import warnings
from pathlib import Path
warnings.simplefilter("ignore")
from pyspark.sql import SparkSession
import tallymark as tm
from tallymark.sources.spark import fold
from tests.sources.clusters.jobs import Held, Refuses, Rows, Slow
settings = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false", "spark.driver.host": "127.0.0.1"}
settings["spark.connect.progress.reportInterval"] = "100ms"
builder = SparkSession.builder.remote("local[2]")
for name, value in settings.items():
    builder = builder.config(name, value)
spark = builder.getOrCreate()
frame = spark.range(100, numPartitions=8).selectExpr("id as y", "id / 4 as p")
print(type(frame).__module__.startswith("pyspark.sql.connect"))
print(tm.evaluate_table(frame, truth="y", prediction="p", metrics=["rmse"])["rmse"])
try:
    fold(frame, Rows("y", before=Refuses()))
except tm.errors.MissingValueError as error:
    print(str(error).splitlines()[0])
with tempfile.TemporaryDirectory() as folder:
    held = Held(Path(folder))
    fold(frame, Rows("y", before=held), held.tell)
print(len(held.seen) > 1, [done for done, _ in held.seen] == sorted({done for done, _ in held.seen}))
print([done == whole for done, whole in held.seen] == [False] * (len(held.seen) - 1) + [True])
def fail(done, of):
    raise OSError("the terminal is gone")
try:
    fold(frame, Rows("y", before=Slow(0.3)), fail)
except OSError as error:
    print(error)
print(spark.getTags(), spark.client._progress_handlers)
spark.stop()
"""


@pytest.fixture
def run():
    """Runs lines of Python beside the tests; what they print."""
    check_java()
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": "127.0.0.1",
    }

    def do(lines):
        done = subprocess.run(
            [sys.executable, "-c", lines], env=environment, capture_output=True, text=True, timeout=300
        )
        assert done.returncode == 0, done.stderr[-5_000:]
        return done.stdout.splitlines()

    return do


def test_a_spark_connect_session_gives_the_same_values(run):
    """Values, errors and progress are those of a classic session, and neither tags nor handlers are left."""
    y = np.arange(100)
    assert run(SCRIPT) == [
        "True",
        str(tm.rmse(y, y / 4)),
        '`y_true` must hold numbers; "13" (dreizehn, тринадцать) was in row 3',
        "True True",
        "True",
        "the terminal is gone",
        "set() []",
    ]
