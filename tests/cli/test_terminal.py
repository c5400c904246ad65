"""In a terminal: colours, a bar, questions. The terminal is a pseudo one."""

from __future__ import annotations

import os
import pty
import select
import signal
import subprocess
import sys
from contextlib import suppress

import pytest

from tests.cli.conftest import environment

pytestmark = pytest.mark.slow

EVALUATE = ("--truth", "minutes", "--prediction", "predicted")


class Terminal:
    """A process whose standard streams are a terminal of eighty columns."""

    def __init__(self, *args, cwd, **more):
        self._ours, theirs = pty.openpty()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tallymark", *map(str, args)],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env=environment(COLUMNS="80", LINES="40", **more),
            cwd=cwd,
            start_new_session=True,
        )
        os.close(theirs)
        self.shown = ""

    def until(self, text):
        """Read on until a text is shown."""
        while text not in self.shown:
            self._read()

    def type(self, text):
        """What a person types."""
        os.write(self._ours, text.encode())

    def interrupt(self):
        """What Ctrl-C does; again, as a person would, where it came just before the question began to wait."""
        for _ in range(6):
            self._process.send_signal(signal.SIGINT)
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(timeout=10)
                return

    def end(self):
        """Read all there is, and the exit code."""
        try:
            while True:
                self._read()
        except OSError:  # which is how a terminal says that nobody writes any more
            pass
        os.close(self._ours)
        return self._process.wait(timeout=60)

    def _read(self):
        if not select.select([self._ours], [], [], 60)[0]:
            self._process.kill()
            raise AssertionError(f"nothing more is shown after {self.shown!r}")
        block = os.read(self._ours, 1 << 16)
        if not block:
            raise OSError("the terminal is closed")
        self.shown += block.decode(errors="replace")


def test_choose_asks_a_person(tmp_path):
    """One question after the other, as far as the answers go; a question mark leaves one open."""
    terminal = Terminal("choose", cwd=tmp_path)
    terminal.until("task: ")
    assert "clustering" in terminal.shown
    terminal.type("gardening\n")
    terminal.until("'gardening' is not one of")
    terminal.type("clustering\n")
    terminal.until("Are the true clusters known?")
    terminal.type("yes\n")
    terminal.until("Must unrelated clusterings score 0")
    terminal.type("yes\n")
    terminal.until("Are some true clusters much smaller than others?")
    terminal.type("\n")
    terminal.until("May a true cluster be split into several predicted ones?")
    terminal.type("no\n")
    assert terminal.end() == 0
    assert "adjusted_rand" in terminal.shown
    assert "v_measure" in terminal.shown
    assert "homogeneity" not in terminal.shown
    assert "still open" in terminal.shown


def test_choose_can_be_left(tmp_path):
    """By an interrupt: 130."""
    terminal = Terminal("choose", cwd=tmp_path)
    terminal.until("task: ")
    terminal.interrupt()
    assert terminal.end() == 130
    assert "Traceback" not in terminal.shown


def test_choose_does_not_ask_where_answers_are_given_or_nobody_is_there(tallymark, tmp_path):
    """In a pipe, and with --no-ask."""
    done = tallymark("choose", "clustering", "--truth", "yes", stdin="")
    assert done.returncode == 0
    assert "uneven_sizes" in done.stdout
    terminal = Terminal("choose", "clustering", "--no-ask", cwd=tmp_path)
    assert terminal.end() == 0
    assert "still open" in terminal.shown


def test_a_terminal_gets_colours_unless_no_color_is_set(tmp_path, rows):
    """Unless NO_COLOR says not to."""
    terminal = Terminal("evaluate", rows, *EVALUATE, cwd=tmp_path)
    assert terminal.end() == 0
    assert "\x1b[" in terminal.shown
    plain = Terminal("evaluate", rows, *EVALUATE, cwd=tmp_path, NO_COLOR="1")
    assert plain.end() == 0
    assert "\x1b[3" not in plain.shown
    assert "RMSE" in plain.shown


@pytest.mark.slow
def test_long_work_shows_a_progress_bar_on_stderr(tmp_path):
    """On standard error, where a person watches; it goes away."""
    path = tmp_path / "long[" / "x]z.csv"  # with what would be markup
    path.parent.mkdir()
    path.write_text("minutes,predicted\n" + "31.5123,30.2519\n" * 1_500_000)
    terminal = Terminal("evaluate", path.relative_to(tmp_path), *EVALUATE, cwd=tmp_path)
    assert terminal.end() == 0
    assert "long[/x]z.csv" in terminal.shown
    assert "%" in terminal.shown
