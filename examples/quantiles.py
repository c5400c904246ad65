# %% [markdown]
# # How far will it go?
#
# The data are 442 patients with ten measurements each, and the progression of their diabetes after a year. A single
# number per patient hides how uncertain a prediction is; quantiles show it. This example asks whether the predicted
# quantiles are calibrated, whether they are better than a baseline, and for which patients they fail.
#
# You need scikit-learn for the data and the model, and matplotlib for the pictures: `pip install "tallymark[plots]"
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
# Fit one linear model per quantile. Quantiles from separate models can cross, so sort each row. The baseline is the
# quantiles of all training patients, the same for everybody.

# %%
models = [QuantileRegressor(quantile=alpha, alpha=0).fit(X[~test], y[~test]) for alpha in alphas]
quantiles = np.sort(np.column_stack([model.predict(X[test]) for model in models]), axis=1)
everybody = np.tile(np.quantile(y[~test], alphas), (test.sum(), 1))

# %% [markdown]
# The pinball loss is lowest at the true quantiles. `crps_quantile` combines all quantiles into one number, in the unit
# of the truth.

# %%
wanted = {"pinball": tm.Pinball(alphas=alphas), "crps": tm.CrpsQuantile(alphas=alphas)}
print(tm.compare(y[test], {"everybody alike": everybody, "the model": quantiles}, wanted))

# %% [markdown]
# Do the intervals have the coverage they claim? Half of the patients should lie between the inner quantiles, and nine
# of ten between the outer ones. The interval score also rewards narrow intervals.

# %%
for level, columns in ((0.5, [1, 3]), (0.9, [0, 4])):
    promised = tm.evaluate(
        y[test], quantiles[:, columns], [tm.Coverage(level=level), tm.IntervalScore(level=level)], ci=0.95
    )
    print(promised, end="\n\n")

# %% [markdown]
# And for which patients? The second column of the data is the patient's sex, the third the body mass index; both are
# scaled so that 0 is the mean.

# %%
weight = np.where(X[test, 2] > 0, "heavier", "lighter")
by_weight = tm.evaluate(y[test], quantiles[:, [0, 4]], [tm.Coverage(level=0.9)], by={"weight": weight}, ci=0.95)
print(by_weight)

# %% [markdown]
# The median is a prediction like any other. The plots show predicted against actual values, and the residuals.

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
