"""Metrics on clusters against scikit-learn, in one run on one machine."""

from __future__ import annotations

from functools import partial

import numpy as np
from measure import best_of, table
from peers import beside_sklearn
from sklearn import metrics as sk

import tallymark as tm

PEERS = {
    "rand_index": sk.rand_score,
    "adjusted_rand": sk.adjusted_rand_score,
    "fowlkes_mallows": sk.fowlkes_mallows_score,
    "mutual_information": sk.mutual_info_score,
    "normalized_mutual_information(norm=sum)": sk.normalized_mutual_info_score,
    "adjusted_mutual_information(norm=sum)": sk.adjusted_mutual_info_score,
    "homogeneity": sk.homogeneity_score,
    "completeness": sk.completeness_score,
    "v_measure": sk.v_measure_score,
}
SHAPES = {
    "silhouette": sk.silhouette_score,
    "davies_bouldin": sk.davies_bouldin_score,
    "calinski_harabasz": sk.calinski_harabasz_score,
}


def clusterings(n: int, k: int):
    rng = np.random.default_rng(4)
    a = rng.integers(0, k, n)
    return a, np.where(rng.random(n) < 0.7, a, rng.integers(0, k, n))


def line(name: str, ours, peer, seconds: float, least: int = 3) -> list[str]:
    best = best_of({"ours": ours, "sklearn": peer}, seconds=seconds, least=least)
    return beside_sklearn(name, best)


def compare(n: int, k: int, seconds: float) -> list[list[str]]:
    print(f"clusters, {n:,} rows ...", flush=True)
    a, b = clusterings(n, k)
    return [
        line(f"`{name}`", partial(tm.metric(name), a, b), partial(peer, a, b), seconds) for name, peer in PEERS.items()
    ]


def many() -> list[list[str]]:
    print("many clusters ...", flush=True)
    rng = np.random.default_rng(5)
    a, b = rng.integers(0, 2000, 100_000), rng.integers(0, 2000, 100_000)
    ids = rng.integers(0, 10**12, 1_000_000), rng.integers(0, 10**12, 1_000_000)
    return [
        line(
            "AMI of 2,000 × 2,000 clusters, 100,000 rows",
            lambda: tm.adjusted_mutual_information(a, b, norm="sum"),
            lambda: sk.adjusted_mutual_info_score(a, b),
            1,
            1,
        ),
        line(
            "ARI of a million clusters a side, a million rows",
            lambda: tm.adjusted_rand(*ids),
            lambda: sk.adjusted_rand_score(*ids),
            1,
            2,
        ),
    ]


def shapes(n: int, d: int, k: int, seconds: float) -> list[list[str]]:
    rng = np.random.default_rng(6)
    labels = rng.integers(0, k, n)
    points = rng.normal(size=(n, d)) + labels[:, None]
    return [
        line(
            f"`{name}`, {n:,} × {d}",
            partial(tm.metric(name), points, labels),
            partial(p, points, labels),
            seconds,
        )
        for name, p in SHAPES.items()
    ]


def sections() -> list[str]:
    """The parts of the result page on clusters."""
    heads = ["metric", "tallymark", "scikit-learn", "ratio"]
    points = shapes(100, 3, 4, 0.7)
    for d in (10, 50, 200):
        print(f"points of {d} columns ...", flush=True)
        points += shapes(5_000, d, 10, 2)
    return [
        "## Clusters, a million rows, ten clusters a side",
        "",
        table(heads, [*compare(1_000_000, 10, 3), *many()]),
        "",
        "## Clusters, one-liners on a hundred rows",
        "",
        table(heads, compare(100, 4, 0.7)),
        "",
        "## Clusters by their points",
        "",
        table(heads, points),
        "",
    ]
