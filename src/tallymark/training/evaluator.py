"""Evaluator: metrics on several eval sets in every round of a training, and what to do after each.

Eval sets are evaluated in parallel only where a metric sorts the rows and there are many: sums take less time than it
takes to start a thread.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Self

from tallymark.data.arguments import describe
from tallymark.errors import ParameterError, Text
from tallymark.evaluation.default_metrics import MetricsLike, select_metrics
from tallymark.evaluation.evaluate import check_errors
from tallymark.evaluation.report import Report, reason_text
from tallymark.intervals.settings import check_least
from tallymark.metrics.base import Metric
from tallymark.threads import map_in_order
from tallymark.training.eval_set import EvalSet
from tallymark.training.history import EvalResult, History, Round
from tallymark.training.stopping import (
    EarlyStopping,
    KeepBest,
    Observation,
    StoppingRule,
    StoppingRules,
    same_metric,
)

Predictions = Mapping[str, object]
Callback = Callable[[Round], object]
_TRAINING = ("train", "training", "learn")  # what trainers call the rows that a model is fitted to
_MANY_ROWS = 32_768  # from which on what is sorted takes longer than threads to start; sums are faster than that


class Evaluator:
    """Evaluates predictions round by round: keeps the history, finds the best round and says when to stop.

    Args:
        eval_sets: The sets to evaluate, in this order.
        period: Rounds that are not a multiple of it are skipped.
        early_stopping: A rule, several of which any may stop, or the patience of `EarlyStopping`. A rule without
            `monitor` follows the first metric on the only eval set that is not called "train", "training" or "learn";
            if there are several, it must name one. Without a rule, the best round is that of the first such set.
        callbacks: Functions that are called with every `Round`.
        history: The history of an earlier run, from which training continues.
        errors: "raise" raises the error of a metric that cannot be computed; "report" makes its value NaN.

    >>> from tallymark.training import EarlyStopping
    >>> evaluator = Evaluator(["mae"], [EvalSet("valid", [1.0, 2.0])], early_stopping=EarlyStopping(2))
    >>> [evaluator.step(k, {"valid": [1.0, p]}).action for k, p in enumerate((4.0, 3.0, 3.0, 3.5))]
    ['improved', 'improved', 'continue', 'stop']
    >>> evaluator.best_round, evaluator.best_value
    (1, 0.5)
    """

    def __init__(
        self,
        metrics: MetricsLike,
        eval_sets: EvalSet | Iterable[EvalSet],
        *,
        period: int = 1,
        early_stopping: StoppingRule | Iterable[StoppingRule] | int | None = None,
        callbacks: Callback | Iterable[Callback] = (),
        history: History | None = None,
        errors: str = "raise",
    ) -> None:
        check_errors(errors)
        self.metrics: dict[str, Metric] | None = None if metrics is None else select_metrics(metrics)
        self.eval_sets = _sets_by_name(eval_sets)
        self.period = check_least("period", period, 1)
        if not callable(callbacks) and not isinstance(callbacks, Iterable):
            raise ParameterError(argument="callbacks", expected="be functions of a Round", got=describe(callbacks))
        self.callbacks: list[Callback] = [callbacks] if callable(callbacks) else list(callbacks)
        for callback in self.callbacks:
            if not callable(callback):
                raise ParameterError(argument="callbacks", expected="be functions of a Round", got=describe(callback))
        self._errors = errors
        self.stopping: StoppingRule = _to_rule(early_stopping)
        self._followed: list[tuple[StoppingRule, str, str]] | None = None
        self._sorts = False
        for rule in self.stopping.rules():
            self._find_set(rule)
        if self.metrics is not None:
            self._follow(self.metrics)
        if history is not None and not isinstance(history, History):
            raise ParameterError(argument="history", expected="be a History", got=describe(history))
        self.last_round: int | None = None
        self._earlier = history
        self.reset()

    def step(self, round: int, predictions: Predictions | Callable[[], Predictions]) -> Round:
        """Evaluate the predictions of a round, by eval set; a function is called for them only if they are needed."""
        number = check_least("round", round, 0)
        if self.last_round is not None and number <= self.last_round:
            raise ParameterError(
                argument="round",
                expected="increase",
                got=f"{number} after {self.last_round}",
                hint="Call reset() to start over",
            )
        result = self._evaluate(number, predictions) if self.due(number) else Round(number, action="skip")
        self.last_round = number
        for callback in self.callbacks:
            callback(result)
        if result.action == "stop":
            self.close()
        return result

    def due(self, round: int) -> bool:
        """Whether a round is evaluated."""
        return round % self.period == 0

    def _evaluate(self, number: int, predictions: Predictions | Callable[[], Predictions]) -> Round:
        predicted = self._check(predictions() if callable(predictions) else predictions)
        names = list(self.eval_sets)
        rows = max(eval_set.n for eval_set in self.eval_sets.values()) if self._sorts else 0

        def report(place: int) -> Report:
            name = names[place]
            return self.eval_sets[name].evaluate(predicted[name], self.metrics, errors=self._errors)

        reports = dict(zip(names, map_in_order(report, len(names), rows if rows >= _MANY_ROWS else 0), strict=True))
        if self.metrics is None or self._followed is None:
            first = reports[names[0]]
            self.metrics = {key: first.cell(key).metric for key in first}
            self._followed = self._follow(self.metrics)
        results = [result for name, set_report in reports.items() for result in _eval_results(name, set_report)]
        values = [
            _single_value(reports[name], key, required=not isinstance(rule, KeepBest))
            for rule, name, key in self._followed
        ]
        for (rule, name, key), value in zip(self._followed, values, strict=True):
            rule.observe(Observation(number, value, self.metrics[key], self.eval_sets[name], predicted[name]))
        return self._make_round(number, results, reports)

    def _make_round(self, number: int, results: list[EvalResult], reports: dict[str, Report]) -> Round:
        stops = self.stopping.decide() if isinstance(self.stopping, StoppingRules) else self.stopping.stopped
        action = "stop" if stops else "improved" if self.stopping.improved else "continue"
        result = Round(number, tuple(results), action, self.stopping.improved, reports)
        self.history.append(result)
        return result

    def _check(self, predictions: object) -> Predictions:
        if not isinstance(predictions, Mapping):
            if len(self.eval_sets) > 1 or predictions is None:
                raise ParameterError(
                    argument="predictions",
                    expected="map the names of eval sets to predictions",
                    got=describe(predictions),
                )
            return {next(iter(self.eval_sets)): predictions}
        lacking = [name for name in self.eval_sets if name not in predictions]
        unknown = [name for name in predictions if name not in self.eval_sets]
        if lacking or unknown:
            what = [f"{name!r} is missing" for name in lacking[:1]] + [
                f"{name!r} is not one of them" for name in unknown[:1]
            ]
            raise ParameterError(
                Text(
                    "{predictions} must be for the eval sets {}; {}",
                    ", ".join(map(repr, self.eval_sets)),
                    ", and ".join(what),
                ),
                argument="predictions",
            )
        return predictions

    def _follow(self, metrics: dict[str, Metric]) -> list[tuple[StoppingRule, str, str]]:
        """Every rule with the eval set and the key of the metric that it follows; called once the metrics are known."""
        self._sorts = any(item.grows for item in metrics.values())
        followed = []
        for rule in self.stopping.rules():
            name, key = self._find(rule, metrics)
            if not isinstance(rule, KeepBest) or metrics[key].better is not None:
                rule.take_direction(metrics[key])
                followed.append((rule, name, key))
        self._followed = followed
        return followed

    def _find(self, rule: StoppingRule, metrics: dict[str, Metric]) -> tuple[str, str]:
        """The eval set and the key of the metric that a rule follows."""
        name, wanted = self._find_set(rule)
        if wanted is None:
            return name, next(iter(metrics))
        for key, item in metrics.items():
            if same_metric(key, item, wanted):
                return name, key
        sets = f"an eval set ({', '.join(self.eval_sets)}) or " if wanted is rule.monitor else ""
        raise ParameterError(
            argument="monitor", expected=f"name {sets}one of the metrics ({', '.join(metrics)})", got=repr(str(wanted))
        )

    def _find_set(self, rule: StoppingRule) -> tuple[str, str | Metric | None]:
        """The eval set that a rule follows, and the metric as it names it; None if it names none."""
        monitor = rule.monitor
        if isinstance(monitor, tuple):
            if monitor[0] not in self.eval_sets:
                sets = ", ".join(self.eval_sets)
                raise ParameterError(argument="monitor", expected=f"name an eval set ({sets})", got=repr(monitor[0]))
            return monitor
        if isinstance(monitor, str):
            if monitor in self.eval_sets:
                return monitor, None
            name, dash, key = monitor.partition("-")  # as a line of the console has both
            if dash and name in self.eval_sets:
                return name, key
        candidates = [name for name in self.eval_sets if name.lower() not in _TRAINING] or list(self.eval_sets)
        if len(candidates) > 1 and not isinstance(rule, KeepBest):
            raise ParameterError(
                argument="monitor",
                expected=f"name the eval set to follow, one of {', '.join(map(repr, candidates))}",
                hint=f"Pass monitor={candidates[0]!r}",
            )
        return candidates[0], monitor

    @property
    def best_round(self) -> int | None:
        """The best round; None before the first finite value."""
        return self.stopping.best_round

    @property
    def best_value(self) -> float | None:
        """The best value; None before the first finite one."""
        return self.stopping.best_value

    @property
    def stopped(self) -> bool:
        """Whether it is time to stop."""
        return self.stopping.stopped

    @property
    def monitor(self) -> tuple[str, str] | None:
        """The eval set and the metric by which the best round is found; None while the metrics are not resolved."""
        return None if not self._followed else self._followed[0][1:]

    def reset(self) -> None:
        """Forget all rounds but those of the history that was given."""
        self._start(self._earlier or History())

    def rewind(self, round: int) -> None:
        """Forget a round and all that follow it, when training continues from an earlier state of its model."""
        self._start(History(each for each in self.history if each.round < round))

    def _start(self, earlier: History) -> None:
        self.stopping.reset()
        self.history = History()
        self.last_round = None
        if len(earlier):
            self._resume(earlier)

    def resume(self, history: History) -> None:
        """Forget all rounds, and continue from those of an earlier run."""
        self._earlier = history
        self.reset()

    def _resume(self, earlier: History) -> None:
        if self._followed is None:
            raise ParameterError(
                argument="metrics", expected=Text("be given where a {history} is, to find their values in it")
            )
        values = []
        for rule, name, key in self._followed:
            try:
                values.append((rule, earlier.values(name, key)))
            except KeyError as error:
                raise ParameterError(
                    argument="history", expected=f"contain the monitored metric: {error.args[0]}"
                ) from None
        for each in earlier:
            for rule, by_round in values:
                if each.round in by_round:
                    rule.replay(Observation(each.round, by_round[each.round]))
            if isinstance(self.stopping, StoppingRules):
                self.stopping.decide()
            self.history.append(each)
        self.last_round = earlier[-1].round

    def close(self) -> None:
        """Let callbacks finish, such as a progress bar. This is automatic when training stops."""
        for callback in self.callbacks:
            finish = getattr(callback, "close", None)
            if callable(finish):
                finish()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __repr__(self) -> str:
        names = ", ".join(self.metrics or ())
        return f"Evaluator([{names}], [{', '.join(self.eval_sets)}], {len(self.history)} evaluations)"


def _sets_by_name(eval_sets: Any) -> dict[str, EvalSet]:
    items: Sequence[Any] = [eval_sets] if isinstance(eval_sets, EvalSet) else list(_iterable(eval_sets))
    for item in items:
        if not isinstance(item, EvalSet):
            raise ParameterError(
                argument="eval_sets", expected='be eval sets, such as EvalSet("valid", y)', got=describe(item)
            )
    by_name = {item.name: item for item in items}
    if not by_name:
        raise ParameterError(argument="eval_sets", expected="contain at least one eval set", got="none")
    if len(by_name) < len(items):
        twice = next(item.name for item in items if sum(other.name == item.name for other in items) > 1)
        raise ParameterError(
            Text("{eval_sets} must have different names; got {} twice", repr(twice)), argument="eval_sets"
        )
    return by_name


def _iterable(value: Any) -> Iterable[Any]:
    if isinstance(value, (str, Mapping)) or not hasattr(value, "__iter__"):
        raise ParameterError(argument="eval_sets", expected="be a list of eval sets", got=describe(value))
    return value  # type: ignore[no-any-return]


def _to_rule(given: Any) -> StoppingRule:
    if given is None:
        return KeepBest()
    if isinstance(given, int) and not isinstance(given, bool):
        return EarlyStopping(given)
    try:
        return given if isinstance(given, StoppingRule) else StoppingRules(given)
    except ParameterError as error:
        raise error.rename(rules="early_stopping") from None


def _single_value(report: Report, key: str, *, required: bool) -> float:
    """The value of a metric that has one number; NaN where it failed, or has several and nobody asked for it."""
    cell = report.cell(key)
    if cell.error is not None:
        return float("nan")
    if not isinstance(cell.value, float):
        if not required:
            return float("nan")
        raise ParameterError(
            Text("{monitor} must be a metric with one number; {} has several, or a table or curve", key),
            argument="monitor",
        )
    return cell.value


def _eval_results(name: str, report: Report) -> list[EvalResult]:
    """One result per number; tables and curves are in the report only."""
    results = []
    for key in report:
        cell = report.cell(key)
        value = None if cell.error is not None else cell.value
        if isinstance(value, float):  # as nearly always
            results.append(EvalResult(name, key, value, cell.metric.better, cell.reason and reason_text(cell)))
        elif not cell.is_table:
            better, reason = cell.metric.better, reason_text(cell)
            for part, each in cell.parts():
                results.append(EvalResult(name, f"{key} · {part}" if part else key, float(each), better, reason))
    return results
