"""A grid search that follows five scorers and refits by one of them."""

from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

X, y = load_breast_cancer(return_X_y=True)
pipeline = make_pipeline(StandardScaler(), LogisticRegression())
scoring = ["accuracy", "balanced_accuracy", "f1", "roc_auc", "neg_log_loss"]
grid = {"logisticregression__C": [0.01, 0.1, 1, 10]}
search = GridSearchCV(pipeline, grid, scoring=scoring, refit="roc_auc", cv=5).fit(X, y)
for name in scoring:
    print(name, search.cv_results_[f"mean_test_{name}"], search.cv_results_[f"rank_test_{name}"])
print(search.best_params_, search.best_score_)
