"""Quantiles by gradient boosting, scored by pinball loss."""

import numpy as np
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.metrics import d2_pinball_score, make_scorer, mean_pinball_loss
from sklearn.model_selection import cross_val_score

rng = np.random.RandomState(0)
X = rng.uniform(0, 10, (300, 1))
y = X.ravel() * np.sin(X.ravel()) + rng.lognormal(0, 0.6, 300)
for alpha in (0.05, 0.5, 0.95):
    model = GradientBoostingRegressor(loss="quantile", alpha=alpha, n_estimators=40, random_state=0).fit(X, y)
    predicted = model.predict(X)
    print(
        alpha,
        f"{mean_pinball_loss(y, predicted, alpha=alpha):.12f}",
        f"{d2_pinball_score(y, predicted, alpha=alpha):.12f}",
    )
    scorer = make_scorer(mean_pinball_loss, alpha=alpha, greater_is_better=False)
    print(cross_val_score(model, X, y, scoring=scorer, cv=3).round(12))
