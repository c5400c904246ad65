"""Every metric beside an independent reference: how to draw a random case, and how far apart the values may be.

`tests/references/test_comparisons.py` runs a few cases of each, `make validate` many.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import mpmath
import numpy as np
from fairlearn import metrics as fair
from scipy import stats
from sklearn import metrics as sk
from sklearn.calibration import calibration_curve
from sklearn.metrics.cluster import contingency_matrix
from statsmodels.stats.inter_rater import cohens_kappa
from statsmodels.tools import eval_measures

import tallymark as tm
from tests.metrics.test_group_metrics import FAIRLEARN, draw_groups
from tests.references import (
    test_exact_twin,
    test_rankings,
    test_sklearn,
    test_sklearn_clusters,
    test_sklearn_curves,
    test_sklearn_labels,
    test_sklearn_probabilities,
    test_sklearn_scores,
)
from tests.references.exact_ranks import exact_ranks
from tests.references.exact_twin import TWINS
from tests.references.label_cases import NUMBERS, draw, peer, their_ratio
from tests.references.test_sklearn_ratios import RATES, tables_of

Pair = tuple[Any, Any]  # our value and that of the reference: numbers, or arrays of as many
Case = Callable[[np.random.Generator], Pair]


class Comparison(NamedTuple):
    """A metric with its parameters, what it is compared with, a random case, and the largest difference allowed."""

    metric: str
    reference: str
    case: Case
    tolerance: float = 1e-12


def difference(metric: tm.Metric, ours: Any, theirs: Any) -> float:
    """The largest difference, relative to the value, or to 1 where a value near 0 is a difference of numbers near 1."""
    found, expected = (np.asarray(side, float).ravel() for side in (ours, theirs))
    if found.shape != expected.shape:
        return math.inf
    size = np.maximum(np.abs(expected), 1.0 if metric.range[1] == 1.0 or metric.family == "clustering" else 0.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        apart = np.where(found == expected, 0.0, np.abs(found - expected) / size)
    apart[np.isnan(found) & np.isnan(expected)] = 0.0
    return float(np.where(np.isnan(apart), math.inf, apart).max(initial=0.0))


def largest_difference(comparison: Comparison, cases: int) -> float:
    """The largest difference among random cases, always the same ones."""
    rng, metric = np.random.default_rng(list(comparison.metric.encode())), tm.metric(comparison.metric)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of references, where a value is undefined
        return max(difference(metric, *comparison.case(rng)) for _ in range(cases))


def weights_or_none(rng, n):
    return rng.uniform(0.1, 5, n) if rng.random() < 0.5 else None


# Regression


def of_values(name, given, rng):
    function, factor, domain = given
    return test_sklearn.both(name, function, factor, *test_sklearn.draw(rng, name, domain))


def exact_values(name, _, rng):
    y, p = test_exact_twin.draw(rng, *test_exact_twin.CASES[rng.integers(len(test_exact_twin.CASES))])
    w = weights_or_none(rng, len(y))
    return tm.metric(name)(y, p, weights=w), test_exact_twin.exact_value(name, y, p, w)


def of_statsmodels(name, function, rng):
    y, p = test_exact_twin.draw(rng, 0, 1, 1)
    return tm.metric(name)(y, p), function(p, y)


def log_cosh(rng):
    y, p = test_exact_twin.draw(rng, 0, 1, 10.0 ** rng.integers(-9, 3))
    with mpmath.workdps(50):
        return tm.log_cosh(y, p), float(mpmath.fsum(mpmath.log(mpmath.cosh(e)) for e in (p - y).tolist()) / len(y))


def mase(rng):
    y, p = test_exact_twin.draw(rng, 0, 1, 1)
    return tm.mase(y, p, scale=2.5), test_exact_twin.exact_value("mae", y, p, None) / 2.5


def d2_pinball(rng):
    y, p = rng.normal(size=(2, 31))
    w = rng.uniform(0.5, 2, 31)
    return tm.d2_pinball(y, p, alpha=0.25, weights=w), sk.d2_pinball_score(y, p, alpha=0.25, sample_weight=w)


def correlation(name, function, rng):
    y = np.round(rng.normal(size=int(rng.integers(9, 50))), int(rng.integers(1, 4)))
    p = np.round(y + rng.normal(size=len(y)), 1)
    return tm.metric(name)(y, p), function(y, p).statistic


def bounds(rng):
    n = int(rng.integers(1, 60))
    return rng.normal(size=n), np.sort(rng.normal(0, 2, (n, 2)), axis=1), weights_or_none(rng, n)


def coverage(rng):
    y, p, w = bounds(rng)
    inside = (p[:, 0] <= y) & (y <= p[:, 1])
    return tm.coverage(y, p, weights=w), sk.accuracy_score(np.ones(len(y)), inside, sample_weight=w)


def interval_score(rng):
    y, p, w = bounds(rng)
    losses = [sk.mean_pinball_loss(y, p[:, k], alpha=alpha, sample_weight=w) for k, alpha in ((0, 0.1), (1, 0.9))]
    return tm.interval_score(y, p, level=0.8, weights=w), 2 / 0.2 * sum(losses)


def crps_quantile(rng):
    n, alphas = int(rng.integers(1, 60)), (0.1, 0.25, 0.5, 0.9)
    y, p, w = rng.normal(size=n), np.sort(rng.normal(size=(n, 4)), axis=1), weights_or_none(rng, n)
    losses = [sk.mean_pinball_loss(y, p[:, k], alpha=alpha, sample_weight=w) for k, alpha in enumerate(alphas)]
    area = np.trapezoid([losses[0], *losses, losses[-1]], [0, *alphas, 1])
    return tm.crps_quantile(y, p, alphas=alphas, weights=w), 2 * area


# Labels


def of_labels(name, function, rng):
    case = draw(rng, exact=name == "error")  # theirs is the difference of two sums of weights, which would round
    return tm.metric(name)(*case.ours, weights=case.w), peer(function, case.y, case.p, sample_weight=case.w)


def mcc(rng):
    case = draw(rng)
    constant = len(set(case.y.tolist())) == 1 or len(set(case.p.tolist())) == 1  # there it is 0
    theirs = math.nan if constant else peer(sk.matthews_corrcoef, case.y, case.p, sample_weight=case.w)
    return tm.mcc(*case.ours, weights=case.w), theirs


def kappa_of_statsmodels(rng):
    y, p = rng.integers(0, 4, (2, int(rng.integers(20, 60))))
    return tm.cohen_kappa(y, p), cohens_kappa(sk.confusion_matrix(y, p)).kappa


def positive_class(name, rng):
    """Our value of a class, the case and the class."""
    case = draw(rng, binary=True, exact=True)
    positive = case.universe[1].item()
    facts = {} if positive == 1 else {"positive": positive}
    return tm.metric(name)(*case.ours, weights=case.w, **facts), case, positive


def their_share(name, function, rng):
    ours, case, positive = positive_class(name, rng)
    asked = {"labels": [positive], "average": None, "sample_weight": case.w, "zero_division": np.nan}
    return ours, peer(function, case.y, case.p, **asked)[0]


def share(fraction, case, positive):
    """Numerator and denominator are a function of true and false positives, false and true negatives."""
    above, below = fraction(*(float(part[0]) for part in tables_of(case, np.array([positive]))))
    return above / below if below else math.nan


def rate_of_counts(name, fraction, rng):
    ours, *rows = positive_class(name, rng)
    return ours, share(fraction, *rows)


def sum_of_rates(name, fractions, rng):
    ours, *rows = positive_class(name, rng)
    return ours, sum(share(fraction, *rows) for fraction in fractions) - 1


def averaged(name, given, rng):
    function, average = given
    case = draw(rng)
    asked = {"average": average, "sample_weight": case.w, "zero_division": 0}
    theirs = peer(function, case.y, case.p, labels=case.seen, **asked)
    return tm.metric(name)(*case.ours, weights=case.w, average=average, undefined=0), theirs


def class_report(rng):
    case = draw(rng)
    ours = tm.classification_report(*case.ours, weights=case.w)
    asked = {"labels": case.seen, "sample_weight": case.w, "output_dict": True}
    each = peer(sk.classification_report, case.y, case.p, **asked, zero_division=np.nan)
    means = peer(sk.classification_report, case.y, case.p, **asked, zero_division=0)
    rows = [(ours[label], each[str(label)]) for label in ours.classes]
    rows += [(ours.averages[how], means[f"{how} avg"]) for how in ("macro", "weighted")]
    fields = ("precision", "recall", "f1-score")
    return [row[:3] for row, _ in rows], [[theirs[field] for field in fields] for _, theirs in rows]


def margin_accuracy(rng):
    y, margin = rng.integers(0, 2, 50), np.round(rng.normal(size=50), 1)
    w = weights_or_none(rng, 50)
    return tm.margin_accuracy(y, margin, weights=w), sk.accuracy_score(y, margin >= 0, sample_weight=w)


def hinge(rng):
    """The margins of two classes."""
    y, margin = np.append(rng.integers(0, 2, 48), [0, 1]), np.round(rng.normal(size=50), 1)
    w = weights_or_none(rng, 50)
    return tm.hinge_loss(y, margin, weights=w), sk.hinge_loss(y, margin, sample_weight=w)


def likelihood_ratio(positive, rng):
    """Of rows in which all four outcomes occur."""
    y, p = np.append(rng.integers(0, 2, 46), [0, 0, 1, 1]), np.append(rng.integers(0, 2, 46), [0, 1, 0, 1])
    w = weights_or_none(rng, 50)
    ours = tm.likelihood_ratio_positive if positive else tm.likelihood_ratio_negative
    return ours(y, p, weights=w), sk.class_likelihood_ratios(y, p, sample_weight=w)[not positive]


def top_k(rng):
    classes = NUMBERS[int(rng.integers(2, 5))]
    n, k = int(rng.integers(1, 40)), int(rng.integers(1, len(classes)))
    y, scores = rng.choice(classes, n), rng.normal(0, 10, (n, len(classes)))
    w = weights_or_none(rng, n)
    theirs = peer(sk.top_k_accuracy_score, y, scores, k=k, labels=classes, sample_weight=w)
    return tm.top_k_accuracy(y, scores, k=k, classes=classes, weights=w), theirs


# Clusters


def repeated(rng, y, p):
    """Whole weights, a quarter of the time, and the rows as often as they say."""
    times = rng.integers(1, 5, len(y)) if rng.random() < 0.25 else None
    return times, ((y, p) if times is None else (np.repeat(y, times, axis=0), np.repeat(p, times)))


def of_clusters(name, function, rng):
    y, p = test_sklearn_clusters.draw(rng)
    times, rows = repeated(rng, y, p)
    ours = tm.metric(name)(test_sklearn_clusters.dress(rng, y), test_sklearn_clusters.dress(rng, p), weights=times)
    return ours, function(*rows)


def exact_clusters(name, value, rng):
    """Value is a function of both entropies, mutual information and its expectation, with fifty digits."""
    y, p = rng.integers(0, 3, (2, int(rng.integers(12, 26))))
    with test_sklearn_clusters.localcontext() as context:
        context.prec = 50
        return tm.metric(name)(y, p), float(value(*test_sklearn_clusters.exact_information(y, p)))


def of_large_clusters(name, function, rng):
    """Of several rows each: identical clusterings without a pair of rows are a perfect match here, and 0 there."""
    y, p = rng.integers(0, 5, (2, int(rng.integers(12, 60))))
    return tm.metric(name)(y, p), function(y, p)


def largest_classes(y, p):
    return contingency_matrix(y, p).max(axis=0).sum() / len(y)


def of_points(name, function, rng):
    points, clusters = test_sklearn_clusters.blobs(rng)
    times, rows = repeated(rng, points, clusters)
    if name == "silhouette":  # theirs takes distances from products, where points that coincide lie 1e-8 apart
        function, rows = partial(function, metric="precomputed"), (test_sklearn_clusters.spread(rows[0]), rows[1])
    return tm.metric(name)(points, clusters, weights=times), function(*rows)


def exact_points(name, place, rng):
    points, clusters = test_sklearn_clusters.blobs(rng)
    w = rng.integers(1, 5, len(points)).tolist()
    return tm.metric(name)(points, clusters, weights=w), test_exact_twin.shapes(points, clusters, w)[place]


def davies_bouldin(rng):
    """Theirs takes distances from products, which lose digits near a centre: these points are away from it."""
    clusters = np.repeat(np.arange(3), rng.integers(3, 9, 3))
    points = rng.normal(0, 1, (3, 2))[clusters] + rng.normal(0, 1, (len(clusters), 2))
    return tm.davies_bouldin(points, clusters), sk.davies_bouldin_score(points, clusters)


# Groups


def of_groups(name, function, rng):
    y, p, g, w = draw_groups(rng)
    return tm.metric(name)(y, p, by=g, weights=w), function(y, p, sensitive_features=g, sample_weight=w)


# Probabilities


def of_probabilities(classes, name, function, rng):
    """Of two classes the probability of the second, of several a column each."""
    codes, p, w = test_sklearn_probabilities.rows(rng, classes)
    p = p[:, 1] if classes == 2 else p
    given = {"clip": test_sklearn_probabilities.EPS} if name.endswith("logloss") else {}
    return tm.metric(name)(codes, p, weights=w, **given), function(codes, p, w)


def their_rps(y, p, w):
    """The mean of the Brier scores of all cumulated classes."""
    steps = p.cumsum(axis=1)[:, :-1].clip(0, 1)
    each = [sk.brier_score_loss(y <= k, steps[:, k], sample_weight=w, labels=[0, 1]) for k in range(steps.shape[1])]
    return np.mean(each)


CALIBRATION = ("ece(bins=8)", "mce(bins=8)", "reliability_curve(bins=8)")


def calibration(name, rng):
    """Eight bins: both sides agree about edges that are multiples of a power of two."""
    codes, p, _ = test_sklearn_probabilities.rows(rng, 2)
    chance = np.where(p[:, 1] * 8 == np.floor(p[:, 1] * 8), np.abs(p[:, 1] - 1e-3), p[:, 1])
    shares, means = calibration_curve(codes, chance, n_bins=8)
    sizes = np.histogram(chance, np.linspace(0, 1, 9))[0]
    gaps, ours = np.abs(shares - means), tm.metric(name)(codes, chance)
    if name.startswith("reliability_curve"):
        return [ours.accuracy, ours.confidence], [shares, means]
    return ours, gaps.max() if name.startswith("mce") else np.average(gaps, weights=sizes[sizes > 0])


# Rankings


def of_queries(name, theirs, rng):
    y, p, query, scores = test_rankings.draw(rng)
    ours = tm.metric(name, absent=0)(y, p, query=query)
    return ours, np.mean([scores[q][theirs] for q in set(query)])


def dcg_of_tables(rng):
    """With ties, which are averaged there too."""
    y = rng.choice([0.0, 1.0, 2.0, 0.3], (int(rng.integers(1, 6)), int(rng.integers(2, 12))))
    return tm.dcg(y, p := rng.integers(0, 5, y.shape) / 3, k=3), sk.dcg_score(y, p, k=3)


def ndcg_of_tables(rng):
    """With ties, which are averaged there too; each query has a relevant row."""
    y = rng.choice([0.0, 1.0, 2.0, 0.3], (int(rng.integers(1, 6)), int(rng.integers(2, 12))))
    y[:, 0] = 1
    return tm.ndcg(y, p := rng.integers(0, 5, y.shape) / 3, k=3), sk.ndcg_score(y, p, k=3)


# Scores


def of_scores(name, function, rng):
    y, s, w = test_sklearn_scores.draw(rng)
    return tm.metric(name)(y, s, weights=w), function(y, s, w)


def exact_scores(name, _, rng):
    n = int(rng.integers(3, 14))
    y, s = rng.permutation(np.append([0, 1], rng.integers(0, 2, n - 2))), rng.integers(0, 7, n).astype(float)
    w = weights_or_none(rng, n)
    return tm.metric(name)(y, s, weights=w), float(exact_ranks(y, s, np.ones(n) if w is None else w)[name])


def of_samples(name, function, rng):
    y, s, _ = test_sklearn_scores.draw(rng)
    return tm.metric(name)(y, s), function(s[y == 1] + 0.0, s[y == 0] + 0.0)


def several_classes(name, function, rng):
    y, table = test_sklearn_scores.draw_table(rng, 4)
    return tm.metric(name)(y, table), function(y, table)


def of_curves(_, sides, rng):
    ours, theirs = sides
    y, s, w = test_sklearn_curves.draw(rng)
    return ours(y, s, w), theirs(y, s, w)


def columns(curve, *names):
    return np.array([getattr(curve, name) for name in names])


def their_pr_curve(y, s, w):
    """From the highest threshold on, level before the first."""
    precision, recall, _ = sk.precision_recall_curve(y, s, sample_weight=w)
    precision[-1] = precision[-2]
    return np.array([precision[::-1], recall[::-1]])


def their_counts(y, s, w):
    """True and false positives, false and true negatives, from the highest threshold on."""
    tn, fp, fn, tp, _ = sk.confusion_matrix_at_thresholds(y, s, sample_weight=w)
    return np.array([tp, fp, fn, tn])


def their_lift(y, s, w):
    tp, fp, _, _ = their_counts(y, s, w)
    share, gain = (tp + fp) / (tp + fp)[-1], tp / tp[-1]
    return np.array([share, gain, gain / share])


def det_curve(rng):
    """At the thresholds that theirs has: it leaves out the ends of the curve."""
    y, s, _ = test_sklearn_curves.draw(rng)
    fpr, fnr, thresholds = sk.det_curve(y, s, drop_intermediate=False)
    ours = tm.det_curve(y, s)
    both = np.isin(ours.threshold, thresholds)
    return columns(ours, "fpr", "fnr")[:, both], np.array([fpr[::-1], fnr[::-1]])


def best_threshold(rng):
    """F there, and the highest F of all thresholds."""
    y, s, w = test_sklearn_curves.draw(rng)
    tp, fp, fn, _ = their_counts(y, s, w)
    found = sk.f1_score(y, s >= tm.best_threshold(y, s, weights=w), sample_weight=w)
    return found, (2 * tp / (2 * tp + fp + fn)).max()


SKLEARN, SCIPY, STATSMODELS, EXACT = "scikit-learn", "SciPy", "statsmodels", "exact arithmetic"
DIGITS = "arithmetic of 50 digits"


def each(
    reference: str, case: Callable[..., Pair], table: dict[str, Any], tolerance: float = 1e-12
) -> list[Comparison]:
    """One comparison for every metric of a table: the case is given its name and what the table has beside it."""
    return [Comparison(name, reference, partial(case, name, given), tolerance) for name, given in table.items()]


KAPPAS = {
    f"cohen_kappa(weighting={how})": partial(sk.cohen_kappa_score, weights=how) for how in ("linear", "quadratic")
}
LABELS = {
    **dict(test_sklearn_labels.PLAIN),
    **KAPPAS,
    "error": partial(sk.zero_one_loss, normalize=False),
    "cohen_kappa": sk.cohen_kappa_score,
    "confusion_matrix": sk.confusion_matrix,
}
SHARES = {"precision": sk.precision_score, "recall": sk.recall_score, "sensitivity": sk.recall_score}
SHARES |= {f"fscore(beta={beta})": their_ratio("fscore", beta) for beta in (0.5, 1.0, 2.0)}
AVERAGED = {name: their_ratio(name) for name in ("precision", "recall", "fscore")} | {"jaccard": sk.jaccard_score}
AVERAGES = {
    f"{name}(average={how})": (function, how)
    for name, function in AVERAGED.items()
    for how in ("macro", "micro", "weighted")
}
COUNTED = {**RATES, "selection_rate": lambda tp, fp, fn, tn: (tp + fp, tp + fp + fn + tn)}
SUMS = {
    "informedness": (lambda tp, fp, fn, tn: (tp, tp + fn), RATES["specificity"]),
    "markedness": (lambda tp, fp, fn, tn: (tp, tp + fp), RATES["npv"]),
}
AMI = "adjusted_mutual_information(norm=sum)"
INFORMATION = {
    AMI: lambda one, two, mutual, chance: (mutual - chance) / ((one + two) / 2 - chance),
    "mutual_information": lambda one, two, mutual, chance: mutual,
    "homogeneity": lambda one, two, mutual, chance: mutual / one,
    "completeness": lambda one, two, mutual, chance: mutual / two,
}
SHAPES = dict(test_sklearn_clusters.SHAPES)
TWO_CLASSES = {
    "logloss": lambda y, p, w: sk.log_loss(y, p, sample_weight=w),
    "brier": lambda y, p, w: sk.brier_score_loss(y, p, sample_weight=w),
    "d2_logloss": lambda y, p, w: sk.d2_log_loss_score(y, p, sample_weight=w),
    "d2_brier": lambda y, p, w: sk.d2_brier_score(y, p, sample_weight=w),
}
SEVERAL_CLASSES = {
    **TWO_CLASSES,
    "brier": lambda y, p, w: sk.brier_score_loss(y, p, sample_weight=w, scale_by_half=False),
    "rps": their_rps,
}
SCORES = {
    **test_sklearn_scores.THEIRS,
    "auc(max_fpr=0.25)": lambda y, s, w: sk.roc_auc_score(y, s, sample_weight=w, max_fpr=0.25),
}
AREAS = {
    "auc(multiclass=ovr)": lambda y, table: sk.roc_auc_score(y, table, multi_class="ovr"),
    "auc(multiclass=ovo)": lambda y, table: sk.roc_auc_score(y, table, multi_class="ovo"),
    "average_precision(average=macro)": lambda y, table: sk.average_precision_score(np.eye(4)[y], table),
}
SAMPLES = {
    "ks": lambda a, b: stats.ks_2samp(a, b, method="asymp").statistic,
    "auc": lambda a, b: stats.mannwhitneyu(a, b, method="asymptotic").statistic / len(a) / len(b),
}
CURVES = {
    "roc_curve": (
        lambda y, s, w: columns(tm.roc_curve(y, s, weights=w, drop=False), "fpr", "tpr"),
        lambda y, s, w: sk.roc_curve(y, s, sample_weight=w, drop_intermediate=False)[:2],
    ),
    "pr_curve": (
        lambda y, s, w: columns(tm.pr_curve(y, s, weights=w, drop=False), "precision", "recall"),
        their_pr_curve,
    ),
    "lift_curve": (
        lambda y, s, w: columns(tm.lift_curve(y, s, weights=w), "share", "gain", "lift")[:, 1:],
        their_lift,
    ),
    "threshold_table": (
        lambda y, s, w: np.array(tm.threshold_table(y, s, weights=w).cells)[:, 1:],
        their_counts,
    ),
}
ERRORS = {
    "mse": eval_measures.mse,
    "rmse": eval_measures.rmse,
    "mae": eval_measures.meanabs,
    "mean_bias": eval_measures.bias,
    "median_absolute_error": eval_measures.medianabs,
}

COMPARISONS: list[Comparison] = [
    *each(SKLEARN, of_values, {name: given for name, *given in test_sklearn.PEERS}),
    *each(EXACT, exact_values, TWINS),
    *each(STATSMODELS, of_statsmodels, ERRORS),
    *each(SCIPY, correlation, {"pearson": stats.pearsonr, "spearman": stats.spearmanr}),
    Comparison("log_cosh", DIGITS, log_cosh),
    Comparison("mase(scale=2.5)", EXACT, mase),
    Comparison("d2_pinball(alpha=0.25)", SKLEARN, d2_pinball),
    Comparison("coverage", SKLEARN, coverage),
    Comparison("interval_score(level=0.8)", "pinball losses of scikit-learn", interval_score),
    Comparison("crps_quantile", "pinball losses of scikit-learn", crps_quantile),
    *each(SKLEARN, of_labels, LABELS),
    Comparison("mcc", SKLEARN, mcc),
    Comparison("cohen_kappa", STATSMODELS, kappa_of_statsmodels),
    Comparison("classification_report", SKLEARN, class_report),
    *each(SKLEARN, their_share, SHARES),
    *each(SKLEARN, averaged, AVERAGES),
    *each("counts of scikit-learn", rate_of_counts, COUNTED),
    *each("counts of scikit-learn", sum_of_rates, SUMS),
    Comparison("margin_accuracy", SKLEARN, margin_accuracy),
    Comparison("hinge_loss", SKLEARN, hinge),
    Comparison("likelihood_ratio_positive", SKLEARN, partial(likelihood_ratio, True)),
    Comparison("likelihood_ratio_negative", SKLEARN, partial(likelihood_ratio, False)),
    Comparison("top_k_accuracy", SKLEARN, top_k),
    *each(SKLEARN, of_clusters, dict(test_sklearn_clusters.PEERS)),
    *each(
        SKLEARN, of_large_clusters, {"fowlkes_mallows": sk.fowlkes_mallows_score, AMI: sk.adjusted_mutual_info_score}
    ),
    *each("counts of scikit-learn", of_clusters, {"purity": largest_classes}),
    *each(DIGITS, exact_clusters, INFORMATION),
    *each(SKLEARN, of_points, {name: SHAPES[name] for name in ("silhouette", "calinski_harabasz")}),
    Comparison("davies_bouldin", SKLEARN, davies_bouldin),
    *each(EXACT, exact_points, {"calinski_harabasz": 0, "davies_bouldin": 1}),
    *each("fairlearn", of_groups, {name: getattr(fair, theirs) for name, theirs in FAIRLEARN.items()}),
    *each("scikit-learn, two classes", partial(of_probabilities, 2), TWO_CLASSES),
    *each("scikit-learn, four classes", partial(of_probabilities, 4), SEVERAL_CLASSES),
    *(Comparison(name, "bins of scikit-learn", partial(calibration, name)) for name in CALIBRATION),
    *each("trec_eval", of_queries, test_rankings.TREC),
    Comparison("ndcg(k=3)", SKLEARN, ndcg_of_tables),
    Comparison("dcg(k=3)", SKLEARN, dcg_of_tables),
    *each(SKLEARN, of_scores, SCORES),
    *each(SKLEARN, several_classes, AREAS),
    *each(SCIPY, of_samples, SAMPLES),
    *each(EXACT, exact_scores, test_sklearn_scores.THEIRS, 3e-16),
    *each(SKLEARN, of_curves, CURVES),
    Comparison("det_curve", SKLEARN, det_curve),
    Comparison("best_threshold", SKLEARN, best_threshold),
]
