"""score_submission: a file of predictions against the answers, by id, with everything that is wrong with it."""

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
from tallymark.evaluation.evaluate import evaluate_batch
from tallymark.evaluation.report import Report
from tallymark.evaluation.selection import Wanted
from tallymark.intervals.settings import Intervals, with_method
from tallymark.sources.arrow import load
from tallymark.submissions.disclosure import disclosed, not_scored
from tallymark.submissions.entries import Entries
from tallymark.submissions.label_codes import Labelled
from tallymark.submissions.limits import Limits
from tallymark.submissions.match import Matched, code_ids, match
from tallymark.submissions.outcomes import NoOutcomes, Outcomes
from tallymark.submissions.preview import preview_labels, preview_numbers
from tallymark.submissions.problems import SubmissionProblems, rejection
from tallymark.submissions.read import read_entries, require_file
from tallymark.submissions.result import SubmissionResult
from tallymark.submissions.settings import ScoringSettings, settings_of
from tallymark.submissions.tasks import answer_columns, check_entries, class_names, prediction_columns
from tallymark.submissions.warnings import warn

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?|[+-]?(nan|inf(inity)?)", re.IGNORECASE)
_YES_AND_NO = ({"0", "1"}, {"-1", "1"}, {"false", "true"}, {"False", "True"})


def score_submission(
    answers: object,
    submission: object,
    *,
    id: str = "row_id",
    label: str = "label",
    mode: str = "analysis",
    metrics: Wanted = None,
    task: str | None = None,
    query: str = "query",
    classes: object = None,
    positive: object = None,
    missing: str = "count",
    limits: Limits | None = None,
    separator: str | None = None,
    ci: float | Intervals | None = None,
    outcomes: Sequence[str] = (),
) -> SubmissionResult:
    """Score a submission against the answers. Rows are matched by their ids, in any order.

    `answers` and `submission` are paths of CSV (plain or compressed) or Parquet files, open files or data frames. `id`
    and `label` name their columns; others are ignored. Ids and labels are texts, without the blanks around them and in
    normal form C. `task` says what is predicted: "labels", "numbers", "probabilities" (one column called as `label`, of
    the `positive` class, or one for each class, called as it) or "ranking" (scores, within each `query` of the
    answers); without it, that of the first of the `metrics`, else labels. Decimals against labels of another form are
    then refused: `task` must be named.

    `mode="analysis"` is for files of your own: answers that the submission lacks are left out and counted.
    `mode="challenge"` is for those of others: nothing in the result tells more about the answers than the scores do,
    and no row is left out. One that is missing counts against recall where labels are predicted, or the file is
    rejected (`missing="reject"`), which it always is where numbers are predicted, or where one of the `metrics` has no
    place for such a row.

    `separator` stands between the fields of CSV, of the answers too unless only another gives their columns; without
    it, one is found where only that gives the columns. A submission that cannot be scored raises a `Rejection` with all
    of its problems. `limits` say how large files may be. `ci=0.95` puts an interval around each score. `outcomes` names
    scores of which `result.outcomes(name)` keeps what each row says, by which a leaderboard compares submissions; who
    reads them knows the answers.

    >>> answers = {"row_id": ["a", "b", "c"], "label": ["cat", "dog", "dog"]}
    >>> result = score_submission(answers, {"row_id": ["c", "b", "a"], "label": ["dog", "cat", "cat"]})
    >>> result.matches, result.mismatches, result.scores["macro recall"]
    (2, 1, 0.75)
    """
    settings = settings_of(
        id=id,
        label=label,
        mode=mode,
        metrics=metrics,
        task=task,
        query=query,
        classes=classes,
        positive=positive,
        missing=missing,
        limits=limits,
        ci=ci,
        outcomes=outcomes,
    )
    held, entries, matched = read_both(answers, submission, settings, separator)
    return score_rows(held, entries, matched, settings)


