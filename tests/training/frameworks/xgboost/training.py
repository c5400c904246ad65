"""A training with XGBoost, and the rows for it."""

from __future__ import annotations

import pytest

from tests.training.frameworks import boosted_rows as rows

HALF = rows.N // 2
FALLBACK_IS_FINE = pytest.mark.filterwarnings("ignore:.*Falling back to prediction using DMatrix.*:UserWarning")


def halves(xgb, made, **given):
    """Training and validation rows, with weights."""
    x, y, w = made
    parts = (slice(0, HALF), slice(HALF, None))
    return [xgb.DMatrix(x[part], y[part], weight=w[part], **given) for part in parts]


def train(xgb, params, train, rounds=60, **given):
    return xgb.train({"eta": 0.5, "nthread": 1, **params}, train, rounds, verbose_eval=False, **given)
