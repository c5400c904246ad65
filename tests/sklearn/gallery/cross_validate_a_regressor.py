"""Cross-validation of a regressor with six errors."""

from sklearn.datasets import load_diabetes
from sklearn.linear_model import Ridge
from sklearn.model_selection import cross_validate

X, y = load_diabetes(return_X_y=True)
scoring = ("r2", "neg_mean_absolute_error", "neg_root_mean_squared_error", "neg_median_absolute_error")
scoring += ("explained_variance", "neg_mean_absolute_percentage_error", "neg_max_error")
scores = cross_validate(Ridge(0.1), X, y, scoring=scoring, cv=5)
for name in scoring:
    print(name, scores[f"test_{name}"].round(10))
