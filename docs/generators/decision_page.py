"""docs/concepts/decisions.md: what `tm.choose` asks and advises, as trees to read."""

from __future__ import annotations

import pprint
from collections.abc import Iterable, Iterator
from itertools import chain

import tallymark as tm
from generators.metric_pages import is_public, title
from tallymark.guidance.decision_table import TASKS, Advice, Question, TaskAdvice

OPENING = """\
# Decisions

Written by `make docs` from the table that `tm.choose` walks. For every task: what to look at in any case, then what
each question adds. [Choosing a metric](choosing.md) says how to ask, and why there are no grades.

```python
>>> import pprint
>>> import tallymark as tm

```
"""

NOTHING = ": nothing more."


def pages() -> Iterator[tuple[str, str]]:
    """The one page, by its path below docs/."""
    links = "\n".join(f"- [{name.capitalize()}](#{name}): {task.text}" for name, task in TASKS.items())
    sections = [section(name, task) for name, task in TASKS.items()]
    yield "concepts/decisions.md", "\n".join([OPENING, links, *sections])


def section(name: str, task: TaskAdvice) -> str:
    """The tree of one task."""
    always = [advice for advice in task.use if not advice.when], [advice for advice in task.avoid if not advice.when]
    lines = ["", f"## {name.capitalize()}", "", task.text, ""]
    if any(always):
        lines += ["In any case:", "", *bullets(*always, (), indent=""), ""]
    for number, question in enumerate(task.questions, 1):
        lines += [f"{number}. **{question.text}** (`{question.keyword}`)", ""]
        branches = [branch(task, question, answer) for answer in question.answers]
        silent = all(len(found) == 1 and found[0].endswith(NOTHING) for found in branches)
        lines += ["   - The answer decides about what comes below."] if silent else [*chain.from_iterable(branches)]
        lines.append("")
    return "\n".join([*lines, *example(name)])


def branch(task: TaskAdvice, question: Question, answer: str) -> list[str]:
    """What an answer adds to those before it."""
    order = [item.keyword for item in task.questions]

    def here(items: Iterable[Advice]) -> list[Advice]:
        last = (max(advice.when, key=order.index, default=None) for advice in items)
        return [
            advice
            for advice, keyword in zip(items, last, strict=True)
            if keyword == question.keyword and advice.when[keyword] == answer
        ]

    said = answer.replace("_", " ")
    for detour in task.redirects:
        if (detour.keyword, detour.answer) == (question.keyword, answer):
            return [f"   - {said}: another task, [{detour.task}](#{detour.task})."]
    use, avoid = here(task.use), here(task.avoid)
    if not use and not avoid:
        return [f"   - {said}{NOTHING}"]
    return [f"   - {said}:", *bullets(use, avoid, (question.keyword,), indent="     ")]


def bullets(use: list[Advice], avoid: list[Advice], known: tuple[str, ...], indent: str) -> list[str]:
    """Pieces of advice as a list: what to use, then what to avoid."""
    return [
        f"{indent}- {verb}{linked(advice.metric)}{condition(advice, known)}: {advice.why}"
        for verb, items in (("", use), ("avoid ", avoid))
        for advice in items
    ]


def condition(advice: Advice, known: tuple[str, ...]) -> str:
    """The other answers on which a piece of advice depends."""
    rest = [f"`{key}` is {answer.replace('_', ' ')}" for key, answer in advice.when.items() if key not in known]
    return f", if {' and '.join(rest)}" if rest else ""


def example(name: str) -> list[str]:
    """All metrics of a task, before anything is answered."""
    call = f'>>> pprint.pp(tm.choose("{name}").metrics, width=100, compact=True)'
    shown = pprint.pformat(tm.choose(name).metrics, width=100, compact=True)
    return ["All of them:", "", "```python", call, shown, "", "```"]


def linked(text: str) -> str:
    """A metric as a link to its section in the reference, if it has one."""
    metric = tm.metric(text)
    return f"[`{text}`](../reference/{metric.family}.md#{title(metric)})" if is_public(metric) else f"`{text}`"