def score_rows(held: Entries, entries: Entries, matched: Matched, settings: ScoringSettings) -> SubmissionResult:
    """The scores of rows that were matched, which may be a part of all."""
    if settings.task == "labels":
        labelled = Labelled.read(held, entries, matched, settings.names.label)
        counted = settings.challenge and len(matched.missing) > 0
        known = labelled.distinct(labelled.truth, labelled.unanswered)
        if not settings.task_named:
            _require_task(known, labelled.distinct(labelled.said), settings)
        positive = settings.positive or _likely_positive(known)
        batch, target = labelled.batch(counted=counted, positive=positive)
        preview = None if settings.challenge else preview_labels(entries.columns[settings.names.id], labelled, matched)
    else:
        labelled, counted, positive = None, False, None
        batch, target = _rows(held, entries, matched, settings)
        preview = None if settings.challenge else preview_numbers(held, entries, matched, settings.names)
    report = _evaluate(batch, target, settings, resampled=counted)

    def in_order() -> tuple[Batch, Target]:
        if labelled is None:
            return _rows(held, entries, matched.in_order(), settings)
        places = np.concatenate([matched.places, matched.missing]) if counted else matched.places
        return labelled.batch(counted=counted, positive=positive, order=np.argsort(places, kind="stable"))

    return SubmissionResult(
        report=report,
        task=settings.task,
        challenge=settings.challenge,
        compared=len(matched.rows),
        missing=len(matched.missing),
        missing_ids=matched.missing_ids,
        extra=matched.extra,
        extra_ids=matched.extra_ids,
        matches=None if labelled is None or not _tells_matches(report, settings) else labelled.right,
        labelled=None if settings.challenge and not settings.tells_classes else labelled,
        preview=preview,
        warnings=warn(report, entries, settings.names, labelled, challenge=settings.challenge),
        outcomes=_outcomes(report, in_order, settings, left_out=len(matched.missing) > 0 and not counted),
    )


def _outcomes(
    report: Report, in_order: Callable[[], tuple[Batch, Target]], settings: ScoringSettings, *, left_out: bool
) -> dict[str, Outcomes | NoOutcomes]:
    """What each row of the answers says of the scores for which that was asked."""
    if not settings.outcomes:
        return {}
    from tallymark.submissions.outcomes import outcomes_of  # few ask

    if left_out:
        return dict.fromkeys(settings.outcomes, NoOutcomes("rows of the answers were left out"))
    failed, (batch, target) = report.failures, in_order()
    return {
        key: NoOutcomes("it has no value")
        if key in failed or not isinstance(report[key], float)
        else outcomes_of(settings.metrics[key], report[key], batch, target)
        for key in settings.outcomes
    }


def read_both(
    answers: object, submission: object, settings: ScoringSettings, separator: str | None
) -> tuple[Entries, Entries, Matched]:
    """Both files, read at once, and which rows belong together."""
    names, task, limits = settings.names, settings.task, settings.limits
    index: list[TextCodes] = []
    codes: list[Array] = []

    def check_answers(held: Entries) -> SubmissionProblems:
        index[:] = [TextCodes()]
        return check_entries(held, code_ids(index[0], held.columns[names.id]), names, task, Limits(), answers=True)

    def check(held: Entries) -> SubmissionProblems:
        _answers(answered, settings)
        codes[:] = [code_ids(index[0], held.columns[names.id])]
        return check_entries(held, codes[0], names, task, limits)

    _require_answers(answers, settings)
    with ThreadPoolExecutor(1) as pool:
        answered: Future[Entries] = pool.submit(
            read_entries,
            answers,
            lambda _: answer_columns(task, names),
            check_answers,
            limits=Limits(),
            name="`answers`",
            separator=separator,
            declared=False,
        )
        rejected: Rejection | None = None
        try:
            entries = read_entries(
                submission,
                lambda found: prediction_columns(task, names, found, lambda: _classes(answered, settings)),
                check,
                limits=limits,
                name="`submission`",
                separator=separator,
            )
        except Rejection as error:
            rejected = error
        held = _answers(answered, settings)  # their faults come first
    if rejected is not None:
        raise rejected
    matched = match(held.columns[names.id], entries.columns[names.id], codes[0])
    _require_rows(matched, settings)
    return held, entries, matched


def _require_answers(answers: object, settings: ScoringSettings) -> None:
    """Refuse a path that leads nowhere before the submission is read, for whose fault it would be taken."""
    failure = None
    try:
        require_file(answers, "`answers`")
    except FileError as error:
        failure = error
    if failure is not None:
        raise _unread(failure, settings)


def _answers(answered: Future[Entries], settings: ScoringSettings) -> Entries:
    failure = answered.exception()
    if failure is None:
        return answered.result()
    raise _unread(failure, settings)


def _unread(failure: BaseException, settings: ScoringSettings) -> BaseException:
    if settings.challenge and isinstance(failure, TallymarkError):  # whose words may hold answers
        return ParameterError(
            Text("{answers} could not be read; score them in analysis mode to see what is wrong"), argument="answers"
        )
    return failure


