"""What a decision table is made of: tasks, questions about them, and advice that depends on the answers."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

YES, NO = "yes", "no"
YES_OR_NO = (YES, NO)
_ALWAYS: Mapping[str, str] = MappingProxyType({})


class Question(NamedTuple):
    """Something to know about the problem: its keyword in `choose`, the question, and the answers it takes."""

    keyword: str
    text: str
    answers: tuple[str, ...] = YES_OR_NO


class Advice(NamedTuple):
    """A metric, why to use or to avoid it, and under which answers; under all of them if none are named."""

    metric: str
    why: str
    when: Mapping[str, str] = _ALWAYS


class Detour(NamedTuple):
    """An answer after which another task is the right one."""

    keyword: str
    answer: str
    task: str


class Task(NamedTuple):
    """What is predicted, in a sentence, and all that is asked and advised."""

    text: str
    questions: tuple[Question, ...]
    use: tuple[Advice, ...]
    avoid: tuple[Advice, ...] = ()
    detours: tuple[Detour, ...] = ()
