"""Measure how good models are. A metric is a state you can add, and a formula that reads it."""

from tallymark.batch import Batch as Batch
from tallymark.batch import Target as Target
from tallymark.errors import *
from tallymark.evaluation import *
from tallymark.metrics import *
from tallymark.states import Cells as Cells
from tallymark.states import Counts as Counts
from tallymark.states import Output as Output
from tallymark.states import Pairs as Pairs
from tallymark.states import State as State
from tallymark.states import Term as Term
from tallymark.threads import *

__version__ = "0.1.0"
