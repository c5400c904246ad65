"""The public face: names, stubs, light imports, threads, and rows beyond 2³¹."""

from __future__ import annotations

import contextlib
import importlib
import inspect
import os
import pickle
import pydoc
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import tallymark as tm
from tallymark import _core
from tallymark.metrics import registry
from tallymark.metrics.fairness.base import GroupMetric

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = Path(tm.__file__).parent
Y, P = [3.0, -0.5, 2.0, 7.0], [2.5, 0.0, 2.0, 8.0]


def run(code, **environment):
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, **environment}, cwd=ROOT
    )


def test_every_metric_has_its_public_names():
    """Class and default instance, by one import line."""
    lines = (PACKAGE / "metrics" / "__init__.py").read_text()
    for name, cls in registry.classes.items():
        if f"from {cls.__module__} import *" not in lines:
            continue
        assert getattr(tm, cls.__name__) is cls
        assert getattr(tm, name) == cls()


def test_the_version_is_that_of_the_package():
    """One number in two places."""
    from importlib.metadata import version

    assert tm.__version__ == version("tallymark")


def test_dir_and_star_show_what_is_public_and_nothing_else():
    """No helper module, no name of typing; `map` is there, but a star does not shadow the built-in one."""
    homes = {
        *("acceptance", "comparison", "evaluation", "extend", "guidance", "metrics", "model_selection", "sklearn"),
        *("submissions", "training", "client", "errors"),
    }
    assert set(dir(tm)) == {*tm.__all__, *homes, "map", "__version__"}
    assert len(tm.__all__) == len(set(tm.__all__))
    everything = {}
    exec("from tallymark import *", everything)
    assert set(everything) - {"__builtins__"} == set(tm.__all__)
    assert "map" not in everything
    assert tm.map is tm.metrics.map


def test_every_metric_is_in_all():
    """Instances of metrics, ways to make metrics of groups, and errors; classes resolve but are not listed."""
    instances = {name for name in tm.metrics.__all__ if isinstance(getattr(tm, name), tm.extend.Metric)} - {"map"}
    assert instances <= set(tm.__all__)
    assert tm.FScore is tm.metrics.FScore
    assert "FScore" not in dir(tm)
    assert "FScore" in dir(tm.metrics)


INSTANCES = [name for name in tm.metrics.__all__ if isinstance(getattr(tm, name), tm.extend.Metric)]


@pytest.mark.parametrize("name", INSTANCES)
def test_a_metric_reads_as_a_function(name):
    """Name, docstring, module, signature and help are those of a function of this name."""
    item = getattr(tm, name)
    assert item.__name__ == item.__qualname__ == name
    assert item.__module__ == type(item).__module__
    shown = inspect.signature(item)
    assert list(shown.parameters)[:2] == ["y_true", "y_pred"]
    assert all(each.default is inspect.Parameter.empty for each in list(shown.parameters.values())[:2])
    assert {"weights", "target", "kind", "classes", "positive", "normalize", "missing"} <= set(shown.parameters)
    if not isinstance(item, GroupMetric):
        assert set(item.parameters()) <= set(shown.parameters)
        assert shown.parameters["undefined"].default is None
    assert item.__doc__.startswith(f"{name}{shown}\n\n")
    assert inspect.cleandoc(type(item).__doc__) in item.__doc__
    told = pydoc.render_doc(item, renderer=pydoc.plaintext)
    assert f"{name}{shown}" in told
    assert item.description.split("`")[0] in " ".join(told.split())


def test_metrics_made_with_parameters_and_functions_read_as_functions():
    """Their defaults are those parameters; a function keeps its docstring."""

    def half_of_errors(y_true, y_pred, weights):
        """Half of the errors."""
        return 0.5

    assert inspect.signature(tm.FScore(beta=2)).parameters["beta"].default == 2
    assert tm.FScore(beta=2).__qualname__ == "fscore"
    assert tm.gap("accuracy").__name__ == tm.gap("accuracy").__qualname__ == "gap"
    assert tm.gap("recall").__name__ == "equal_opportunity"
    made = tm.custom(half_of_errors)
    assert (made.__name__, made.__qualname__, made.__doc__) == (
        "half_of_errors",
        "half_of_errors",
        "Half of the errors.",
    )
    assert pickle.loads(pickle.dumps(tm.auc)).__qualname__ == "auc"


def test_the_metric_named_error_counts_errors():
    """Under that name everywhere; its class has another than the built-in `Error` types."""
    assert type(tm.error) is tm.ErrorCount
    assert str(tm.error) == tm.error.name == "error"
    assert tm.metric("error") == tm.error
    assert list(tm.evaluate([1, 0], [1, 1], ["error"])) == ["error"]
    assert tm.error.to_dict() == {"name": "error"}


