"""What several pages show: who is there, moments, choices and problems."""

from __future__ import annotations

from collections.abc import Callable

from tallymark.app.pages.shell import Form, Link, PageTime, Person, ProblemSection, SelectOption, Shell
from tallymark.sources.problems import Place, group_problems
from tallymark.submissions.problems import submission_problem

SOON = PageTime("2026-11-19T12:00Z", "19 November 2026, 12:00 UTC", "in 3 days")
PAST = PageTime("2026-11-15T09:30Z", "15 November 2026, 09:30 UTC", "15 hours ago")
SHORT = PageTime("2026-11-15T09:30Z", "15 Nov 2026, 09:30")
HIGHER = ("↑", "higher is better")
LINKS = (("Challenges", "/challenges"), ("Score two files", "/analyse"), ("Organise", "/organise"))
TASKS = (
    SelectOption("labels", "Labels", "One class for each row."),
    SelectOption("numbers", "Numbers", "One number for each row."),
    SelectOption("probabilities", "Probabilities", "One column for each class."),
    SelectOption("ranking", "A ranking", "A score for each row of a query."),
)
Say = Callable[[str], str]


def shell(say: Say, title: str, path: str, *, person: bool = True, form: Form | None = None) -> Shell:
    links = [Link(text, href, path == href) for text, href in LINKS[: 3 if person else 2]]
    who = Person(say("Ada"), "organiser") if person else None
    return Shell(title, path, who, links, (), form or Form())


def wrong(say: Say, title: str, path: str, errors: dict[str, str]) -> Shell:
    return shell(say, title, path, person=False, form=Form({"name": say("ada")}, errors))


def problems(say: Say) -> ProblemSection:
    found = [
        submission_problem("missing_column", Place(1), column=repr(say("label")), found=say("'row_id', 'lable'")),
        submission_problem("duplicate_id", Place(17, 1), id=repr(say("photo-014")), places="lines 16 and 17"),
        *(
            submission_problem("ragged_row", Place(line, 1), count="3 fields", expected="2")
            for line in (1204, 1205, 1300)
        ),
    ]
    return ProblemSection(
        f"{say('submission.csv')} was rejected; it cost nothing.", group_problems(found), "and 123 more"
    )
