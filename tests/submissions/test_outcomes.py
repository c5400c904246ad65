"""Outcomes: what every row of the answers says of a submission."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest

import tallymark as tm
from tallymark.data.batch import Batch
from tallymark.data.target import Target
from tallymark.errors import ParameterError, StateError
from tallymark.metrics.naming import metric
from tallymark.states.serialization import pack
from tallymark.submissions.disclosure import disclosed
from tallymark.submissions.outcomes import MAX_CELLS, NoOutcomes, Outcomes, row_outcomes

RNG = np.random.default_rng(3)
N = 400
LABELS = RNG.integers(0, 4, N)
SAID = np.where(RNG.random(N) < 0.6, LABELS, RNG.integers(0, 4, N))
NUMBERS = RNG.normal(5, 2, N)
GUESSED = NUMBERS + RNG.normal(0.2, 1, N)
YES = RNG.random(N) < 0.4
CHANCE = np.clip(0.3 * YES + RNG.random(N) * 0.7, 0, 1)


def score(truth, said, names, key="label", **more):
    """Scored as a challenge, where the file has its rows in another order than the answers."""
    order = np.random.default_rng(1).permutation(len(truth))
    answers = {"row_id": [f"r{k}" for k in range(len(truth))], "label": list(truth), **more.pop("columns", {})}
    submission = {"row_id": [f"r{k}" for k in order], key: [said[k] for k in order]}
    return tm.submissions.score_submission(answers, submission, mode="challenge", metrics=names, outcomes=names, **more)


def texts(values):
    return [str(value) for value in values]


def test_bits_are_the_right_rows_in_the_order_of_the_answers():
    """Whatever the order of the file; their mean is the score, to the last bit."""
    result = score(texts(LABELS), texts(SAID), ["accuracy"])
    found = result.outcomes("accuracy")
    assert (found.kind, found.sizes) == ("bits", (N,))
    assert found.counts().tolist() == (LABELS == SAID).tolist()
    assert found.counts().mean() == found.value == result.scores["accuracy"]


QUERIES = [f"q{k % 40}" for k in range(N)]
TASKS = {
    "labels": (texts(LABELS), texts(SAID), ["accuracy", "fscore(average=macro)", "mcc"], {}),
    "numbers": (NUMBERS, GUESSED, ["mae", "rmse", "r2"], {}),
    "probabilities": (texts(YES.astype(int)), CHANCE, ["auc", "logloss", "brier", "accuracy"], {}),
    "ranking": (LABELS, SAID, ["ndcg", "mrr"], {"query": QUERIES}),
}


@pytest.mark.parametrize("task", TASKS)
def test_the_order_of_the_file_does_not_show(task):
    """The same bytes as those of a file in the order of the answers."""
    truth, said, names, columns = TASKS[task]
    answers = {"row_id": [f"r{k}" for k in range(N)], "label": list(truth), **columns}
    submission = {"row_id": answers["row_id"], "label": list(said)}
    plain = tm.submissions.score_submission(answers, submission, task=task, metrics=names, outcomes=names)
    mixed = score(truth, said, names, task=task, columns=columns)
    for name in names:
        assert mixed.outcomes(name).value == plain.scores[name]
        assert mixed.scores[name] == disclosed(metric(name), plain.scores[name])
        assert mixed.outcomes(name).to_bytes() == plain.outcomes(name).to_bytes()


def test_a_column_for_each_class_has_outcomes():
    """Of probabilities of three classes."""
    table = np.random.default_rng(9).dirichlet(np.ones(3), 50)
    truth = texts(LABELS[:50] % 3)
    answers = {"row_id": [f"r{k}" for k in range(50)], "label": truth}
    submission = {"row_id": answers["row_id"], **{str(k): table[:, k] for k in range(3)}}
    asked = ["logloss", "brier", "accuracy"]
    result = tm.submissions.score_submission(answers, submission, task="probabilities", metrics=asked, outcomes=asked)
    happened = table[np.arange(50), LABELS[:50] % 3]
    found = result.outcomes("logloss")
    moved = np.ldexp(found.influences()[0], found.exponent)
    assert moved + found.value == pytest.approx(-np.log(happened), rel=1e-5)
    assert result.outcomes("accuracy").counts().tolist() == (table.argmax(axis=1) == LABELS[:50] % 3).tolist()


def test_a_missing_row_is_wrong_in_its_place():
    """Where rows may be missing."""
    answers = {"row_id": ["a", "b", "c", "d"], "label": ["x", "y", "x", "y"]}
    submission = {"row_id": ["d", "a"], "label": ["y", "x"]}
    result = tm.submissions.score_submission(answers, submission, mode="challenge", outcomes=["accuracy", "macro F1"])
    assert result.outcomes("accuracy").counts().tolist() == [True, False, False, True]
    (moved,) = result.outcomes("macro F1").influences()
    assert moved[0] == moved[3] > 0 > moved[1] == moved[2]


def test_an_analysis_that_leaves_rows_out_has_no_outcomes():
    """They would not pair with those of another submission."""
    answers = {"row_id": ["a", "b"], "label": ["x", "y"]}
    result = tm.submissions.score_submission(answers, {"row_id": ["a"], "label": ["x"]}, outcomes=["accuracy"])
    assert result.outcomes("accuracy") == NoOutcomes("rows of the answers were left out")


def test_recall_has_a_bit_for_each_positive_row():
    """Of the others it says nothing."""
    truth, said = texts(LABELS % 2), texts(SAID % 2)
    found = score(truth, said, ["recall"]).outcomes("recall")
    assert found.counts().tolist() == (SAID % 2 == 1)[LABELS % 2 == 1].tolist()


def reweighted(item, truth, said, row, **more):
    """The derivative of a value by the weight of a row, times the rows."""
    step = 2.0**-12
    weights = np.ones(len(truth))
    ends = []
    for sign in (1, -1):
        weights[row] = 1 + sign * step
        ends.append(item(truth, said, weights=weights, **more))
    return (ends[0] - ends[1]) / (2 * step) * len(truth)


INFLUENCES = [
    *(
        (name, "label", LABELS, SAID)
        for name in (
            "fscore(average=macro)",
            "fscore(average=macro_pr)",
            "precision(average=macro)",
            "recall(average=macro)",
            "precision(average=weighted)",
            "jaccard(average=macro)",
            "balanced_accuracy",
            "mcc",
            "cohen_kappa",
            "cohen_kappa(weighting=quadratic)",
        )
    ),
    *(
        (name, "value", NUMBERS, GUESSED)
        for name in ("mae", "mse", "rmse", "mape", "huber", "r2", "explained_variance", "pinball(alphas=0.9)")
    ),
    *((name, "probability", YES, CHANCE) for name in ("logloss", "brier", "rps", "fscore")),
]


@pytest.mark.parametrize(
    ("name", "kind", "truth", "said"), INFLUENCES, ids=lambda each: each if isinstance(each, str) else ""
)
def test_an_influence_is_the_derivative_by_the_weight_of_a_row(name, kind, truth, said):
    """So they add up to nothing, and a score is the mean of itself and its influences."""
    item = metric(name)
    found = row_outcomes(item, item(truth, said), Batch(truth, said), Target(kind))
    moved = np.ldexp(found.influences()[0], found.exponent)
    assert len(moved) == N
    assert abs(moved.mean()) < 1e-6 * np.abs(moved).max()
    for row in range(0, N, 37):
        assert moved[row] == pytest.approx(reweighted(item, truth, said, row), rel=1e-4, abs=1e-6)


def test_influences_on_an_area_are_placements():
    """Of each class among the other; they add up to nothing in each."""
    value = tm.auc(YES, CHANCE)
    found = row_outcomes(metric("auc"), value, Batch(YES, CHANCE), Target("score"))
    above, below = (np.ldexp(part, found.exponent) for part in found.influences())
    assert found.sizes == (YES.sum(), (~YES).sum())
    assert above == pytest.approx([np.mean(CHANCE[~YES] < each) - value for each in CHANCE[YES]], abs=1e-6)
    assert below == pytest.approx([np.mean(CHANCE[YES] > each) - value for each in CHANCE[~YES]], abs=1e-6)
    twice = row_outcomes(metric("gini"), tm.gini(YES, CHANCE), Batch(YES, CHANCE), Target("score"))
    assert np.ldexp(twice.influences()[0], twice.exponent) == pytest.approx(2 * above, abs=1e-6)


def test_a_ranking_has_an_outcome_for_each_query():
    """In the order of the queries; one without a relevant row has none."""
    truth, query = [1, 0, 0, 0, 0, 1], ["b", "b", "c", "c", "a", "a"]
    result = score(truth, [0.9, 0.1, 0.5, 0.4, 0.8, 0.2], ["mrr"], task="ranking", columns={"query": query})
    found = result.outcomes("mrr")
    assert (found.value, found.sizes) == (0.75, (2,))
    assert np.ldexp(found.influences()[0], found.exponent).tolist() == [-0.25, 0.25]


@pytest.mark.parametrize(
    ("name", "kind", "truth", "said"),
    [
        ("median_absolute_error", "value", NUMBERS, GUESSED),
        ("max_error", "value", NUMBERS, GUESSED),
        ("average_precision", "score", YES, CHANCE),
        ("adjusted_rand", "label", LABELS, SAID),
    ],
)
def test_what_rows_do_not_make_up_has_a_reason(name, kind, truth, said):
    """Medians, extremes, other areas, clusters."""
    item = metric(name)
    found = row_outcomes(item, item(truth, said), Batch(truth, said), Target(kind))
    assert found == NoOutcomes("it is not a sum over rows")


def test_metrics_without_outcomes_per_row_say_why():
    """No value, no direction, too many pairs of classes."""
    values = Batch(NUMBERS, GUESSED)
    assert row_outcomes(metric("r2"), math.nan, values, Target("value")).reason == "it has no value"
    bias = row_outcomes(metric("mean_bias"), 0.2, values, Target("value"))
    assert bias.reason == "neither higher nor lower is better"
    many = np.arange(MAX_CELLS + 1)
    item = metric("fscore(average=macro)")
    assert row_outcomes(item, 1.0, Batch(many, many), Target("label")).reason == "there are too many pairs of classes"


def test_numbers_of_any_size_have_influences():
    """They have a unit of their own, so that squares neither vanish nor overflow."""
    for size in (1e-100, 1.0, 1e100):
        truth, said = NUMBERS * size, GUESSED * size
        found = row_outcomes(metric("mse"), tm.mse(truth, said), Batch(truth, said), Target("value"))
        plain = (GUESSED - NUMBERS) ** 2 - tm.mse(NUMBERS, GUESSED)
        assert np.ldexp(found.influences()[0], found.exponent) == pytest.approx(plain * size**2, rel=1e-5)


def test_outcomes_are_for_those_who_ask_by_name():
    """Of scores that there are; others are told what there is."""
    answers = {"row_id": ["a"], "label": ["x"]}
    result = tm.submissions.score_submission(answers, answers, outcomes=["accuracy"])
    with pytest.raises(ParameterError, match=r"requested \('accuracy'\); got 'fscore\(average=macro\)'"):
        result.outcomes("macro F1")
    again = tm.submissions.score_submission(answers, answers, outcomes=["macro F1"])
    assert again.outcomes("macro F1") == again.outcomes("fscore(average=macro)")
    with pytest.raises(ParameterError, match="`outcomes` must name scores"):
        tm.submissions.score_submission(answers, answers, outcomes=["auc"])


def test_nothing_that_is_shown_or_sent_holds_outcomes():
    """A result says the same with and without them, as text, page, JSON and pickle."""
    rows = {"row_id": ["a", "b"], "label": ["x", "y"]}
    plain, kept = (
        tm.submissions.score_submission(rows, rows, mode="challenge", outcomes=names) for names in ((), ["accuracy"])
    )
    assert isinstance(kept.outcomes("accuracy"), Outcomes)
    for show in (
        str,
        repr,
        tm.submissions.SubmissionResult.to_json,
        tm.submissions.SubmissionResult.to_html,
        tm.submissions.SubmissionResult.to_csv,
    ):
        assert show(kept) == show(plain)
    assert b"Outcomes" not in pickle.dumps(kept)
    with pytest.raises(ParameterError):
        pickle.loads(pickle.dumps(kept)).outcomes("accuracy")


SOME = [
    Outcomes.from_bits(LABELS == SAID, float(np.mean(LABELS == SAID))),
    Outcomes.from_bits(np.ones(8, bool), 1.0),
    Outcomes.from_influences(0.5, RNG.normal(size=9)),
    Outcomes.from_influences(0.5, np.zeros(3), np.zeros(2)),
    Outcomes.from_influences(1e-250, np.array([1e-250, -1e-250])),
]


@pytest.mark.parametrize("outcomes", SOME)
def test_bytes_come_back_as_they_were(outcomes):
    """All of the fields; a bit takes a bit and an influence four bytes, beside a short header."""
    data = outcomes.to_bytes()
    back = Outcomes.from_bytes(data)
    assert back[:3] == outcomes[:3]
    assert back[4:] == outcomes[4:]
    assert back.packed.dtype == outcomes.packed.dtype
    assert back.packed.tolist() == outcomes.packed.tolist()
    assert back.to_bytes() == data
    assert len(data) < outcomes.packed.nbytes + 300


@pytest.mark.parametrize("outcomes", SOME)
def test_damaged_bytes_are_refused(outcomes):
    """Cut anywhere, or with any byte changed."""
    data = outcomes.to_bytes()
    for place in range(0, len(data), 7):
        for bad in (data[:place], data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]):
            with pytest.raises(StateError):
                Outcomes.from_bytes(bad)


U1 = np.zeros(1, np.uint8)
GOOD = {"kind": "bits", "sizes": [5], "value": 0.0, "scale": 1.0, "exponent": 0, "packed": U1}
FLOATS = {"kind": "influence", "sizes": [1], "packed": np.zeros(4, np.uint8)}


def nan_bytes(value):
    return np.array([value], "<f4").view(np.uint8)


@pytest.mark.parametrize(
    "forged",
    [
        {"kind": "bytes"},
        {"kind": ["bits"]},
        {"kind": {"a": 1}},
        {"sizes": 5},
        {"sizes": []},
        {"sizes": [0]},
        {"sizes": [-3]},
        {"sizes": [True]},
        {"sizes": [2, 3]},
        {"sizes": [1 << 80]},
        {"sizes": [9]},
        {"sizes": [5.0]},
        {"value": math.nan},
        {"value": "1"},
        {"scale": math.inf},
        {"scale": 1},
        {"exponent": 1 << 70},
        {"exponent": 0.5},
        {"packed": None},
        {"packed": [0]},
        {"packed": np.zeros(1)},
        {"packed": np.zeros((1, 1), np.uint8)},
        {"packed": np.full(1, 0b100, np.uint8)},
        {"more": 1},
        {**FLOATS, "sizes": [1, 1, 1]},
        {**FLOATS, "packed": np.zeros(5, np.uint8)},
        {**FLOATS, "packed": nan_bytes(math.nan)},
        {**FLOATS, "packed": nan_bytes(math.inf)},
        {**FLOATS, "packed": nan_bytes(1.5)},
    ],
)
def test_forged_bytes_are_refused(forged):
    """Though their checksum fits."""
    assert Outcomes.from_bytes(pack("SubmissionOutcomes", GOOD)).rows == 5
    with pytest.raises(StateError):
        Outcomes.from_bytes(pack("SubmissionOutcomes", {**GOOD, **forged}))


def test_bytes_of_other_things_are_refused():
    """Another state, no bytes, too few fields."""
    for bad in (pack("Sums", GOOD), "text", None, b"", pack("SubmissionOutcomes", {"kind": "bits"})):
        with pytest.raises(StateError):
            Outcomes.from_bytes(bad)
