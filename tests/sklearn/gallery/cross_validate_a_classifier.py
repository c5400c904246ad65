"""Cross-validation of a classifier of three classes with scorers of labels and of probabilities."""

from sklearn.datasets import load_iris
from sklearn.model_selection import cross_validate
from sklearn.naive_bayes import GaussianNB

X, y = load_iris(return_X_y=True)
scoring = ("f1_macro", "f1_weighted", "precision_macro", "recall_micro", "roc_auc_ovr", "roc_auc_ovo_weighted")
scores = cross_validate(GaussianNB(), X, y, scoring=scoring, cv=5, return_train_score=True)
for name in scoring:
    print(name, scores[f"test_{name}"].round(12), scores[f"train_{name}"].round(12))
