"""Shared by all tests: how hard Hypothesis tries. It is repeatable, unless it is to explore."""

import os
from pathlib import Path

from hypothesis import HealthCheck, settings

shared = {"deadline": None, "suppress_health_check": list(HealthCheck)}
settings.register_profile("all", max_examples=80, derandomize=True, **shared)
settings.register_profile("fast", max_examples=15, derandomize=True, **shared)
settings.register_profile("explore", max_examples=1000, derandomize=False, **shared)
settings.load_profile(os.environ.get("TALLYMARK_TESTS", "all"))

# Keras takes TensorFlow unless told, and writes that into the home of the user when it is imported.
os.environ.setdefault("KERAS_BACKEND", "torch")
os.environ.setdefault("KERAS_HOME", str(Path(__file__).parents[1] / "build" / "keras"))

# Set before NumPy is loaded. Peers fit models so small that threads of linear algebra only wait for each other: up to
# minutes where the machine is busy.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def pytest_ignore_collect(collection_path):
    """Only tests are searched for examples: other modules are loaded where they are needed."""
    return True if collection_path.suffix == ".py" and not collection_path.name.startswith("test_") else None
