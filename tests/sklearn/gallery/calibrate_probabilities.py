"""Brier score and log loss of a model before and after calibration."""

from sklearn.calibration import CalibratedClassifierCV, calibration_curve
from sklearn.datasets import make_classification
from sklearn.metrics import brier_score_loss, f1_score, log_loss, precision_score, recall_score, roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB

X, y = make_classification(2000, n_informative=2, n_redundant=10, random_state=42)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=42)
for name, model in {
    "naive Bayes": GaussianNB(),
    "isotonic": CalibratedClassifierCV(GaussianNB(), method="isotonic"),
    "sigmoid": CalibratedClassifierCV(GaussianNB(), method="sigmoid"),
}.items():
    model.fit(X_train, y_train)
    p = model.predict_proba(X_test)[:, 1]
    print(name, *(f"{score(y_test, p):.12f}" for score in (brier_score_loss, log_loss, roc_auc_score)))
    print(name, *(f"{score(y_test, p > 0.5):.12f}" for score in (precision_score, recall_score, f1_score)))
    print(calibration_curve(y_test, p, n_bins=5))
