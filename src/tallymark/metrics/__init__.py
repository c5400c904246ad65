"""Metrics: one file per metric or tight family, one import line each.

A file in this folder is registered even without its import line; the line gives its metrics a public name.
"""

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
from tallymark.metrics.discovery import import_all as _import_all
from tallymark.metrics.discovery import public_names as _public_names
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

_import_all(__name__)
globals()["__all__"] = _public_names(globals())  # type checkers read the lines above instead
