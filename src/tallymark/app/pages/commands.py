"""Commands that reproduce a result at the command line."""

from __future__ import annotations

import shlex
from typing import Any

_DEFAULTS = {"id": "row_id", "label": "label", "query": "query", "missing": "count", "resamples": 1000}


def score_command(answers: str, submission: str, **options: Any) -> str:
    """The command that scores a submission.

    >>> score_command("answers.csv", "mine.csv", task="numbers", metrics=["rmse", "mae"], ci=0.95)
    'tallymark score answers.csv mine.csv --task numbers --metrics rmse,mae --ci 0.95'
    """
    return " ".join(["tallymark score", _quote_file(answers), _quote_file(submission), *_format_options(options)])


def check_command(submission: str, template: str, **options: Any) -> str:
    """The command that checks a submission without the answers."""
    check_options = {name: options.get(name) for name in ("id", "label", "task", "classes", "missing")}
    return " ".join(
        ["tallymark check", _quote_file(submission), "--template", template, *_format_options(check_options)]
    )


def _quote_file(name: str) -> str:
    return shlex.quote(f"./{name}" if name.startswith("-") else name)


def _format_options(options: dict[str, Any]) -> list[str]:
    words = []
    for name, value in options.items():
        if value in (None, "", []) or _DEFAULTS.get(name) == value:
            continue
        text = ",".join(map(str, value)) if isinstance(value, list) else str(value)
        words += [f"--{name}", shlex.quote(text)]
    return words
