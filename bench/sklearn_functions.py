"""The functions of `sklearn.metrics` answered by tallymark, against scikit-learn's own, in one run on one machine."""

from __future__ import annotations

import statistics
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from measure import best_of, show_time, table
from sklearn import metrics as theirs

import tallymark as tm
from tallymark.sklearn import metrics as ours

SIZES = (100, 10_000, 1_000_000)
CLASSES = 10
LABELS = (
    *("accuracy_score", "balanced_accuracy_score", "classification_report", "cohen_kappa_score", "confusion_matrix"),
    *("hamming_loss", "matthews_corrcoef", "multilabel_confusion_matrix", "precision_recall_fscore_support"),
    "zero_one_loss",
)
AVERAGED = ("f1_score", "jaccard_score", "precision_score", "recall_score")
SCORES = ("roc_auc_score", "average_precision_score", "roc_curve", "precision_recall_curve", "det_curve")
PROBABILITIES = ("log_loss", "brier_score_loss", "d2_log_loss_score", "d2_brier_score")
ERRORS = (
    *("mean_absolute_error", "mean_squared_error", "root_mean_squared_error", "mean_absolute_percentage_error"),
    *("mean_squared_log_error", "median_absolute_error", "max_error", "mean_pinball_loss", "mean_poisson_deviance"),
    *("mean_gamma_deviance", "r2_score", "explained_variance_score", "d2_absolute_error_score", "d2_pinball_score"),
)
CLUSTERS = (
    *("adjusted_rand_score", "rand_score", "mutual_info_score", "normalized_mutual_info_score", "v_measure_score"),
    *("adjusted_mutual_info_score", "fowlkes_mallows_score", "homogeneity_score", "completeness_score"),
    *("pair_confusion_matrix",),
)
SHAPES = ("silhouette_score", "calinski_harabasz_score", "davies_bouldin_score")
RANKINGS = ("ndcg_score", "coverage_error", "label_ranking_loss", "label_ranking_average_precision_score")
QUADRATIC = {"silhouette_score", *RANKINGS}  # of scikit-learn, in rows or by a loop over them


def calls(n: int) -> dict[str, tuple[tuple[Any, ...], dict[str, Any]]]:
    """The arguments of every function, by its name and what is special about them."""
    rng = np.random.default_rng(1)
    y = rng.integers(0, CLASSES, n)
    p = np.where(rng.random(n) < 0.7, y, rng.integers(0, CLASSES, n))
    two = y > 6
    score = rng.normal(size=n) + two
    chance = 1 / (1 + np.exp(-score))
    table_of = rng.dirichlet(np.ones(CLASSES), n)
    truth = rng.gamma(2, 2, n)
    guess = truth * rng.lognormal(0, 0.3, n)
    points = rng.normal(size=(n, 5)) + y[:, None]
    flags = rng.random((n, CLASSES)) < 0.2
    found: dict[str, tuple[tuple[Any, ...], dict[str, Any]]] = {name: ((y, p), {}) for name in LABELS}
    found |= {name: ((y, p), {"average": "macro"}) for name in AVERAGED}
    found |= {"f1_score, strings": ((y.astype(str), p.astype(str)), {"average": "macro"})}
    found |= {"f1_score, several labels": ((flags.astype(int), (table_of > 0.2).astype(int)), {"average": "macro"})}
    found |= {name: ((two, score), {}) for name in SCORES}
    found |= {"roc_auc_score, 10 classes": ((y, table_of), {"multi_class": "ovr"})}
    found |= {name: ((two, chance), {}) for name in PROBABILITIES}
    found |= {"log_loss, 10 classes": ((y, table_of), {}), "hinge_loss": ((two, score), {})}
    found |= {"top_k_accuracy_score": ((y, table_of), {"k": 2})}
    found |= {name: ((truth, guess), {}) for name in ERRORS}
    found |= {"mean_tweedie_deviance": ((truth, guess), {"power": 1.5})}
    found |= {name: ((y, p), {}) for name in CLUSTERS}
    found |= {name: ((points, y), {}) for name in SHAPES}
    found |= {name: ((flags, table_of), {}) for name in RANKINGS}
    return found


def speeds() -> tuple[list[list[str]], dict[int, list[float]]]:
    """Times of both sides by function and size, and the ratios by size."""
    rows: dict[str, list[str]] = {}
    ratios: dict[int, list[float]] = {n: [] for n in SIZES}
    for n in SIZES:
        print(f"functions of scikit-learn, {n:,} rows ...", flush=True)
        for label, (args, options) in calls(n).items():
            name = label.partition(",")[0]
            if name in QUADRATIC and n > 10_000:
                rows[label].append("")
                continue
            sides = {
                side: _call(getattr(module, name), args, options)
                for side, module in (("ours", ours), ("theirs", theirs))
            }
            tm.sklearn.status(reset=True)
            best = best_of(sides, seconds=0.15, least=3)
            if tm.sklearn.status().fallen_back:
                raise RuntimeError(f"{label} of {n} rows was not served: {tm.sklearn.status()}")
            ratio = best["theirs"] / best["ours"]
            ratios[n].append(ratio)
            shown = f"{show_time(best['ours'])} / {show_time(best['theirs'])} = {ratio:.3g}×"
            rows.setdefault(label, [f"`{name}`{label[len(name) :]}"]).append(shown)
    return list(rows.values()), ratios


def _call(function: Callable[..., Any], args: tuple[Any, ...], options: dict[str, Any]) -> Callable[[], Any]:
    return lambda: function(*args, **options)


def overheads() -> list[list[str]]:
    """What an adapter takes beyond tallymark's own call, on 100 rows."""
    given = calls(100)
    pairs = {
        "accuracy_score": tm.accuracy,
        "matthews_corrcoef": tm.mcc,
        "roc_auc_score": tm.auc,
        "log_loss": tm.logloss,
        "mean_absolute_error": tm.mae,
        "r2_score": tm.r2,
        "adjusted_rand_score": tm.adjusted_rand,
    }
    rows = []
    for name, metric in pairs.items():
        args, options = given[name]
        sides = {"ours": _call(getattr(ours, name), args, options), "metric": _call(metric, args, {})}
        best = best_of(sides, seconds=0.3)
        rows.append([f"`{name}`", show_time(best["ours"]), f"`tm.{metric.name}`", show_time(best["metric"])])
    return rows


def sections() -> list[str]:
    warnings.simplefilter("ignore")
    rows, ratios = speeds()
    medians = ", ".join(f"{statistics.median(found):.3g} at {n:,} rows" for n, found in ratios.items())
    least = ", ".join(f"{min(found):.2g} at {n:,}" for n, found in ratios.items())
    return [
        "## Functions of scikit-learn, answered by tallymark",
        "",
        "`tallymark.sklearn.metrics` against `sklearn.metrics`: time here / there = times faster. Functions that loop "
        "over rows or pairs of rows in scikit-learn are left out at a million rows.",
        "",
        f"Median of the ratios: {medians}. Least: {least}.",
        "",
        table(["function", *(f"{n:,} rows" for n in SIZES)], rows),
        "",
        "What an adapter takes beside tallymark's own call, on 100 rows:",
        "",
        table(["function", "time", "metric", "its time"], overheads()),
        "",
    ]


if __name__ == "__main__":
    print("\n".join(sections()))
