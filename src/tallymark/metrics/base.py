"""Metric: a frozen record whose fields are its parameters, with a formula that reads a state.

`reads`, or `reads_of(target)` where that depends on the predictions, is what a subclass declares; `needs(target)` is
the same for callers, checked and remembered. `interval_reads(target)` adds what only an interval needs, such as squares
and cubes of a term.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Iterable, Mapping
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar, Self, dataclass_transform

from tallymark.data.arrays import Array
from tallymark.data.batch import Batch
from tallymark.data.target import ANY_TARGET, Target, target_of
from tallymark.errors import Argument, KindError, ParameterError, Text, UndefinedError, brief, did_you_mean
from tallymark.intervals.analytic import TOO_LARGE, Interval, NoInterval
from tallymark.metrics import registry
from tallymark.metrics.answer import LIGHT, NO_ROWS, NO_WEIGHT, Answer, Undefined
from tallymark.metrics.parameters import Parameter, show, undefined_choice
from tallymark.states.base import UNIT_BITS, Reads, State
from tallymark.states.resampling.draws import Draws
from tallymark.states.resampling.paired_rows import PairedOutcomes, Placements

if TYPE_CHECKING:
    from inspect import Signature

__all__ = ["Interval", "Metric", "NoInterval", "Undefined"]


Better = str | float | None


FACTS = ("weights", "query", "target", "kind", "classes", "positive", "normalize", "missing")
"""Keywords of a call that say what the data are; the others are parameters of the metric."""

HINTS = {
    **dict.fromkeys(("sample_weight", "sample_weights", "weight"), "Pass weights as weights="),
    "pos_label": "Pass the positive class as positive=",
    "labels": "Pass the classes as classes=",
    "zero_division": "Pass undefined= for the value of an undefined metric, absent= for that of a class in an average",
    **dict.fromkeys(
        ("group", "groups", "group_id", "qid", "qids", "query_id", "query_ids", "queries", "indexes"),
        "Pass queries as query=",
    ),
    "ignore_ties": "Pass the ranking of equal scores as ties=",
    "average_method": "Pass the normalization as norm=",
    **dict.fromkeys(("ci", "by"), "tm.evaluate(y_true, y_pred, metrics) takes it"),
}
PARAMETERS_ELSEWHERE = {
    **dict.fromkeys(("tau", "q", "quantile", "quantiles"), ("alphas", "alpha")),
    "alpha": ("alphas", "delta"),
    "top_k": ("k",),
    **dict.fromkeys(("n_bins", "num_bins"), ("bins",)),
    "multi_class": ("multiclass",),
    "drop_intermediate": ("drop",),
    "eps": ("clip", "epsilon"),
}
"""Parameters in other libraries, and what they may be called here."""

NOT_GIVEN: Any = object()
_MOST_KNOWN = 64
LEAST_WEIGHT = 1 << (UNIT_BITS - 300)


@dataclass_transform(kw_only_default=True, frozen_default=True)
class _Record(type):
    """Collects the parameters of a metric class. A dataclass would do the same at 0.5 ms of import time each."""


class ShownSignature:
    """Answers ``inspect.signature``, for help, notebooks and editors: of a metric class, its parameters; of a metric,
    how it is called, with its parameters by name where the call takes them."""

    def __init__(self, *, takes_parameters: bool = True) -> None:
        self._takes_parameters = takes_parameters

    def __get__(self, instance: Metric | None, owner: type[Metric]) -> Signature:
        from inspect import (
            Parameter,
            Signature,  # slow to load, and only help asks
            signature,
        )

        def keyword(name: str, default: Any) -> Parameter:
            return Parameter(name, Parameter.KEYWORD_ONLY, default=default)

        if instance is None:
            return Signature([keyword(name, parameter.default) for name, parameter in owner._parameters.items()])
        _, *taken = signature(owner.__call__).parameters.values()
        empty, collecting = Parameter.empty, (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)
        facts = [
            each.replace(annotation=empty, default=empty if each.default is NOT_GIVEN else each.default)
            for each in taken
            if each.kind not in collecting
        ]
        given = instance.parameters() if self._takes_parameters else {}
        return Signature([*facts, *(keyword(name, value) for name, value in given.items())])


class _ShownDoc(str):
    """The docstring of a metric class; that of a metric begins with how it is called, as that of a ufunc does."""

    def __get__(self, instance: Metric | None, owner: type[Metric]) -> str:
        if instance is None:
            return self
        from inspect import cleandoc

        text = cleandoc(self)
        if not " ".join(text.split()).startswith(instance.description):  # which is that of a composition with a name
            text = f"{instance.description}\n\n{text}"
        return f"{instance.__name__}{instance.__signature__}\n\n{text}"


class Metric(metaclass=_Record):
    """A state and a formula that reads it.

    A subclass declares its parameters as fields, its facts as class attributes, which state it `reads`, and a formula.
    It is registered under its name as soon as it is defined, so strings, reports and listings know it.
    """

    name: ClassVar[str] = ""
    """Defaults to the class name in snake_case."""
    display: ClassVar[str] = ""
    """The name that people use, such as "ROC AUC"; defaults to the name with spaces."""
    aliases: ClassVar[dict[str, dict[str, Any]]] = {}
    """Other names that strings may use, each with the parameters that it stands for."""
    arguments: ClassVar[tuple[str, ...]] = ("y_true", "y_pred")
    """What the arrays of a call are, where they are not truth and prediction."""
    family: ClassVar[str] = "custom"
    kind: ClassVar[str] = "value"
    """The kind of prediction that the metric reads."""
    kinds: ClassVar[tuple[str, ...]] = ()
    """All kinds that it reads, where there are more."""
    takes: ClassVar[str] = ""
    """What it reads, in words, where the kind alone does not say it."""
    by_query: ClassVar[bool] = False
    """Whether the metric reads queries. In `evaluate` the others read the same rows without them."""
    unit: ClassVar[str] = ""
    at_perfect: ClassVar[float | None] = None
    """The value on perfect predictions."""
    formula: ClassVar[str] = ""
    reading: ClassVar[str] = ""
    landmarks: ClassVar[tuple[tuple[float, str], ...]] = ()
    """Values that mean something of themselves, with what they mean, besides the value on perfect predictions."""
    baselines: ClassVar[tuple[str, ...]] = ()
    """Predictions without features that reports show beside the value: keys of `evaluation.baselines.WORDS`."""
    bands: ClassVar[tuple[float, float] | None] = None
    """From which values on it is fair, and good, where that can be said of any problem; values below are poor."""
    outliers: ClassVar[str] = ""
    """How far a few extreme rows can move the value: "none: ", "low: " or "high: ", and why."""
    related: ClassVar[tuple[str, ...]] = ()
    """Metrics to look at beside it, from other files; those of its own file are related anyway."""
    when_undefined: ClassVar[str] = ""
    pitfalls: ClassVar[tuple[str, ...]] = ()
    samples: ClassVar[tuple[dict[str, Any], ...]] = ({},)
    """Parameters that the law tests try, the defaults among them."""

    no_interval: ClassVar[str] = ""
    """Why no interval can be made of the rows, where that is so."""
    no_bootstrap: ClassVar[str] = ""
    """Why resampling does not tell how far the value may be off, where that is so."""

    undefined: float | str | None = undefined_choice()
    """The replacement of undefined values: None for NaN, a number, or "raise"."""

    __signature__: ClassVar[Any] = ShownSignature()
    _parameters: ClassVar[dict[str, Parameter]] = {"undefined": undefined}  # type: ignore[dict-item]
    _values: ClassVar[tuple[Any, ...]] = ()  # of the parameters, per instance; a ClassVar to be no field
    explicit_parameters: ClassVar[frozenset[str]] = frozenset()
    """The parameters that were set, also to their defaults. Equality ignores them."""

    def __init_subclass__(cls, *, abstract: bool = False, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        own = {key: value for key, value in vars(cls).items() if isinstance(value, Parameter)}
        if cls.__doc__ is not None:
            cls.__doc__ = _ShownDoc(cls.__doc__)
        cls._parameters = {**own, **{key: value for key, value in cls._parameters.items() if key not in own}}
        if abstract:
            return
        if "name" not in vars(cls):
            cls.name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", cls.__name__).lower()  # type: ignore[call-overload]
        registry.register(cls)

    if not TYPE_CHECKING:  # which knows the parameters

        def __new__(cls, *arrays: object, **given: Any) -> Self:
            if arrays:
                call = f"tm.{cls.name}" if cls.__module__.startswith("tallymark.") else f"{cls.__name__}()"
                raise ParameterError(
                    f"{cls.__name__} is the class of a metric and takes parameters by keyword; "
                    f"to measure, call {call}(y_true, y_pred)"
                )
            return super().__new__(cls)

    def __init__(self, **given: Any) -> None:
        fields = vars(self)
        if given:
            fields["explicit_parameters"] = frozenset(given)
        for key, parameter in self._parameters.items():
            fields[key] = parameter.normal(key, given.pop(key)) if key in given else parameter.default
        fields["__qualname__"] = self.__name__
        fields["_values"] = tuple([fields[key] for key in self._parameters])
        if given:
            raise self.unknown_parameter(given, self._parameters)

    # Facts that may depend on the parameters.

    @property
    def better(self) -> Better:
        """Which values are better: "higher", "lower", or the value to be close to; None where that cannot be said."""
        return "lower"

    @property
    def higher_is_better(self) -> bool | None:
        """Whether higher values are better; None where the best value lies between, or there is no direction."""
        return self.better == "higher" if isinstance(self.better, str) else None

    @property
    def range(self) -> tuple[float, float]:
        """The lowest and highest value that the metric can take."""
        return (-math.inf, math.inf)

    def range_of(self, state: Any) -> tuple[float, float]:
        """The range on data such as these, where that is narrower, as with two classes."""
        return self.range

    @property
    def rounding_scale(self) -> float:
        """A size of values beside which errors of rounding are nothing, also where the value is next to 0: an end of a
        range on both sides of 0, since what cancels there leaves them."""
        low, high = self.range
        return max(abs(end) for end in (low, high, 0.0) if math.isfinite(end)) if low < 0 < high else 0.0

    @property
    def symmetric(self) -> bool:
        """Whether truth and prediction can change places."""
        return False

    @property
    def reads(self) -> Reads:
        """Which state the formula reads, and what that state must hold. A subclass writes this or `reads_of`."""
        if type(self).reads_of is Metric.reads_of:
            raise NotImplementedError(f"{type(self).__name__} must declare what it reads")
        return self.needs(ANY_TARGET)

    @property
    def __name__(self) -> str:
        """The name of a function, as which a metric is called."""
        return self.name

    @property
    def display_name(self) -> str:
        """The name for people, such as "macro F1" or "NDCG@10"; `str(metric)` is the one for code.

        >>> import tallymark as tm
        >>> tm.fscore.replace(average="macro").display_name, tm.accuracy.replace(threshold=0.3).display_name
        ('macro F1', 'accuracy (threshold 0.3)')
        >>> tm.metric("pinball", alphas=0.9).display_name
        'pinball loss (alphas 0.9)'
        """
        name, expressed = self._display_parts()
        changed = {key: value for key, value in self._changed().items() if key not in expressed}
        alone = {k: v[0] if isinstance(v, tuple) and len(v) == 1 else v for k, v in changed.items()}
        rest = ", ".join(f"{key.replace('_', ' ')} {show(value)}" for key, value in alone.items())
        return f"{name} ({rest})" if rest else name

    def _display_parts(self) -> tuple[str, tuple[str, ...]]:
        """The display name, and the parameters that it already expresses."""
        return self.display or self.name.replace("_", " "), ()

    @property
    def is_of_positive_class(self) -> bool:
        """Whether the value is that of the positive class, which reports name beside it."""
        return False

    @property
    def description(self) -> str:
        """The metric in one sentence."""
        return (type(self).__doc__ or "").strip().split("\n\n")[0].replace("\n", " ").strip()

    @property
    def formula_text(self) -> str:
        """The formula with the parameters of this metric.

        >>> import tallymark as tm
        >>> tm.huber.replace(delta=2).formula_text
        'mean of ½ e² where |e| ≤ delta, else delta (|e| − ½ delta), delta = 2'
        """
        numbers = [(key, value) for key, value in self.parameters().items() if isinstance(value, (int, float))]
        used = [f"{key} = {show(value)}" for key, value in numbers if re.search(rf"\b{key}\b", self.formula)]
        return ", ".join([self.formula, *used])

    @property
    def size(self) -> str:
        """What the size of the state goes with: "fixed", "bounded", "distinct pairs", "distinct scores" or "rows"."""
        return type(self.reads.zero()).size

    @property
    def grows(self) -> bool:
        """Whether the state grows with the rows, as long as they differ."""
        return self.size in ("rows", "distinct scores")

    # What a subclass writes.

    def reads_of(self, target: Target) -> Reads:
        """The state for predictions as the target says, where it depends on that."""
        return self.reads

    def formula_value(self, state: Any) -> Any:
        """The value of a state that has rows and weight: a float, or `Undefined` with the reason."""
        raise NotImplementedError(f"{type(self).__name__} must define its formula")

    def notes(self, state: Any) -> tuple[str, ...]:
        """What a reader of the value should know about the rows."""
        return ()

    def interval_reads(self, target: Target) -> Reads | None:
        """Which state `interval` reads, where it is another than `needs(target)` or must hold more than that."""
        return None

    def has_analytic_interval(self, columns: tuple[int, int]) -> bool:
        """Whether plain rows of so many columns of truth and prediction have an interval without resamples. Then a
        tally keeps none."""
        return type(self).analytic_interval is not Metric.analytic_interval

    def analytic_interval(self, state: Any, level: float) -> Interval | NoInterval | None:
        """The interval by a formula, of a state that has rows, all of weight 1, and where the value exists. None: there
        is no formula for these rows."""
        return None

    def replicate_values(self, reads: Reads, batch: Batch, draws: Draws) -> Array | None:
        """The values in all replicates of a batch, NaN where undefined, if that is faster than to read the state of
        each; else None."""
        return None

    def paired_rows(self, batch: Batch, target: Target) -> PairedOutcomes | Placements | None:
        """What single rows say, for a test of two models on the same rows, all of weight 1. None: resample instead."""
        return None

    def check_values(self, state: Any, batch: Batch | None) -> None:
        """Reject values for which the metric has no meaning."""

    def check_columns(self, truth_columns: int, prediction_columns: int) -> None:
        """Reject tables whose widths do not fit."""

    # What follows.

    def band(self, value: float) -> str:
        """Which band a value falls in, by the value itself and not by its print; empty where the metric has none."""
        if self.bands is None or math.isnan(value):
            return ""
        fair, good = self.bands
        return "good" if value >= good else "fair" if value >= fair else "poor"

    def needs(self, target: Target) -> Reads:
        """What to read when predictions are as the target says, if the metric reads such predictions."""
        # The last one is remembered: a loop asks for the same again and again.
        known: tuple[Target, Reads] | None = vars(self).get("_needs")
        if known is not None and known[0] is target:
            return known[1]
        self.check_kind(target.kind)
        found = self.reads_of(target)
        vars(self)["_needs"] = (target, found)
        return found

    def check_kind(self, kind: str | None) -> None:
        """Require predictions of the right kind."""
        if kind is not None and kind not in (self.kinds or (self.kind,)):
            takes = self.takes or f'predictions of kind "{self.kind}"'
            given = Text(f'{{kind="{kind}"}}')
            raise KindError(Text("{} reads {}; got {}", self, takes, given), argument="kind", hint=self.kind_hint(kind))

    def kind_hint(self, kind: str) -> Text | None:
        """What to do with predictions of another kind."""
        return None

    def all_needs(self, target: Target) -> list[Reads]:
        """All that is to be read; several states where the metric is made of others."""
        return [self.needs(target)]

    def answer(self, state: State, batch: Batch | None = None) -> Answer:
        """Read the state: the value, the reason if it is undefined, and notes."""
        if state.n == 0 or state.weight < (1 if state.exact else LEAST_WEIGHT):
            return self.to_answer(NO_ROWS if state.n == 0 else LIGHT if state.weight else NO_WEIGHT)
        self.check_values(state, batch)
        return self.read(state)

    def interval(self, state: Any, level: float) -> Interval | NoInterval | None:
        """The analytic interval at a level such as 0.95, from the state that `interval_reads` asks for, or else that of
        the value. None: there is no formula, as for all weighted rows; resample instead."""
        if type(self).analytic_interval is Metric.analytic_interval or not state.unweighted:
            return None
        answer = (self if self.undefined is None else self.replace(undefined=None)).answer(state)
        if answer.reason is not None and isinstance(answer.value, float):
            return NoInterval(answer.reason)
        found = self.analytic_interval(state, level)
        return found.around(answer.value, self.range_of(state)) if isinstance(found, Interval) else found

    def restore_value(self, data: Any) -> Any:
        """The value that JSON has as this data; where a value is a table, what its `to_dict` gave."""
        return data

    def read(self, state: Any) -> Answer:
        """The answer of a state that has rows, weight and values with a meaning."""
        return self.to_answer(self.formula_value(state), self.notes(state))

    def to_answer(self, value: Any, notes: tuple[str, ...] = ()) -> Answer:
        """Turn the formula's value into an answer; `undefined=` replaces undefined values."""
        if isinstance(value, float) and math.isfinite(value):  # as nearly always
            return Answer(value, None, notes)
        if isinstance(value, float) and math.isnan(value):
            value = Undefined(TOO_LARGE)
        if isinstance(value, Undefined):
            if self.undefined == "raise":
                raise UndefinedError(f"{self.replace(undefined=None)} is undefined: {value.reason}")
            return Answer(math.nan if self.undefined is None else self.undefined, value.reason, notes)
        if isinstance(value, float) and math.isinf(value):
            return Answer(value, TOO_LARGE, notes)
        return Answer(value, None, notes)

    def __call__(
        self,
        y_true: object = NOT_GIVEN,
        y_pred: object = NOT_GIVEN,
        *more: object,
        weights: object = None,
        query: object = None,
        target: Target | None = None,
        kind: str | None = None,
        classes: object = None,
        positive: object = None,
        normalize: bool | None = None,
        missing: str = "error",
        **parameters: Any,
    ) -> Any:
        """The value on these rows. Further keywords are parameters of the metric."""
        if more:
            raise ParameterError(
                f"{self.name} takes two arrays; pass the rest by keyword, such as weights=",
                hint=Text(
                    "For {scoring} of scikit-learn, pass tm.sklearn.scorer({})",
                    repr(str(self)),
                ),
            )
        if y_true is NOT_GIVEN or y_pred is NOT_GIVEN:
            raise ParameterError(
                Text(
                    "{} needs {y_true} and {y_pred}; for a metric with other parameters use "
                    "tm.{}(...) or tm.metric({}, ...)",
                    self.name,
                    type(self).__name__,
                    repr(self.name),
                )
            )
        if "keras" in sys.modules and sys._getframe(1).f_globals.get("__name__", "").startswith("keras."):
            raise ParameterError(
                f"{self} cannot be among the metrics of a Keras model: Keras averages the values of "
                "batches, which is not the value of all rows",
                hint=Text(
                    "Pass tallymark.training.frameworks.keras.EvaluatorCallback as one of the {callbacks} of `fit`"
                ),
            )
        if target is None and kind is None and classes is None and positive is None and normalize is None:
            about = ANY_TARGET  # as in most calls
        else:
            if isinstance(normalize, str) and normalize in ("true", "pred", "all"):  # as scikit-learn has them
                raise ParameterError(
                    Text("{normalize} divides each row of probabilities by its sum; got {}", brief(normalize)),
                    argument="normalize",
                    hint='For shares of the rows of a confusion matrix, call its normalized("truth")',
                )
            if normalize is False:
                raise ParameterError(
                    Text("{normalize} divides each row of probabilities by its sum; leave out {normalize=False}"),
                    argument="normalize",
                    hint="In scikit-learn it asks for a count or a sum; tm.error counts wrong rows",
                )
            about = target_of(target, kind, classes, positive, False if normalize is None else normalize)
        if parameters:
            changed = self._changed_to(parameters)
            return changed(y_true, y_pred, weights=weights, query=query, missing=missing, target=about)
        if query is not None and not self.by_query:
            raise ParameterError(
                Text("{} does not read {query}: it is computed over all rows", self.name),
                hint='Metrics per query are in the family "ranking", such as ndcg and map',
            )
        batch = Batch(y_true, y_pred, weights, missing=missing, query=query)
        batch.require_rows()
        self.check_columns(batch.truth_columns, batch.prediction_columns)
        return self.answer(self.needs(about).fold(batch), batch).value

    def _changed_to(self, parameters: dict[str, Any]) -> Self:
        """The same metric with other parameters, remembered: a loop calls with the same ones again and again."""
        known: dict[Any, Self] = vars(self).setdefault("_known", {})
        try:
            key = tuple((name, type(value), value) for name, value in parameters.items())
            found = known.get(key)
        except TypeError:  # a list, say
            return self.replace(**parameters)
        if found is None:
            found = self.replace(**parameters)
            if len(known) < _MOST_KNOWN:
                known[key] = found
        return found

    def replace(self, **changes: Any) -> Self:
        """The same metric with other parameters."""
        changed = type(self)(**{**self.parameters(), **changes})
        vars(changed)["explicit_parameters"] = self.explicit_parameters | changes.keys()
        return changed

    def parameters(self) -> dict[str, Any]:
        """The fields and their values."""
        return dict(zip(self._parameters, self._values, strict=True))

    def unknown_parameter(self, given: Mapping[str, Any], known: Iterable[str]) -> ParameterError:
        """The error for the first of these parameters, which the metric does not have."""
        key = next(iter(given))
        known = list(known)
        if key in FACTS:
            weighting = key == "weights" and "weighting" in known
            return ParameterError(
                Text(
                    "{} describes the data and is not a parameter of {}: pass it to the call, to evaluate or to Tally",
                    Argument(key),
                    self.name,
                ),
                argument=key,
                hint=Text("Its own parameter is {weighting}") if weighting else None,
            )
        own = next((name for name in PARAMETERS_ELSEWHERE.get(key, ()) if name in known), None)
        return ParameterError(
            Text("{} has no parameter {}; it has {}", self.name, Argument(key), ", ".join(known)),
            argument=key,
            hint=f"Pass {key} as {own}=" if own else HINTS.get(key) or did_you_mean(key, [*known, *FACTS]),
        )

    def to_dict(self) -> dict[str, Any]:
        """The name and the parameters that differ from their defaults; `tm.metric` reads it back."""
        return {"name": self.name, **self._changed()}

    def _changed(self) -> dict[str, Any]:
        return {key: value for key, value in self.parameters().items() if value != self._parameters[key].default}

    def __str__(self) -> str:
        changed = ", ".join(f"{key}={show(value)}" for key, value in self._changed().items())
        return f"{self.name}({changed})" if changed else self.name

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{key}={value!r}' for key, value in self._changed().items())})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Metric) and type(other) is type(self) and self._values == other._values

    def __hash__(self) -> int:
        return hash((type(self), self._values))

    def __setattr__(self, key: str, value: Any) -> None:
        raise AttributeError(f"a metric is frozen; use .replace({key}=...) for a changed copy")

    def __delattr__(self, key: str) -> None:
        raise AttributeError("a metric is frozen")

    def __reduce__(self) -> tuple[Any, ...]:
        given = {key: value for key, value in self.parameters().items() if key in self.explicit_parameters}
        return (restore_metric, (type(self), given))


def restore_metric(cls: type[Metric], parameters: dict[str, Any]) -> Metric:
    """The metric that a pickle stands for."""
    return cls(**parameters)


def check_better(better: object) -> str | float:
    """Require a direction."""
    if isinstance(better, str) and better in ("higher", "lower"):
        return better
    if isinstance(better, Real) and not isinstance(better, bool) and math.isfinite(better):
        return float(better)
    raise ParameterError(argument="better", expected='be "higher", "lower" or the best value', got=brief(better))


def refuse_arguments(of: str, unknown: Mapping[str, object]) -> None:
    """Reject arguments that a call does not have, and say how it writes the direction of other libraries."""
    for name, value in unknown.items():
        hint = None
        if name in ("higher_is_better", "greater_is_better", "maximize", "mode"):
            better = "higher" if value in (True, "max") else "lower"
            hint = f'Write better="{better}"'
        raise ParameterError(Text("{} has no argument {}", of, Argument(name)), argument=name, hint=hint)
