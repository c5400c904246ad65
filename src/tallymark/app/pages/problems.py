"""The problems of a file, as a section of a page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tallymark.app.pages.shell import ProblemSection
from tallymark.errors import Rejection
from tallymark.sources.problems import Problem, group_problems


def problem_section(error: Rejection, sentence: str | None = None) -> ProblemSection:
    """The problems of a file that was just rejected."""
    if sentence is None:
        sentence = f"The {error.file} {'were' if error.file == 'answers' else 'was'} rejected: the file"
    return _section(error.problems, error.total, error.stopped, sentence)


def stored_problems(facts: Mapping[str, Any]) -> ProblemSection:
    """The problems of a rejected submission, from its stored facts."""
    known = set(Problem._fields)
    problems = [Problem(**{key: value for key, value in each.items() if key in known}) for each in facts["problems"]]
    return _section(problems, facts["total"], facts["stopped"], "The submission was rejected: the file")


def _section(problems: Sequence[Problem], total: int, stopped: bool, sentence: str) -> ProblemSection:
    least = "at least " if stopped else ""
    count = "one problem" if total == 1 else f"{least}{total:,} problems"
    hidden = total - len(problems)
    more = f"And {least}{hidden:,} more." if hidden else ""
    if stopped:
        more = f"{more} The rest of the file was not checked.".strip()
    return ProblemSection(f"{sentence} has {count}.", group_problems(problems, total), more)
