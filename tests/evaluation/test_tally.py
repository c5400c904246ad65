"""Tallies: rows in pieces."""

from __future__ import annotations

import copy
import math
import os
import pickle

import numpy as np
import pytest

import tallymark as tm
from tallymark.states.serialization import pack, unpack

NAMES = ["rmse", "r2", "spearman", "mape"]


def pieces(count=6, n=600):
    rng = np.random.default_rng(2)
    y = rng.normal(size=n)
    p = y + rng.normal(size=n)
    return y, p, np.array_split(np.arange(n), count)


def test_pieces_add_up_to_the_whole():
    """Updates, sums of tallies, pickles and bytes give the bits of one evaluate."""
    y, p, parts = pieces()
    whole = tm.evaluate(y, p, NAMES)
    tally = tm.Tally(NAMES)
    for part in parts:
        tally.update(y[part], p[part])
    assert dict(tally.report()) == dict(whole)
    summed = sum(tm.Tally(NAMES).update(y[part], p[part]) for part in reversed(parts))
    assert dict(summed.report()) == dict(whole)
    assert dict(pickle.loads(pickle.dumps(tally)).report()) == dict(whole)
    assert summed.n == 600


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("compute", r"use tally\.report\(\)"),
        ("reset", r"use tally\.empty\(\)"),
        ("merge", r"tally \+ other"),
        ("typo", "'Tally' object has no attribute 'typo'"),
    ],
)
def test_methods_of_torchmetrics_say_what_a_tally_has(name, words):
    """What is no such method is a plain AttributeError."""
    with pytest.raises(AttributeError, match=words):
        getattr(tm.Tally(["rmse"]), name)


def test_the_order_of_metrics_survives():
    """Through bytes and pickles; tallies of the same metrics in another order add all the same."""
    tally = tm.Tally(["rmse", "mae", "spearman"]).update([1.0, 2.0], [2.0, 4.0])
    for back in (tm.Tally.from_bytes(tally.to_bytes()), pickle.loads(pickle.dumps(tally)), tally + tally):
        assert list(back.report()) == ["rmse", "mae", "spearman"]
    other = tm.Tally(["spearman", "mae", "rmse"]).update([1.0], [2.0])
    assert list((tally + other).report()) == ["rmse", "mae", "spearman"]
    assert (tally + other).report()["mae"] == (other + tally).report()["mae"]


def test_a_tally_without_rows_asks_for_no_columns():
    """Not even for one weight per output."""
    for metric in (tm.MedianAbsoluteError(outputs=(1, 2)), tm.TweedieDeviance(outputs=(1, 2))):
        assert tm.Tally([metric]).report().reasons == {str(metric): "no rows"}
    assert math.isnan(tm.Tally(["poisson"], kind="margin").report()["poisson"])


def test_an_empty_piece_changes_nothing():
    """Nor does adding an empty tally, on either side."""
    tally = tm.Tally(["rmse"]).update([1.0], [2.0]).update([], [])
    assert tally.n == 1
    assert (tally + tm.Tally(["rmse"])).report()["rmse"] == (tm.Tally(["rmse"]) + tally).report()["rmse"] == 1.0
    empty = tm.Tally.from_bytes(tm.Tally(["rmse"]).to_bytes())
    assert math.isnan(empty.report()["rmse"])
    assert repr(tally) == "Tally(rmse; 1 row)"


def test_refused_rows_leave_the_tally_as_it_was():
    """Nothing is lost."""
    tally = tm.Tally(["rmse", "mae"]).update([1.0], [2.0])
    before = tally.to_bytes()
    for bad in (([1.0, math.nan], [1.0, 2.0]), ([1.0], [1.0, 2.0]), (np.ones((2, 2)), np.ones((2, 2)))):
        with pytest.raises(tm.TallymarkError):
            tally.update(*bad)
        assert tally.to_bytes() == before


def test_dropped_rows_are_counted():
    """Across updates and sums."""
    tally = tm.Tally(["mae"], missing="drop").update([1.0, math.nan], [2.0, 2.0])
    report = (tally + tally).report()
    assert (report.n, report.dropped) == (2, 2)
    assert "2 dropped" in str(report)


