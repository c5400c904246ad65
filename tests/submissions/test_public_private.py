"""A submission on a public and a private part of the answers."""

from __future__ import annotations

import numpy as np
import pytest

import tallymark as tm
from tallymark.submissions.disclosure import disclosed
from tallymark.submissions.outcomes import Outcomes
from tallymark.submissions.public_private import PRIVATE, PUBLIC, read_answers, score_parts


def rows(n=300, seed=3, classes=("cat", "dog", "owl")):
    rng = np.random.default_rng(seed)
    truth = np.array(classes)[rng.integers(0, len(classes), n)]
    said = np.where(rng.random(n) < 0.7, truth, np.array(classes)[rng.integers(0, len(classes), n)])
    ids = np.array([f"row {k}" for k in rng.permutation(n)])
    return ids, truth, said


def table(ids, labels):
    return {"row_id": list(map(str, ids)), "label": list(map(str, labels))}


def scores_of(result):
    return {
        key: (cell.value, cell.lo, cell.hi) for key, cell in ((key, result.report.cell(key)) for key in result.report)
    }


@pytest.mark.parametrize("missing", [0, 40])
def test_a_part_is_scored_as_if_it_were_all(missing):
    """To the last bit, intervals and outcomes too, in any order of the rows, and with rows missing."""
    ids, truth, said = rows()
    public = np.random.default_rng(1).random(len(ids)) < 0.4
    sent = np.random.default_rng(2).permutation(len(ids))[missing:]
    submission = table(ids[sent], said[sent])
    scored = score_parts(table(ids, truth), submission, public, ci=tm.Intervals(0.9, resamples=60, seed=5))
    for name, which in ((PUBLIC, public), (PRIVATE, ~public)):
        alone = tm.submissions.score_submission(
            table(ids[which], truth[which]),
            {
                key: [value for value, at in zip(column, sent, strict=True) if which[at]]
                for key, column in submission.items()
            },
            mode="challenge",
            ci=tm.Intervals(0.9, resamples=60, seed=5),
            outcomes=["accuracy"],
        )
        found = scored.parts[name]
        assert scores_of(found) == scores_of(alone)
        assert (found.compared, found.correct, found.missing) == (alone.compared, alone.correct, alone.missing)
        assert found.outcomes("accuracy").to_bytes() == alone.outcomes("accuracy").to_bytes()
    assert (scored.compared, scored.missing, scored.extra) == (len(ids) - missing, missing, 0)


def test_without_parts_it_is_a_challenge():
    """All rows are public then."""
    ids, truth, said = rows()
    scored = score_parts(table(ids, truth), table(ids, said), None)
    whole = tm.submissions.score_submission(table(ids, truth), table(ids, said), mode="challenge")
    assert list(scored.parts) == [PUBLIC]
    assert scores_of(scored.parts[PUBLIC]) == scores_of(whole)


def test_numbers_are_parted_too():
    """And a row that is missing rejects the file, whichever part it is of."""
    rng = np.random.default_rng(0)
    truth = rng.normal(size=50)
    ids, said, public = [f"{k}" for k in range(50)], truth + rng.normal(size=50), np.arange(50) < 20
    answers = {"row_id": ids, "label": truth}
    scored = score_parts(answers, {"row_id": ids, "label": said}, public, task="numbers", metrics=["rmse"])
    assert scored.parts[PUBLIC].scores["rmse"] == disclosed(tm.rmse, tm.rmse(truth[:20], said[:20]))
    assert scored.parts[PRIVATE].scores["rmse"] == disclosed(tm.rmse, tm.rmse(truth[20:], said[20:]))
    assert isinstance(scored.parts[PUBLIC].outcomes("rmse"), Outcomes)
    with pytest.raises(tm.Rejection, match="no row for 1 of the ids"):
        score_parts(answers, {"row_id": ids[1:], "label": said[1:]}, public, task="numbers", metrics=["rmse"])


