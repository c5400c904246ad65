"""Training: eval sets, the evaluator, early stopping, callbacks and the history of rounds.

An `EvalSet` is rows without predictions. In every round an `Evaluator` is given predictions by the name of the set,
and evaluates them as `evaluate` does. It returns a `Round`, whose `action` is all that a framework needs to know.
`frameworks/` has one module for each framework, and only that module loads it.
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