def test_a_metric_that_fails_does_not_stop_the_others():
    """As in evaluate."""
    report = tm.Tally(["rmse", "coverage"]).update([1.0], [2.0]).report(errors="report")
    assert report["rmse"] == 1.0
    assert set(report.failures) == {"coverage"}
    assert math.isnan(tm.Tally(["coverage"]).report()["coverage"])
    with pytest.raises(tm.ShapeError):
        tm.Tally(["coverage"]).update([1.0], [2.0]).report()
    with pytest.raises(TypeError):
        tm.Tally(["rmse"]) + 3
    with pytest.raises(TypeError):
        3 + tm.Tally(["rmse"])


def test_bytes_that_do_not_fit_are_refused():
    """Forged or damaged."""
    good = tm.Tally(["rmse", "spearman"]).update([1.0, 2.0], [2.0, 1.0]).to_bytes()
    _, fields = unpack(good)
    for change in (
        {"metrics": [["x", "no_such_metric"]]},
        {"metrics": [["rmse", "mae"], ["spearman", "spearman"]]},
        {"metrics": 3},
        {"states": []},
        {"states": [["Nothing", {}]]},
        {"dropped": "x"},
        {"dropped": -1},
        {"dropped": 10**9600},
        {"dropped": 1.0},
        {"target": {**fields["target"], "positive": 10**9600}},
        {"columns": ["a", "b"]},
        {"columns": [2, 2]},
        {"missing": "zzz"},
        {"target": {"kind": "zzz"}},
    ):
        with pytest.raises(tm.TallymarkError):
            tm.Tally.from_bytes(pack("Tally", {**fields, **change}))
    del fields["target"]
    with pytest.raises(tm.StateError, match="valid Tally"):
        tm.Tally.from_bytes(pack("Tally", fields))


GROUPED = {"by": {"city": ["Ulm", "Bonn", "Ulm"], "year": [1, 2, 1]}}


def grouped():
    return tm.Tally(["mae"], by=["city", "year"]).update([1.0, 2.0, 3.0], [1.0, 2.0, 4.0], **GROUPED)


def test_groups_go_by_their_names():
    """Columns in any order, and one column whatever its name; the groups are in the report and in the bytes."""
    tally = grouped().update([1.0], [2.0], by={"year": [2], "city": ["Bonn"]})
    for each in (tally, tm.Tally.from_bytes(tally.to_bytes()), pickle.loads(pickle.dumps(tally))):
        report = each.report(min_rows=2)
        assert list(report.slices) == [("Bonn", 2), ("Ulm", 1)]
        assert [slice_["mae"] for slice_ in report.slices.values()] == [0.5, 0.5]
    one = tm.Tally(["mae"], by="city").update([1.0], [2.0], by=["Ulm"]).update([1.0], [4.0], by={"town": ["Ulm"]})
    assert one.report().slices["Ulm"]["mae"] == 2.0
    assert (
        grouped().to_bytes()
        == sum(
            tm.Tally(["mae"], by=["city", "year"]).update([y], [p], by={"city": [city], "year": [year]})
            for y, p, city, year in [(3.0, 4.0, "Ulm", 1), (2.0, 2.0, "Bonn", 2), (1.0, 1.0, "Ulm", 1)]
        ).to_bytes()
    )


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: tm.Tally(["mae"], by=[]), "`by` must name at least one column; got none"),
        (lambda: tm.Tally(["mae"], by=["a", "a"]), "`by` must be a list of distinct column names"),
        (lambda: tm.Tally(["mae"], by=["a", 1]), "`by` must be a list of distinct column names"),
        (lambda: tm.Tally(["gap(mae)"]), "`by` must name the columns of groups that .* compares"),
        (lambda: grouped().update([1.0], [1.0]), "`by` must be given for a tally and for its rows, or for neither"),
        (lambda: tm.Tally(["mae"]).update([1.0], [1.0], by=["x"]), "the tally was made without"),
        (lambda: grouped().update([1.0], [1.0], by=["x"]), "`by` must have the columns city, year; got group"),
        (lambda: grouped().update([1.0], [1.0], by={"city": ["x"], "day": [1]}), "got city, day"),
        (lambda: grouped().update([1.0], [1.0], by={"city": ["x", "y"], "year": [1]}), "must be one label per row"),
        (
            lambda: grouped() + tm.Tally(["mae"], by="city"),
            "only tallies of the same groups can be added; these have city, year",
        ),
        (lambda: grouped() + tm.Tally(["mae"]), "these have city, year and none"),
        (lambda: tm.Tally(["mae"]).report(min_rows=2), "this tally has none"),
    ],
)
def test_groups_that_do_not_fit(call, told):
    """Wrong names, none at all, or groups where there are none."""
    with pytest.raises(tm.TallymarkError, match=told):
        call()


