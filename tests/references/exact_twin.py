"""Regression metrics in rational arithmetic: slow, plain, and right to the last bit of the inputs."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

Numbers = Sequence[Fraction]


def mean(values: Numbers, w: Numbers) -> Fraction:
    return sum((a * b for a, b in zip(values, w, strict=True)), Fraction(0)) / sum(w)


def variance(values: Numbers, w: Numbers) -> Fraction:
    centre = mean(values, w)
    return mean([(v - centre) ** 2 for v in values], w)


def errors(y: Numbers, p: Numbers) -> list[Fraction]:
    return [b - a for a, b in zip(y, p, strict=True)]


def mse(y: Numbers, p: Numbers, w: Numbers) -> Fraction:
    return mean([e * e for e in errors(y, p)], w)


def mae(y: Numbers, p: Numbers, w: Numbers) -> Fraction:
    return mean([abs(e) for e in errors(y, p)], w)


def mean_bias(y: Numbers, p: Numbers, w: Numbers) -> Fraction:
    return mean(errors(y, p), w)


def r2(y: Numbers, p: Numbers, w: Numbers) -> Fraction:
    return 1 - mse(y, p, w) / variance(y, w)


def explained_variance(y: Numbers, p: Numbers, w: Numbers) -> Fraction:
    return 1 - variance(errors(y, p), w) / variance(y, w)


def rss(y: Numbers, p: Numbers, w: Numbers) -> Fraction:
    return mse(y, p, w) * sum(w)


def wape(y: Numbers, p: Numbers, w: Numbers) -> Fraction:
    return 100 * mae(y, p, w) / mean([abs(v) for v in y], w)


def smape(y: Numbers, p: Numbers, w: Numbers) -> Fraction:
    terms = [abs(b - a) / (abs(a) + abs(b)) if a or b else Fraction(0) for a, b in zip(y, p, strict=True)]
    return 200 * mean(terms, w)


def pearson(y: Numbers, p: Numbers, w: Numbers) -> float:
    my, mp = mean(y, w), mean(p, w)
    covariance = mean([(a - my) * (b - mp) for a, b in zip(y, p, strict=True)], w)
    square = covariance**2 / (variance(y, w) * variance(p, w))
    return math.copysign(math.sqrt(square), covariance)


def huber(y: Numbers, p: Numbers, w: Numbers) -> Fraction:
    return mean([e * e / 2 if abs(e) <= 1 else abs(e) - Fraction(1, 2) for e in errors(y, p)], w)


TWINS: dict[str, Callable[[Numbers, Numbers, Numbers], Fraction | float]] = {
    "mse": mse,
    "rss": rss,
    "mae": mae,
    "mean_bias": mean_bias,
    "r2": r2,
    "explained_variance": explained_variance,
    "wape": wape,
    "smape": smape,
    "pearson": pearson,
    "huber": huber,
}
