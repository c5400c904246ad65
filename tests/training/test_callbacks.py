"""Callbacks: the console line, the progress bar, lines of JSON, checkpoints, and plain functions."""

from __future__ import annotations

import importlib
import io
import json
import sys

import pytest

import tallymark as tm


def train(values, callbacks, **given):
    sets = [tm.training.EvalSet("train", [0.0]), tm.training.EvalSet("valid", [0.0])]
    evaluator = tm.training.Evaluator(["mae"], sets, callbacks=callbacks, **given)
    for k, value in enumerate(values):
        if evaluator.step(k, {"train": [value / 2], "valid": [value]}).action == "stop":
            break
    return evaluator


def test_the_console_prints_one_line_per_round(capsys):
    """Round, sets and metrics in one line, with six decimals."""
    sets = [tm.training.EvalSet("train", [0.0]), tm.training.EvalSet("valid", [0.0])]
    evaluator = tm.training.Evaluator(["rmse"], sets, callbacks=tm.training.Console())
    evaluator.step(0, {"train": [0.5], "valid": [0.6]})
    evaluator.step(12345, {"train": [1e-7], "valid": [1234567.0]})
    assert capsys.readouterr().out.splitlines() == [
        "[   0]  train-rmse: 0.500000  valid-rmse: 0.600000",
        "[12345]  train-rmse: 0.000000  valid-rmse: 1234567.000000",
    ]


def test_the_console_may_print_every_nth_line():
    """Every n-th evaluation and the last; skipped rounds have no line; control characters are not printed."""
    lines = []
    train(
        [5.0, 4.0, 3.0, 3.0, 3.0],
        tm.training.Console(2, write=lines.append),
        early_stopping=tm.training.EarlyStopping(2),
    )
    assert [line[:6] for line in lines] == ["[   0]", "[   2]", "[   4]"]
    lines.clear()
    train([5.0, 4.0, 3.0], tm.training.Console(write=lines.append), period=2)
    assert [line[:6] for line in lines] == ["[   0]", "[   2]"]
    tm.training.Evaluator(
        "mae", tm.training.EvalSet("a\x1b[2J", [0.0]), callbacks=tm.training.Console(write=lines.append)
    ).step(0, [1.0])
    assert "\x1b" not in lines[-1]


def test_a_plain_function_gets_every_round():
    """The skipped ones too, and the reports."""
    seen = []
    train([3.0, 2.0, 4.0], seen.append, period=2)
    assert [each.action for each in seen] == ["improved", "skip", "continue"]
    assert seen[0].reports["valid"]["mae"] == 3.0


def test_json_lines_can_be_read_back(tmp_path):
    """One per evaluation, each complete when the next round starts; a history that can be read back."""
    path = tmp_path / "log.jsonl"
    lengths = []
    evaluator = train(
        [3.0, 2.0, 2.5], [tm.training.JsonLines(path), lambda r: lengths.append(path.read_text().count("\n"))]
    )
    assert lengths == [1, 2, 3]
    evaluator.close()
    assert [json.loads(line)["round"] for line in path.read_text().splitlines()] == [0, 1, 2]
    assert tm.training.History.read(path).to_dict() == evaluator.history.to_dict()
    sets = [tm.training.EvalSet("train", [0.0]), tm.training.EvalSet("valid", [0.0])]
    log = tm.training.JsonLines(path, append=True)
    with tm.training.Evaluator(["mae"], sets, callbacks=log, history=tm.training.History.read(path)) as later:
        later.step(3, {"train": [0.5], "valid": [1.0]})
    assert len(tm.training.History.read(path)) == 4
    train([1.0], tm.training.JsonLines(path)).close()
    assert len(tm.training.History.read(path)) == 1


def test_checkpoints_save_every_best_round():
    """The function is called for every best round, even if it is the one after which to stop."""
    saved = []
    train([3.0, 4.0, 2.0, 1.0], tm.training.Checkpoint(lambda round: saved.append(round.round)))
    assert saved == [0, 2, 3]
    saved.clear()
    rules = [tm.training.EarlyStopping(9), tm.training.EarlyStopping(1, better="higher")]
    evaluator = train([3.0, 2.0], tm.training.Checkpoint(lambda round: saved.append(round.round)), early_stopping=rules)
    assert evaluator.stopped
    assert saved == [0, 1]
    with pytest.raises(tm.ParameterError, match="save"):
        tm.training.Checkpoint("model.bin")


def test_the_progress_bar_shows_the_last_values():
    """Shows how far it is and the last values, and is closed at the stop."""
    rich = importlib.import_module("rich.console")
    out = io.StringIO()
    console = rich.Console(file=out, width=120, force_terminal=True)
    bar = tm.training.Progress(10, console=console)
    train([3.0, 4.0, 5.0], bar, early_stopping=tm.training.EarlyStopping(2))
    assert bar._bar.finished is False
    assert not bar._bar.live.is_started
    assert "3/10" in out.getvalue()
    assert "valid-mae: 5.000000" in out.getvalue()


def test_the_error_without_rich_says_what_to_install(monkeypatch):
    """The error says what to install."""
    monkeypatch.setitem(sys.modules, "rich.progress", None)
    with pytest.raises(tm.MissingPackageError, match=r"tallymark\[cli\]"):
        tm.training.Progress(10)


def test_callbacks_are_closed_after_the_stop():
    """After the stop, and at the end of a with block; those without close are left alone."""

    class Closes:
        closed = 0

        def __call__(self, round):
            pass

        def close(self):
            self.closed += 1

    one = Closes()
    train([1.0, 2.0], [one, lambda round: None], early_stopping=tm.training.EarlyStopping(1))
    assert one.closed == 1
    with tm.training.Evaluator("mae", tm.training.EvalSet("v", [0.0]), callbacks=one) as evaluator:
        evaluator.step(0, [1.0])
    assert one.closed == 2


def test_odd_numbers_are_refused():
    """No line for every zeroth round, no bar of no rounds."""
    for bad in (lambda: tm.training.Console(0), lambda: tm.training.Progress(0)):
        with pytest.raises(tm.ParameterError):
            bad()