def test_forged_groups_are_refused():
    """Labels, states and numbers of rows must fit each other; nothing but a StateError comes of it."""
    _, fields = unpack(grouped().to_bytes())
    first, second = fields["groups"]
    rest = first[1:]
    nan = float("nan")
    for change in (
        *({"by": names} for names in (["city"], [], ["city", "city"], [1, 2], "ab", 5, None, ["a", "b", "c"])),
        *({"groups": groups} for groups in ([], [first], [first, second, first], 5, [5], [[]], None, "xy", [None])),
        *(
            {"groups": [[labels, *rest], second]}
            for labels in (["x"], ["x", None], ["x", [1]], ["x", nan], [nan, nan], {"x": 1, "y": 2}, "xy", 3)
        ),
        {"groups": [[["Ulm", True], *rest], [["Ulm", 1], *second[1:]]]},
        {"groups": [[first[0], [], []], second]},
        {"groups": [[first[0], rest[0], rest[0]], second]},
        {"groups": [[first[0], [["Sums", {}]], []], second]},
        {"groups": [[first[0], *second[1:]], second]},
        {"states": []},
    ):
        with pytest.raises(tm.StateError):
            tm.Tally.from_bytes(pack("Tally", {**fields, **change}))


def test_a_function_that_lost_its_name_is_not_written():
    """Its bytes would lead to another metric."""
    from tallymark.metrics import registry

    first = tm.custom(lambda y, p, w: 1.0, name="one_for_a_test")
    tm.custom(lambda y, p, w: 2.0, name="one_for_a_test")
    try:
        with pytest.raises(tm.StateError, match="does not lead back"):
            tm.Tally([first]).to_bytes()
    finally:
        del registry.functions["one_for_a_test"]


def test_numbers_of_rows_beyond_float64_are_refused():
    """No rows have them, and formulas could not read them."""
    for name, pairs in (("Sums", ([1.0], [2.0])), ("Size", ([1.0], [2.0]))):
        metric = "mae" if name == "Sums" else "coverage"
        _, fields = unpack(tm.Tally([metric]).update(*pairs).to_bytes())
        [[found, state]] = fields["states"]
        assert found == name
        with pytest.raises(tm.StateError, match=r"more than 2\*\*53 rows"):
            tm.Tally.from_bytes(pack("Tally", {**fields, "states": [[name, {**state, "n": 1 << 60}]]}))


def test_totals_that_no_rows_have_are_a_clear_error():
    """Cubes that are far too large for the squares, of which an interval is made."""
    tally = tm.Tally(["brier"], kind="probability", ci=0.95).update([0, 1, 1, 0], [0.2, 0.6, 0.9, 0.3])
    _, fields = unpack(tally.to_bytes())
    for states in fields["interval_states"]:
        if states[0] == "Probabilities":
            costs = [name for name, _ in states[1]["costs"]]
            states[1]["spent"][costs.index("brier_cubes")][0] <<= 300
    with pytest.raises(tm.StateError, match="no rows have the totals of this tally"):
        tm.Tally.from_bytes(pack("Tally", fields)).report()


@pytest.mark.parametrize("path", [1, True, 2.5, None, b"a.tally", ["a.tally"], "a\0.tally", "a\ud800.tally"])
def test_a_path_that_is_none_is_refused(path):
    """A number would be taken for a file descriptor, and the standard output be closed."""
    for call in (
        tm.Tally(["mae"]).save,
        tm.Tally.load,
        tm.evaluate([1.0], [2.0], ["mae"]).save,
        tm.training.History.read,
        tm.training.JsonLines,
    ):
        with pytest.raises(tm.ParameterError, match="`path` must"):
            call(path)
    assert os.fstat(1)


READABLE = [0.0, 1.0, 1.0], [0.2, 0.9, 0.4], ["x", "z", "z"]
UNREADABLE = [1.0, 0.0, 1.0], [0.5, 0.1, 1.5], ["x", "x", "z"]  # 1.5 is not a probability
MIXED = ["rmse", "logloss", "r2", "gap(r2, logloss)"]


def tally_of(*batches, **facts):
    tally = tm.Tally(MIXED, by="group", errors="report", **facts)
    for y, p, group in batches:
        tally.update(y, p, by=group)
    return tally


