"""Bootstrap intervals against loops over scikit-learn and fairlearn, in one run on one machine."""

from __future__ import annotations

import numpy as np
from fairlearn.metrics import MetricFrame
from measure import best_of, show_time, table
from sklearn.metrics import recall_score, roc_auc_score

import tallymark as tm

N = 100_000
SOME = 4  # resamples of a peer that are measured; the others cost the same


def rows():
    rng = np.random.default_rng(5)
    y = (rng.random(N) < 0.3).astype(int)
    return y, 1 / (1 + np.exp(-rng.normal(0, 1, N) - y)), rng.integers(0, 5, N), rng


def area() -> list[str]:
    """A thousand resamples of the area under the ROC curve."""
    print("intervals of auc ...", flush=True)
    y, p, _, rng = rows()

    def loop():
        for _ in range(SOME):
            index = rng.integers(0, N, N)
            roc_auc_score(y[index], p[index])

    ours = {"ci": tm.Intervals(method="bootstrap", resamples=1000)}
    best = best_of({"ours": lambda: tm.evaluate(y, p, ["auc"], **ours), "peer": loop}, seconds=4, least=2)
    return _line("auc, 1,000 resamples", best["ours"], best["peer"] * 1000 / SOME, "a loop over scikit-learn")


def groups() -> list[str]:
    """A hundred resamples of recall in five groups."""
    print("intervals of groups ...", flush=True)
    y, p, by, _ = rows()
    said = (p > 0.5).astype(int)

    def frame():
        quantiles = {"n_boot": SOME, "ci_quantiles": [0.025, 0.975], "random_state": 0}
        MetricFrame(metrics=recall_score, y_true=y, y_pred=said, sensitive_features=by, **quantiles)

    ours = {"by": by, "ci": tm.Intervals(method="bootstrap", resamples=100)}
    best = best_of({"ours": lambda: tm.evaluate(y, said, ["recall"], **ours), "peer": frame}, seconds=4, least=2)
    return _line("recall in 5 groups and overall, 100 resamples", best["ours"], best["peer"] * 100 / SOME, "fairlearn")


def _line(what: str, ours: float, peer: float, who: str) -> list[str]:
    return [what, show_time(ours), show_time(peer), who, f"**{peer / ours:.0f}×**"]


def sections() -> list[str]:
    return [
        "## Bootstrap intervals",
        "",
        f"{N:,} rows. The time of the peers is that of {SOME} resamples, scaled.",
        "",
        table(["interval", "tallymark", "peer", "which", "ratio"], [area(), groups()]),
        "",
    ]


if __name__ == "__main__":
    print("\n".join(sections()))
