"""`patch` lets tallymark answer scikit-learn wherever its functions were imported, and `unpatch` undoes all of it."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import threading
import types

import numpy as np
import pytest
import sklearn.metrics
import sklearn.metrics.cluster
from joblib import Parallel, delayed
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score

import tallymark as tm
from tallymark.sklearn import adapters, metrics, patched, patching

theirs = sklearn.metrics._classification  # where nothing is patched


@pytest.fixture(autouse=True)
def _unpatched():
    tm.sklearn.status(reset=True)
    yield
    tm.sklearn.unpatch()


def calls(name):
    return tm.sklearn.status().calls.get(name)


def test_patch_replaces_functions_in_scikit_learn_its_scorers_and_modules_that_imported_them():
    module = types.ModuleType("user_module")
    module.score, module.other = theirs.f1_score, len
    sys.modules["user_module"] = module
    try:
        tm.sklearn.patch()
        assert sklearn.metrics.f1_score is module.score is patched.FUNCTIONS["f1_score"]
        assert sklearn.metrics.get_scorer("f1")._score_func is module.score
        assert sklearn.metrics._classification.f1_score is theirs.f1_score
        tm.sklearn.unpatch()
        assert sklearn.metrics.f1_score is module.score is theirs.f1_score
        assert sklearn.metrics.get_scorer("f1")._score_func is theirs.f1_score
    finally:
        del sys.modules["user_module"]


def test_unpatch_reaches_modules_imported_meanwhile_but_not_imports_from_tallymark():
    tm.sklearn.patch()
    module = types.ModuleType("late_module")
    module.theirs, module.ours = sklearn.metrics.f1_score, metrics.f1_score
    sys.modules["late_module"] = module
    try:
        tm.sklearn.unpatch()
        assert module.theirs is theirs.f1_score
        assert module.ours is metrics.f1_score is not theirs.f1_score
    finally:
        del sys.modules["late_module"]


def test_as_a_context_manager_it_undoes_only_its_own_patch():
    with tm.sklearn.patch() as outer:
        assert "patched: tallymark" in repr(outer)
        with tm.sklearn.patch():
            pass
        assert patching.is_patched()
        assert sklearn.metrics.accuracy_score is not adapters.originals()["accuracy_score"]
    assert not patching.is_patched()
    assert "not patched" in repr(outer)
    tm.sklearn.unpatch()  # is fine where nothing is patched


def test_a_block_within_a_patch_gives_its_strictness_back():
    with tm.sklearn.patch():
        with tm.sklearn.patch(strict=False):
            assert not patching.is_strict()
        assert patching.is_patched()
        assert patching.is_strict()
        with tm.sklearn.patch(strict=False):
            tm.sklearn.unpatch()
        assert not patching.is_patched()


def test_scorers_that_a_caller_made_are_patched_where_a_module_has_them(monkeypatch):
    scorer = sklearn.metrics.make_scorer(theirs.f1_score, average="macro")
    monkeypatch.setattr(sys.modules[__name__], "scorer", scorer, raising=False)
    with tm.sklearn.patch():
        assert scorer._score_func is not theirs.f1_score
    assert scorer._score_func is theirs.f1_score


def test_searches_use_tallymark_and_give_what_they_give_without():
    x, y = make_classification(200, random_state=0)
    model = LogisticRegression()
    scoring = {"f1": "f1", "accuracy": "accuracy"}
    search = {"cv": 3, "scoring": scoring, "refit": "f1"}
    before = GridSearchCV(model, {"C": [0.1, 1.0]}, **search).fit(x, y).cv_results_
    with tm.sklearn.patch():
        after = GridSearchCV(model, {"C": [0.1, 1.0]}, **search).fit(x, y).cv_results_
    assert calls("f1_score").served == calls("accuracy_score").served == 6
    for key in ("mean_test_f1", "std_test_f1", "mean_test_accuracy", "rank_test_f1"):
        np.testing.assert_array_equal(before[key], after[key])


def _score_in_worker(y):
    import sklearn.metrics as theirs

    score = theirs.accuracy_score(y, y)
    return score, theirs.accuracy_score.__module__, tm.sklearn.status().calls["accuracy_score"].served


@pytest.mark.slow
def test_worker_processes_are_patched_as_well():
    x, y = make_classification(100, random_state=0)
    with tm.sklearn.patch():
        function = sklearn.metrics.accuracy_score
        assert pickle.loads(pickle.dumps(function)) is function
        found = Parallel(n_jobs=2, backend="loky")(delayed(call)(y, y) for call in [function] * 4)
        assert found == [1.0] * 4
        scores = cross_val_score(LogisticRegression(), x, y, scoring="f1_macro", n_jobs=2, cv=2)
    np.testing.assert_allclose(
        scores, cross_val_score(LogisticRegression(), x, y, scoring="f1_macro", cv=2), rtol=1e-15
    )


@pytest.mark.slow
def test_a_new_process_that_unpickles_a_patched_function_patches_itself_while_the_parent_is_patched():
    with tm.sklearn.patch(strict=False):
        pickled = pickle.dumps(sklearn.metrics.f1_score)
        code = (
            "import pickle, sys, sklearn.metrics as m\n"
            "f = pickle.loads(bytes.fromhex(sys.argv[1]))\n"
            "import tallymark.sklearn.patching as p\n"
            "print(m.f1_score is f, p.is_patched(), p.is_strict())"
        )
        run = [sys.executable, "-c", code, pickled.hex()]
        assert subprocess.run(run, capture_output=True, text=True, check=True).stdout == "True True False\n"
    alone = {name: value for name, value in os.environ.items() if name != patching.ENVIRONMENT}
    done = subprocess.run(run, capture_output=True, text=True, check=True, env=alone)
    assert done.stdout == "False False True\n"


def test_signatures_and_documentation_are_those_of_scikit_learn():
    import inspect

    for name, original in adapters.originals().items():
        ours = getattr(metrics, name)
        assert str(inspect.signature(ours)) == str(inspect.signature(original))
        assert ours.__doc__ == original.__doc__
        assert ours.__name__ == name


def test_every_name_of_scikit_learn_is_there():
    for name in sklearn.metrics.__all__:
        assert getattr(metrics, name) is not None
    assert set(dir(metrics)) == set(sklearn.metrics.__all__)
    assert metrics.pairwise_distances is sklearn.metrics.pairwise_distances
    for name in sklearn.metrics.cluster.__all__:
        assert getattr(metrics.cluster, name) is not None
    assert set(dir(metrics.cluster)) == set(sklearn.metrics.cluster.__all__)
    with pytest.raises(AttributeError):
        metrics.cluster.f1_score  # noqa: B018
    with pytest.raises(AttributeError):
        patched.nothing  # noqa: B018


def test_an_untested_version_is_refused_by_name(monkeypatch):
    monkeypatch.setattr(adapters, "TESTED_VERSIONS", ("0.1", "0.2"))
    with pytest.raises(tm.ParameterError, match=r"version that was tested \(0\.1, 0\.2\)"):
        adapters.originals()


def test_a_fallback_is_counted_with_its_reason_and_raises_what_scikit_learn_raises():
    with pytest.raises(ValueError, match="Found input variables with inconsistent numbers of samples"):
        metrics.accuracy_score([0, 1], [0])
    metrics.accuracy_score([[0, 1], [1, 1]], np.array([[0, 1], [1, 0]]) * 1.0)
    found = calls("accuracy_score")
    assert (found.served, found.fallen_back) == (0, 2)
    assert found.reasons["the arguments have different lengths"] == 1
    with pytest.raises(TypeError):
        metrics.accuracy_score()
    shown = str(tm.sklearn.status())
    assert "accuracy_score of scikit-learn: the arguments have different lengths (1)" in shown
    assert tm.sklearn.status().fallen_back == 3
    assert "no function was called" in str(tm.sklearn.status(reset=True) and tm.sklearn.status())


def test_counts_of_threads_add_up():
    def work():
        for _ in range(500):
            metrics.accuracy_score([0, 1], [0, 1])

    threads = [threading.Thread(target=work) for _ in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert calls("accuracy_score").served == 4000


def test_inputs_are_never_changed():
    y, p, w = np.array([0.0, 1.0, 1.0]), np.array([1.0, 1.0, 0.0]), np.array([1.0, 2.0, 3.0])
    for array in (y, p, w):
        array.flags.writeable = False
    assert metrics.f1_score(y, p, sample_weight=w) == theirs.f1_score(y, p, sample_weight=w)


def test_the_extension_of_ipython_patches_and_unpatches():
    from IPython.core.interactiveshell import InteractiveShell

    shell = InteractiveShell.instance()
    shell.run_line_magic("load_ext", "tallymark")
    assert patching.is_patched()
    shell.run_line_magic("unload_ext", "tallymark")
    assert not patching.is_patched()
    InteractiveShell.clear_instance()


SCRIPT = """
import sys
from sklearn.metrics import f1_score
print(f1_score.__module__, sys.argv[1:], __name__, f1_score([0, 1], [0, 1]))
"""


@pytest.mark.slow
def test_accelerate_runs_a_script_as_python_would(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    run = [sys.executable, "-m", "tallymark.accelerate"]
    done = subprocess.run([*run, "--status", str(script), "--deep", "x"], capture_output=True, text=True, check=True)
    assert done.stdout == "tallymark.sklearn.patched ['--deep', 'x'] __main__ 1.0\n"
    assert "sklearn.metrics is patched" in done.stderr
    done = subprocess.run([*run, "-m", "script", "x"], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert done.stdout == "tallymark.sklearn.patched ['x'] __main__ 1.0\n"
    done = subprocess.run([*run, str(tmp_path / "none.py")], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert "there is no file" in done.stderr
    script.write_text("raise SystemExit(3)")
    assert subprocess.run([*run, str(script)], check=False).returncode == 3
