"""Draw the pictures of docs/how-to/plot.md from data that come with scikit-learn: python docs/draw.py [FOLDER]."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import tallymark as tm
from tallymark.training import EvalSet, Evaluator, History

FOLDER = Path(__file__).parent / "images" / "plots"
OF_PROBABILITIES = ("roc", "precision_recall", "score_histogram", "lift", "thresholds", "reliability")


def draw(folder: Path) -> list[Path]:
    """Write every picture, in the theme of the reader."""
    x, y = load_breast_cancer(return_X_y=True)
    y = 1 - y  # the malignant ones
    model = make_pipeline(StandardScaler(), LogisticRegression(C=0.05))
    p = cross_val_predict(model, x[:, :2], y, method="predict_proba")[:, 1]
    naive = cross_val_predict(GaussianNB(), x[:, 5:8], y, method="predict_proba")[:, 1]
    size = np.array(["small", "medium", "large"])[np.digitize(x[:, 2], np.quantile(x[:, 2], (1 / 3, 2 / 3)))]
    report = tm.evaluate(y, p, ["accuracy", "auc", "logloss"], kind="probability", ci=0.95, by={"size": size})
    digits = load_digits(return_X_y=True)
    said = cross_val_predict(GaussianNB(), *digits)
    labels = tm.evaluate(digits[1], said, ["accuracy"])
    diabetes = load_diabetes(return_X_y=True)
    bounds = np.quantile(diabetes[0][:, 0], (1 / 3, 2 / 3))
    age = np.array(["younger", "middle", "older"])[np.digitize(diabetes[0][:, 0], bounds)]
    numbers = tm.evaluate(diabetes[1], cross_val_predict(LinearRegression(), *diabetes), by={"age": age})
    models = tm.compare(y, {"logistic": p, "naive Bayes": naive}, ["auc"], kind="probability")
    found = {
        **{name: getattr(report.plot, name)() for name in OF_PROBABILITIES},
        "slices": report.plot.slices("accuracy"),
        "confusion": labels.plot.confusion(),
        "class_balance": labels.plot.class_balance(),
        **{name: getattr(numbers.plot, name)() for name in ("residuals", "predictions", "qq", "residuals_by_group")},
        "learning": training(*diabetes).plot(),
        "differences": models.plot.differences(),
        "models": models.plot.roc(),
    }
    folder.mkdir(parents=True, exist_ok=True)
    for name, plot in found.items():
        plot.save(folder / f"{name}.svg", theme="auto")
    return [folder / f"{name}.svg" for name in found]


def training(x: np.ndarray, y: np.ndarray) -> History:
    """The history of trees that are added one by one."""
    model = GradientBoostingRegressor(n_estimators=80, random_state=0).fit(x[::2], y[::2])
    evaluator = Evaluator(["rmse", "r2"], [EvalSet("validation", y[1::2]), EvalSet("training", y[::2])])
    predicted = zip(model.staged_predict(x[1::2]), model.staged_predict(x[::2]), strict=True)
    for number, (validation, train) in enumerate(predicted):
        evaluator.step(number, {"validation": validation, "training": train})
    return evaluator.history


if __name__ == "__main__":
    draw(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)
