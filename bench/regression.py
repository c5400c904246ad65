"""Regression metrics against scikit-learn and NumPy, in one run on one machine."""

from __future__ import annotations

import subprocess
import sys
import sysconfig

import numpy as np
from measure import ROOT, best_of, memory_of, run_python, show_time, table
from peers import beside_sklearn, compare, per_row
from sklearn import metrics as sk

import tallymark as tm

SIZES = (100, 10_000, 1_000_000, 10_000_000)
FOUR = ["rmse", "mae", "mape", "r2"]
PEERS = {
    "rmse": sk.root_mean_squared_error,
    "mae": sk.mean_absolute_error,
    "mape": sk.mean_absolute_percentage_error,
    "r2": sk.r2_score,
}
PLAIN = {
    "rmse": lambda y, p: np.sqrt(np.mean((p - y) ** 2)),
    "mae": lambda y, p: np.mean(np.abs(p - y)),
    "mape": lambda y, p: 100 * np.mean(np.abs(p - y) / np.maximum(np.abs(y), 1e-15)),
    "r2": lambda y, p: 1 - np.sum((p - y) ** 2) / np.sum((y - y.mean()) ** 2),
}


def rows(n: int):
    rng = np.random.default_rng(1)
    y = rng.normal(size=n)
    return y, y + rng.normal(size=n)


def by_size(n: int) -> list[list[str]]:
    y, p = rows(n)
    out = []
    for name in FOUR:
        ours, peer, plain = tm.metric(name), PEERS[name], PLAIN[name]
        best = best_of(
            {
                "ours": lambda ours=ours: ours(y, p),
                "sklearn": lambda peer=peer: peer(y, p),
                "numpy": lambda plain=plain: plain(y, p),
            }
        )
        out.append(line(n, f"`tm.{name}(y, p)`", best))
    best = best_of(
        {
            "ours": lambda: tm.evaluate(y, p, FOUR),
            "sklearn": lambda: [peer(y, p) for peer in PEERS.values()],
            "numpy": lambda: [plain(y, p) for plain in PLAIN.values()],
        },
        seconds=3,
    )
    out.append(line(n, "all four in one `evaluate`", best))
    return out


RATIOS: dict[tuple[int, str], float] = {}


def line(n: int, what: str, best: dict[str, float]) -> list[str]:
    RATIOS[n, what] = best["sklearn"] / best["ours"]
    name, ours, *peer = beside_sklearn(what, best, digits=1)
    plain = [show_time(best["numpy"]), f"{best['numpy'] / best['ours']:.1f}×"]
    return [name, f"{n:,}", ours, per_row(best, n), *peer, *plain]


def variants() -> list[list[str]]:
    """A million rows in other shapes and types."""
    y, p = rows(1_000_000)
    w = np.random.default_rng(2).uniform(0.5, 2, len(y))
    y2, p2 = np.column_stack([y, y + 1, y + 2, y + 3]), np.column_stack([p, p, p, p])
    y4, p4 = y.astype(np.float32), p.astype(np.float32)
    positive, means = np.abs(y) + 0.1, np.abs(p) + 0.1
    cases = {
        "rmse, weighted": (lambda: tm.rmse(y, p, weights=w), lambda: sk.root_mean_squared_error(y, p, sample_weight=w)),
        "r2, weighted": (lambda: tm.r2(y, p, weights=w), lambda: sk.r2_score(y, p, sample_weight=w)),
        "rmse, float32": (lambda: tm.rmse(y4, p4), lambda: sk.root_mean_squared_error(y4, p4)),
        "rmse, 4 outputs": (lambda: tm.rmse(y2, p2), lambda: sk.root_mean_squared_error(y2, p2)),
        "explained variance": (lambda: tm.explained_variance(y, p), lambda: sk.explained_variance_score(y, p)),
        "pinball": (lambda: tm.pinball(y, p, alphas=0.3), lambda: sk.mean_pinball_loss(y, p, alpha=0.3)),
        "msle": (lambda: tm.msle(positive, means), lambda: sk.mean_squared_log_error(positive, means)),
        "Poisson deviance": (
            lambda: tm.poisson_deviance(positive, means),
            lambda: sk.mean_poisson_deviance(positive, means),
        ),
        "Tweedie deviance": (
            lambda: tm.tweedie_deviance(positive, means),
            lambda: sk.mean_tweedie_deviance(positive, means, power=1.5),
        ),
        "median absolute error": (lambda: tm.median_absolute_error(y, p), lambda: sk.median_absolute_error(y, p)),
        "D² absolute": (lambda: tm.d2_absolute(y, p), lambda: sk.d2_absolute_error_score(y, p)),
    }
    return compare(cases, digits=1, seconds=1)


