"""Guidance: what a metric means (`explain`), and which to choose (`choose`)."""

from tallymark.guidance.choose import Choice, choose
from tallymark.guidance.explain import Explanation, explain

__all__ = [
    "Choice",
    "Explanation",
    "choose",
    "explain",
]
