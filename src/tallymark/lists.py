"""Lists that people write and read in one line."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

_MOST_NAMES = 5  # in a row


def split_list(texts: Iterable[str]) -> list[str]:
    """Values between commas; those in parentheses and quotes belong to the value.

    >>> split_list(("rmse,fscore(beta=2, average=macro)", "mae"))
    ['rmse', 'fscore(beta=2, average=macro)', 'mae']
    """
    found: list[str] = []
    for text in texts:
        depth, quote, start = 0, "", 0
        for place, letter in enumerate(text):
            if quote:
                quote = "" if letter == quote else quote
            elif letter in "\"'":
                quote = letter
            elif letter in "([{":
                depth += 1
            elif letter in ")]}":
                depth -= 1
            elif letter == "," and depth == 0:
                found.append(text[start:place])
                start = place + 1
        found.append(text[start:])
    return [text.strip() for text in found if text.strip()]


def first_of(names: Sequence[str], joint: str = ", ") -> str:
    """The first names, and how many more there are.

    >>> first_of(["a", "b", "c", "d", "e", "f", "g"])
    'a, b, c, d, e, and 2 more'
    """
    more = len(names) - _MOST_NAMES
    return joint.join([*names[:_MOST_NAMES], *([f"and {more:,} more"] if more > 0 else [])])
