"""ROC curves of three classes, one against the rest, and their areas."""

import numpy as np
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import auc, det_curve, roc_auc_score, roc_curve
from sklearn.model_selection import train_test_split

X, y = load_iris(return_X_y=True, as_frame=True)
X = np.hstack([X, np.random.RandomState(0).randn(150, 200)])
names = np.array(["setosa", "versicolor", "virginica"])
X_train, X_test, y_train, y_test = train_test_split(X, names[y], test_size=0.5, stratify=y, random_state=0)
scores = LogisticRegression().fit(X_train, y_train).predict_proba(X_test)
for k, name in enumerate(names):
    fpr, tpr, thresholds = roc_curve(y_test, scores[:, k], pos_label=name)
    print(name, fpr, tpr, thresholds, auc(fpr, tpr))
    print(det_curve(y_test == name, scores[:, k]))
for multi_class in ("ovr", "ovo"):
    for average in ("macro", "weighted"):
        print(multi_class, average, round(roc_auc_score(y_test, scores, multi_class=multi_class, average=average), 12))
print(round(roc_auc_score(y_test == "virginica", scores[:, 2], max_fpr=0.2), 12))
