"""How far two raters agree, by kappa and correlation."""

import numpy as np
from sklearn.metrics import cohen_kappa_score, hinge_loss, matthews_corrcoef, zero_one_loss

rng = np.random.RandomState(0)
first = rng.randint(1, 6, 200)
second = np.clip(first + rng.randint(-1, 2, 200), 1, 5)
for weights in (None, "linear", "quadratic"):
    print(weights, f"{cohen_kappa_score(first, second, weights=weights):.12f}")
    print(weights, f"{cohen_kappa_score(first, second, weights=weights, labels=[1, 2, 3]):.12f}")
print(f"{matthews_corrcoef(first, second):.12f} {zero_one_loss(first, second, normalize=False)}")
margins = rng.randn(200)
print(f"{hinge_loss(first > 2, margins):.12f}")
