"""Several labels per document: averages, ranking losses and a report."""

from sklearn.datasets import make_multilabel_classification
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import (
    accuracy_score,
    average_precision_score,
    classification_report,
    coverage_error,
    f1_score,
    hamming_loss,
    jaccard_score,
    label_ranking_average_precision_score,
    label_ranking_loss,
    multilabel_confusion_matrix,
    roc_auc_score,
)
from sklearn.multiclass import OneVsRestClassifier

X, y = make_multilabel_classification(600, n_classes=5, allow_unlabeled=False, random_state=0)
model = OneVsRestClassifier(LogisticRegression()).fit(X[:300], y[:300])
labels, scores = model.predict(X[300:]), model.predict_proba(X[300:])
truth = y[300:]
for average in ("micro", "macro", "weighted", "samples", None):
    print(average, f1_score(truth, labels, average=average, zero_division=0))
    print(average, jaccard_score(truth, labels, average=average, zero_division=0))
    print(average, roc_auc_score(truth[:, :3], scores[:, :3], average=average) if average != "samples" else "")
    print(average, average_precision_score(truth, scores, average=average))
print(accuracy_score(truth, labels), hamming_loss(truth, labels))
print(coverage_error(truth, scores), label_ranking_average_precision_score(truth, scores))
print(label_ranking_loss(truth, scores))
print(multilabel_confusion_matrix(truth, labels))
print(classification_report(truth, labels, zero_division=0))
