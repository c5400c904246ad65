"""The metrics that `evaluate` picks when none are named, in memory and in pieces."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import tallymark as tm
from tallymark.evaluation.default_metrics import BINARY_METRICS, LABEL_METRICS, PROBABILITY_METRICS, REGRESSION_METRICS

NAMES = ["ash", "beech", "cedar"]
ONE_HOT = [[0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0.1, 0.2, 0.7]]


@pytest.mark.parametrize(
    ("y_true", "y_pred", "metrics", "kind"),
    [
        ([True, False, True], [0.9, 0.2, 0.4], PROBABILITY_METRICS, "probability"),
        (NAMES, ONE_HOT, PROBABILITY_METRICS, "probability"),
        ([0, 1, 2], ONE_HOT, PROBABILITY_METRICS, "probability"),
        ([0, 1, 1], [0.1, 0.8, 0.4], PROBABILITY_METRICS, "probability"),
        ([0.0, 1.0, 1.0], [0.0, 1.0, 0.4], PROBABILITY_METRICS, "probability"),
        ([0.5, 1.0, 1.0], [0.1, 0.8, 0.4], REGRESSION_METRICS, "value"),
        ([3, 1, 0], [2.5, 0.8, 0.4], REGRESSION_METRICS, "value"),
        ([3.0, 1.0, 0.0], [2, 1, 1], REGRESSION_METRICS, "value"),
        ([[1.0, 2.0], [3.0, 5.0]], [[1.0, 2.5], [3.0, 4.0]], REGRESSION_METRICS, "value"),
        ([0, 1, 1], [0, 1, 0], BINARY_METRICS, "label"),
        ([True, False], [True, True], BINARY_METRICS, "label"),
        ([-1, 1], [-1, -1], BINARY_METRICS, "label"),
        ([0, 0], [0, 0], BINARY_METRICS, "label"),
        ([1, 2, 2], [1, 2, 1], LABEL_METRICS, "label"),
        (["no", "yes"], ["no", "no"], LABEL_METRICS, "label"),
        ([0, 1, 2], [0, 1, 1], LABEL_METRICS, "label"),
        ([[True, False], [True, True]], [[True, True], [False, True]], LABEL_METRICS, "label"),
        (range(30), list(range(30))[::-1], LABEL_METRICS, "label"),
    ],
)
def test_the_first_rule_that_fits_decides(y_true, y_pred, metrics, kind):
    """And the report says how the columns were read."""
    report = tm.evaluate(y_true, y_pred)
    assert list(report) == metrics
    assert report.inferred_kind == kind
    assert "read as" in str(report)
    assert report.to_dict()["inferred_kind"] == kind


@pytest.mark.parametrize(
    ("y_true", "y_pred", "words"),
    [
        ([0, 1, 1], [-2.0, 0.5, 1.5], ["margin", "score", "value"]),
        ([0.0, 1.0], [0.5, 1.5], ["margin", "score", "value"]),
        ([-1, 1, 1], [0.1, 0.8, 0.4], ["margin", "score", "value"]),
        ([True, False], [3.0, -2.0], ["margin", "score"]),
        (list(range(30)), [k + 1 for k in range(30)], ["value", "label"]),
    ],
)
def test_what_cannot_be_inferred_is_an_error_that_shows_every_call(y_true, y_pred, words):
    """Each of the calls that it shows works."""
    with pytest.raises(tm.ParameterError, match="`kind` must be given") as caught:
        tm.evaluate(y_true, y_pred)
    for kind in words:
        assert f'kind="{kind}"' in str(caught.value)
        assert tm.evaluate(y_true, y_pred, kind=kind).inferred_kind is None


def test_a_positive_class_makes_named_labels_binary():
    """Strings have no positive class unless it is named."""
    y, p = ["no", "yes", "yes"], ["no", "yes", "no"]
    assert list(tm.evaluate(y, p, positive="yes")) == BINARY_METRICS
    assert tm.evaluate(y, p, positive="yes")["recall"] == 0.5
    assert list(tm.evaluate([1, 0], [1, 1], classes=[0, 1, 2])) == LABEL_METRICS


def test_binary_data_have_the_values_of_the_one_line_calls():
    """One default per metric."""
    y, p = np.array([1, 1, 0, 0, 1]), np.array([1, 0, 0, 1, 1])
    report = tm.evaluate(y, p)
    assert dict(report) == {name: getattr(tm, name)(y, p) for name in BINARY_METRICS}


def test_rows_of_weight_zero_decide_nothing():
    """They are as if they were not there."""
    weights = [1, 1, 0]
    assert tm.evaluate([0, 1, 7], [0.2, 0.8, 0.5], weights=weights).inferred_kind == "probability"
    assert list(tm.evaluate([0, 1, 7], [0, 1, 1], weights=weights)) == BINARY_METRICS


def test_defaults_that_fail_stay_cells_unless_all_do():
    """Nobody asked for them by name."""
    with pytest.raises(tm.ParameterError, match="`positive` must name"):
        tm.evaluate(["spam", "ham"], [0.9, 0.2])
    report = tm.evaluate(["spam", "ham"], [0.9, 0.2], errors="report")
    assert set(report.failures) == {"auc", "logloss", "brier", "accuracy"}
    assert "positive" in str(report.failures["auc"])


@pytest.mark.parametrize(
    ("y_true", "y_pred"),
    [
        ([0, 1, 1, 0, 1, 0], [0.1, 0.8, 0.4, 0.3, 0.9, 0.2]),
        ([0, 1, 1, 0, 1, 0], [0, 1, 0, 0, 1, 1]),
        ([0, 1, 2, 0, 1, 2], [0, 1, 1, 0, 1, 1]),
        ([0, 1, 1, 2, 2, 2], [0, 1, 1, 2, 0, 1]),  # the first half alone would be binary
        ([3, 1, 0, 4, 1, 5], [2.5, 0.8, 0.4, 3.0, 1.0, 4.5]),
        (["a", "b", "a", "b", "a", "b"], ["a", "b", "b", "b", "a", "a"]),
    ],
)
@pytest.mark.parametrize("ci", [None, 0.9])
def test_pieces_choose_what_the_whole_does(y_true, y_pred, ci):
    """A tally, sums of tallies, their bytes and batches of a table have the report of all rows."""
    whole = tm.evaluate(y_true, y_pred, ci=ci)
    halves = [tm.Tally(ci=ci).update(y_true[part], y_pred[part]) for part in (slice(0, 3), slice(3, 6))]
    once = tm.Tally(ci=ci)
    for part in (slice(0, 3), slice(3, 6)):
        once.update(y_true[part], y_pred[part], keys=None)
    frames = [pd.DataFrame({"y": y_true[part], "p": y_pred[part]}) for part in (slice(0, 3), slice(3, 6))]
    table = tm.evaluate_table(frames, "y", "p", ci=ci)
    for report in (
        (halves[0] + halves[1]).report(),
        once.report(),
        table,
        tm.Tally.from_bytes(once.to_bytes()).report(),
    ):
        assert dict(report) == dict(whole)
        assert report.inferred_kind == whole.inferred_kind
    for report in (once.report(), table):
        assert [report.cell(key).lo for key in report] == [whole.cell(key).lo for key in whole]
    assert list(once.metrics) == list(whole)


def test_pieces_that_decide_differently_ask_for_a_kind():
    """A first piece with 0 and 1 alone looks like probabilities, the next like counts."""
    pieces = [([0, 1, 1], [0.3, 0.9, 0.5]), ([4, 1, 0], [3.0, 1.5, 0.2])]
    first, second = (tm.Tally().update(*piece) for piece in pieces)
    with pytest.raises(tm.ParameterError, match="`kind` must be given"):
        first + second
    with pytest.raises(tm.ParameterError, match="`kind` must be given"):
        first.update(*pieces[1])
    assert first.n == 3
    frames = [pd.DataFrame({"y": y, "p": p}) for y, p in pieces]
    with pytest.raises(tm.ParameterError, match="`kind` must be given"):
        tm.evaluate_table(frames, "y", "p")
    y, p = (np.concatenate(side) for side in zip(*pieces, strict=True))
    assert dict(tm.evaluate_table(frames, "y", "p", kind="value")) == dict(tm.evaluate(y, p))


def test_many_whole_numbers_are_refused_in_pieces_too():
    """Counts of which each piece has few."""
    tally = tm.Tally()
    for start in (0, 15):
        tally.update(np.arange(start, start + 15), np.arange(start, start + 15) + 1)
    with pytest.raises(tm.ParameterError, match='kind="value"'):
        tally.report()


def test_an_empty_default_tally_has_no_metrics_yet():
    """Nothing was read, so nothing was chosen."""
    tally = tm.Tally()
    assert tally.metrics == {}
    assert len(tm.Tally.from_bytes(tally.to_bytes()).report()) == 0
    assert dict((tally + tm.Tally().update([0, 1], [0, 1])).report())["accuracy"] == 1.0
    with pytest.raises(tm.StateError, match="the default metrics"):
        tally + tm.Tally(["rmse"])


FRAME = {
    "y": [0, 1, 1, 0],
    "p": [0.1, 0.8, 0.4, 0.3],
    "q": [0.9, 0.2, 0.6, 0.7],
    "w": [1.0, 2.0, 1.0, 1.0],
    "g": list("abab"),
}


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table, dict])
def test_a_data_frame_and_names_of_columns_are_enough(make):
    """By position and by name, as evaluate_table."""
    frame = make(FRAME)
    expected = dict(tm.evaluate(FRAME["y"], FRAME["p"]))
    assert dict(tm.evaluate(frame, "y", "p")) == expected
    assert dict(tm.evaluate(frame, truth="y", prediction="p")) == expected
    assert dict(tm.evaluate(frame, "y", prediction="p")) == expected
    assert dict(tm.evaluate(frame, "y", "p", ["auc"])) == dict(tm.evaluate(frame, "y", "p", metrics="auc"))
    report = tm.evaluate(frame, "y", "p", ["auc", "brier"], weights="w", by="g", ci=0.9)
    same = tm.evaluate(FRAME["y"], FRAME["p"], ["auc", "brier"], weights=FRAME["w"], by={"g": FRAME["g"]}, ci=0.9)
    assert report.to_dict() == same.to_dict()
    two = tm.evaluate(frame, "y", ["q", "p"], ["logloss"], classes=[0, 1], normalize=True)
    assert two["logloss"] == tm.logloss(
        FRAME["y"], np.column_stack([FRAME["q"], FRAME["p"]]), classes=[0, 1], normalize=True
    )
    several = tm.evaluate(frame, ["y", "w"], ["q", "p"], ["rmse"], kind="value")
    assert several["rmse"] > 0


def test_a_file_and_names_of_columns_are_enough(tmp_path):
    """What evaluate_table reads, evaluate reads."""
    pd.DataFrame(FRAME).to_csv(tmp_path / "rows.csv", index=False)
    assert dict(tm.evaluate(str(tmp_path / "rows.csv"), "y", "p", ["auc"])) == {"auc": 1.0}


def test_calls_with_frames_that_cannot_be_say_what_to_write():
    """One sentence each."""
    frame = pd.DataFrame(FRAME)
    with pytest.raises(tm.ParameterError, match=r'evaluate\(frame, "y", "p"\)'):
        tm.evaluate(frame, "y")
    with pytest.raises(tm.ParameterError, match=r'Pass the table first: evaluate\(frame, "y", "p"\)'):
        tm.evaluate("y", "p", ["auc"], data=frame)
    with pytest.raises(tm.ParameterError, match="given twice"):
        tm.evaluate(frame, "y", "p", truth="y")
    with pytest.raises(tm.FileError, match="has no column 'z'"):
        tm.evaluate(frame, "y", "z")
    with pytest.raises(tm.ParameterError, match="by keyword"):
        tm.evaluate(FRAME["y"], FRAME["p"], ["auc"], [1, 1, 1, 1])
    with pytest.raises(tm.ParameterError, match=r"evaluate\(y_true, y_pred\)"):
        tm.evaluate(FRAME["y"])
    # Labels in a list are labels, whatever the truth is in.
    assert tm.evaluate(pd.DataFrame({"y": ["a", "b"]}), ["a", "b"])["accuracy"] == 1.0


def test_shared_parameters_fill_every_metric_that_has_them():
    """What a metric sets itself stays, and must not differ."""
    y, p = [0, 1, 2, 1], [0, 1, 1, 1]
    report = tm.evaluate(y, p, ["accuracy", "precision", "f1"], average="macro")
    assert list(report) == ["accuracy", "precision(average=macro)", "fscore(average=macro)"]
    assert dict(report) == dict(tm.evaluate(y, p, ["accuracy", "precision(average=macro)", "fscore(average=macro)"]))
    assert list(tm.evaluate(y, p, {"P": "precision"}, average="macro")) == ["P"]
    assert tm.evaluate(y, p, ["f1", "recall(average=macro)"], average="macro")["f1_score(average=macro)"] > 0
    with pytest.raises(tm.ParameterError, match="set it once"):
        tm.evaluate(y, p, ["recall(average=micro)"], average="macro")
    with pytest.raises(tm.ParameterError, match="not a parameter of accuracy"):
        tm.evaluate(y, p, ["accuracy"], average="macro")
    with pytest.raises(tm.ParameterError, match="weights="):
        tm.evaluate(y, p, ["accuracy"], sample_weight=[1, 1, 1, 1])
    frame = pd.DataFrame({"y": [0, 1, 1, 0], "p": [0.25, 0.8, 0.35, 0.3]})
    low = tm.evaluate(frame, "y", "p", ["accuracy", "recall"], threshold=0.3)
    assert dict(low) == {"accuracy(threshold=0.3)": 0.75, "recall(threshold=0.3)": 1.0}
    assert dict(tm.evaluate_table([frame], "y", "p", ["accuracy", "recall"], threshold=0.3)) == dict(low)
    margins = tm.evaluate([0, 1], [-1.0, 2.0], ["margin_accuracy", "accuracy"], kind="margin", threshold=0.3)
    assert list(margins) == ["margin_accuracy", "accuracy(threshold=0.3)"]
    gap = tm.evaluate(y, p, [tm.gap("recall")], by=list("aabb"), average="macro")
    assert dict(gap) == dict(tm.evaluate(y, p, [tm.gap("recall(average=macro)")], by=list("aabb")))


@pytest.mark.parametrize(
    "item",
    [
        "accuracy(threshold=0.5)",
        {"name": "accuracy", "threshold": 0.5},
        tm.metric("accuracy", threshold=0.5),
        tm.accuracy.replace(threshold=0.5),
        tm.accuracy.replace(threshold=0.5).replace(undefined=0),
        pickle.loads(pickle.dumps(tm.accuracy.replace(threshold=0.5))),
    ],
)
def test_a_default_that_is_set_explicitly_is_a_value_of_its_own(item):
    """`accuracy(threshold=0.5)` equals `accuracy`, and only the latter takes another threshold from the call."""
    y, p = [True, False, True], [0.9, 0.2, 0.6]
    with pytest.raises(tm.ParameterError, match=r"`threshold` is 0\.5 in accuracy.* and 0\.8 in the call"):
        tm.evaluate(y, p, [item], threshold=0.8)
    assert list(tm.evaluate(y, p, [item], threshold=0.5).values()) == [1.0]
    assert tm.evaluate(y, p, ["accuracy"], threshold=0.8)["accuracy(threshold=0.8)"] == 2 / 3


@pytest.mark.parametrize(
    ("y_true", "y_pred", "parameters"),
    [
        ([0, 1, 1, 0], [0.25, 0.8, 0.35, 0.3], {"threshold": 0.3}),
        ([0, 1, 2, 1], [0, 1, 1, 1], {"average": "weighted"}),
        ([0, 1, 1, 0], [0, 1, 1, 1], {"average": "macro"}),
        ([0.5, 1.0, 2.0, 4.0], [0.5, 1.5, 2.0, 3.0], {"outputs": "mean", "undefined": 0}),
    ],
)
def test_pieces_share_parameters_as_the_whole_does(y_true, y_pred, parameters, tmp_path):
    """Default metrics take them as soon as the rows say which metrics these are."""
    whole = tm.evaluate(y_true, y_pred, **parameters)
    frame = pd.DataFrame({"y": y_true, "p": y_pred})
    frame.to_csv(tmp_path / "rows.csv", index=False)
    tally = tm.Tally(**parameters).update(y_true[:2], y_pred[:2])
    tally = tally + tm.Tally(**parameters).update(y_true[2:], y_pred[2:])
    assert not tm.Tally(**parameters).metrics
    for report in (
        tally.report(),
        tm.Tally.from_bytes(tally.to_bytes()).report(),
        tm.Tally([item.name for item in tally.metrics.values()], **parameters).update(y_true, y_pred).report(),
        tm.evaluate_table([frame[:2], frame[2:]], "y", "p", **parameters),
        tm.evaluation.tally_table(tmp_path / "rows.csv", "y", "p", **parameters).report(),
        tm.evaluate(tmp_path / "rows.csv", "y", "p", **parameters),
    ):
        assert dict(report) == dict(whole)


def test_shared_parameters_of_a_tally_are_checked_when_it_is_made():
    """The name and the value, also where the metrics follow from rows to come."""
    with pytest.raises(tm.ParameterError, match=r"`treshold` is not an argument.*Did you mean threshold"):
        tm.Tally(treshold=0.3)
    with pytest.raises(tm.ParameterError, match=r"`threshold` must be a probability"):
        tm.Tally(threshold=3)
    with pytest.raises(tm.ParameterError, match=r"not a parameter of auc"):
        tm.Tally(["auc"], threshold=0.3)
    with pytest.raises(tm.StateError, match="other parameters"):
        tm.Tally(threshold=0.3) + tm.Tally(threshold=0.4)


def test_metrics_that_a_shared_parameter_makes_equal_are_one_metric():
    """As two spellings of one name are."""
    report = tm.evaluate([0, 1, 2], [0, 1, 1], ["f1", "f1_macro", "recall"], average="macro")
    assert list(report) == ["fscore(average=macro)", "recall(average=macro)"]


def test_an_argument_of_another_call_is_not_suggested_to_itself():
    """`by` is an argument of evaluate, and cross_validate has no groups to report."""
    with pytest.raises(tm.ParameterError, match="`by` is not an argument of the call") as raised:
        tm.model_selection.cross_validate(
            lambda *_: np.ravel, [[1.0], [2.0]], [1.0, 2.0], cv=2, scoring="mae", by=[0, 1]
        )
    assert "Did you mean" not in str(raised.value)
