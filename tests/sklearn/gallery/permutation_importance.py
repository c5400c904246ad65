"""Which columns a forest needs, by the loss of AUC where they are shuffled."""

from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.inspection import permutation_importance
from sklearn.model_selection import train_test_split

X, y = load_breast_cancer(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X[:, :8], y, random_state=0)
forest = RandomForestClassifier(20, random_state=0).fit(X_train, y_train)
found = permutation_importance(forest, X_test, y_test, scoring=["roc_auc", "accuracy"], n_repeats=5, random_state=0)
for name, each in found.items():
    print(name, each.importances_mean.round(12), each.importances_std.round(12))
