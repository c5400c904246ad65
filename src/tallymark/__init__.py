"""Measure how good models are. A metric is a state you can add, and a formula that reads it."""

from typing import TYPE_CHECKING

from tallymark.batch import Batch as Batch
from tallymark.errors import *
from tallymark.evaluation import *
from tallymark.metrics import *
from tallymark.states import Cells as Cells
from tallymark.states import Counts as Counts
from tallymark.states import Output as Output
from tallymark.states import Pairs as Pairs
from tallymark.states import State as State
from tallymark.states import Term as Term
from tallymark.target import Target as Target
from tallymark.threads import *

if TYPE_CHECKING:
    from tallymark.evaluation.compare import compare as compare
    from tallymark.evaluation.comparison import Comparison as Comparison
    from tallymark.evaluation.comparison_plots import ComparisonPlots as ComparisonPlots
    from tallymark.evaluation.difference import Difference as Difference
    from tallymark.evaluation.plots import ReportPlots as ReportPlots
    from tallymark.evaluation.table import evaluate_table as evaluate_table
    from tallymark.evaluation.table import tally_table as tally_table
    from tallymark.guidance import *
    from tallymark.report.plots import Plot as Plot
    from tallymark.submissions import *
    from tallymark.workflow import *

__version__ = "0.1.0"
_LATER = {
    "Bootstrap": "workflow",
    "Bundle": "workflow",
    "Checkpoint": "workflow",
    "Choice": "guidance",
    "Comparison": "evaluation.comparison",
    "ComparisonPlots": "evaluation.comparison_plots",
    "Console": "workflow",
    "CrossValidation": "workflow",
    "Difference": "evaluation.difference",
    "EarlyStopping": "workflow",
    "EvalResult": "workflow",
    "EvalSet": "workflow",
    "Evaluator": "workflow",
    "Explanation": "guidance",
    "Fold": "workflow",
    "GainStopping": "workflow",
    "GroupHoldout": "workflow",
    "GroupKFold": "workflow",
    "History": "workflow",
    "Holdout": "workflow",
    "JsonLines": "workflow",
    "KFold": "workflow",
    "LeaveOneOut": "workflow",
    "Limits": "submissions",
    "Plot": "report.plots",
    "Problem": "submissions",
    "Progress": "workflow",
    "Repeated": "workflow",
    "ReportPlots": "evaluation.plots",
    "Round": "workflow",
    "Score": "workflow",
    "Selection": "workflow",
    "Splitter": "workflow",
    "StoppingRule": "workflow",
    "StoppingRules": "workflow",
    "StratifiedBootstrap": "workflow",
    "StratifiedHoldout": "workflow",
    "StratifiedKFold": "workflow",
    "SubmissionCheck": "submissions",
    "SubmissionResult": "submissions",
    "TimeSeries": "workflow",
    "aic": "workflow",
    "bic": "workflow",
    "check_submission": "submissions",
    "choose": "guidance",
    "classification_metrics": "workflow",
    "compare": "evaluation.compare",
    "cross_validate": "workflow",
    "default_metric": "workflow",
    "evaluate_table": "evaluation.table",
    "explain": "guidance",
    "regression_metrics": "workflow",
    "score_submission": "submissions",
    "select": "workflow",
    "tally_table": "evaluation.table",
}


def __dir__() -> list[str]:
    return [*globals(), *_LATER]


def __getattr__(name: str) -> object:
    """Load what few ask for, and say where a metric is that has another name here."""
    if name in _LATER:
        from importlib import import_module

        return globals().setdefault(name, getattr(import_module(f"tallymark.{_LATER[name]}"), name))
    from tallymark.metrics import registry

    if name in registry.aliases:
        known, parameters = registry.aliases[name]
        given = "".join(f", {key}={value!r}" for key, value in parameters.items())
        raise AttributeError(
            f"tallymark has no {name!r}; it is tm.{known}(y_true, y_pred{given}), or {name!r} in strings"
        )
    raise AttributeError(f"module 'tallymark' has no attribute {name!r}")
