"""Calls whose inputs another thread changes meanwhile, for every metric and every function of the core.

``python -m tests.changing_input`` runs them in a process of its own, since what goes wrong there is a crash. The value
of a call may then be anything, or an error. With ``--strict``, prints errors that are not tallymark's.
"""

from __future__ import annotations

import faulthandler
import importlib
import pkgutil
import sys
import threading
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

import tallymark as tm
from tallymark import _core, metrics, states, submissions
from tallymark._core import TextCodes, are_plain
from tallymark.data.batch import Batch
from tallymark.data.target import Target
from tallymark.metrics.base import Metric
from tallymark.metrics.clustering.separation import ShapeMetric
from tallymark.states.scores.ranges import bin_scores, choose_ranges, cut_scores, sum_range
from tallymark.states.scores.scores import ScoresOf
from tests.laws.cases import FAST, METRICS, Rows, random_rows

ROWS = 4_000 if FAST else 10_000
FEW = 500  # rows of which all pairs are read
MANY = 150_000  # rows for more than one thread
ROUNDS = 1 if FAST else 4
STRICT = "--strict" in sys.argv
SETTINGS = {"get_threads", "set_own_threads", "set_threads"}  # which read no rows
BINDINGS = {name for name in dir(_core) if not name.startswith("_")} - SETTINGS
OF_PROBABILITIES = ["logloss", "brier", "auc", "rps", "ece", "accuracy"]
OF_SCORES = ["auc", "average_precision", "ks", "roc_curve", "pr_curve", "det_curve", "lift_curve"]
OF_LABELS = ["accuracy", "adjusted_rand", "adjusted_mutual_information"]

Call = Callable[[], object]
Case = tuple[list[Any], list[Call]]


class Changing:
    """A thread that writes to arrays all the time: their own values in another order, and now and then any others."""

    def __init__(self, arrays: list[Any]) -> None:
        rng = np.random.default_rng(0)
        self._writes = [(array, held) for array in arrays for held in _versions(array, rng)]
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._write)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _write(self) -> None:
        while not self._over.is_set():
            for array, held in self._writes:
                np.copyto(array, held)


def _versions(array: Any, rng: np.random.Generator) -> Iterator[Any]:
    """What an array is changed to: mostly good values, so that calls go on to the end."""
    for _ in range(4):
        yield rng.permutation(array)
    odd = array.copy()
    some = rng.integers(0, len(array), 9)
    if array.dtype.kind == "f":
        values: list[Any] = [np.nan, -np.inf, 1e30, -1.0, 1e-40, 0.0, 0.5, 1e-30, 700.0]
    elif array.dtype.kind in "iu":
        values = [np.iinfo(array.dtype).max, 0, 60, 1, 2, 3, 4, 99, np.iinfo(array.dtype).min]
    else:
        values = [char * 40 for char in "abcdefghi"]
    odd[some] = np.resize(np.array(values, array.dtype), odd[some].shape)
    yield odd
    yield array.copy()


def cases(rows: int, many: int) -> Iterator[Case]:
    """The arrays that change, and the calls that read them."""
    for metric in {type(metric): metric for metric in METRICS}.values():
        made = random_rows(metric, FEW if isinstance(metric, ShapeMetric) else rows)
        held = [array for array in (made.y, made.p, made.w, made.q) if array is not None]
        yield held, list(_of_metric(metric, made))
    rng = np.random.default_rng(1)
    yield from _of_probabilities(rng, rows)
    yield from _of_scores(rng, many)
    yield from _of_labels(rng, many)
    yield from _of_texts(rows)


def _of_metric(metric: Metric, rows: Rows) -> Iterator[Call]:
    given = {**rows.facts, "query": rows.q}
    read = partial(tm.evaluate, rows.y, rows.p, [metric], **given)
    yield partial(rows.call, metric, weights=None)
    yield partial(rows.call, metric)
    yield partial(read, by=np.arange(len(rows.y)) % 3)
    yield partial(read, ci=tm.Intervals(0.9, resamples=39))
    yield partial(
        tm.compare, rows.y, {"a": rows.p, "b": rows.p[::-1]}, [metric], ci=tm.Intervals(resamples=39), **given
    )
    yield lambda: tm.Tally([metric], **rows.facts).update(rows.y, rows.p, query=rows.q).report()


def _of_probabilities(rng: np.random.Generator, n: int) -> Iterator[Case]:
    for width in (2, 3, 50):
        y, p = rng.integers(0, width, n), rng.dirichlet(np.ones(width), n)
        facts = [{}, {"classes": range(width)[::-1]}, {"kind": "margin"}, {"normalize": True}]
        works: list[Call] = [partial(tm.evaluate, y, p, OF_PROBABILITIES, **given) for given in facts]
        works += [partial(tm.auc, y, p, kind="margin"), partial(tm.auc, y, p, bounded=64)]
        yield [y, p], [*works, partial(tm.top_k_accuracy, y, p, k=1)]
    happened, chance = rng.integers(0, 2, n), rng.random(n)
    yield [happened, chance], [partial(tm.ece, happened, chance, strategy="count")]
    margins = rng.normal(0, 3, n)
    yield [happened, margins], [partial(tm.evaluate, happened, margins, ["accuracy", "logloss"], kind="margin")]
    flags, chances = rng.integers(0, 2, (n, 3)), rng.random((n, 3))
    yield [flags, chances], [partial(tm.evaluate, flags, chances, ["accuracy", "f1"])]


