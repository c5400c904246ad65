"""Views of submissions: one to send, one that was scored, and all of a team."""

from __future__ import annotations

from tallymark.app.pages.result import ResultPage, StandingSummary
from tallymark.app.pages.shell import Form
from tallymark.app.pages.submissions import (
    CheckSummary,
    MySubmissionRow,
    MySubmissionsPage,
    SubmitPage,
)
from tallymark.rendering.document import Card, Code, Notes, Scale, Section
from tallymark.rendering.table import Percent, Table
from tests.app.sample_pages.shell import PAST, SHORT, Say, problems, shell


def submit(say: Say) -> SubmitPage:
    form = Form({}, {"submission": "Another file of yours is being checked."})
    quota = "1 of 5 today, resets 00:00 UTC"
    return SubmitPage(
        shell(say, "Submit a file", "/challenges/deer/submit", form=form),
        "deer",
        say("Deer or fox"),
        quota,
        "",
        "10 MB",
        10_000_000,
    )


def checked(say: Say) -> SubmitPage:
    found = CheckSummary("t0ken", say("mine.csv: no problems found, 400 rows"), [say("1 id is missing: r7")])
    return submit(say)._replace(checked=found)


def result(say: Say) -> ResultPage:
    classes = Table(
        "", ("class", "precision", "rows"), [(say("deer"), Percent(0.91, "good"), 40)], numbers=("precision", "rows")
    )
    sections = [
        Section("classes", "Classes", "", [classes]),
        Section("warnings", "To look at twice", "", [Notes([say("One label never occurs in the answers.")])]),
        Section(
            "reproduce", "How to reproduce", "", [Code("At the command line", say("tallymark check submission.csv"))]
        ),
    ]
    return ResultPage(
        shell(say, "Result", "/submissions/k3y"),
        "k3y",
        "deer",
        say("Deer or fox"),
        say("Night owls"),
        say("submission-7.csv"),
        PAST,
        "scored",
        "Scored on the public part, with version 2 of the answers.",
        say("with more trees"),
        True,
        None,
        [
            Card("fscore", "84.2 %", "95 % interval: 79.0 to 88.1 %", "", "good", Scale(0, 1, 0.842, 0.79, 0.881)),
            Card("accuracy", "71.0 %", "95 % interval: 66.1 to 75.2 %", "", "fair", Scale(0, 1, 0.71, 0.661, 0.752)),
            Card("mcc", "0.412", "", "", "", None),
            Card("precision", "41.5 %", "", "", "poor", Scale(0, 1, 0.415)),
        ],
        "The other intervals follow in a moment.",
        [("compared", "1,200"), ("right", "852"), ("wrong", "348"), ("missing", "3"), ("extra", "0")],
        StandingSummary(
            "3",
            "41 entries",
            "Rank range 2–4. 1 entry scores significantly better, 37 significantly worse.",
        ),
        sections,
        None,
        [
            ("Answers", "version 2"),
            ("tallymark", "0.1.0"),
            ("Digest of the file", "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"),
        ],
        True,
    )


def waiting(say: Say) -> ResultPage:
    return ResultPage(
        shell(say, "Result", "/submissions/k3y"),
        "k3y",
        "deer",
        say("Deer or fox"),
        say("Night owls"),
        say("submission-7.csv"),
        PAST,
        "queued",
        "It is the 3rd in the queue.",
        refresh=5,
    )


def rejected(say: Say) -> ResultPage:
    return waiting(say)._replace(
        state="rejected", sentence="It was not scored, and cost nothing.", refresh=None, problems=problems(say)
    )


def mine(say: Say) -> MySubmissionsPage:
    rows = [
        MySubmissionRow(
            "k3y",
            say("submission-7.csv"),
            say("with more trees"),
            SHORT,
            "scored",
            "Scored",
            ["84.2 %", "82.1 %"],
            False,
            True,
            True,
        ),
        MySubmissionRow("k4y", say("submission-6.csv"), "", SHORT, "queued", "Waiting", []),
        MySubmissionRow("k5y", say("submission-5.csv"), "", SHORT, "rejected", "Rejected", []),
        MySubmissionRow(
            "k7y", say("b.csv"), "", SHORT, "scored", "Scored", ["9 %", "8 %"], disqualified=say("two accounts")
        ),
        MySubmissionRow(
            "k6y", say("submission-4.csv"), "", SHORT, "scored", "Scored", ["71.2 %", "70.0 %"], True, False, True
        ),
    ]
    return MySubmissionsPage(
        shell(say, "My submissions", "/challenges/deer/mine"),
        "deer",
        say("Deer or fox"),
        "1 of 5 today, resets 00:00 UTC",
        ["fscore ↑", "accuracy ↑"],
        rows,
        "Choose up to 2 that count on the private part in the end; 1 is chosen. Where none is, the best count.",
        True,
        True,
    )


def mine_at_the_end(say: Say) -> MySubmissionsPage:
    view = mine(say)
    rows = [each._replace(scores=each.scores * 2, may_be_final=False) for each in view.submissions]
    return view._replace(
        quota="This challenge is closed and accepts no submissions.",
        metrics=[f"{name} ({part})" for name in view.metrics for part in ("public", "private")],
        submissions=[rows[0]._replace(ranked=True), *rows[1:]],
        finals="The challenge is over. The submission that you selected counted.",
        may_choose=False,
        may_submit=False,
        standing=StandingSummary("3", "41 entries", "Rank range 2–4."),
        ranking="/challenges/deer/leaderboard?part=private",
    )
