"""tm.submissions.score_submission: a file of predictions scored against the answers, by id."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np

from tallymark._core import TextCodes
from tallymark.data.arrays import Array
from tallymark.data.batch import Batch
from tallymark.data.target import Target
from tallymark.errors import FileError, ParameterError, Rejection, TallymarkError, Text, brief
from tallymark.evaluation.default_metrics import MOST_CLASSES, MetricsLike
from tallymark.evaluation.evaluate import evaluate_batch
from tallymark.evaluation.report import Report
from tallymark.intervals.settings import Intervals, with_method
from tallymark.sources.arrow import load
from tallymark.submissions.disclosure import not_scored, scores_only
from tallymark.submissions.entries import Entries, check_columns, under_label
from tallymark.submissions.match import LabelCodes, Matched, code_ids, first_true_rows, match, texts_at
from tallymark.submissions.outcomes import NoOutcomes, Outcomes
from tallymark.submissions.problems import SubmissionProblems, rejection
from tallymark.submissions.read import check_readable, read_entries
from tallymark.submissions.result import PREVIEW_ROWS, PreviewRow, SubmissionResult
from tallymark.submissions.settings import (
    ColumnNames,
    Limits,
    ScoringSettings,
    answer_columns,
    check_classes,
    prediction_columns,
    scoring_settings,
)
from tallymark.submissions.warnings import submission_warnings

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?|[+-]?(nan|inf(inity)?)", re.IGNORECASE)
_YES_AND_NO = ({"0", "1"}, {"-1", "1"}, {"false", "true"}, {"False", "True"})


def score_submission(
    answers: object,
    submission: object,
    *,
    id: str = "row_id",
    label: str = "label",
    prediction: str | None = None,
    mode: str = "analysis",
    metrics: MetricsLike = None,
    task: str | None = None,
    query: str = "query",
    target: Target | None = None,
    classes: object = None,
    positive: object = None,
    missing: str = "count",
    limits: Limits | None = None,
    separator: str | None = None,
    ci: float | Intervals | None = None,
    outcomes: Sequence[str] = (),
) -> SubmissionResult:
    """Score a submission against the answers. Rows are matched by their ids, in any order.

    A submission that cannot be scored raises a `Rejection` with all of its problems. Ids and labels are compared as
    text, without surrounding blanks and in Unicode normal form C.

    Args:
        answers: A CSV (plain or compressed) or Parquet path, an open file or a data frame.
        submission: The same, with the predictions.
        id: The column of ids.
        label: The column of labels or numbers. Other columns are ignored.
        prediction: The column of predictions in the submission; by default the one named like `label`, else the only
            one of prediction, pred, y_pred, score and probability.
        mode: "analysis" is for files of your own: answers without a prediction are left out and counted. "challenge" is
            for files of others: the result reveals nothing about the answers but the scores, and no row is left out.
        metrics: Names and metrics, or a mapping that gives them names of your own.
        task: What is predicted: "labels", "numbers", "probabilities" (one column named `label`, of the `positive`
            class, or one per class, named after it) or "ranking" (scores within each `query` of the answers). The
            default is the task of the first metric, else labels; it must be given if decimals meet labels of another
            form, or more than 20 different decimals meet others.
        query: The column of queries in the answers, for a ranking.
        target: A `Target`, which gives the task by its kind ("score" for a ranking), `classes` and `positive`.
        missing: What a missing prediction means in a challenge: "count" counts it as wrong, where labels are predicted;
            "reject" rejects the file. Numbers and metrics that cannot count it always reject.
        limits: The largest file that is accepted, as `Limits(...)`.
        separator: The delimiter of CSV files; by default a comma, or another one if only that finds the columns.
        ci: A confidence level such as 0.95 puts a confidence interval around each score.
        outcomes: The scores for which `result.outcomes(name)` keeps what each row contributes, by which a leaderboard
            compares submissions. They reveal the answers.

    >>> answers = {"row_id": ["a", "b", "c"], "label": ["cat", "dog", "dog"]}
    >>> result = score_submission(answers, {"row_id": ["c", "b", "a"], "label": ["dog", "cat", "cat"]})
    >>> result.correct, result.incorrect, result.scores["macro recall"]
    (2, 1, 0.75)
    """
    settings = scoring_settings(
        id=id,
        label=label,
        prediction=prediction,
        mode=mode,
        metrics=metrics,
        task=task,
        query=query,
        target=target,
        classes=classes,
        positive=positive,
        missing=missing,
        limits=limits,
        ci=ci,
        outcomes=outcomes,
    )
    answer_entries, entries, matched = read_both(answers, submission, settings, separator)
    return score_rows(answer_entries, entries, matched, settings)


def score_rows(answers: Entries, submission: Entries, matched: Matched, settings: ScoringSettings) -> SubmissionResult:
    """The scores of rows that were matched, which may be a part of all."""
    names, challenge = settings.columns, settings.challenge
    preview: list[PreviewRow] | None = None
    if settings.task == "labels":
        labels = LabelCodes.of_columns(answers.columns[names.label], submission.columns[names.label], matched)
        count_missing = challenge and len(matched.missing) > 0
        known = labels.distinct(labels.truth, labels.unanswered)
        if not settings.task_given:
            _require_task(known, labels.distinct(labels.submitted), settings)
        positive = settings.positive or _likely_positive(known)
        batch, target = labels.batch(count_missing=count_missing, positive=positive)
        if not challenge:
            preview = _preview_labels(submission.columns[names.id], labels, matched)
    else:
        labels, count_missing, positive = None, False, None
        batch, target = _batch_of_numbers(answers, submission, matched, settings)
        if not challenge:
            preview = _preview_numbers(answers, submission, matched, names)
    exact = _evaluate(batch, target, settings, resample=count_missing)
    report = scores_only(exact, settings.positive) if challenge else exact

    def in_answer_order() -> tuple[Batch, Target]:
        if labels is None:
            return _batch_of_numbers(answers, submission, matched.in_answer_order(), settings)
        rows = np.concatenate([matched.answer_rows, matched.missing]) if count_missing else matched.answer_rows
        return labels.batch(count_missing=count_missing, positive=positive, order=np.argsort(rows, kind="stable"))

    return SubmissionResult(
        report=report,
        task=settings.task,
        challenge=challenge,
        compared=len(matched.rows),
        missing=len(matched.missing),
        missing_ids=matched.missing_ids,
        extra=matched.extra,
        extra_ids=matched.extra_ids,
        correct=None if labels is None or (challenge and not settings.details) else labels.correct,
        labels=None if challenge and not settings.details else labels,
        preview=preview,
        warnings=submission_warnings(report, submission, names, labels, challenge=challenge),
        outcomes=_outcomes(
            exact, in_answer_order, settings, rows_left_out=len(matched.missing) > 0 and not count_missing
        ),
    )


def _preview_labels(ids: Any, labels: LabelCodes, matched: Matched) -> list[PreviewRow]:
    """Incorrect rows in the order of the submission, then correct ones."""
    wrong = first_true_rows(labels.truth != labels.predicted, PREVIEW_ROWS)
    right = first_true_rows(labels.truth == labels.predicted, PREVIEW_ROWS - len(wrong))
    rows = np.concatenate([wrong, right])
    columns = (
        texts_at(ids, matched.rows[rows], None),
        labels.texts_of(labels.truth[rows]),
        labels.texts_of(labels.predicted[rows]),
    )
    return [
        PreviewRow(id, answer, prediction, answer == prediction)
        for id, answer, prediction in zip(*columns, strict=True)
    ]


def _preview_numbers(answers: Entries, submission: Entries, matched: Matched, names: ColumnNames) -> list[PreviewRow]:
    """Rows with the largest errors, where a number is predicted; else the first rows."""
    truth = answers.columns[names.label]
    predicted_names = [name for name in submission.columns if name != names.id]
    predicted = np.column_stack([submission.columns[name][matched.rows] for name in predicted_names])
    if isinstance(truth, np.ndarray):
        errors = np.abs(predicted[:, 0] - truth[matched.answer_rows])
        rows = np.argsort(-errors, kind="stable")[:PREVIEW_ROWS]
        true_values = truth[matched.answer_rows[rows]].tolist()
    else:
        rows = np.arange(min(PREVIEW_ROWS, len(matched.rows)))
        true_values = texts_at(truth, matched.answer_rows[rows], None)
    ids = texts_at(submission.columns[names.id], matched.rows[rows], None)
    predictions = [
        row[0] if len(predicted_names) == 1 else dict(zip(predicted_names, row, strict=True))
        for row in predicted[rows].tolist()
    ]
    return [PreviewRow(*each) for each in zip(ids, true_values, predictions, strict=True)]


def _outcomes(
    report: Report,
    in_answer_order: Callable[[], tuple[Batch, Target]],
    settings: ScoringSettings,
    *,
    rows_left_out: bool,
) -> dict[str, Outcomes | NoOutcomes]:
    """The outcomes of the rows of the answers for the scores that `settings.outcomes` names."""
    if not settings.outcomes:
        return {}
    from tallymark.submissions.outcomes import row_outcomes  # few ask

    if rows_left_out:
        return dict.fromkeys(settings.outcomes, NoOutcomes("rows of the answers were left out"))
    failed, (batch, target) = report.failures, in_answer_order()
    return {
        key: NoOutcomes("it has no value")
        if key in failed or not isinstance(report[key], float)
        else row_outcomes(settings.metrics[key], report[key], batch, target)
        for key in settings.outcomes
    }


def read_both(
    answers: object, submission: object, settings: ScoringSettings, separator: str | None
) -> tuple[Entries, Entries, Matched]:
    """The entries of both files, which are read at the same time, and the match of their rows."""
    names, task, limits = settings.columns, settings.task, settings.limits
    text_codes: list[TextCodes] = []
    submission_codes: list[Array] = []

    def check_answers(entries: Entries) -> SubmissionProblems:
        text_codes[:] = [TextCodes()]
        id_codes = code_ids(text_codes[0], entries.columns[names.id])
        return check_columns(entries, id_codes, names, task, Limits(), answers=True)

    def check_submission(entries: Entries) -> SubmissionProblems:
        _wait_for_answers(reading, settings)
        submission_codes[:] = [code_ids(text_codes[0], entries.columns[names.id])]
        return check_columns(entries, submission_codes[0], names, task, limits)

    _require_answers(answers, settings)
    with ThreadPoolExecutor(1) as pool:
        reading: Future[Entries] = pool.submit(
            read_entries,
            answers,
            lambda _: answer_columns(task, names),
            check_answers,
            limits=Limits(),
            name="`answers`",
            separator=separator,
            strict_separator=False,
        )
        rejected: Rejection | None = None
        try:
            submission_entries = read_entries(
                submission,
                lambda header: prediction_columns(task, names, header, lambda: _class_columns(reading, settings)),
                check_submission,
                limits=limits,
                name="`submission`",
                separator=separator,
            )
        except Rejection as error:
            rejected = error
        answer_entries = _wait_for_answers(reading, settings)  # their problems come first
    if rejected is not None:
        raise rejected
    submission_entries = under_label(submission_entries, names, settings.classes)
    matched = match(answer_entries.columns[names.id], submission_entries.columns[names.id], submission_codes[0])
    _require_rows(matched, settings)
    return answer_entries, submission_entries, matched


def _require_answers(answers: object, settings: ScoringSettings) -> None:
    """Raise for answers that cannot be opened before the submission is read, which would be blamed otherwise."""
    failure = None
    try:
        check_readable(answers, "`answers`")
    except FileError as error:
        failure = error
    if failure is not None:
        raise _without_answers(failure, settings)


def _wait_for_answers(reading: Future[Entries], settings: ScoringSettings) -> Entries:
    failure = reading.exception()
    if failure is None:
        return reading.result()
    raise _without_answers(failure, settings)


def _without_answers(failure: BaseException, settings: ScoringSettings) -> BaseException:
    """An error about the answers; in a challenge, whose error must not quote them, one without details."""
    if settings.challenge and isinstance(failure, TallymarkError):
        return ParameterError(
            Text("{answers} could not be read; score them in analysis mode to see the problems"), argument="answers"
        )
    return failure


def _class_columns(reading: Future[Entries], settings: ScoringSettings) -> list[str]:
    """The classes, which name the columns of probabilities. A challenge does not reveal them."""
    if settings.classes is not None:
        return settings.classes
    if settings.challenge:  # the label column is then reported as missing
        return [settings.columns.label]
    answers = _wait_for_answers(reading, settings)
    labels = answers.columns[settings.columns.label].unique().to_pylist()
    return check_classes(sorted(labels), settings.columns, settings.task) or []


def _require_rows(matched: Matched, settings: ScoringSettings) -> None:
    found = SubmissionProblems()
    if not len(matched.rows):
        found.note("no_matching_rows", ids="" if settings.challenge else matched.unmatched_ids("answers"))
    elif settings.challenge and settings.reject_missing and len(matched.missing):
        ids = ", ".join(repr(each[:40]) for each in matched.missing_ids)
        found.note("missing_rows", count=f"{len(matched.missing):,}", ids=ids)
    if found:
        raise rejection("`submission`", found)


def _batch_of_numbers(
    answers: Entries, submission: Entries, matched: Matched, settings: ScoringSettings
) -> tuple[Batch, Target]:
    """The rows that are in both files, of numbers, probabilities or scores."""
    pa, names = load("pyarrow"), settings.columns
    rows = pa.array(matched.answer_rows)
    truth = answers.columns[names.label]
    if settings.task != "probabilities":
        query = answers.columns[names.query].take(rows) if settings.task == "ranking" else None
        kind = "score" if settings.task == "ranking" else "value"
        predicted = submission.columns[names.label][matched.rows]
        return Batch(truth[matched.answer_rows], predicted, None, query=query), Target(kind)
    predicted_names = [name for name in submission.columns if name != names.id]
    table = np.column_stack([submission.columns[name][matched.rows] for name in predicted_names])
    labels = truth.take(rows)
    if predicted_names == [names.label]:
        positive = settings.positive or _positive_class(truth, settings)
        return Batch(labels, table[:, 0], None), Target("probability", classes=settings.classes, positive=positive)
    return Batch(labels, table, None), Target("probability", classes=predicted_names, positive=settings.positive)


def _require_task(answers: Sequence[str], predictions: Sequence[str], settings: ScoringSettings) -> None:
    """Refuse to compare decimals with other labels as texts, or many different decimals, unless the task was named."""
    decimals = _first_decimal(answers), _first_decimal(predictions)
    measured = decimals[0] is not None and len(answers) > MOST_CLASSES and set(answers) != set(predictions)
    if (decimals[0] is None) == (decimals[1] is None) and not measured:
        return
    if decimals[0] and not all(map(_NUMBER.fullmatch, predictions)):
        return
    example = "" if settings.challenge else f" such as {brief(decimals[0] or answers[0])}"
    answer = f"{'labels' if decimals[0] is None else 'decimals'}{example}"
    predicted = f"{'labels' if decimals[1] is None else 'decimals'} such as {brief(decimals[1] or predictions[0])}"
    raise ParameterError(
        argument="task",
        expected=f"say what is predicted: the answers are {answer}, the predictions {predicted}",
        hint=Text(
            'Pass {task="probabilities"} or {task="numbers"}, or {task="labels"} to '
            'compare as text, where "1.0" is not "1"'
        ),
    )


def _first_decimal(labels: Sequence[str]) -> str | None:
    """The first label that is a decimal, where all labels are numbers."""
    if not all(map(_NUMBER.fullmatch, labels)):
        return None
    return next((each for each in labels if not each.lstrip("+-").isalnum()), None)


def _likely_positive(labels: Sequence[str]) -> str | None:
    """The positive class if the labels are a usual form of yes and no."""
    return next((max(words) for words in _YES_AND_NO if words.issuperset(labels)), None)


def _positive_class(truth: Any, settings: ScoringSettings) -> str:
    labels = truth.unique().to_pylist()
    likely = _likely_positive(labels)
    if likely is not None:
        return likely
    listed = "" if settings.challenge else f"; the labels are {', '.join(map(repr, sorted(labels)[:6]))}"
    raise ParameterError(argument="positive", expected=f"name the class of the column of probabilities{listed}")


def _evaluate(batch: Batch, target: Target, settings: ScoringSettings, *, resample: bool) -> Report:
    """The report, with exact scores. `resample` leaves formulas of intervals aside."""
    interval = settings.interval
    if resample and interval is not None:  # formulas know rows that have a prediction
        interval = None if interval.method == "analytic" else with_method(interval, "bootstrap")
    failure = None
    try:
        report = evaluate_batch(batch, settings.metrics, target, errors="report", settings=interval)
    except TallymarkError as error:
        failure = error
    if failure is None:
        return report
    if settings.challenge:  # the message may quote answers
        raise not_scored()
    raise failure
