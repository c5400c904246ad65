"""How large submissions may be."""

from __future__ import annotations

from typing import NamedTuple

from tallymark.errors import ParameterError, brief
from tallymark.sources.streams import SizeLimits


class Limits(NamedTuple):
    """What a file may be at most; None is any number.

    `bytes` of the file, `rows`, `columns`, `field_length` in characters, distinct `labels`, and what a compressed file
    may unpack to: `unpacked_bytes`, and `ratio` times what was read of it, which is asked from 8 MB on.
    """

    bytes: int | None = None
    rows: int | None = None
    columns: int | None = 10_000
    field_length: int | None = 100_000
    labels: int | None = None
    unpacked_bytes: int | None = 1 << 34
    ratio: float | None = 100.0

    def bounds(self) -> SizeLimits:
        """What the reader of files is told."""
        return SizeLimits(self.bytes, self.unpacked_bytes, self.ratio)


def check_limits(limits: object) -> Limits:
    """The limits, each a positive number or None."""
    if limits is None:
        return Limits()
    if not isinstance(limits, Limits):
        raise ParameterError(argument="limits", expected="be tm.submissions.Limits(...)", got=brief(limits))
    for name, most in limits._asdict().items():
        if most is not None and (isinstance(most, bool) or not isinstance(most, (int, float)) or not most > 0):
            raise ParameterError(argument=f"limits.{name}", expected="be a positive number or None", got=brief(most))
    return limits