def threads() -> list[list[str]]:
    y, p = rows(10_000_000)
    before = tm.get_threads()
    out = []
    for what, call in {
        "`tm.rmse(y, p)`": lambda: tm.rmse(y, p),
        "all four in one `evaluate`": lambda: tm.evaluate(y, p, FOUR),
    }.items():
        found = []
        for count in (1, 2):
            tm.set_threads(count)
            found.append(best_of({"x": call})["x"])
        out.append([what, show_time(found[0]), show_time(found[1]), f"{found[0] / found[1]:.2f}×"])
    tm.set_threads(before)
    read = best_of({"x": lambda: (y.sum(), p.sum())})["x"]
    out.append([f"reading both columns once (`y.sum(), p.sum()`, one thread): {show_time(read)}", "", "", ""])
    return out


ROWS = """
y = np.empty(10_000_000); p = np.empty(10_000_000)
rng.standard_normal(out=y); rng.standard_normal(out=p)  # in place: a temporary array would hide what follows
tm.evaluate(y[:1000], p[:1000], ["rmse", "mae", "mape", "r2"])
"""
START = "import time; t = time.perf_counter(); import {}; print(time.perf_counter() - t)"


def memory() -> float:
    """Megabytes beyond the inputs at ten million rows."""
    return memory_of('tm.evaluate(y, p, ["rmse", "mae", "mape", "r2"])', ROWS) / 2**20


def import_times() -> dict[str, float]:
    """Seconds to import, from an ordinary install with compiled bytecode, the best of many."""
    place = ROOT / "build" / "plain"
    install = [sys.executable, "-m", "pip", "install", "-q", "--no-build-isolation", "--no-deps", "--no-index"]
    subprocess.run([*install, "--upgrade", "--target", str(place), str(ROOT)], check=True)
    path = f"{place}:{sysconfig.get_path('platlib')}"
    best = {"numpy": float("inf"), "tallymark": float("inf")}
    for _ in range(25):
        for name in best:
            best[name] = min(best[name], float(run_python(START.format(name), path=path)))
    return best


def sections() -> list[str]:
    """The parts of the result page on regression."""
    speed = []
    for n in SIZES:
        print(f"regression, {n:,} rows ...", flush=True)
        speed += by_size(n)
    print("other shapes, threads, memory, import ...", flush=True)
    loaded = import_times()
    return [
        "## Regression against scikit-learn and NumPy",
        "",
        "NumPy is the formula written out, with no checks, no weights and plain (order-dependent) sums.",
        "",
        table(["call", "rows", "tallymark", "ns/row", "scikit-learn", "ratio", "NumPy", "ratio"], speed),
        "",
        "## Regression, a million rows, other shapes and types",
        "",
        table(["metric", "tallymark", "scikit-learn", "ratio"], variants()),
        "",
        "## Threads, ten million rows",
        "",
        table(["call", "1 thread", "2 threads", "gain"], threads()),
        "",
        "## Memory and import",
        "",
        f"- Memory beyond the inputs for the four metrics at ten million rows: {memory():.1f} MB.",
        f"- `import numpy` {loaded['numpy'] * 1e3:.0f} ms, `import tallymark` {loaded['tallymark'] * 1e3:.0f} ms: "
        f"{(loaded['tallymark'] - loaded['numpy']) * 1e3:.0f} ms more.",
        "",
    ]


def bars() -> list[tuple[str, float]]:
    """What the picture shows, once `sections` has measured it."""
    return [(f"{n:,} rows", RATIOS[n, "all four in one `evaluate`"]) for n in SIZES]
