"""tm.choose: the decision table leads somewhere from everywhere, and never contradicts itself."""

from __future__ import annotations

import json
from itertools import product

import numpy as np
import pytest

import tallymark as tm
from tallymark.guidance.decision_table import TASKS

by_task = pytest.mark.parametrize("name", TASKS)


def complete(name):
    """Every way to answer all questions of a task that stays with it."""
    task = TASKS[name]
    away = {(detour.keyword, detour.answer) for detour in task.redirects}
    keywords = [question.keyword for question in task.questions]
    for answers in product(*(question.answers for question in task.questions)):
        if not away & set(zip(keywords, answers, strict=True)):
            yield dict(zip(keywords, answers, strict=True))


def rules(task):
    return [*task.use, *task.avoid]


@by_task
def test_the_table_is_sound(name):
    """Metrics exist and are written as they print; conditions are answers to questions; detours lead to tasks."""
    task = TASKS[name]
    answers = {question.keyword: question.answers for question in task.questions}
    assert len(answers) == len(task.questions)
    assert task.text.endswith(".")
    for question in task.questions:
        assert question.text.endswith("?")
        assert len(question.answers) > 1
    for advice in rules(task):
        assert str(tm.metric(advice.metric)) == advice.metric or advice.metric.endswith("(k=10)")
        assert advice.why.endswith(".")
        assert len(advice.why) < 90
        for keyword, answer in advice.when.items():
            assert answer in answers[keyword]
    for detour in task.redirects:
        assert detour.answer in answers[detour.keyword]
        assert detour.task in TASKS
        assert list(TASKS).index(detour.task) > list(TASKS).index(name), "so that no walk goes in circles"


@by_task
def test_every_walk_ends_with_metrics(name):
    """With all questions answered there is something to use, nothing is open, and nothing both praised and blamed."""
    for answers in complete(name):
        choice = tm.choose(name, **answers)
        assert choice.task == name
        assert choice.metrics
        assert choice.questions == ()
        assert not any(item.when for item in (*choice.recommended, *choice.avoid))
        assert not set(choice.metrics) & {item.metric for item in choice.avoid}
        assert len(choice.metrics) == len(choice.recommended)


@by_task
def test_every_question_and_every_rule_matters(name):
    """Two answers to a question never lead to the same advice throughout, and every rule is reached."""
    walks = [(answers, tm.choose(name, **answers)) for answers in complete(name)]
    away = {detour.keyword for detour in TASKS[name].redirects}
    for question in TASKS[name].questions:
        if question.keyword not in away:
            seen = {
                answer: [
                    (choice.recommended, choice.avoid) for given, choice in walks if given[question.keyword] == answer
                ]
                for answer in question.answers
            }
            assert len({repr(found) for found in seen.values()}) == len(question.answers), question.keyword
    reached = {(item.metric, item.why) for _, choice in walks for item in (*choice.recommended, *choice.avoid)}
    assert reached == {(rule.metric, rule.why) for rule in rules(TASKS[name])}


@by_task
def test_open_questions_give_all_branches(name):
    """What nobody answers leaves everything there, and each piece of advice says on what it depends."""
    choice = tm.choose(name)
    assert len(choice.recommended) == len(TASKS[name].use)
    assert [dict(item.when) for item in choice.recommended] == [dict(rule.when) for rule in TASKS[name].use]
    assert choice.questions == TASKS[name].questions
    assert tm.choose(name, **dict.fromkeys((q.keyword for q in choice.questions), None)) == choice
    for answers in complete(name):
        part = tm.choose(name, **answers)
        assert set(part.metrics) <= set(choice.metrics)


def test_an_answer_closes_what_depends_on_it():
    """Questions that no advice waits for any more are not asked."""
    asked = [question.keyword for question in tm.choose("clustering", truth=False).questions]
    assert asked == ["round", "many_rows"]
    asked = [question.keyword for question in tm.choose("regression", relative=False).questions]
    assert "zeros" not in asked


