"""What a metric or a state of your own needs: base classes, states, and what a formula returns."""

from tallymark.data.batch import Batch
from tallymark.data.target import Target
from tallymark.intervals.analytic import Interval, NoInterval
from tallymark.metrics.answer import Answer, Undefined
from tallymark.metrics.base import Metric
from tallymark.metrics.classification.base import AveragedMetric, LabelMetric
from tallymark.metrics.clustering.base import ClusterMetric
from tallymark.metrics.clustering.separation import ShapeMetric
from tallymark.metrics.fairness.base import GroupMetric
from tallymark.metrics.probability.base import CostMetric, ProbabilityMetric
from tallymark.metrics.probability.calibration import CalibrationMetric
from tallymark.metrics.ranking.base import RankingMetric
from tallymark.metrics.regression.base import Bound, MeanMetric, RowMetric, SumMetric
from tallymark.metrics.scores.base import RankMetric, ScoreMetric, StepMetric
from tallymark.states.base import Reads, State, divide
from tallymark.states.labels.counts import Cells, Counts
from tallymark.states.labels.pairs import Pairs
from tallymark.states.sums import Output, Term

__all__ = [
    "Answer",
    "AveragedMetric",
    "Batch",
    "Bound",
    "CalibrationMetric",
    "Cells",
    "ClusterMetric",
    "CostMetric",
    "Counts",
    "GroupMetric",
    "Interval",
    "LabelMetric",
    "MeanMetric",
    "Metric",
    "NoInterval",
    "Output",
    "Pairs",
    "ProbabilityMetric",
    "RankMetric",
    "RankingMetric",
    "Reads",
    "RowMetric",
    "ScoreMetric",
    "ShapeMetric",
    "State",
    "StepMetric",
    "SumMetric",
    "Target",
    "Term",
    "Undefined",
    "divide",
]
