"""Samples of everything that is written and read again: reports, comparisons, results, tallies and histories.

`python -m tests.formats.samples` stores those of the present version in `stored`, once: what a release wrote must load
in all later ones.
"""

from __future__ import annotations

import io
import math
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

import tallymark as tm

STORED = Path(__file__).with_name("stored")

RNG = np.random.default_rng(1)
N = 80
LABELS, GUESSES = RNG.integers(0, 2, (2, N))
SCORES = RNG.random(N)
CLASSES = RNG.integers(0, 3, N)
SPECIES = np.array(["cat", "dog", "owl"])[CLASSES]
TABLE = RNG.dirichlet(np.ones(3), N)
TRUTH, VALUES = RNG.gamma(2.0, 1.0, (2, N))
SITE = RNG.choice(["a", "b", "c"], N)

REPORTS = {
    "values": lambda: tm.evaluate(TRUTH, VALUES, ["rmse", "r2", "mape", "d2_pinball"], ci=0.95),
    "labels": lambda: tm.evaluate(
        SPECIES, SPECIES[::-1], ["accuracy", "fscore(average=macro)", "recall(average=none)"]
    ),
    "whole labels": lambda: tm.evaluate(CLASSES, CLASSES[::-1], ["recall(average=none)", "precision(average=none)"]),
    "tables": lambda: tm.evaluate(SPECIES, SPECIES[::-1], ["confusion_matrix", "classification_report"]),
    "weighted tables": lambda: tm.evaluate(CLASSES, CLASSES[::-1], ["confusion_matrix", "mcc"], weights=SCORES),
    "curves": lambda: tm.evaluate(
        LABELS, SCORES, ["roc_curve", "pr_curve", "det_curve", "lift_curve", "threshold_table", "reliability_curve"]
    ),
    "scores": lambda: tm.evaluate(
        LABELS, SCORES, ["auc", "brier", "ece"], ci=tm.Intervals(0.9, seed=4), weights=SCORES
    ),
    "classes": lambda: tm.evaluate(SPECIES, TABLE, ["auc", "logloss", "accuracy"], classes=["cat", "dog", "owl"]),
    "outputs": lambda: tm.evaluate(np.c_[TRUTH, VALUES], np.c_[VALUES, VALUES], ["rmse(outputs=each)", "r2"], ci=0.9),
    "undefined": lambda: tm.evaluate([1, 1], [1, 0], ["mcc", "auc", "specificity", "confusion_matrix"]),
    "constant": lambda: tm.evaluate([2.0, 2.0], [1.0, 2.0], ["r2", "r2(undefined=0)", "mape"]),
    "failed": lambda: tm.evaluate(TRUTH, -VALUES, ["rmse", "gamma_deviance"], errors="report"),
    "too large": lambda: tm.evaluate([1e300, 1.0], [-1e300, 2.0], ["mse", "mae"]),
    "large weights": lambda: tm.evaluate([1.0, 2.0], [1.0, 3.0], ["mae"], weights=[1e308, 1e308]),
    "dropped": lambda: tm.evaluate([1.0, math.nan, 3.0], [1.0, 2.0, 4.0], ["mae"], missing="drop"),
    "positive": lambda: tm.evaluate(SPECIES, SPECIES[::-1], ["f1", "recall"], positive="owl", average="binary"),
    "queries": lambda: tm.evaluate(LABELS, SCORES, ["ndcg", "auc"], query=np.arange(N) // 10),
    "infinite": lambda: tm.evaluate([1, 0], [0.0, 0.2], ["logloss(clip=0)", "brier"]),
    "defaults": lambda: tm.evaluate([0, 1, 1], [0.2, 0.7, 0.4]),
    "names": lambda: tm.evaluate(TRUTH, VALUES, {"error in euros": "mae", "R2": "r2"}, kind="value"),
    "groups": lambda: tm.evaluate(LABELS, SCORES, ["auc", "gap(recall)", "accuracy"], by={"site": SITE}, ci=0.95),
    "groups of two columns": lambda: tm.evaluate(
        TRUTH, VALUES, ["mae"], by={"site": SITE, "class": CLASSES}, min_rows=7
    ),
    "baselines": lambda: tm.evaluate(LABELS, 0 * LABELS, ["accuracy", "recall", "mcc"], ci=0.95),
    "groups with everything": lambda: tm.evaluate(
        LABELS,
        GUESSES * SCORES,
        ["accuracy", "auc", "mcc", "rmse", "coverage", "recall(average=none)", "worst(recall)", "confusion_matrix"],
        by={"site": SITE, "class": CLASSES},
        ci=0.95,
        errors="report",
    ),
    "accepted": lambda: tm.evaluate(TRUTH, VALUES, ["mae", "r2"]).with_acceptance(["mae < 9", "r2 > 0.5 or mae < 3"]),
    "not decided": lambda: tm.evaluate([2.0, 2.0], [1.0, 2.0], ["r2"]).with_acceptance("r2 > 0.5"),
}

MODELS = {"one": SCORES, "two": 1 - SCORES, "three": 0.5 * LABELS + 0.2 * SCORES}

COMPARISONS = {
    "two models": lambda: tm.compare(TRUTH, {"one": VALUES, "two": VALUES[::-1]}, ["mae", "r2"]),
    "three models": lambda: tm.compare(LABELS, MODELS, ["auc", "accuracy", "ece"]),
    "baseline": lambda: tm.compare(LABELS, MODELS, ["auc", "brier"], baseline="one", correction="holm", ci=0.9),
    "no direction": lambda: tm.compare(TRUTH, {"one": VALUES, "two": VALUES[::-1]}, ["mean_bias"]),
    "equal models": lambda: tm.compare(LABELS, {"one": SCORES, "two": SCORES, "three": GUESSES * SCORES}, ["auc"]),
    "undefined": lambda: tm.compare(0 * LABELS, {"one": GUESSES, "two": LABELS}, ["accuracy", "recall", "mcc"]),
}


def lines(label: str, values: Any) -> bytes:
    """A file with a value in each row."""
    return "\n".join([f"row_id,{label}", *(f"{k},{value}" for k, value in enumerate(values)), ""]).encode()


def score(answers: Any, predictions: Any, **more: Any) -> Any:
    """The result of a submission."""
    files = (io.BytesIO(lines("label", each)) for each in (answers, predictions))
    return tm.submissions.score_submission(*files, **more)


def score_classes() -> Any:
    """The result of a submission with a probability per class."""
    rows = [",".join(map(repr, row)) for row in TABLE.tolist()]
    files = io.BytesIO(lines("label", SPECIES)), io.BytesIO(lines("cat,dog,owl", rows))
    return tm.submissions.score_submission(*files, task="probabilities")


SUBMISSIONS = {
    "labels": lambda: score(SPECIES, SPECIES[::-1]),
    "labels with intervals": lambda: score(SPECIES, SPECIES[::-1], ci=0.95),
    "rows missing": lambda: score(SPECIES, SPECIES[:-30]),
    "rows extra": lambda: score(SPECIES[:-30], SPECIES),
    "challenge": lambda: score(SPECIES, SPECIES[::-1], mode="challenge"),
    "numbers": lambda: score(TRUTH, VALUES, task="numbers"),
    "numbers in a challenge": lambda: score(TRUTH, VALUES, task="numbers", mode="challenge", ci=0.9),
    "probabilities": lambda: score(LABELS, SCORES, task="probabilities", positive="1"),
    "probabilities of classes": score_classes,
    "constant": lambda: score(SPECIES, ["cat"] * N),
}


def command(*arguments: str, **files: bytes) -> str:
    """What a command prints as JSON about files."""
    with tempfile.TemporaryDirectory() as folder:
        for name, content in files.items():
            (Path(folder) / f"{name}.csv").write_bytes(content)
        run = [sys.executable, "-m", "tallymark", *arguments, "--json"]
        return subprocess.run(run, cwd=folder, capture_output=True, text=True, check=False).stdout


REJECTIONS = {
    "wrong values": lambda: command(
        *("score", "answers.csv", "submission.csv", "--task", "numbers"),
        answers=lines("label", TRUTH),
        submission=lines("label", ["x", *VALUES[1:]]),
    ),
    "missing column": lambda: command(
        *("score", "answers.csv", "submission.csv"), answers=lines("label", SPECIES), submission=b"a,b\n1,2\n"
    ),
    "duplicate ids": lambda: command("check", "submission.csv", submission=lines("label", SPECIES) + b"3,cat\n"),
    "missing rows": lambda: command(
        *("check", "submission.csv", "--template", "sample.csv", "--missing", "reject"),
        sample=lines("label", SPECIES),
        submission=lines("label", SPECIES[:-9]),
    ),
    "not text": lambda: command("check", "submission.csv", submission=b"row_id,label\n0,\xff\n"),
}
CHECKS = {
    "complete": lambda: command("check", "submission.csv", submission=lines("label", SPECIES)),
    "template": lambda: command(
        *("check", "submission.csv", "--template", "sample.csv"),
        sample=lines("label", SPECIES[:-9]),
        submission=lines("label", SPECIES).replace(b"7,", b"x,"),
    ),
}


class MeanModel:
    """A model that predicts the mean."""

    def fit(self, X: Any, y: Any) -> MeanModel:  # noqa: N803 - as theirs
        self.mean = float(np.mean(y))
        return self

    def predict(self, X: Any) -> Any:  # noqa: N803 - as theirs
        return np.full(len(X), self.mean)


class FailingModel(MeanModel):
    """A model that fails on some folds."""

    def fit(self, X: Any, y: Any) -> MeanModel:  # noqa: N803 - as theirs
        if X[0, 0] == VALUES[0]:
            raise ValueError("the first row is here")
        return super().fit(X, y)


CROSS_VALIDATIONS = {
    "numbers": lambda: tm.model_selection.cross_validate(MeanModel(), VALUES[:, None], TRUTH, metrics=["rmse", "r2"]),
    "failed folds": lambda: tm.model_selection.cross_validate(
        FailingModel(), VALUES[:, None], TRUTH, metrics=["rmse"], errors="report"
    ),
    "undefined": lambda: tm.model_selection.cross_validate(
        MeanModel(), VALUES[:, None], 0 * TRUTH, metrics=["r2", "mae"], cv=3
    ),
}


def histories() -> dict[str, Callable[[], Any]]:
    """Histories of trainings."""
    sets = [tm.training.EvalSet(name, LABELS) for name in ("train", "valid")]

    def train(**settings: Any) -> Any:
        evaluator = tm.training.Evaluator(["logloss", "auc"], sets, **settings)
        for k in range(8):
            share = min(k, 5) / 10
            evaluator.step(k, {"train": (1 - share) * SCORES + share * LABELS, "valid": SCORES})
        return evaluator.history

    def undefined() -> Any:
        evaluator = tm.training.Evaluator(["auc", "mae"], [tm.training.EvalSet("valid", 0 * LABELS)])
        evaluator.step(0, {"valid": SCORES})
        return evaluator.history

    return {
        "early stopping": lambda: train(early_stopping=tm.training.EarlyStopping(2)),
        "every third": lambda: train(period=3),
        "undefined": undefined,
    }


def tally(metrics: Any, y: Any, p: Any, **settings: Any) -> tm.Tally:
    """A tally of two batches, whose rows have keys if there are intervals."""
    y, p = np.asarray(y), np.asarray(p)
    parts = np.array_split(np.arange(len(y)), 2)
    keys = [{"keys": part} if "ci" in settings else {} for part in parts]
    first, second = (
        tm.Tally(metrics, **settings).update(y[k], p[k], **more) for k, more in zip(parts, keys, strict=True)
    )
    return first + second


TALLIES: Mapping[str, Callable[[], tm.Tally]] = {
    "numbers": lambda: tally(["rmse", "r2", "median_absolute_error", "pinball(alphas=0.9)"], TRUTH, VALUES),
    "labels": lambda: tally(
        ["accuracy", "f1_macro", "recall(average=none)"], SPECIES, SPECIES[::-1], classes=["cat", "dog", "owl"]
    ),
    "scores": lambda: tally(["auc", "auc(bounded=64)", "logloss", "brier", "accuracy"], LABELS, SCORES),
    "intervals": lambda: tally(["wape", "rmse"], TRUTH, VALUES, ci=tm.Intervals(0.9, resamples=50, seed=3)),
    "missing": lambda: tally(["mae"], [1.0, math.nan, 3.0, 4.0], [1.0, 2.0, 5.0, 4.5], missing="drop"),
    "weights": lambda: tm.Tally(["mae", "r2"]).update(TRUTH, VALUES, weights=SCORES),
    "groups": lambda: tm.Tally(["mae", "rmse"], by="site", ci=0.9).update(TRUTH, VALUES, by=SITE),
    "queries": lambda: tm.Tally(["ndcg", "map"]).update(LABELS, SCORES, query=np.arange(N) // 10),
    "failures": lambda: tally(["rmse", "gamma_deviance"], TRUTH, -VALUES, errors="report"),
}

DOCUMENTS: Mapping[str, Mapping[str, Callable[[], Any]]] = {
    "report": REPORTS,
    "comparison": COMPARISONS,
    "submission": SUBMISSIONS,
    "rejection": REJECTIONS,
    "check": CHECKS,
    "cross-validation": CROSS_VALIDATIONS,
    "history": histories(),
}
"""By schema: what writes a document."""


def written(sample: Callable[[], Any]) -> str:
    """A document as JSON."""
    made = sample()
    return made if isinstance(made, str) else str(made.to_json())


def store(folder: Path) -> None:
    """Write every sample into a new folder."""
    for schema, documents in DOCUMENTS.items():
        (folder / schema).mkdir(parents=True)
        for name, sample in documents.items():
            (folder / schema / f"{name.replace(' ', '-')}.json").write_text(written(sample))
    (folder / "tally").mkdir()
    for name, make in TALLIES.items():
        made = make()
        (folder / "tally" / f"{name}.tally").write_bytes(made.to_bytes())
        (folder / "tally" / f"{name}.json").write_text(made.report().to_json())


if __name__ == "__main__":
    store(STORED / tm.__version__)