def test_importing_loads_numpy_and_nothing_heavy():
    """No engine, web, plot or data frame package."""
    code = (
        "import tallymark as tm, sys; tm.evaluate([1.0, 2.0], [1.0, 3.0]);"
        "heavy = {'pandas', 'polars', 'pyarrow', 'narwhals', 'scipy', 'sklearn', 'torch', 'matplotlib', 'rich'};"
        "print(sorted(heavy & set(sys.modules)))"
    )
    assert run(code).stdout.strip() == "[]"


def test_importing_loads_no_hashes_and_no_json():
    """States are written and read later, if at all; OpenSSL alone takes 2 ms."""
    code = "import numpy, sys; before = set(sys.modules); import tallymark; print(*sorted(set(sys.modules) - before))"
    loaded = set(run(code).stdout.split())
    assert "tallymark.states.serialization" in loaded
    assert loaded.isdisjoint({"hashlib", "_hashlib", "json", "csv", "difflib", "inspect"})


def test_what_few_ask_for_is_loaded_then():
    """Not before; and help and completion know the names all the same."""
    code = (
        "import tallymark as tm, sys; tm.evaluate([1.0, 2.0], [1.0, 3.0]); print('tallymark.guidance' in sys.modules,"
        "'explain' in dir(tm), tm.explain is tm.explain, 'tallymark.guidance' in sys.modules)"
    )
    assert run(code).stdout.strip() == "False True True True"
    assert run(code.replace("guidance", "comparison").replace("explain", "compare")).stdout == "False True True True\n"
    for name, module in tm._LAZY.items():
        assert getattr(tm, name) is getattr(importlib.import_module(f"tallymark.{module}"), name)
        assert getattr(tm, name).__doc__
    assert "tallymark.app" not in run("import tallymark as tm, sys; print(sorted(sys.modules))").stdout


def test_the_stub_of_the_core_is_up_to_date(tmp_path):
    """Write it anew with: python -m nanobind.stubgen -m tallymark._core -o src/tallymark/_core.pyi, then format."""
    fresh = tmp_path / "_core.pyi"
    subprocess.run([sys.executable, "-m", "nanobind.stubgen", "-q", "-m", "tallymark._core", "-o", fresh], check=True)
    ruff = ["ruff", "format", "-q", "--config", str(ROOT / "pyproject.toml"), str(fresh)]
    subprocess.run([sys.executable, "-m", *ruff], check=True)
    assert fresh.read_text() == (PACKAGE / "_core.pyi").read_text()


def test_threads_follow_the_environment():
    """A number, or a clear error."""
    show = "import tallymark as tm; print(tm.get_threads())"
    assert run(show, TALLYMARK_THREADS="3").stdout.strip() == "3"
    assert run(show, TALLYMARK_THREADS="").stdout.strip() == str(len(os.sched_getaffinity(0)))
    assert (
        "TALLYMARK_THREADS must be an integer from 1 to 1024; got 'many'" in run(show, TALLYMARK_THREADS="many").stderr
    )
    before = tm.get_threads()
    tm.set_threads(np.int64(2))
    assert tm.get_threads() == 2
    tm.set_threads(before)
    for bad in (0, 1025, 1.5, True, "2"):
        with pytest.raises(tm.ParameterError):
            tm.set_threads(bad)


def test_a_forked_child_can_evaluate():
    """No thread pool is lost in the fork."""
    code = (
        "import os, numpy as np, tallymark as tm; tm.set_threads(2); y = np.arange(300_000.0); tm.rmse(y, y + 1)\n"
        "pid = os.fork()\n"
        "if pid == 0: os._exit(0 if tm.rmse(y, y + 1) == 1.0 else 1)\n"
        "print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))"
    )
    assert run(code).stdout.strip() == "0"


