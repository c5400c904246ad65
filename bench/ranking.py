"""Rankings by query against ranx, trec_eval and scikit-learn, in one run on one machine."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytrec_eval
import ranx
from measure import best_of, run_python, show_time, table
from sklearn.metrics import ndcg_score

import tallymark as tm

SETS = {
    "`ndcg(k=10)`": (["ndcg(k=10)"], ["ndcg@10"], {"ndcg_cut_10"}),
    "`ndcg(k=10)`, `map`, `mrr` in one call": (
        ["ndcg(k=10)", "map", "mrr"],
        ["ndcg@10", "map", "mrr"],
        {"ndcg_cut_10", "map", "recip_rank"},
    ),
}
COLD = """
import time
{setup}
start = time.perf_counter()
{call}
print(time.perf_counter() - start)
"""


def rows(queries: int, width: int):
    """Relevances and scores, one query per row."""
    rng = np.random.default_rng(11)
    y = rng.choice([0, 0, 0, 0, 1, 2, 3], (queries, width))
    y[:, 0] = 1
    return y, rng.random((queries, width))


def as_dicts(y, p):
    """What ranx and trec_eval take: dicts of dicts."""
    qrels = {f"q{i}": {f"d{j}": int(r) for j, r in enumerate(row)} for i, row in enumerate(y)}
    return qrels, {f"q{i}": {f"d{j}": float(s) for j, s in enumerate(row)} for i, row in enumerate(p)}


def trec(qrels, run, measures):
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, measures)
    return lambda: evaluator.evaluate(run)


def shown(name: str, best: dict[str, float]) -> list[str]:
    ours = best["ours"]
    peers = [best.get(peer) for peer in ("ranx", "trec", "sklearn")]
    texts = ["" if time is None else f"{show_time(time)} (**{time / ours:.0f}×**)" for time in peers]
    return [name, show_time(ours), *texts]


def compare(queries: int, width: int, seconds: float) -> list[list[str]]:
    """Peers are given their own structures, already built; ours is given arrays."""
    print(f"rankings, {queries:,} queries ...", flush=True)
    y, p = rows(queries, width)
    flat = y.ravel(), p.ravel()
    query = np.repeat(np.arange(queries), width)
    qrels, run = as_dicts(y, p)
    held = ranx.Qrels(qrels), ranx.Run(run)
    out = []
    for name, (ours, theirs, measures) in SETS.items():
        metrics = [tm.metric(text) for text in ours]
        one = partial(metrics[0], *flat, query=query)
        calls = {
            "ours": one if len(metrics) == 1 else partial(tm.evaluate, *flat, metrics, query=query),
            "ranx": partial(ranx.evaluate, *held, theirs),
            "trec": trec(qrels, run, measures),
        }
        if len(metrics) == 1:
            calls["sklearn"] = partial(ndcg_score, y, p, k=10)
        out.append(shown(name, best_of(calls, seconds=seconds, least=3)))
    shuffled = np.random.default_rng(12).permutation(len(query))
    scattered = [np.ascontiguousarray(column[shuffled]) for column in (*flat, query)]
    names = np.array([f"query {k}" for k in range(queries)])[scattered[2]]
    for name, labels in (("the first, rows in any order", scattered[2]), ("the first, queries with names", names)):
        out.append(shown(name, best_of({"ours": partial(metrics[0], *scattered[:2], query=labels)}, seconds=seconds)))
    return out


def cold() -> list[list[str]]:
    """The first call of a process, imports not counted."""
    print("rankings, first calls ...", flush=True)
    ours = COLD.format(
        setup="import tallymark as tm", call="tm.ndcg([1, 0, 2, 0], [0.1, 0.4, 0.3, 0.2], query=[1, 1, 1, 1], k=10)"
    )
    data = 'q = ranx.Qrels({"q": {"a": 1, "b": 2}}); r = ranx.Run({"q": {"a": 0.1, "b": 0.3, "c": 0.2}})'
    theirs = COLD.format(setup="import ranx", call=f'{data}; ranx.evaluate(q, r, "ndcg@10")')
    times = {name: min(float(run_python(code)) for _ in range(2)) for name, code in (("ours", ours), ("ranx", theirs))}
    return [shown("the first `ndcg(k=10)` of a process", times)]


def sections() -> list[str]:
    """The parts of the result page on rankings."""
    heads = ["metric", "tallymark", "ranx, warm", "trec_eval (pytrec_eval)", "scikit-learn"]
    return [
        "## Rankings, 10,000 queries of 100 rows",
        "",
        "Peers are given their own dicts, `Qrels` and `Run`, already built; tallymark is given the arrays.",
        "",
        table(heads, compare(10_000, 100, 3)),
        "",
        "## Rankings, one-liners on ten queries of ten rows",
        "",
        table(heads, [*compare(10, 10, 0.7), *cold()]),
        "",
    ]
