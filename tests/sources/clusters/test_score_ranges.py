"""Metrics on scores by ranges: every engine gives the bits of evaluate, however the scores are spread."""

from __future__ import annotations

import dask
import numpy as np
import pyarrow as pa
import pytest

import tallymark as tm
from tallymark.errors import MissingValueError
from tallymark.evaluation import score_ranges
from tallymark.sources import dask as dask_engine
from tallymark.sources import ray as ray_engine
from tallymark.sources import spark as spark_engine
from tests.sources.clusters import test_dask, test_ray, test_spark
from tests.sources.clusters.jobs import BY_DIGIT, Digits, FailsOnce, Refuses
from tests.sources.clusters.test_engine_laws import dask_frame, files, pieces_of, ray_dataset, spark_frame

__all__ = ["dask_frame", "files", "ray_dataset", "spark_frame"]

ENGINES = ["files", "dask_frame", "spark_frame", "ray_dataset"]
METRICS = ["auc", "gini", "average_precision", "pr_auc", "ks", "brier", "auc(bounded=8)"]
ASKED = {"truth": "y", "prediction": "p", "metrics": METRICS, "kind": "probability", "score_ranges": 5}


def table_of(n, digits=None, seed=1):
    """Rows of two classes, whose scores may tie."""
    rng = np.random.default_rng(seed)
    p = rng.random(n)
    y = (rng.random(n) < p).astype(int)
    return pa.table({"y": y, "p": p if digits is None else p.round(digits)})


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("digits", [None, 1])
def test_the_same_bits_everywhere(engine, digits, request):
    """With ties and without, an empty partition, more ranges than some partitions have rows."""
    table = table_of(400, digits)
    source = request.getfixturevalue(engine)(pieces_of(table, 3))
    told = []
    found = tm.evaluate_table(source, **ASKED, ci=0.9, progress=lambda *done: told.append(done))
    expected = tm.evaluate(table["y"].to_numpy(), table["p"].to_numpy(), METRICS, kind="probability")
    assert dict(found) == dict(expected)
    of_areas = tm.evaluate(table["y"].to_numpy(), table["p"].to_numpy(), METRICS[:2], ci=0.9)
    for name in METRICS[:2]:
        assert (found.cell(name).lo, found.cell(name).hi) == (of_areas.cell(name).lo, of_areas.cell(name).hi)
    assert found.n == 400
    assert told[-1][0] == told[-1][1]
    assert sorted(done for done, _ in told) == [done for done, _ in told]


@pytest.mark.parametrize("engine", ENGINES)
def test_ranges_too_coarse_are_binned_again_on_the_workers(engine, request, monkeypatch):
    """Where bins do not tell enough scores apart, a pass more does, on the workers."""
    for name, few in (("_BINS", 4), ("_FINER_BINS", 4), ("_BINS_OF_A_RANGE", 1)):
        monkeypatch.setattr(score_ranges, name, few)
    table = table_of(200)
    source = request.getfixturevalue(engine)(pieces_of(table, 5))
    found = tm.evaluate_table(source, **{**ASKED, "score_ranges": 20})
    assert dict(found) == dict(tm.evaluate(table["y"].to_numpy(), table["p"].to_numpy(), METRICS, kind="probability"))


@pytest.fixture
def dask_numbers(dask_client):
    return dask_engine, test_dask.numbers()


@pytest.fixture
def dask_threads():
    with dask.config.set(scheduler="threads"):
        yield dask_engine, test_dask.numbers()


@pytest.fixture
def spark_numbers(spark):
    return spark_engine, test_spark.numbers(spark)


@pytest.fixture
def ray_numbers(ray):
    return ray_engine, test_ray.numbers(ray)


@pytest.fixture(params=["dask_numbers", "dask_threads", "spark_numbers", "ray_numbers"])
def numbers(request):
    """An engine, and a frame of the numbers below 100."""
    return request.getfixturevalue(request.param)


def test_every_row_goes_into_its_range_once(numbers):
    """In the range that it belongs to, with progress to the end."""
    engine, frame = numbers
    told = []
    assert engine.shuffle(frame, Digits(), lambda *done: told.append(done)) == BY_DIGIT
    assert told[-1][0] == told[-1][1]
    assert sorted(done for done, _ in told) == [done for done, _ in told]


@pytest.mark.parametrize("closing", [False, True])
def test_an_error_of_ours_arrives_as_it_was(numbers, closing):
    """Whether rows are dealt or a range is closed."""
    engine, frame = numbers
    with pytest.raises(MissingValueError, match=r'"13" \(dreizehn, тринадцать\) was in row 3\n of many'):
        engine.shuffle(frame, Digits(Refuses(), closing=closing))
    assert engine.shuffle(frame, Digits()) == BY_DIGIT


@pytest.mark.parametrize("closing", [False, True])
@pytest.mark.parametrize("engine", ["dask_numbers", "spark_numbers", "ray_numbers"])
def test_the_tasks_of_a_dead_worker_go_to_others(engine, closing, request, tmp_path):
    """Its tasks go to others, and no row is lost or counted twice."""
    engine, frame = request.getfixturevalue(engine)
    marker = tmp_path / "tried"
    assert engine.shuffle(frame, Digits(FailsOnce(marker, killed=True), closing=closing)) == BY_DIGIT
    assert marker.exists()


@pytest.mark.parametrize("engine", ["dask_numbers", "spark_numbers", "ray_numbers"])
def test_an_interrupt_ends_it(engine, request):
    """The workers are free again."""
    engine, frame = request.getfixturevalue(engine)

    def interrupt(done, of):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        engine.shuffle(frame, Digits(), interrupt)
    assert engine.shuffle(frame, Digits()) == BY_DIGIT


def test_nothing_is_left_on_dask(dask_client):
    """Neither of a shuffle that ends well nor of one that fails."""
    dask_engine.shuffle(test_dask.numbers(), Digits())
    test_dask.nothing_is_left_on(dask_client)
    with pytest.raises(MissingValueError):
        dask_engine.shuffle(test_dask.numbers(), Digits(Refuses()))
    test_dask.nothing_is_left_on(dask_client)


def test_pieces_larger_than_a_row_of_spark(spark, monkeypatch):
    """They travel in parts, and ranges that come to one worker are not mixed up."""
    monkeypatch.setattr(spark_engine, "_MAX_ROW_BYTES", 2)
    assert spark_engine.shuffle(test_spark.numbers(spark), Digits()) == BY_DIGIT
    assert spark_engine.shuffle(test_spark.numbers(spark).where("y = 7"), Digits())[7] == b"7"


def _rolled(batches):
    for batch in batches:
        p = np.random.default_rng().random(batch.num_rows)
        yield pa.RecordBatch.from_pydict({"y": [k % 2 for k in range(batch.num_rows)], "p": p})


def test_rows_that_spark_makes_anew(spark):
    """A frame that is another one whenever it is read is found out."""
    frame = spark.range(500).mapInArrow(_rolled, "y long, p double")
    with pytest.raises(tm.errors.StateError, match="must have the same rows each time it is read"):
        tm.evaluate_table(frame, truth="y", prediction="p", metrics="auc", score_ranges=4)
    kept = frame.cache()
    assert 0 < tm.evaluate_table(kept, truth="y", prediction="p", metrics="auc", score_ranges=4)["auc"] < 1


def test_blocks_of_ray_must_not_get_lost(ray):
    """As in a fold."""
    data = test_ray.numbers(ray)
    data.context.max_errored_blocks = 3
    with pytest.raises(tm.errors.ParameterError, match=r"set DataContext\.max_errored_blocks to 0"):
        ray_engine.shuffle(data, Digits())
