"""What several pages show: who is there, moments, choices and problems."""

from __future__ import annotations

from collections.abc import Callable

from tallymark.app import views as v
from tallymark.submissions.problems import Place, problem

SOON = v.Moment("2026-11-19T12:00Z", "19 November 2026, 12:00 UTC", "in 3 days")
PAST = v.Moment("2026-11-15T09:30Z", "15 November 2026, 09:30 UTC", "15 hours ago")
SHORT = v.Moment("2026-11-15T09:30Z", "15 Nov 2026, 09:30")
HIGHER = ("↑", "higher is better")
LINKS = (("Challenges", "/challenges"), ("Score two files", "/analyse"), ("Organise", "/organise"))
TASKS = (
    v.Choice("labels", "Labels", "One class for each row."),
    v.Choice("numbers", "Numbers", "One number for each row."),
    v.Choice("probabilities", "Probabilities", "One column for each class."),
    v.Choice("ranking", "A ranking", "A score for each row of a query."),
)
Say = Callable[[str], str]


def shell(say: Say, title: str, path: str, *, person: bool = True, form: v.Form | None = None) -> v.Shell:
    links = [v.Link(text, href, path == href) for text, href in LINKS[: 3 if person else 2]]
    who = v.Person(say("Ada"), "organiser") if person else None
    return v.Shell(title, path, who, links, (), form or v.Form())


def wrong(say: Say, title: str, path: str, errors: dict[str, str]) -> v.Shell:
    return shell(say, title, path, person=False, form=v.Form({"name": say("ada")}, errors))


def problems(say: Say) -> v.ProblemList:
    found = [
        problem("missing_column", Place(1), column=repr(say("label")), found=say("'row_id', 'lable'")),
        problem("duplicate_id", Place(17, 1), id=repr(say("photo-014")), places="lines 16 and 17"),
        problem("ragged_row", Place(1204, 9), count="3 fields", expected="2"),
    ]
    return v.ProblemList(f"{say('submission.csv')} was rejected; it cost nothing.", found, "and 123 more")
