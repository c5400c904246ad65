"""How to get the same at the command line."""

from __future__ import annotations

import shlex
from typing import Any

_DEFAULTS = {"id": "row_id", "label": "label", "query": "query", "missing": "count", "resamples": 1000}


def score_command(answers: str, submission: str, **told: Any) -> str:
    """The command that scores a submission.

    >>> score_command("answers.csv", "mine.csv", task="numbers", metrics=["rmse", "mae"], ci=0.95)
    'tallymark score answers.csv mine.csv --task numbers --metrics rmse,mae --ci 0.95'
    """
    return " ".join(["tallymark score", *_file(answers), *_file(submission), *_options(told)])


def check_command(submission: str, template: str, **told: Any) -> str:
    """The command that checks a submission without the answers."""
    known = {name: told.get(name) for name in ("id", "label", "task", "classes", "missing")}
    return " ".join(["tallymark check", *_file(submission), "--template", template, *_options(known)])


def _file(name: str) -> list[str]:
    return [shlex.quote(f"./{name}" if name.startswith("-") else name)]


def _options(told: dict[str, Any]) -> list[str]:
    words = []
    for name, value in told.items():
        if value in (None, "", []) or _DEFAULTS.get(name) == value:
            continue
        shown = ",".join(map(str, value)) if isinstance(value, list) else str(value)
        words += [f"--{name}", shlex.quote(shown)]
    return words
