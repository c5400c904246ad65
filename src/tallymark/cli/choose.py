"""tallymark choose: asks about a problem and answers with metrics."""

from __future__ import annotations

import sys
from typing import Any

import click

from tallymark.cli.group import Command
from tallymark.cli.output import print_tables, write
from tallymark.guidance.choose import Choice, choose
from tallymark.guidance.decision_table import TASKS, Question

_OPEN = "?"


def _answer_options() -> list[click.Option]:
    """An option for every question, whichever tasks ask it."""
    asked: dict[str, list[Question]] = {}
    for question in (question for task in TASKS.values() for question in task.questions):
        asked.setdefault(question.keyword, []).append(question)
    return [
        click.Option(
            [_option(keyword), keyword],
            type=click.Choice(answers),
            metavar="|".join(answers),
            help=" Or: ".join(dict.fromkeys(each.text for each in questions)),
        )
        for keyword, questions in asked.items()
        for answers in [list(dict.fromkeys(answer for each in questions for answer in each.answers))]
    ]


def _option(keyword: str) -> str:
    return f"--{keyword.replace('_', '-')}"


class _ChooseCommand(Command):
    """The command, with one option for each question."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.params[-1:-1] = _answer_options()


@click.command("choose", cls=_ChooseCommand, short_help="Find the metrics that fit a problem.")
@click.argument("task", required=False, metavar="[TASK]")
@click.option("--ask/--no-ask", default=None, help="Ask the open questions; by default only in a terminal.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(task: str | None, ask: bool | None, as_json: bool, **answers: str | None) -> None:
    """Find the metrics that fit a problem, with reasons, and metrics to avoid.

    Without a TASK, it lists the tasks. Interactive in a terminal; otherwise the options are the answers, and open
    questions are listed.

    \b
    Examples:
      tallymark choose
      tallymark choose regression --large-errors no --outliers yes
    """
    asks = _is_interactive() and not as_json if ask is None else ask
    given: dict[str, object] = {key: answer for key, answer in answers.items() if answer is not None}
    found = _ask(task, given) if asks else choose(task, **given)
    if as_json:
        write(f"{found.to_json()}\n")
    else:
        print_tables(found.tables())


def _is_interactive() -> bool:
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout))


def _ask(task: str | None, answers: dict[str, object]) -> Choice:
    """The choice after asking what is open; a question mark leaves it open."""
    if task is None:
        click.echo("What is predicted?")
        for name, each in TASKS.items():
            click.echo(f"  {name:<15}{each.text}")
        task = click.prompt("task", type=click.Choice(list(TASKS)), show_choices=False)
    asked: set[str] = set(answers)
    while True:
        found = choose(task, **answers)
        ahead = [question for question in found.questions if question.keyword not in asked]
        if not ahead:
            return found
        question = ahead[0]
        asked.add(question.keyword)
        word = click.prompt(
            question.text, type=click.Choice([*question.answers, _OPEN]), default=_OPEN, show_default=False
        )
        if word != _OPEN:
            answers[question.keyword] = word