def test_the_preview_has_no_answers():
    """At most twenty rows, as they were sent."""
    ids, truth, said = rows()
    scored = score_parts(table(ids, truth), table(ids, said), None)
    assert scored.preview == [{"id": str(i), "label": str(s)} for i, s in zip(ids[:20], said[:20], strict=True)]


def test_classes_are_told_only_where_they_may_be():
    """And then they count rows that are missing, as the scores do."""
    ids, truth, said = rows()
    few = table(ids[:200], said[:200])
    assert score_parts(table(ids, truth), few, None).parts[PUBLIC].per_class is None
    told = score_parts(table(ids, truth), few, None, details=True).parts[PUBLIC].per_class
    assert told is not None
    classes = {each["class"]: each for each in told.to_dict()["classes"]}
    assert {name: each["support"] for name, each in classes.items()} == {
        name: float((truth == name).sum()) for name in ("cat", "dog", "owl")
    }
    found = (truth[:200] == said[:200]) & (truth[:200] == "cat")
    assert classes["cat"]["recall"] == found.sum() / (truth == "cat").sum()


def test_a_seed_draws_the_same_rows_in_any_order():
    """Another seed draws others, and the share is met."""
    ids, truth, _ = rows()
    order = np.random.default_rng(9).permutation(len(ids))
    draws = {}
    for name, at, seed in (("first", slice(None), 1), ("shuffled", order, 1), ("other", slice(None), 2)):
        held = read_answers(table(ids[at], truth[at]), task="labels", share=0.25, seed=seed)
        draws[name] = set(np.array(ids[at])[held.public])
    assert len(draws["first"]) == 75
    assert draws["first"] == draws["shuffled"] != draws["other"]


def test_a_column_says_the_part():
    """Whatever its case, and nothing else than the two words."""
    answers = {"row_id": ["a", "b", "c"], "label": ["x", "y", "x"], "part": ["Public", "private", " public "]}
    held = read_answers(answers, task="labels", split_column="part")
    assert held.public.tolist() == [True, False, True]
    with pytest.raises(tm.ParameterError, match="must say public or private in each row; got 'test'"):
        read_answers({**answers, "part": ["public", "test", "private"]}, task="labels", split_column="part")
    with pytest.raises(tm.ParameterError, match="must call some rows public and some private; all are public"):
        read_answers({**answers, "part": ["public"] * 3}, task="labels", split_column="part")
    with pytest.raises(tm.Rejection, match="missing column 'part'"):
        read_answers({"row_id": ["a"], "label": ["x"]}, task="labels", split_column="part")


def test_answers_are_read_as_carefully_as_submissions(tmp_path):
    """All problems at once."""
    file = tmp_path / "answers.csv"
    file.write_text("row_id,label\na,x\na,y\nb\n")
    with pytest.raises(tm.Rejection) as caught:
        read_answers(file, task="labels")
    assert [each.code for each in caught.value.problems] == ["duplicate_id", "ragged_row"]


@pytest.mark.parametrize("share", [0.0, 1.0, 0.001, float("nan")])
def test_a_share_leaves_rows_in_both_parts(share):
    """Else there is nothing to score in one of them."""
    ids, truth, _ = rows()
    with pytest.raises(tm.ParameterError, match="`share`"):
        read_answers(table(ids, truth), task="labels", share=share)


def test_a_split_is_of_these_answers():
    """One of others is refused before anything is scored."""
    ids, truth, said = rows()
    with pytest.raises(tm.ParameterError, match="each of the 300 answers; got of 3"):
        score_parts(table(ids, truth), table(ids, said), np.array([True, False, True]))


def test_a_part_without_a_row_of_the_file_is_all_wrong():
    """Where missing rows count: the score of that part is 0, not absent."""
    ids, truth, said = rows(40)
    public = np.arange(40) < 20
    scored = score_parts(table(ids, truth), table(ids[20:], said[20:]), public, metrics=["accuracy"])
    assert scored.parts[PUBLIC].scores["accuracy"] == 0.0
