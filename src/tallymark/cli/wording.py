"""The words of Python calls in messages, as the options of the command line."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Mapping

_NAMES = {
    "y_true": "truth",
    "y_pred": "prediction",
    "condition": "accept",
    "models": "prediction",
    "truth": "truth",
    **{
        name: name.replace("_", "-")
        for name in (
            "baseline",
            "by",
            "ci",
            "ci_method",
            "classes",
            "cluster",
            "correction",
            "family",
            "id",
            "keys",
            "kind",
            "label",
            "metrics",
            "min_rows",
            "missing",
            "mode",
            "normalize",
            "output",
            "positive",
            "prediction",
            "query",
            "resamples",
            "scheduler",
            "score_ranges",
            "seed",
            "separator",
            "task",
            "value",
            "weights",
        )
    },
}
_TYPED = {
    "normalize=True": "--normalize",
    "`source`": "FILE",
}
_NAMED = re.compile(rf"`({'|'.join(_NAMES)})`")
_OF_GROUP = re.compile(r"take accept\(report\.slices\[.*\], \.\.\.\)")
_GIVEN = re.compile(r"\b(kind|missing|ci|task)=\"?([\w.]+)\"?")


def in_options(message: str) -> str:
    """A message about arguments of a call as one about options.

    >>> in_options('`y_true` must be finite; row 2 is NaN. Pass missing="drop" to leave such rows out')
    '`--truth` must be finite; row 2 is NaN. Pass --missing drop to leave such rows out'
    """
    for call, typed in _TYPED.items():
        message = message.replace(call, typed)
    message = _OF_GROUP.sub("pass a file of its rows", message)
    named = _NAMED.sub(lambda found: f"`--{_NAMES[found[1]]}`", message)
    return _GIVEN.sub(r"--\1 \2", named)


def command_line(hidden: Mapping[str, str] | None = None) -> str:
    """The command as it was typed, to run it again; words that others must not see are `hidden` behind these."""
    words = [(hidden or {}).get(word, word) for word in sys.argv[1:]]
    typed = shlex.join(["tallymark", *words])
    return typed.encode("utf-8", "replace").decode()  # a name may hold bytes that are no text
