# %% [markdown]
# # Who is about to leave?
#
# About one in twenty of 8,000 customers leaves. A model predicts each customer's risk, and the company can call a few
# of them. Accuracy is useless here: a model that never warns is right for 95 of 100. This example asks how well the
# model ranks the customers, how certain that result is, which customers it holds for, and above which risk a call pays
# off.
#
# You need scikit-learn for the model and matplotlib for the pictures: `pip install "tallymark[plots]" scikit-learn`

# %%
import numpy as np
from sklearn.linear_model import LogisticRegression

import tallymark as tm

rng = np.random.default_rng(11)
n = 16_000
plan = rng.choice(["basic", "family", "business"], n, p=[0.6, 0.3, 0.1])
months = rng.exponential(24, n)
complaints = rng.poisson(0.6, n)
visits = rng.poisson(8, n)
odds = -3.2 - 0.05 * months + 1.6 * complaints - 0.15 * visits + np.where(plan == "business", 0.8, 0.4)
left = rng.random(n) < 1 / (1 + np.exp(-odds * np.where(plan == "business", 0.5, 1)))

# %% [markdown]
# The model is trained on one half of the customers and evaluated on the other.

# %%
X = np.column_stack([months, complaints, visits])
X = (X - X.mean(axis=0)) / X.std(axis=0)
learn = np.arange(n) < n // 2
model = LogisticRegression(tol=1e-8).fit(X[learn], left[learn])
y, risk, plan = left[~learn], model.predict_proba(X[~learn])[:, 1], plan[~learn]
print(f"{y.mean():.1%} left")

# %% [markdown]
# `choose` suggests which metrics to look at:

# %%
advice = tm.choose("probabilities", classes="two", imbalanced=True, sure_mistakes=False, calibrated=True)
print(advice)

# %%
wanted = ["average_precision", "auc", "brier", "ece", "accuracy"]
report = tm.evaluate(y, risk, wanted, ci=0.95, by={"plan": plan})
print(report)

# %% [markdown]
# Accuracy is the same as for a model that never warns. The `average_precision` of random guessing is the share of
# customers who left, so this model is several times better than chance, but far from perfect. Its interval is wide,
# since only a few hundred customers left.

# %%
picture = report.plot.precision_recall()
picture.save("churn-precision-recall.svg", theme="auto")
picture

# %% [markdown]
# The plans differ: the model ranks business customers far worse, and the intervals show that this is not due to chance.

# %%
picture = report.plot.slices("auc")
picture.save("churn-slices.svg", theme="auto")
picture

# %% [markdown]
# Are the predicted risks well calibrated?

# %%
picture = report.plot.reliability()
picture.save("churn-reliability.svg", theme="auto")
picture

# %% [markdown]
# A call costs 5, and a customer who leaves without a call costs 60. Above which risk does a call pay off? The threshold
# is chosen on the training rows and evaluated on the others.

# %%
known = model.predict_proba(X[learn])[:, 1]
threshold = tm.best_threshold(left[learn], known, fp=5, fn=60)
print(f"call from a risk of {threshold:.3f} on")
print(tm.confusion_matrix(y, risk, threshold=threshold))

# %%
calls = {"precision": tm.Precision(threshold=threshold), "recall": tm.Recall(threshold=threshold)}
print(tm.evaluate(y, risk, calls, ci=0.95, by={"plan": plan}))

# %% [markdown]
# Finally, check the report against requirements that were set in advance. They apply not only to the values, but to
# the lower ends of the intervals and to the worst plan.

# %%
print(tm.accept(report, "auc.lo > 0.75 and average_precision.lo > 0.2 and auc.worst > 0.8"))
