# %% [markdown]
# # How far will it go?
#
# 442 patients, ten measurements each, and how far their diabetes had advanced a year later. One number per patient
# hides how little is known; quantiles say it. This story asks whether the promised quantiles hold, whether they are
# worth more than none, and for whom they do not hold.
#
# It needs scikit-learn, for the data and the model, and matplotlib, for the pictures: `pip install "tallymark[plots]"
# scikit-learn`

# %%
import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.linear_model import QuantileRegressor

import tallymark as tm

X, y = load_diabetes(return_X_y=True)
test = np.arange(len(y)) % 3 == 0
alphas = (0.05, 0.25, 0.5, 0.75, 0.95)

# %% [markdown]
# One linear model for each quantile. Models that were fitted apart can cross each other, so each row is put in order.
# What they must beat are the quantiles of all patients, the same for everybody.

# %%
models = [QuantileRegressor(quantile=alpha, alpha=0).fit(X[~test], y[~test]) for alpha in alphas]
quantiles = np.sort(np.column_stack([model.predict(X[test]) for model in models]), axis=1)
everybody = np.tile(np.quantile(y[~test], alphas), (test.sum(), 1))

# %% [markdown]
# The pinball loss is lowest at the true quantiles, and `crps_quantile` puts all of them into one number, in the unit
# of the truth.

# %%
wanted = {"pinball": tm.Pinball(alphas=alphas), "crps": tm.CrpsQuantile(alphas=alphas)}
print(tm.compare(y[test], {"everybody alike": everybody, "the model": quantiles}, wanted))

# %% [markdown]
# Do the intervals hold as often as they promise? Half of the patients should lie between the inner quantiles, nine of
# ten between the outer ones. The interval score asks that they be narrow as well.

# %%
for level, columns in ((0.5, [1, 3]), (0.9, [0, 4])):
    promised = tm.evaluate(
        y[test], quantiles[:, columns], [tm.Coverage(level=level), tm.IntervalScore(level=level)], ci=0.95
    )
    print(promised, end="\n\n")

# %% [markdown]
# And for whom? The second column of the data is the sex of the patient, the third the body mass index; both have been
# scaled, so that 0 is the mean.

# %%
weight = np.where(X[test, 2] > 0, "heavier", "lighter")
by_weight = tm.evaluate(y[test], quantiles[:, [0, 4]], [tm.Coverage(level=0.9)], by={"weight": weight}, ci=0.95)
print(by_weight)

# %% [markdown]
# The median alone is a prediction like any other: what was predicted against what came, and what is left over.

# %%
middle = tm.evaluate(y[test], quantiles[:, 2], ["mae", "rmse", "mean_bias", "r2"], ci=0.95)
print(middle)

# %%
picture = middle.plot.predictions()
picture.save("quantiles-predictions.svg", theme="auto")
picture

# %%
picture = middle.plot.residuals()
picture.save("quantiles-residuals.svg", theme="auto")
picture
