"""Classes that are never predicted, and what scikit-learn makes of them."""

import warnings

from sklearn.metrics import classification_report, f1_score, jaccard_score, precision_recall_fscore_support

warnings.simplefilter("always")
y_true, y_pred = [0, 0, 1, 1, 2], [0, 0, 0, 1, 1]
for zero_division in ("warn", 0, 1, float("nan")):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        print(precision_recall_fscore_support(y_true, y_pred, zero_division=zero_division))
        print(f1_score(y_true, y_pred, average="macro", labels=[0, 3], zero_division=zero_division))
        print(classification_report(y_true, y_pred, zero_division=zero_division))
        if zero_division in ("warn", 0, 1):
            print(jaccard_score(y_true, y_pred, average=None, labels=[0, 4], zero_division=zero_division))
    print([(each.category.__name__, str(each.message)) for each in caught])
