"""Metrics of the user's own, both ways, work wherever a built-in does."""

from __future__ import annotations

import json
import math
import os
import pickle
import shutil
import subprocess
import sys
import sysconfig
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import sklearn.metrics as sk

import tallymark as tm
from tallymark import _core
from tallymark.metrics import registry

Y, P = [3.0, -0.5, 2.0, 7.0], [2.5, 0.0, 2.0, 8.0]


def share_within_half(y_true, y_pred, weights):
    """The share of predictions within half a unit.

    More text.
    """
    return np.average(np.abs(y_pred - y_true) <= 0.5, weights=weights)


@pytest.fixture
def within():
    yield tm.custom(share_within_half, better="higher")
    del registry.functions["share_within_half"]


def test_a_function_is_a_metric(within):
    """One-liner, string, report, tally, weights and direction."""
    assert within(Y, P) == 0.75
    assert within(Y, P, weights=[1, 1, 1, 3]) == 0.5
    assert tm.metric("share_within_half") is within
    report = tm.evaluate(Y, P, ["rmse", within])
    assert report["share_within_half"] == 0.75
    tally = tm.Tally([within]).update(Y[:2], P[:2]) + tm.Tally([within]).update(Y[2:], P[2:])
    assert tally.report()[within] == 0.75
    assert within.better == "higher"
    assert within.grows
    assert within.description == "The share of predictions within half a unit."
    assert "share_within_half" in tm.list_metrics().names
    assert tm.Tally.from_bytes(tally.to_bytes()).report()[within] == 0.75
    assert pickle.loads(pickle.dumps(within)) == within
    assert repr(within) == "custom(share_within_half, name='share_within_half')"
    assert str(within.replace(undefined=0)) == "share_within_half(undefined=0)"
    assert tm.metric(str(within.replace(undefined=0.123456789))) == within.replace(undefined=0.123456789)
    assert tm.metric(within.to_dict()) == within
    assert within.to_dict() == {"name": "share_within_half"}
    assert within([[1.0, 2.0]], [[1.0, 2.0]]) == 1.0


def test_a_function_may_be_wrapped_again(within):
    """As a notebook cell that is run twice does."""
    assert tm.custom(share_within_half, better="higher") == within
    assert tm.metric("share_within_half(undefined=1)").undefined == 1.0


def test_two_functions_of_one_name_are_an_error():
    """One of them would be lost."""
    first, second = (tm.custom(lambda y, p, w, k=k: k, name="same_for_a_test") for k in (1.0, 2.0))
    try:
        with pytest.raises(tm.ParameterError, match="two metrics are called 'same_for_a_test'"):
            tm.evaluate(Y, P, [first, second])
        assert dict(tm.evaluate(Y, P, {"a": first, "b": second})) == {"a": 1.0, "b": 2.0}
    finally:
        registry.functions.clear()


def test_a_formula_that_fails_does_not_stop_the_others():
    """Whatever it raises is in its cell."""

    def broken(y_true, y_pred, weights):
        return 1 / 0

    metric = tm.custom(broken)
    try:
        report = tm.evaluate(Y, P, ["mae", metric], errors="report")
        assert report["mae"] == 0.5
        with pytest.raises(tm.FormulaError, match="the formula of broken failed: ZeroDivisionError") as caught:
            report["broken"]
        assert isinstance(caught.value.__cause__, ZeroDivisionError)
        with pytest.raises(tm.FormulaError):
            tm.evaluate(Y, P, [metric], errors="raise")
        assert tm.evaluate(Y, P, [metric.replace(undefined="raise")], errors="report").failures
    finally:
        registry.functions.clear()


def test_a_function_that_returns_nan_or_infinity():
    """The report says where it comes from."""
    broken = tm.custom(lambda y, p, w: math.nan, name="broken", better=0.5, kind="score")
    huge = tm.custom(lambda y, p, w: math.inf, name="huge")
    try:
        report = tm.evaluate(Y, P, [broken, huge])
        assert report.reasons["broken"] == "the function returned NaN"
        assert broken(Y, P, undefined=0.25) == 0.25
        assert "too large" in report.reasons["huge"]
        assert "near 0.5" in str(report)
    finally:
        registry.functions.clear()


@pytest.fixture
def own():
    """Metrics of a test are unknown after it."""
    yield
    registry.functions.clear()
    registry._changed()


