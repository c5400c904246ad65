"""Exact metrics on scores that are too many for one machine: two passes over the rows, and ranges between them.

The first pass folds all other metrics, and bins of the scores, by which ranges of about as many rows are chosen. The
second splits the scores by these ranges; each is walked by itself, and a few numbers come back. Where bins do not tell
enough scores apart, as of probabilities close to 1, a pass between them bins the ranges that are too large.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from operator import add
from typing import Any, NamedTuple

from tallymark.data.target import Target
from tallymark.errors import Argument, ParameterError, Text
from tallymark.evaluation.table import ColumnRoles, TableJob
from tallymark.evaluation.tally import Tally, pack_states, unpack_states
from tallymark.intervals.settings import check_whole
from tallymark.metrics.base import Metric
from tallymark.metrics.scores.auc import Auc
from tallymark.metrics.scores.base import ScoreMetric
from tallymark.sources.base import Chunk, ProgressCallback
from tallymark.sources.dispatch import Source
from tallymark.states.base import Plan, State, States
from tallymark.states.scores.binned import BoundedScores, BoundedScoresOf
from tallymark.states.scores.ranges import (
    Ranges,
    RangeSums,
    RankedScores,
    add_ranges,
    bin_scores,
    choose_ranges,
    cut_scores,
    refine,
    sum_range,
)
from tallymark.states.scores.scores import Scores, ScoresOf
from tallymark.states.serialization import pack, unpack

MOST_RANGES = 1 << 16
_BINS = 1 << 12  # by which ranges are chosen, at least; many more take as long as sorting the scores
_BINS_OF_A_RANGE = 64  # so that ranges differ little in their rows
_FINER_BINS = 1 << 16  # at most, and of a range that is too large
_EVERY_SCORE = "distinct scores"


def check_ranges(
    count: object, metrics: Mapping[str, Metric], target: Target, roles: ColumnRoles, source: Source | None
) -> None:
    """Reject what cannot be walked range by range, before anything is read."""
    check_whole("score_ranges", count, 1, MOST_RANGES)
    growing = [
        item for item in metrics.values() if any(_needs_every_score(reads.zero()) for reads in item.all_needs(target))
    ]
    for item in growing:
        if not _can_use_ranges(item, target):
            raise ParameterError(
                Text(
                    "{} needs all distinct scores together, and {score_ranges} splits them; leave {score_ranges} out{}",
                    item,
                    _or_bounded(item),
                )
            )
        for name, given in (("weights", roles.weights), ("by", roles.by)):
            if given:
                raise ParameterError(
                    Text("{score_ranges} is for {} of all rows, each of weight 1; {} was given", item, Argument(name)),
                    hint=f"Leave one of them out{_or_bounded(item)}",
                    argument="score_ranges",
                )
        if len(roles.prediction) > 2:
            raise ParameterError(
                Text(
                    "{score_ranges} is for {} of two classes; {prediction} named {} columns",
                    item,
                    len(roles.prediction),
                ),
                hint=Text("Leave {score_ranges} out{}", _or_bounded(item)),
                argument="score_ranges",
            )
    if growing and source is not None and source.once:
        what = "an iterator" if source.kind == "batches" else source.kind
        raise ParameterError(
            Text("{source} must be readable twice for {score_ranges}; {} can be read only once", what),
            argument="source",
            hint=Text("Write the rows to files, or leave {score_ranges} out"),
        )


def _needs_every_score(state: State) -> bool:
    return type(state).size == _EVERY_SCORE


def _can_use_ranges(item: Metric, target: Target) -> bool:
    return isinstance(item, ScoreMetric) and item.supports_ranges and isinstance(item.needs(target), ScoresOf)


def _or_bounded(item: Metric) -> str:
    """What else there is for a metric that can be had in fixed memory."""
    has = isinstance(item, ScoreMetric) and item.supports_ranges and "bounded" in item.parameters()
    return f", or use {item.name}(bounded=4096)" if has else ""


def fold_ranges(
    source: Source, tally: Tally, roles: ColumnRoles, count: int, progress: ProgressCallback | None, *, in_order: bool
) -> Any:
    """The tally of all rows, whose metrics on scores were read range by range; given an empty one."""
    check_ranges(count, tally.metrics, tally.target, roles, source)
    served = {key: item for key, item in tally.metrics.items() if _can_use_ranges(item, tally.target)}
    if not served:
        return source.fold(TableJob(tally.to_bytes(), roles), progress, in_order=in_order)
    # One of them gives its key to the bins, which are those of any metric.
    bins = Auc(bounded=min(max(_BINS, _BINS_OF_A_RANGE * count), _FINER_BINS))
    others = {key: item for key, item in tally.metrics.items() if key not in served}
    first = tally.with_metrics({**others, next(iter(served)): bins})
    passes = _Passes(progress)
    folded = source.fold(TableJob(first.to_bytes(), roles), passes.begin(2), in_order=in_order)
    tally_of_bins = Tally.from_bytes(folded) if isinstance(folded, bytes) else folded
    binned = tally_of_bins.state(bins.needs(tally.target))
    if not isinstance(binned, BoundedScores):
        return tally_of_bins.with_metrics(tally.metrics)
    wants = frozenset(item.wants for item in served.values() if isinstance(item, ScoreMetric))
    rows = ScoredRows(roles, tally.missing, tally.target)
    resolved = tally.target.with_classes(binned.labels)  # a range may have rows of one class only
    ranges = choose_ranges(binned, count)
    while large := ranges.too_large(count):
        job = BinJob(rows, ranges, large, _FINER_BINS)
        finer = source.fold(job, passes.begin(2), in_order=False)
        finer_bins = [state.with_reads(BoundedScoresOf(resolved, _FINER_BINS)) for state in job.read(finer)]
        bins_of = [state for state in finer_bins if isinstance(state, BoundedScores)]
        ranges = refine(ranges, dict(zip(large, bins_of, strict=True)), count)
    outcomes = source.shuffle(RangeJob(rows, ranges, ScoresOf(resolved, wants)), passes.begin(1))
    sums = add_ranges([RangeSums.from_bytes(outcome) for outcome in outcomes], ranges)
    return tally_of_bins.with_metrics(tally.metrics, RankedScores(ScoresOf(tally.target, wants), binned, *sums))


class _Passes:
    """Tells of several passes over the same rows as of one."""

    def __init__(self, progress: ProgressCallback | None) -> None:
        self._progress = progress
        self._before = self._done = self._last = 0
        self._left = 1

    def begin(self, left: int) -> ProgressCallback | None:
        """What to tell of the next pass; so many are left with it."""
        self._last, self._before, self._left = self._done - self._before, self._done, left
        return None if self._progress is None else self._tell

    def _tell(self, done: int, whole: int) -> None:
        self._done = self._before + done
        assert self._progress is not None
        self._progress(self._done, self._before + self._left * (whole or self._last))  # 0 where nobody knows yet


class ScoredRows(NamedTuple):
    """How the rows of a table become scores."""

    roles: ColumnRoles
    missing: str
    target: Target

    def read(self, chunk: Chunk) -> Scores:
        """The scores of a chunk of rows."""
        return ScoresOf(self.target).fold(self.roles.batch(chunk, self.missing))


class BinJob:
    """Bins the scores of some ranges, each by itself."""

    def __init__(self, rows: ScoredRows, ranges: Ranges, places: list[int], most: int) -> None:
        self.columns = rows.roles.names()
        self._most = most
        self._rows = rows
        self._edges = ranges.edges
        self._places = places

    def piece(self, chunks: Iterable[Chunk]) -> States:
        """The bins of some rows."""
        bins = self.join([])
        for chunk in chunks:
            if chunk.batch.num_rows:
                cut = cut_scores(self._rows.read(chunk), self._edges)
                bins = Plan.add(bins, tuple(bin_scores(cut[place], self._most) for place in self._places))
        return bins

    def join(self, pieces: Sequence[States]) -> States:
        """The bins of all pieces."""
        return reduce(Plan.add, pieces, (BoundedScoresOf(self._rows.target, self._most).zero(),) * len(self._places))

    def fold(self, chunks: Iterable[Chunk]) -> bytes:
        """The bins of some rows, as bytes."""
        return pack("RangeBins", {"states": pack_states(self.piece(chunks))})

    def add(self, pieces: Sequence[bytes]) -> bytes:
        """The bins of all pieces, as bytes."""
        return pack("RangeBins", {"states": pack_states(self.join([self.read(piece) for piece in pieces]))})

    def read(self, piece: bytes | States) -> States:
        """The bins of a piece, which may be bytes."""
        return unpack_states(unpack(piece)[1]["states"]) if isinstance(piece, bytes) else piece


class RangeJob:
    """Deals the scores of rows to ranges, and walks a range that has come together."""

    def __init__(self, rows: ScoredRows, ranges: Ranges, resolved: ScoresOf) -> None:
        self.columns = rows.roles.names()
        self.ranges = len(ranges.rows)
        self._rows = rows
        self._bounds = ranges
        self._resolved = resolved

    def split(self, chunks: Iterable[Chunk]) -> list[bytes]:
        """The scores of some rows by range."""
        whole = reduce(add, (self._rows.read(chunk) for chunk in chunks if chunk.batch.num_rows), self._zero())
        return [piece.to_bytes() if piece.n else b"" for piece in cut_scores(whole, self._bounds.edges)]

    def finish(self, place: int, pieces: Iterable[bytes]) -> bytes:
        """The sums over a range."""
        whole = reduce(add, map(Scores.from_bytes, pieces), self._zero())
        return sum_range(whole.with_reads(self._resolved), self._bounds, place).to_bytes()

    def _zero(self) -> Scores:
        return ScoresOf(self._rows.target).zero()
