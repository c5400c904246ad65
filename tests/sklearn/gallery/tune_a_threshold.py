"""The threshold of a decision tuned for balanced accuracy and for a cost."""

import numpy as np
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import confusion_matrix, make_scorer, precision_recall_curve
from sklearn.model_selection import TunedThresholdClassifierCV, train_test_split

X, y = make_classification(1000, weights=[0.9], random_state=0)
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)


def cost(y_true, y_pred):
    _, fp, fn, _ = confusion_matrix(y_true, y_pred).ravel()
    return -(5 * fn + fp)


for scoring in ("balanced_accuracy", "f1", make_scorer(cost)):
    model = TunedThresholdClassifierCV(LogisticRegression(), scoring=scoring, cv=3).fit(X_train, y_train)
    print(round(model.best_threshold_, 12), round(model.best_score_, 12))
    print(confusion_matrix(y_test, model.predict(X_test)))
precision, recall, thresholds = precision_recall_curve(y_test, model.predict_proba(X_test)[:, 1])
print(len(thresholds), np.sum(precision).round(9), np.sum(recall).round(9))
