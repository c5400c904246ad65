"""tm.submissions.check_submission: a submission checked against a template with the expected ids, without answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from tallymark._core import TextCodes
from tallymark.data.arguments import check_choice
from tallymark.data.arrays import Array
from tallymark.data.target import Target
from tallymark.sources.csv.fields import TEXT
from tallymark.submissions.entries import Entries, check_columns, under_label
from tallymark.submissions.match import code_ids, list_ids, match
from tallymark.submissions.problems import SubmissionProblems, rejection
from tallymark.submissions.read import read_entries
from tallymark.submissions.settings import (
    MISSING,
    ColumnNames,
    Limits,
    check_classes,
    check_column_names,
    check_limits,
    prediction_columns,
    read_target,
    resolve_task,
)
from tallymark.submissions.warnings import MAX_PAIRS, confusable_pairs, found_prediction


class SubmissionCheck(NamedTuple):
    """The check of a submission without problems: its rows, and the ids that differ from those of the template."""

    rows: int
    missing: int = 0
    missing_ids: Sequence[str] = ()
    extra: int = 0
    extra_ids: Sequence[str] = ()
    warnings: Sequence[str] = ()

    def to_dict(self) -> dict[str, Any]:
        """The same as plain data."""
        return self._asdict()

    def __str__(self) -> str:
        lines = [f"{self.rows:,} row{'s' * (self.rows != 1)} read"]
        for word, count, ids in (("missing", self.missing, self.missing_ids), ("extra", self.extra, self.extra_ids)):
            if count:
                lines.append(f"{count:,} {word} id{'s' * (count != 1)}: {list_ids(ids, count)}")
        return "\n".join([*lines, *(f"warning: {warning}" for warning in self.warnings)])


def check_submission(
    submission: object,
    template: object = None,
    *,
    id: str = "row_id",
    label: str = "label",
    prediction: str | None = None,
    task: str | None = None,
    missing: str = "count",
    target: Target | None = None,
    classes: Sequence[str] | None = None,
    limits: Limits | None = None,
    separator: str | None = None,
) -> SubmissionCheck:
    """Check a submission as `score_submission` would, without the answers.

    A submission that would be rejected raises a `Rejection`.

    Args:
        template: A file with the expected ids, such as a sample submission. If it has a column of probabilities per
            class, its columns are the classes.

    >>> sample = {"row_id": ["a", "b"], "label": ["cat", "cat"]}
    >>> print(check_submission({"row_id": ["b", "c"], "label": ["dog", "cat"]}, sample))
    2 rows read
    1 missing id: a
    1 extra id: c
    """
    task, wanted_classes, _ = read_target(target, task, classes)
    names = check_column_names(id, label, prediction=prediction)
    resolved_task, checked_limits = resolve_task(task, None), check_limits(limits)
    check_choice("missing", missing, MISSING)
    template_ids, header = _read_template(template, names, separator)
    class_columns = check_classes(wanted_classes, names, resolved_task) or [name for name in header if name != names.id]
    id_codes: list[Array] = []

    def check(entries: Entries) -> SubmissionProblems:
        codes = TextCodes()
        if template_ids is not None:
            code_ids(codes, template_ids)
        id_codes[:] = [code_ids(codes, entries.columns[names.id])]
        return check_columns(entries, id_codes[0], names, resolved_task, checked_limits)

    entries = read_entries(
        submission,
        lambda found: prediction_columns(resolved_task, names, found, lambda: class_columns or [names.label]),
        check,
        limits=checked_limits,
        name="`submission`",
        separator=separator,
    )
    entries = under_label(entries, names, class_columns)
    warnings = found_prediction(entries, names)
    warnings += _label_warnings(entries, names) if resolved_task == "labels" else []
    if template_ids is None:
        return SubmissionCheck(entries.rows, warnings=warnings)
    matched = match(template_ids, entries.columns[names.id], id_codes[0])
    found = SubmissionProblems()
    if not len(matched.rows):
        found.note("no_matching_rows", ids=matched.unmatched_ids("template"))
    elif len(matched.missing) and (missing == "reject" or resolved_task != "labels"):
        ids = ", ".join(repr(each[:40]) for each in matched.missing_ids)
        found.note("missing_rows", count=f"{len(matched.missing):,}", ids=ids)
    if found:
        raise rejection("`submission`", found)
    return SubmissionCheck(
        entries.rows, len(matched.missing), matched.missing_ids, matched.extra, matched.extra_ids, warnings
    )


def _read_template(template: object, names: ColumnNames, separator: str | None) -> tuple[Any, list[str]]:
    """The ids of the template, and the names of its columns."""
    if template is None:
        return None, []
    header: list[str] = []

    def select(found: Sequence[str]) -> dict[str, str]:
        header[:] = found
        return {names.id: TEXT}

    def check(entries: Entries) -> SubmissionProblems:
        id_codes = code_ids(TextCodes(), entries.columns[names.id])
        return check_columns(entries, id_codes, names, "labels", Limits(), answers=True)

    entries = read_entries(
        template, select, check, limits=Limits(), name="`template`", separator=separator, strict_separator=False
    )
    return entries.columns[names.id], header


def _label_warnings(entries: Entries, names: ColumnNames) -> list[str]:
    labels = entries.columns[names.label].unique().to_pylist()
    pairs = list(confusable_pairs(labels))[:MAX_PAIRS]
    return [f"{one!r} and {other!r} are different labels: they differ only in {what}" for one, other, what in pairs]