@pytest.mark.parametrize("ci", [None, tm.Intervals(0.9, resamples=199)], ids=["values", "intervals"])
def test_a_metric_that_cannot_read_some_rows_fails_and_the_others_go_on(ci):
    """Whichever batch and whichever part of a sum it was; the values of the others are those of all rows."""
    batches = [READABLE, UNREADABLE, READABLE]
    columns = [[item for batch in batches for item in batch[k]] for k in range(3)]
    whole = tm.evaluate(*columns[:2], MIXED, by={"group": columns[2]}, errors="report")
    assert set(whole.failures) == {"logloss", "gap(r2, logloss)"}
    once = tally_of(*batches, ci=ci)
    parts = [tally_of(batch, ci=ci) for batch in batches]
    parts[0] = parts[0] + tm.Tally(MIXED, by="group", ci=ci)
    assert not parts[0].failures
    for tally in (
        once,
        parts[0] + parts[1] + parts[2],
        parts[1] + (parts[0] + parts[2]),
        parts[0] + (parts[2] + parts[1]),
        sum(tm.Tally.from_bytes(part.to_bytes()) for part in parts),
        tm.Tally.from_bytes(once.to_bytes()),
        pickle.loads(pickle.dumps(once)),
        copy.copy(once),
    ):
        report = tally.report(errors="report")
        assert set(tally.failures) == set(report.failures) == set(whole.failures)
        assert "got 1.5 (" in str(report.failures["logloss"])
        assert (report.n, report["rmse"], report["r2"]) == (9, whole["rmse"], whole["r2"])
        assert report.slices["z"]["rmse"] == whole.slices["z"]["rmse"]
        assert set(report.slices["x"].failures) == {"logloss"}
        with pytest.raises(tm.DomainError, match="probabilities in") as raised:
            tally.report(errors="raise")
        assert raised.value.report["rmse"] == whole["rmse"]
    assert once.errors == tm.Tally.from_bytes(once.to_bytes()).errors == "report"
    if ci:
        alone = tm.Tally(["r2"], ci=ci)
        for y, p, _ in batches:
            alone.update(y, p)
        assert once.report()["r2"] == alone.report()["r2"]
        assert once.report().cell("r2").lo == alone.report().cell("r2").lo


def test_rows_that_a_named_metric_cannot_read_are_refused():
    """The error has what the others say of all rows with them, and the tally is as before."""
    tally = tm.Tally(["rmse", "logloss"]).update(*READABLE[:2])
    before = tally.to_bytes()
    with pytest.raises(tm.DomainError) as raised:
        tally.update(*UNREADABLE[:2])
    assert raised.value.report.n == 6
    assert set(raised.value.report.failures) == {"logloss"}
    assert tally.to_bytes() == before
    with pytest.raises(tm.MissingValueError) as raised:
        tally.update([1.0], [math.nan])
    assert raised.value.report is None
    with pytest.raises(tm.ParameterError, match="`errors` must be"):
        tm.Tally(["rmse"], errors="ignore")


def test_all_metrics_may_fail():
    """The rows are counted still."""
    tally = tm.Tally(["logloss", "brier"], errors="report").update(*READABLE[:2], weights=[1, 2, 3])
    for each in (tally.update(*UNREADABLE[:2]), tm.Tally.from_bytes(tally.to_bytes()), tally.update(*READABLE[:2])):
        report = each.report()
        assert set(report.failures) == {"logloss", "brier"}
        assert (report.n, report.total_weight) == (each.n, each.n + 3)


def test_a_metric_that_can_read_no_such_rows_is_refused_with_the_tally():
    """Before any rows come."""
    with pytest.raises(tm.KindError, match="rmse"):
        tm.Tally(["rmse", "auc"], kind="probability")
    report = tm.Tally(["rmse", "auc"], kind="probability", errors="report").update([0, 1], [0.2, 0.8]).report()
    assert report["auc"] == 1.0
    assert set(report.failures) == {"rmse"}


def test_forged_failures_are_refused():
    """Of metrics that the tally does not have, or no errors at all."""
    _, fields = unpack(tally_of(READABLE, UNREADABLE).to_bytes())
    (key, error), *rest = fields["failures"]
    for failures in ([["mae", error]], [[key, 3]], [[key, {}]], 3, rest, []):
        with pytest.raises(tm.StateError):
            tm.Tally.from_bytes(pack("Tally", {**fields, "failures": failures}))
    with pytest.raises(tm.StateError):
        tm.Tally.from_bytes(pack("Tally", {**fields, "errors": "never"}))
