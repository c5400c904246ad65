"""Guidance: what a metric means, and which to choose. Loaded when it is first asked for."""

from tallymark.guidance.choose import Choice, choose
from tallymark.guidance.explain import Explanation, explain

__all__ = ["Choice", "Explanation", "choose", "explain"]
