"""tm.choose: metrics for a task, from the decision table and the answers so far."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from tallymark.errors import Argument, ParameterError, Text, brief, did_you_mean, nearest
from tallymark.guidance.decision_table import NO, TASKS, YES, YES_OR_NO, Advice, Question
from tallymark.rendering.exports import to_json
from tallymark.rendering.html_table import to_html
from tallymark.rendering.table import Table
from tallymark.rendering.text import to_text


class MetricAdvice(NamedTuple):
    """A metric as a string, why to use or avoid it, and the answers, still open, on which that depends."""

    metric: str
    why: str
    when: dict[str, str]


class Choice:
    """The metrics that fit a problem: `recommended` and `avoid` with reasons, and the `questions` still open.

    If a question is open, the advice for all its answers is included and names the answer it depends on. `metrics`
    is the list of recommended metrics for `evaluate`. A choice prints as tables, also in a notebook.
    """

    __slots__ = ("answers", "avoid", "questions", "recommended", "task")

    def __init__(
        self,
        task: str | None,
        answers: dict[str, str],
        recommended: tuple[MetricAdvice, ...],
        avoid: tuple[MetricAdvice, ...],
        questions: tuple[Question, ...],
    ) -> None:
        self.task = task
        self.answers = answers
        self.recommended = recommended
        self.avoid = avoid
        self.questions = questions

    @property
    def metrics(self) -> list[str]:
        """The recommended metrics, each once."""
        return list(dict.fromkeys(item.metric for item in self.recommended))

    def to_dict(self) -> dict[str, Any]:
        """The choice as plain data."""
        return {
            "task": self.task,
            "answers": self.answers,
            "recommended": [item._asdict() for item in self.recommended],
            "avoid": [item._asdict() for item in self.avoid],
            "questions": [{**item._asdict(), "answers": list(item.answers)} for item in self.questions],
        }

    def to_json(self, *, indent: int | None = 2) -> str:
        """The choice as JSON."""
        return to_json(self.to_dict(), indent)

    def tables(self) -> list[Table]:
        """What to use, what to avoid and what to ask, as tables to render."""
        if self.task is None:
            rows = [(name, task.text) for name, task in TASKS.items()]
            return [Table("What is predicted?", ("task", "predictions"), rows, ("choose a task to see its questions",))]
        given = "".join(f" · {keyword}={answer}" for keyword, answer in self.answers.items())
        out = [_advice_table(f"{self.task}{given}", "use", self.recommended)]
        if self.avoid:
            out.append(_advice_table("", "avoid", self.avoid))
        if self.questions:
            rows_asked = [(q.keyword, " | ".join(q.answers), q.text) for q in self.questions]
            out.append(Table("", ("still open", "answers", "question"), rows_asked))
        return out

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Choice) and self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        return hash((self.task, frozenset(self.answers.items())))

    def __repr__(self) -> str:
        return "\n\n".join(map(to_text, self.tables()))

    def _repr_html_(self) -> str:
        return "".join(map(to_html, self.tables()))


def _advice_table(title: str, verb: str, items: tuple[MetricAdvice, ...]) -> Table:
    conditions = [", ".join(f"{keyword}={answer}" for keyword, answer in item.when.items()) for item in items]
    if not any(conditions):
        return Table(title, (verb, "why"), [(item.metric, item.why) for item in items])
    rows = [(item.metric, when, item.why) for item, when in zip(items, conditions, strict=True)]
    return Table(title, (verb, "if", "why"), rows)


def choose(task: str | None = None, **answers: object) -> Choice:
    """Recommend metrics for a task, with reasons, metrics to avoid and the questions still open.

    Without a task, it lists the tasks. An answer is True, False or one of the words of the question. A question that
    is left out, or answered with None, stays open, and the advice names the answer it depends on.

    >>> choice = choose("clustering", truth=True, chance_corrected=True, uneven_sizes=False, may_split=False)
    >>> choice.metrics
    ['adjusted_rand', 'v_measure']
    >>> [item.metric for item in choice.avoid]
    ['rand_index', 'normalized_mutual_information', 'purity', 'accuracy']
    >>> [question.keyword for question in choose("clustering", truth=True).questions]
    ['chance_corrected', 'uneven_sizes', 'may_split']
    """
    if task is None:
        if answers:
            raise ParameterError(
                argument="task", expected=Text("be given with {}: one of {}", _as_arguments(answers), _join(TASKS))
            )
        return Choice(None, {}, (), (), (Question("task", "What is predicted?", tuple(TASKS)),))
    if not isinstance(task, str) or task not in TASKS:
        raise ParameterError(
            argument="task", expected=f"be one of {_join(TASKS)}", got=brief(task), hint=did_you_mean(task, TASKS)
        )
    return _follow_answers(task, answers)


def _follow_answers(name: str, answers: dict[str, object]) -> Choice:
    """Go from task to task as the answers say, and advise on the last."""
    questions: dict[str, Question] = {}
    while True:
        task = TASKS[name]
        questions |= {question.keyword: question for question in task.questions}
        known = {
            key: word for key, item in questions.items() if (word := _answer_word(item, answers.get(key))) is not None
        }
        redirected = [detour.task for detour in task.redirects if known.get(detour.keyword) == detour.answer]
        if not redirected:
            break
        name = redirected[0]
    for key in answers:
        if key not in questions:
            raise _unknown(key, name, questions)
    use, avoid = (_matching_advice(rules, known) for rules in (task.use, task.avoid))
    depends = {keyword for item in (*use, *avoid) for keyword in item.when}
    depends |= {detour.keyword for detour in task.redirects} - set(known)
    return Choice(name, known, use, avoid, tuple(q for q in task.questions if q.keyword in depends))


def _matching_advice(rules: tuple[Advice, ...], known: Mapping[str, str]) -> tuple[MetricAdvice, ...]:
    """The advice that no answer speaks against, with the answers that it still waits for."""
    fits = [rule for rule in rules if all(known.get(key, answer) == answer for key, answer in rule.when.items())]
    return tuple(
        MetricAdvice(rule.metric, rule.why, {key: answer for key, answer in rule.when.items() if key not in known})
        for rule in fits
    )


def _answer_word(question: Question, value: object) -> str | None:
    """An answer as a word of the question; None where it is open."""
    if value is None:
        return None
    plain = question.answers == YES_OR_NO
    word = (YES if value else NO) if plain and isinstance(value, bool) else value
    if isinstance(word, str) and word in question.answers:
        return word
    allowed = "True, False" if plain else ", ".join(f'"{answer}"' for answer in question.answers)
    raise ParameterError(argument=question.keyword, expected=f"be {allowed} or None (unknown)", got=brief(value))


def _unknown(key: str, name: str, asked: Mapping[str, Question]) -> ParameterError:
    elsewhere = [other for other, task in TASKS.items() if any(q.keyword == key for q in task.questions)]
    near = nearest(key, asked)
    hint = f"It belongs to {_join(elsewhere)}" if elsewhere else None
    return ParameterError(
        Text('the task "{}" has no question {}; its questions are {}', name, Argument(key), _as_arguments(asked)),
        argument=key,
        hint=Text("Did you mean {}?", Argument(near[0])) if near else hint,
    )


def _as_arguments(keywords: Mapping[str, object]) -> Text:
    return Text(", ".join("{}" for _ in keywords), *map(Argument, keywords))


def _join(words: Mapping[str, object] | list[str]) -> str:
    return ", ".join(words)
