"""Errors of ours through engines that make text of them."""

from __future__ import annotations

import pickle

import pytest

from tallymark import errors
from tallymark.sources.worker_errors import (
    WorkerError,
    catch_error,
    decode_errors,
    encode_errors,
    find_error,
    use_one_thread,
)
from tallymark.threads import get_threads, set_threads

SENTENCE = 'column "y" {of} \\ `p`\nhas тринадцать 🙂 "error": "no"} rows'


@pytest.mark.parametrize("name", [name for name in errors.__all__ if name != "TallymarkError"])
def test_every_error_of_a_worker_arrives_with_its_class(name):
    """As its class with its sentence, from the middle of a page of text."""
    with pytest.raises(WorkerError) as caught, encode_errors():
        raise getattr(errors, name)(SENTENCE)
    page = (
        f'Traceback (most recent call last):\n  tallymark.WorkerError: {caught.value}\n at org.Spark {{"error": "x"}}'
    )
    with pytest.raises(getattr(errors, name)) as told, decode_errors():
        raise RuntimeError(page)
    assert type(told.value).__name__ == name
    assert str(told.value) == SENTENCE
    assert told.value.__suppress_context__


def test_errors_of_the_engine_pass_unchanged():
    """Those of the engine, on either side."""
    with pytest.raises(RuntimeError, match="the disk"), decode_errors():
        raise RuntimeError("the disk is gone")
    with pytest.raises(OSError, match="the disk"), encode_errors():
        raise OSError("the disk is gone")
    with pytest.raises(OSError, match="the disk"):
        catch_error(_fails)
    assert find_error("tallymark refuses {}") is None


def _fails():
    raise OSError("the disk is gone")


def test_an_error_that_is_an_answer():
    """What an engine should not try again is handed over as a value, and pickles."""

    def refuses():
        raise errors.WeightError(SENTENCE)

    found = pickle.loads(pickle.dumps(catch_error(refuses)))
    assert isinstance(found, WorkerError)
    assert isinstance(found.error, errors.WeightError)
    assert str(found.error) == SENTENCE
    assert catch_error(lambda: b"tally") == b"tally"


def test_the_fields_of_an_error_arrive():
    """So that the caller can name its arguments and write it in its own words."""
    hint = errors.Text('Pass {missing="drop"}, or {}, for {}', errors.Argument("weights"), errors.Text("{y_true}"))
    error = errors.DomainError(argument="y_pred", expected="be finite", got="{nan}", place="row 3", hint=hint)
    told = find_error(f"a page {WorkerError(error.rename(y_pred='prediction'))} of text")
    assert told is not None
    assert str(told) == str(error)
    assert (told.argument, told.place, told.got) == ("prediction", "row 3", "{nan}")
    assert str(told.rename(y_true="truth")).endswith('Pass missing="drop", or `weights`, for `truth`')


@pytest.mark.parametrize("held", ["", "!!!!", "bm90IGpzb24=", "e30=", "W10=", "eyJlcnJvciI6IFtdfQ=="])
def test_a_text_that_only_looks_like_an_error_of_ours(held):
    """Labels and file names can hold any text: it is not read as more than that."""
    assert find_error(f"tallymark refuses <{held}>") is None


def test_an_error_of_a_later_release():
    """Is at least one of ours."""
    held = {**errors.WeightError("of").to_dict(), "error": "Unheard"}
    assert type(errors.from_dict(held)) is errors.TallymarkError


def test_workers_take_one_thread(monkeypatch):
    """Unless the environment says how many."""
    before = get_threads()
    try:
        set_threads(3)
        monkeypatch.setenv("TALLYMARK_THREADS", "3")
        use_one_thread()
        assert get_threads() == 3
        monkeypatch.delenv("TALLYMARK_THREADS")
        use_one_thread()
        assert get_threads() == 1
    finally:
        set_threads(before)
