"""XGBoost and our module for it, loaded when a test asks for them."""

from __future__ import annotations

import importlib

import pytest


@pytest.fixture(scope="module")
def xgb():
    return importlib.import_module("xgboost")


@pytest.fixture(scope="module")
def ours(xgb):
    from tallymark.training.frameworks import xgboost

    return xgboost
