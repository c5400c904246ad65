"""Metrics: one file per metric or tight family, by what they measure; one import line each below.

`base.py` is what a metric is, `answer.py` what it gives, `parameters.py` how its parameters are checked; `registry.py`,
`naming.py` and `listing.py` find metrics by name. `base.py` in each family is what its metrics share.
"""

from tallymark.metrics.classification.accuracy import *
from tallymark.metrics.classification.agreement import *
from tallymark.metrics.classification.base import *
from tallymark.metrics.classification.classification_report import *
from tallymark.metrics.classification.confusion_matrix import *
from tallymark.metrics.classification.precision_recall import *
from tallymark.metrics.classification.rates import *
from tallymark.metrics.clustering.base import *
from tallymark.metrics.clustering.information import *
from tallymark.metrics.clustering.pair_counting import *
from tallymark.metrics.clustering.purity import *
from tallymark.metrics.clustering.separation import *
from tallymark.metrics.custom import *
from tallymark.metrics.fairness.base import *
from tallymark.metrics.fairness.gaps import *
from tallymark.metrics.listing import *
from tallymark.metrics.naming import *
from tallymark.metrics.probability.base import *
from tallymark.metrics.probability.brier import *
from tallymark.metrics.probability.calibration import *
from tallymark.metrics.probability.d2 import *
from tallymark.metrics.probability.hinge import *
from tallymark.metrics.probability.logloss import *
from tallymark.metrics.probability.top_k import *
from tallymark.metrics.ranking.at_k import *
from tallymark.metrics.ranking.average_precision import *
from tallymark.metrics.ranking.base import *
from tallymark.metrics.ranking.mrr import *
from tallymark.metrics.ranking.ndcg import *
from tallymark.metrics.regression.absolute_error import *
from tallymark.metrics.regression.base import *
from tallymark.metrics.regression.bias import *
from tallymark.metrics.regression.correlation import *
from tallymark.metrics.regression.d2 import *
from tallymark.metrics.regression.deviance import *
from tallymark.metrics.regression.log_error import *
from tallymark.metrics.regression.percentage_error import *
from tallymark.metrics.regression.prediction_interval import *
from tallymark.metrics.regression.quantile import *
from tallymark.metrics.regression.robust_error import *
from tallymark.metrics.regression.squared_error import *
from tallymark.metrics.regression.variance_explained import *
from tallymark.metrics.scores.auc import *
from tallymark.metrics.scores.average_precision import *
from tallymark.metrics.scores.base import *
from tallymark.metrics.scores.best_threshold import *
from tallymark.metrics.scores.curve import *
from tallymark.metrics.scores.curves import *
from tallymark.metrics.scores.ks import *
from tallymark.metrics.scores.threshold_table import *

__all__ = sorted(
    name
    for name, value in globals().items()
    if getattr(value, "__module__", "").startswith("tallymark.metrics.") and not name.startswith("_")
)
