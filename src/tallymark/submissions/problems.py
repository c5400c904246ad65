"""What can be wrong with a submission: one table of rules, and the problems of a file, all at once."""

from __future__ import annotations

from tallymark.errors import Rejection
from tallymark.sources import problems
from tallymark.sources.problems import TEXT_RULES, Place, Problem, Rule

RULES = TEXT_RULES | {
    rule.code: rule
    for rule in (
        Rule("empty_file", "{form} file is empty", "Put a row for each id below the header"),
        Rule("no_matching_rows", "No matching rows found", "Take the ids from the file that you were given"),
        Rule("missing_column", "the column {column} is missing; found: {found}", "Add it, or name the one you mean"),
        Rule(
            "repeated_column", "the column {column} stands in the header {count} times", "Leave all but one of them out"
        ),
        Rule("duplicate_id", "the id {id} stands in {places}", "Give each id one row"),
        Rule("empty_id", "the id is empty", "Give each row the id that it belongs to"),
        Rule("empty_field", "the field {column} is empty", "Give each row a value"),
        Rule("not_a_number", "{value} is not a number", "Write numbers such as 0.25, with a point"),
        Rule("not_finite", "{value} is not a finite number", "Predict a finite number for each row"),
        Rule("out_of_range", "{value} is not between 0 and 1", "Write probabilities, not percentages or scores"),
        Rule("bad_sum", "the probabilities of the row add up to {sum}", "Divide those of each row by their sum"),
        Rule("too_large", "the file has {size} bytes; at most {most} are allowed", "Leave out columns nobody needs"),
        Rule("unpacks_too_large", "the file unpacks to more than {most} bytes", "Send it without compression"),
        Rule("too_many_rows", "there are more than {most} rows", "Leave out rows that nobody asked for"),
        Rule("too_many_columns", "there are {count} columns; at most {most} are allowed", "Leave the others out"),
        Rule("too_many_labels", "there are {count} distinct labels; at most {most} are allowed", "Predict labels"),
        Rule("missing_rows", "rows are missing for {count} of the ids, such as {ids}", "Give each id a row"),
        Rule("unreadable", "{what}", "Send CSV in UTF-8, or Parquet"),
        Rule("not_scored", "the score could not be computed from these predictions", "Ask those who set the challenge"),
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
