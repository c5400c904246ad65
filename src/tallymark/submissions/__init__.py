"""Submissions: files of predictions, checked and scored against the answers. What the command line and an app share."""

from tallymark.sources.problems import Problem
from tallymark.submissions.check import SubmissionCheck, check_submission
from tallymark.submissions.outcomes import NoOutcomes, Outcomes
from tallymark.submissions.ranks import paired_test, rank_groups
from tallymark.submissions.result import SubmissionResult
from tallymark.submissions.score import score_submission
from tallymark.submissions.settings import Limits

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
