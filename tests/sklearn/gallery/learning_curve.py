"""Scores by the number of rows that a model learns from, and by a parameter."""

from sklearn.datasets import load_digits
from sklearn.model_selection import StratifiedKFold, learning_curve, validation_curve
from sklearn.svm import SVC

X, y = load_digits(return_X_y=True)
X, y = X[:600], y[:600]
folds = StratifiedKFold(3)
for scoring in ("accuracy", "f1_macro", "matthews_corrcoef"):
    print(scoring, *learning_curve(SVC(), X, y, train_sizes=[0.3, 1.0], cv=folds, scoring=scoring)[1:])
    print(
        scoring, *validation_curve(SVC(), X, y, param_name="gamma", param_range=[1e-4, 1e-3], cv=folds, scoring=scoring)
    )
