"""States: what is kept of the rows. One file per state; each has a zero, adds, and can be written as bytes."""

from tallymark.states.base import MOST_ROWS, MOST_WHOLE, ONE, UNIT_BITS, Reads, State, divide, to_float
from tallymark.states.bins import MOST_BINS, Bin, Bins, BinsOf
from tallymark.states.bounded import BoundedScores, BoundedScoresOf
from tallymark.states.counts import Cells, Counts, DrawnCounts, ThresholdCounts
from tallymark.states.draws import Draws
from tallymark.states.indicators import Indicators
from tallymark.states.label_rows import LabelRows, LabelRowsOf
from tallymark.states.moments import Moments, moments
from tallymark.states.ordered_probabilities import OrderedProbabilities, OrderedProbabilitiesOf
from tallymark.states.paired_rows import Outcomes, Placements, read_outcomes, read_placements
from tallymark.states.pairs import Pairs, PairsOf
from tallymark.states.plan import Plan, States
from tallymark.states.points import Points, PointsOf
from tallymark.states.probabilities import Cost, Probabilities, ProbabilitiesOf
from tallymark.states.probability_rows import soft_fault
from tallymark.states.queries import Queries, QueriesOf, Ranked
from tallymark.states.rank_sums import Places, RankSums, Steps, sum_ranks, walk_steps
from tallymark.states.ranks import Ranks, RanksOf, read_ranks
from tallymark.states.resample import coarsen, nested, query_keys, row_keys, spread_keys
from tallymark.states.resampled import (
    KEPT,
    MOST_LEFT_OUT,
    MOST_RESAMPLES,
    NO_KEYS,
    Resampled,
    ResampledOf,
)
from tallymark.states.rows import Rows, RowsOf
from tallymark.states.runs import Runs, measure_runs
from tallymark.states.score_state import ScoreState
from tallymark.states.scores import Scores, ScoresOf
from tallymark.states.size import Size, SizeOf
from tallymark.states.slices import Group, Slice, slice_states, sorted_groups, split
from tallymark.states.sums import Output, Sums, SumsOf, Total, exact_sum, total_weight
from tallymark.states.terms import INTERVAL, LOWEST, PAIRED, QUANTILES, Term, check_columns
from tallymark.states.units import MOST_CLUSTERS, Units, UnitsOf

__all__ = [
    "INTERVAL",
    "KEPT",
    "LOWEST",
    "MOST_BINS",
    "MOST_ROWS",
    "MOST_WHOLE",
    "MOST_CLUSTERS",
    "MOST_LEFT_OUT",
    "MOST_RESAMPLES",
    "NO_KEYS",
    "ONE",
    "PAIRED",
    "QUANTILES",
    "UNIT_BITS",
    "BoundedScores",
    "BoundedScoresOf",
    "Bin",
    "Bins",
    "BinsOf",
    "Cells",
    "Cost",
    "Counts",
    "DrawnCounts",
    "Draws",
    "Group",
    "Indicators",
    "LabelRows",
    "LabelRowsOf",
    "Moments",
    "OrderedProbabilities",
    "OrderedProbabilitiesOf",
    "Outcomes",
    "Output",
    "Pairs",
    "PairsOf",
    "Placements",
    "Places",
    "Plan",
    "Points",
    "PointsOf",
    "Queries",
    "QueriesOf",
    "RankSums",
    "Probabilities",
    "ProbabilitiesOf",
    "Ranked",
    "Ranks",
    "RanksOf",
    "Reads",
    "Resampled",
    "ResampledOf",
    "Rows",
    "RowsOf",
    "Runs",
    "ScoreState",
    "Scores",
    "ScoresOf",
    "Size",
    "SizeOf",
    "Slice",
    "State",
    "States",
    "Steps",
    "Sums",
    "SumsOf",
    "Term",
    "ThresholdCounts",
    "Total",
    "Units",
    "UnitsOf",
    "check_columns",
    "coarsen",
    "divide",
    "exact_sum",
    "measure_runs",
    "moments",
    "nested",
    "query_keys",
    "row_keys",
    "read_outcomes",
    "read_placements",
    "read_ranks",
    "slice_states",
    "sorted_groups",
    "split",
    "sum_ranks",
    "soft_fault",
    "spread_keys",
    "to_float",
    "total_weight",
    "walk_steps",
]
