"""Submissions: files of predictions, checked and scored against the answers. What the command line and an app share.

`settings.py` says what is predicted and how it is scored. `read.py` reads a file fast, `entries.py` validates its rows,
and `diagnose.py` reads a bad file again to locate the errors, whose texts are in `problems.py`. `match.py` brings rows
together by id, `score.py` scores them, `check.py` does without the answers. The result is in `result.py`, its page in
`document.py`, and its `warnings.py` are about a submission that could be scored. For challenges, `public_private.py`
scores the public and the private part, `disclosure.py` is what participants may know, and `outcomes.py` and `ranks.py`
compare the entries of a leaderboard.
"""

from tallymark.sources.problems import Problem
from tallymark.submissions.check import SubmissionCheck, check_submission
from tallymark.submissions.outcomes import NoOutcomes, Outcomes
from tallymark.submissions.ranks import paired_test, rank_entries
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
    "rank_entries",
    "score_submission",
]
