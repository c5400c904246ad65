"""The laws that every metric obeys. A new metric is enrolled by being defined."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tallymark as tm
from tallymark.data.batch import Batch
from tallymark.data.target import KINDS
from tallymark.errors import DomainError
from tallymark.metrics.regression.deviance import Deviance
from tests.laws.cases import (
    FAST,
    FIXED,
    METRICS,
    UNIVERSES,
    close,
    labels_for,
    numbers,
    perfect,
    random_rows,
    reads_labels,
    rows_for,
    same_bits,
    tables,
    wants_whole_weights,
)

by_metric = pytest.mark.parametrize("metric", METRICS, ids=str)


def value(metric, rows, *, weighted=True):
    """The value through the state, so that no rows and zero weight are answers too."""
    return metric.answer(rows.fold(metric, weighted=weighted), rows.batch(weighted=weighted)).value


@by_metric
@given(data=st.data())
def test_any_split_order_and_grouping_gives_the_same_bits(metric, data):
    """Rows dealt to three states in any order, added in any grouping, give the value of the whole."""
    rows = data.draw(tables(metric, least=2))
    order = data.draw(st.permutations(range(len(rows.y))))
    cuts = sorted(data.draw(st.tuples(st.integers(0, len(order)), st.integers(0, len(order)))))
    parts = [rows.take(list(order[a:b])) for a, b in ((0, cuts[0]), (cuts[0], cuts[1]), (cuts[1], len(order)))]
    a, b, c = (part.fold(metric) for part in parts)
    whole = rows.fold(metric)
    expected = metric.answer(whole).value
    for state in ((a + b) + c, a + (b + c), (c + a) + b):
        assert same_bits(metric.answer(state).value, expected)
        if metric.size != "rows":
            assert state.to_bytes() == whole.to_bytes()


@by_metric
@given(data=st.data())
def test_adding_an_empty_state_changes_nothing(metric, data):
    """Adding the state of no rows changes nothing."""
    rows = data.draw(tables(metric))
    state = rows.fold(metric)
    zero = rows.reads(metric).zero()
    assert (zero + state).to_bytes() == state.to_bytes() == (state + zero).to_bytes()
    assert (zero + zero).to_bytes() == zero.to_bytes()


@by_metric
@given(data=st.data())
def test_a_state_survives_its_bytes(metric, data):
    """A state read back from its bytes is the same, adds the same and gives the same value."""
    rows = data.draw(tables(metric))
    state = rows.fold(metric)
    back = tm.extend.State.from_bytes(state.to_bytes())
    assert back == state
    assert same_bits(metric.answer(back).value, metric.answer(state).value)
    assert same_bits(metric.answer(back + state).value, metric.answer(state + state).value)
    assert pickle.loads(pickle.dumps(state)) == state


@by_metric
@given(data=st.data())
def test_weight_k_is_the_row_k_times(metric, data):
    """Whole weights equal repeated rows; weight 0 equals no row, to the last bit."""
    rows = data.draw(tables(metric, styles=("plain", "whole")))
    times = rows.some_times(np.random.default_rng(data.draw(st.integers(0, 2**32))))
    weighted = rows._replace(w=times.astype(float))
    repeated = rows.repeat(times)
    scale = 1.0 if metric.range[1] == 1.0 else 0.0  # scores near 0 are differences of numbers near 1
    a, b = value(metric, weighted), value(metric, repeated, weighted=False)
    assert close(a, b, scale=scale)
    kept = rows.take(times > 0)._replace(w=times[times > 0].astype(float))
    if len(kept.y):
        assert same_bits(a, value(metric, kept))


@by_metric
@given(data=st.data())
def test_no_weights_equal_weights_of_one(metric, data):
    """To the last bit."""
    rows = data.draw(tables(metric))
    assert same_bits(value(metric, rows, weighted=False), value(metric, rows._replace(w=np.ones(len(rows.y)))))


@by_metric
@given(data=st.data())
def test_values_lie_in_the_declared_range(metric, data):
    """Or are undefined, with a reason."""
    rows = data.draw(tables(metric))
    answer = metric.answer(rows.fold(metric), rows.batch())
    low, high = metric.range
    for found in numbers(answer.value):
        assert low <= found <= high or (math.isnan(found) and (answer.reason or metric.better is None))


@by_metric
@given(data=st.data())
def test_perfect_predictions_reach_the_declared_value(metric, data):
    """Predictions equal to the truth give `at_perfect`, or are undefined."""
    if metric.at_perfect is None:
        pytest.skip("no perfect value declared")
    rows = data.draw(tables(metric))
    if reads_labels(metric) and len(set(rows.y[rows.w > 0].tolist())) < 2:
        return  # where all rows are of one class, the rates of the others are absent
    for found in numbers(value(metric, perfect(metric, rows))):
        assert math.isnan(found) or close(found, metric.at_perfect)


@by_metric
def test_every_way_to_call_agrees_to_the_last_bit(metric):
    """One-liner, object, string, evaluate and a Tally of pieces."""
    rows = random_rows(metric, 1000)
    expected = rows.call(metric)
    assert same_bits(rows.call(type(metric)(), **metric.parameters()), expected)
    assert same_bits(rows.call(tm.metric(str(metric))), expected)
    facts = {"weights": rows.w, "query": rows.q, "errors": "report", **rows.facts}  # rmse cannot read all of them
    report = tm.evaluate(rows.y, rows.p, ["rmse", metric, str(metric)], **facts)
    assert same_bits(report[metric], expected)
    tally = tm.Tally([metric], **rows.facts)
    for piece in np.array_split(np.random.default_rng(1).permutation(1000), 7):
        part = rows.take(piece)
        tally.update(part.y, part.p, weights=part.w, query=part.q)
    assert same_bits(tally.report()[str(metric)], expected)
    back = tm.Tally.from_bytes(tally.to_bytes())
    assert same_bits(back.report()[str(metric)], expected)


@by_metric
def test_every_thread_count_gives_the_same_bits(metric):
    """Enough rows for several threads, and a tail that fills no block."""
    many = (140_007 if FAST else 300_007) if metric.size != "rows" else 5_001 if reads_labels(metric) else 70_001
    rows = random_rows(metric, many)
    before = tm.get_threads()
    try:
        found = []
        for threads in (1, 2, 3, 4):
            tm.set_threads(threads)
            found.append(rows.call(metric))
    finally:
        tm.set_threads(before)
    assert all(same_bits(found[0], other) for other in found)


@by_metric
@pytest.mark.parametrize("dtype", ["float32", "float16", "int64", "int32", "int16", "int8", "uint8", "uint64", "bool"])
def test_every_number_type_gives_what_its_float64_copy_gives(metric, dtype):
    """To the last bit, for truth, predictions and weights."""
    rng = np.random.default_rng(3)
    if reads_labels(metric):
        rows = labels_for(metric, rng, 500, UNIVERSES[0])
        rows = rows._replace(y=rows.y if rows.y.dtype.kind == "U" else abs(rows.y), p=abs(rows.p))
        facts = rows.facts if metric.kind != "label" else {**rows.facts, "kind": "label"}
        expected = rows._replace(w=np.ones(500), facts=facts).call(metric)
        typed = rows.y if rows.y.dtype.kind == "U" or wants_whole_weights(metric) else rows.y.astype(dtype)
        said = rows.p.astype(dtype) if metric.kind == "label" else rows.p
        assert same_bits(metric(typed, said, weights=np.ones(500, dtype), **facts), expected)
        return
    y, p, w = rng.integers(1, 100, 500), rng.integers(1, 100, (500, 4)), rng.integers(1, 5, 500)
    if dtype.startswith("float"):
        y, p, w = y * 0.37, p * 0.37, w * 0.37
    y, p, w = y.astype(dtype), p.astype(dtype), w.astype(dtype)
    y[0] = 0  # a truth of ones would be constant
    rows = rows_for(metric, y, p, w)
    given = rows._replace(y=rows.y.astype(dtype), p=rows.p.astype(dtype), w=rows.w.astype(dtype))
    copy = given._replace(y=given.y.astype(float), p=given.p.astype(float), w=given.w.astype(float))
    try:
        expected = copy.call(metric)
    except DomainError:  # a bool of 0 where the metric wants more
        with pytest.raises(DomainError):
            given.call(metric)
        return
    assert same_bits(given.call(metric), expected)


@by_metric
def test_memory_layout_does_not_matter_and_inputs_stay_as_they_were(metric):
    """Reversed, strided, Fortran-ordered, broadcast, unaligned and read-only arrays are read in place."""
    rows = random_rows(metric, 999)
    expected = rows.call(metric)
    wide = np.zeros((999, 3, *rows.y.shape[1:]), rows.y.dtype)
    wide[:, 1] = rows.y
    reversed_y = rows.y[::-1].copy()[::-1]
    fortran = np.asfortranarray(rows.p)
    unaligned = np.frombuffer(b"x" + rows.w.tobytes(), dtype=np.uint8)[1:].view(np.float64)
    swapped = rows.y.astype(rows.y.dtype.newbyteorder(">"))
    for y, p, w in (
        (wide[:, 1], fortran, unaligned),
        (reversed_y, rows.p[..., ::-1][..., ::-1] if rows.p.ndim == 2 else rows.p[::-1].copy()[::-1], rows.w),
        (swapped, rows.p, rows.w[:, None]),
        (rows.y[:, None] if rows.y.ndim == 1 else rows.y, rows.p, rows.w),
    ):
        copies = [np.array(array) for array in (y, p, w)]
        for array in (y, p, w):
            array.flags.writeable = False
        assert same_bits(metric(y, p, weights=w, query=rows.q, **rows.facts), expected)
        assert all(np.array_equal(a, b) for a, b in zip((y, p, w), copies, strict=True))


@by_metric
def test_a_metric_is_a_value(metric):
    """Its string, its dict and its pickle lead back to it; equal metrics have equal hashes; it cannot be changed."""
    for back in (tm.metric(str(metric)), tm.metric(metric.to_dict()), pickle.loads(pickle.dumps(metric))):
        assert back == metric
        assert hash(back) == hash(metric)
        assert str(back) == str(metric)
    assert eval(repr(metric), {type(metric).__name__: type(metric)}) == metric
    with pytest.raises(AttributeError):
        metric.undefined = 1.0
    with pytest.raises(AttributeError):
        del metric.undefined
    assert metric.replace(undefined=0.5) != metric


@by_metric
def test_no_rows_and_no_weight_are_undefined(metric):
    """Never 0: an empty loss must not look perfect."""
    report = tm.Tally([metric]).report()
    assert math.isnan(report[str(metric)])
    assert report.reasons == {str(metric): "no rows"}
    rows = random_rows(metric, 5)
    report = tm.evaluate(rows.y, rows.p, [metric], weights=np.zeros(5), query=rows.q, **rows.facts)
    assert math.isnan(report[str(metric)])
    assert report.reasons == {str(metric): "total weight is zero"}
    assert rows.call(metric.replace(undefined=0.25), weights=np.zeros(5)) == 0.25
    with pytest.raises(tm.UndefinedError, match="total weight is zero"):
        rows.call(metric, weights=np.zeros(5), undefined="raise")


@by_metric
def test_the_facts_are_complete(metric):
    """Docs, listings and leaderboards read them."""
    assert metric.description.endswith(".")
    assert metric.formula
    assert metric.reading.endswith(".")
    assert not metric.when_undefined or (metric.when_undefined[0].isupper() and metric.when_undefined.endswith("."))
    assert metric.pitfalls
    assert metric.outliers.split(": ")[0] in ("none", "low", "high")
    assert metric.outliers.endswith(".")
    assert all(metric.range[0] <= mark <= metric.range[1] for mark, _ in metric.landmarks)
    assert metric.better in ("higher", "lower", None) or metric.range[0] <= metric.better <= metric.range[1]
    assert metric.kind in KINDS
    if metric.at_perfect is not None:
        assert metric.range[0] <= metric.at_perfect <= metric.range[1]
        if metric.better in ("higher", "lower"):
            assert metric.at_perfect == metric.range[1 if metric.better == "higher" else 0]


PAIRED = [metric for metric in METRICS if getattr(metric, "layout", "") == "paired"]


@pytest.mark.parametrize("metric", PAIRED, ids=str)
def test_each_output_is_evaluated_alone_and_averaged(metric):
    """Each output is evaluated alone; the value is their mean, or a weighted mean, in C and Fortran order."""
    many = random_rows(metric, 400, k=4)
    columns = [random_rows(metric, 400, seed=s) for s in range(3)]
    y, p = np.column_stack([c.y for c in columns]), np.column_stack([c.p for c in columns])
    alone = [metric(c.y, c.p, weights=many.w) for c in columns]
    each = metric(y, p, weights=many.w, outputs="each")
    assert same_bits(each, alone)
    assert same_bits(metric(np.asfortranarray(y), np.asfortranarray(p), weights=many.w, outputs="each"), alone)
    assert close(metric(y, p, weights=many.w), math.fsum(alone) / 3, 1e-15)
    assert close(metric(y, p, weights=many.w, outputs=(1, 0, 3)), (alone[0] + 3 * alone[2]) / 4, 1e-14)
    assert metric(columns[0].y, columns[0].p, weights=many.w, outputs="each") == alone[:1]
    with pytest.raises(tm.ShapeError, match="one weight per output"):
        metric(y, p, outputs=(1, 2))


@pytest.mark.parametrize("metric", FIXED, ids=str)
def test_a_fixed_state_stays_small(metric):
    """Its bytes do not grow with the rows."""
    small, large = random_rows(metric, 1_000), random_rows(metric, 50_000)  # a thousand rows meet all bins
    sizes = [len(rows.fold(metric).to_bytes()) for rows in (small, large)]
    # More rows meet more of the 16 pairs of labels, and fill the 16 bins of three columns.
    assert sizes[1] < sizes[0] + {"fixed": 400, "distinct pairs": 1000, "bounded": 3000}[metric.size]


@pytest.mark.parametrize("metric", PAIRED, ids=str)
@given(data=st.data())
def test_outputs_split_and_merge(metric, data):
    """The first law, on tables of two outputs."""
    left, right = data.draw(tables(metric, least=2)), data.draw(tables(metric, least=2))
    n = min(len(left.y), len(right.y))
    y = np.column_stack([left.y[:n], right.y[:n]])
    p = np.column_stack([left.p[:n], right.p[:n]])
    cut = data.draw(st.integers(0, n))
    reads = metric.reads
    merged = reads.fold(Batch(y[cut:], p[cut:], left.w[cut:n])) + reads.fold(Batch(y[:cut], p[:cut], left.w[:cut]))
    each = metric.replace(outputs="each")
    assert same_bits(each.answer(merged).value, each.answer(reads.fold(Batch(y, p, left.w[:n]))).value)


LINKED = [metric for metric in METRICS if isinstance(metric, Deviance)]


@pytest.mark.parametrize("metric", LINKED, ids=str)
@given(data=st.data())
def test_margins_split_and_merge(metric, data):
    """The first law, on predictions that are read through a link; and they are what exp makes of them."""
    rows = data.draw(tables(metric, least=2, styles=("plain",)))
    margin = np.log(np.abs(rows.p) + 1e-3)
    reads = metric.needs(tm.Target("margin"))
    cut = data.draw(st.integers(0, len(margin)))
    merged = reads.fold(Batch(rows.y[cut:], margin[cut:])) + reads.fold(Batch(rows.y[:cut], margin[:cut]))
    assert same_bits(metric.answer(merged).value, metric(rows.y, margin, kind="margin"))
    assert close(metric(rows.y, margin, kind="margin"), metric(rows.y, np.exp(margin)), 1e-9)
    assert same_bits(metric(rows.y, margin, kind="margin"), metric(rows.y, margin, link="log"))
