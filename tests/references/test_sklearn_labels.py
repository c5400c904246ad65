"""Agreement of the metrics on labels with scikit-learn: every type of label, weights, classes that one side lacks."""

from __future__ import annotations

import math
import warnings
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn import metrics as sk

import tallymark as tm

pytestmark = pytest.mark.slow

# Universes of numbers and of strings, and the ways to hold each: all forms of one kind may meet.
NUMBERS = [[0, 1], [-1, 1], [0, 1, 2, 3, 4], [-7, -1, 0, 1, 30], [-(10**12), -1, 1, 10**12]]
TEXTS = [["no", "yes"], ["cat", "dog", "fox"], ["", "a", "b", "a much longer name than sixteen bytes", "ä", "класс"]]
NUMBER_FORMS = {
    "list": np.ndarray.tolist,
    "array": np.asarray,
    "objects": lambda a: a.astype(object),
    "column": lambda a: a.reshape(-1, 1),
    "pandas": pd.Series,
    "categorical": pd.Categorical,
    "polars": pl.Series,
    "arrow": pa.array,
    "dictionary": lambda a: pa.array(a).dictionary_encode(),
}
TEXT_FORMS = {
    "list": np.ndarray.tolist,
    "array": np.asarray,
    "objects": lambda a: a.astype(object),
    "bytes": lambda a: np.array([s.encode() for s in a.tolist()]),
    "pandas": lambda a: pd.Series(a.tolist()),
    "categorical": lambda a: pd.Series(pd.Categorical(a.tolist(), sorted(set(a.tolist()), reverse=True))),
    "polars": lambda a: pl.Series(a.tolist()),
    "polars categorical": lambda a: pl.Series(a.tolist(), dtype=pl.Categorical),
    "arrow": lambda a: pa.array(a.tolist()),
    "chunks": lambda a: pa.chunked_array([a[: len(a) // 2].tolist(), a[len(a) // 2 :].tolist()], pa.string()),
    "dictionary": lambda a: pa.array(a.tolist()).dictionary_encode(),
}
BETAS = (0.5, 1.0, 2.0, 3.7)
RATES = {  # scikit-learn has none of these: numerator and denominator of tp, fp, fn, tn
    "specificity": lambda tp, fp, fn, tn: (tn, tn + fp),
    "npv": lambda tp, fp, fn, tn: (tn, tn + fn),
    "fallout": lambda tp, fp, fn, tn: (fp, fp + tn),
    "fnr": lambda tp, fp, fn, tn: (fn, tp + fn),
    "fdr": lambda tp, fp, fn, tn: (fp, tp + fp),
    "jaccard": lambda tp, fp, fn, tn: (tp, tp + fp + fn),
}


class Case(NamedTuple):
    """Truth and predictions as plain arrays for scikit-learn and in some form for us, weights, and the universe."""

    y: Any
    p: Any
    ours: tuple[Any, Any]
    w: Any
    universe: Any

    @property
    def seen(self):
        return np.unique(np.concatenate((self.y, self.p)))


def draw(rng, *, binary=False, exact=False):
    """A random case; often a side lacks some classes, or has only one. Exact weights add up without rounding."""
    pool = NUMBERS if rng.random() < 0.5 else TEXTS
    fitting = [labels for labels in pool if len(labels) == 2 or not binary]
    universe = np.array(fitting[int(rng.integers(len(fitting)))])
    n, k = int(rng.integers(1, 50)), len(universe)
    sides = [rng.choice(k, int(rng.integers(1, k + 1)), replace=False) if rng.random() < 0.3 else k for _ in range(2)]
    y = rng.choice(sides[0], n)
    p = np.where(rng.random(n) < rng.random(), y, rng.choice(sides[1], n))
    y, p = universe[y], universe[p]
    w = None
    if rng.random() < 0.5:
        w = rng.integers(1, 200, n) / 64 if exact else rng.uniform(0.1, 5, n)
    forms = list((NUMBER_FORMS if pool is NUMBERS else TEXT_FORMS).values())
    held = [forms[int(rng.integers(len(forms)))](side) for side in (y, p)]
    if universe.tolist() == [0, 1] and rng.random() < 0.3:
        held = [(y == 1).tolist(), p == 1]
    return Case(y, p, (held[0], held[1]), w, universe)


def peer(function, *args, **kwargs):
    """What scikit-learn says, without its warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function(*args, **kwargs)


def agree(ours, theirs, *context):
    """Absolute to 1e-12; undefined on both sides, or on none."""
    ours, theirs = np.asarray(ours, float), np.asarray(theirs, float)
    assert ours.shape == theirs.shape, (ours, theirs, *context)
    same = (np.abs(ours - theirs) <= 1e-12) | (np.isnan(ours) & np.isnan(theirs))
    assert same.all(), (ours, theirs, *context)


def universe_of(rng, case):
    """Keywords for us and labels for scikit-learn: half of the time all classes, in any order, are given."""
    if rng.random() < 0.5:
        return {}, case.seen
    order = rng.permutation(case.universe)
    return {"classes": order.tolist()}, order


PLAIN = [
    ("accuracy", sk.accuracy_score),
    ("error_rate", sk.zero_one_loss),
    ("hamming_loss", sk.hamming_loss),
    ("balanced_accuracy", sk.balanced_accuracy_score),
]


@pytest.mark.parametrize(("name", "function"), PLAIN, ids=[name for name, _ in PLAIN])
@pytest.mark.parametrize("seed", range(2))
def test_shares_of_right_labels(name, function, seed):
    """A hundred and fifty cases each; given classes change nothing."""
    rng = np.random.default_rng([seed, *name.encode()])
    for _ in range(150):
        case = draw(rng)
        facts, _ = universe_of(rng, case)
        agree(
            tm.metric(name)(*case.ours, weights=case.w, **facts),
            peer(function, case.y, case.p, sample_weight=case.w),
            case,
        )


@pytest.mark.parametrize("seed", range(3))
def test_mcc(seed):
    """Two hundred cases each; undefined where a side is constant, where scikit-learn says 0."""
    rng = np.random.default_rng([seed, 1])
    undefined = 0
    for _ in range(200):
        case = draw(rng)
        ours = tm.mcc(*case.ours, weights=case.w)
        if len(set(case.y.tolist())) == 1 or len(set(case.p.tolist())) == 1:
            assert math.isnan(ours)
            undefined += 1
        else:
            agree(ours, peer(sk.matthews_corrcoef, case.y, case.p, sample_weight=case.w), case)
    assert undefined > 20


@pytest.mark.parametrize("weighting", [None, "linear", "quadratic"])
@pytest.mark.parametrize("seed", range(2))
def test_cohen_kappa(weighting, seed):
    """A hundred and twenty cases each; both are undefined where truth and predictions are one and the same class."""
    rng = np.random.default_rng([seed, 2])
    for _ in range(120):
        case = draw(rng)
        facts, labels = universe_of(rng, case)
        theirs = peer(sk.cohen_kappa_score, case.y, case.p, labels=labels, weights=weighting, sample_weight=case.w)
        ours = tm.cohen_kappa(*case.ours, weights=case.w, weighting=weighting, **facts)
        agree(ours, theirs, case)
        assert math.isnan(ours) == (len(case.seen) == 1)


def their_ratio(name, beta=1.0):
    """Precision, recall or F as scikit-learn has it."""
    if name == "fscore":
        return lambda *args, **kwargs: sk.fbeta_score(*args, beta=beta, **kwargs)
    return {"precision": sk.precision_score, "recall": sk.recall_score}[name]


def tables_of(case, labels):
    """The binary table of each class: tp, fp, fn and tn."""
    found = peer(sk.multilabel_confusion_matrix, case.y, case.p, sample_weight=case.w, labels=labels)
    return found[:, 1, 1], found[:, 0, 1], found[:, 1, 0], found[:, 0, 0]


RATIOS = [("precision", None), ("recall", None), *(("fscore", beta) for beta in BETAS)]


@pytest.mark.parametrize("beta", BETAS)
def test_ratios_of_several_classes(beta):
    """Fifty cases of three metrics with eight averages each: absent=0, 1 and "skip" are zero_division."""
    rng = np.random.default_rng([3, int(beta * 10)])
    trio = (tm.precision, tm.recall, tm.FScore(beta=beta))
    undefined = 0
    for _ in range(50):
        case = draw(rng)
        facts, labels = universe_of(rng, case)
        asked = {"labels": labels, "beta": beta, "sample_weight": case.w}

        def check(theirs, case=case, facts=facts, **parameters):
            for metric, expected in zip(trio, theirs[:3], strict=True):
                ours = metric(*case.ours, weights=case.w, **facts, **parameters)
                agree(list(ours.values()) if isinstance(ours, dict) else ours, expected, metric, parameters, case)

        def theirs(average, absent, case=case, asked=asked):
            trio = sk.precision_recall_fscore_support
            return peer(trio, case.y, case.p, **asked, average=average, zero_division=absent)

        assert list(tm.precision(*case.ours, average=None, **facts)) == labels.tolist()
        *each, support = theirs(None, np.nan)
        check(each, average=None)
        check(theirs("micro", np.nan), average="micro")
        for absent in (0.0, 1.0):
            check(theirs("macro", absent), average="macro", absent=absent)
            check(theirs("weighted", absent), average="weighted", absent=absent)
        check(theirs("macro", np.nan), average="macro", absent="skip")
        p, r = theirs("macro", 0.0)[:2]
        below = beta**2 * p + r
        ours = trio[2](*case.ours, weights=case.w, average="macro_pr", **facts)
        agree(ours, (1 + beta**2) * p * r / below if below else 0.0, case)
        means = list(theirs("weighted", np.nan)[:3])
        for k, values in enumerate(each):
            if not support[~np.isnan(values)].any():
                means[k] = math.nan  # no class that has a value is true; scikit-learn takes their plain mean
        check(means, average="weighted", absent="skip")
        undefined += bool(np.isnan(each).any())
    assert undefined > 10


def test_a_mean_by_support_without_support():
    """Where no class that has a value is true in any row, the mean is undefined; there, weights are forgotten."""
    y, p = ["a", "a"], ["b", "b"]
    assert math.isnan(tm.precision(y, p, average="weighted", absent="skip"))
    assert peer(sk.precision_score, y, p, average="weighted", zero_division=np.nan) == 0.0
    nobody, all_of_them = [[0, 0]], [[1, 0]]
    assert math.isnan(tm.precision(nobody, all_of_them, average="weighted"))
    assert tm.precision(nobody, all_of_them, average="macro") == 0.0
    assert peer(sk.precision_score, nobody, all_of_them, average="weighted", zero_division=0) == 0.0


@pytest.mark.parametrize("name", list(RATES))
def test_rates_of_several_classes(name):
    """Eighty cases, each with five ways to average, from the tables that scikit-learn counts."""
    rng = np.random.default_rng([4, *name.encode()])
    metric = tm.metric(name)
    for _ in range(80):
        case = draw(rng, exact=True)
        facts, labels = universe_of(rng, case)
        table = tables_of(case, labels)
        with np.errstate(invalid="ignore"):
            each = np.divide(*RATES[name](*table))
            micro = np.divide(*RATES[name](*(part.sum() for part in table)))
        filled, support = np.nan_to_num(each), table[0] + table[2]
        expected = {None: each, "micro": micro, "macro": filled.mean(), "weighted": np.average(filled, weights=support)}
        for average, value in expected.items():
            found = metric(*case.ours, weights=case.w, average=average, **facts)
            agree(list(found.values()) if average is None else found, value, case)
        skip = np.nanmean(each) if not np.isnan(each).all() else math.nan
        agree(metric(*case.ours, weights=case.w, average="macro", absent="skip", **facts), skip, case)


@pytest.mark.parametrize("average", ["macro", "micro", "weighted", None])
def test_jaccard_of_several_classes(average):
    """A hundred cases each, against the function of that name; both give classes that nobody has 0 in an average."""
    rng = np.random.default_rng(5)
    for _ in range(100):
        case = draw(rng)
        facts, labels = universe_of(rng, case)
        theirs = peer(sk.jaccard_score, case.y, case.p, labels=labels, average=average, sample_weight=case.w)
        ours = tm.jaccard(*case.ours, weights=case.w, average=average, undefined=0, **facts)
        agree(list(ours.values()) if average is None else ours, theirs, case)


@pytest.mark.parametrize("seed", range(2))
def test_ratios_of_the_positive_class(seed):
    """Eighty cases each of fourteen metrics; without a denominator they are undefined, as zero_division=nan."""
    rng = np.random.default_rng([6, seed])
    undefined = 0
    for _ in range(80):
        case = draw(rng, binary=True, exact=True)
        positive = case.universe[int(rng.random() < 0.7)].item()
        facts = {} if positive == 1 else {"positive": positive}
        for name, beta in RATIOS:
            metric = tm.metric(name) if beta is None else tm.FScore(beta=beta)
            theirs = peer(
                their_ratio(name, beta),
                case.y,
                case.p,
                labels=[positive],
                average=None,
                sample_weight=case.w,
                zero_division=np.nan,
            )[0]
            found = metric(*case.ours, weights=case.w, **facts)
            agree(found, theirs, name, case)
            agree(metric(*case.ours, weights=case.w, average="binary", **facts), found)
            undefined += math.isnan(found)
            if positive in case.seen.tolist() and beta == 1.0:
                binary = peer(sk.f1_score, case.y, case.p, pos_label=positive, sample_weight=case.w)
                agree(found, binary, case)
        table = [float(part[0]) for part in tables_of(case, np.array([positive]))]
        for name, fraction in RATES.items():
            above, below = fraction(*table)
            agree(
                tm.metric(name)(*case.ours, weights=case.w, **facts), above / below if below else math.nan, name, case
            )
        tp, fp, fn, tn = table
        if min(tp + fn, tn + fp) > 0:
            agree(tm.informedness(*case.ours, weights=case.w, **facts), tp / (tp + fn) + tn / (tn + fp) - 1)
        if min(tp + fp, tn + fn) > 0:
            agree(tm.markedness(*case.ours, weights=case.w, **facts), tp / (tp + fp) + tn / (tn + fn) - 1)
    assert undefined > 2


def test_the_positive_class_of_several():
    """Two hundred cases: with positive= named, average="binary" is that class against the rest."""
    rng = np.random.default_rng(7)
    for _ in range(200):
        case = draw(rng)
        if len(case.universe) == 2:
            continue
        positive = case.universe[int(rng.integers(len(case.universe)))].item()
        theirs = peer(sk.fbeta_score, case.y == positive, case.p == positive, beta=2, zero_division=np.nan)
        ours = tm.fscore(
            *case.ours, beta=2, average="binary", positive=positive, classes=case.universe.tolist(), undefined=None
        )
        agree(ours, theirs, case)


@pytest.mark.parametrize("seed", range(2))
def test_confusion_matrix(seed):
    """Eighty cases each; counts are whole, weights floats, and shares those of normalize=."""
    rng = np.random.default_rng([8, seed])
    for _ in range(80):
        case = draw(rng)
        facts, labels = universe_of(rng, case)
        theirs = peer(sk.confusion_matrix, case.y, case.p, labels=labels, sample_weight=case.w)
        ours = tm.confusion_matrix(*case.ours, weights=case.w, **facts)
        assert ours.classes == labels.tolist()
        if case.w is None:
            assert np.asarray(ours).dtype == np.int64
            assert np.array_equal(ours, theirs)
        else:
            assert np.allclose(ours, theirs, rtol=1e-12, atol=0)
        by, normalize = [("truth", "true"), ("prediction", "pred"), ("all", "all")][int(rng.integers(3))]
        shares = peer(sk.confusion_matrix, case.y, case.p, labels=labels, sample_weight=case.w, normalize=normalize)
        agree(ours.normalized(by), shares, case)


def same_scores(ours, theirs, *context):
    """One line of a report."""
    agree(ours[:3], [theirs["precision"], theirs["recall"], theirs["f1-score"]], *context)
    assert math.isclose(ours.support, theirs["support"], rel_tol=1e-12)


@pytest.mark.parametrize("seed", range(2))
def test_classification_report(seed):
    """Forty cases each: undefined scores of a class stay so, and count as 0 in the averages."""
    rng = np.random.default_rng([9, seed])
    for _ in range(40):
        case = draw(rng)
        facts, labels = universe_of(rng, case)
        ours = tm.classification_report(*case.ours, weights=case.w, **facts)
        asked = {"labels": labels, "sample_weight": case.w, "output_dict": True}
        each = peer(sk.classification_report, case.y, case.p, **asked, zero_division=np.nan)
        means = peer(sk.classification_report, case.y, case.p, **asked, zero_division=0)
        assert ours.classes == labels.tolist()
        for label in ours.classes:
            same_scores(ours[label], each[str(label)], case)
        same_scores(ours.averages["macro"], means["macro avg"], case)
        same_scores(ours.averages["weighted"], means["weighted avg"], case)
        agree(ours.accuracy, means["accuracy"], case)


@pytest.mark.parametrize("seed", range(2))
def test_top_k_accuracy(seed):
    """A hundred and fifty cases each without ties: scores need no sum and no sign."""
    rng = np.random.default_rng([10, seed])
    for _ in range(150):
        classes = sorted(TEXTS[2]) if rng.random() < 0.5 else NUMBERS[int(rng.integers(2, 5))]
        n, k = int(rng.integers(1, 40)), int(rng.integers(1, len(classes) + 2))
        y = np.array(classes)[rng.integers(0, len(classes), n)]
        scores = rng.normal(0, 10, (n, len(classes)))
        w = rng.uniform(0.1, 5, n) if rng.random() < 0.5 else None
        theirs = peer(sk.top_k_accuracy_score, y, scores, k=k, labels=classes, sample_weight=w)
        agree(tm.top_k_accuracy(y, scores, k=k, classes=classes, weights=w), theirs)
        order = rng.permutation(len(classes))
        shuffled = tm.top_k_accuracy(y, scores[:, order], k=k, classes=np.array(classes)[order], weights=w)
        agree(shuffled, theirs)


def test_top_k_accuracy_with_ties():
    """A class that ties counts as the first of its equals here; there its column decides."""
    y, scores = [0, 1, 2], np.full((3, 3), 1 / 3)
    assert tm.top_k_accuracy(y, scores, k=1) == 1.0
    assert sk.top_k_accuracy_score(y, scores, k=1) == pytest.approx(1 / 3)


def same_on_labels(case_y, given, derived, w, *context, **facts):
    """Several metrics on predictions of another kind, against scikit-learn on the labels that follow from them."""
    agree(tm.accuracy(case_y, given, weights=w, **facts), sk.accuracy_score(case_y, derived, sample_weight=w), *context)
    macro = {"average": "macro", "sample_weight": w, "zero_division": 0, "labels": facts.get("classes")}
    for name in ("precision", "recall", "fscore"):
        theirs = peer(their_ratio(name), case_y, derived, **macro)
        agree(tm.metric(name)(case_y, given, average="macro", weights=w, **facts), theirs, *context)
    theirs = peer(sk.confusion_matrix, case_y, derived, labels=facts.get("classes"), sample_weight=w)
    assert np.allclose(tm.confusion_matrix(case_y, given, weights=w, **facts), theirs, rtol=1e-12, atol=0)


def test_probabilities_and_margins_of_two_classes():
    """A hundred and fifty cases of six calls: positive from the threshold on, also in two columns, in any order."""
    rng = np.random.default_rng(11)
    for _ in range(150):
        universe = [np.array(pair) for pair in ([0, 1], [-1, 1], [False, True], ["no", "yes"])][int(rng.integers(4))]
        n = int(rng.integers(2, 40))
        y = universe[rng.integers(0, 2, n)]
        q = np.round(rng.random(n), int(rng.integers(1, 9)))
        w = rng.uniform(0.1, 5, n) if rng.random() < 0.5 else None
        threshold = 0.5 if rng.random() < 0.3 else float(np.round(rng.random(), 1))
        said = universe[(q >= threshold).astype(int)]
        facts = {"classes": universe.tolist(), "positive": universe[1].item()}
        asked = {"labels": [universe[1]], "average": None, "sample_weight": w, "zero_division": np.nan}
        precision, recall = (peer(f, y, said, **asked)[0] for f in (sk.precision_score, sk.recall_score))
        columns, turned = np.column_stack((1 - q, q)), {**facts, "classes": universe[::-1].tolist()}
        agree(tm.accuracy(y, q, weights=w, threshold=threshold, **facts), sk.accuracy_score(y, said, sample_weight=w))
        agree(tm.recall(y, q, weights=w, threshold=threshold, **facts), recall)
        agree(tm.precision(y, columns, weights=w, threshold=threshold, **facts), precision)
        agree(tm.precision(y, columns[:, ::-1], weights=w, threshold=threshold, **turned), precision)
        margins = np.round(rng.normal(0, 2, n), 1)
        right = sk.accuracy_score(y, universe[(margins >= 0).astype(int)], sample_weight=w)
        agree(tm.accuracy(y, margins, weights=w, kind="margin", **facts), right)
        agree(tm.margin_accuracy(y, margins, weights=w, **facts), right)


def test_probabilities_and_margins_of_several_classes():
    """Fifty cases of five metrics each, twice: the column of the largest, the first of equals, names the class."""
    rng = np.random.default_rng(12)
    for _ in range(50):
        classes = rng.permutation(np.array(TEXTS[2] if rng.random() < 0.5 else NUMBERS[int(rng.integers(2, 5))]))
        n = int(rng.integers(1, 40))
        y = classes[rng.integers(0, len(classes), n)]
        w = rng.uniform(0.1, 5, n) if rng.random() < 0.5 else None
        table = rng.integers(0, 9, (n, len(classes))) + 0.125  # many ties
        facts = {"classes": classes.tolist()}
        derived = classes[table.argmax(axis=1)]
        same_on_labels(y, table / table.sum(axis=1, keepdims=True), derived, w, **facts)
        agree(tm.accuracy(y, table, normalize=True, weights=w, **facts), sk.accuracy_score(y, derived, sample_weight=w))
        margins = rng.normal(0, 5, table.shape)
        derived = classes[margins.argmax(axis=1)]
        same_on_labels(y, margins, derived, w, kind="margin", **facts)


def draw_tables(rng):
    """Truth and predictions of several labels per row, weights; now and then a label that nobody has."""
    n, k = int(rng.integers(1, 40)), int(rng.integers(2, 6))
    rare = rng.random(k) * (rng.random(k) < 0.8)
    y = (rng.random((n, k)) < rare).astype(int)
    p = np.where(rng.random((n, k)) < rng.random(), y, rng.random((n, k)) < rare * (rng.random(k) < 0.8)).astype(int)
    return y, p, rng.uniform(0.1, 5, n) if rng.random() < 0.5 else None


def indicators(table):
    """A table as scikit-learn reads it even if it has one row, and so looks like something else."""
    from scipy.sparse import csr_matrix

    return csr_matrix(table)


MULTILABEL = [*RATIOS[:4], ("jaccard", None)]


@pytest.mark.parametrize(("name", "beta"), MULTILABEL, ids=[f"{name}-{beta}" for name, beta in MULTILABEL])
def test_several_labels_per_row(name, beta):
    """Sixty cases of four averages, as tables of numbers, bools and probabilities."""
    rng = np.random.default_rng([13, *name.encode()])
    undecided = 0
    for _ in range(60):
        y, p, w = draw_tables(rng)
        forms = (
            p,
            p.astype(bool),
            p.tolist(),
            np.where(p == 1, rng.uniform(0.5, 1, p.shape), rng.random(p.shape) / 2.1),
        )
        given = forms[int(rng.integers(4))]
        metric = tm.metric(name) if beta is None else tm.FScore(beta=beta)
        function = sk.jaccard_score if name == "jaccard" else their_ratio(name, beta)
        for average in ("macro", "micro", "weighted", None):
            theirs = peer(function, indicators(y), indicators(p), average=average, sample_weight=w, zero_division=0)
            ours = metric(y, given, average=average, weights=w)
            if average is None:
                assert list(ours) == list(range(y.shape[1]))
                blank = np.isnan(list(ours.values()))
                agree(np.nan_to_num(list(ours.values())), theirs, y, p)
                if name != "jaccard":
                    nans = peer(
                        function, indicators(y), indicators(p), average=None, sample_weight=w, zero_division=np.nan
                    )
                    assert np.array_equal(blank, np.isnan(nans))
            elif average == "weighted" and not y.any():
                assert math.isnan(ours)
                undecided += 1
            elif average == "micro":
                agree(np.nan_to_num(ours), theirs, y, p)
            else:
                agree(ours, theirs, average, y, p)
    assert undecided > 0


def test_right_rows_and_wrong_labels():
    """A hundred and fifty cases of accuracy, error rate and Hamming loss of rows with several labels."""
    rng = np.random.default_rng(14)
    for _ in range(150):
        y, p, w = draw_tables(rng)
        one, two = indicators(y), indicators(p)
        agree(tm.accuracy(y, p, weights=w), sk.accuracy_score(one, two, sample_weight=w))
        agree(tm.error_rate(y, p, weights=w), sk.zero_one_loss(one, two, sample_weight=w))
        agree(tm.hamming_loss(y, p, weights=w), sk.hamming_loss(one, two, sample_weight=w))


def test_reports_of_several_labels_per_row():
    """Fifty cases: the report has a micro average too."""
    rng = np.random.default_rng(15)
    for _ in range(50):
        y, p, w = draw_tables(rng)
        ours = tm.classification_report(y, p, weights=w)
        asked = {"sample_weight": w, "output_dict": True}
        each = peer(sk.classification_report, indicators(y), indicators(p), **asked, zero_division=np.nan)
        means = peer(sk.classification_report, indicators(y), indicators(p), **asked, zero_division=0)
        for label in ours.classes:
            same_scores(ours[label], each[str(label)], y, p)
        same_scores(ours.averages["micro"], each["micro avg"], y, p)
        same_scores(ours.averages["macro"], means["macro avg"], y, p)
        if y.any():
            same_scores(ours.averages["weighted"], means["weighted avg"], y, p)
        else:
            assert all(map(math.isnan, ours.averages["weighted"][:3]))


@pytest.mark.parametrize("texts", [False, True])
def test_every_form_of_labels_gives_the_same(texts):
    """All pairs of forms of truth and predictions, to the last bit."""
    rng = np.random.default_rng(16)
    for universe in TEXTS if texts else NUMBERS:
        y, p = (np.array(universe)[rng.integers(0, len(universe), 30)] for _ in range(2))
        expected = tm.fscore(y, p, average=None)
        theirs = peer(sk.f1_score, y, p, average=None)
        agree(list(expected.values()), theirs)
        forms = TEXT_FORMS if texts else NUMBER_FORMS
        for first in forms.values():
            for second in forms.values():
                assert tm.fscore(first(y), second(p), average=None) == expected


def test_bools_are_numbers():
    """True is 1 and False is 0, on either side and in every container."""
    rng = np.random.default_rng(17)
    y, p = rng.random(40) < 0.5, rng.random(40) < 0.5
    theirs = [sk.precision_score(y, p), sk.recall_score(y, p), sk.matthews_corrcoef(y, p)]
    for form in (np.asarray, np.ndarray.tolist, pd.Series, pl.Series, pa.array, lambda a: a.astype(object)):
        for left, right in ((form(y), form(p)), (form(y), p.astype(int)), (y.astype(np.int8), form(p))):
            agree([tm.precision(left, right), tm.recall(left, right), tm.mcc(left, right)], theirs)


def test_a_weight_of_zero_leaves_the_row_and_its_class_out():
    """Scikit-learn keeps a class all of whose rows weigh nothing, and gives it 0 in the mean."""
    y, p, w = ["a", "b", "c"], ["a", "b", "c"], [1, 1, 0]
    assert tm.recall(y, p, weights=w, average=None) == {"a": 1.0, "b": 1.0}
    assert tm.recall(y, p, weights=w, average="macro") == 1.0
    assert peer(sk.recall_score, y, p, sample_weight=w, average="macro") == pytest.approx(2 / 3)
    assert math.isnan(tm.recall(y, p, weights=w, average=None, classes=["a", "b", "c"])["c"])
