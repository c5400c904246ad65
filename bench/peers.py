"""Rows of the result tables: our time beside those of scikit-learn and torchmetrics."""

from __future__ import annotations

from collections.abc import Callable

import torch
from measure import best_of, show_time

import tallymark as tm

SIZE_HEADINGS = ["rows", "tallymark", "ns/row", "scikit-learn", "ratio", "torchmetrics", "ratio"]
ONE_LINER_HEADINGS = ["call", "tallymark", "scikit-learn", "ratio", "torchmetrics", "ratio"]


def per_row(best: dict[str, float], n: int) -> str:
    """Our nanoseconds per row, where there are so many that they mean something."""
    return f"{best['ours'] / n * 1e9:.2f}" if n >= 10_000 else ""


def beside_sklearn(name: str, best: dict[str, float], digits: int = 0) -> list[str]:
    """Both times and their ratio."""
    ratio = f"**{best['sklearn'] / best['ours']:.{digits}f}×**"
    return [name, show_time(best["ours"]), show_time(best["sklearn"]), ratio]


def beside_torch(best: dict[str, float]) -> list[str]:
    """The time of torchmetrics and its ratio to ours; nothing where it has no such metric."""
    return [show_time(best["torch"]), f"{best['torch'] / best['ours']:.0f}×"] if "torch" in best else ["", ""]


def by_size(n: int, best: dict[str, float]) -> list[str]:
    """A row of the table by the number of rows."""
    name, ours, *peer = beside_sklearn(f"{n:,}", best)
    return [name, ours, per_row(best, n), *peer, *beside_torch(best)]


def compare(
    cases: dict[str, tuple[Callable[[], object], Callable[[], object]]], *, digits: int = 0, **how: float
) -> list[list[str]]:
    """Our call and that of scikit-learn, by name."""
    out = []
    for name, (ours, peer) in cases.items():
        print(f"{name} ...", flush=True)
        out.append(beside_sklearn(name, best_of({"ours": ours, "sklearn": peer}, **how), digits))
    return out


def one_liners(cases: dict[str, tuple[Callable, Callable | None]], y, p) -> list[list[str]]:
    """What a call costs on a few rows of two classes, by the name of the metric."""
    ty, tp = torch.from_numpy(y), torch.from_numpy(p)
    out = []
    for name, (peer, other) in cases.items():
        ours = tm.metric(name)
        calls = {"ours": lambda ours=ours: ours(y, p), "sklearn": lambda peer=peer: peer(y, p)}
        if other is not None:
            calls["torch"] = lambda other=other: other(tp, ty, task="binary")
        best = best_of(calls, seconds=0.7)
        out.append([*beside_sklearn(f"`tm.{name}`", best), *beside_torch(best)])
    return out