def test_eight_threads_can_share_metrics_and_reports():
    """The same objects from eight threads at once."""
    rng = np.random.default_rng(1)
    y = rng.normal(size=100_000)
    p = y + rng.normal(size=100_000)
    expected = dict(tm.evaluate(y, p, ["rmse", "r2", "mape"]))
    found = []
    threads = [
        threading.Thread(target=lambda: found.append(dict(tm.evaluate(y, p, ["rmse", "r2", "mape"])))) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 8


@pytest.mark.slow
def test_more_rows_than_an_int_can_count():
    """2³¹ + 5 rows that take no memory: index arithmetic must not wrap."""
    n = 2**31 + 5
    y, p = np.broadcast_to(np.int8(1), n), np.broadcast_to(np.int8(3), n)
    assert tm.rss(y, p) == 4.0 * n
    tail = np.lib.stride_tricks.as_strided(np.zeros(1, np.int8), (n, 1), (0, 1))
    assert tm.mae(tail, p) == 3.0


@pytest.mark.parametrize(
    "bad",
    [
        0,
        None,
        "x",
        b"abc",
        object(),
        [[[1.0]]],
        [1, "a"],
        [[1], [1, 2]],
        {1: 2},
        {1.0},
        float("nan"),
        [None],
        [object()],
        [1j],
        np.array(1.0),
        np.zeros((0,)),
        np.zeros((2, 0)),
        np.zeros((1, 1, 1)),
        np.array([1], dtype="M8[s]"),
        np.array(["a"]),
        np.array([b"a"]),
        np.array([None]),
        np.zeros(1, dtype="V8"),
        np.array([float("inf")], dtype=np.float16),
        np.ma.masked_all(3),
        range(0),
        type,
        lambda: 1,
    ],
)
def test_odd_input_is_a_clear_error_and_nothing_else(bad):
    """As truth, as predictions, as both and as weights."""
    for call in (
        lambda: tm.rmse(bad, [1.0]),
        lambda: tm.rmse([1.0], bad),
        lambda: tm.rmse(bad, bad),
        lambda: tm.evaluate(bad, bad, ["r2", "spearman"], errors="raise"),
        lambda: tm.accuracy(bad, [0.5]),
        lambda: tm.silhouette(bad, [1]),
    ):
        with pytest.raises(tm.TallymarkError):
            call()
    for call in (
        lambda: tm.accuracy(bad, bad),
        lambda: tm.adjusted_rand(bad, bad),
        lambda: tm.confusion_matrix([1], bad),
        lambda: tm.top_k_accuracy(bad, bad),
        lambda: tm.evaluate(bad, bad),
    ):
        with contextlib.suppress(tm.TallymarkError):  # some of these are labels
            call()
    if bad is not None and np.size(np.asanyarray(bad, dtype=object)) > 0:  # nothing, and an empty sequence: unweighted
        with pytest.raises(tm.TallymarkError):
            tm.rmse([1.0, 2.0], [1.0, 3.0], weights=bad)


def test_the_core_refuses_what_would_read_beyond_its_input():
    """Even when it is called past the validation."""
    tasks = _core.Tasks([(1, 0.0, 0, 0), (18, 0.1, 0, 0)])
    one, two = np.ones(3), np.ones((3, 2))
    with pytest.raises(ValueError, match="no such prediction column"):
        tasks.run(one, one, None, False)
    with pytest.raises(ValueError, match="differ in length"):
        tasks.run(one, np.ones((4, 2)), None, False)
    with pytest.raises(ValueError, match="differ in length"):
        tasks.run(one, two, np.ones(2), False)
    with pytest.raises(ValueError, match="one column"):
        tasks.run(one, two, two, False)
    with pytest.raises(ValueError, match="no such truth column"):
        _core.Tasks([(1, 0.0, 1, 0)]).run(one, one, None, False)
    with pytest.raises(ValueError, match="no such term"):
        _core.Tasks([(99, 0.0, 0, 0)])
    with pytest.raises(ValueError, match="dimensions"):
        tasks.run(np.ones((2, 2, 2)), two, None, False)
    with pytest.raises(ValueError, match="not numeric"):
        tasks.run(np.ones(3, ">f8"), two, None, False)
    for wrapping in (2**64 - 1, 2**64 - 2):
        with pytest.raises(ValueError, match="no such prediction column"):
            _core.Tasks([(18, 0.1, 0, wrapping)]).run(one, two, None, False)
    with pytest.raises(ValueError, match="no such truth column"):
        _core.Tasks([]).run(np.ones((3, 0)), two, one, False)
    with pytest.raises(TypeError):
        tasks.run([1.0], two, None, False)
    with pytest.raises(TypeError):
        tasks.run(one)


def test_a_mutating_array_protocol_cannot_crash():
    """An __array__ that raises, or returns something odd."""

    class Raises:
        def __array__(self, *args, **kwargs):
            raise RuntimeError("no")

    class Odd:
        def __array__(self, *args, **kwargs):
            return "text"

    for bad in (Raises(), Odd()):
        with pytest.raises(tm.TypeOfDataError, match="could not be read"):
            tm.rmse(bad, Y)


def test_a_name_of_another_home_says_where_it_is():
    """Not only what metrics are called."""
    for name, ours in (("cross_val_score", "model_selection.cross_validate"), ("make_scorer", "sklearn.scorer")):
        with pytest.raises(AttributeError, match=f"tallymark has no '{name}'; use tm.{ours}"):
            getattr(tm, name)
    for name, home in (("cross_validate", "model_selection"), ("EarlyStopping", "training"), ("Slices", "evaluation")):
        with pytest.raises(AttributeError, match=f"tallymark has no '{name}'; it is tm.{home}.{name}"):
            getattr(tm, name)
    with pytest.raises(AttributeError, match="module 'tallymark' has no attribute 'nothing'"):
        _ = tm.nothing
