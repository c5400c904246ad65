"""Submissions: files of predictions, checked and scored against the answers. What the command line and an app share."""

from tallymark.submissions.check import SubmissionCheck as SubmissionCheck
from tallymark.submissions.check import check_submission as check_submission
from tallymark.submissions.limits import Limits as Limits
from tallymark.submissions.outcomes import NoOutcomes as NoOutcomes
from tallymark.submissions.outcomes import Outcomes as Outcomes
from tallymark.submissions.problems import Problem as Problem
from tallymark.submissions.result import SubmissionResult as SubmissionResult
from tallymark.submissions.score import score_submission as score_submission
from tallymark.submissions.standings import paired_test as paired_test
from tallymark.submissions.standings import rank_groups as rank_groups

__all__ = [
    "Limits",
    "NoOutcomes",
    "Outcomes",
    "Problem",
    "SubmissionCheck",
    "SubmissionResult",
    "check_submission",
    "paired_test",
    "rank_groups",
    "score_submission",
]
