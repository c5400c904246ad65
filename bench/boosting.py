"""Evaluation in a round of XGBoost's and LightGBM's training, by our callbacks and by their own metrics."""

from __future__ import annotations

from itertools import count

import lightgbm as lgb
import numpy as np
import xgboost as xgb
from measure import best_of, show_time, table

import tallymark as tm
from tallymark.training.frameworks import lightgbm as in_lightgbm
from tallymark.training.frameworks import xgboost as in_xgboost

ROWS = 100_000
METRICS = ["auc", "logloss", "error_rate", "average_precision", "brier"]
OF_XGBOOST = ["auc", "logloss", "error", "aucpr", "rmse"]
OF_LIGHTGBM = ["auc", "binary_logloss", "binary_error", "average_precision", "rmse"]
ROUNDS = 5


def made(n: int):
    rng = np.random.default_rng(1)
    x = {name: rng.normal(size=(n, 5)) for name in ("train", "valid")}
    return x, {name: (held[:, 0] + rng.logistic(size=n) > 0).astype(int) for name, held in x.items()}


def evaluator_of(sets) -> tm.training.Evaluator:
    return tm.training.Evaluator(
        METRICS, sets, early_stopping=tm.training.EarlyStopping(10**9, monitor=("valid", "auc"))
    )


def xgboost_round(n: int):
    """A round of theirs and one of ours, on the margins that the booster keeps of its rows."""
    x, y = made(n)
    data = {name: xgb.DMatrix(x[name], y[name]) for name in x}
    evals = [(held, name) for name, held in data.items()]
    settings = {"objective": "binary:logistic", "max_depth": 4, "nthread": 1, "eval_metric": OF_XGBOOST}
    booster = xgb.train(settings, data["train"], ROUNDS, evals=evals, verbose_eval=False)
    evaluator = evaluator_of([in_xgboost.as_eval_set(name, held) for name, held in data.items()])
    callback, rounds = in_xgboost.EvaluatorCallback(evaluator, data), count()
    return lambda: callback.after_iteration(booster, next(rounds), {}), lambda: booster.eval_set(evals, 0)


def lightgbm_round(n: int):
    x, y = made(n)

    def trained(metric):
        first = lgb.Dataset(x["train"], y["train"])
        second = lgb.Dataset(x["valid"], y["valid"], reference=first)
        settings = {"objective": "binary", "metric": metric, "num_threads": 1, "verbose": -1}
        sets = {"valid_sets": [first, second], "valid_names": ["train", "valid"], "keep_training_booster": True}
        return lgb.train(settings, first, ROUNDS, **sets), first, second

    theirs = trained(OF_LIGHTGBM)[0]
    booster, first, second = trained("None")
    sets = [in_lightgbm.as_eval_set(name, held) for name, held in (("train", first), ("valid", second))]
    callback, rounds = in_lightgbm.EvaluatorCallback(evaluator_of(sets)), count(1)

    def step() -> None:
        booster._Booster__is_predicted_cur_iter = [False, False]  # as after a round: predictions are to be computed
        callback.evaluator.step(next(rounds), lambda: callback._predict(booster))

    return step, lambda: (theirs.eval_train(), theirs.eval_valid())


def sections() -> list[str]:
    rows, threads = [], tm.get_threads()
    tm.set_threads(1)  # theirs wait actively for each other, which shows where anything else runs
    for library, round_of in (("XGBoost", xgboost_round), ("LightGBM", lightgbm_round)):
        for n in (ROWS, 1_000):
            print(f"boosting, {library}, {n:,} ...", flush=True)
            ours, theirs = round_of(n)
            best = best_of({"ours": ours, "theirs": theirs}, seconds=3)
            times = [show_time(best["ours"]), show_time(best["theirs"]), f"**{best['theirs'] / best['ours']:.2g}×**"]
            rows.append([f"{library}, {n:,}", *times])
    tm.set_threads(threads)
    return [
        "## A round inside XGBoost and LightGBM",
        "",
        f"Two eval sets and five metrics each, by our callback ({', '.join(METRICS)}) and by their own",
        f"({', '.join(OF_XGBOOST)}; {', '.join(OF_LIGHTGBM)}),",
        "on one thread each, from the margins that they keep of their rows to the decision to stop.",
        "",
        table(["library and rows of a set", "our callback", "their metrics", "ratio"], rows),
        "",
    ]


if __name__ == "__main__":
    print("\n".join(sections()))
