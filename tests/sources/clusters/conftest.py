"""The engines themselves, each started once: two worker processes on this machine, and nothing beyond it."""

from __future__ import annotations

import logging
import os
import shutil
import sys
import warnings
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


def pytest_collection_modifyitems(items):
    """Engines take seconds to start, and say things of their own that are no fault of ours."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.slow)
            for told in (
                "ignore:`use_push_based_shuffle` is deprecated:DeprecationWarning",  # which Ray sets by itself
                "ignore:PySpark does not yet fully support pandas:FutureWarning",  # it does what is asked here
                "ignore:unclosed <socket:ResourceWarning",  # how py4j and Ray leave their connections
                "ignore:Exception ignored in.*socket:pytest.PytestUnraisableExceptionWarning",
            ):
                item.add_marker(pytest.mark.filterwarnings(told))


@pytest.fixture(scope="session", autouse=True)
def _workers_find_the_tests():
    """Workers load the jobs of these tests by their names."""
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join([str(ROOT), *([before] if before else [])])
    yield
    os.environ.pop("PYTHONPATH")
    if before:
        os.environ["PYTHONPATH"] = before


@pytest.fixture(scope="session")
def dask_client():
    """Dask with two worker processes of one thread."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address="127.0.0.1:0") as cluster,
        Client(cluster) as client,
    ):
        yield client


def check_java():
    """Skip where there is no Java, and say so; CI must have it."""
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        if os.environ.get("CI"):
            pytest.fail("Spark needs Java, which CI must have (on Debian: apt install default-jre-headless)")
        pytest.skip("Spark needs Java: install it (on Debian: apt install default-jre-headless)")


@pytest.fixture(scope="session")
def spark():
    """Spark with two threads, which try each task three times."""
    check_java()
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pyspark.sql import SparkSession

        builder = SparkSession.builder.master("local[2,3]").appName("tests of tallymark")
        settings = {
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
            "spark.sql.shuffle.partitions": "4",
            "spark.log.level": "OFF",
        }
        for name, value in settings.items():
            builder = builder.config(name, value)
        session = builder.getOrCreate()
    yield session
    session.stop()


@pytest.fixture(scope="session")
def ray():
    """Ray with two CPUs."""
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    os.environ["RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO"] = "0"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import ray
        import ray.data

        ray.init(address="local", num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level=logging.ERROR)
        ray.data.DataContext.get_current().enable_progress_bars = False
    logging.getLogger("ray.data").setLevel(logging.CRITICAL)
    yield ray
    ray.shutdown()
