"""What to do with every round: print it, show progress, write it down, keep the best model.

A callback is any function of a `Round`. One that has a method `close` is closed after the last round.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import IO, Any, NoReturn

from tallymark.data.arguments import check_path, describe
from tallymark.errors import ParameterError
from tallymark.intervals.settings import check_least
from tallymark.optional_packages import needed
from tallymark.rendering.text import printable
from tallymark.training.history import Round


class Console:
    """Print a line for every evaluation, or for every n-th and the last; `write` replaces print.

    >>> from tallymark.training import EvalSet, Evaluator
    >>> evaluator = Evaluator(["mae"], [EvalSet("valid", [1.0, 2.0])], callbacks=[Console()])
    >>> found = evaluator.step(0, {"valid": [1.0, 3.0]})
    [   0]  valid-mae: 0.500000
    """

    def __init__(self, every: int = 1, *, write: Callable[[str], object] = print) -> None:
        self.every = check_least("every", every, 1)
        self.write = write
        self._seen = 0

    def __call__(self, round: Round) -> None:
        """Print the line of the round, unless it was skipped."""
        if not round.results:
            return
        if self._seen % self.every == 0 or round.action == "stop":
            self.write(printable(round.line))
        self._seen += 1


class Progress:
    """A progress bar for a number of rounds, with the values of the last evaluation; it needs the package rich."""

    def __init__(self, rounds: int, *, console: Any = None) -> None:
        total = check_least("rounds", rounds, 1)
        with needed("Progress", "rich", extra="cli"):
            from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
            from rich.progress import Progress as Bar
        columns = (
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.description}", markup=False),
        )
        self._bar = Bar(*columns, console=console)
        self._task = self._bar.add_task("", total=total)

    def __call__(self, round: Round) -> None:
        """Move the bar to this round."""
        self._bar.start()
        shown: dict[str, Any] = {} if not round.line else {"description": printable(round.line.partition("]  ")[2])}
        self._bar.update(self._task, completed=round.round + 1, **shown)

    def close(self) -> None:
        """Leave the bar as it is."""
        self._bar.stop()

    def __reduce__(self) -> NoReturn:
        raise ParameterError("a Progress cannot be copied or pickled, since it draws on a terminal; make a new one")


class JsonLines:
    """Write every evaluation to a file, as one line of JSON; `History.read` reads it back.

    With ``append=True`` lines are added to those of an earlier run. Each line is on disk when the next round starts.
    """

    def __init__(self, path: str | Path, *, append: bool = False) -> None:
        self.path = Path(check_path(path))
        self._file: IO[str] | None = None
        self._mode = "a" if append else "w"

    def __call__(self, round: Round) -> None:
        """Write the line of the round, unless it was skipped."""
        if not round.results:
            return
        if self._file is None:
            self._file = self.path.open(self._mode, encoding="utf-8")
            self._mode = "a"
        self._file.write(round.to_json() + "\n")
        self._file.flush()

    def close(self) -> None:
        """Close the file; a later round opens it again."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_file": None}  # a copy opens the file again, to add to it


class Checkpoint:
    """Call a function in every best round, to save the model.

    >>> from tallymark.training import EvalSet, Evaluator
    >>> saved = []
    >>> keep = Checkpoint(lambda round: saved.append(round.round))
    >>> evaluator = Evaluator(["mae"], EvalSet("valid", [1.0, 2.0]), callbacks=keep)
    >>> rounds = [evaluator.step(k, {"valid": [1.0, p]}) for k, p in enumerate((4.0, 3.0, 3.5))]
    >>> saved
    [0, 1]
    """

    def __init__(self, save: Callable[[Round], object]) -> None:
        if not callable(save):
            raise ParameterError(
                argument="save", expected="be a function of a Round that saves the model", got=describe(save)
            )
        self.save = save

    def __call__(self, round: Round) -> None:
        """Save, if the round is the best so far."""
        if round.improved:
            self.save(round)
