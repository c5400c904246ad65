"""Precision-recall curves of classes, their averages, and a report."""

from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, classification_report, precision_recall_curve
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import label_binarize

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X / 16, y, random_state=0)
model = LogisticRegression(C=0.05).fit(X_train, y_train)
scores, truth = model.decision_function(X_test), label_binarize(y_test, classes=range(10))
for k in range(10):
    precision, recall, thresholds = precision_recall_curve(truth[:, k], scores[:, k], drop_intermediate=True)
    print(k, len(precision), precision.sum().round(9), recall.sum().round(9), thresholds[:2])
    print(k, round(average_precision_score(truth[:, k], scores[:, k]), 12))
print(round(average_precision_score(truth, scores, average="micro"), 12))
print(classification_report(y_test, model.predict(X_test), digits=4))
