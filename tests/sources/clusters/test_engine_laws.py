"""Laws of engines: every metric that adds up gives the bits of evaluate on files and on every cluster.

Metrics are enrolled by discovery. Those that are given the same rows are asked for in one job.
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tallymark as tm
from tallymark.intervals.maker import GROWS, NO_FORMULA
from tallymark.metrics.classification.base import LabelMetric
from tests.laws.cases import METRICS, UNIVERSES, labels_for
from tests.laws.test_slice_laws import cells_agree
from tests.laws.test_tally_groups import columns_of
from tests.sources.clusters.test_dask import in_pieces

TEXTS = UNIVERSES[-1][1:]
ASKED = {"ci": tm.Intervals(0.9, resamples=19, seed=7)}


def jobs():
    """Rows with what else there is of each, and the metrics that take them: rows as all laws have them, and texts."""
    found, metrics = {}, defaultdict(list)
    for metric in METRICS:
        rows, given = columns_of(metric, weighted=True, keys=True)
        variants = [("", rows)]
        if isinstance(metric, LabelMetric) and metric.kind == "label":
            of_texts = labels_for(metric, np.random.default_rng(2), len(rows.y), TEXTS)
            variants.append(("texts", of_texts._replace(w=rows.w)))
        for name, held in variants:
            key = (name, *(np.asarray(each).tobytes() for each in held[:3]), np.shape(held.p), repr(held[3:]))
            found[key] = held, given
            metrics[key].append(metric)
    return [(*found[key], metrics[key]) for key in found]


JOBS = jobs()
NAMES = [f"{metrics[0]} and {len(metrics) - 1} more" for _, _, metrics in JOBS]


def table_of(rows, given):
    """The rows as a table, and the names of its columns by what they hold."""
    columns = {}
    roles = {}
    for role, held in (("truth", rows.y), ("prediction", rows.p)):
        each = [held] if held.ndim == 1 else list(held.T)
        names = [f"{role} {place}" for place in range(len(each))]
        columns |= dict(zip(names, each, strict=True))
        roles[role] = names if held.ndim == 2 else names[0]
    for role, held in given.items():
        columns[role] = held
        roles[role] = role
    return pa.table({name: pa.array(held.tolist()) for name, held in columns.items()}), roles


def pieces_of(table, seed):
    """The rows of a table dealt to five partitions in any order, of which one has none."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(table.num_rows)
    ends = np.sort(rng.integers(0, table.num_rows, 3))
    parts = [table.take(index) for index in np.split(order, ends)]
    return [*parts[:2], table.slice(0, 0), *parts[2:]]


@pytest.fixture
def files(tmp_path):
    def write(pieces):
        for place, piece in enumerate(pieces):
            pq.write_table(piece, tmp_path / f"{place}.parquet", row_group_size=7)
        return tmp_path

    return write


@pytest.fixture
def dask_frame(dask_client):
    return lambda pieces: in_pieces(*[piece.to_pandas() for piece in pieces])


@pytest.fixture
def spark_frame(spark):
    def make(pieces):
        places = np.repeat(np.arange(len(pieces)), [len(piece) for piece in pieces])
        table = pa.concat_tables(pieces).append_column("piece", pa.array(places))
        table = table.combine_chunks()  # of several batches, Spark 4.3 loses those behind an empty one
        return spark.createDataFrame(table).repartition(5, "piece").drop("piece")

    return make


@pytest.fixture
def ray_dataset(ray):
    return ray.data.from_arrow


@pytest.mark.parametrize("place", range(len(JOBS)), ids=NAMES)
@pytest.mark.parametrize("engine", ["files", "dask_frame", "spark_frame", "ray_dataset"])
def test_the_same_bits_everywhere(engine, place, request):
    """Values, slices and intervals by keys are those of evaluate, however rows, queries and labels are scattered."""
    rows, given, metrics = JOBS[place]
    table, roles = table_of(rows, given)
    source = request.getfixturevalue(engine)(pieces_of(table, place))
    found = tm.evaluate_table(source, metrics=metrics, **roles, **ASKED, **rows.facts)
    whole = tm.evaluate(rows.y, rows.p, metrics, **given, **ASKED, **rows.facts)
    assert list(found.slices) == list(whole.slices)
    for mine, theirs in [(found, whole), *zip(found.slices.values(), whole.slices.values(), strict=True)]:
        assert (mine.n, mine.total_weight) == (theirs.n, theirs.total_weight)
        for metric in metrics:
            one, other = mine.cell(metric), theirs.cell(metric)
            cells_agree(one, other)
            if {f"no interval: {why}" for why in (GROWS.format(metric.name), NO_FORMULA)} & {*one.notes}:
                assert one.lo is None
            else:
                assert (one.lo, one.hi, one.method, one.notes) == (other.lo, other.hi, other.method, other.notes)


def test_a_function_of_the_users_own_reaches_the_workers(dask_frame, spark_frame, ray_dataset):
    """They do not know it by its name; its rows come in any order."""
    own = tm.custom(lambda y, p, w: float(np.median(np.abs(y - p))), name="own_median")
    held = pa.table({"y": np.arange(40.0), "p": np.arange(40.0) ** 2, "g": ["a", "b"] * 20})
    for make in (dask_frame, spark_frame, ray_dataset):
        source = make([held.slice(first, 10) for first in range(0, 40, 10)])
        found = tm.evaluate_table(source, truth="y", prediction="p", metrics=[own], by="g")
        assert found[own] == own(held["y"], held["p"])


@pytest.mark.parametrize("by", [None, "g"])
@pytest.mark.parametrize(
    ("engine", "place"),
    [
        ("dask_frame", "row 3 of partition 1"),
        ("spark_frame", r"row 3 of partition \d"),
        ("ray_dataset", r"row 3 of the block that begins with \(y=10\.0, p=1\.0(, g='a')?\)"),
    ],
)
def test_an_error_says_in_which_partition_the_row_is(engine, place, by, request):
    pieces = [
        pa.table({"y": [*range(10 * k, 10 * k + 3), np.nan if k == 1 else 0.5], "p": [1.0] * 4, "g": ["a", "b"] * 2})
        for k in range(3)
    ]
    source = request.getfixturevalue(engine)(pieces)
    with pytest.raises(tm.MissingValueError, match=rf"got nan \({place}"):
        tm.evaluate_table(source, truth="y", prediction="p", metrics=["rmse"], by=by)
