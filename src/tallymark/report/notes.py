"""Notes below a table: every note once, with all that it belongs to."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import TypeVar

Said = TypeVar("Said", bound=Hashable)
Of = TypeVar("Of", bound=Hashable)


def together(pairs: Iterable[tuple[Said, Of]]) -> dict[Said, list[Of]]:
    """What is said, each once and in the order of the first, with all of which it is said.

    >>> together([("few rows", "mae"), ("no rows", "r2"), ("few rows", "rmse")])
    {'few rows': ['mae', 'rmse'], 'no rows': ['r2']}
    """
    found: dict[Said, list[Of]] = {}
    for said, of in dict.fromkeys(pairs):
        found.setdefault(said, []).append(of)
    return found


def note_lines(pairs: Iterable[tuple[str, str]], joint: str = ", ") -> list[str]:
    """A line for each text, behind the names of what has it.

    >>> note_lines([("few rows", "mae"), ("no rows", "r2"), ("few rows", "rmse")])
    ['mae, rmse: few rows', 'r2: no rows']
    """
    return [f"{joint.join(names)}: {text}" for text, names in together(pairs).items()]
