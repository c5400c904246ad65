"""Views of the submissions of a challenge, as its organisers see them."""

from __future__ import annotations

from tallymark.app.pages.organiser_submissions import (
    MARK_OPTIONS,
    SORT_OPTIONS,
    STATE_OPTIONS,
    BaselineRow,
    OrganiserSubmissionPage,
    OrganiserSubmissionRow,
    OrganiserSubmissionsPage,
)
from tallymark.app.pages.shell import Form, Link, SelectOption
from tallymark.rendering.table import Name
from tests.app.sample_pages.shell import SHORT, Say, problems, shell

PATH = "/organise/deer/submissions"


def organiser_submissions(say: Say) -> OrganiserSubmissionsPage:
    form = Form(
        {"q": say("owl"), "state": "scored", "baseline": say("A deer")},
        {"baseline": "A team has this name.", "since": "Enter a date and time in UTC."},
    )
    rows = [
        OrganiserSubmissionRow(
            "k3y",
            say("submission-7.csv"),
            say("Night owls"),
            say("Ada"),
            SHORT,
            "scored",
            "scored",
            ["84.2 %", "82.1 %"],
            ["late", "disqualified", "final"],
        ),
        OrganiserSubmissionRow(
            "k4y", say("b.csv"), say("Foxes"), say("Ben"), SHORT, "failed", "failed", ["–", "–"], ["baseline"]
        ),
    ]
    return OrganiserSubmissionsPage(
        shell(say, "Submissions to Deer or fox", PATH, form=form),
        "deer",
        say("Deer or fox"),
        "2 of 412 submissions match.",
        STATE_OPTIONS,
        MARK_OPTIONS,
        [SelectOption("", "All"), SelectOption("7", say("Night owls"))],
        SORT_OPTIONS,
        [Name("accuracy ↑ (public)", "accuracy"), Name("accuracy ↑ (private)", "accuracy")],
        rows,
        [Link("Submissions as CSV", "/organise/deer/export/submissions.csv")],
        "10 MB",
        None,
        [
            BaselineRow("3", say("Always deer"), "2 files", False),
            BaselineRow("4", say("By size"), "1 file", True),
        ],
        problems(say),
    )


def organiser_submission(say: Say) -> OrganiserSubmissionPage:
    form = Form({"reason": say("two")}, {"reason": "Give a reason.", "": "Only failed submissions can be retried."})
    return OrganiserSubmissionPage(
        shell(say, "submission-7.csv", f"{PATH}/k3y", form=form),
        "deer",
        say("Deer or fox"),
        "k3y",
        say("submission-7.csv"),
        "failed",
        "failed",
        [("Team", say("Night owls")), ("Note", say("with more trees"))],
        [("accuracy (public)", "84.2 %")],
        300,
        may_retry=True,
        refundable="2026-11-16",
        late=True,
    )
