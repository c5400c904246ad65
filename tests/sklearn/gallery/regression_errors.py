"""Errors of several targets, averaged in each way."""

import numpy as np
from sklearn import metrics
from sklearn.datasets import load_linnerud
from sklearn.linear_model import LinearRegression

X, y = load_linnerud(return_X_y=True)
predicted = LinearRegression().fit(X, y).predict(X)
weights = np.linspace(1, 2, len(y))
for name in (
    *("mean_absolute_error", "mean_squared_error", "root_mean_squared_error", "median_absolute_error", "r2_score"),
    *("explained_variance_score", "mean_absolute_percentage_error", "d2_absolute_error_score", "mean_pinball_loss"),
):
    for multioutput in ("uniform_average", "raw_values", [0.2, 0.3, 0.5]):
        for sample_weight in (None, weights):
            score = getattr(metrics, name)
            print(name, np.round(score(y, predicted, multioutput=multioutput, sample_weight=sample_weight), 10))
print(round(metrics.r2_score(y, predicted, multioutput="variance_weighted"), 12))
