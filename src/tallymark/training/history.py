"""Rounds of evaluation and the history of them, as a table that prints and exports."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from tallymark.data.arguments import check_path, describe
from tallymark.errors import FileError, ParameterError, UndefinedError
from tallymark.evaluation.report import Report
from tallymark.metrics.base import Better, Metric
from tallymark.metrics.listing import show_better
from tallymark.metrics.naming import metric
from tallymark.rendering.exports import DataFrameExport, to_json
from tallymark.rendering.html_table import to_html
from tallymark.rendering.table import Table
from tallymark.rendering.text import to_text
from tallymark.training.stopping import same_metric

if TYPE_CHECKING:
    from tallymark.rendering.plots.plot import Plot

_MOST_LISTED = 100  # rounds in the table of a plot
ACTIONS = ("skip", "continue", "improved", "stop")


class EvalResult(NamedTuple):
    """One value of one metric on one eval set; `reason` says why it is undefined."""

    set: str
    metric: str
    value: float
    better: Better
    reason: str | None = None


class Round(NamedTuple):
    """The result of a round and the action to take.

    `action` is "skip" for a round that is not evaluated, "improved" for the best one so far, "stop" when it is time to
    stop, else "continue"; `improved` says whether it is the best, even if training stops after it. `reports` has the
    full reports, by eval set.
    """

    round: int
    results: tuple[EvalResult, ...] = ()
    action: str = "continue"
    improved: bool = False
    reports: Mapping[str, Report] = {}

    def value(self, eval_set: str, metric: str | Metric) -> float:
        """The value of a metric on an eval set."""
        for result in self.results:
            if result.set == eval_set and _is_called(result.metric, metric):
                return result.value
        raise KeyError(f"round {self.round} has no {metric} of {eval_set!r}")

    @property
    def line(self) -> str:
        """The round in one line; empty for a skipped one.

        >>> Round(0, (EvalResult("train", "rmse", 0.5, "lower"), EvalResult("valid", "rmse", 0.6, "lower"))).line
        '[   0]  train-rmse: 0.500000  valid-rmse: 0.600000'
        """
        values = [f"{result.set}-{result.metric}: {result.value:.6f}" for result in self.results]
        return "  ".join([f"[{self.round:>4}]", *values]) if values else ""

    def to_dict(self) -> dict[str, Any]:
        """The round as plain data, without the reports."""
        results = [
            {key: value for key, value in result._asdict().items() if key != "reason" or value is not None}
            for result in self.results
        ]
        return {"round": self.round, "action": self.action, "improved": self.improved, "results": results}

    def to_json(self) -> str:
        """The round as one line of JSON; undefined values are null."""
        return to_json(self.to_dict(), None)

    @staticmethod
    def from_dict(data: Any) -> Round:
        """The inverse of `to_dict`."""
        try:
            results = tuple(_read_result(result) for result in data["results"])
            number, action, improved = data["round"], data["action"], data["improved"]
        except (KeyError, TypeError, ValueError) as error:
            raise ParameterError(
                f"a round of a history must have round, action, improved and results: {error!r}"
            ) from None
        if isinstance(number, bool) or not isinstance(number, int) or action not in ACTIONS:
            raise ParameterError(
                f"a round of a history must have a number and an action; they were {number!r}, {action!r}"
            )
        return Round(number, results, action, bool(improved))


def _read_result(data: Any) -> EvalResult:
    value = math.nan if data["value"] is None else float(data["value"])
    return EvalResult(str(data["set"]), str(data["metric"]), value, data["better"], data.get("reason"))


class History(Sequence[Round], DataFrameExport):
    """The evaluated rounds, in order. Reports are dropped, so that a long training needs little memory.

    >>> history = History([Round(0, (EvalResult("valid", "rmse", 0.6, "lower"),), "improved", True)])
    >>> history.values("valid", "rmse")
    {0: 0.6}
    """

    _types = {"round": int, "value": float, **dict.fromkeys(("set", "metric", "better", "reason", "action"), str)}

    def __init__(self, rounds: Iterable[Round] = ()) -> None:
        self._rounds: list[Round] = []
        if not isinstance(rounds, Iterable):
            raise ParameterError(argument="rounds", expected="be a list of rounds", got=describe(rounds))
        for each in rounds:
            self.append(each)

    def append(self, item: Round) -> None:
        """Add an evaluated round, which must come after the last."""
        if not isinstance(item, Round):
            raise ParameterError(f"a history must contain rounds; got {describe(item)}")
        if self._rounds and item.round <= self._rounds[-1].round:
            raise ParameterError(
                argument="round", expected="increase", got=f"{item.round} after {self._rounds[-1].round}"
            )
        self._rounds.append(Round(item.round, item.results, item.action, item.improved))

    def __getitem__(self, place: Any) -> Any:
        return self._rounds[place]

    def __len__(self) -> int:
        return len(self._rounds)

    def __iter__(self) -> Iterator[Round]:
        return iter(self._rounds)

    def values(self, eval_set: str, metric: str | Metric) -> dict[int, float]:
        """The values of a metric on an eval set, by round."""
        values: dict[int, float] = {}
        for each in self._rounds:
            for result in each.results:
                if result.set == eval_set and _is_called(result.metric, metric):
                    values[each.round] = result.value
        if not values:
            known = sorted({f"{result.set}-{result.metric}" for each in self for result in each.results})
            raise KeyError(f"the history has no {metric} of {eval_set!r}; it has {', '.join(known) or 'no rounds'}")
        return values

    def columns(self) -> dict[str, list[Any]]:
        """One row per value: the columns of the data frames."""
        rows = [
            (
                each.round,
                result.set,
                result.metric,
                result.value,
                show_better(result.better),
                result.reason,
                each.action,
            )
            for each in self
            for result in each.results
        ]
        names = ("round", "set", "metric", "value", "better", "reason", "action")
        return {name: [row[k] for row in rows] for k, name in enumerate(names)}

    def _frame(self) -> Mapping[str, Any]:
        return self.columns()

    def plot(self, metrics: Iterable[str | Metric] | None = None) -> Plot:
        """Learning curves: a panel for each metric, or for each of `metrics`, with a line for each eval set, and a mark
        at the best round, which is the last that improved. Needs matplotlib."""
        import numpy as np

        from tallymark.rendering.plots.learning import LearningPanel, learning_plot

        columns = self.columns()
        sets, keys = (list(dict.fromkeys(columns[name])) for name in ("set", "metric"))
        if metrics is not None:
            keys = [_find_key(each, keys) for each in ([metrics] if isinstance(metrics, (str, Metric)) else metrics)]
        rounds, values = (np.array(columns[name], np.float64) for name in ("round", "value"))
        set_of, metric_of = (np.array(columns[name], object) for name in ("set", "metric"))
        panels = []
        for key in keys:
            rows_by_set = {name: (set_of == name) & (metric_of == key) for name in sets}
            lines = {
                name: (rounds[rows], values[rows])
                for name, rows in rows_by_set.items()
                if np.isfinite(values[rows]).any()
            }
            if lines:
                panels.append(LearningPanel(_display_name(key), lines))
        if not panels:
            raise UndefinedError("there are no learning curves: the history has no finite value")
        best = max((each.round for each in self if each.improved), default=None)
        return learning_plot(panels, sets, best, self._plot_table(best))

    def _plot_table(self, best: int | None) -> Table:
        """The rounds as a table; of very many, some of them with the last and the best."""
        step = -(-len(self) // _MOST_LISTED)
        listed = [each for k, each in enumerate(self) if k % step == 0 or each.round in (best, self[-1].round)]
        notes = [] if step == 1 else [f"{len(listed):,} of {len(self):,} evaluations: see .to_pandas()"]
        return History(listed)._table()._replace(notes=notes)

    def to_dict(self) -> dict[str, Any]:
        """The history as plain data."""
        return {"rounds": [each.to_dict() for each in self]}

    def to_json(self, *, indent: int | None = 2) -> str:
        """The history as JSON; undefined values are null."""
        return to_json(self.to_dict(), indent)

    @staticmethod
    def from_json(text: str) -> History:
        """The history that `to_json` wrote, or JSON lines of one round each."""
        import json  # slow to load, and few ask

        if not isinstance(text, str):
            raise ParameterError(f"a history must be text in JSON; got {describe(text)}")
        try:
            data = json.loads(text)
        except ValueError:
            try:
                data = {"rounds": [json.loads(line) for line in text.splitlines() if line.strip()]}
            except ValueError as error:
                raise ParameterError(
                    f"a history must be JSON, or JSON Lines with one round per line: {error}"
                ) from None
        rounds = data.get("rounds", [data]) if isinstance(data, dict) else data
        if not isinstance(rounds, list):
            raise ParameterError(f"a history must contain a list of rounds; got {type(rounds).__name__}")
        return History(map(Round.from_dict, rounds))

    @staticmethod
    def read(path: str | Path) -> History:
        """The history in a file that `to_json` or the callback `JsonLines` wrote."""
        place = check_path(path)
        try:
            text = Path(place).read_text(encoding="utf-8")
        except OSError as error:
            raise FileError(f"the history `{place}` could not be read: {error.strerror or error}") from error
        except UnicodeDecodeError as error:
            raise FileError(f"the history `{place}` is not valid UTF-8: {error}") from error
        return History.from_json(text)

    def _table(self) -> Table:
        headings = list(dict.fromkeys(f"{result.set}-{result.metric}" for each in self for result in each.results))
        rows = []
        for each in self:
            values = {f"{result.set}-{result.metric}": result.value for result in each.results}
            rows.append((each.round, *(values.get(key, "") for key in headings), each.action))
        title = "1 evaluation" if len(self) == 1 else f"{len(self):,} evaluations"
        return Table(title, ("round", *headings, "action"), rows, numbers=("round", *headings))

    def __str__(self) -> str:
        return to_text(self._table())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return to_html(self._table())


def _find_key(wanted: str | Metric, keys: Sequence[str]) -> str:
    for key in keys:
        if _is_called(key, wanted):
            return key
    raise KeyError(f"the history has no {wanted}; it has {', '.join(keys) or 'no rounds'}")


def _display_name(key: str) -> str:
    try:
        return metric(key).display_name
    except ParameterError:  # a key of the caller's own
        return key


def _is_called(key: str, wanted: str | Metric) -> bool:
    try:
        return key == wanted or same_metric(key, metric(key), wanted)
    except ParameterError:  # a key of the caller's own
        return False
