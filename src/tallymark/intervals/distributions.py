"""Quantiles and tails of the normal, Student's t and the binomial distribution: SciPy is not a dependency."""

from __future__ import annotations

import math
from functools import lru_cache

_NEARLY_NORMAL = 1e6  # degrees of freedom from which on Student's t is expanded about the normal distribution
_HALF_LOG_TWO_PI = 0.9189385332046727
_STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156)
_TINY = 1e-300


@lru_cache(maxsize=256)
def normal_quantile(share: float) -> float:
    """The value below which a standard normal variable lies with this probability."""
    from statistics import NormalDist  # slow to load, and few ask

    return NormalDist().inv_cdf(share)


def normal_tail(x: float) -> float:
    """The probability that a standard normal variable exceeds x."""
    return 0.5 * math.erfc(x / math.sqrt(2.0))


def two_sided(level: float) -> float:
    """How many standard errors an interval of this level reaches to either side.

    >>> round(two_sided(0.95), 6)
    1.959964
    """
    return -normal_quantile((1.0 - level) / 2.0)


def student_tail(t: float, freedom: float) -> float:
    """The probability that Student's t with these degrees of freedom exceeds t.

    >>> round(student_tail(1.0, 1.0), 12)
    0.25
    """
    if t < 0:
        return 1.0 - student_tail(-t, freedom)
    if freedom >= _NEARLY_NORMAL:
        return normal_tail(_normal_of_student(t, freedom)) if t < 50 else 0.0  # below the smallest float64
    square = t * t
    return 0.5 * beta_share(freedom / (freedom + square), square / (freedom + square), freedom / 2, 0.5)


@lru_cache(maxsize=1024)
def student_quantile(share: float, freedom: float) -> float:
    """The value below which Student's t with these degrees of freedom lies with this probability.

    >>> round(student_quantile(0.975, 10), 6)
    2.228139
    """
    if share == 0.5:
        return 0.0
    if share > 0.5:
        return -student_quantile(1.0 - share, freedom)
    if freedom >= _NEARLY_NORMAL:
        return -_student_of_normal(-normal_quantile(share), freedom)
    # Newton on the logarithm of the tail, kept between bounds; sinh spreads both small and huge values evenly.
    wanted, low, high = math.log(share), 0.0, 350.0
    s = math.asinh(-normal_quantile(share))
    for _ in range(200):
        t = math.sinh(s)
        tail = student_tail(t, freedom)
        miss = (math.log(tail) if tail > 0 else -math.inf) - wanted
        low, high = (s, high) if miss > 0 else (low, s)
        step = miss * tail / (_student_density(t, freedom) * math.cosh(s)) if tail > 0 else math.inf
        following = s + step
        if not low < following < high:
            following = (low + high) / 2
        if abs(following - s) <= 4e-16 * max(abs(s), 1e-12):
            break
        s = following
    return -math.sinh(s)


def binomial_tail(least: int, trials: int, chance: float = 0.5) -> float:
    """The probability of at least so many successes in so many trials.

    >>> round(binomial_tail(2, 2), 12)
    0.25
    """
    if least <= 0:
        return 1.0
    if least > trials:
        return 0.0
    return beta_share(chance, 1.0 - chance, least, trials - least + 1.0)


def coin_limit(tosses: int, share: float) -> int:
    """The largest number below which the heads of a fair coin fall with at most this probability; 0 if there is none.

    >>> coin_limit(10, 0.025)
    2
    """
    guess = tosses / 2 + normal_quantile(share) * math.sqrt(tosses) / 2
    least = max(int(guess) - 2, 0)
    while least > 0 and binomial_tail(tosses - least + 1, tosses) > share:
        least -= 1
    while binomial_tail(tosses - least, tosses) <= share:
        least += 1
    return least


def beta_share(x: float, y: float, a: float, b: float) -> float:
    """The probability that a beta variable with parameters a and b lies below x, where y = 1 − x is given too, since
    either may be too near to 1 to tell the other."""
    if x <= 0 or y <= 0:
        return 0.0 if x <= 0 else 1.0
    if x > (a + 1.0) / (a + b + 2.0):
        return 1.0 - beta_share(y, x, b, a)
    return math.exp(_log_beta_density(x, y, a, b)) * _beta_fraction(x, a, b) / a


def _beta_fraction(x: float, a: float, b: float) -> float:
    """The continued fraction of the incomplete beta function, by Lentz's way of evaluating one."""
    c, d = 1.0, 1.0 / _not_zero(1.0 - (a + b) * x / (a + 1.0))
    found = d
    for m in range(1, 100_000):
        for numerator in (
            m * (b - m) * x / ((a + 2 * m - 1.0) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1.0)),
        ):
            d = 1.0 / _not_zero(1.0 + numerator * d)
            c = _not_zero(1.0 + numerator / c)
            found *= c * d
        if abs(c * d - 1.0) < 1e-16:
            break
    return found


def _not_zero(value: float) -> float:
    return value if abs(value) > _TINY else _TINY


def _log_beta_density(x: float, y: float, a: float, b: float) -> float:
    """The logarithm of x^a y^b / B(a, b), by how far x is from a / (a + b): the large logarithms cancel on paper
    (Loader 2000)."""
    n = a + b
    u, w = (x * b - y * a) / a, (y * a - x * b) / b
    away = a * _log_beyond(x * n / a, u) + b * _log_beyond(y * n / b, w)
    return away + 0.5 * math.log(a * b / n) - _HALF_LOG_TWO_PI + _stirling(n) - _stirling(a) - _stirling(b)


def _log_beyond(ratio: float, u: float) -> float:
    """log(ratio) − u, where u is the ratio less 1, known by itself."""
    if abs(u) > 0.1:
        return math.log(ratio) - u
    r = u / (2.0 + u)
    square, power, total = r * r, r, 0.0
    for k in range(3, 40, 2):  # log(1 + u) = 2 (r + r³/3 + r⁵/5 + ...)
        power *= square
        total += power / k
    return 2.0 * total - r * u


def _stirling(a: float) -> float:
    """What Stirling's formula for the logarithm of gamma(a) leaves out."""
    if a < 15.0:
        return math.lgamma(a) - ((a - 0.5) * math.log(a) - a + _HALF_LOG_TWO_PI)
    square, power, total = a * a, a, 0.0
    for coefficient in _STIRLING:
        total += coefficient / power
        power *= square
    return total


def _student_density(t: float, freedom: float) -> float:
    square = t * t
    x, y = freedom / (freedom + square), square / (freedom + square)
    return math.exp(_log_beta_density(x, y, freedom / 2, 0.5)) / t


def _student_of_normal(z: float, v: float) -> float:
    s = z * z
    first = (s + 1) / 4
    second = ((5 * s + 16) * s + 3) / 96
    third = (((3 * s + 19) * s + 17) * s - 15) / 384
    return z * (1 + (first + (second + third / v) / v) / v)


def _normal_of_student(t: float, v: float) -> float:
    s = t * t
    first = (s + 1) / 4
    second = ((13 * s + 8) * s + 3) / 96
    third = (((35 * s + 19) * s + 1) * s - 15) / 384
    return t * (1 - (first - (second - third / v) / v) / v)
