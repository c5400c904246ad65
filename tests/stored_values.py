"""Stores the values of every metric, report, score and ``--json`` output for seeded inputs, and compares them later.

A refactoring must not change a number. Store the values before it, and compare after each step:

    python -m tests.stored_values store build/before.json
    python -m tests.stored_values compare build/before.json

A number of seeds after the file makes it faster: `compare build/before.json 1` compares those of the first seed.

Only numbers are stored, to the bit, and no texts. What is derived from intervals (ends, p-values, groups) is stored
under labels that begin with "intervals" alone, so that a change of a method shows there. A call that fails is stored by
its failure. Everything goes through public names, so that modules can move.
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import csv

import tallymark as tm

SEEDS = range(8)
INTERVAL_SEEDS = range(1)  # which take as long as the values of four seeds
DERIVED = frozenset(
    {
        "lo",
        "hi",
        "p",
        "p_corrected",
        "detectable",
        "interval",
        "intervals",
        "ci",
        "groups",
        "letters",
        "rank_group",
    }
)
TEXTS = frozenset(
    {"notes", "note", "reason", "description", "better", "unit", "verdict", "method", "title", "version", "metric"}
)


@cache
def metrics() -> list[Any]:
    """Every metric with every sample of its parameters."""
    of_groups = {"gap": tm.gap("recall"), "ratio": tm.ratio("precision"), "worst": tm.worst("mae")}
    known = [of_groups.get(row.name) or tm.metric(row.name) for row in tm.list_metrics()]
    samples = [
        type(each)(**sample) for each in known if each not in of_groups.values() for sample in type(each).samples
    ]
    return list({str(each): each for each in (*samples, *of_groups.values())}.values())


def inputs(seed: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """Rows of every kind, by name."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 200))
    w = rng.uniform(0, 3, n)
    whole = rng.integers(0, 4, n).astype(float)
    y = rng.normal(10, 3, n)
    p = y + rng.normal(0, 1, n)
    table = y[:, None] + np.sort(rng.normal(0, 1, (n, 3)), axis=1)
    counts = rng.poisson(3, n)
    big = rng.normal(0, 1, (2, n)) * 10.0 ** rng.integers(-90, 91, (2, n))
    labels = rng.integers(0, 4, n)
    called = np.where(rng.random(n) < 0.7, labels, rng.integers(0, 4, n))
    names = np.array(["ash", "beech", "cedar", "douglas fir"])
    two, guess = rng.integers(0, 2, n), np.round(rng.random(n), 2)
    chances = rng.dirichlet(np.ones(4), n)
    hits, calls = rng.random((n, 3)) < 0.4, rng.random((n, 3)) < 0.4
    query = rng.integers(0, n // 5 + 1, n)
    yield "numbers", {"y_true": y, "y_pred": p}
    yield "numbers, weighted", {"y_true": y, "y_pred": p, "weights": w}
    yield "numbers, float32", {"y_true": y.astype(np.float32), "y_pred": p.astype(np.float32)}
    yield "numbers, positive", {"y_true": np.abs(y), "y_pred": np.abs(p), "weights": w}
    yield "numbers, of any size", {"y_true": big[0], "y_pred": big[1]}
    yield "numbers, shifted", {"y_true": y + 1e8, "y_pred": p + 1e8}
    yield "counts", {"y_true": counts, "y_pred": np.abs(counts + rng.normal(0, 1, n)), "kind": "value"}
    yield "several outputs", {"y_true": table, "y_pred": table + rng.normal(0, 1, table.shape), "weights": w}
    yield "intervals", {"y_true": y, "y_pred": table[:, [0, 2]]}
    for columns in (1, 2, 3):
        yield f"{columns} quantiles", {"y_true": y, "y_pred": table[:, :columns], "weights": w}
    yield "classes", {"y_true": labels, "y_pred": called}
    yield "classes, weighted", {"y_true": labels, "y_pred": called, "weights": w}
    yield "classes, whole weights", {"y_true": labels, "y_pred": called, "weights": whole}
    yield "names", {"y_true": names[labels], "y_pred": names[called], "positive": "ash"}
    yield "declared names", {"y_true": names[labels], "y_pred": names[called], "classes": [*names, "elm"]}
    yield "two classes", {"y_true": two, "y_pred": called % 2}
    yield "two classes, weighted", {"y_true": two, "y_pred": called % 2, "weights": w}
    yield "several labels", {"y_true": hits, "y_pred": calls}
    yield "probabilities", {"y_true": two, "y_pred": guess}
    yield "probabilities, weighted", {"y_true": two, "y_pred": guess, "weights": w}
    yield "probabilities of classes", {"y_true": labels, "y_pred": chances, "classes": [0, 1, 2, 3], "weights": w}
    yield "probabilities of two", {"y_true": two, "y_pred": np.column_stack([1 - guess, guess])}
    yield "margins", {"y_true": two, "y_pred": rng.normal(0, 3, n), "kind": "margin"}
    yield "margins of classes", {"y_true": labels, "y_pred": 9 * chances, "kind": "margin", "classes": [0, 1, 2, 3]}
    yield "scores", {"y_true": two, "y_pred": np.round(p, 1), "kind": "score"}
    yield "rankings", {"y_true": counts.astype(float), "y_pred": np.round(p), "query": query}
    yield "rankings, weighted", {"y_true": counts.astype(float), "y_pred": p, "query": query, "weights": w[query]}
    yield "points", {"y_true": table, "y_pred": called}
    yield "one row", {key: value[:1] for key, value in {"y_true": y, "y_pred": p}.items()}
    yield "nothing", {"y_true": [], "y_pred": []}


def plain(value: Any, left_out: frozenset[str] = DERIVED | TEXTS) -> Any:
    """A value as JSON: numbers to the bit, without texts and what else is left out."""
    if isinstance(value, float | np.floating):
        return "nan" if math.isnan(value) else float(value).hex()
    if isinstance(value, int | np.integer) or value is None:
        return None if value is None else int(value)
    if isinstance(value, str):
        return None
    if isinstance(value, np.ndarray):
        return [plain(each, left_out) for each in value.tolist()]
    if isinstance(value, dict):
        return {str(key): plain(each, left_out) for key, each in value.items() if str(key) not in left_out}
    if isinstance(value, list | tuple):
        return [plain(each, left_out) for each in value]
    return plain(json.loads(value.to_json()) if hasattr(value, "to_json") else dict(value), left_out)


def attempt(call: Callable[[], Any], left_out: frozenset[str] = DERIVED | TEXTS) -> Any:
    """What a call gives, or that it fails."""
    try:
        return plain(call(), left_out)
    except (tm.TallymarkError, KeyError):
        return "error"


def metric_values() -> Iterator[tuple[str, Any]]:
    for seed in SEEDS:
        for name, given in inputs(seed):
            arrays = {key: given[key] for key in ("y_true", "y_pred")}
            facts = {key: value for key, value in given.items() if key not in arrays}
            for metric in metrics():
                yield (
                    f"{metric} | {name} | {seed}",
                    attempt(lambda m=metric, a=arrays, f=facts: m(a["y_true"], a["y_pred"], **f)),
                )


def report_values(folder: Path) -> Iterator[tuple[str, Any]]:
    """Reports of one and several pieces, of groups, files and models."""
    for seed in SEEDS:
        for name, given in inputs(seed):
            y, p, facts = given.pop("y_true"), given.pop("y_pred"), given
            chosen = _possible(lambda m, y=y, p=p, f=facts: m(y, p, **f))
            yield f"defaults | {name} | {seed}", attempt(lambda y=y, p=p, f=facts: tm.evaluate(y, p, **f))
            calls = [_evaluate, _slices, _tally]
            if np.ndim(y) == np.ndim(p) == 1 and "query" not in facts and len(y):
                calls.append(_models)
                yield from _tables(folder, f"{name} | {seed}", y, p, facts)
            for call in calls:
                values = attempt(lambda c=call, y=y, p=p, m=chosen, f=facts: c(y, p, m, f))
                yield f"{call.__name__} | {name} | {seed}", values


def _possible(call: Callable[[Any], Any]) -> list[str]:
    """The metrics for which a call works."""
    return [str(each) for each in metrics() if attempt(lambda m=each: call(m)) != "error"]


def _evaluate(y: Any, p: Any, chosen: list[str], facts: dict[str, Any]) -> Any:
    return tm.evaluate(y, p, chosen, **facts)


def _slices(y: Any, p: Any, chosen: list[str], facts: dict[str, Any]) -> Any:
    groups = np.array(["north", "south", "east"])[np.arange(len(y)) % 3]
    compared = [f"{name}(recall)" for name in ("gap", "ratio", "worst") if "recall" in chosen]
    return tm.evaluate(y, p, [*chosen, *compared], by=groups, **facts).slices


def _tally(y: Any, p: Any, chosen: list[str], facts: dict[str, Any]) -> Any:
    by_row = {key: facts[key] for key in ("weights", "query") if key in facts}
    tally = tm.Tally(chosen, **{key: value for key, value in facts.items() if key not in by_row})
    for part in np.array_split(np.arange(len(y)), 3):
        tally.update(y[part], p[part], **{key: value[part] for key, value in by_row.items()})
    return tally.report()


def _models(y: Any, p: Any, chosen: list[str], facts: dict[str, Any]) -> Any:
    names = [each for each in chosen if isinstance(tm.metric(each)(y, p, **facts), float)]
    return dict(tm.compare(y, {"one": p, "two": np.roll(p, 1)}, names, **facts).reports)


def _tables(folder: Path, label: str, y: Any, p: Any, facts: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    columns = {"y": y, "p": p, "g": np.arange(len(y)) % 2, "w": facts.get("weights", np.ones(len(y)))}
    pq.write_table(pa.table(columns), folder / "rows.parquet", row_group_size=40)
    csv.write_csv(pa.table(columns), folder / "rows.csv")
    facts = {key: value for key, value in facts.items() if key != "weights"}
    asked = {"truth": "y", "prediction": "p", "weights": "w", "by": "g", **facts}
    chosen = _possible(lambda m: tm.evaluate_table(folder / "rows.parquet", metrics=[m], **asked))
    for name in ("rows.parquet", "rows.csv"):
        values = attempt(lambda n=name: tm.evaluate_table(folder / n, metrics=chosen, **asked))
        yield f"{name} | {label}", values
    if label.endswith("0"):
        given = {name: str(facts[name]) for name in ("kind", "positive") if facts.get(name) is not None}
        options = [f"--{name}={value}" for name, value in {"truth": "y", "prediction": "p", **given}.items()]
        yield f"evaluate --json | {label}", _command("evaluate", str(folder / "rows.parquet"), *options)


def interval_values(folder: Path) -> Iterator[tuple[str, Any]]:
    """Intervals of every metric on whole rows, groups, pieces, models and submissions."""
    for seed in INTERVAL_SEEDS:
        for name, given in inputs(seed):
            y, p, facts = given.pop("y_true"), given.pop("y_pred"), given
            chosen = _possible(lambda m, y=y, p=p, f=facts: m(y, p, **f))
            calls = [_evaluate_intervals, _slice_intervals, _tally_intervals]
            if np.ndim(y) == np.ndim(p) == 1 and "query" not in facts and len(y):
                calls.append(_compared)
            for call in calls:
                for method in ("auto", "bootstrap"):
                    values = attempt(lambda c=call, y=y, p=p, m=chosen, f=facts, w=method: c(y, p, m, f, w), TEXTS)
                    yield f"intervals | {call.__name__} | {method} | {name} | {seed}", values
        rng = np.random.default_rng(seed)
        labels, called = rng.integers(0, 2, 60), rng.integers(0, 2, 60)
        for path, column in (("answers.csv", labels), ("submission.csv", called)):
            (folder / path).write_text("row_id,label\n" + "".join(f"{k},{v}\n" for k, v in enumerate(column)))
        files = folder / "answers.csv", folder / "submission.csv"
        yield (
            f"intervals | score | {seed}",
            attempt(lambda f=files: tm.submissions.score_submission(*f, task="labels", ci=0.9), TEXTS),
        )


def _settings(method: str) -> dict[str, Any]:
    return {"ci": tm.Intervals(0.9, method=method, resamples=100, seed=3)}


def _evaluate_intervals(y: Any, p: Any, chosen: list[str], facts: dict[str, Any], method: str) -> Any:
    return tm.evaluate(y, p, chosen, **facts, **_settings(method))


def _slice_intervals(y: Any, p: Any, chosen: list[str], facts: dict[str, Any], method: str) -> Any:
    groups = np.array(["north", "south", "east"])[np.arange(len(y)) % 3]
    compared = [f"{name}(recall)" for name in ("gap", "ratio", "worst") if "recall" in chosen]
    report = tm.evaluate(
        y, p, [*chosen[:20], *compared], by=groups, cluster=np.arange(len(y)) // 2, **facts, **_settings(method)
    )
    return {"whole": report, "groups": report.slices}


def _tally_intervals(y: Any, p: Any, chosen: list[str], facts: dict[str, Any], method: str) -> Any:
    by_row = {key: facts[key] for key in ("weights", "query") if key in facts}
    settings = {key: value for key, value in facts.items() if key not in by_row}
    tally = tm.Tally(chosen, **settings, **_settings(method))
    for part in np.array_split(np.arange(len(y)), 3):
        tally.update(y[part], p[part], **{key: value[part] for key, value in by_row.items()})
    return tally.report()


def _compared(y: Any, p: Any, chosen: list[str], facts: dict[str, Any], method: str) -> Any:
    names = [each for each in chosen if isinstance(tm.metric(each)(y, p, **facts), float)]
    return tm.compare(y, {"one": p, "two": np.roll(p, 1), "three": np.roll(p, 2)}, names, **facts, **_settings("auto"))


def _command(*arguments: str) -> Any:
    command = [sys.executable, "-m", "tallymark", *arguments, "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return plain(json.loads(done.stdout)) if done.returncode in (0, 1) else "error"


def score_values(folder: Path) -> Iterator[tuple[str, Any]]:
    """Submissions of every task, in both modes."""
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        n = int(rng.integers(5, 100))
        names = np.array(["ash", "beech", "cedar"])
        labels = names[rng.integers(0, 3, n)]
        called = np.where(rng.random(n) < 0.7, labels, names[rng.integers(0, 3, n)])
        two, chances, numbers = rng.integers(0, 2, n), rng.random(n).round(4), rng.normal(0, 1, n).round(4)
        tasks = {
            "labels": (labels, called),
            "numbers": (numbers, numbers + 0.5),
            "probabilities": (two, chances),
        }
        for task, (truth, predicted) in tasks.items():
            for kept in (n, n - 2):
                files = [folder / "answers.csv", folder / "submission.csv"]
                for path, column, rows in zip(files, (truth, predicted), (n, kept), strict=True):
                    path.write_text("row_id,label\n" + "".join(f"{k},{column[k]}\n" for k in range(rows)))
                label = f"{task} | {kept} of {n} rows | {seed}"
                yield f"score | {label}", attempt(lambda f=files, t=task: tm.submissions.score_submission(*f, task=t))
                if seed == 0:
                    yield f"score --json | {label}", _command("score", *map(str, files), "--task", task)


def collect(seeds: int) -> dict[str, Any]:
    """All values of the first seeds by the call that gives them."""
    global SEEDS
    SEEDS = SEEDS[:seeds]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        return {
            **dict(metric_values()),
            **dict(report_values(folder)),
            **dict(score_values(folder)),
            **dict(interval_values(folder)),
        }


def main(action: str, path: str, seeds: str = "8") -> int:
    found = json.loads(json.dumps(collect(int(seeds))))
    if action == "store":
        Path(path).write_text(json.dumps(found, indent=0))
        print(f"{len(found):,} values stored in {path}")
        return 0
    before = json.loads(Path(path).read_text())
    asked = {str(seed) for seed in SEEDS}
    before = {key: value for key, value in before.items() if key.rpartition("| ")[2] in asked}
    changed = [key for key in before.keys() | found.keys() if before.get(key, "missing") != found.get(key, "missing")]
    for key in sorted(changed)[:50]:
        old, new = (str(values.get(key, "missing"))[:200] for values in (before, found))
        print(key, f"  before: {old}", f"  after:  {new}", sep="\n")
    print(f"{len(changed):,} of {len(before):,} values changed")
    return 1 if changed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