NEW_METRIC = '''
"""A metric in a file of its own."""

from tallymark.metrics.answer import Undefined
from tallymark.metrics.regression.base import SumMetric
from tallymark.states.sums import Output, Term

__all__ = ["NormalizedRmse", "normalized_rmse"]

SQUARED_ERROR, TRUTH_RANGE = Term("squared_error"), Term("truth_range")


class NormalizedRmse(SumMetric):
    """The root mean squared error as a share of the range of the truth."""

    unit = ""
    range = (0.0, float("inf"))
    at_perfect = 0.0
    formula = "rmse / (max y - min y)"
    reading = "0 is perfect."
    outliers = "high: errors are squared."
    pitfalls = ("One extreme truth makes it small.",)
    terms = (SQUARED_ERROR, TRUTH_RANGE)

    def output(self, s: Output) -> float | Undefined:
        width = s.highest(TRUTH_RANGE) - s.lowest(TRUTH_RANGE)
        return s.mean(SQUARED_ERROR) ** 0.5 / width if width else Undefined("the truth is constant")


normalized_rmse = NormalizedRmse()
'''


@pytest.mark.slow
def test_one_file_and_one_import_line_are_enough(tmp_path):
    """The metric is in reports, in the listing and in the law tests, and nothing else was touched."""
    root = Path(__file__).resolve().parents[2]
    for folder in ("src", "tests", "docs", "examples", "bench"):
        shutil.copytree(root / folder, tmp_path / folder)
    for page in root.glob("*.md"):
        shutil.copy(page, tmp_path)
    shutil.copy(root / "pyproject.toml", tmp_path)
    shutil.copy(_core.__file__, tmp_path / "src" / "tallymark")
    metrics = tmp_path / "src" / "tallymark" / "metrics"
    (metrics / "regression" / "normalized_rmse.py").write_text(NEW_METRIC)
    lines = (metrics / "__init__.py").read_text()
    after = "from tallymark.metrics.regression.log_error import *\n"
    assert after in lines
    own = "from tallymark.metrics.regression.normalized_rmse import *\n"
    (metrics / "__init__.py").write_text(lines.replace(after, after + own))
    packages = sysconfig.get_path("platlib")
    alone = {**os.environ, "PYTHONPATH": f"{tmp_path / 'src'}:{tmp_path}:{packages}", "TALLYMARK_TESTS": "fast"}
    script = (
        "import tallymark as tm, json\n"
        "report = tm.evaluate([0.0, 4.0], [2.0, 2.0], ['rmse', 'normalized_rmse'])\n"
        "print(json.dumps([report['normalized_rmse'], 'normalized_rmse' in tm.list_metrics().names]))"
    )
    run = {"capture_output": True, "text": True, "cwd": tmp_path, "env": alone}
    out = subprocess.run([sys.executable, "-S", "-c", script], check=True, **run)
    assert json.loads(out.stdout) == [0.5, True]
    laws = [sys.executable, "-S", "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    done = subprocess.run([*laws, "tests/laws", "-k", "normalized_rmse"], **run)
    assert done.returncode == 0, done.stdout
    done = subprocess.run([*laws, "tests/test_public.py", "-k", "public_names"], **run)
    assert done.returncode == 0, done.stdout


def test_a_subclass_outside_the_package():
    """Defining the class is all there is to it."""

    class HalfMse(tm.extend.SumMetric):
        """Half of the mean squared error."""

        terms = (tm.extend.Term("squared_error"),)

        def output(self, s):
            return s.mean(tm.extend.Term("squared_error")) / 2

    try:
        assert HalfMse()(Y, P) == 0.1875
        assert tm.evaluate(Y, P, ["half_mse", "mse"])["half_mse"] == 0.1875
        assert "half_mse" in tm.list_metrics().names
    finally:
        del registry.classes["half_mse"]


def test_a_subclass_of_metric_itself():
    """A formula over any state, without the conveniences of regression."""
    from tallymark.states.sums import SumsOf, Term

    class TotalTruth(tm.extend.Metric):
        """The sum of the truth."""

        reads = SumsOf(Term("exact_truth"))

        def formula_value(self, state):
            return state.at(0).total(Term("exact_truth"))

    try:
        assert TotalTruth()(Y, P) == 11.5
        assert tm.evaluate(Y, P, [TotalTruth()])["total_truth"] == 11.5
        with pytest.raises(NotImplementedError):
            type("Empty", (tm.extend.Metric,), {})()(Y, P)
    finally:
        registry.classes.pop("total_truth", None)
        registry.classes.pop("empty", None)


def test_a_function_of_labels_gets_labels():
    """Strings as objects, whole numbers as integers; in pieces, with weights, and from bytes."""

    def first_letter(y, p, w):
        """The share of rows whose first letter is right."""
        right = np.array([a[0] == b[0] for a, b in zip(y, p, strict=True)])
        return np.average(right, weights=w)

    metric = tm.custom(first_letter, better="higher", kind="label")
    y, p = ["cat", "dog", "cow"], ["cow", "cat", "cat"]
    assert metric(y, p) == pytest.approx(2 / 3)
    assert metric(y, p, weights=[1, 2, 1]) == 0.5
    assert metric(np.array(y), np.array(p, dtype=object), weights=[1, 0, 1]) == 1.0
    tally = tm.Tally([metric]).update(y[:1], p[:1]).update(y[1:], p[1:])
    assert tm.Tally.from_bytes(tally.to_bytes()).report()["first_letter"] == pytest.approx(2 / 3)
    kinds = tm.custom(lambda y, p, w: float(y.dtype == np.int64), name="is_whole", kind="label")
    assert kinds([1, 2], [1.0, 2.0]) == 1.0
    with pytest.raises(tm.MissingValueError):
        metric(["a", None], ["a", "b"])
    assert tm.evaluate(["a"], ["b"], [metric, "accuracy"])["first_letter"] == 0.0


def test_how_a_function_takes_weights_is_told_by_its_signature(own):
    """By a parameter named weights or sample_weight, or by a third one; without one, weights are refused."""

    def plain(y_true, y_pred):
        return np.mean(np.abs(y_true - y_pred))

    def named(y_true, y_pred, *, scale=2.0, weights=None):
        return np.average(np.abs(y_true - y_pred), weights=weights)

    def third(y_true, y_pred, w):
        return named(y_true, y_pred, weights=w)

    def any_keywords(y_true, y_pred, **rest):
        assert not rest
        return plain(y_true, y_pred)

    w = [1.0, 2.0, 0.0, 3.0]
    for function in (plain, named, third, any_keywords, lambda *both: plain(*both)):
        assert tm.custom(function, name="own_error")(Y, P) == tm.mae(Y, P)
    for function in (named, third, sk.mean_absolute_error):
        assert tm.custom(function, name="own_error")(Y, P, weights=w) == pytest.approx(tm.mae(Y, P, weights=w))
    metric = tm.custom(plain, name="own_error")
    w = [0.5, *w[1:]]
    with pytest.raises(tm.WeightError, match=r"own_error .* takes no fractional `weights`"):
        metric(Y, P, weights=w)
    report = tm.evaluate(Y, P, ["mae", metric], weights=w, errors="report")
    assert list(report.failures) == ["own_error"]
    assert pickle.loads(pickle.dumps(tm.custom(share_within_half)))(Y, P) == 0.75


@pytest.mark.parametrize(
    "function", [lambda y: 0.0, lambda: 0.0, lambda y, p, w, z: 0.0, sk.fbeta_score, lambda y, p, *, b: 0]
)
def test_a_function_that_cannot_be_called_with_two_arrays_is_refused_when_it_is_wrapped(function):
    """Not in the middle of an evaluation."""
    with pytest.raises(tm.ParameterError, match="`function` must take the truth, the predictions"):
        tm.custom(function, name="own_error")


def test_functions_of_scikit_learn_are_taken_as_they_are(own):
    """With texts and probabilities, weights, and the direction and kind of the metric."""
    rng = np.random.default_rng(0)
    y, p, w = rng.choice(["cat", "dog", "owl"], 50), rng.choice(["cat", "dog", "owl"], 50), rng.random(50)
    two, scores, table = y == "cat", rng.random(50), rng.dirichlet(np.ones(3), 50)
    assert tm.custom(sk.accuracy_score)(y, p, weights=w) == pytest.approx(tm.accuracy(y, p, weights=w))
    assert tm.custom(sk.cohen_kappa_score)(y, p, weights=w) == pytest.approx(tm.cohen_kappa(y, p, weights=w))
    assert tm.custom(sk.roc_auc_score)(two.astype(int), scores) == pytest.approx(tm.auc(two, scores))
    assert tm.custom(sk.adjusted_rand_score)(y, p) == pytest.approx(tm.adjusted_rand(y, p))
    log_loss = tm.custom(sk.log_loss)
    assert log_loss(y, table, weights=w) == pytest.approx(tm.logloss(y, table, weights=w))
    assert (str(log_loss), log_loss.better, log_loss.kind) == ("sklearn_log_loss", "lower", "probability")
    assert tm.metric("sklearn_accuracy_score").better == "higher"
    assert tm.custom(sk.hinge_loss).better == "lower"
    names = ["owl", "cat", "dog"]
    assert log_loss(y, table[:, [2, 0, 1]], classes=names) == pytest.approx(tm.logloss(y, table))
    fbeta = tm.custom(partial(sk.fbeta_score, beta=2, average="macro"), name="their_f2")
    assert (fbeta(y, p), fbeta.better) == (pytest.approx(tm.fscore(y, p, beta=2, average="macro")), "higher")
    area = tm.custom(sk.roc_auc_score)
    for positive in ("cat", "owl"):
        rows = (np.where(two, "cat", "owl"), scores)
        given = {"kind": "probability", "positive": positive, "weights": w}
        report = tm.evaluate(*rows, [area, "auc", log_loss, "logloss"], **given)
        assert report[area] == pytest.approx(report["auc"])
        assert report[log_loss] == pytest.approx(report["logloss"])
        tally = tm.Tally([area], kind="probability", positive=positive).update(*rows, weights=w)
        assert tm.Tally.from_bytes(tally.to_bytes()).report()[area] == report[area]
    assert area(np.where(two, 2, 1), scores, positive=1) == pytest.approx(
        tm.auc(np.where(two, 2, 1), scores, positive=1)
    )
    with pytest.raises(tm.ParameterError, match='name="my_metric"'):
        tm.custom(partial(sk.fbeta_score, beta=2))
    with pytest.raises(tm.ParameterError, match='Write better="higher"'):
        tm.custom(sk.fbeta_score, higher_is_better=True)


def test_rows_of_a_function_may_be_texts_and_numbers(own):
    """In pieces, from bytes; a piece of numbers does not go together with one of texts."""
    metric = tm.custom(sk.log_loss)
    y, p = ["a", "b", "a", "b"], np.array([0.2, 0.7, 0.4, 0.9])
    tally = tm.Tally([metric]).update(y[:2], p[:2]).update(y[2:], p[2:])
    assert tm.Tally.from_bytes(tally.to_bytes()).report()[metric] == metric(y, p) == pytest.approx(sk.log_loss(y, p))
    with pytest.raises(tm.StateError, match="do not go together"):
        tally.update([0, 1], p[:2])
    two = tm.custom(lambda y, p: float(p.shape[1]), name="width")
    assert tm.Tally.from_bytes(tm.Tally([two]).update([1.0, 2.0], np.ones((2, 3))).to_bytes()).report()["width"] == 3.0


def test_a_function_without_weights_reads_whole_numbers_as_repeated_rows():
    """So it has intervals by resampling, and unit weights change nothing."""
    metric = tm.custom(lambda y, p: float(np.mean(np.abs(np.asarray(y) - p))), name="own_mean")
    try:
        times = np.arange(len(Y)) % 3
        assert metric(Y, P, weights=times) == metric(np.repeat(Y, times), np.repeat(P, times))
        assert metric(Y, P, weights=np.ones(len(Y))) == metric(Y, P)
        rng = np.random.default_rng(0)
        truth = rng.normal(size=200)
        cells = tm.evaluate(truth, truth + rng.normal(size=200), [metric, "mae"], ci=tm.Intervals(0.9, "bootstrap"))
        assert cells.cell("own_mean").lo == pytest.approx(cells.cell("mae").lo)
        assert cells.cell("own_mean").hi == pytest.approx(cells.cell("mae").hi)
    finally:
        registry.functions.clear()


def test_scores_of_scikit_learn_without_a_metric_here_are_better_when_higher():
    """By the ending of their names, which is their convention."""
    try:
        assert tm.custom(sk.d2_brier_score).better == "higher"
        assert tm.custom(sk.hinge_loss).better == "lower"
        assert tm.custom(sk.max_error).better == "lower"
    finally:
        registry.functions.clear()


def test_functions_of_scikit_learn_know_the_positive_class_of_labels(own):
    """As `pos_label`, where they read it; where it is not known or there are more classes, an error says what to do."""
    y, p = ["no", "yes", "yes", "no"], ["yes", "yes", "yes", "no"]
    f1 = tm.custom(sk.f1_score)
    for positive in ("yes", "no"):
        expected = pytest.approx(tm.f1(y, p, positive=positive))
        assert f1(y, p, positive=positive) == expected
        tally = tm.Tally([f1], positive=positive).update(y[:2], p[:2]).update(y[2:], p[2:])
        assert tm.Tally.from_bytes(tally.to_bytes()).report()[f1] == expected
        assert pickle.loads(pickle.dumps(f1))(y, p, positive=positive) == expected
        assert tm.custom(sk.jaccard_score)(y, p, positive=positive) == tm.jaccard(y, p, positive=positive)
    assert f1([False, True], [True, True]) == f1([0, 1], [1, 1]) == pytest.approx(2 / 3)
    macro = tm.custom(partial(sk.f1_score, average="macro"), name="their_macro_f1")
    assert macro(y, p, positive="yes") == pytest.approx(tm.f1(y, p, average="macro"))
    for call in (lambda: f1(y, p), lambda: tm.custom(sk.brier_score_loss)(y, [0.2, 0.9, 0.7, 0.1])):
        with pytest.raises(tm.ParameterError, match="`positive` must name the positive class, one of 'no', 'yes'"):
            call()
    with pytest.raises(tm.ParameterError, match=r'these rows have 3.*partial\(f1_score, average="macro"\)'):
        f1(["a", "b", "c"], ["a", "b", "b"])
    with pytest.raises(tm.ParameterError, match=r"`average`\. Set .*partial\(f1_score, average='macro'\)"):
        tm.custom(sk.f1_score, average="macro")
