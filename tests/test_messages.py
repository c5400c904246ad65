"""The wording of every error: the argument, what it must be, what it was, where, and what to do.

The messages are kept in messages.txt, so that a change of wording shows in the diff. To accept one: write the file anew
with ``python -m tests.test_messages``.
"""

from __future__ import annotations

from pathlib import Path

import pytest

import tallymark as tm
from tallymark.metrics import registry
from tests import file_errors, metric_errors, model_errors, plot_errors, submission_errors, training_errors

FILE = Path(__file__).with_name("messages.txt")
CASES = {
    **metric_errors.CASES,
    **model_errors.CASES,
    **training_errors.CASES,
    **plot_errors.CASES,
    **file_errors.CASES,
    **submission_errors.CASES,
}


def _messages() -> str:
    lines = []
    registry.functions.clear()  # what other tests wrapped would show in a message
    for name, call in CASES.items():
        try:
            result = call()
            lines.append(f"{name}\n    no error: {result!r}\n")
        except Exception as error:
            lines.append(f"{name}\n    {type(error).__name__}: {error}\n")
    registry.functions.clear()
    return "\n".join(lines)


def test_every_message_reads_as_agreed():
    """Compared with the reviewed wording."""
    assert _messages() == FILE.read_text()


def test_every_error_is_one_of_ours():
    """One base class catches them all, and it is a ValueError; a missing key of a mapping is a KeyError."""
    for call in CASES.values():
        with pytest.raises((tm.TallymarkError, KeyError)):
            call()


if __name__ == "__main__":
    FILE.write_text(_messages())
