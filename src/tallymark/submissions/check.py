"""tm.submissions.check_submission: a submission without the answers, against a file that has the ids it should have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from tallymark._core import TextCodes
from tallymark.data.arguments import check_choice
from tallymark.sources.csv.fields import TEXT
from tallymark.submissions.confusables import MOST_PAIRS, alike_among
from tallymark.submissions.entries import Entries
from tallymark.submissions.limits import Limits, check_limits
from tallymark.submissions.match import code_ids, list_ids, match
from tallymark.submissions.problems import SubmissionProblems, rejection
from tallymark.submissions.read import read_entries
from tallymark.submissions.tasks import Names, check_entries, class_names, prediction_columns, task_columns, task_of


class SubmissionCheck(NamedTuple):
    """What a check found in a submission that could be scored: its rows, and which ids differ from the template's."""

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
        lines = [f"{self.rows:,} row{'s' * (self.rows != 1)} can be read"]
        for what, count, ids in (("missing", self.missing, self.missing_ids), ("extra", self.extra, self.extra_ids)):
            if count:
                lines.append(f"{count:,} {'id is' if count == 1 else 'ids are'} {what}: {list_ids(ids, count)}")
        return "\n".join([*lines, *(f"mind: {warning}" for warning in self.warnings)])


def check_submission(
    submission: object,
    template: object = None,
    *,
    id: str = "row_id",
    label: str = "label",
    task: str | None = None,
    missing: str = "count",
    classes: Sequence[str] | None = None,
    limits: Limits | None = None,
    separator: str | None = None,
) -> SubmissionCheck:
    """Check a submission as `score_submission` would, without the answers.

    `template` is a file with the ids that are asked for, such as a sample submission; where each class has a column of
    probabilities, its columns are the classes. A submission that would be rejected raises a `Rejection`.

    >>> sample = {"row_id": ["a", "b"], "label": ["cat", "cat"]}
    >>> print(check_submission({"row_id": ["b", "c"], "label": ["dog", "cat"]}, sample))
    2 rows can be read
    1 id is missing: a
    1 id is extra: c
    """
    names, what, most = task_columns(id, label), task_of(task, None), check_limits(limits)
    check_choice("missing", missing, ("count", "reject"))
    known, columns = _template(template, names, separator)
    named = class_names(classes, names, what) or [name for name in columns if name != names.id]
    held: list[Any] = []

    def check(entries: Entries) -> SubmissionProblems:
        codes = TextCodes()
        if known is not None:
            code_ids(codes, known)
        held[:] = [code_ids(codes, entries.columns[names.id])]
        return check_entries(entries, held[0], names, what, most)

    entries = read_entries(
        submission,
        lambda found: prediction_columns(what, names, found, lambda: named or [names.label]),
        check,
        limits=most,
        name="`submission`",
        separator=separator,
    )
    warnings = _warnings(entries, names) if what == "labels" else []
    if known is None:
        return SubmissionCheck(entries.rows, warnings=warnings)
    matched = match(known, entries.columns[names.id], held[0])
    found = SubmissionProblems()
    if not len(matched.rows):
        found.note("no_matching_rows")
    elif len(matched.missing) and (missing == "reject" or what != "labels"):
        ids = ", ".join(repr(each[:40]) for each in matched.missing_ids)
        found.note("missing_rows", count=f"{len(matched.missing):,}", ids=ids)
    if found:
        raise rejection("`submission`", found)
    absent = len(matched.missing), matched.missing_ids
    return SubmissionCheck(entries.rows, *absent, matched.extra, matched.extra_ids, warnings)


def _template(template: object, names: Names, separator: str | None) -> tuple[Any, list[str]]:
    """The ids of the template, and the names of its columns."""
    if template is None:
        return None, []
    columns: list[str] = []

    def choose(found: Sequence[str]) -> dict[str, str]:
        columns[:] = found
        return {names.id: TEXT}

    def check(entries: Entries) -> SubmissionProblems:
        return check_entries(
            entries, code_ids(TextCodes(), entries.columns[names.id]), names, "labels", Limits(), answers=True
        )

    held = read_entries(
        template, choose, check, limits=Limits(), name="`template`", separator=separator, declared=False
    )
    return held.columns[names.id], columns


def _warnings(entries: Entries, names: Names) -> list[str]:
    labels = entries.columns[names.label].unique().to_pylist()
    pairs = list(alike_among(labels))[:MOST_PAIRS]
    return [f"{one!r} and {other!r} are two labels; they differ only by {what}" for one, other, what in pairs]
