# %% [markdown]
# # Who is about to leave?
#
# Of 8,000 customers about one in twenty leaves. A model gives each a risk, and the company can call a few of them.
# Accuracy says nothing here: a model that never warns is right for 95 of 100. This story asks how good the order of
# the risks is, how sure that is, for which customers it holds, and from which risk on a call pays.
#
# It needs scikit-learn, for the model, and matplotlib, for the pictures: `pip install "tallymark[plots]"
# scikit-learn`

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
# The model learns from one half and is judged on the other.

# %%
X = np.column_stack([months, complaints, visits])
X = (X - X.mean(axis=0)) / X.std(axis=0)
learn = np.arange(n) < n // 2
model = LogisticRegression(tol=1e-8).fit(X[learn], left[learn])
y, risk, plan = left[~learn], model.predict_proba(X[~learn])[:, 1], plan[~learn]
print(f"{y.mean():.1%} left")

# %% [markdown]
# What to look at, says `choose`:

# %%
advice = tm.choose("probabilities", classes="two", imbalanced=True, sure_mistakes=False, calibrated=True)
print(advice)

# %%
wanted = ["average_precision", "auc", "brier", "ece", "accuracy"]
report = tm.evaluate(y, risk, wanted, ci=0.95, by={"plan": plan})
print(report)

# %% [markdown]
# Accuracy is that of never warning. `average_precision` of a model that knows nothing is the share of those who left,
# so this one is several times better than chance, and far from perfect; its interval is wide, since only some hundred
# left.

# %%
picture = report.plot.precision_recall()
picture.save("churn-precision-recall.svg", theme="auto")
picture

# %% [markdown]
# The plans differ: the order of risks is far worse for business customers, and the intervals say that it is not
# chance.

# %%
picture = report.plot.slices("auc")
picture.save("churn-slices.svg", theme="auto")
picture

# %% [markdown]
# Can the risks be taken at their word?

# %%
picture = report.plot.reliability()
picture.save("churn-reliability.svg", theme="auto")
picture

# %% [markdown]
# A call costs 5, and a customer who leaves without one costs 60. From which risk on does a call pay? The threshold is
# found on the rows from which the model learned, and judged on the others.

# %%
known = model.predict_proba(X[learn])[:, 1]
threshold = tm.best_threshold(left[learn], known, fp=5, fn=60)
print(f"call from a risk of {threshold:.3f} on")
print(tm.confusion_matrix(y, risk, threshold=threshold))

# %%
calls = {"precision": tm.Precision(threshold=threshold), "recall": tm.Recall(threshold=threshold)}
print(tm.evaluate(y, risk, calls, ci=0.95, by={"plan": plan}))

# %% [markdown]
# What was asked for before anybody looked, decided by the report: not by the values alone, but by the lower end of
# the interval, and by the plan for which it is worst.

# %%
print(tm.accept(report, "auc.lo > 0.75 and average_precision.lo > 0.2 and auc.worst > 0.8"))