def test_answers_lead_to_other_tasks():
    """Once there, its questions can be answered too; those of the first task still count as known."""
    choice = tm.choose("classification", probabilities=True, order_only=True, queries=True, graded=True)
    assert choice.task == "ranking"
    assert {"ndcg", "ndcg(k=10)"} <= set(choice.metrics)
    assert tm.choose("regression", quantiles=True, intervals=True).metrics == ["coverage", "interval_score"]
    with pytest.raises(tm.ParameterError, match='"regression" has no question `intervals`'):
        tm.choose("regression", quantiles=False, intervals=True)


def test_what_the_classics_say():
    """Large errors, outliers, imbalance, clusters with truth: the answers that textbooks agree on."""

    def use(name, **answers):
        return tm.choose(name, **answers).metrics

    def avoid(name, **answers):
        return [item.metric for item in tm.choose(name, **answers).avoid]

    assert use("regression", large_errors=True, outliers=False)[0] == "rmse"
    assert use("regression", large_errors=False)[0] == "mae"
    assert "rmse" in avoid("regression", outliers=True)
    assert "r2" in use("regression", outliers=False, unit_free=True)
    assert "mape" in avoid("regression", relative=True, zeros=True)
    assert "accuracy" in avoid("classification", imbalanced=True, several_labels=False)
    assert "accuracy" in use("classification", imbalanced=False, several_labels=False)
    assert "fscore(beta=2)" in use("classification", classes="two", costs="misses")
    assert "fscore(average=macro)" in use("classification", classes="many", rare_as_much=True)
    assert {"auc", "logloss"} <= set(use("probabilities", sure_mistakes=True))
    assert use("quantiles", intervals=False)[0] == "pinball"
    assert use("clustering", truth=True)[0] == "adjusted_rand"
    assert "rand_index" in avoid("clustering", truth=True)
    assert use("clustering", truth=False, many_rows=False)[0] == "silhouette"
    assert use("ranking", graded=True, cutoff=False)[0] == "ndcg"


NAMED_BY_GUIDES = {
    "regression": ("rmse", "mae", "mse", "rss", "r2", "huber", "poisson_deviance"),
    "quantiles": ("pinball", "coverage", "interval_score"),
    "classification": (
        *("accuracy", "balanced_accuracy", "mcc", "precision", "recall", "fdr", "confusion_matrix"),
        *("fscore", "fscore(beta=0.5)", "fscore(beta=2)", "fscore(average=macro)", "fscore(average=weighted)"),
    ),
    "probabilities": ("logloss", "brier", "auc", "average_precision", "best_threshold"),
    "scores": ("auc", "average_precision", "roc_curve", "pr_curve", "threshold_table"),
    "ranking": ("ndcg", "map", "mrr"),
    "clustering": (
        *("adjusted_rand", "adjusted_mutual_information", "rand_index", "normalized_mutual_information"),
        *("mutual_information", "silhouette"),
    ),
}


@pytest.mark.parametrize(
    ("name", "metric"), [(name, metric) for name in NAMED_BY_GUIDES for metric in NAMED_BY_GUIDES[name]]
)
def test_answers_lead_to_every_metric_that_guides_name(name, metric):
    """Textbooks and other libraries recommend these: some complete set of answers ends with each of them."""
    assert any(metric in tm.choose(name, **answers).metrics for answers in complete(name))


def test_the_metric_of_a_squared_training_loss_is_the_loss():
    """Its mean and its sum; without that wish, neither is recommended."""
    assert {"mse", "rss"} <= set(tm.choose("regression", squared_loss=True).metrics)
    assert not {"mse", "rss"} & set(tm.choose("regression", squared_loss=False).metrics)


def test_without_correction_for_chance_the_plain_indices_are_recommended():
    """With it, they are advised against."""
    plain = {"rand_index", "mutual_information", "normalized_mutual_information"}
    assert plain <= set(tm.choose("clustering", truth=True, chance_corrected=False).metrics)
    corrected = tm.choose("clustering", truth=True, chance_corrected=True)
    assert not plain & set(corrected.metrics)
    assert {"rand_index", "normalized_mutual_information"} <= {item.metric for item in corrected.avoid}


