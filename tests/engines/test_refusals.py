"""Errors of ours through engines that make text of them."""

from __future__ import annotations

import pickle

import pytest

from tallymark import errors
from tallymark.engines.refusals import Refusal, attempt, one_thread, refused_in, refusing, telling
from tallymark.threads import get_threads, set_threads

SENTENCE = 'column "y" {of} \\ `p`\nhas тринадцать 🙂 "error": "no"} rows'


@pytest.mark.parametrize("name", [name for name in errors.__all__ if name != "TallymarkError"])
def test_every_error_arrives(name):
    """As its class with its sentence, from the middle of a page of text."""
    with pytest.raises(Refusal) as caught, refusing():
        raise getattr(errors, name)(SENTENCE)
    page = f'Traceback (most recent call last):\n  tallymark.Refusal: {caught.value}\n at org.Spark {{"error": "x"}}'
    with pytest.raises(getattr(errors, name)) as told, telling():
        raise RuntimeError(page)
    assert type(told.value).__name__ == name
    assert str(told.value) == SENTENCE
    assert told.value.__suppress_context__


def test_other_errors_stay():
    """Those of the engine, on either side."""
    with pytest.raises(RuntimeError, match="the disk"), telling():
        raise RuntimeError("the disk is gone")
    with pytest.raises(OSError, match="the disk"), refusing():
        raise OSError("the disk is gone")
    with pytest.raises(OSError, match="the disk"):
        attempt(_fails)
    assert refused_in("tallymark refuses {}") is None


def _fails():
    raise OSError("the disk is gone")


def test_an_error_that_is_an_answer():
    """What an engine should not try again is handed over as a value, and pickles."""

    def refuses():
        raise errors.WeightError(SENTENCE)

    found = pickle.loads(pickle.dumps(attempt(refuses)))
    assert isinstance(found, Refusal)
    assert isinstance(found.original(), errors.WeightError)
    assert str(found.original()) == SENTENCE
    assert attempt(lambda: b"tally") == b"tally"
    assert type(Refusal("Unheard", "of").original()) is errors.TallymarkError


def test_workers_take_one_thread(monkeypatch):
    """Unless the environment says how many."""
    before = get_threads()
    try:
        set_threads(3)
        monkeypatch.setenv("TALLYMARK_THREADS", "3")
        one_thread()
        assert get_threads() == 3
        monkeypatch.delenv("TALLYMARK_THREADS")
        one_thread()
        assert get_threads() == 1
    finally:
        set_threads(before)
