"""Metrics: one file per metric or tight family, one import line each.

A file in this folder is registered even without its import line; the line gives its metrics a public name.
"""

import importlib
import pkgutil
from types import ModuleType as _Module

from tallymark.metrics.absolute_error import *
from tallymark.metrics.accuracy import *
from tallymark.metrics.agreement import *
from tallymark.metrics.auc import *
from tallymark.metrics.base import *
from tallymark.metrics.best_threshold import *
from tallymark.metrics.bias import *
from tallymark.metrics.bounded import *
from tallymark.metrics.brier import *
from tallymark.metrics.calibration import *
from tallymark.metrics.class_report import *
from tallymark.metrics.cluster_purity import *
from tallymark.metrics.cluster_shape import *
from tallymark.metrics.clusters import *
from tallymark.metrics.confusion import *
from tallymark.metrics.correlation import *
from tallymark.metrics.curve import *
from tallymark.metrics.curves import *
from tallymark.metrics.custom import *
from tallymark.metrics.d2 import *
from tallymark.metrics.deviance import *
from tallymark.metrics.fairness import *
from tallymark.metrics.group_metric import *
from tallymark.metrics.information import *
from tallymark.metrics.interval import *
from tallymark.metrics.ks import *
from tallymark.metrics.labels import *
from tallymark.metrics.listing import *
from tallymark.metrics.log_error import *
from tallymark.metrics.logloss import *
from tallymark.metrics.naming import *
from tallymark.metrics.percentage_error import *
from tallymark.metrics.precision_area import *
from tallymark.metrics.precision_recall import *
from tallymark.metrics.probability import *
from tallymark.metrics.quantile import *
from tallymark.metrics.rand import *
from tallymark.metrics.ranking import *
from tallymark.metrics.rates import *
from tallymark.metrics.regression import *
from tallymark.metrics.robust_error import *
from tallymark.metrics.scores import *
from tallymark.metrics.squared_error import *
from tallymark.metrics.threshold_table import *
from tallymark.metrics.top_k import *
from tallymark.metrics.variance_explained import *

for _file in pkgutil.iter_modules(globals()["__path__"], f"{__name__}."):
    importlib.import_module(_file.name)
# Type checkers read the lines above instead.
globals()["__all__"] = sorted(
    name for name, value in globals().items() if not name.startswith("_") and not isinstance(value, _Module)
)