def test_costs_decide_between_precision_and_recall():
    """Of labels and of thresholds alike."""

    def labels(costs):
        return set(tm.choose("classification", classes="two", several_labels=False, costs=costs).metrics)

    assert {"precision", "fdr", "fscore(beta=0.5)"} <= labels("false_alarms")
    assert {"recall", "fnr", "fscore(beta=2)"} <= labels("misses")
    assert not {"precision", "fdr", "recall", "fnr"} & labels("alike")
    for task in ("probabilities", "scores"):
        classes = {"classes": "two"} if task == "probabilities" else {}
        wanted = {
            costs: [m for m in tm.choose(task, threshold=True, costs=costs, **classes).metrics if "best_threshold" in m]
            for costs in ("alike", "false_alarms", "misses")
        }
        assert wanted == {
            "alike": ["best_threshold"],
            "false_alarms": ["best_threshold(metric='fscore(beta=0.5)')"],
            "misses": ["best_threshold(metric='fscore(beta=2)')"],
        }


RNG = np.random.default_rng(5)
VALUES = RNG.normal(10.0, 2.0, 60)
CLASSES = RNG.integers(0, 2, 60)
SCORES = RNG.random(60)
BOUNDS = np.stack([VALUES - SCORES, VALUES + 1], axis=1)
ROWS = {
    "regression": (VALUES, VALUES + SCORES, {}, {}),
    "quantiles": (VALUES, BOUNDS, {"intervals": True}, {}),
    "forecasting": (VALUES, VALUES + SCORES, {"naive": False}, {}),
    "classification": (CLASSES, RNG.permutation(CLASSES), {"classes": "two", "several_labels": False}, {}),
    "probabilities": (CLASSES, SCORES, {"classes": "two"}, {"kind": "probability"}),
    "calibration": (CLASSES, SCORES, {}, {}),
    "scores": (CLASSES, SCORES, {}, {"kind": "score"}),
    "ranking": (CLASSES, SCORES, {}, {"query": np.arange(60) // 6}),
    "clustering": (CLASSES, RNG.permutation(CLASSES), {"truth": True}, {}),
    "fairness": (CLASSES, RNG.permutation(CLASSES), {}, {"by": np.arange(60) % 2}),
}


@by_task
def test_the_metrics_go_into_evaluate(name):
    """As they are, on rows of their task."""
    y, p, answers, facts = ROWS[name]
    wanted = tm.choose(name, **answers).metrics
    report = tm.evaluate(y, p, wanted, errors="raise", **facts)
    assert list(report) == [str(tm.metric(item)) for item in wanted]


def test_a_choice_prints_and_exports():
    """As tables, as HTML, as plain data; equal answers give equal choices, in any order."""
    choice = tm.choose("classification", imbalanced=True, classes="two")
    assert choice == tm.choose(task="classification", classes="two", imbalanced="yes")
    assert hash(choice) == hash(tm.choose("classification", classes="two", imbalanced="yes"))
    assert choice != tm.choose("classification")
    text, page = repr(choice), choice._repr_html_()
    assert text.startswith("classification · classes=two · imbalanced=yes\n")
    for item in (*choice.recommended, *choice.avoid):
        assert item.metric in text
        assert item.why in text
        assert item.metric in page
    for question in choice.questions:
        assert question.text in text
        assert question.keyword in page
    data = json.loads(choice.to_json())
    assert data == choice.to_dict()
    assert data["answers"] == {"classes": "two", "imbalanced": "yes"}
    assert [item["metric"] for item in data["recommended"]] == [item.metric for item in choice.recommended]


def test_without_a_task_the_tasks_are_listed():
    """And nothing is recommended yet."""
    choice = tm.choose()
    assert choice.metrics == []
    assert choice.questions[0].answers == tuple(TASKS)
    for name, task in TASKS.items():
        assert name in repr(choice)
        assert task.text in repr(choice)
        assert name in choice._repr_html_()


def test_a_choice_in_the_place_of_its_metrics_is_told_so():
    """In one line, however long the choice is in print."""
    choice = tm.choose("regression")
    for call in (tm.Tally, tm.metric, lambda given: tm.evaluate([1.0], [1.0], given)):
        for given in (choice, [choice]) if call is not tm.metric else (choice,):
            with pytest.raises(tm.ParameterError, match=r"got a Choice; pass its \.metrics$"):
                call(given)
    with pytest.raises(tm.ParameterError, match=r"got an object of type Explanation$"):
        tm.Tally(tm.explain("rmse"))
