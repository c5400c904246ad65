"""A view of every page and of its states, as the routes would make it; `say` changes every text that people give."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from markupsafe import Markup

import tallymark as tm
from tallymark.app import views as v
from tallymark.app.checking import check_settings
from tallymark.report.document import Card, Code, Notes, Scale, Section
from tallymark.report.table import Percent, Table
from tallymark.submissions.document import document_of
from tallymark.submissions.problems import Place, problem

DATA = Path(__file__).parents[2] / "examples" / "data"
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


def plain(text: str) -> str:
    return text


def samples(say: Say = plain) -> dict[str, tuple[str, Any]]:
    """Every page in its states: a name, the template, the view."""
    return {
        "front": (
            "front.html",
            v.FrontPage(shell(say, "Scores that you can check", "/", person=False), cards(say), "10 MB"),
        ),
        "front-empty": ("front.html", v.FrontPage(shell(say, "Scores that you can check", "/"), (), "10 MB")),
        "challenges": ("challenges.html", v.ChallengesPage(shell(say, "Challenges", "/challenges"), cards(say))),
        "challenges-empty": ("challenges.html", v.ChallengesPage(shell(say, "Challenges", "/challenges"), ())),
        "analyse": (
            "analyse.html",
            v.AnalysePage(shell(say, "Score two files", "/analyse", person=False), TASKS, "10 MB"),
        ),
        "analyse-result": ("analyse.html", analysed(say)),
        "analyse-problems": (
            "analyse.html",
            v.AnalysePage(shell(say, "Score two files", "/analyse"), TASKS, "10 MB", None, problems(say)),
        ),
        "challenge": ("challenge.html", challenge(say)),
        "challenge-join": ("challenge.html", challenge(say)._replace(team=None, may_join=True, may_submit=False)),
        "challenge-visitor": (
            "challenge.html",
            challenge(say)._replace(
                shell=shell(say, "Deer", "/challenges/deer", person=False), team=None, may_submit=False
            ),
        ),
        "submit": ("submit.html", submit(say)),
        "submit-problems": (
            "submit.html",
            submit(say)._replace(problems=problems(say), late="It will be marked as late."),
        ),
        "submit-refused": (
            "submit.html",
            submit(say)._replace(refused="All 5 of today are used; the next one is possible at 00:00 UTC."),
        ),
        "result": ("result.html", result(say)),
        "result-queued": ("result.html", waiting(say)),
        "result-rejected": ("result.html", rejected(say)),
        "leaderboard": ("leaderboard.html", leaderboard(say)),
        "leaderboard-empty": ("leaderboard.html", leaderboard(say)._replace(groups=(), progress=None, pages=None)),
        "mine": ("mine.html", mine(say)),
        "mine-empty": ("mine.html", mine(say)._replace(submissions=())),
        "sign-in": (
            "sign_in.html",
            v.SignInPage(
                wrong(say, "Sign in", "/sign-in", {"": "The name or the password is wrong."}), "/challenges/deer"
            ),
        ),
        "sign-up": ("sign_up.html", sign_up(say)),
        "sign-up-refused": (
            "sign_up.html",
            sign_up(say)._replace(refused="To sign up you need a link from an organiser."),
        ),
        "account": ("account.html", account(say)),
        "organise": ("organise.html", organise(say)),
        "organise-empty": ("organise.html", organise(say)._replace(challenges=())),
        "new": ("edit.html", edit(say)._replace(slug="", title="New challenge", versions=())),
        "edit": ("edit.html", edit(say)),
        "error": (
            "error.html",
            v.ErrorPage(
                shell(say, "There is no such page", "/nowhere"),
                404,
                say("Nothing is at /nowhere."),
                "Look at the address again, or start from the front page.",
                "7f3a-90c1",
            ),
        ),
    }


def shell(say: Say, title: str, path: str, *, person: bool = True, form: v.Form | None = None) -> v.Shell:
    links = [v.Link(text, href, path == href) for text, href in LINKS[: 3 if person else 2]]
    who = v.Person(say("Ada"), "organiser") if person else None
    return v.Shell(title, path, who, links, (), form or v.Form())


def wrong(say: Say, title: str, path: str, errors: dict[str, str]) -> v.Shell:
    return shell(say, title, path, person=False, form=v.Form({"name": say("ada")}, errors))


def cards(say: Say) -> list[v.ChallengeCard]:
    return [
        v.ChallengeCard(
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
        v.ChallengeCard(
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
        v.ChallengeCard(
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


def analysed(say: Say) -> v.AnalysePage:
    found = tm.score_submission(DATA / "answers.csv", DATA / "submission-mediocre.csv", ci=0.95, resamples=50)
    told = document_of(found, None, say("tallymark score answers.csv submission.csv --ci 0.95"))
    form = v.Form({"task": "labels", "metrics": say("accuracy"), "intervals": "1"})
    return v.AnalysePage(shell(say, "Score two files", "/analyse", form=form), TASKS, "10 MB", told)


def problems(say: Say) -> v.ProblemList:
    found = [
        problem("missing_column", Place(1), column=repr(say("label")), found=say("'row_id', 'lable'")),
        problem("duplicate_id", Place(17, 1), id=repr(say("photo-014")), places="lines 16 and 17"),
        problem("ragged_row", Place(1204, 9), count="3 fields", expected="2"),
    ]
    return v.ProblemList(f"{say('submission.csv')} was rejected; it cost nothing.", found, "and 123 more")


def challenge(say: Say) -> v.ChallengePage:
    facts = v.MetricFacts(
        "fscore",
        *HIGHER,
        "The harmonic mean of precision and recall.",
        "2 · precision · recall / (precision + recall)",
        ["1 is perfect, 0 means that no class is ever right.", "Both precision and recall must be high."],
        "Macro averages give every class the same say, however few rows it has.",
        True,
    )
    accuracy = v.MetricFacts("accuracy", *HIGHER, "The share of rows with the right label.", "right / rows", [])
    return v.ChallengePage(
        shell(say, "Deer or fox", "/challenges/deer"),
        "deer",
        say("Deer or fox"),
        say("Say which animal is in each picture of a trap camera."),
        "open",
        Markup("<p>Only the <em>pictures</em> may be used.</p><ul><li>No other data.</li></ul><p>Be fair.</p>"),
        "Labels",
        [facts, accuracy],
        [
            v.ColumnFacts(say("row_id"), "The id of the picture.", say("photo-000")),
            v.ColumnFacts(say("label"), "One of deer, fox, hare.", say("deer")),
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
        v.Team(say("Night owls"), "owl-4821-hoot", [say("Ada"), say("Grace")]),
        False,
        True,
        True,
    )


def submit(say: Say) -> v.SubmitPage:
    form = v.Form({"note": say("with more trees")}, {"note": "It has 204 characters; at most 200 are allowed."})
    check = Markup(check_settings(label=say("label")))
    quota = "1 of 5 today, resets 00:00 UTC"
    return v.SubmitPage(
        shell(say, "Submit a file", "/challenges/deer/submit", form=form),
        "deer",
        say("Deer or fox"),
        quota,
        "",
        "10 MB",
        check,
    )


def result(say: Say) -> v.ResultPage:
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
    return v.ResultPage(
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
        v.Standing(
            "2–4", "41 entries", "The rows cannot tell these entries apart.", [say("Early birds"), say("Hedgehogs")]
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


def waiting(say: Say) -> v.ResultPage:
    return v.ResultPage(
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


def rejected(say: Say) -> v.ResultPage:
    return waiting(say)._replace(
        state="rejected", sentence="It was not scored, and cost nothing.", refresh=None, problems=problems(say)
    )


def entry(say: Say, team: str, score: float, **facts: Any) -> v.Entry:
    bar = v.Bar(*(round(160 * (score + reach - 0.36), 2) for reach in (-0.04, 0, 0.04)))
    band = "good" if score >= 0.8 else "fair" if score >= 0.6 else "poor"
    interval = f"{100 * score - 4:.1f} to {100 * score + 4:.1f} %"
    return v.Entry(
        say(team),
        f"{100 * score:.1f} %",
        band,
        interval,
        bar,
        [f"{100 * score - 2:.1f} %", "0.612"],
        "14",
        SHORT,
        **facts,
    )


def leaderboard(say: Say) -> v.LeaderboardPage:
    groups = [
        v.Group("1", [entry(say, "Early birds", 0.91)]),
        v.Group(
            "2–4",
            [
                entry(say, "Hedgehogs", 0.845),
                entry(say, "Night owls", 0.842, own=True, href="/submissions/k3y"),
                entry(say, "Badgers", 0.839),
            ],
        ),
        v.Group("5–6", [entry(say, "All deer", 0.62, baseline=True), entry(say, "Moles", 0.41)]),
    ]
    base = "/challenges/deer/leaderboard"
    steps = [
        v.Point(0.0, 0.1, "1 November: 41.0 %, Moles"),
        v.Point(0.3, 0.5, "5 November: 62.0 %"),
        v.Point(0.8, 0.9, "12 November: 91.0 %"),
    ]
    return v.LeaderboardPage(
        shell(say, "Leaderboard", base),
        "deer",
        say("Deer or fox"),
        [v.Link("Public", f"{base}?part=public", True), v.Link("Private", f"{base}?part=private")],
        "Ranked by fscore on the public part, 30 % of the rows. The private part decides in the end.",
        "fscore",
        *HIGHER,
        "95 % interval",
        ["accuracy ↑", "F1 of macro precision and recall ↑"],
        groups,
        "Entries of a group cannot be told apart by these rows: each may be as good as the best of them.",
        v.Pages(
            "Entries 1 to 100 of 312",
            [v.Link(str(k), f"{base}?page={k}", k == 1) for k in (1, 2, 3, 4)],
            "",
            f"{base}?page=2",
        ),
        v.Link("You are on page 3", f"{base}?page=3"),
        v.Progress(
            steps,
            "The best score rose from 41.0 % to 91.0 % in 15 days.",
            "1 November",
            "15 November",
            "36.0 %",
            "96.0 %",
        ),
    )


def mine(say: Say) -> v.MinePage:
    rows = [
        v.OwnSubmission(
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
        v.OwnSubmission("k4y", say("submission-6.csv"), "", SHORT, "queued", "Waiting", []),
        v.OwnSubmission("k5y", say("submission-5.csv"), "", SHORT, "rejected", "Rejected", []),
        v.OwnSubmission(
            "k6y", say("submission-4.csv"), "", SHORT, "scored", "Scored", ["71.2 %", "70.0 %"], True, False, True
        ),
    ]
    return v.MinePage(
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


def sign_up(say: Say) -> v.SignUpPage:
    told = wrong(
        say, "Sign up", "/sign-up", {"name": "Someone has this name already.", "again": "It differs from the first."}
    )
    return v.SignUpPage(told, 12, "inv-token", "You are invited to take part.")


def account(say: Say) -> v.AccountPage:
    made = [v.Invitation("participant", SHORT, SHORT, "open"), v.Invitation("organiser", SHORT, SHORT, "used")]
    roles = [v.Choice("participant", "Participant"), v.Choice("organiser", "Organiser")]
    link = "https://scores.example.org/sign-up?invitation=Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4"
    return v.AccountPage(
        shell(say, "Account", "/account"),
        say("Ada"),
        "organiser",
        SHORT,
        "Signed in on 2 devices.",
        12,
        True,
        roles,
        link,
        made,
    )


def organise(say: Say) -> v.OrganisePage:
    rows = [
        v.OrganisedChallenge("deer", say("Deer or fox"), "open", SOON, "12", "1,204", "3", "version 2"),
        v.OrganisedChallenge("prices", say("Prices of flats"), "soon", None, "0", "0", "0", "version 1"),
    ]
    return v.OrganisePage(shell(say, "Your challenges", "/organise"), rows)


def edit(say: Say) -> v.EditPage:
    values = {
        "title": say("Deer or fox"),
        "slug": "deer",
        "summary": say("Say which animal is in each picture."),
        "rules": say("Only the *pictures*.\n\nNo other data."),
        "task": "labels",
        "id_column": say("row_id"),
        "label_column": say("label"),
        "classes": say("deer, fox"),
        "metrics": "fscore, accuracy",
        "missing": "reject",
        "split": "seeded",
        "split_share": "30",
        "split_seed": "7",
        "deadline": "2026-11-19T12:00",
        "late": "mark",
        "quota": "0",
        "finals": "2",
        "show_intervals": "1",
    }
    form = v.Form(values, {"quota": "`quota` must be at least 1; it was 0."})
    versions = [
        v.AnswersVersion("Version 2", "1,203", SHORT, "9f86d081884c", True, say("three labels mended")),
        v.AnswersVersion("Version 1", "1,203", SHORT, "60303ae22b99", False),
    ]
    return v.EditPage(
        shell(say, "Deer or fox", "/organise/deer", form=form),
        "deer",
        say("Deer or fox"),
        TASKS,
        [v.Choice("count", "Counts against the score"), v.Choice("reject", "The file is rejected")],
        [
            v.Choice("none", "One part", "All rows are public."),
            v.Choice("column", "By a column of the answers"),
            v.Choice("seeded", "By chance", "With a share and a seed."),
        ],
        [
            v.Choice("refuse", "Submissions are refused"),
            v.Choice("mark", "They are scored and marked as late", "They are not ranked."),
        ],
        "10 MB",
        "open",
        versions,
    )
