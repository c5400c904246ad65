"""Evaluation while a model trains: eval sets, the evaluator, rules of stopping, callbacks and history.

`frameworks/` has one file per framework, and only that file loads it.
"""

from tallymark.training.callbacks import Checkpoint, Console, JsonLines, Progress
from tallymark.training.eval_set import EvalSet
from tallymark.training.evaluator import Evaluator
from tallymark.training.history import EvalResult, History, Round
from tallymark.training.objectives import default_metric
from tallymark.training.stopping import EarlyStopping, GainStopping, StoppingRule, StoppingRules

__all__ = [
    "Checkpoint",
    "Console",
    "EarlyStopping",
    "EvalResult",
    "EvalSet",
    "Evaluator",
    "GainStopping",
    "History",
    "JsonLines",
    "Progress",
    "Round",
    "StoppingRule",
    "StoppingRules",
    "default_metric",
]
