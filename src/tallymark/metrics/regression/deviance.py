"""Deviances: twice the log likelihood that a prediction loses against the truth itself, by family of distributions."""

from __future__ import annotations

import math

from tallymark.data.target import Target
from tallymark.metrics.parameters import tweedie_power
from tallymark.metrics.regression.base import Bound, LogLinked, MeanMetric
from tallymark.metrics.regression.squared_error import SQUARED_ERROR
from tallymark.states.sums import Sums, SumsOf, Term

__all__ = [
    "GammaDeviance",
    "PoissonDeviance",
    "TweedieDeviance",
    "gamma_deviance",
    "poisson_deviance",
    "tweedie_deviance",
]


TRUTH_NOT_NEGATIVE = Bound("y_true", 0.0, strict=False)
TRUTH_POSITIVE = Bound("y_true", 0.0, strict=True)
PREDICTION_POSITIVE = Bound("y_pred", 0.0, strict=True)


def tweedie_bounds(power: float) -> tuple[Bound, ...]:
    """Where the deviance of this power has a meaning. A Poisson mean of 0 or less is read as 1e-9."""
    if power == 0:
        return ()
    if power < 0:
        return (PREDICTION_POSITIVE,)
    if power == 1:
        return (TRUTH_NOT_NEGATIVE,)
    return (TRUTH_NOT_NEGATIVE if power < 2 else TRUTH_POSITIVE, PREDICTION_POSITIVE)


def deviance_term(power: float) -> Term:
    """The unit deviance of this power."""
    return SQUARED_ERROR if power == 0 else Term("deviance", (power,))


LOWEST_PREDICTION = Term("lowest_prediction")


def poisson_notes(state: Sums) -> tuple[str, ...]:
    """Say so where a prediction is too low to be a Poisson mean."""
    lowest = state.lowest(LOWEST_PREDICTION)
    if lowest >= 1e-9:
        return ()
    logs = '; pass link="log" if they are logs' if lowest < 0 else ""
    return (f"the lowest prediction is {lowest:g}; predictions below 1e-9 are read as 1e-9{logs}",)


class Deviance(LogLinked, MeanMetric, abstract=True):
    """A mean deviance. Margins are predictions before exp, as with ``link="log"``."""

    unit = "deviance"
    range = (0.0, math.inf)
    at_perfect = 0.0
    baselines = ("mean",)

    @property
    def reads(self) -> SumsOf:
        return super().reads if self.link is None else super().reads.through(self.link)

    def reads_of(self, target: Target) -> SumsOf:
        return self.reads.through("log") if target.kind == "margin" else self.reads

    def check_kind(self, kind: str | None) -> None:
        super().check_kind(None if kind == "margin" else kind)


class PoissonDeviance(Deviance):
    """The mean Poisson deviance, for counts and rates.

    >>> poisson_deviance([1, 2], [2, 2])
    0.3068528194400547
    >>> poisson_deviance([1, 1], [0, 0], link="log")
    0.0
    """

    display = "Poisson deviance"
    aliases = {"poisson": {}, "mean_poisson_deviance": {}}
    formula = "2 · mean of y ln(y/ŷ) − (y − ŷ), where ŷ ≥ 1e-9; 2ŷ where y = 0"
    reading = "About 1 per row if the counts follow a Poisson distribution."
    outliers = (
        "high: a count far above its prediction costs more than in proportion, and a prediction of 0 a great deal."
    )
    related = ("d2_tweedie",)
    pitfalls = ("A prediction of 0 for a positive count costs a lot: predictions below 1e-9 are read as 1e-9.",)
    requires = (TRUTH_NOT_NEGATIVE,)
    term = deviance_term(1.0)

    def reads_terms(self) -> tuple[Term, ...]:
        return (self.term, LOWEST_PREDICTION)

    def notes(self, state: Sums) -> tuple[str, ...]:
        return poisson_notes(state)


class GammaDeviance(Deviance):
    """The mean gamma deviance, for positive amounts whose scatter grows with their size.

    >>> gamma_deviance([1, 2], [2, 2])
    0.1931471805599453
    """

    aliases = {"mean_gamma_deviance": {}}
    formula = "2 · mean of ln(ŷ/y) + y/ŷ − 1"
    reading = "Only ratios count: scaling truth and predictions alike changes nothing."
    outliers = "high: a truth of many times its prediction costs as many times more; large amounts as such do not."
    related = ("d2_tweedie", "rmsle")
    pitfalls = ("Predictions far too low cost much more than predictions far too high.",)
    requires = (TRUTH_POSITIVE, PREDICTION_POSITIVE)
    term = deviance_term(2.0)


class TweedieDeviance(Deviance):
    """The mean Tweedie deviance: variance grows as the mean to a power (0 normal, 1 Poisson, 2 gamma).

    >>> tweedie_deviance([1, 2], [2, 2], power=1) == poisson_deviance([1, 2], [2, 2])
    True
    """

    display = "Tweedie deviance"
    aliases = {"mean_tweedie_deviance": {}}
    formula = "2 · mean of the integral from ŷ to y of (y − t) t^(−power) dt"
    reading = "Compare only at the same power; a higher power cares more about relative and less about absolute errors."
    outliers = "high: as squared errors do at power 0; the higher the power, the more only ratios count."
    related = ("d2_tweedie",)
    pitfalls = (
        "Its value depends on the power.",
        "At power 1 it is poisson_deviance: predictions below 1e-9, also negative ones, are read as 1e-9.",
    )
    samples = ({}, {"power": 0}, {"power": 1}, {"power": 2}, {"power": 3}, {"power": -1.5})

    power: float = tweedie_power(1.5)
    """How the variance grows with the mean; not between 0 and 1."""

    @property
    def requires(self) -> tuple[Bound, ...]:
        return tweedie_bounds(self.power)

    @property
    def term(self) -> Term:  # type: ignore[override]
        return deviance_term(self.power)

    def reads_terms(self) -> tuple[Term, ...]:
        return (self.term, LOWEST_PREDICTION) if self.power == 1 else (self.term,)

    def notes(self, state: Sums) -> tuple[str, ...]:
        return poisson_notes(state) if self.power == 1 else ()


poisson_deviance = PoissonDeviance()
gamma_deviance = GammaDeviance()
tweedie_deviance = TweedieDeviance()
