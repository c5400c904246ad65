"""The worst rows: as sorted by hand, with their numbers in the source."""

from __future__ import annotations

import numpy as np
import pytest
from tests.evaluation.plot_rows import GUESSES, NUMBERS, RNG, ROWS, SCORE, TRUTH

import tallymark as tm

CLASSES = np.array(["ant", "bee", "cow"])
MANY = RNG.integers(0, 3, ROWS)
TABLE = RNG.dirichlet([1, 1, 1], ROWS)


def test_numbers_with_the_largest_error():
    """By its size, whatever its sign."""
    found = tm.evaluate(NUMBERS, GUESSES).worst_rows(7).columns()
    error = GUESSES - NUMBERS
    rows = np.argsort(-np.abs(error))[:7]
    assert found == {
        "row": rows.tolist(),
        "truth": NUMBERS[rows].tolist(),
        "prediction": GUESSES[rows].tolist(),
        "error": error[rows].tolist(),
    }
    both = tm.evaluate(np.column_stack((NUMBERS, NUMBERS)), np.column_stack((NUMBERS, GUESSES)))
    assert len(both.worst_rows()) == 0
    assert both.worst_rows(7, output=1).columns() == found


@pytest.mark.parametrize("kind", [None, "probability", "margin"])
@pytest.mark.parametrize("names", [np.array([0, 1]), np.array(["no", "yes"])])
def test_probabilities_with_the_least_for_the_truth(kind, names):
    """Those that are the surest of what is wrong come first; of equal ones the first row."""
    predictions = np.log(SCORE / (1 - SCORE)) if kind == "margin" else SCORE
    metrics, positive = ["logloss", "auc"], None if names[0] == 0 else "yes"
    found = tm.evaluate(names[TRUTH], predictions, metrics, kind=kind, positive=positive).worst_rows(9).columns()
    of_truth = np.where(TRUTH == 1, SCORE, 1 - SCORE)
    rows = np.argsort(of_truth, kind="stable")[:9]
    assert found["probability of the truth"] == pytest.approx(of_truth[rows])
    assert kind == "margin" or sorted(found["row"][:5]) == sorted(rows[:5].tolist())
    assert found["truth"] == names[TRUTH[found["row"]]].tolist()
    assert found["prediction"] == names[(SCORE[found["row"]] >= 0.5).astype(int)].tolist()


def test_probabilities_of_several_classes():
    """Of the column of the true class; labels are read from them as from one column."""
    for report in (tm.evaluate(CLASSES[MANY], TABLE), tm.evaluate(CLASSES[MANY], TABLE, ["accuracy"])):
        found = report.worst_rows(5).columns()
        of_truth = TABLE[np.arange(ROWS), MANY]
        rows = np.argsort(of_truth)[:5]
        assert found["row"] == rows.tolist()
        assert found["probability of the truth"] == of_truth[rows].tolist()
        assert found["prediction"] == CLASSES[TABLE[rows].argmax(axis=1)].tolist()
    sure = tm.evaluate([0, 1, 1], [0.0, 0.0, 1e-300], ["brier"], kind="probability").worst_rows().columns()
    assert sure["row"] == [1, 2]


def test_wrong_labels():
    """In the order of the rows; the title says how many there are, and right ones are not among them."""
    said = CLASSES[np.where(np.arange(ROWS) % 5 == 3, (MANY + 1) % 3, MANY)]
    worst = tm.evaluate(CLASSES[MANY], said).worst_rows(3)
    assert worst.columns() == {
        "row": [3, 8, 13],
        "truth": CLASSES[MANY[[3, 8, 13]]].tolist(),
        "prediction": said[[3, 8, 13]].tolist(),
    }
    assert str(worst).startswith("80 wrong rows\n")
    assert len(tm.evaluate(said, said).worst_rows()) == 0


def test_misranked_scores():
    """By the share of rows of the other class on the wrong side, and half of the level ones; the mean over positives
    is what auc lacks to 1."""
    found = tm.evaluate(TRUTH, SCORE, kind="score").worst_rows(ROWS).columns()
    for row, share in zip(found["row"], found["misranked share"], strict=True):
        others = (SCORE[TRUTH[row] != TRUTH] - SCORE[row]) * (1 if TRUTH[row] else -1)
        assert share == pytest.approx(np.mean((others > 0) + (others == 0) / 2))
    assert found["misranked share"] == sorted(found["misranked share"], reverse=True)
    positives = [share for share, truth in zip(found["misranked share"], found["truth"], strict=True) if truth]
    assert sum(positives) / TRUTH.sum() == pytest.approx(1 - tm.auc(TRUTH, SCORE))


def test_rows_have_their_numbers_and_ids_of_the_source():
    """Whatever was dropped, and without rows of weight 0; keys are ids where none are given."""
    truth, guess = [np.nan, 1.0, 2.0, 3.0, 4.0], [1.0, 1.0, 9.0, 3.5, 44.0]
    facts = {"missing": "drop", "weights": [1, 1, 2, 1, 0]}
    for ids in (list("abcde"), np.array(list("abcde"))):
        found = tm.evaluate(truth, guess, ["mae"], **facts).worst_rows(ids=ids).columns()
        assert (found["row"], found["id"]) == ([2, 3], ["c", "d"])
    keys = [5_000, 5_001, 5_002, 5_003, 5_004]
    keyed = tm.evaluate(truth, guess, ["mae"], keys=keys, ci=tm.Intervals(resamples=50), **facts).worst_rows()
    assert keyed.columns()["id"] == [5_002, 5_003]
    assert "5002" in str(keyed)
    assert keyed.to_pandas()["id"].tolist() == [5_002, 5_003]
    assert "<table>" in keyed._repr_html_()


def test_huge_errors_come_first():
    """Also one that no float can hold."""
    found = tm.evaluate([-1e308, 1.0, 1.0], [1e308, 1e308, 1.0], ["mae"]).worst_rows().columns()
    assert (found["row"], found["error"]) == ([0, 1], [np.inf, 1e308])
