"""What each page shows: texts and numbers that are ready to be printed, so that templates compute nothing.

Every page is a record whose first field is its `shell`. Values of forms, those of a first visit too, are in
`shell.form` under the names of the fields; a field that is a box to tick is "1" or absent.
"""

from tallymark.app.views.challenges import (
    AnalysePage,
    ChallengeCard,
    ChallengePage,
    ChallengesPage,
    ColumnFacts,
    FrontPage,
    MetricFacts,
    Team,
)
from tallymark.app.views.leaderboard import Bar, Entry, Group, LeaderboardPage, Point, Progress
from tallymark.app.views.organise import AnswersVersion, EditPage, OrganisedChallenge, OrganisePage
from tallymark.app.views.people import AccountPage, Invitation, SignInPage, SignUpPage
from tallymark.app.views.shell import Choice, ErrorPage, Flash, Form, Link, Moment, Pages, Person, ProblemList, Shell
from tallymark.app.views.submissions import Checked, MinePage, OwnSubmission, ResultPage, Standing, SubmitPage

__all__ = [
    "AccountPage",
    "AnalysePage",
    "AnswersVersion",
    "Bar",
    "ChallengeCard",
    "ChallengePage",
    "ChallengesPage",
    "Checked",
    "Choice",
    "ColumnFacts",
    "EditPage",
    "Entry",
    "ErrorPage",
    "Flash",
    "Form",
    "FrontPage",
    "Group",
    "Invitation",
    "LeaderboardPage",
    "Link",
    "MetricFacts",
    "MinePage",
    "Moment",
    "OrganisePage",
    "OrganisedChallenge",
    "OwnSubmission",
    "Pages",
    "Person",
    "Point",
    "ProblemList",
    "Progress",
    "ResultPage",
    "Shell",
    "SignInPage",
    "SignUpPage",
    "Standing",
    "SubmitPage",
    "Team",
]
