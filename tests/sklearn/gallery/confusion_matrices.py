"""Confusion matrices of names, normalised in each way, with weights."""

import numpy as np
from sklearn.datasets import load_wine
from sklearn.metrics import ConfusionMatrixDisplay, confusion_matrix
from sklearn.svm import SVC

X, y = load_wine(return_X_y=True, as_frame=False)
names = np.array(["red", "rosé", "white"])[y]
predicted = SVC().fit(X[::2], names[::2]).predict(X)
for normalize in (None, "true", "pred", "all"):
    print(confusion_matrix(names, predicted, normalize=normalize))
    print(confusion_matrix(names, predicted, normalize=normalize, sample_weight=np.arange(1, len(y) + 1)))
print(confusion_matrix(names, predicted, labels=["white", "red"]))
print(ConfusionMatrixDisplay.from_predictions(names, predicted).confusion_matrix)
