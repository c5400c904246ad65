"""What can be wrong with a submission: one table of rules, and the problems of a file, all at once."""

from __future__ import annotations

from tallymark.errors import Rejection
from tallymark.sources import problems
from tallymark.sources.problems import TEXT_RULES, Place, Problem, Rule

RULES = TEXT_RULES | {
    rule.code: rule
    for rule in (
        Rule("empty_file", "{form} file is empty", "Add one row per id below the header"),
        Rule("no_matching_rows", "No matching rows found{ids}", "Use the ids from the file that you were given"),
        Rule("missing_column", "missing column {column}; found: {found}", "Add it, or name another column"),
        Rule("repeated_column", "duplicate column {column}: {count} times in the header", "Keep only one of them"),
        Rule("duplicate_id", "duplicate id {id} in {places}", "Every id needs exactly one row"),
        Rule("empty_id", "empty id", "Every row needs an id"),
        Rule("empty_field", "empty field {column}", "Every row needs a value"),
        Rule("not_a_number", "{value} is not a number", "Write numbers with a decimal point, such as 0.25"),
        Rule("not_finite", "{value} is not a finite number", "Every row needs a finite number"),
        Rule("out_of_range", "{value} is not between 0 and 1", "Write probabilities, not percentages or scores"),
        Rule(
            "bad_sum",
            "the probabilities of the row add up to {sum}",
            "Divide the probabilities of each row by their sum",
        ),
        Rule("too_large", "the file has {size} bytes; the limit is {most}", "Remove unneeded columns"),
        Rule("unpacks_too_large", "the file unpacks to more than {most} bytes", "Send it without compression"),
        Rule("too_many_rows", "the number of rows exceeds the limit of {most}", "Remove rows that were not requested"),
        Rule("too_many_columns", "the file has {count} columns; the limit is {most}", "Remove the other columns"),
        Rule("too_many_labels", "the file has {count} distinct labels; the limit is {most}", "Predict class labels"),
        Rule("missing_rows", "no row for {count} of the ids, such as {ids}", "Every id needs a row"),
        Rule("unreadable", "{what}", "Send CSV in UTF-8, or Parquet"),
        Rule(
            "not_scored",
            "the score could not be computed from these predictions",
            "Ask the organisers of the challenge",
        ),
    )
}


class SubmissionProblems(problems.ProblemList):
    """Problems by the rules of submissions."""

    rules = RULES


def submission_problem(code: str, place: Place | None = None, **facts: object) -> Problem:
    """The problem of a rule, with these facts in its sentence."""
    return problems.problem(RULES[code], Place() if place is None else place, facts)


def rejection(name: str, found: SubmissionProblems, shown: str | None = None) -> Rejection:
    """The error that has all problems: the first in its first line, the others below. A file is `shown` by its path."""
    message = f"{shown or name} was rejected: {found}"
    return Rejection(message, list(found.shown), found.total, stopped=found.stopped, file=name.strip("`"))
