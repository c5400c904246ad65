"""evaluate_table(..., score_ranges=...): the report of evaluate, and what is refused before anything is read."""

from __future__ import annotations

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import tallymark as tm
from tallymark.evaluation import score_ranges
from tallymark.evaluation.score_ranges import BinJob

ON_SCORES = ["auc", "gini", "average_precision", "pr_auc", "ks"]
METRICS = [*ON_SCORES, "brier", "accuracy", "auc(bounded=8)"]
ASKED = {"truth": "y", "prediction": "p", "kind": "probability"}


def frame_of(n=500, seed=1, digits=None):
    rng = np.random.default_rng(seed)
    p = rng.random(n)
    y = (rng.random(n) < p).astype(int)
    return pd.DataFrame({"y": y, "p": p if digits is None else p.round(digits), "city": rng.choice(["a", "b"], n)})


def pieces(frame, parts=4, seed=0):
    """The rows dealt to tables in any order, one of which is empty."""
    rng = np.random.default_rng(seed)
    dealt = rng.integers(0, parts, len(frame))
    return [frame.iloc[:0], *(frame[dealt == k] for k in range(parts))]


def same(found, expected):
    """Whether two reports have the same cells, to the last bit and to the note."""
    assert list(found) == list(expected)
    for key in found:
        mine, theirs = found.cell(key), expected.cell(key)
        assert (mine.value, mine.n, mine.reason, mine.notes) == (theirs.value, theirs.n, theirs.reason, theirs.notes)
    assert (found.n, found.dropped, found.total_weight) == (expected.n, expected.dropped, expected.total_weight)


SCORES = {
    "all differ": lambda rng, n: rng.random(n),
    "ties": lambda rng, n: rng.integers(0, 4, n) / 4,
    "one tie": lambda rng, n: np.full(n, 0.25),
    "zeros": lambda rng, n: np.where(rng.random(n) < 0.5, 0.0, -0.0),
    "close to 1": lambda rng, n: 1 / (1 + np.exp(-30 * rng.normal(size=n))),
}


@pytest.mark.slow
@pytest.mark.parametrize("scores", list(SCORES))
@pytest.mark.parametrize("share", [0.0, 0.02, 0.5, 1.0])
def test_the_same_bits_as_in_memory(scores, share, monkeypatch):
    """Whatever the scores and the classes of a piece are, also where bins must be made finer."""
    for name, few in (("_BINS", 8), ("_FINER_BINS", 8), ("_BINS_OF_A_RANGE", 1)):
        monkeypatch.setattr(score_ranges, name, few)
    for seed in range(4):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(1, 200))
        frame = pd.DataFrame({"y": (rng.random(n) < share).astype(int), "p": SCORES[scores](rng, n)})
        for count in (1, 3, 64):
            found = tm.evaluate_table(pieces(frame, seed=seed), **ASKED, metrics=METRICS, score_ranges=count)
            same(found, tm.evaluate(frame["y"], frame["p"], METRICS, kind="probability"))


def test_every_source_that_is_not_gone(tmp_path):
    """Files of any form, lazy frames, relations and lists of tables; of iterators, only what needs no second look."""
    frame = frame_of()
    frame[:200].to_parquet(tmp_path / "a.parquet", row_group_size=60)
    frame[200:].to_parquet(tmp_path / "b.parquet")
    frame.to_csv(tmp_path / "all.csv", index=False)
    expected = tm.evaluate(frame["y"], frame["p"], METRICS, kind="probability")
    sources = {
        "files": str(tmp_path / "*.parquet"),
        "csv": tmp_path / "all.csv",
        "lazy": pl.from_pandas(frame).lazy(),
        "relation": duckdb.from_arrow(pa.Table.from_pandas(frame)),
        "tables": pieces(frame),
        "in memory": frame,
    }
    for source in sources.values():
        same(tm.evaluate_table(source, **ASKED, metrics=METRICS, score_ranges=7), expected)
    for source, kind in ((iter([frame]), "an iterator"), (pa.Table.from_pandas(frame).to_reader(), "a reader")):
        with pytest.raises(
            tm.errors.ParameterError, match=f"readable twice for `score_ranges`; {kind} can be read only once"
        ):
            tm.evaluate_table(source, **ASKED, metrics=METRICS, score_ranges=7)
    found = tm.evaluate_table(iter([frame]), **ASKED, metrics=["brier"], score_ranges=7)
    assert found["brier"] == expected["brier"]


def test_labels_columns_and_missing_values():
    """Texts with a positive class, two columns, rows that are dropped; refused as they would be in memory."""
    frame = frame_of(digits=2)
    frame["word"], frame["rest"] = np.where(frame["y"] == 1, "yes", "no"), 1 - frame["p"]
    frame.loc[::7, "p"] = np.nan
    asked = {"missing": "drop", "metrics": ON_SCORES, "score_ranges": 5}
    kept = frame.dropna()
    found = tm.evaluate_table(pieces(frame), truth="word", prediction="p", positive="yes", **asked)
    assert dict(found) == dict(tm.evaluate(kept["word"], kept["p"], ON_SCORES, positive="yes"))
    assert found.dropped == len(frame) - len(kept)
    two = {"truth": "word", "prediction": ["rest", "p"], "classes": ["no", "yes"]}
    found = tm.evaluate_table(pieces(frame), **two, **asked, errors="report")
    expected = tm.evaluate(
        kept["word"], kept[["rest", "p"]].to_numpy(), ON_SCORES, classes=["no", "yes"], errors="report"
    )
    failed = {key for key in ON_SCORES if expected.cell(key).error is not None}
    assert failed == {"average_precision", "pr_auc"}  # without a positive class, others take columns either way round
    for key in ON_SCORES:
        assert str(found.cell(key).error) == str(expected.cell(key).error)
        assert key in failed or found[key] == expected[key]
    with pytest.raises(tm.errors.ShapeError, match="one column per class if there are more than two"):
        tm.evaluate_table(
            [pd.DataFrame({"y": [0, 1, 2], "p": [0.1, 0.2, 0.3]})], **ASKED, metrics="auc", score_ranges=2
        )
    with pytest.raises(tm.errors.InputError, match=r"`prediction` must .*inf"):
        tm.evaluate_table([{"y": [0, 1], "p": [0.5, np.inf]}], truth="y", prediction="p", metrics="ks", score_ranges=2)
    with pytest.raises(tm.errors.EmptyError, match="`source` has no rows left"):
        tm.evaluate_table([frame[::7]], **ASKED, **asked)


