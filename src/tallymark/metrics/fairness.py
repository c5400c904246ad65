"""Fairness metrics that have names: each is a metric of groups, composed of a rate and a gap between groups."""

from __future__ import annotations

from tallymark.metrics.group_metric import gap
from tallymark.metrics.precision_recall import recall
from tallymark.metrics.rates import fallout, selection_rate

__all__ = ["demographic_parity", "equal_opportunity", "equalized_odds"]

demographic_parity = gap(selection_rate)
equal_opportunity = gap(recall)
equalized_odds = gap(recall, fallout)
