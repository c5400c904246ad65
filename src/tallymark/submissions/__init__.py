"""Submissions: files of predictions, checked and scored against the answers. What the command line and an app share."""

from tallymark.submissions.check import SubmissionCheck as SubmissionCheck
from tallymark.submissions.check import check_submission as check_submission
from tallymark.submissions.limits import Limits as Limits
from tallymark.submissions.problems import Problem as Problem
from tallymark.submissions.result import SubmissionResult as SubmissionResult
from tallymark.submissions.score import score_submission as score_submission

__all__ = ["Limits", "Problem", "SubmissionCheck", "SubmissionResult", "check_submission", "score_submission"]
