"""Weighted rows: a fit and its scores with the weights of the rows."""

import numpy as np
from sklearn.datasets import make_classification
from sklearn.linear_model import SGDClassifier
from sklearn.metrics import (
    accuracy_score,
    average_precision_score,
    balanced_accuracy_score,
    brier_score_loss,
    class_likelihood_ratios,
    d2_brier_score,
    d2_log_loss_score,
    log_loss,
    precision_recall_fscore_support,
    roc_auc_score,
)

X, y = make_classification(500, random_state=3, flip_y=0.2)
weights = np.random.RandomState(0).uniform(0.5, 2, 500)
model = SGDClassifier(loss="log_loss", random_state=0).fit(X, y, sample_weight=weights)
labels, p = model.predict(X), model.predict_proba(X)
scores = np.clip(p, 1e-6, 1 - 1e-6)
for score in (accuracy_score, balanced_accuracy_score):
    print(score.__name__, f"{score(y, labels, sample_weight=weights):.12f}")
for score in (roc_auc_score, average_precision_score, brier_score_loss, d2_brier_score):
    print(score.__name__, f"{score(y, scores[:, 1], sample_weight=weights):.12f}")
for score in (log_loss, d2_log_loss_score):
    print(score.__name__, f"{score(y, scores, sample_weight=weights):.12f}")
print(np.round(precision_recall_fscore_support(y, labels, sample_weight=weights), 9))
print(np.round(class_likelihood_ratios(y, labels, sample_weight=weights), 9))