def _of_scores(rng: np.random.Generator, n: int) -> Iterator[Case]:
    y, p, w = rng.integers(0, 2, n), rng.random(n), rng.integers(0, 3, n).astype(float)
    for scores in (p, p.astype(np.float32), np.round(p, 2), rng.integers(-9, 9, n)):
        yield (
            [y, scores, w],
            [
                partial(tm.evaluate, y, scores, OF_SCORES),
                partial(tm.evaluate, y, scores, OF_SCORES, weights=w),
                partial(tm.evaluate, y, scores, OF_SCORES[:2], ci=tm.Intervals(0.9, method="bootstrap", resamples=39)),
                partial(tm.auc, y, scores, bounded=64),
                partial(_in_pieces, y, scores),
                partial(_in_ranges, y, scores),
            ],
        )


def _in_pieces(y: Any, scores: Any) -> None:
    tm.Tally("auc").update(y, scores).update(y[:99], scores[:99]).report()


def _in_ranges(y: Any, scores: Any) -> None:
    state = ScoresOf(Target("score")).fold(Batch(y, scores))
    ranges = choose_ranges(bin_scores(state, 64), 4)
    for place, part in enumerate(cut_scores(state, ranges.edges)):
        sum_range(part, ranges, place)


def _of_labels(rng: np.random.Generator, n: int) -> Iterator[Case]:
    names = np.array([f"{'x' * 17}{k}" for k in range(9)])
    for kind in ("u1", "i2", "i8", "f4", "f8", "U3", "U30", "S30"):
        places = rng.integers(0, 9, n)
        y = places.astype(kind) if kind[0] in "uif" else names.astype(kind)[places]
        p = rng.permutation(y)
        yield [y, p], [partial(tm.evaluate, y, p, OF_LABELS)]
    items = [str(k) for k in rng.integers(0, 9, n)]
    objects = np.array(items, object)
    yield [objects], [partial(tm.accuracy, objects, objects), partial(tm.accuracy, items, objects)]


def _of_texts(n: int) -> Iterator[Case]:
    """Arrow data whose offsets are NumPy's."""
    letters = pa.py_buffer(b"abcdefghijklmnopqrst" * n)
    for kind, width in ((pa.string(), np.int32), (pa.large_string(), np.int64)):
        offsets = np.arange(0, 12 * (n + 1), 12, dtype=width)
        texts = pa.Array.from_buffers(kind, n, [None, pa.py_buffer(offsets), letters])
        works: list[Call] = [partial(tm.accuracy, texts, texts), partial(_match, texts), partial(_look, texts)]
        works.append(partial(tm.accuracy, texts, texts, missing="drop"))
        yield [offsets[1:-1]], works  # the last one says how many bytes there are


def _match(texts: Any) -> None:
    TextCodes().code(texts)


def _look(texts: Any) -> None:
    are_plain(texts)


def run(works: list[Call]) -> None:
    """Whatever calls return or raise, unless it says that memory is broken."""
    for work in works:
        try:
            str(work())
        except (MemoryError, SystemError):
            raise
        except Exception as error:
            if STRICT and not isinstance(error, tm.TallymarkError):
                traceback.print_exc(limit=-3)


def count_bindings() -> Counter[str]:
    """How often each function of the core is called from now on."""
    called: Counter[str] = Counter()

    def counted(name: str, function: Any) -> Any:
        def call(*args: object, **named: object) -> Any:
            called[name] += 1
            return function(*args, **named)

        return call

    known = {id(getattr(_core, name)): name for name in BINDINGS}
    for package in (metrics, states, submissions):
        for found in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
            importlib.import_module(found.name)
    for place, module in list(sys.modules.items()):
        if not place.startswith(("tallymark.", "__main__")) or module is _core:
            continue
        for name, value in list(vars(module).items()):
            if id(value) in known:
                setattr(module, name, counted(known[id(value)], value))
    return called


def main() -> int:
    faulthandler.enable()
    sys.setswitchinterval(1e-4)  # so that calls and writes take turns often
    tm.set_threads(2)
    called = count_bindings()
    for _, works in cases(600, 600):
        run(works)
    missed = sorted(BINDINGS - set(called))
    for name in missed:
        print(f"{name} is never called: add a call that reads it")
    for arrays, works in cases(ROWS, MANY):
        with Changing(arrays):
            run(works * ROUNDS)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
