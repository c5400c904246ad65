# %% [markdown]
# # Which reader of digits?
#
# The data are 1,797 handwritten digits of eight by eight pixels, read by two models. This example asks which model is
# better, whether there are enough rows to tell, and which digits are confused.
#
# You need scikit-learn for the data and the models, and matplotlib for the pictures: `pip install "tallymark[plots]"
# scikit-learn`

# %%
import numpy as np
from sklearn.datasets import load_digits
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.neighbors import KNeighborsClassifier

import tallymark as tm

X, y = load_digits(return_X_y=True)
test = np.arange(len(y)) % 3 == 0
near = KNeighborsClassifier(1).fit(X[~test], y[~test])
linear = LinearDiscriminantAnalysis(solver="lsqr", shrinkage=0.1).fit(X[~test], y[~test])

# %% [markdown]
# Both models predict a probability for each of the ten digits. Without a list of metrics, `evaluate` picks suitable
# ones.

# %%
models = {"nearest": near.predict_proba(X[test]), "linear": linear.predict_proba(X[test])}
report = tm.evaluate(y[test], models["linear"], ["accuracy", "fscore(average=macro)", "mcc", "logloss", "auc"], ci=0.95)
print(report)

# %% [markdown]
# Which digits are confused? The confusion matrix shows them all; `mistakes` lists the most frequent.

# %%
print(tm.classification_report(y[test], models["linear"]))
print(tm.confusion_matrix(y[test], models["linear"]).mistakes(5))

# %%
picture = report.plot.confusion()
picture.save("digits-confusion.svg", theme="auto")
picture

# %% [markdown]
# Which model is better? It depends on the metric. The nearest-neighbour model is right significantly more often. But it
# is always certain, even when it is wrong, and log loss penalizes that most: for log loss, the difference is not
# significant.

# %%
found = tm.compare(y[test], models, ["accuracy", "fscore(average=macro)", "logloss", "brier"])
print(found)

# %%
picture = found.plot.differences()
picture.save("digits-differences.svg", theme="auto")
picture

# %% [markdown]
# A gate for a pipeline: it rejects a model whose scores are lower than these.

# %%
print(tm.accept(found.reports["nearest"], "accuracy > 0.97 and fscore(average=macro) > 0.97"))
