"""Errors name the row of the source, however the rows were cut, dropped or grouped on the way."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tallymark as tm

ROWS, BAD = 100, 51


def with_bad(values, bad):
    """A copy of a column with one bad value, at row 51."""
    out = np.asarray(values).copy()
    out[BAD] = bad
    return out


RANDOM = np.random.default_rng(0)
TRUTH, LABELS = RANDOM.normal(size=ROWS), np.arange(ROWS) % 3 % 2
GOOD = {
    "truth": TRUTH,
    "value": TRUTH + 0.1,
    "label": LABELS,
    "probability": RANDOM.uniform(size=ROWS),
    "weight": np.ones(ROWS),
    "group": np.array(["a", "b"])[np.arange(ROWS) % 2],
}
HOLEY = np.where(np.isin(np.arange(ROWS), [3, 44]), np.nan, TRUTH)
FREE = np.where(np.arange(ROWS) < 45, 0.0, 1.0)  # weights, of which many are zero
POSITIVE = {"truth": np.abs(HOLEY), "value": with_bad(np.abs(TRUTH), -3.0)}
CASES = {
    "NaN": ({"truth": with_bad(TRUTH, np.nan)}, {"metrics": ["rmse"]}),
    "infinity": ({"value": with_bad(TRUTH, np.inf)}, {"metrics": ["mae", "r2"]}),
    "a weight": ({"weight": with_bad(np.ones(ROWS), -1.0)}, {"metrics": ["rmse"], "weights": "weight"}),
    "a probability": ({"probability": with_bad(GOOD["probability"], 1.5)}, {"metrics": ["logloss"]}),
    "a score": ({"probability": with_bad(GOOD["probability"], np.nan)}, {"metrics": ["auc"], "kind": "score"}),
    "a fraction as a label": (
        {"label": with_bad(LABELS.astype(float), 0.5), "probability": LABELS},
        {"metrics": ["accuracy"], "kind": "label"},
    ),
    "after dropped rows": (
        {"label": np.where(np.isnan(HOLEY), np.nan, LABELS), "probability": with_bad(GOOD["probability"], 1.5)},
        {"metrics": ["logloss"], "missing": "drop"},
    ),
    "a weight after dropped rows": (
        {"truth": HOLEY, "weight": with_bad(FREE, -1.0)},
        {"metrics": ["rmse"], "weights": "weight", "missing": "drop"},
    ),
    "after weights of zero": (
        {"probability": with_bad(GOOD["probability"], 1.5), "weight": FREE},
        {"metrics": ["logloss"], "weights": "weight", "ci": tm.Intervals(0.9, resamples=100)},
    ),
}
BATCH = 20


def frame_of(columns):
    return pd.DataFrame({**GOOD, **columns})


def read_arrays(frame, folder, *, truth, prediction, by=None, weights=None, **asked):
    given = {"by": None if by is None else frame[by], "weights": None if weights is None else frame[weights]}
    return tm.evaluate(frame[truth], frame[prediction], errors="raise", **given, **asked)


def read_tally(frame, folder, *, truth, prediction, by=None, weights=None, **asked):
    given = {"by": None if by is None else frame[by], "weights": None if weights is None else frame[weights]}
    tally = tm.Tally(by=by, **asked)
    return tally.update(frame[truth], frame[prediction], **given)


def read_csv(frame, folder, **asked):
    frame.to_csv(folder / "rows.csv", index=False)
    return tm.evaluate_table(folder / "rows.csv", **asked)


def read_parquet(frame, folder, **asked):
    frame.drop(index=BAD).to_parquet(folder / "first.parquet")
    pq.write_table(pa.Table.from_pandas(frame), folder / "second.parquet", row_group_size=BATCH)
    return tm.evaluate_table([folder / "first.parquet", folder / "second.parquet"], **asked)


def read_batches(frame, folder, **asked):
    return tm.evaluate_table((frame[first : first + BATCH] for first in range(0, ROWS, BATCH)), **asked)


def read_lazily(frame, folder, **asked):
    return tm.evaluate_table(pl.from_pandas(frame).lazy(), **asked)


def read_table(frame, folder, **asked):
    return tm.evaluate_table(frame, errors="raise", **asked)


def read_dask(frame, folder, **asked):
    dd = pytest.importorskip("dask.dataframe")
    return tm.evaluate_table(dd.from_pandas(frame, npartitions=ROWS // BATCH), **asked)


SOURCES = {
    read_arrays: "row 51",
    read_table: "row 51",
    read_tally: "row 51",
    read_csv: "row 51 of `[^`]*rows.csv`",
    read_parquet: "row 51 of `[^`]*second.parquet`",
    read_batches: "row 51",
    read_lazily: "row 51",
    read_dask: "row 11 of partition 2",
}


@pytest.mark.parametrize("by", [None, "group"])
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("read", SOURCES, ids=lambda read: read.__name__)
def test_an_error_names_the_row_of_the_source(tmp_path, read, case, by):
    columns, asked = CASES[case]
    labels = not {"rmse", "mae"} & set(asked["metrics"])
    pair = {"truth": "label", "prediction": "probability"} if labels else {"truth": "truth", "prediction": "value"}
    with pytest.raises(tm.InputError, match=rf"\({SOURCES[read]}[,)]"):
        read(frame_of(columns), tmp_path, by=by, **pair, **asked)


def test_a_metric_names_the_row_of_the_source_after_dropped_rows():
    with pytest.raises(tm.DomainError, match=r"greater than -1 for msle; got -3\.0 \(row 51\)"):
        tm.evaluate(POSITIVE["truth"], POSITIVE["value"], ["msle"], missing="drop", errors="raise")


def test_objects_are_counted_with_dropped_rows():
    truth = np.array([None, 1.0, 2.0, "x"], dtype=object)
    with pytest.raises(tm.TypeOfDataError, match=r"\(row 3\)"):
        tm.evaluate(truth, [1.0, 2.0, 3.0, 4.0], ["rmse"], missing="drop", errors="raise")


def test_a_piece_of_a_source_does_not_claim_to_know_all_faults(tmp_path):
    frame = frame_of({"truth": np.where(np.arange(ROWS) % BATCH == 7, np.nan, TRUTH)})
    with pytest.raises(tm.MissingValueError, match=r"got nan \(row 7\)"):
        read_batches(frame, tmp_path, truth="truth", prediction="value", metrics=["rmse"])
    with pytest.raises(tm.MissingValueError, match=r"got nan \(row 7, the first of 5 rows\)"):
        tm.evaluate(frame["truth"], frame["value"], ["rmse"])


def test_an_error_about_a_table_names_the_arguments_of_the_call():
    with pytest.raises(tm.MissingValueError, match="`prediction` must be finite"):
        tm.evaluate_table({"y": [1.0, 2.0], "p": [1.0, np.nan]}, truth="y", prediction="p", metrics=["rmse"])


def test_an_error_in_one_group_names_the_group():
    """In memory and in pieces."""
    y, p, by = [0, 1, 1, 0], [0.2, 0.8, 0.6, 0.3], list("abba")
    for call in (
        lambda: tm.evaluate(y, p, ["auc(undefined=raise)"], by=by),
        lambda: tm.Tally(["auc(undefined=raise)"], by="letter").update(y, p, by=by).report(),
    ):
        with pytest.raises(tm.UndefinedError, match=r"all rows are of one class \(group a\)"):
            call()


def test_an_error_of_one_model_names_the_model():
    """Where it is its predictions that have no value."""
    models = {"flat": [1.0, 1.0, 1.0], "good": [1.0, 2.0, 3.0]}
    with pytest.raises(tm.UndefinedError, match=r"predictions are constant.* \(model 'flat'\)"):
        tm.compare([1.0, 2.0, 4.0], models, ["pearson(undefined=raise)"])
