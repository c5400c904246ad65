"""What is wrong with a submission, all at once."""

from __future__ import annotations

from tallymark.engines import problems
from tallymark.engines.problems import MOST_COUNTED as MOST_COUNTED
from tallymark.engines.problems import MOST_SHOWN as MOST_SHOWN
from tallymark.engines.problems import Place as Place
from tallymark.engines.problems import Problem as Problem
from tallymark.errors import Rejection
from tallymark.submissions.rules import RULES


class Found(problems.Found):
    """Problems by the rules of submissions."""

    rules = RULES


def problem(code: str, place: Place | None = None, **facts: object) -> Problem:
    """The problem of a rule, with these facts in its sentence."""
    return problems.problem(RULES[code], Place() if place is None else place, facts)


def rejection(name: str, found: Found, shown: str | None = None) -> Rejection:
    """The error that has all problems: the first in its first line, the others below. A file is `shown` by its path."""
    message = f"{shown or name} was rejected: {found}"
    return Rejection(message, list(found.shown), found.total, stopped=found.stopped, file=name.strip("`"))
