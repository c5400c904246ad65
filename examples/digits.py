# %% [markdown]
# # Which reader of digits?
#
# 1,797 handwritten digits, eight by eight pixels each. Two models read them. This story asks which is better, whether
# the rows are enough to say so, and which digits are taken for which.
#
# It needs scikit-learn, for the data and the models, and matplotlib, for the pictures: `pip install
# "tallymark[plots]" scikit-learn`

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
# Both give a probability to each of the ten digits. Without a list of metrics, `evaluate` takes those that fit.

# %%
models = {"nearest": near.predict_proba(X[test]), "linear": linear.predict_proba(X[test])}
report = tm.evaluate(y[test], models["linear"], ["accuracy", "fscore(average=macro)", "mcc", "logloss", "auc"], ci=0.95)
print(report)

# %% [markdown]
# Which digits are taken for which? The confusion matrix has the answer, and `mistakes` the short one.

# %%
print(tm.classification_report(y[test], models["linear"]))
print(tm.confusion_matrix(y[test], models["linear"]).mistakes(5))

# %%
picture = report.plot.confusion()
picture.save("digits-confusion.svg", theme="auto")
picture

# %% [markdown]
# Which model is better? It depends on the metric. The model of the nearest digit is right significantly more often. But
# it is always certain, even where it is wrong, which the log loss punishes most: there, the difference is not
# significant.

# %%
found = tm.compare(y[test], models, ["accuracy", "fscore(average=macro)", "logloss", "brier"])
print(found)

# %%
picture = found.plot.differences()
picture.save("digits-differences.svg", theme="auto")
picture

# %% [markdown]
# A gate in a pipeline: a model that reads worse than this is not let through.

# %%
print(tm.accept(found.reports["nearest"], "accuracy > 0.97 and fscore(average=macro) > 0.97"))
