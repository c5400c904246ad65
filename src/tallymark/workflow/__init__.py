"""The workflow around a model: eval sets and early stopping while it trains, splits, cross-validation, selection."""

from tallymark.workflow.bootstraps import Bootstrap, StratifiedBootstrap
from tallymark.workflow.bundles import Bundle, classification_metrics, regression_metrics
from tallymark.workflow.callbacks import Checkpoint, Console, JsonLines, Progress
from tallymark.workflow.criteria import aic, bic
from tallymark.workflow.cross_validate import cross_validate
from tallymark.workflow.cross_validation import CrossValidation, Fold, Score
from tallymark.workflow.early_stopping import EarlyStopping
from tallymark.workflow.eval_set import EvalSet
from tallymark.workflow.evaluator import Evaluator
from tallymark.workflow.gain_stopping import GainStopping
from tallymark.workflow.grouped import GroupHoldout, GroupKFold
from tallymark.workflow.history import EvalResult, History, Round
from tallymark.workflow.objectives import default_metric
from tallymark.workflow.select import Selection, select
from tallymark.workflow.splitters import Holdout, KFold, LeaveOneOut, Repeated, Splitter, TimeSeries
from tallymark.workflow.stopping import StoppingRule, StoppingRules
from tallymark.workflow.stratified import StratifiedHoldout, StratifiedKFold

__all__ = [
    "Bootstrap",
    "Bundle",
    "Checkpoint",
    "Console",
    "CrossValidation",
    "EarlyStopping",
    "EvalResult",
    "EvalSet",
    "Evaluator",
    "Fold",
    "GainStopping",
    "GroupHoldout",
    "GroupKFold",
    "History",
    "Holdout",
    "JsonLines",
    "KFold",
    "LeaveOneOut",
    "Progress",
    "Repeated",
    "Round",
    "Score",
    "Selection",
    "Splitter",
    "StoppingRule",
    "StoppingRules",
    "StratifiedBootstrap",
    "StratifiedHoldout",
    "StratifiedKFold",
    "TimeSeries",
    "aic",
    "bic",
    "classification_metrics",
    "cross_validate",
    "default_metric",
    "regression_metrics",
    "select",
]
