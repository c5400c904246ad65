"""Measure how good models are. A metric is a state you can add, and a formula that reads it.

Everything else has a home: `tm.metrics` (metric classes and what metrics return), `tm.training`, `tm.model_selection`,
`tm.submissions`, `tm.sklearn`, and `tm.extend`, which has what a metric of your own needs.
"""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

from tallymark.data.target import Target
from tallymark.errors import *
from tallymark.evaluation.evaluate import evaluate
from tallymark.evaluation.report import Report
from tallymark.evaluation.tally import Tally
from tallymark.intervals.settings import Intervals
from tallymark.metrics import *
from tallymark.threads import get_threads, set_threads

if _TYPE_CHECKING:
    from tallymark import (
        acceptance,
        comparison,
        evaluation,
        extend,
        guidance,
        metrics,
        model_selection,
        sklearn,
        submissions,
        training,
    )
    from tallymark.acceptance.accept import accept
    from tallymark.comparison.compare import compare
    from tallymark.evaluation.model import evaluate_model
    from tallymark.evaluation.table import evaluate_table
    from tallymark.guidance.choose import choose
    from tallymark.guidance.explain import explain

__version__ = "0.1.0"

__all__ = [
    # metrics of regression
    "mae",
    "mase",
    "max_error",
    "median_absolute_error",
    "mean_bias",
    "pearson",
    "spearman",
    "d2_absolute",
    "d2_pinball",
    "d2_tweedie",
    "gamma_deviance",
    "poisson_deviance",
    "tweedie_deviance",
    "msle",
    "rmsle",
    "mape",
    "smape",
    "wape",
    "coverage",
    "interval_score",
    "crps_quantile",
    "pinball",
    "huber",
    "log_cosh",
    "mse",
    "rmse",
    "rss",
    "explained_variance",
    "r2",
    # metrics of classification
    "accuracy",
    "balanced_accuracy",
    "error",
    "error_rate",
    "hamming_loss",
    "margin_accuracy",
    "cohen_kappa",
    "mcc",
    "classification_report",
    "confusion_matrix",
    "fscore",
    "jaccard",
    "precision",
    "recall",
    "sensitivity",
    "fallout",
    "fdr",
    "fnr",
    "informedness",
    "likelihood_ratio_negative",
    "likelihood_ratio_positive",
    "markedness",
    "npv",
    "selection_rate",
    "specificity",
    # metrics of scores
    "auc",
    "gini",
    "average_precision",
    "pr_auc",
    "best_threshold",
    "det_curve",
    "lift_curve",
    "pr_curve",
    "roc_curve",
    "ks",
    "threshold_table",
    # metrics of probabilities
    "brier",
    "rps",
    "ece",
    "mce",
    "reliability_curve",
    "d2_brier",
    "d2_logloss",
    "hinge_loss",
    "logloss",
    "top_k_accuracy",
    # metrics of rankings
    "hit_rate",
    "precision_at",
    "recall_at",
    "mrr",
    "dcg",
    "ndcg",
    # metrics of clusterings
    "adjusted_mutual_information",
    "completeness",
    "homogeneity",
    "mutual_information",
    "normalized_mutual_information",
    "v_measure",
    "adjusted_rand",
    "fowlkes_mallows",
    "rand_index",
    "purity",
    "calinski_harabasz",
    "davies_bouldin",
    "silhouette",
    # metrics that compare groups
    "demographic_parity",
    "demographic_parity_ratio",
    "equal_opportunity",
    "equal_opportunity_ratio",
    "equalized_odds",
    "equalized_odds_ratio",
    # metrics of your own, of groups, and by name
    "custom",
    "gap",
    "ratio",
    "worst",
    "metric",
    "list_metrics",
    # evaluating
    "evaluate",
    "evaluate_model",
    "evaluate_table",
    "Tally",
    "Report",
    "Target",
    "Intervals",
    # deciding
    "compare",
    "accept",
    "explain",
    "choose",
    # threads
    "set_threads",
    "get_threads",
    # errors
    "TallymarkError",
    "InputError",
    "TypeOfDataError",
    "ShapeError",
    "LengthError",
    "EmptyError",
    "MissingValueError",
    "WeightError",
    "DomainError",
    "KindError",
    "ParameterError",
    "UnknownMetricError",
    "FormulaError",
    "UndefinedError",
    "AcceptanceError",
    "FileError",
    "BoundError",
    "Rejection",
    "StateError",
    "MissingPackageError",
]

_LAZY = {
    "accept": "acceptance.accept",
    "choose": "guidance.choose",
    "compare": "comparison.compare",
    "evaluate_model": "evaluation.model",
    "evaluate_table": "evaluation.table",
    "explain": "guidance.explain",
}  # loaded when they are first asked for
_ELSEWHERE = {
    "cross_val_score": "model_selection.cross_validate",
    "cross_val_predict": "model_selection.cross_validate",
    "GridSearchCV": "model_selection.select",
    "make_scorer": "sklearn.scorer",
    "get_scorer": "sklearn.scorer",
}  # functions of scikit-learn, and what does the same
_HOMES = (
    "acceptance",
    "client",
    "comparison",
    "evaluation",
    "extend",
    "guidance",
    "metrics",
    "model_selection",
    "sklearn",
    "submissions",
    "training",
)


def __dir__() -> list[str]:
    return sorted([*__all__, *_HOMES, "errors", "map", "__version__"])


def __getattr__(name: str) -> _Any:
    """Load what few ask for, and find metrics by the other names that they have."""
    if name in _LAZY:
        return globals().setdefault(name, getattr(_import_module(f"tallymark.{_LAZY[name]}"), name))
    if name in _HOMES:
        return _import_module(f"tallymark.{name}")
    if not name.startswith("_"):
        from tallymark.metrics.naming import named_attribute

        found = named_attribute(name)
        if found is not None:
            own = globals().get(found.name)
            return own if own == found else found
        if name in _ELSEWHERE:
            raise AttributeError(f"tallymark has no {name!r}; use tm.{_ELSEWHERE[name]}")
        for home in _HOMES:
            if name in getattr(_import_module(f"tallymark.{home}"), "__all__", ()):
                raise AttributeError(f"tallymark has no {name!r}; it is tm.{home}.{name}")
    raise AttributeError(f"module 'tallymark' has no attribute {name!r}", name=name, obj=_import_module(__name__))


def load_ipython_extension(shell: object) -> None:
    """Patch `sklearn.metrics` in a notebook: ``%load_ext tallymark``."""
    _import_module("tallymark.sklearn").patch()


def unload_ipython_extension(shell: object) -> None:
    """Put the functions of scikit-learn back: ``%unload_ext tallymark``."""
    _import_module("tallymark.sklearn").unpatch()