def _classes(answered: Future[Entries], settings: ScoringSettings) -> list[str]:
    """The classes of columns of probabilities. In a challenge they are known only where those who set it named them."""
    if settings.classes is not None:
        return settings.classes
    if settings.challenge:  # in which nothing is told of the answers: the one column is missing
        return [settings.names.label]
    labels = _answers(answered, settings).columns[settings.names.label].unique().to_pylist()
    return class_names(sorted(labels), settings.names, settings.task) or []


def _require_rows(matched: Matched, settings: ScoringSettings) -> None:
    found = SubmissionProblems()
    if not len(matched.rows):
        found.note("no_matching_rows")
    elif settings.challenge and settings.reject and len(matched.missing):
        ids = ", ".join(repr(each[:40]) for each in matched.missing_ids)
        found.note("missing_rows", count=f"{len(matched.missing):,}", ids=ids)
    if found:
        raise rejection("`submission`", found)


def _rows(held: Entries, entries: Entries, matched: Matched, settings: ScoringSettings) -> tuple[Batch, Target]:
    """The rows of numbers, probabilities or scores that are in both."""
    pa, names = load("pyarrow"), settings.names
    rows = pa.array(matched.places)
    truth = held.columns[names.label]
    if settings.task != "probabilities":
        query = held.columns[names.query].take(rows) if settings.task == "ranking" else None
        kind = "score" if settings.task == "ranking" else "value"
        predicted = entries.columns[names.label][matched.rows]
        return Batch(truth[matched.places], predicted, None, query=query), Target(kind)
    given = [name for name in entries.columns if name != names.id]
    table = np.column_stack([entries.columns[name][matched.rows] for name in given])
    labels = truth.take(rows)
    if given == [names.label]:
        positive = settings.positive or _positive(truth, settings)
        return Batch(labels, table[:, 0], None), Target("probability", classes=settings.classes, positive=positive)
    return Batch(labels, table, None), Target("probability", classes=given, positive=settings.positive)


def _require_task(answers: Sequence[str], predictions: Sequence[str], settings: ScoringSettings) -> None:
    """Refuse to compare decimals with labels of another form as texts, unless that task was named."""
    sides = _decimal(answers), _decimal(predictions)
    if (sides[0] is None) == (sides[1] is None) or (sides[0] and not all(map(_NUMBER.fullmatch, predictions))):
        return
    answer = "" if settings.challenge else f" such as {brief(sides[0] or answers[0])}"
    told = [f"{'labels' if sides[0] is None else 'decimals'}{answer}"]
    told += [f"{'labels' if sides[1] is None else 'decimals'} such as {brief(sides[1] or predictions[0])}"]
    raise ParameterError(
        argument="task",
        expected=f"say what is predicted: the answers are {told[0]}, the predictions {told[1]}",
        hint=Text(
            'Pass {task="probabilities"} or {task="numbers"}, or {task="labels"} to '
            'compare texts, of which "1.0" is not "1"'
        ),
    )


def _decimal(labels: Sequence[str]) -> str | None:
    """The first label that is a decimal, where all labels are numbers."""
    if not all(map(_NUMBER.fullmatch, labels)):
        return None
    return next((each for each in labels if not each.lstrip("+-").isalnum()), None)


def _likely_positive(labels: Sequence[str]) -> str | None:
    """The positive class, where the labels are a usual way to say yes and no."""
    return next((max(words) for words in _YES_AND_NO if words.issuperset(labels)), None)


def _positive(truth: Any, settings: ScoringSettings) -> str:
    held = truth.unique().to_pylist()
    found = _likely_positive(held)
    if found is not None:
        return found
    shown = "" if settings.challenge else f"; the labels are {', '.join(map(repr, sorted(held)[:6]))}"
    raise ParameterError(argument="positive", expected=f"say of which class one column of probabilities is{shown}")


def _evaluate(batch: Batch, target: Target, settings: ScoringSettings, *, resampled: bool) -> Report:
    """The report; in a challenge one that tells the scores and nothing else."""
    interval = settings.interval
    if resampled and interval is not None:  # formulas know rows that have a prediction
        interval = None if interval.method == "analytic" else with_method(interval, "bootstrap")
    failure = None
    try:
        report = evaluate_batch(batch, settings.metrics, target, settings=interval)
    except TallymarkError as error:
        failure = error
    if failure is None:
        return disclosed(report) if settings.challenge else report
    if settings.challenge:  # whose words may hold answers
        raise not_scored()
    raise failure


def _tells_matches(report: Report, settings: ScoringSettings) -> bool:
    return not settings.challenge or "accuracy" in {cell.metric.name for cell in map(report.cell, report)}