def test_intervals_are_those_of_all_rows():
    """Areas by DeLong's formula; the others as a tally has them."""
    frame = frame_of(digits=2)
    asked = {"metrics": [*ON_SCORES, "brier"], "ci": 0.9}
    found = tm.evaluate_table(pieces(frame), **ASKED, **asked, score_ranges=5)
    whole = tm.evaluate_table([frame], **ASKED, **asked)
    assert found.to_dict() == whole.to_dict()
    exact = tm.evaluate(frame["y"], frame["p"], kind="probability", metrics=["auc"], ci=0.9).cell("auc")
    assert (found.cell("auc").lo, found.cell("auc").hi, found.cell("auc").method) == (exact.lo, exact.hi, "DeLong")


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        (
            {"metrics": "roc_curve"},
            "roc_curve needs all distinct scores together, and `score_ranges` splits them",
        ),
        (
            {"metrics": "auc(max_fpr=0.1)"},
            r"auc\(max_fpr=0.1\) needs all distinct scores .* leave `score_ranges` out$",
        ),
        ({"metrics": "ece(strategy=count)"}, r"ece\(strategy=count\) needs all distinct scores together"),
        ({"weights": "w"}, r"`weights` was given. Leave one of them out, or use auc\(bounded=4096\)"),
        ({"by": "city", "metrics": "pr_auc"}, "is for pr_auc of all rows, each of weight 1; `by` was given"),
        ({"prediction": ["a", "b", "c"]}, r"`prediction` named 3 columns. Leave `score_ranges` out, or use auc\("),
        ({"score_ranges": 0}, "`score_ranges` must be an integer from 1 to 65,536; got 0"),
        ({"score_ranges": True}, "`score_ranges` must be an integer"),
        ({"score_ranges": 2.5}, "`score_ranges` must be an integer"),
    ],
)
def test_what_is_refused_before_anything_is_read(changed, told):
    """By the name of the metric, with what to use instead."""

    class Unread:
        def __iter__(self):
            raise AssertionError

    asked = {**ASKED, "metrics": "auc", "score_ranges": 4, **changed}
    with pytest.raises(tm.errors.ParameterError, match=told):
        tm.evaluate_table(Unread(), **asked)


def test_metrics_that_nobody_named():
    """Those that suit the types are walked in ranges, or refused, too."""
    frame = frame_of()
    found = tm.evaluate_table(pieces(frame), **ASKED, score_ranges=3)
    same(found, tm.evaluate(frame["y"], frame["p"], kind="probability"))
    with pytest.raises(tm.errors.ParameterError, match="`by` was given"):
        tm.evaluate_table([frame], **ASKED, by="city", score_ranges=3)


def test_what_needs_no_ranges_has_none():
    """Metrics of small states alone, with groups and weights, are folded as ever."""
    frame = frame_of()
    asked = {**ASKED, "metrics": ["brier", "accuracy"], "by": "city", "weights": "p"}
    found = tm.evaluate_table([frame], **asked, score_ranges=3)
    assert found.to_dict() == tm.evaluate_table([frame], **asked).to_dict()
    assert list(found.slices) == ["a", "b"]


class Told:
    """What progress was told."""

    def __init__(self):
        self.done, self.whole = [], 0

    def __call__(self, done, whole):
        self.done.append(done)
        self.whole = whole


def test_progress_of_all_passes(tmp_path, monkeypatch):
    """It never goes back, and ends where it should, however many passes there are."""
    for name, few in (("_BINS", 4), ("_FINER_BINS", 4), ("_BINS_OF_A_RANGE", 1)):
        monkeypatch.setattr(score_ranges, name, few)
    passes = []
    monkeypatch.setattr(score_ranges, "BinJob", lambda *given: passes.append(given) or BinJob(*given))
    frame = frame_of()
    frame.to_parquet(tmp_path / "a.parquet", row_group_size=100)
    for source in (tmp_path, pieces(frame)):
        told = Told()
        tm.evaluate_table(source, **ASKED, metrics="auc", score_ranges=20, progress=told)
        assert sorted(told.done) == told.done
        assert told.done[-1] == told.whole
    assert passes


def test_rows_that_are_others_the_second_time():
    """Are found, and the error says what to do."""

    class Changing(list):
        looks = 0

        def __iter__(self):
            self.looks += 1
            return iter([frame_of(seed=self.looks)])

    with pytest.raises(
        tm.errors.StateError, match=r"reads it more than once; got different rows on a later read\. Write"
    ):
        tm.evaluate_table(Changing(), **ASKED, metrics="auc", score_ranges=4)


def test_curves_cannot_be_drawn_from_sums():
    """The error says why."""
    found = tm.evaluate_table(pieces(frame_of()), **ASKED, metrics="auc", score_ranges=4)
    with pytest.raises(
        tm.errors.ParameterError,
        match="curves and thresholds need every distinct score, and `score_ranges` keeps only sums",
    ):
        found.plot.roc()
