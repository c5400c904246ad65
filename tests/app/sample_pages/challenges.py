"""Views of challenges, and of two files that are scored."""

from __future__ import annotations

from pathlib import Path

from markupsafe import Markup

import tallymark as tm
from tallymark.app.pages.challenges import AnalysePage, ChallengeCard, ChallengePage, ColumnFacts, MetricFacts, TeamCard
from tallymark.app.pages.shell import Form
from tallymark.submissions.document import submission_document
from tests.app.sample_pages.shell import HIGHER, PAST, SOON, TASKS, Say, shell

DATA = Path(__file__).parents[3] / "examples" / "data"


def cards(say: Say) -> list[ChallengeCard]:
    return [
        ChallengeCard(
            "deer",
            say("Deer or fox"),
            say("Say which animal is in each picture of a trap camera."),
            "Labels",
            "fscore",
            *HIGHER,
            "open",
            SOON,
            "12 teams",
        ),
        ChallengeCard(
            "prices",
            say("Prices of flats"),
            say("Predict what each flat was sold for."),
            "Numbers",
            "rmse",
            "↓",
            "lower is better",
            "soon",
            None,
            "1 team",
        ),
        ChallengeCard(
            "churn",
            say("Who will leave"),
            say("The chance that a customer leaves within three months, from what was known the day before."),
            "Probabilities",
            "logloss",
            "↓",
            "lower is better",
            "closed",
            PAST,
            "140 teams",
        ),
    ]


def analysed(say: Say) -> AnalysePage:
    found = tm.submissions.score_submission(
        DATA / "answers.csv", DATA / "submission-mediocre.csv", ci=tm.Intervals(resamples=50)
    )
    told = submission_document(found, None, say("tallymark score answers.csv submission.csv --ci 0.95"))
    form = Form({"task": "labels", "metrics": say("accuracy"), "intervals": "1"})
    return AnalysePage(shell(say, "Score two files", "/analyse", form=form), TASKS, "10 MB", told)


def challenge(say: Say) -> ChallengePage:
    facts = MetricFacts(
        "fscore",
        *HIGHER,
        "The harmonic mean of precision and recall.",
        "2 · precision · recall / (precision + recall)",
        ["1 is perfect, 0 means that no class is ever right.", "Both precision and recall must be high."],
        "Macro averages give every class the same say, however few rows it has.",
        True,
    )
    accuracy = MetricFacts("accuracy", *HIGHER, "The share of rows with the right label.", "right / rows", [])
    return ChallengePage(
        shell(say, "Deer or fox", "/challenges/deer"),
        "deer",
        say("Deer or fox"),
        say("Say which animal is in each picture of a trap camera."),
        "open",
        Markup("<p>Only the <em>pictures</em> may be used.</p><ul><li>No other data.</li></ul><p>Be fair.</p>"),
        "Labels",
        [facts, accuracy],
        [
            ColumnFacts(say("row_id"), "The id of the picture.", say("photo-000")),
            ColumnFacts(say("label"), "One of deer, fox, hare.", say("deer")),
        ],
        "row_id,label\nphoto-000,deer\nphoto-001,fox\n",
        PAST,
        SOON,
        "Submissions are refused.",
        "5 a day for each team",
        "The leaderboard shows scores on 30 % of the rows. The other 70 % decide in the end.",
        "2 for each team",
        ["The scores, with intervals.", "Never the answers."],
        "12 teams",
        TeamCard(say("Night owls"), "owl-4821-hoot", [say("Ada"), say("Grace")]),
        False,
        True,
        True,
    )
