"""Insurance claims: deviances of generalised linear models."""

import numpy as np
from sklearn.linear_model import GammaRegressor, PoissonRegressor
from sklearn.metrics import d2_tweedie_score, mean_gamma_deviance, mean_poisson_deviance, mean_tweedie_deviance

rng = np.random.RandomState(0)
X = rng.rand(1000, 4)
exposure = rng.rand(1000) + 0.1
counts = rng.poisson(np.exp(X @ [0.5, -1, 0.2, 0.3]))
amounts = rng.gamma(2, np.exp(X @ [1, 0.3, -0.4, 0]))
for model, y, deviance in (
    (PoissonRegressor(), counts, mean_poisson_deviance),
    (GammaRegressor(), amounts, mean_gamma_deviance),
):
    predicted = model.fit(X, y, sample_weight=exposure).predict(X)
    print(f"{deviance(y, predicted, sample_weight=exposure):.12f} {deviance(y, predicted):.12f}")
    for power in (1, 1.3, 1.7, 1.9):
        print(power, f"{mean_tweedie_deviance(y, predicted, power=power):.12f}")
        print(power, f"{d2_tweedie_score(y, predicted, power=power, sample_weight=exposure):.12f}")
