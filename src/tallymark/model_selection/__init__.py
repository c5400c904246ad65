"""Choosing a model: splits into training and test, cross-validation, and the best of several candidates."""

from tallymark.model_selection.cross_validate import CrossValidation, Fold, Score, cross_validate
from tallymark.model_selection.information_criteria import aic, bic
from tallymark.model_selection.select import Selection, select
from tallymark.model_selection.splitters import (
    Bootstrap,
    GroupHoldout,
    GroupKFold,
    Holdout,
    KFold,
    LeaveOneOut,
    Repeated,
    Splitter,
    StratifiedBootstrap,
    StratifiedHoldout,
    StratifiedKFold,
    TimeSeries,
)
from tallymark.model_selection.standard_metrics import Bundle, classification_metrics, regression_metrics

__all__ = [
    "Bootstrap",
    "Bundle",
    "CrossValidation",
    "Fold",
    "GroupHoldout",
    "GroupKFold",
    "Holdout",
    "KFold",
    "LeaveOneOut",
    "Repeated",
    "Score",
    "Selection",
    "Splitter",
    "StratifiedBootstrap",
    "StratifiedHoldout",
    "StratifiedKFold",
    "TimeSeries",
    "aic",
    "bic",
    "classification_metrics",
    "cross_validate",
    "regression_metrics",
    "select",
]
